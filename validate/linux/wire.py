#!/usr/bin/env python3
"""Compare what the wire does to each packet with netem: losses and their runs, jitter, copies, packets that overtake.

    validate/linux/wire.py [--seeds N] [--jobs N] [--packets N] [--out DIR] [--write]

A stream of 2500 packets a second meets the wire of the simulator (crates/aqm-path) and netem in the kernel, behind a
link that is half used. Taps in front of netem and behind it have the time of every packet. It prints tables in
Markdown; `--write` puts them into validate/linux/README.md. Records that are in DIR are not made again. It needs the
kernel: aqmlab engine build linux.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from aqmlab import scenario
from aqmlab.engine.linux import guest, job, kernel_image, taps
from aqmlab.engine.linux.network import LOSSY, Network

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import splice_tables

ROOT = Path(__file__).resolve().parents[2]
README = Path(__file__).resolve().parent / "README.md"
RATE_BPS, PACKET_BYTES, EVERY_NS = 20_000_000, 500, 400_000
# What everything is delayed by where packets may overtake by it.
DELAY_NS = 10_000_000
MS = 1e-6

Array = np.ndarray[Any, np.dtype[Any]]
Balance = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Record:
    """What became of a stream's packets: the number of each that arrived, in their order, and its time on the wire.

    One that arrives twice is there twice, the earlier first.
    """

    sent: int
    number: Array
    delay_ns: Array

    @property
    def first(self) -> Array:
        """Where the first arrival of each packet is."""
        return np.flatnonzero(np.diff(self.number, prepend=-1) > 0)

    @property
    def lost(self) -> Array:
        """Whether each was lost."""
        return np.bincount(self.number, minlength=self.sent) == 0


def lost_share(record: Record) -> float:
    """Return the share of packets that were lost, per cent."""
    return 100 * float(record.lost.mean())


def mean_run(record: Record) -> float:
    """Return the mean number of packets that were lost one after another."""
    lost = record.lost
    begins = lost & ~np.concatenate([[False], lost[:-1]])
    return float(lost.sum() / begins.sum())


def extra_ms(record: Record) -> Array:
    return record.delay_ns[record.first] * MS


def correlation(record: Record) -> float:
    """Return the correlation of the delays of packets that follow each other."""
    delays = extra_ms(record)
    return float(np.corrcoef(delays[:-1], delays[1:])[0, 1])


def doubled_share(record: Record) -> float:
    """Return the share of packets that arrived twice, of those that were sent, per cent."""
    return 100 * float((np.bincount(record.number, minlength=record.sent) > 1).mean())


def undelayed_share(record: Record) -> float:
    """Return the share of packets that were on the wire for no time, per cent."""
    return 100 * float((record.delay_ns[record.first] < DELAY_NS // 2).mean())


def reordered_share(record: Record) -> float:
    """Return the share of packets that arrived behind one that was sent later (RFC 4737 section 4.1), per cent."""
    number = record.number[record.first]
    order = np.argsort(number * EVERY_NS + record.delay_ns[record.first], kind="stable")
    arrived = number[order]
    return 100 * float((arrived < np.maximum.accumulate(arrived)).mean())


def chain_of(loss: Mapping[str, Any] | float) -> Balance:
    """Return a model's transitions, the probability of a loss in each state, and the shares of time in the states."""
    model, shares = next(iter(loss.items())) if isinstance(loss, Mapping) else ("random", {"share": loss})
    if model == "gemodel":
        p, r = shares["p"], shares["r"]
        moves, lost = [[1 - p, p], [r, 1 - r]], [shares["good"], shares["bad"]]
    elif model == "state":
        p13, p31, p32, p23, p14 = (shares[name] for name in ("p13", "p31", "p32", "p23", "p14"))
        # Received in gaps (1) and in bursts (2), lost in bursts (3) and alone (4), from which it goes back to 1.
        moves = [[1 - p13 - p14, 0, p13, p14], [0, 1 - p23, p23, 0], [p31, p32, 1 - p31 - p32, 0], [1, 0, 0, 0]]
        lost = [0.0, 0.0, 1.0, 1.0]
    else:
        moves, lost = [[1.0]], [shares["share"]]
    transitions, losses = np.array(moves), np.array(lost)
    balance = np.vstack([transitions.T - np.eye(len(lost)), np.ones(len(lost))])
    times = np.linalg.lstsq(balance, np.append(np.zeros(len(lost)), 1.0), rcond=None)[0]
    return transitions, losses, times


