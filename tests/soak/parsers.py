"""Mutated texts and files for the parsers in Python: each is read, or refused in one line.

    python tests/soak/parsers.py [--runs 50000] [--seed 1] [--log FILE]

Experiment files, topologies and distributions, options, notations, and what result folders hold: manifests, records and
frames. All is read in this process, and nothing is simulated. The status is 1 if anything was found: an error that is
none of input, or says nothing, or more than a few seconds of work.
"""

from __future__ import annotations

import argparse
import collections
import copy
import io
import json
import os
import random
import resource
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import EXPERIMENT, MOST_BYTES, NASTY, spoilt

import aqmlab
from aqmlab import engine, scenario, store
from aqmlab.engine import native
from aqmlab.files import toml
from aqmlab.runs.runner import FinishedRun
from aqmlab.scenario import flows, sweeps
from aqmlab.store import manifest, record, seal
from aqmlab.tuning.goal import Bound
from aqmlab.tuning.space import Space
from aqmlab.vocabulary import quantities
from aqmlab.vocabulary.errors import InputError

MOST_SECONDS = 5.0
MOST_POINTS = 5
SHIPPED = sorted((Path(__file__).parents[2] / "experiments").rglob("*.toml"))
TOPOLOGY = """\
measured = "b->c"
sources = ["a"]
sinks = ["c"]
[[link]]
from = "a"
to = "b"
rate = "1gbit"
delay = "5ms"
both = true
[[link]]
from = "b"
to = "c"
rate = "2mbit"
delay = "1ms"
queue = "test"
[[link]]
from = "c"
to = "b"
rate = "1gbit"
delay = "1ms"
loss = "1%"
[switch]
pfc = { xoff = "96kb", xon = "93kb" }
"""
DISTRIBUTION = "1kb 0.2\n10kb 0.5\n1mb 1\n"
OPTIONS: dict[str, Any] = {
    "rate": "2mbit", "rtt": "20ms", "buffer": "1bdp", "aqm": ["codel target 5ms", "drr child [pie] child [fifo]"],
    "flows": ["2*cubic:start=0s..10ms:profile=linux", "1*onoff:rate=1mbit:on=exp(1s):off=pareto(1s,1.5)"],
    "topology": "asymmetric:up=1mbit", "measure": "up,down", "overhead": "14b", "device_ring": "1",
    "access_rate": "1gbit",
    "loss": "1%", "jitter": "1ms", "duration": "2s", "warmup": "auto", "seeds": "1", "series": "groups",
}  # fmt: skip
# Notations, each with what reads it.
NOTATIONS: list[tuple[str, Callable[[str], object]]] = [
    ("1ms..100ms*8log", lambda text: swept(text)),
    ("5mbit,10mbit,20mbit", lambda text: swept(text)),
    ("4*cubic:rtt=20ms:start=2s..3s:size=1mb:ecn=classic", flows.parse),
    ("2*workload:size=lognormal(20kb,1.2):load=50%", flows.parse),
    ("1*vbr:size=lognormal(20kb,1.2)", flows.parse),
    ("1*vbr:size=cdf(sizes.cdf)", lambda text: flows.parse(text, Path())),
    ("pie target 1ms..50ms tupdate 5ms|15ms ecn", Space.parse),
    ("qdelay_p95_ms <= 20", Bound.parse),
    ("10mbit 20ms 64kb 1000p 5% 3", lambda text: quantities.read(text.split())),
    ("leaf_spine:leaves=2:hosts=2:buffer=9mb:xoff=96kb", lambda text: resolved(in_topology(text))),
]
TREE_VALUES: list[Any] = [None, True, -1, 0, 2**70, 1e308, "", "x", "$x", "1e999", [], {}, [[]], [None], {"a": 1}]


def swept(text: str) -> object:
    """Return the points of a sweep of these values."""
    return sweeps.points({"rate": text}, "grid", {}, {}, "")


