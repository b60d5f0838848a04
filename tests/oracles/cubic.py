"""CUBIC from the text of RFC 9438: times in seconds, W in segments as there, the window itself in bytes.

Assumptions shared with aqmlab:

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
from collections.abc import Callable

from control import MSS, Ack, Control

C = 0.4
BETA = 0.7
ALPHA = 3 * (1 - BETA) / (1 + BETA)


class Cubic(Control):
    """One connection."""

    rules = (
        *("Reno-friendly", "concave", "convex", "capped", "no growth", "fast convergence"),
        *("after timeout", "after slow start", "as Reno", "below Reno", "pause"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.cwnd_prior = 0.0
        self.w_max = 0.0
        self.k = 0.0
        self.w_est = 0.0
        # Of the current congestion avoidance stage; None outside of one.
        self.t: float | None = None
        self.after_timeout = False
        self.last_ack = 0.0
        self.pauses = False

    def ack(self, ack: Ack) -> None:
        # Section 5.8: nothing was outstanding until this was sent, so no growth was to be had.
        since = max(self.last_ack, ack.now - ack.rtt) if self.pauses else self.last_ack
        self.seen["pause"] += self.pauses and self.t is not None and ack.used
        since_last, self.last_ack, self.pauses = ack.now - since, ack.now, ack.una == ack.next
        if not ack.used:
            # Section 4.2: t must not include periods in which cwnd was not updated for this reason (section 5.8).
            return
        if self.cwnd < self.ssthresh:
            self.cwnd = min(self.cwnd + min(ack.acked, 2 * MSS), self.ssthresh)
            return
        if self.t is None:
            self.begin_stage()
            t = 0.0
        else:
            t = self.t + since_last
        self.t = t
        segments_acked, cwnd = ack.acked / MSS, self.cwnd / MSS
        # Equation 4.
        reached = self.w_est >= self.cwnd_prior
        self.w_est += (1.0 if reached else ALPHA) * segments_acked / cwnd
        self.seen["as Reno" if reached else "below Reno"] += 1
        if self.w_cubic(t) < self.w_est:
            self.seen["Reno-friendly"] += 1
            self.cwnd = max(cwnd, self.w_est) * MSS
            return
        self.seen["concave" if cwnd < self.w_max else "convex"] += 1
        target = self.w_cubic(t + ack.rtt)
        if target < cwnd:
            target = cwnd
            self.seen["no growth"] += 1
        elif target > 1.5 * cwnd:
            target = 1.5 * cwnd
            self.seen["capped"] += 1
        self.cwnd = (cwnd + (target - cwnd) / cwnd * segments_acked) * MSS

    def w_cubic(self, t: float) -> float:
        """Equation 1."""
        return C * (t - self.k) ** 3 + self.w_max

    def begin_stage(self) -> None:
        """Congestion avoidance starts."""
        self.cwnd = math.floor(self.cwnd)
        cwnd = self.cwnd / MSS
        if self.after_timeout or self.w_max <= cwnd:
            # Section 4.8; section 4.10.
            self.seen["after timeout" if self.after_timeout else "after slow start"] += 1
            self.after_timeout = False
            self.k, self.w_max = 0.0, cwnd
        else:
            self.k = math.cbrt((self.w_max - cwnd) / C)  # equation 2
        self.w_est = cwnd

    def congestion(self, flight: int) -> None:
        """Sections 4.6 and 4.7."""
        cwnd = math.floor(self.cwnd) / MSS
        converges = cwnd < self.w_max
        self.seen["fast convergence"] += converges
        self.w_max = cwnd * (1 + BETA) / 2 if converges else cwnd
        self.cwnd_prior = cwnd
        # Limited transmit sends more than the window (RFC 3042), and is left out.
        self.cwnd = self.ssthresh = math.floor(max(min(flight / MSS, cwnd) * BETA, 2.0) * MSS)
        self.t = None
        self.after_timeout = False

    def again(self) -> None:
        """Section 4.8: one segment is left."""
        super().again()
        self.after_timeout = True
        self.t = None

    def idle(self) -> None:
        """A new stage starts as well."""
        super().idle()
        self.t = None


CONTROLS: dict[str, Callable[[], Control]] = {"cubic": Cubic}
