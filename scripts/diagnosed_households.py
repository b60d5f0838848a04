"""Households whose line is full in both directions, for `diagnosis_rates.py`: each direction has its own queue."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from capture_edits import Packet, clocked, jittered, joined, readdressed, split
from diagnosed_lines import FEW_SIGNALS, FRAME, IP
from diagnosis_truth import Truth

from aqmlab import _native, scenario
from aqmlab.scenario.options import Options

SETTINGS = 60
DURATION_S = 15
# Down and up, in Mbit/s.
RATES = ((16, 1), (16, 2), (25, 5), (50, 10), (100, 20), (100, 40), (20, 20), (6, 0.5), (50, 2), (100, 5))
RTTS_MS = (10, 20, 40, 80)
# Packets, as a FIFO counts them, or milliseconds of data.
BUFFERS = ("50p", "100p", "200p", "500p", "60ms", "150ms", "400ms")
AQM_BUFFER = "1000p"
AQMS = ("codel", "fq_codel", "pie", "fq_pie", "cobalt", "red", "codel ecn", "fq_codel:linux")
FLOWS = ("1*cubic", "2*cubic", "4*cubic", "1*cubic:profile=linux", "2*newreno", "1*bbr")
QUEUES = (("fifo", "fifo"), ("fifo", "aqm"), ("aqm", "fifo"), ("aqm", "aqm"))
LOADS = ("both", "both", "both", "down", "up")
UP_DSCP = 10
# From this utilization on, the line is full.
FULL = 0.9
HOME, FAR = bytes([192, 168, 1, 2]), bytes([9, 9, 9, 10])
TOPOLOGY = """
measured = "isp->modem"

[[link]]
from = "isp"
to = "modem"
name = "down"
delay = "{delay}us"
queue = "test"
both = false

[[link]]
from = "modem"
to = "isp"
name = "up"
rate = "{up}kbit"
delay = "{delay}us"
queue = "{queue}"
both = false

[[link]]
from = "server"
to = "isp"
rate = "1gbit"
delay = "1us"