def mutated_tree(value: Any, chance: random.Random) -> Any:
    """Return plain data with one of its parts removed, repeated or replaced."""
    value = copy.deepcopy(value)
    place = value
    while True:
        if not isinstance(place, dict | list) or not place:
            return chance.choice(TREE_VALUES)
        key: Any = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
        part = place[key]
        if isinstance(part, dict | list) and part and chance.random() < 0.8:
            place = part
            continue
        match chance.randrange(4):
            case 0:
                del place[key]
            case 1 if isinstance(place, list):
                place.insert(key, part)
            case 2 if isinstance(part, str):
                place[key] = spoilt(part, chance)
            case _:
                place[key] = chance.choice(TREE_VALUES)
        return value


def spoilt_bytes(content: bytes, chance: random.Random) -> bytes:
    """Return bytes of which a few are removed, repeated or replaced."""
    content = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 8))):
        place = chance.randrange(len(content) + 1)
        match chance.randrange(4):
            case 0:
                del content[place : place + chance.choice((1, 4, 100))]
            case 1:
                content[place:place] = content[place : place + chance.choice((1, 4, 100))]
            case _:
                content[place : place + 1] = bytes([chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))])
    return bytes(content)


def sealed(entries: Any) -> bytes:
    """Return JSON that has a checksum, if it can have one, so that what is in it is looked at."""
    return json.dumps(seal.sealed(entries) if isinstance(entries, dict) else entries).encode()


def resolved(experiment: scenario.Experiment) -> None:
    """Resolve the first points of an experiment."""
    for options in experiment.points[:MOST_POINTS]:
        scenario.resolve(options)


def in_topology(text: str) -> scenario.Experiment:
    """Return options with a topology by name."""
    values = {name: value for name, value in OPTIONS.items() if name != "measure"}
    return scenario.Experiment("", (scenario.from_values({**values, "topology": text, "flows": "1*cubic"}),))


def with_topology(text: str) -> None:
    """Resolve options with a topology of one's own."""
    Path("x.toml").write_text(text, "utf-8", errors="surrogateescape")
    values = {**OPTIONS, "topology": "x.toml", "flows": "1*cubic:from=a:to=c", "measure": "b->c"}
    resolved(scenario.Experiment("", (scenario.from_values(values),)))


