"""Adaptive REDs: figure 2 of Floyd, Gummadi and Shenker (2001), and figure 4 of Feng et al. (1999).

`maxp` is adjusted when the average was updated, which is when a packet arrives. Assumptions of the Rust files: Floyd's
interval starts at the last check of the average; Feng's `maxp` stays between `bottom` and 1, and the paper does not
say what its status starts as.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp

import red
from workload import MILLISECOND, SECOND, Oracle


@dataclass
class Floyd:
    """Parameters of figure 2; times in nanoseconds."""

    target: int | None = None  # a delay; None: thresholds are given
    interval: int = 500 * MILLISECOND
    alpha: float = 0.01
    beta: float = 0.9
    bottom: float = 0.01
    top: float = 0.5
    bottom_by_link: bool = False  # as ns-3


class Ared(red.Red):
    """RED with the timer of figure 2."""

    def __init__(self, options: red.Options, floyd: Floyd) -> None:
        super().__init__(replace(options))
        self.floyd = floyd
        self.last = 0

    def averaged(self, now: int) -> None:
        """Every interval seconds."""
        o, f = self.options, self.floyd
        if now - self.last < f.interval:
            return
        self.last = now
        low = o.minth + 0.4 * (o.maxth - o.minth)
        high = o.minth + 0.6 * (o.maxth - o.minth)
        if self.avg > high and o.maxp <= f.top:
            o.maxp += min(f.alpha, o.maxp / 4)
        elif self.avg < low and o.maxp >= f.bottom:
            o.maxp *= f.beta

    def probes(self) -> dict[str, float]:
        """RED's options, and those of the adjustment."""
        return super().probes() | {"max_p": self.options.maxp}


class AutomaticAred(Ared):
    """Thresholds and weight from the link, as in section 5."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "rate" and value and self.floyd.target is not None:
            o = self.options
            capacity = (o.bandwidth or self.rate) / (8 * o.average_packet)
            o.minth = max(5, int(self.floyd.target / SECOND * capacity / 2))
            o.maxth = 3 * o.minth
            o.wq = 1 - exp(-1 / capacity)
            if self.floyd.bottom_by_link:  # ns-3's InitializeParams(), with its Rtt of 0.1 s
                self.floyd.bottom = min(0.01, 8 * o.average_packet * 0.1 / (o.bandwidth or self.rate))


class FengAred(red.Red):
    """RED with the rule of figure 4."""

    def __init__(
        self, options: red.Options, alpha: float = 3, beta: float = 2, bottom: float = 0.01, status: str = "Below"
    ) -> None:
        super().__init__(replace(options))
        self.alpha, self.beta, self.bottom = alpha, beta, bottom
        self.status = status

    def averaged(self, now: int) -> None:
        """Every update of the average."""
        o = self.options
        if o.minth < self.avg < o.maxth:
            self.status = "Between"
        if self.avg < o.minth and self.status != "Below":
            self.status = "Below"
            o.maxp = max(o.maxp / self.alpha, self.bottom)
        if self.avg > o.maxth and self.status != "Above":
            self.status = "Above"
            o.maxp = min(o.maxp * self.beta, 1.0)

    def probes(self) -> dict[str, float]:
        """RED's options, and those of the adjustment."""
        return super().probes() | {"max_p": self.options.maxp}


def automatic(options: red.Options, target: int = 5 * MILLISECOND, *, bottom_by_link: bool = False) -> Oracle:
    """ARED whose thresholds follow from the trace's link, and if asked for, `bottom`."""
    return AutomaticAred(options, Floyd(target=target, bottom_by_link=bottom_by_link))


CASES: dict[str, Callable[[], Oracle]] = {
    "ared limit 100p w 0.05": lambda: Ared(red.Options(limit=100, minth=5, maxth=15, wq=0.05), Floyd()),
    "ared limit 200p min 10p max 40p w 0.1 interval 40ms alpha 0.05 bottom 0.05 top 0.2 ecn": lambda: Ared(
        red.Options(limit=200, minth=10, maxth=40, wq=0.1, ecn=True),
        Floyd(interval=40 * MILLISECOND, alpha=0.05, bottom=0.05, top=0.2),
    ),
    "ared limit 300p target 40ms": lambda: automatic(red.Options(limit=300), 40 * MILLISECOND),
    "ared:ns3 limit 60p": lambda: automatic(
        red.Options(limit=60, maxp=0.02, wait=True, average_packet=500, idle="ns3"), bottom_by_link=True
    ),
    "feng_ared limit 100p w 0.05": lambda: FengAred(red.Options(limit=100, minth=20, maxth=60, wq=0.05)),
    "feng_ared limit 100p min 5p max 20p w 0.2 alpha 2 beta 1.5 bottom 0.02 ecn": lambda: FengAred(
        red.Options(limit=100, minth=5, maxth=20, wq=0.2, ecn=True), alpha=2, beta=1.5, bottom=0.02
    ),
    "feng_ared:ns3 limit 60p w 0.05 probability 0.5": lambda: FengAred(
        red.Options(limit=60, minth=5, maxth=15, maxp=0.5, wq=0.05, wait=True, average_packet=500, idle="ns3"),
        bottom=1e-6,
        status="Above",
    ),
    "nlred limit 100p w 0.02": lambda: red.Red(
        red.Options(limit=100, minth=20, maxth=60, wq=0.02, gentle=False, square=True)
    ),
    "nlred:ns3 limit 60p w 0.01 probability 0.3 ecn": lambda: red.Red(
        red.Options(
            limit=60,
            minth=5,
            maxth=15,
            maxp=0.3,
            wq=0.01,
            wait=True,
            average_packet=500,
            idle="ns3",
            ecn=True,
            square=True,
        )
    ),
}