[[link]]
from = "modem"
to = "home"
rate = "1gbit"
delay = "1us"
"""


@dataclass(frozen=True)
class Direction:
    """One direction of a line: a queue, and the flows that fill it, if any."""

    mbit: float
    aqm: str
    buffer: str
    flows: str

    @property
    def packets(self) -> int:
        """What the buffer holds."""
        if self.buffer.endswith("p"):
            return int(self.buffer[:-1])
        return max(int(self.mbit * 1e6 * int(self.buffer[:-2]) / 1e3 / 8 / 1514), 20)

    @property
    def spec(self) -> str:
        """The discipline with its limit."""
        return f"{self.aqm} limit {self.packets}p"


@dataclass(frozen=True)
class Household:
    """A line with traffic in both directions, and where and how it is recorded."""

    rtt_ms: int
    down: Direction
    up: Direction
    vantage: str
    ticks: int
    jitter_ms: float

    def __str__(self) -> str:
        """Describe it in a line."""
        directions = " | ".join(f"{one.mbit:g} {one.spec} {one.flows or '-'}" for one in (self.down, self.up))
        return f"{self.rtt_ms} ms | {directions} | {self.vantage} {self.ticks} Hz, jitter {self.jitter_ms:g} ms"


def households(draw: int) -> Iterator[Household]:
    """Return the households of a draw: the same ones always."""
    chance = random.Random(1000 + draw)
    for number in range(SETTINGS):
        down_mbit, up_mbit = chance.choice(RATES)
        queues, load = QUEUES[number % 4], LOADS[number // 4 % len(LOADS)]
        rtt = chance.choice(RTTS_MS)
        directions = []
        for name, mbit, kind in zip(("down", "up"), (down_mbit, up_mbit), queues, strict=True):
            aqm = "fifo" if kind == "fifo" else chance.choice(AQMS)
            flows, buffer = chance.choice(FLOWS), chance.choice(BUFFERS) if kind == "fifo" else AQM_BUFFER
            flows += ":ecn=classic" if aqm.endswith(" ecn") and "bbr" not in flows else ""
            directions.append(Direction(mbit, aqm, buffer, flows if load in ("both", name) else ""))
        vantage = ("home", "home", "home", "far")[number // 8 % 4]
        ticks = chance.choice((1000, 1000, 1000, 1_000_000, 100, 0))
        jitter = chance.choice((0.0, 0.0, 0.0, 2.0, 5.0)) if vantage == "home" else 0.0
        yield Household(rtt, directions[0], directions[1], vantage, ticks, jitter)


def record(household: Household, folder: Path, seed: int) -> tuple[bytes, dict[str, float]]:
    """Run a household once; return the packets at its vantage, and the metrics."""
    graph = folder / "line.toml"
    delay = household.rtt_ms * 500 - 2
    graph.write_text(
        TOPOLOGY.format(delay=delay, up=int(household.up.mbit * 1000), queue=household.up.spec), encoding="utf-8"
    )
    # A handshake before the load, and a second in which the other direction is not yet full.
    flows = [
        f"{direction.flows}:from={near}:to={far}:handshake=on:dscp={dscp}:start={start}"
        for direction, near, far, dscp, start in (
            (household.up, "home", "server", UP_DSCP, "100ms..900ms"),
            (household.down, "server", "home", 0, "100ms..1900ms"),
        )
        if direction.flows
    ]
    given = {
        "rate": (f"{int(household.down.mbit * 1000)}kbit",),
        "rtt": (f"{household.rtt_ms}ms",),
        "topology": (str(graph),),
        "measure": ("down,up",),
        "flows": tuple(flows),
        "aqm": (household.down.spec,),
        "duration": (f"{DURATION_S}s",),
        "warmup": ("10ms",),
    }
    plan = scenario.resolve(Options(given=given, asked=(household.down.spec,)))
    (what,) = plan.scenarios.values()
    runs = [
        _native.run(json.dumps({**what.data(), "record": tap}), plan.inputs, seed, _native.Monitor())
        for tap in ("senders", "receivers")
    ]
    head, senders = split(runs[0].packets)
    _, receivers = split(runs[1].packets)
    found = at_vantage(household, senders, receivers, random.Random(seed))
    shares = {f"{name}.ip_share": ip_share(found, home) for name, home in (("down", FAR), ("up", HOME))}
    return joined(head, found), {**runs[0].metrics, **shares}


def ip_share(packets: list[Packet], source: bytes) -> float:
    """Return which share of a line's rate are IP packets, by the mean packet from a host: the rest is around them."""
    lengths = [one.length for one in packets if one.data[12:16] == source]
    mean = sum(lengths) / max(len(lengths), 1)
    return mean / (mean + FRAME - IP)


def at_vantage(
    household: Household, senders: list[Packet], receivers: list[Packet], chance: random.Random
) -> list[Packet]:
    """Return what is captured at one end of the line, of what senders and receivers of data see."""
    up, down = (receivers, senders) if household.vantage == "far" else (senders, receivers)
    both = [one for one in up if one.dscp == UP_DSCP] + [one for one in down if one.dscp != UP_DSCP]
    found = list(readdressed(both, HOME, FAR))
    found = list(clocked(sorted(found, key=lambda one: one.time), chance, household.ticks))
    return list(jittered(found, chance, household.jitter_ms, HOME)) if household.jitter_ms else found


def truths(household: Household, metrics: dict[str, float]) -> Iterator[tuple[str, Truth]]:
    """Return what is so of each direction that carries data."""
    for name, direction in (("down", household.down), ("up", household.up)):
        if not direction.flows:
            continue
        port = {key.removeprefix(f"port.{name}."): value for key, value in metrics.items() if f"port.{name}." in key}
        early, overflow = port["drops_early"] + port["marks"], port["drops_overflow"]
        fills = direction.aqm == "fifo" and overflow >= FEW_SIGNALS
        patterns = {"tail drop"} if overflow >= FEW_SIGNALS else set()
        patterns |= {"AQM"} if early >= FEW_SIGNALS else set()
        is_alone = not (household.down.flows and household.up.flows)
        yield (
            name,
            Truth(
                line_mbit=direction.mbit,
                rate_mbit=direction.mbit * metrics[f"{name}.ip_share"],
                base_ms=float(household.rtt_ms),
                buffer=direction.packets if overflow >= FEW_SIGNALS else None,
                patterns=frozenset(patterns or {"none"}),
                fills=fills,
                shows=port["utilization"] > FULL and (household.ticks > 0 or is_alone),
            ),
        )


__all__ = ["Household", "households", "record", "truths"]
