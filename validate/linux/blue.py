#!/usr/bin/env python3
"""Provoke an overflow of a small CAKE by a lone TCP flow, in the simulator and in the kernel: what BLUE costs after it.

    validate/linux/blue.py [--seeds N] [--jobs N] [--out DIR] [--write]

It prints a table in Markdown; `--write` puts it into validate/linux/README.md. Runs that are in DIR are not made again.
It needs the kernel: aqmlab engine build linux.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import aqmlab
from aqmlab.results import Result

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import splice_tables

README = Path(__file__).resolve().parent / "README.md"
BEGIN, END = "<!-- blue: written by validate/linux/blue.py --write -->", "<!-- end of blue -->"
LINE = {"rate": "50mbit", "rtt": "20ms", "duration": "10s"}
# In a kernel's memory a full packet takes about twice its bytes.
MEMORIES = ("125kb", "30kb")
FLOWS = {"newreno": "1*newreno", "cubic": "1*cubic", "cubic, `profile=linux`": "1*cubic:profile=linux"}
ENGINES = ("native", "linux")
# Slow start is over: what is dropped later is dropped by COBALT.
SLOW_START_S = 1.5
HEADS = (
    *("`memlimit`", "flow", "simulator, Mbit/s", "kernel, Mbit/s"),
    *("most dropped in 33 ms of slow start: simulator", "kernel"),
    *("dropped per 1000 later: simulator", "kernel"),
)


def run(memory: str, flows: str, seeds: int, jobs: int | None, out: Path | None) -> Result:
    """Run a case in both engines."""
    folder = None if out is None else out / f"{memory} {flows}".replace("*", "x").replace(":", " ")
    aqm = f"cake limit 10240p memlimit {memory}"
    return aqmlab.compare(aqm=aqm, flows=flows, engine=",".join(ENGINES), seeds=seeds, jobs=jobs, out=folder, **LINE)


def goodput(result: Result, engine: str) -> str:
    """Return the goodputs of an engine's runs: the least and the most."""
    values = sorted(result.runs.filter(pl.col("engine") == engine)["goodput_mbit"].to_list())
    return f"{values[0]:.1f} to {values[-1]:.1f}"


def _drops(result: Result, engine: str) -> pl.DataFrame:
    (label,) = result.runs.filter(pl.col("engine") == engine)["aqm"].unique().to_list()
    return result.series.filter((pl.col("name") == "drops") & (pl.col("aqm") == label))


def burst(result: Result, engine: str) -> str:
    """Return the most packets that were dropped in a sample of slow start, on average over the runs."""
    early = _drops(result, engine).filter(pl.col("time_s") <= SLOW_START_S)
    most = early.group_by("seed").agg(pl.col("value").max())["value"].to_numpy()
    return f"{float(most.mean()):.0f}"


def later(result: Result, engine: str) -> str:
    """Return how many of a thousand packets were dropped after the warm-up."""
    share = result.runs.filter(pl.col("engine") == engine)["loss_ratio"].to_numpy().mean()
    return f"{1000.0 * float(share):.1f}"


def lines(seeds: int, jobs: int | None, out: Path | None) -> Iterator[str]:
    """Yield the table."""
    yield f"| {' | '.join(HEADS)} |"
    yield f"|{'---|' * len(HEADS)}"
    for memory in MEMORIES:
        for name, flows in FLOWS.items():
            result = run(memory, flows, seeds, jobs, out)
            cells = [what(result, engine) for what in (goodput, burst, later) for engine in ENGINES]
            yield f"| {' | '.join([memory, name, *cells])} |"


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = lines(given.seeds, given.jobs, given.out)
    splice_tables.write_or_print(README if given.write else None, {(BEGIN, END): found})


if __name__ == "__main__":
    main()
