"""Traces for the oracle tests: random workloads, and the Rust implementation as a program that replays them."""

from __future__ import annotations

import functools
import os
import random
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MILLISECOND = 1_000_000
SECOND = 1_000_000_000
NOT_ECT, ECT1, ECT0, CE = range(4)
SIZES = (64, 64, 590, 1000, 1514, 1514, 1514)
MEAN_SIZE = sum(SIZES) / len(SIZES)


@dataclass
class Packet:
    """A packet as an oracle sees it."""

    number: int
    flow: int
    length: int
    ecn: int
    arrival: int
    code_point: int = 0
    ack: int | None = None
    flags: int = 0

    @property
    def source(self) -> int:
        """The host that the example program gives to a flow."""
        return self.flow // 4

    @property
    def destination(self) -> int:
        """The host that the example program lets a flow go to."""
        return self.flow % 3

    @property
    def station(self) -> int:
        """The station that the example program gives to a flow."""
        return self.flow % 4

    @property
    def traffic_class(self) -> int:
        """The class that the example program gives to a flow."""
        return self.flow % 4


@dataclass(frozen=True)
class Step:
    """One line of a trace; times in nanoseconds."""

    op: str
    now: int
    words: tuple[int | str, ...] = ()

    def line(self) -> str:
        return " ".join(map(str, (self.op, self.now, *self.words)))


@dataclass
class Trace:
    """The steps of a host, and the random numbers for the law."""

    rate: int
    steps: list[Step]
    numbers: list[int]


class Numbers:
    """Replays 64-bit random numbers, uniform in [0, 1) by their upper 53 bits."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self.used = 0

    def uniform(self) -> float:
        number = self.numbers[self.used % len(self.numbers)]
        self.used += 1
        return (number >> 11) / 2**53


@dataclass
class Log:
    """Decisions in the notation of the example program `trace_decisions`."""

    lines: list[str] = field(default_factory=list)

    def __call__(self, *words: object) -> None:
        self.lines.append(" ".join(map(str, words)))

    def mark(self, packet: Packet) -> bool:
        """Marks a packet if it is ECN-capable; one that carries CE counts as marked."""
        if packet.ecn == NOT_ECT:
            return False
        if packet.ecn != CE:
            packet.ecn = CE
            self("marked", packet.number)
        return True


class Oracle(ABC):
    """A law with its queue; `play` gives it the trace's random numbers and the link's rate."""

    # What the workloads must show often beside arrivals and departures, or the comparison says little; with a parameter
    # `ecn` marks as well.
    shows: tuple[str, ...] = ("dropped congestion",)

    @staticmethod
    def trace(seed: int) -> Trace:
        """Return a workload to compare it on."""
        return random_traffic(seed)

    def __init__(self) -> None:
        self.log = Log()
        self.numbers = Numbers([])
        self.rate = 0
        self.held: Packet | None = None

    @abstractmethod
    def enqueue(self, packet: Packet, now: int) -> None:
        """A packet arrives."""

    @abstractmethod
    def dequeue(self, now: int) -> Packet | None:
        """The link is free."""

    def dequeue_for(self, station: int, now: int) -> Packet | None:
        """A station's aggregate has room: with one queue for all, a packet for another station waits at the head."""
        if self.held is None:
            self.held = self.dequeue(now)
        return self.release() if self.held is not None and self.held.station == station else None

    def release(self) -> Packet | None:
        """Return the packet that waits at the head for its station, if one does."""
        held, self.held = self.held, None
        return held

    def sent(self, station: int, airtime: int, received: bool) -> None:  # noqa: B027 - most laws do not care
        """A transmission to a station, or one that it sent, took so many nanoseconds."""

    def advance(self, now: int) -> None:  # noqa: B027 - most laws have no timer
        """Runs timers that are due by `now`."""

    def probes(self) -> dict[str, float]:
        """The law's own variables, under the names of the Rust discipline."""
        return {}


def play(trace: Trace, oracle: Oracle) -> list[str]:
    """The oracle's decisions on `trace`."""
    oracle.numbers = Numbers(trace.numbers)
    oracle.rate = trace.rate
    log = oracle.log
    for step in trace.steps:
        oracle.advance(step.now)
        if step.op == "arrive":
            number, flow, length, ecn, *more = (int(word) for word in step.words)
            oracle.enqueue(Packet(number, flow, length, ecn, step.now, *more), step.now)
        elif step.op == "sent":
            station, airtime, received = (int(word) for word in step.words)
            oracle.sent(station, airtime, bool(received))
        elif step.op in ("serve", "serve_for"):
            stations = [int(word) for word in step.words]
            packet = (
                oracle.dequeue_for(stations[0], step.now) if stations else oracle.release() or oracle.dequeue(step.now)
            )
            if packet is None:
                log("empty")
            else:
                log("departed", packet.number)
        elif step.op == "probe":
            for name, value in oracle.probes().items():
                log("probe", name, repr(float(value)))
    return log.lines


