"""TCP Prague from draft-briscoe-iccrg-prague-congestion-control, by the names of its sections; RFC 9331 section 4.3.

Assumptions shared with aqmlab:

- A round is a reference round trip, of at least 25 ms, in which everything is acknowledged that was sent before it.
- The estimate starts at 1, as DCTCP's (RFC 8257 section 4.2), and the first round is empty.
- Less dependence on the round-trip time starts with congestion avoidance, not after 500 rounds.
- The first mark of a round reduces; a loss has Reno's response, and answers the marks of its round.
- A window has at least two segments after a reduction, if it had them before; slow start is NewReno's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from control import MSS, Ack, Control

GAIN = 1 / 16
REFERENCE = 0.025


class Prague(Control):
    """One connection."""

    rules = ("slow start", "round ends", "reduced", "marked again in the same round", "short round trip", "loss")
    feedback = "bytes"

    def __init__(self) -> None:
        super().__init__()
        self.alpha = 1.0
        self.acked = self.marked = 0
        # Of a round: what was sent when it began, and when the reference round trip ends.
        self.counted = self.reduced = self.latest = (0, 0.0)
        self.fraction = 0.0
        self.flight, self.rtt = 0, 0.0

    def ack(self, ack: Ack) -> None:
        self.flight, self.rtt = ack.flight, ack.rtt
        self.latest = (ack.next, ack.now + max(ack.rtt, REFERENCE))
        # "Moving Average of ECN Feedback".
        self.acked += ack.acked
        self.marked += ack.marked
        if self.over(self.counted, ack):
            self.alpha += GAIN * (self.marked / self.acked - self.alpha)
            self.acked = self.marked = 0
            self.counted = self.latest
            self.seen["round ends"] += 1
        # "Multiplicative Decrease on ECN Feedback".
        if ack.marked and self.over(self.reduced, ack):
            self.ssthresh = max(int(self.cwnd * (1 - self.alpha / 2)), 2 * MSS)
            self.cwnd = min(self.cwnd, self.ssthresh)
            self.reduced = self.latest
            self.seen["reduced"] += 1
        elif ack.marked:
            self.seen["marked again in the same round"] += 1
        if ack.used:
            self.grow(ack)

    @staticmethod
    def over(round_: tuple[int, float], ack: Ack) -> bool:
        """Whether all of it is acknowledged and its time has passed."""
        sent, ends = round_
        return ack.una > sent and ack.now >= ends

    def grow(self, ack: Ack) -> None:
        """Slow start, and "Additive Increase and ECN Feedback" with "Reduced RTT-Dependence"."""
        if self.cwnd < self.ssthresh:
            self.cwnd = min(self.cwnd + min(ack.acked, 2 * MSS), self.ssthresh)
            self.seen["slow start"] += 1
            return
        self.seen["short round trip"] += ack.rtt < REFERENCE
        m = max(ack.rtt, REFERENCE) / ack.rtt
        increase = (ack.acked - ack.marked) / self.cwnd * MSS / m**2 + self.fraction
        self.fraction = increase - math.floor(increase)
        self.cwnd += math.floor(increase)

    def congestion(self, flight: int) -> None:
        self.seen["loss"] += 1
        self.ssthresh = self.cwnd = max(flight // 2, 2 * MSS)
        self.reduced = self.latest

    def rate(self) -> float:
        """ "Packet Pacing": twice as fast in slow start."""
        if not self.rtt:
            return 0.0
        return (2 if self.cwnd < self.ssthresh else 1) * max(self.cwnd, self.flight) / self.rtt


CONTROLS: dict[str, Callable[[], Control]] = {"prague": Prague}
