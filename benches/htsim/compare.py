#!/usr/bin/env python3
"""Packets per CPU-second beside csg-htsim's, in turns: the table of benches/README.md.

    benches/htsim/compare.py CLONE [--rounds 3] [--disciplines]

CLONE: a clone of github.com/Broadcom/csg-htsim (841d9e7). It is built with -O3 and -flto into results/bench/htsim, with
the program beside this file. `--disciplines` compares ours with htsim's FIFO, 100 flows at 1 Gbit/s, in place of flows
and rates. Use an idle machine: a round takes half a minute.
"""

import argparse
import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "results/bench/htsim"
# Flows, Mbit/s, seconds.
CASES = ((10, 1000, 20), (100, 1000, 20), (1000, 1000, 20), (100, 10_000, 6), (1000, 10_000, 6), (10_000, 10_000, 6))
DISCIPLINES = ("fifo", "codel", "fq_codel", "cake", "s-pie")


def build(clone: Path) -> Path:
    """Build htsim with our program; return the executable."""
    BUILT.mkdir(parents=True, exist_ok=True)
    objects = re.search(r"^OBJS=(.*)$", (clone / "sim/Makefile").read_text(), re.MULTILINE)
    if objects is None:
        raise SystemExit(f"{clone}: its sim/Makefile has no OBJS: is it a clone of csg-htsim?")
    sources = [clone / "sim" / Path(name).with_suffix(".cpp") for name in objects[1].split()]
    made = []
    for source in [*sources, Path(__file__).with_name("dumbbell.cpp")]:
        made.append(BUILT / f"{source.stem}.o")
        if not made[-1].exists() or made[-1].stat().st_mtime < source.stat().st_mtime:
            flags = ["-O3", "-flto", "-std=c++17", "-w", f"-I{clone / 'sim'}"]
            subprocess.run(["g++", *flags, "-c", source, "-o", made[-1]], check=True)
    program = BUILT / "dumbbell"
    subprocess.run(["g++", "-O3", "-flto", *made, "-o", program], check=True)
    return program


def ours(flows: int, mbit: int, seconds: int, aqm: str = "fifo") -> float:
    """Return this simulator's packets per CPU-second, with all its metrics and checks."""
    if aqm == "fifo":
        aqm = f"fifo limit {mbit * 1_000_000 // 8 * 20 // 1000 // 1500}p"
    words = [f"{flows}", aqm, f"{seconds}", "transport=newreno delack off", f"mbit={mbit}"]
    done = subprocess.run([ROOT / "target/release/examples/speed", *words], capture_output=True, check=True)
    found = json.loads(done.stdout)
    return float(found["bottleneck_packets"] / found["cpu_s"])


def theirs(program: Path, flows: int, mbit: int, seconds: int) -> float:
    """Return htsim's packets per CPU-second."""
    done = subprocess.run([program, f"{flows}", f"{mbit}", f"{seconds}"], capture_output=True, text=True, check=True)
    found = json.loads(done.stderr.strip().splitlines()[-1])
    return float(found["packets"] / found["cpu_s"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--disciplines", action="store_true")
    given = parser.parse_args()
    program = build(given.clone)
    cargo = ["cargo", "build", "-q", "--locked", "--release", "-p", "aqm-sim", "--example", "speed"]
    subprocess.run(cargo, cwd=ROOT, check=True)
    cases: dict[str, tuple[int, int, int, str]]
    if given.disciplines:
        cases = {aqm: (*CASES[1], aqm) for aqm in DISCIPLINES}
    else:
        cases = {f"{flows}, {mbit // 1000} Gbit/s": (flows, mbit, seconds, "fifo") for flows, mbit, seconds in CASES}
    ratios: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(given.rounds):
        for name, (flows, mbit, seconds, aqm) in cases.items():
            ratios[name].append(ours(flows, mbit, seconds, aqm) / theirs(program, flows, mbit, seconds))
    print(f"| {'Discipline' if given.disciplines else 'Flows, rate'} | Packets per CPU-second over htsim's |")
    print("|---|---|")
    for name, found in ratios.items():
        print(f"| {name} | {', '.join(f'{one:.1f}' for one in found)} |")


if __name__ == "__main__":
    main()
