"""Weighted RED: the RED of `red.py` with the thresholds of a packet's colour, over one average.

The colour is the class (0, 1, 2 and above) or the drop precedence of RFC 2597; the example program gives flows DF,
AF11, AF12 and AF13 in turn. Each colour has its own count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import red
from workload import Oracle, Packet

GREEN, YELLOW, RED = range(3)
BY_CLASS = (GREEN, YELLOW, RED, RED)
BY_DSCP = (GREEN, GREEN, YELLOW, RED)  # DF, AF11, AF12, AF13


class Wred(red.Red):
    """RED that changes its thresholds for every packet."""

    def __init__(
        self, options: red.Options, curves: list[tuple[float, float, float]], colours: tuple[int, ...]
    ) -> None:
        super().__init__(options)
        self.colours = colours
        self.curves = [replace(options, minth=low, maxth=high, maxp=p) for low, high, p in curves]
        self.counts = [-1, -1, -1]
        self.seen = [0.0, 0.0, 0.0]

    def admit(self, packet: Packet) -> None:
        """RED with the curve and the count of the packet's colour."""
        colour = self.colours[packet.flow % 4]
        self.options, self.count = self.curves[colour], self.counts[colour]
        self.pb = self.seen[colour]
        super().admit(packet)
        self.counts[colour], self.seen[colour] = self.count, self.pb

    def probes(self) -> dict[str, float]:
        """The average, and each colour's probability."""
        names = ("probability_green", "probability_yellow", "probability_red")
        return {"average_queue": self.avg} | dict(zip(names, self.seen, strict=True))


CASES: dict[str, Callable[[], Oracle]] = {
    "wred limit 100p w 0.02": lambda: Wred(
        red.Options(limit=100, wq=0.02, gentle=False), [(20, 60, 0.1), (15, 45, 0.1), (10, 30, 0.1)], BY_DSCP
    ),
    "wred limit 60p by class min 10p max 40p max_yellow 25p min_red 3p max_red 12p probability 0.2"
    " probability_yellow 0.3 probability_red 0.8 w 0.05 gentle ecn": lambda: Wred(
        red.Options(limit=60, wq=0.05, ecn=True),
        [(10, 40, 0.2), (7.5, 25, 0.3), (3, 12, 0.8)],
        BY_CLASS,
    ),
}