class Parsers:
    """What is tried, each with a mutated input."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.experiments = [EXPERIMENT, *(path.read_text() for path in SHIPPED)]
        folder = Path("result")
        aqmlab.compare(rate="2mbit", rtt="20ms", aqm="fifo", duration="200ms", warmup="0s", seeds=1, out=folder)
        self.manifest = seal.unsealed(json.loads((folder / "manifest.json").read_text()))
        self.frames = {path.name: path.read_bytes() for path in folder.glob("*.parquet")}
        plan = scenario.resolve(scenario.from_values({"rate": "2mbit", "rtt": "20ms", "aqm": "fifo", "duration": "1s"}))
        task = engine.Task(0, "fifo", 1, "key", plan.scenarios["fifo"])
        self.record = record.encode(FinishedRun(task, native.Native().run(task, native.Native().monitor(task))))
        # What is refused as it stands would hide what is wrong behind it.
        resolved(scenario.Experiment("", (scenario.from_values(OPTIONS),)))
        with_topology(TOPOLOGY)

    def experiment(self) -> None:
        """Read an experiment file whose text is spoilt."""
        Path("x.toml").write_text(
            spoilt(self.chance.choice(self.experiments), self.chance), "utf-8", errors="surrogateescape"
        )
        resolved(scenario.load(Path("x.toml")))

    def toml(self) -> None:
        """Read bytes as TOML."""
        Path("x.toml").write_bytes(spoilt_bytes(self.chance.choice(self.experiments).encode(), self.chance))
        toml.read(Path("x.toml"))

    def topology(self) -> None:
        """Read a topology's file."""
        with_topology(spoilt(TOPOLOGY, self.chance))

    def distribution(self) -> None:
        """Read a distribution's file."""
        Path("sizes.cdf").write_text(spoilt(DISTRIBUTION, self.chance), "utf-8", errors="surrogateescape")
        flows.parse("1*vbr:size=cdf(sizes.cdf)")

    def options(self) -> None:
        """Read options, one of which is spoilt."""
        resolved(scenario.Experiment("", (scenario.from_values(mutated_tree(OPTIONS, self.chance)),)))

    def notation(self) -> None:
        """Read a notation."""
        text, read = self.chance.choice(NOTATIONS)
        read(spoilt(text, self.chance) if self.chance.random() < 0.9 else self.chance.choice(NASTY))

    def a_manifest(self) -> None:
        """Read a manifest, edited with its checksum or damaged."""
        text = sealed(mutated_tree(self.manifest, self.chance))
        if self.chance.random() < 0.2:
            text = spoilt_bytes(text, self.chance)
        manifest.parse(Path("x"), text)

    def a_folder(self) -> None:
        """Load a result whose manifest was edited or whose frame is damaged, and their checksums with them."""
        folder = Path("result")
        entries, frames = self.manifest, self.frames
        if self.chance.random() < 0.7:
            entries = mutated_tree(entries, self.chance)
        else:
            name = self.chance.choice(list(frames))
            frames = {**frames, name: spoilt_bytes(frames[name], self.chance)}
            digests = {Path(one).stem: seal.digest(content) for one, content in frames.items()}
            entries = {**entries, "digests": digests}
        (folder / "manifest.json").write_bytes(sealed(entries))
        for name, content in frames.items():
            (folder / name).write_bytes(content)
        store.read(folder)

    def a_record(self) -> None:
        """Read a record whose checksum was made to match."""
        body = spoilt_bytes(self.record[len(record.MAGIC) + 4 :], self.chance)
        try:
            record.decode(record.MAGIC + zlib.crc32(body).to_bytes(4, "little") + body)
        except record.DamagedError as error:
            raise InputError(str(error).splitlines()[0] if str(error) else "damaged") from None


def tried(read: Callable[[], None]) -> str:
    """Return what is wrong with the end of a parser; nothing if it is as it should be."""
    before = time.process_time()
    try:
        read()
    except ValueError as error:
        # Inner parsers raise plain ones, to which a place is added; an error of input is one, too.
        if not str(error).strip() or type(error) not in (ValueError, InputError):
            return traceback.format_exc()
    except Exception:
        return traceback.format_exc()
    seconds = time.process_time() - before
    return f"{seconds:.0f} s of work" if seconds > MOST_SECONDS else ""


def soak(runs: int, seed: int, log: io.TextIOBase) -> int:
    """Try so many mutated inputs; what is found is written to the log at once."""
    chance = random.Random(seed)
    parsers = Parsers(chance)
    kinds = [
        *[parsers.experiment, parsers.options, parsers.notation, parsers.a_manifest, parsers.a_record] * 3,
        *[parsers.toml, parsers.topology, parsers.distribution, parsers.a_folder],
    ]
    seen = collections.Counter[str]()
    for number in range(runs):
        read = chance.choice(kinds)
        if problem := tried(read):
            where = problem.strip().splitlines()[-1][:200]
            seen[where] += 1
            if seen[where] == 1:
                print(f"{number}: {read.__name__}: {problem}", file=log, flush=True)
    print(f"{runs} inputs: found {len(seen)}")
    return 1 if seen else 0


def run() -> int:
    """Run the soak in an empty folder and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="file for what is found; standard error unless given")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    log = given.log.open("w") if given.log else sys.stderr
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        status = soak(given.runs, given.seed, log)
        os.chdir("/")
    return status


if __name__ == "__main__":
    sys.exit(run())