def stationary(loss: Mapping[str, Any] | float) -> float:
    """Return the share of packets that a model loses in the long run, by the balance of its chain (tc-netem(8)).

    >>> round(stationary({"gemodel": {"p": 0.01, "r": 0.09, "bad": 1, "good": 0}}), 12)
    0.1

    """
    _, losses, times = chain_of(loss)
    return float(times @ losses)


def expected_run(loss: Mapping[str, Any] | float) -> float:
    """Return the mean run of losses: losses over those that follow a packet that was not lost.

    >>> round(expected_run({"gemodel": {"p": 0.01, "r": 0.1, "bad": 1, "good": 0}}), 9), round(expected_run(0.5), 9)
    (10.0, 2.0)

    """
    transitions, losses, times = chain_of(loss)
    return float(times @ losses / ((times * (1 - losses)) @ transitions @ losses))


@dataclass(frozen=True)
class Statistic:
    """A number of a record, and what it should be by a formula, if there is one."""

    name: str
    of: Callable[[Record], float]
    formula: Callable[[Mapping[str, Any]], float] | None = None


@dataclass(frozen=True)
class Case:
    """A wire, in the words of the options, and what is looked at."""

    title: str
    options: Mapping[str, str]
    statistics: tuple[Statistic, ...]
    delay_ns: int = 0


LOST = Statistic("lost, %", lost_share, lambda wire: 100 * stationary(wire["loss"]))
RUN = Statistic("mean run of losses", mean_run, lambda wire: expected_run(wire["loss"]))
# x' = s x + (1 - s) u with u uniform has the mean of u, and a variance (1 - s) / (1 + s) times as large.
MEAN = Statistic("mean delay, ms", lambda one: float(extra_ms(one).mean()), lambda wire: wire["jitter_ns"] / 2 * MS)
DEVIATION = Statistic(
    "its standard deviation, ms",
    lambda one: float(extra_ms(one).std()),
    lambda wire: wire["jitter_ns"] * MS * ((1 - (s := wire["jitter_correlation"])) / (1 + s) / 12) ** 0.5,
)
CORRELATION = Statistic("correlation with the next", correlation, lambda wire: wire["jitter_correlation"])
REORDERED = Statistic("arrive behind a later one, %", reordered_share)
DOUBLED = Statistic(
    "arrive twice, %", doubled_share, lambda wire: 100 * wire["duplicate"] * (1 - stationary(wire["loss"]))
)
# After `gap` less one that wait, each goes at once with the probability.
EARLY = Statistic(
    "go at once, %", undelayed_share, lambda wire: 100 / (wire["reorder"]["gap"] - 1 + 1 / wire["reorder"]["share"])
)
JITTER, COPIES, ORDER = (MEAN, DEVIATION, CORRELATION, REORDERED), (LOST, DOUBLED), (EARLY, REORDERED)
TABLES = {
    "losses": [
        Case(f"--loss '{model}'", {"loss": model}, (LOST, RUN))
        for model in ("1%", "gemodel 1% 10%", "gemodel 2% 25% 80% 0.1%", "state 1% 20% 30% 50% 1%")
    ],
    "others": [
        Case("--jitter 5ms", {"jitter": "5ms"}, JITTER),
        Case("--jitter 5ms --jitter-correlation 50%", {"jitter": "5ms", "jitter_correlation": "50%"}, JITTER),
        Case("--duplicate 5%", {"duplicate": "5%"}, COPIES[1:]),
        Case("--duplicate 20% --loss 10%", {"duplicate": "20%", "loss": "10%"}, COPIES),
        Case("--reorder 25%", {"reorder": "25%"}, ORDER, DELAY_NS),
        Case("--reorder '25% gap 5'", {"reorder": "25% gap 5"}, ORDER, DELAY_NS),
        Case("--reorder 25% --jitter 4ms", {"reorder": "25%", "jitter": "4ms"}, ORDER, DELAY_NS),
    ],
}


def settings_of(case: Case, packets: int) -> tuple[scenario.Scenario, dict[str, Any]]:
    """Return the stream's scenario without its wire, and the settings of the wire."""
    stream = {
        "aqm": "fifo", "rate": f"{RATE_BPS}bit", "rtt": "20ms", "warmup": "0s",
        "flows": f"1*cbr:rate={PACKET_BYTES * 8 * 10**9 // EVERY_NS}bit:packet={PACKET_BYTES}b:start=0s",
        # A second longer: all that is not lost has arrived.
        "duration": f"{packets * EVERY_NS / 1e9 + 1:g}s",
    }  # fmt: skip
    plain, wired = (
        scenario.resolve(scenario.from_values({**stream, **options})).scenarios["fifo"]
        for options in ({}, case.options)
    )
    return plain, dict(wired.settings)


