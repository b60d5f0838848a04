"""DCTCP from the steps of RFC 8257 section 3.3.

Assumptions shared with aqmlab:

- Step 9 follows the end of an observation window, in which the estimate is updated; section 3.3 also wants at most one
  reduction for every window of data, as RFC 3168. The first mark of a window of data reduces, with the estimate of the
  observation window that has ended.
- An acknowledgment with marks lets the window not grow (RFC 3168 section 6.1.2); else it grows as NewReno's, by bytes.
- A loss has the response of any TCP, and answers the marks of its window of data as well (section 3.5).
- A window has at least two segments after a reduction, if it had them before.
"""

from __future__ import annotations

from collections.abc import Callable

from control import MSS, Ack, Control
from newreno import Newreno

GAIN = 1 / 16  # section 4.2


class Dctcp(Newreno):
    """One connection."""

    rules = ("window ends", "reduced", "marked again in the same window", "marked after a timeout", "grows")
    feedback = "all or none"

    def __init__(self) -> None:
        super().__init__()
        self.alpha = 1.0
        self.window_end = self.bytes_acked_of_window = self.bytes_marked = 0
        self.reduced_until = self.snd_nxt = 0

    def ack(self, ack: Ack) -> None:
        self.snd_nxt = ack.next
        self.bytes_acked_of_window += ack.acked  # steps 1 and 2
        self.bytes_marked += ack.marked  # step 3
        if ack.una > self.window_end:  # step 4
            m = self.bytes_marked / self.bytes_acked_of_window  # step 5
            self.alpha = self.alpha * (1 - GAIN) + GAIN * m  # step 6
            self.window_end = ack.next  # step 7
            self.bytes_acked_of_window = self.bytes_marked = 0  # step 8
            self.seen["window ends"] += 1
        if ack.marked and ack.una > self.reduced_until:
            self.ssthresh = max(int(self.cwnd * (1 - self.alpha / 2)), 2 * MSS)  # step 9
            self.cwnd = min(self.cwnd, self.ssthresh)
            self.reduced_until = ack.next
            self.seen["reduced"] += 1
            self.seen["marked after a timeout"] += self.cwnd < self.ssthresh
        elif ack.marked:
            self.seen["marked again in the same window"] += 1
        elif ack.used:
            self.seen["grows"] += 1
            self.grow(ack.acked)

    def congestion(self, flight: int) -> None:
        super().congestion(flight)
        self.reduced_until = self.snd_nxt


CONTROLS: dict[str, Callable[[], Control]] = {"dctcp": Dctcp}
