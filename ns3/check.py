#!/usr/bin/env python3
"""Build the queue disc against ns-3 and check it: every discipline decides there as here, packet by packet.

    ns3/check.py [--ns3 FOLDER] [--packets N] [--paper] [--cost]

`make ns3` calls it. It gives packets to every discipline inside ns-3, with each of its presets and with ECN, and
repeats the calls that ns-3 has logged (`replay.py`). `--paper` runs a scenario of the S-PIE paper in ns-3 and repeats
its log; `--cost` measures what a packet costs beside ns-3's own queue discs. `--ns3` is a folder with `include` and
`lib` or `lib64` where ns-3 is not Debian's libns3-dev. Exit status 1 if a decision differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from replay import replay

import aqmlab

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
INSTALLED, BUILD = ROOT / ".build/capi", ROOT / ".build/ns3"
MODULES = ("core", "network", "internet", "traffic-control", "point-to-point", "applications")
DISC = "ns3::AqmlabQueueDisc"
# What decisions.cc sets.
RATE_BPS, OVERHEAD, SEED = 1_000_000, 2, 1
# Schedulers with laws that need time, memory and random numbers of their own.
NESTED = (
    "drr child [pie target 15ms ecn] child [codel] quantum 1514b,3028b",
    "sp child [red] child [fq_codel] child [cake]",
    "cake bandwidth 800kbit ack-filter",
)
PAPER_BPS = 50_000_000
PAPER = ("red:ns3", "codel", "pie:ns3.27 target 5ms", "s-pie:consistent")
COSTS = (
    ("ns-3's FifoQueueDisc", ["--disc=ns3::FifoQueueDisc"]),
    ("ns-3's CoDelQueueDisc", ["--disc=ns3::CoDelQueueDisc"]),
    ("fifo", [f"--{DISC}::Discipline=fifo"]),
    ("codel", [f"--{DISC}::Discipline=codel"]),
    ("codel, TcpHeaders false", [f"--{DISC}::Discipline=codel", f"--{DISC}::TcpHeaders=false"]),
    ("fq_codel", [f"--{DISC}::Discipline=fq_codel"]),
)


def build(ns3: Path | None) -> None:
    """Compile the disc and the programs; ends with what the compiler says if one does not build."""
    BUILD.mkdir(parents=True, exist_ok=True)
    headers, libraries = _flags(ns3)
    # Headers of 3.37 are no C++20, and those of later versions demand it.
    compiler = [
        "g++",
        "-std=c++20" if ns3 else "-std=c++17",
        "-O2",
        "-Wall",
        "-Wextra",
        f"-I{INSTALLED}/include",
        *headers,
    ]
    ours = [f"-L{INSTALLED}/lib", f"-Wl,-rpath,{INSTALLED}/lib", "-laqmlab"]
    disc = BUILD / "aqmlab-queue-disc.o"
    _compile([*compiler, "-c", str(HERE / "aqmlab-queue-disc.cc"), "-o", str(disc)])
    for name in ("decisions", "borders", "cost", "s-pie"):
        _compile([*compiler, str(HERE / f"{name}.cc"), str(disc), *ours, *libraries, "-o", str(BUILD / name)])


def _flags(ns3: Path | None) -> tuple[list[str], list[str]]:
    """The compiler's options for ns-3: headers and libraries, Debian's or those of a folder such as the wheel's."""
    if ns3 is None:
        return [], [f"-lns3-{module}" for module in MODULES]
    libraries = []
    for module in MODULES:
        found = sorted(ns3.glob(f"lib*/libns3*-{module}.so"))
        if not found:
            sys.exit(f"check.py: {ns3} has no library of ns-3's module {module} in lib or lib64")
        libraries += [str(found[0]), f"-Wl,-rpath,{found[0].parent}"]
    # Their own libraries may lie beside them.
    return [f"-isystem{ns3}/include"], [*libraries, "-Wl,--allow-shlib-undefined"]


def _compile(command: list[str]) -> None:
    try:
        built = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("check.py: g++ is missing: apt-get install g++ libns3-dev")
    if built.returncode != 0:
        sys.exit(f"check.py: {' '.join(command)}\n{built.stderr}")


