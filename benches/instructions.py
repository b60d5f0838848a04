"""Instructions per packet, compared with recorded counts: what continuous integration can measure.

    python benches/instructions.py [--write | --page]

Seconds depend on the machine and its other load; instructions, counted by callgrind as the difference of two run
lengths, hardly do. Every discipline is counted under two loads, those that were slow in congestion under a third, and
the simulator in its speed case. The status is 1 if one exceeds its recorded count by more than the tolerance, or has
none; `--write` updates the file, and the commit gives the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import splice_tables

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "benches" / "README.md"
BEGIN, END = "<!-- instructions, by make bench-write -->", "<!-- end of instructions -->"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
WRITTEN = ROOT / "benches" / "instructions.json"
# Other C libraries copy memory differently: a difference above this share is ours.
TOLERANCE = 0.02
LOADS = ("1_flow", "1000_flows")
# They look for the longest queue, turn rounds or pass over bins when packets are dropped.
CONGESTED = ("cake", "sfb", "sfq")
FEW, MANY = 1_000, 4_000
FIFO = "fifo limit 1667p"
# What htsim's TCP does.
EACH = "transport=newreno delack off"
SIMULATED = (
    ("100 flows, fifo", ("100", FIFO)),
    ("100 flows, ACK for each packet", ("100", FIFO, EACH)),
    ("1000 flows, ACK for each packet", ("1000", FIFO, EACH)),
    ("100 flows, fq_codel", ("100", "fq_codel")),
    # On a port of a switch: its data plane sees data in one direction and acknowledgments in the other.
    ("100 flows, switch", ("100", FIFO, "switch=none")),
    ("100 flows, switch with dscp int", ("100", FIFO, "switch=dscp int")),
    ("100 flows, switch with pmqecn", ("100", FIFO, "switch=pmqecn")),
)
SHORT, LONG = 2, 3
# A classifier alone: few and many flows, a short and a long list; an LRU with 10 flows has hits alone.
CLASSIFIED = (
    ("m_lru", "10"),
    ("m_lru", "1000000"),
    ("m_lru cache 20", "1000000"),
    ("m_lru cache 2000", "1000000"),
    ("lru", "10"),
    ("lru", "1000000"),
)


def run(*words: str | Path) -> str:
    """Return the standard output of a command that must succeed."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def build(**examples: str) -> list[Path]:
    """Build examples of packages beside each other, and return the programs."""
    words = [word for example, package in examples.items() for word in ("--package", package, "--example", example)]
    run("cargo", "build", "--quiet", "--locked", "--release", *words)
    return [TARGET / "release" / "examples" / example for example in examples]


def count(*command: str | Path) -> tuple[int, str]:
    """Instructions that a command takes, and what it prints."""
    with tempfile.NamedTemporaryFile() as out:
        printed = run("valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out.name}", *command)
        total = re.search(r"^(?:summary|totals): (\d+)", Path(out.name).read_text(), re.MULTILINE)
    if total is None:
        sys.exit("callgrind counted nothing")
    return int(total.group(1)), printed


def of_discipline(program: Path, name: str, load: str) -> float:
    """Instructions for each packet that goes through a discipline."""
    few, many = (count(program, name, load, str(steps))[0] for steps in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def of_classifier(program: Path, classifier: str, flows: str) -> float:
    """Instructions for each packet that a classifier is shown; lists are full by then."""
    few, many = (count(program, classifier, flows, str(packets))[0] for packets in (10 * FEW, 10 * MANY))
    return (many - few) / (10 * (MANY - FEW))


def of_simulator(program: Path, flows: str, aqm: str, *options: str) -> float:
    """Instructions for each packet that leaves the bottleneck of the speed case, once start-up is over."""
    ends = [count(program, flows, aqm, str(seconds), *options) for seconds in (SHORT, LONG)]
    (few, before), (many, after) = ((total, json.loads(printed)["bottleneck_packets"]) for total, printed in ends)
    return (many - few) / (after - before)


def measure() -> dict[str, float]:
    """Every count, by what was counted."""
    examples = {"steady": "aqm-core", "classify": "aqm-core", "speed_with_papers": "aqm-papers"}
    steady, classify, speed = build(**examples)
    names = run(steady, "--list").split()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        simulated = {name: pool.submit(of_simulator, speed, *case) for name, case in SIMULATED}
        counted = {
            f"{name}, {load}": pool.submit(of_discipline, steady, name, load)
            for name in names
            for load in (*LOADS, *(["congested"] if name in CONGESTED else []))
        }
        classified = {
            f"{name} alone, {flows} flows": pool.submit(of_classifier, classify, name, flows)
            for name, flows in CLASSIFIED
        }
        return {name: round(one.result(), 1) for name, one in {**counted, **classified, **simulated}.items()}


def complaints(found: dict[str, float], written: dict[str, float]) -> list[str]:
    """The counts that exceed the tolerance, in words."""
    lines = []
    for name, instructions in found.items():
        if name not in written:
            lines.append(f"{name}: {instructions:.0f} instructions, and none are written down")
        elif instructions > written[name] * (1.0 + TOLERANCE) + 1.0:
            more = instructions / written[name] - 1.0
            lines.append(f"{name}: {instructions:.0f} instructions, {more:+.1%} against {written[name]:.0f}")
    return lines


def lines(found: Mapping[str, float]) -> Iterator[str]:
    """Yield the counts as tables: a discipline a line, then the simulator and classifiers."""
    loads = (*LOADS, "congested")
    yield f"| Discipline | {' | '.join(load.replace('_', ' ') for load in loads)} |"
    yield f"|---|{'---|' * len(loads)}"
    for name in dict.fromkeys(key.rpartition(", ")[0] for key in found if key.rpartition(", ")[2] in loads):
        cells = (f"{found[key]:.0f}" if (key := f"{name}, {load}") in found else "" for load in loads)
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    yield "| Run, or classifier alone | Instructions a packet |"
    yield "|---|---|"
    for key, count in found.items():
        if key.rpartition(", ")[2] not in loads:
            yield f"| {key} | {count:.0f} |"


def main() -> int:
    """Measures, prints, compares or writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the counts down instead of comparing them")
    parser.add_argument("--page", action="store_true", help="only put the recorded counts into README.md")
    options = parser.parse_args()
    if options.page:
        splice_tables.write_or_print(PAGE, {(BEGIN, END): lines(json.loads(WRITTEN.read_text()))})
        return 0
    if shutil.which("valgrind") is None:
        sys.exit("instructions are counted by valgrind: apt-get install valgrind")
    found = measure()
    if options.write:
        WRITTEN.write_text(json.dumps(found, indent=0) + "\n")
        splice_tables.write_or_print(PAGE, {(BEGIN, END): lines(found)})
        print(f"{len(found)} counts written to {WRITTEN.relative_to(ROOT)}")
        return 0
    written = json.loads(WRITTEN.read_text())
    for name, instructions in found.items():
        print(f"{name:28}{instructions:10.0f}{instructions / written.get(name, instructions) - 1.0:+9.1%}")
    wrong = complaints(found, written)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
