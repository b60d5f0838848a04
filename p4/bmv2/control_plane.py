"""PMQECN's control plane: reads what a BMv2 switch counted, optimizes for each port, and writes what it found.

    python -m bmv2.control_plane --thrift 9090 --port 3 --service 300

Each period it reads ``arrivals`` and ``delay``, and writes ``weight``, ``threshold``, ``rate`` and ``best_rate``
(figure 3 and algorithm 2 of Liu et al. 2024), as the simulator's program does. The optimiser is
`aqmlab.papers.pmqecn.solve`.
One line of JSON for each decision goes to standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from aqmlab.papers import pmqecn

# As in pmqecn.p4: virtual queues of a port.
QUEUES = 4
MOST_PORT = 510
# A register has 32 bits.
MOST = 2**32 - 1


class Registers(Protocol):
    """What the control plane asks of a switch."""

    def read(self, register: str, place: int) -> int:
        """Return a register's value."""

    def write(self, register: str, place: int, value: int) -> None:
        """Write a register."""


@dataclass(frozen=True)
class Settings:
    """How a port is divided."""

    port: int
    service: float
    """Gamma, packets per second that the port sends."""
    classes: tuple[str, ...] = pmqecn.CLASSES
    capacity: int = 64
    """N, packets that fit into the switch."""
    link: float | None = None
    """C, packets per second of a link; Gamma if none is given."""
    links: int = 1
    round: float | None = 12
    """Packets in a round of all classes, as in the simulator; ``None`` is Gamma, as algorithm 2 has it."""
    objective: str = "normalised"
    seed: int = 1


@dataclass(frozen=True)
class Decision:
    """What a period brought; all tuples by class."""

    port: int
    arrivals: tuple[int, ...]
    rates: tuple[float, ...]
    waits: tuple[float, ...]
    weights: tuple[int, ...]
    thresholds: tuple[int, ...]
    best_rates: tuple[int, ...]
    infeasible: str | None


class Controller:
    """The control plane of one port."""

    def __init__(self, settings: Settings) -> None:
        if not 0 <= settings.port <= MOST_PORT:
            raise ValueError(f"port: {settings.port} (allowed: 0 to {MOST_PORT})")
        if not 1 <= len(settings.classes) <= QUEUES:
            raise ValueError(f"classes: {len(settings.classes)} (allowed: 1 to {QUEUES})")
        self._settings = settings
        self._before = (0,) * len(settings.classes)

    def period(self, switch: Registers, elapsed: float) -> Decision | None:
        """Read, solve and write; ``None`` for a port that nothing came to."""
        settings = self._settings
        places = [settings.port * QUEUES + number for number in range(len(settings.classes))]
        counts = tuple(switch.read("arrivals", place) for place in places)
        # The counters have 32 bits, and wrap.
        arrivals = tuple((now - before) & MOST for now, before in zip(counts, self._before, strict=True))
        self._before = counts
        if not any(arrivals):
            return None
        waits = tuple(switch.read("delay", place) / 1e6 for place in places)
        decision = self.decide(arrivals, waits, elapsed)
        for number, place in enumerate(places):
            switch.write("weight", place, decision.weights[number])
            switch.write("threshold", place, decision.thresholds[number])
            if arrivals[number]:
                switch.write("rate", place, _cell(decision.rates[number]))
                switch.write("best_rate", place, decision.best_rates[number])
        return decision

    def decide(self, arrivals: tuple[int, ...], waits: tuple[float, ...], elapsed: float) -> Decision:
        """Solve the optimization for what came in so many seconds."""
        settings = self._settings
        rates = tuple(count / elapsed for count in arrivals)
        best = pmqecn.solve(
            rates,
            waits,
            classes=settings.classes,
            service=settings.service,
            capacity=settings.capacity,
            link=settings.link or settings.service,
            links=settings.links,
            objective=settings.objective,
            seed=settings.seed,
        )
        share = settings.service if settings.round is None else settings.round
        return Decision(
            port=settings.port,
            arrivals=arrivals,
            rates=rates,
            waits=waits,
            weights=tuple(_cell(share * rate / settings.service) for rate in best.service),
            thresholds=tuple(_cell(threshold) for threshold in best.thresholds),
            best_rates=tuple(_cell(rate) for rate in best.rates),
            infeasible=best.infeasible,
        )


def run(
    controllers: Sequence[Controller],
    switch: Registers,
    *,
    period: float,
    until: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    report: Callable[[Decision], None] = lambda decision: None,
) -> None:
    """Let controllers work for so many seconds; a period that comes late is as much longer."""
    begin = last = clock()
    while clock() - begin < until:
        sleep(max(0.0, last + period - clock()))
        now = clock()
        for controller in controllers:
            if decision := controller.period(switch, now - last):
                report(decision)
        last = now


def _cell(value: float) -> int:
    """Return what a register takes: a whole number, at least 1 (0 is "not written")."""
    return min(max(1, round(value)), MOST)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a process."""
    from bmv2.thrift import Switch, SwitchError

    parser = argparse.ArgumentParser(description="PMQECN's control plane of a BMv2 switch")
    parser.add_argument("--thrift", type=int, required=True, metavar="PORT", help="TCP port of the switch")
    parser.add_argument("--port", type=int, nargs="+", required=True, help="ports whose queues are divided")
    parser.add_argument("--service", type=float, required=True, help="packets per second that a port sends")
    parser.add_argument("--links", type=int, default=1, help="links of the switch")
    parser.add_argument("--period", type=float, default=2.0, help="seconds")
    parser.add_argument("--until", type=float, default=float("inf"), help="seconds after which it ends")
    given = parser.parse_args(arguments)
    try:
        controllers = [Controller(Settings(port, given.service, links=given.links)) for port in given.port]
        switch = Switch.connect(given.thrift)
        run(
            controllers,
            switch,
            period=given.period,
            until=given.until,
            report=lambda decision: print(json.dumps(asdict(decision)), flush=True),
        )
    except KeyboardInterrupt:
        return 130
    except (OSError, SwitchError, ValueError) as error:
        print(f"control plane: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
