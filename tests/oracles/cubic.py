"""CUBIC from the text of RFC 9438: windows in segments, times in seconds.

Readings shared with aqmlab:

- Section 4.4 increments the window for each new ACK; with delayed ACKs that would halve the growth. As in section 4.3,
  the increment counts *segments_acked*.
- Section 4.3 sets the window to W_est, which may be less than it is; section 4.2 wants it never to fall. It stays.
- Section 4.6 lets a mark reduce the window to one segment; aqmlab keeps two, as after a loss.
- A stage whose window begins above W_max has K = 0 and W_max = cwnd, as after slow start without loss (section 4.10).
- A window is whole bytes; the fraction is kept within a stage only.
- Slow start counts bytes (RFC 3465, L = 2), and idle time ends in it (RFC 5681 section 4.1).
"""

from __future__ import annotations

import math
from collections import Counter

C = 0.4
BETA = 0.7
ALPHA = 3 * (1 - BETA) / (1 + BETA)


class Cubic:
    """One connection; `seen` counts the cases that occurred."""

    def __init__(self, initial_window: float, mss: int) -> None:
        self.initial_window = initial_window
        self.mss = mss
        self.cwnd = initial_window
        self.ssthresh = math.inf
        self.cwnd_prior = 0.0
        self.w_max = 0.0
        self.k = 0.0
        self.w_est = 0.0
        # Of the current congestion avoidance stage; None outside of one.
        self.t: float | None = None
        self.after_timeout = False
        self.last_ack = 0.0
        self.seen: Counter[str] = Counter()

    def ack(self, now: float, segments_acked: float, rtt: float, *, limited: bool = False) -> None:
        """New data is acknowledged; `limited`: the application does not use the window."""
        since_last, self.last_ack = now - self.last_ack, now
        if limited:
            # Section 4.2: t must not include periods in which cwnd was not updated for this reason (section 5.8).
            return
        if self.cwnd < self.ssthresh:
            self.cwnd = min(self.cwnd + min(segments_acked, 2.0), self.ssthresh)
            return
        if self.t is None:
            self.begin_stage()
            t = 0.0
        else:
            t = self.t + since_last
        self.t = t
        # Equation 4.
        reached = self.w_est >= self.cwnd_prior
        self.w_est += (1.0 if reached else ALPHA) * segments_acked / self.cwnd
        self.seen["as Reno" if reached else "below Reno"] += 1
        if self.w_cubic(t) < self.w_est:
            self.seen["Reno-friendly"] += 1
            self.cwnd = max(self.cwnd, self.w_est)
            return
        self.seen["concave" if self.cwnd < self.w_max else "convex"] += 1
        target = self.w_cubic(t + rtt)
        if target < self.cwnd:
            target = self.cwnd
            self.seen["no growth"] += 1
        elif target > 1.5 * self.cwnd:
            target = 1.5 * self.cwnd
            self.seen["capped"] += 1
        self.cwnd += (target - self.cwnd) / self.cwnd * segments_acked

    def whole(self, window: float) -> float:
        """Whole bytes of a window."""
        return math.floor(window * self.mss) / self.mss

    def w_cubic(self, t: float) -> float:
        """Equation 1."""
        return C * (t - self.k) ** 3 + self.w_max

    def begin_stage(self) -> None:
        """Congestion avoidance starts."""
        self.cwnd = self.whole(self.cwnd)
        if self.after_timeout or self.w_max <= self.cwnd:
            # Section 4.8; section 4.10.
            self.seen["after timeout" if self.after_timeout else "after slow start"] += 1
            self.after_timeout = False
            self.k, self.w_max = 0.0, self.cwnd
        else:
            self.k = math.cbrt((self.w_max - self.cwnd) / C)  # equation 2
        self.w_est = self.cwnd

    def congestion(self, flight_size: float) -> None:
        """Sections 4.6 and 4.7."""
        self.cwnd = self.whole(self.cwnd)
        converges = self.cwnd < self.w_max
        self.seen["fast convergence"] += converges
        self.w_max = self.cwnd * (1 + BETA) / 2 if converges else self.cwnd
        self.cwnd_prior = self.cwnd
        # Limited transmit sends more than the window (RFC 3042), and is left out.
        self.ssthresh = self.whole(max(min(flight_size, self.cwnd) * BETA, 2.0))
        self.cwnd = self.ssthresh
        self.t = None
        self.after_timeout = False

    def timeout(self, flight_size: float) -> None:
        """Section 4.8, the timer's first expiry."""
        self.congestion(flight_size)
        self.again()

    def again(self) -> None:
        """Any expiry: one segment is left."""
        self.cwnd = 1.0
        self.after_timeout = True
        self.t = None

    def idle(self) -> None:
        """It sends again after idle time: a new stage starts."""
        self.cwnd = min(self.cwnd, self.initial_window)
        self.t = None
