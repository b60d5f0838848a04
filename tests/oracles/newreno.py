"""NewReno's window from RFC 5681 and RFC 3465, in whole bytes; retransmissions (RFC 6582) are the sender's.

Assumptions shared with aqmlab:

- RFC 5681 leaves open which algorithm a window of exactly ssthresh has, and whether slow start may pass it: with byte
  counting it ends there, and congestion avoidance begins. By acknowledgments it may pass it by less than a segment.
- RFC 3465 section 2.3 allows two segments for an acknowledgment in slow start, and after a timeout one. Here it is two
  always: bytes that SACK has reported before do not count again, so an acknowledgment never stands for a whole window.
- Byte counting begins anew with every congestion.
- A window is what it is after the recovery: the three segments of section 3.2 are the sender's.
"""

from __future__ import annotations

from collections.abc import Callable

from control import MSS, Ack, Control


class Newreno(Control):
    """One connection, by bytes."""

    rules = ("slow start", "ends slow start", "a segment for a window", "half of the flight", "two segments", "timeout")

    def __init__(self) -> None:
        super().__init__()
        self.bytes_acked = 0

    def ack(self, ack: Ack) -> None:
        if ack.used:
            self.grow(ack.acked)

    def grow(self, acked: int) -> None:
        """RFC 3465 sections 2.1 and 2.2."""
        if self.cwnd < self.ssthresh:
            grown = self.cwnd + min(acked, 2 * MSS)
            self.seen["slow start" if grown <= self.ssthresh else "ends slow start"] += 1
            self.cwnd = min(grown, self.ssthresh)
            return
        self.bytes_acked += acked
        if self.bytes_acked >= self.cwnd:
            self.seen["a segment for a window"] += 1
            self.bytes_acked -= int(self.cwnd)
            self.cwnd += MSS

    def congestion(self, flight: int) -> None:
        """RFC 5681 equation 4."""
        self.seen["half of the flight" if flight // 2 > 2 * MSS else "two segments"] += 1
        self.ssthresh = self.cwnd = max(flight // 2, 2 * MSS)
        self.bytes_acked = 0


class ByAcks(Newreno):
    """By acknowledgments, as RFC 5681 has it."""

    rules = ("equation 2", "equation 3", "half of the flight", "two segments", "timeout")

    def grow(self, acked: int) -> None:
        if self.cwnd < self.ssthresh:
            self.seen["equation 2"] += 1
            self.cwnd += min(acked, MSS)
        else:
            self.seen["equation 3"] += 1
            self.cwnd += max(MSS * MSS // int(self.cwnd), 1)


CONTROLS: dict[str, Callable[[], Control]] = {"newreno": Newreno, "newreno abc off": ByAcks}
