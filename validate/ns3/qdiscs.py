#!/usr/bin/env python3
"""Compare aqmlab's disciplines with ns-3's queue discs, decision by decision.

    validate/ns3/qdiscs.py [--only NAME] [--seeds N] [--out FOLDER]

Builds `qdiscs.cc` against Debian's libns3-dev and gives the same traces to both: the same packets, dequeue
opportunities and random numbers. Where the two decide differently, the oracles of `tests/oracles` must agree with
aqmlab, and the same oracles with the rules of `rules.py` with ns-3, over whole traces: then these rules are the
explanation, and the table names those that change some decision. Exit status 1 if a difference is not explained.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path

import rules  # first: it knows the path to the oracles

# isort: split
import workload
from cases import CASES, RATE, Case
from rules import Rules
from traces import TRAFFIC, trace
from workload import Packet, Step

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NS3_LIBRARIES = ("core", "network", "internet", "traffic-control")


# The three players.


def run(program: Path, header: list[str], steps: tuple[Step, ...]) -> list[str]:
    text = "\n".join([*header, *(step.line() for step in steps)]) + "\n"
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"qdiscs.py: {program.name} failed with status {done.returncode}\n{header}\n{done.stderr}")
    return done.stdout.splitlines()


def play_oracle(case: Case, on: Rules, steps: tuple[Step, ...]) -> list[str]:
    """As `workload.play`, with random numbers for every step."""
    assert case.make is not None
    oracle = case.make(on)
    oracle.rate = RATE
    for step in steps:
        oracle.advance(step.now)
        if step.op == "random":
            oracle.numbers.numbers, oracle.numbers.used = [int(word) for word in step.words], 0
        elif step.op == "arrive":
            number, flow, length, ecn = (int(word) for word in step.words)
            oracle.enqueue(Packet(number, flow, length, ecn, step.now), step.now)
        elif step.op == "serve":
            packet = oracle.dequeue(step.now)
            oracle.log(*(("empty",) if packet is None else ("departed", packet.number)))
    return oracle.log.lines


def decisions(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("probe")]


def first_difference(left: list[str], right: list[str]) -> int | None:
    pairs = enumerate(zip_longest(left, right))
    return next((number for number, (one, other) in pairs if one != other), None)


def fates(lines: list[str]) -> dict[str, str]:
    """The fate of each packet: marked or not, departed or dropped, with the reason."""
    found: dict[str, str] = {}
    for line in lines:
        words = line.split()
        if words[0] in ("marked", "departed", "dropped"):
            found[words[1]] = " ".join([found.get(words[1], ""), words[0], *words[2:]])
    return found


def probed(lines: list[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for line in lines:
        if line.startswith("probe"):
            _, name, value = line.split()
            found.setdefault(name, []).append(float(value))
    return found


# The comparison.


@dataclass
class Row:
    """One line of the table."""

    spec: str
    disc: str
    traces: int = 0
    decisions: int = 0
    first: str = "-"
    equal: float = 1.0
    drops: tuple[int, int] = (0, 0)
    marks: tuple[int, int] = (0, 0)
    distance: dict[str, float] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    verdict: str = "same"
    detail: str = ""


def compare(case: Case, programs: tuple[Path, Path], seeds: int) -> Row:
    """Give all traces to both, and to the oracles where they differ."""
    row = Row(case.spec, case.disc)
    keys = [(kind, seed) for seed in range(seeds) for kind in range(len(TRAFFIC))]
    theirs_all: dict[tuple[int, int], list[str]] = {}
    same_fate, packets, totals = 0, 0, [Counter[str](), Counter[str]()]
    far: dict[str, list[tuple[float, float]]] = {}
    for key in keys:
        steps = trace(*key)
        header = [f"disc ns3::{case.disc}", *(f"default {default}" for default in case.defaults)]
        theirs_lines = run(programs[0], header, steps)
        ours_lines = run(programs[1], [f"spec {case.spec}", f"rate {RATE}", "random 0"], steps)
        theirs, ours = decisions(theirs_lines), decisions(ours_lines)
        theirs_all[key] = theirs
        row.traces += 1
        row.decisions += len(theirs)
        difference = first_difference(ours, theirs)
        if difference is not None and row.first == "-":
            name = TRAFFIC[key[0]].__name__
            row.first = f"{name} {key[1]}, {difference}: {(*theirs, 'end')[difference]} / {(*ours, 'end')[difference]}"
        our_fates, their_fates = fates(ours), fates(theirs)
        packets += len(their_fates)
        same_fate += sum(our_fates.get(packet) == fate for packet, fate in their_fates.items())
        for total, lines in zip(totals, (theirs, ours), strict=True):
            total.update(line.split()[0] for line in lines)
        own_probes = probed(ours_lines)
        for name, values in probed(theirs_lines).items():
            if name in own_probes:
                far.setdefault(name, []).extend(zip(values, own_probes[name], strict=True))
        if difference is not None and case.make is not None:
            bare = first_difference(play_oracle(case, frozenset(), steps), ours)
            full = first_difference(play_oracle(case, frozenset(case.rules), steps), theirs)
            if bare is not None and not row.detail:
                row.detail = f"{key}: the oracle is not aqmlab at {bare}"
            if full is not None and not row.detail:
                row.detail = f"{key}: the oracle with ns-3's rules is not ns-3 at {full}"
    row.equal = same_fate / packets
    row.drops = (totals[0]["dropped"], totals[1]["dropped"])
    row.marks = (totals[0]["marked"], totals[1]["marked"])
    for name, pairs in far.items():
        scale = math.fsum(abs(value) for value, _ in pairs)
        gap = math.fsum(abs(value - own) for value, own in pairs)
        row.distance[name] = gap / scale if scale else gap
    if row.first != "-":
        row.verdict = "explained" if case.make is not None and not row.detail else "DIFFERS"
        row.rules = [rule for rule in case.rules if matters(case, rule, theirs_all)]
    return row


def matters(case: Case, rule: str, theirs: dict[tuple[int, int], list[str]]) -> bool:
    """Whether some decision would change without this rule."""
    others = frozenset(case.rules) - {rule}
    return any(play_oracle(case, others, trace(*key)) != lines for key, lines in theirs.items())


def build(folder: Path) -> tuple[Path, Path]:
    """Compile the two programs that replay traces."""
    program = folder / "qdiscs"
    libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
    command = ["g++", "-std=c++17", "-O2", "-o", str(program), str(HERE / "qdiscs.cc"), *libraries]
    try:
        built = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("qdiscs.py: g++ is missing: apt-get install g++ libns3-dev")
    if built.returncode != 0:
        sys.exit(f"qdiscs.py: qdiscs.cc does not build: apt-get install libns3-dev\n{built.stderr}")
    return program, workload.build()


def table(rows: list[Row]) -> Iterator[str]:
    """Three lines for each case: the two settings, then the result."""
    for row in rows:
        yield f"aqmlab: {row.spec}"
        yield f"  ns-3: {row.disc}"
        distance = ", ".join(f"{name} {value:.2g}" for name, value in row.distance.items()) or "-"
        counts = f"drops {row.drops[0]} / {row.drops[1]}, marks {row.marks[0]} / {row.marks[1]}"
        yield (
            f"        {row.verdict}: {100 * row.equal:.2f} % of fates equal, {row.decisions} decisions in {row.traces} "
            f"traces; {counts} (ns-3 / aqmlab); distance {distance}"
        )
        if row.first != "-":
            yield f"        first difference: {row.first}"
            yield f"        rules: {', '.join(row.rules)}{'; ' if row.detail else ''}{row.detail}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="NAME", help="cases whose notation begins so")
    parser.add_argument("--seeds", type=int, default=2, help=f"traces of each of the {len(TRAFFIC)} kinds")
    parser.add_argument("--out", type=Path, default=ROOT / "results/ns3", metavar="FOLDER")
    arguments = parser.parse_args()
    cases = [number for number, case in enumerate(CASES) if case.spec.startswith(arguments.only)]
    if not cases:
        parser.error(f"--only {arguments.only}: no case begins so")
    if arguments.seeds < 1:
        parser.error("--seeds must be at least 1")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(max_workers=2) as pool:
        programs = build(Path(folder))
        for row in pool.map(compare_number, cases, [programs] * len(cases), [arguments.seeds] * len(cases)):
            rows.append(row)
            print("\n".join(table([row])), flush=True)
    used = sorted({rule for row in rows for rule in row.rules})
    print("\nns-3 does otherwise:")
    for rule in used:
        print(f"  {rule:17} {rules.RULES[rule]}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "qdiscs.txt").write_text("\n".join(table(rows)) + "\n")
    (arguments.out / "qdiscs.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    verdicts = Counter(row.verdict for row in rows)
    print(f"\n{dict(verdicts)}; written to {arguments.out}")
    return 1 if verdicts["DIFFERS"] else 0


def compare_number(number: int, programs: tuple[Path, Path], seeds: int) -> Row:
    """A case by its number, since functions cannot be sent to another process."""
    return compare(CASES[number], programs, seeds)


if __name__ == "__main__":
    sys.exit(main())
