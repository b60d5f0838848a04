"""The rate-based congestion controls of aqm-sim against oracles from their papers: the same rates after every event."""

from __future__ import annotations

import math
import random

import pytest
import rate_control

from aqmlab import _native
from aqmlab.scenario.kinds import TRANSPORTS

Event = tuple[int, str, float, float]

# Per control: oracle, rates of links, and how long the pauses between events are, in seconds.
CASES = {
    "pmqecn": (rate_control.Pmqecn, (10e6, 1e9), (0.01, 0.4, 3.0, 12.0)),
    "dcqcn": (rate_control.Dcqcn, (40e9, 10e9), (5e-6, 4e-5, 3e-4, 2e-3)),
    "qcn": (rate_control.Qcn, (10e9, 1e9), (0.001, 0.01, 0.04, 0.2)),
}
# Rate controls without an oracle, and why.
AS_RUN = "a parameter of `pmqecn`: tests in `rate_control/` compute by hand what it does"
WITHOUT = {
    **dict.fromkeys(("pmqecn_as_run", "pmqecn_bounded", "dcqcn_as_run", "p4qcn_as_run"), AS_RUN),
    "tcn_as_run": "the same sender as `dcqcn_as_run`",
}
FORGED = (0.0, -3.0, math.nan, math.inf, -math.inf, 1e12)


def played(name: str, line: float, events: list[Event], seed: int) -> list[tuple[float, float]]:
    """The rates of the control as scenarios name it; PMQECN with the least rate of its oracle."""
    control = f"pmqecn least {line / 1000:.0f}bit" if name == "pmqecn" else name
    sender = _native.RateSender(control, line, seed)
    return [sender.after(*event) for event in events]


def history(seed: int, pauses: tuple[float, ...]) -> list[Event]:
    """Whatever may come to a sender, what it cannot believe included; with each third seed without time to recover."""
    chance = random.Random(seed)
    pauses = pauses if seed % 3 else pauses[:1]
    events: list[Event] = []
    now = 0.0
    for _ in range(400):
        now += chance.choice(pauses) * chance.uniform(0.2, 1.0)
        kind = chance.choice(("sent", "sent", "notified", "quantised", "rates", "wait"))
        first, second = 0.0, 0.0
        if kind == "sent":
            first = float(chance.choice((1500, 100_000, 3_000_000, 12_000_000)))
        elif kind == "quantised":
            first = float(chance.choice((0, 1, 7, 8, 40, 63, 64)))
        elif kind == "rates":
            first, second = chance.uniform(50, 500), chance.uniform(5, 500)
            if chance.random() < 0.3:
                first, second = chance.choice(((first, chance.choice(FORGED)), (chance.choice(FORGED[:-1]), second)))
        events.append((round(now * 1e9), kind, first, second))
    return events


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", CASES)
def test_the_rates_are_the_oracles_after_every_event(name: str, seed: int) -> None:
    build, lines, pauses = CASES[name]
    line = lines[seed % 2]
    events = history(seed, pauses)
    oracle = build(line)
    steps = played(name, line, events, seed)
    for event, step in zip(events, steps, strict=True):
        nanos, kind, first, second = event
        now = nanos / 1e9
        oracle.advance(now)
        if kind == "sent":
            oracle.sent(first)
        elif kind == "notified":
            oracle.notified(now)
        elif kind == "quantised":
            oracle.quantised(first, now)
        elif kind == "rates":
            oracle.rates(first, second, now)
        assert step == pytest.approx(oracle.rate(), rel=1e-9), (name, event)


def test_every_stage_is_reached() -> None:
    """Recovery, additive and hyper increase, line rate and far below: else the comparison says little."""
    for name, (_, lines, pauses) in CASES.items():
        targets, rates = set(), set()
        for seed in range(20):
            steps = played(name, lines[0], history(seed, pauses), seed)
            rates |= {rate for rate, _ in steps}
            targets |= {target for _, target in steps}
        assert lines[0] in targets, name
        assert min(rates) <= lines[0] / 40, name
        assert len(targets) > 50, name


def test_every_rate_control_has_an_oracle() -> None:
    controls = {name for name, transport in TRANSPORTS.items() if transport.form == "rate"}
    missing = controls - CASES.keys() - WITHOUT.keys()
    assert not missing, f"no oracle in CASES for {', '.join(sorted(missing))}"
    assert WITHOUT.keys() <= controls - CASES.keys(), "an exception that is none any longer"