def rust(spec: str, trace: Trace, program: Path, timeout: float = 60) -> list[str]:
    """The decisions of aqm-core on `trace`."""
    lines = [f"spec {spec}", f"rate {trace.rate}", "random " + " ".join(map(str, trace.numbers))]
    lines += [step.line() for step in trace.steps]
    text = "\n".join(lines) + "\n"
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def build() -> Path:
    """Builds the example program, as `cargo test` does, and says where it is."""
    cargo = os.environ.get("CARGO", "cargo")
    what = ["--workspace", "--example", "trace_decisions_of_all"]
    subprocess.run([cargo, "build", "--quiet", *what], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "debug" / "examples" / "trace_decisions_of_all"


@functools.cache
def random_traffic(seed: int, flows: int = 12, probe_every: int = 40) -> Trace:
    """Random traffic: phases of overload, underload, silence and bursts; mixed sizes and ECN fields.

    Every third trace has a slow link, on which one packet takes longer than most laws' targets. Every step has its own
    time, odd or even by kind, so that no decision depends on a tie.
    """
    chance = random.Random(seed)
    rate, seconds = (1_000_000, 20) if seed % 3 == 2 else (10_000_000, 3)
    mean_gap = MEAN_SIZE * 8 / rate * SECOND
    ecn = chance.choice([(NOT_ECT,), (NOT_ECT, ECT0), (ECT0,), (NOT_ECT, ECT1, ECT0, CE)])
    arrivals = list(_arrivals(chance, seconds, mean_gap))
    serves = list(_serves(chance, seconds + 1, mean_gap))
    steps = []
    for number, now in enumerate(arrivals):
        flow = 0 if chance.random() < 0.4 else chance.randrange(flows)
        steps.append(
            Step("arrive", now, (number, flow, chance.choice(SIZES) - chance.randrange(24), chance.choice(ecn)))
        )
    steps += [Step("serve", now) for now in serves]
    steps.sort(key=lambda step: step.now)
    with_probes = []
    for number, step in enumerate(steps):
        with_probes.append(step)
        if probe_every and number % probe_every == 0:
            with_probes.append(Step("probe", step.now))
    numbers = [chance.getrandbits(64) for _ in range(997)]
    return Trace(rate, with_probes, numbers)


CODE_POINTS = (0, 8, 46, 0, 34, 16, 1, 24, 32, 48, 10, 4)


@functools.cache
def marked_traffic(seed: int) -> Trace:
    """Random traffic whose flows have code points, and of which every fourth flow sends mostly acknowledgments."""
    trace, chance = random_traffic(seed), random.Random(seed)
    last: dict[int, int] = {}
    steps = []
    for step in trace.steps:
        if step.op == "arrive":
            number, flow, length, ecn = (int(word) for word in step.words)
            words = [number, flow, length, ecn, CODE_POINTS[flow % len(CODE_POINTS)]]
            if flow % 4 == 3 and chance.random() < 0.9:
                last[flow] = last.get(flow, 2**32 - 20_000) + chance.choice([0, 1448, 1448, 2896])
                words += [last[flow] % 2**32, 16 | chance.choice([0] * 9 + [64, 128])]
            step = Step("arrive", step.now, tuple(words))
        steps.append(step)
    return Trace(trace.rate, steps, trace.numbers)


def _arrivals(chance: random.Random, seconds: float, mean_gap: float) -> Iterator[int]:
    now, end = 0.0, seconds * SECOND
    while now < end:
        load = chance.choice([0.0, 0.2, 0.8, 1.0, 1.1, 1.3, 2.0, 6.0])
        until = now + chance.uniform(0.05, 0.2 if load > 3 else 1.2) * SECOND
        while load and now < until:
            now += chance.expovariate(load / mean_gap)
            yield 2 * int(now / 2)
        now = max(now, until)


def _serves(chance: random.Random, seconds: float, mean_gap: float) -> Iterator[int]:
    now = 0.0
    while now < seconds * SECOND:
        now += mean_gap * chance.uniform(0.6, 1.4)
        yield 2 * int(now / 2) + 1
