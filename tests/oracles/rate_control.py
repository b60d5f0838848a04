"""Rate-based congestion control from its pseudocode, one class each: PMQECN's algorithm 3, DCQCN's algorithm 1, QCN's.

Nothing is shared with the Rust. Rates in bit/s, times in seconds. Each class says what happens when; `advance` lets its
timers go off, one after the other.
"""

from __future__ import annotations

import math


class Pmqecn:
    """Liu et al. 2024, algorithm 3. What it leaves open: a cycle is a second, feedback sets N_C back to 5."""

    def __init__(self, line: float) -> None:
        self.line = line
        self.send_rate = 1e6
        self.r_t = 0.0
        self.r_a = 5e6
        self.n_c = 0
        self.state = "active increase"
        self.clock = 1.0

    def rate(self) -> tuple[float, float]:
        return self.send_rate, self.r_t

    def keep_bounds(self) -> None:
        self.r_t = min(self.r_t, self.line)
        self.send_rate = min(max(self.send_rate, self.line / 1000), self.line)

    def advance(self, now: float) -> None:
        while self.clock <= now + 1e-12:
            self.clock += 1.0
            if self.state == "active increase":
                self.r_t = min(self.r_t + self.r_a, self.line)
                self.send_rate = (self.send_rate + self.r_t) / 2
            else:
                self.send_rate = (self.send_rate + self.r_t) / 2
                self.n_c -= 1
                if self.n_c == 0:
                    self.state = "active increase"
            self.keep_bounds()

    def sent(self, number: float) -> None:
        pass

    def notified(self, now: float) -> None:
        pass

    def quantised(self, fb: float, now: float) -> None:
        pass

    def rates(self, arriving: float, optimal: float, now: float) -> None:
        sane = all(math.isfinite(value) and value > 0 for value in (arriving, optimal))
        if not sane or optimal * 64 * 8 > self.line:
            return
        self.r_t = self.send_rate
        if optimal < arriving:
            self.send_rate = optimal / arriving * self.send_rate
        self.keep_bounds()
        self.state, self.n_c, self.clock = "fast recovery", 5, now + 1.0


class Dcqcn:
    """Zhu et al. 2015, equations 1 and 2, algorithm 1; parameters of section 5.2, scaled from 40 Gbit/s."""

    G, K, T, B, F = 1 / 256, 55e-6, 55e-6, 10_000_000, 5

    def __init__(self, line: float) -> None:
        self.line, scale = line, line / 40e9
        self.r_ai, self.r_hai, self.least = 40e6 * scale, 200e6 * scale, 100e6 * scale
        self.r_c = self.r_t = line
        self.alpha = 1.0
        self.t = self.bc = 0
        self.bytes = 0.0
        self.alpha_clock = self.clock = math.inf

    def rate(self) -> tuple[float, float]:
        return self.r_c, self.r_t

    def advance(self, now: float) -> None:
        while min(self.alpha_clock, self.clock) <= now + 1e-12:
            if self.alpha_clock <= self.clock:
                self.alpha = (1 - self.G) * self.alpha
                self.alpha_clock += self.K
            else:
                self.t += 1
                self.clock += self.T
                self.increase()

    def increase(self) -> None:
        if max(self.t, self.bc) <= self.F:
            pass  # fast recovery
        elif min(self.t, self.bc) > self.F:
            self.r_t += (min(self.t, self.bc) - self.F) * self.r_hai
        else:
            self.r_t += self.r_ai
        self.r_t = min(self.r_t, self.line)
        self.r_c = min((self.r_t + self.r_c) / 2, self.line)

    def sent(self, number: float) -> None:
        if self.clock == math.inf:
            return
        self.bytes += number
        if self.bytes >= self.B:
            self.bytes -= self.B
            self.bc += 1
            self.increase()

    def notified(self, now: float) -> None:
        self.r_t = self.r_c
        self.r_c = max(self.r_c * (1 - self.alpha / 2), self.least)
        self.alpha = (1 - self.G) * self.alpha + self.G
        self.t = self.bc = 0
        self.bytes = 0.0
        self.alpha_clock, self.clock = now + self.K, now + self.T

    def quantised(self, fb: float, now: float) -> None:
        pass

    def rates(self, arriving: float, optimal: float, now: float) -> None:
        pass


class Qcn:
    """IEEE 802.1Qau's reaction point, as in the working group's pseudocode, scaled from 10 Gbit/s."""

    GD, FAST, BYTES, TIMER = 1 / 128, 5, 150_000, 0.015

    def __init__(self, line: float) -> None:
        self.line, scale = line, line / 10e9
        self.r_ai, self.r_hai, self.least = 5e6 * scale, 50e6 * scale, 10e6 * scale
        self.cr = self.tr = line
        self.si = self.ti = 0
        self.tx = float(self.BYTES)
        self.clock = math.inf
        self.active = False

    def rate(self) -> tuple[float, float]:
        return self.cr, self.tr

    def advance(self, now: float) -> None:
        while self.clock <= now + 1e-12:
            self.ti += 1
            self.clock += self.TIMER if self.ti < self.FAST else self.TIMER / 2
            self.self_increase()

    def sent(self, number: float) -> None:
        if not self.active:
            return
        self.tx -= number
        if self.tx <= 0:
            self.si += 1
            self.tx = float(self.BYTES if self.si < self.FAST else self.BYTES // 2)
            self.self_increase()

    def self_increase(self) -> None:
        if self.si > self.FAST and self.ti > self.FAST:
            self.tr += self.r_hai * (min(self.si, self.ti) - self.FAST)
        elif self.si > self.FAST or self.ti > self.FAST:
            self.tr += self.r_ai
        elif max(self.si, self.ti) == 1 and self.tr > 10 * self.cr:
            self.tr /= 8
        self.tr = min(max(self.tr, self.least), self.line)
        self.cr = (self.cr + self.tr) / 2

    def notified(self, now: float) -> None:
        pass

    def quantised(self, fb: float, now: float) -> None:
        if not 1 <= fb <= 63:
            return
        if not self.active or self.si or self.ti:
            self.tr, self.tx = self.cr, float(self.BYTES)
        self.active, self.si, self.ti = True, 0, 0
        self.cr = max(self.cr * max(1 - self.GD * int(fb), 0.5), self.least)
        self.clock = now + self.TIMER

    def rates(self, arriving: float, optimal: float, now: float) -> None:
        pass