def run(name: str, *options: str) -> Any:
    """Run a program; what it printed, which is JSON."""
    done = subprocess.run([BUILD / name, *options], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        sys.exit(f"check.py: {name} {' '.join(options)}\n{done.stderr}")
    return json.loads(done.stdout)


def borders() -> None:
    """Check what a disc answers beyond decisions; ends with a message if that is wrong."""
    log = BUILD / "borders.log"
    option = f"--{DISC}::Log={log}"
    twice = subprocess.run([BUILD / "borders", option, "--together"], capture_output=True, text=True, check=False)
    if twice.returncode == 0 or "is the log of another disc" not in twice.stderr:
        sys.exit(f"check.py: two discs have written one log\n{twice.stderr}")
    run("borders", option)
    # Two packets arrived: byte 50 of a row says whether the disc has seen a TCP header, and a later fragment has none.
    headers = [log.read_bytes()[row * 56 + 50] for row in range(2)]
    if headers != [1, 0]:
        sys.exit(f"check.py: TCP headers were read as {headers} of a segment and a later fragment")


def texts() -> list[str]:
    """Every discipline with each preset and, where it has one, with its option for ECN."""
    found = []
    for discipline in aqmlab.disciplines():
        found += [f"{discipline.name}:{preset.name}" for preset in discipline.presets]
        if any(parameter.name == "ecn" for parameter in discipline.params):
            found.append(f"{discipline.name} ecn")
    return [*found, *NESTED]


def decisions(packets: int) -> int:
    """Give packets to every discipline in ns-3 and repeat its log; how many differed."""
    differing = 0
    log = BUILD / "decisions.log"
    total = dict.fromkeys(("arrived", "left", "dropped", "marked"), 0)
    every = texts()
    for text in every:
        fates = run("decisions", f"--{DISC}::Discipline={text}", f"--{DISC}::Log={log}", f"--packets={packets}")
        for key in total:
            total[key] += fates[key]
        calls, parts_at = replay(log, text, RATE_BPS, OVERHEAD, SEED)
        verdict = "same" if parts_at is None else f"DIFFERS at row {parts_at} of the log"
        differing += parts_at is not None
        counts = ", ".join(f"{fates[key]} {key}" for key in ("left", "dropped", "marked"))
        print(f"{text:66} {counts}; {calls} calls: {verdict}")
    names = len(aqmlab.disciplines())
    counts = ", ".join(f"{count} {key}" for key, count in total.items())
    print(f"{names} disciplines in {len(every)} settings, {differing} differ; {counts}")
    return differing


def paper() -> int:
    """Run the paper's scenario and repeat its logs; how many differed."""
    differing = 0
    log = BUILD / "s-pie.log"
    for text in PAPER:
        limited = f"{text} limit 50p"
        result = run("s-pie", f"--{DISC}::Discipline={limited}", f"--{DISC}::Log={log}")
        calls, parts_at = replay(log, limited, PAPER_BPS, OVERHEAD, SEED)
        verdict = "same" if parts_at is None else f"DIFFERS at row {parts_at} of the log"
        differing += parts_at is not None
        print(
            f"{text:24} queue {result['queue_mean_packets']:5.1f} packets, "
            f"goodput {result['goodput_mbit']:5.2f} Mbit/s, {result['dropped']} of {result['arrived']} dropped, "
            f"{result['dropped_full']} by a full queue; "
            f"{calls} calls: {verdict}",
            flush=True,
        )
    return differing


def cost() -> None:
    """Print what a packet costs, the least of three."""
    for name, options in COSTS:
        print(f"{name:24} {min(run('cost', *options) for _ in range(3)):6.0f} ns a packet", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ns3", type=Path, help="folder with include and lib of another ns-3 than Debian's")
    parser.add_argument("--packets", type=int, default=1000, help="for each discipline (1000)")
    parser.add_argument("--paper", action="store_true", help="also a scenario of the S-PIE paper (a minute)")
    parser.add_argument("--cost", action="store_true", help="also what a packet costs")
    given = parser.parse_args()
    build(given.ns3)
    borders()
    differing = decisions(given.packets)
    if given.paper:
        differing += paper()
    if given.cost:
        cost()
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
