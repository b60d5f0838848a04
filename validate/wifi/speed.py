#!/usr/bin/env python3
"""Measure speed and memory of the Wi-Fi link beside ns-3.44: thirty stations on one channel, one download to each.

    NS3_WHEEL=/path validate/wifi/speed.py [--rounds N] [--seconds N] [--native FILE] [--write]

Both sides run the same scenario, in turns, each run in a process of its own: processor time (user and system) of the
whole process, and its largest resident memory. Processor time leaves out that others use the machine, but not that they
use its caches; rounds in turns are disturbed alike. `--native` names a release build of the native module; without it
that of the installation is measured. `--write` puts the table into README.md. Exit status 1 if an aim is missed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import ns3
import ours
from points import HERE, Flow, Point

import aqmlab
from aqmlab import scenario

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import splice_tables

README = HERE / "README.md"
BEGIN, END = "<!-- speed -->", "<!-- end of speed -->"
STATIONS = 30
# Two streams at 20 MHz: 144 Mbit/s on the air, some 100 of goodput.
MODE = "ht-mcs15-400ns"
ROUNDS, SECONDS = 3, 60
# What is aimed at: times as fast as real time, times as fast as ns-3, and megabytes.
REAL_TIME, NS3, MEGABYTES = 50, 20, 100
# The simulator alone, without the packages of the command line: reads a scenario, prints its goodput.
ALONE = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("aqmlab._native", sys.argv[1])
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)
run = native.run(sys.stdin.read(), native.Inputs(), 1, native.Monitor())
print(json.dumps(dict(run.metrics)["goodput_mbit"]))
"""


# Between this program and what is measured: a process starts with the peak memory of the one that it was made from.
SMALL = """
import json, os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(json.dumps([usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
sys.exit(os.waitstatus_to_exitcode(status))
"""
PYTHON = [sys.executable, "-I", "-S", "-c"]


@dataclass(frozen=True)
class Cost:
    """What a run took, and what its flows got."""

    cpu_s: float
    peak_mb: float
    goodput_mbit: float


def point(seconds: int) -> Point:
    """Return the scenario."""
    downloads = (Flow("cubic", "be", "down", tuple(range(STATIONS)), None),)
    return Point(
        id=f"{STATIONS} stations",
        stations=(MODE,) * STATIONS,
        queue="fq_codel",
        flows=downloads,
        line="1gbit",
        rtt_ms=10,
        fifo_packets=200,
        mac_packets=100,
        warmup_s=5,
        duration_s=seconds,
        seeds=1,
    )


def measured(command: list[str], given: str = "") -> tuple[float, float, str]:
    """Run a command to its end: processor time, peak memory, what it printed."""
    done = subprocess.run([*PYTHON, SMALL, *command], input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]}: {done.stderr.strip()}")
    printed, cost = done.stdout.strip().rsplit("\n", 1)
    return (*json.loads(cost), printed)


def own(native: Path, text: str) -> Cost:
    """Run a scenario in the simulator."""
    cpu_s, peak_mb, printed = measured([*PYTHON, ALONE, str(native)], text)
    return Cost(cpu_s, peak_mb, float(printed))


def theirs(program: Path, where: Point) -> Cost:
    """Run it in ns-3."""
    cpu_s, peak_mb, printed = measured([str(program), *ns3.arguments(where, 1)])
    return Cost(cpu_s, peak_mb, json.loads(printed)["total_mbit"])


def scenarios(where: Point) -> dict[str, str]:
    """Return the scenario with FQ-CoDel above the driver, and with queues for each station in its place."""
    with tempfile.TemporaryDirectory() as folder:
        options = ours.options(where, Path(folder))
        found = {}
        for aqm in (options["aqm"], "airtime_fq"):
            plan = scenario.resolve(scenario.from_values({**options, "aqm": aqm}))
            found[aqm.split()[0]] = plan.scenarios[plan.contestants[0].label].json
        return found


def table(costs: dict[str, list[Cost]], seconds: int) -> str:
    """Return the means of all rounds, and the ratios that are aimed at."""
    head = "| | CPU, s | times real time | peak memory, MB | goodput, Mbit/s | ns-3 takes times as long |"
    lines = [head, "|---|---|---|---|---|---|"]
    reference = [cost.cpu_s for cost in costs.get("ns-3", [])]
    for name, rounds in costs.items():
        cpu = [cost.cpu_s for cost in rounds]
        mean = statistics.fmean(cpu)
        ratios = [theirs / own for theirs, own in zip(reference, cpu, strict=False)]
        spread = f"{statistics.fmean(ratios):.0f} ({min(ratios):.0f}–{max(ratios):.0f})" if ratios else ""
        cells = [
            name,
            f"{mean:.2f} ({min(cpu):.2f}–{max(cpu):.2f})",
            f"{seconds / mean:.0f}" if mean < seconds else f"{seconds / mean:.2f}",
            f"{max(cost.peak_mb for cost in rounds):.0f}",
            f"{rounds[0].goodput_mbit:.1f}",
            "" if name == "ns-3" else spread,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--native", type=Path, default=Path(aqmlab._native.__file__))
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    arguments = parser.parse_args()
    where = point(arguments.seconds)
    texts = scenarios(where)
    folder = ns3.wheel()
    costs: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory() as into:
        program = None if isinstance(folder, str) else ns3.build(folder, Path(into))
        if program is None:
            print(f"without ns-3: {folder}", file=sys.stderr)
        for number in range(arguments.rounds):
            for name, text in texts.items():
                costs.setdefault(name, []).append(own(arguments.native, text))
            if program is not None:
                costs.setdefault("ns-3", []).append(theirs(program, where))
            print(f"round {number + 1}: " + ", ".join(f"{name} {of[-1].cpu_s:.2f} s" for name, of in costs.items()))
    lines = table(costs, arguments.seconds)
    print(lines)
    if arguments.write:
        page = README.read_text(encoding="utf-8")
        README.write_text(splice_tables.replaced(page, BEGIN, END, lines), encoding="utf-8")
    slowest = max(statistics.fmean(cost.cpu_s for cost in of) for name, of in costs.items() if name != "ns-3")
    largest = max(cost.peak_mb for name, of in costs.items() if name != "ns-3" for cost in of)
    short = arguments.seconds / slowest < REAL_TIME or largest > MEGABYTES
    if "ns-3" in costs:
        short |= statistics.fmean(cost.cpu_s for cost in costs["ns-3"]) / slowest < NS3
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