class Tapped(job.Job):
    """A run with a tap behind netem, too."""

    @property
    def programs(self) -> list[str]:
        return [f"watch {LOSSY} {self.network.wire} out", *super().programs]


def in_kernel(case: Case, packets: int, seed: int) -> Record:
    """Send the stream through netem."""
    plain, wire = settings_of(case, packets)
    described = job.described(plain, seed)
    network = Network(replace(plain, settings=wire), RATE_BPS, case.delay_ns)
    values = {one.name: getattr(described, one.name) for one in fields(described)} | {"network": network}
    with guest.finished(kernel_image.found(), Tapped(**values), case.title, guest.Watch()) as (folder, _):
        before = taps.seen(folder, f"out.{network.ports[0].interface}")
        behind = taps.seen(folder, f"out.{network.wire}")
    # The sender numbers datagrams from 1 on, in the machine's byte order.
    numbers, arrived = (tap["seq"].byteswap().astype("i8") - 1 for tap in (before, behind))
    assert (numbers[:packets] == np.arange(packets)).all(), "a packet is missing in front of netem"
    delays = behind["time"].astype("i8") - before["time"].astype("i8")[arrived]
    order = np.lexsort((delays, arrived))
    order = order[arrived[order] < packets]
    return Record(packets, arrived[order], delays[order])


def in_simulator(case: Case, packets: int, seed: int) -> Record:
    """Send the stream over the wire of the simulator."""
    _, settings = settings_of(case, packets)
    keys = ("loss", "jitter_ns", "jitter_correlation", "duplicate", "reorder")
    wire = json.dumps({key: settings[key] for key in keys})
    words = [wire, case.delay_ns, EVERY_NS, packets, seed]
    program = ROOT / "target/debug/examples/wire"
    lines = subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True).stdout.split("\n")
    delays = [sorted(map(int, line.split())) for line in lines[:packets]]
    number = np.repeat(np.arange(packets), [len(one) for one in delays])
    return Record(packets, number, np.array([one for line in delays for one in line], dtype="i8"))


def stored(out: Path, make: Callable[[Case, int, int], Record], case: Case, packets: int, seed: int) -> Record:
    """Return a record from a folder; made, if it is not there."""
    name = "".join(letter if letter.isalnum() else "-" for letter in f"{make.__name__} {case.title} {packets} {seed}")
    file = out / f"{name}.npz"
    if not file.exists():
        made = make(case, packets, seed)
        out.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(file, sent=made.sent, number=made.number, delay_ns=made.delay_ns)
    with np.load(file) as found:
        return Record(int(found["sent"]), found["number"], found["delay_ns"])


def table(cases: Sequence[Case], given: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| Wire | what | formula | simulator | netem | netem from the simulator, standard errors |"
    yield "|---|---|---|---|---|---|"
    with ThreadPoolExecutor(given.jobs) as pool:
        seeds = range(1, given.seeds + 1)
        for case in cases:
            sides = [
                list(pool.map(partial(stored, given.out, make, case, given.packets), seeds))
                for make in (in_simulator, in_kernel)
            ]
            _, wire = settings_of(case, given.packets)
            for place, one in enumerate(case.statistics):
                values = [[one.of(record) for record in side] for side in sides]
                (ours, our_error), (kernels, error) = ((mean(side), stdev(side) / len(side) ** 0.5) for side in values)
                cells = [f"{found:.3f} ± {2 * width:.3f}" for found, width in ((ours, our_error), (kernels, error))]
                apart = (kernels - ours) / ((our_error**2 + error**2) ** 0.5 or 1)
                formula = f"{one.formula(wire):.3f}" if one.formula else ""
                title = "" if place else f"`{case.title}`"
                yield f"| {title} | {one.name} | {formula} | {' | '.join(cells)} | {apart:+.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--packets", type=int, default=25_000, help="packets of a run (25000)")
    parser.add_argument("--out", type=Path, default=Path("results/validate-linux/wire"))
    parser.add_argument("--write", action="store_true", help=f"put the tables into {README.name}")
    given = parser.parse_args()
    build = ["cargo", "build", "--quiet", "--locked", "-p", "aqm-path", "--example", "wire"]
    subprocess.run(build, check=True, cwd=ROOT)
    parts = {
        (f"<!-- wire {name} -->", "<!-- end -->"): chain([""], table(cases, given), [""])
        for name, cases in TABLES.items()
    }
    splice_tables.write_or_print(README if given.write else None, parts)


if __name__ == "__main__":
    main()
