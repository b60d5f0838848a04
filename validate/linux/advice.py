#!/usr/bin/env python3
"""Look in the kernel at what `aqmlab advise` chooses: the chosen discipline and its runner-up, each setup of three
lines.

    validate/linux/advice.py [--seeds N] [--jobs N] [--out DIR] [--write]

The household has traffic that the kernel's engine does not run (pages, a video, a call's answers). So two bulk
transfers stand for what fills the line, and two streams of 50 small packets a second beside them for the call and the
game, at the rate of the router's shaper. It prints a table in Markdown: how long small packets wait, and what the
transfers get. `--write` puts it into docs/explanation/kernel.md. Runs that are in DIR are not made again.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import aqmlab
from aqmlab.advice.home_line import layer
from aqmlab.advice.setups import target

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import splice_tables

PAGE = Path(__file__).resolve().parents[2] / "docs/explanation/kernel.md"
# Lines, as `aqmlab advise --quick --seeds 3` was asked: rates, link layer, and the share that the chosen setup shapes
# to.
LINES = (
    (16_000_000, 1_000_000, "adsl", 0.9),
    (30_000_000, 6_000_000, "docsis", 0.7),
    (20_000_000, 4_000_000, "ethernet", 0.95),
)
FLOWS = ["2*cubic:name=load:profile=linux", "2*cbr:name=small:rate=80kbit:packet=200b"]
METRICS = {"class.small.qdelay_mean_ms": "small packets wait, ms", "class.load.goodput_mbit": "bulk transfers, Mbit/s"}


def directions() -> Iterator[tuple[str, int]]:
    """The directions of all lines, and the rate that their shaper gives to IP packets in Ethernet frames."""
    for down, up, name, share in LINES:
        kept, of = layer(name).payload
        for direction, rate in (("down", down), ("up", up)):
            yield f"{name} {down // 10**6}/{up // 10**6}, {direction}", int(rate * share * kept / of)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results/validate-linux/advice"))
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    given = parser.parse_args()
    lines = chain([""], table(given.seeds, given.jobs, given.out), [""])
    splice_tables.write_or_print(PAGE if given.write else None, {("<!-- advice -->", "<!-- end -->"): lines})


def table(seeds: int, jobs: int, out: Path) -> Iterator[str]:
    """The table in Markdown, line by line as their runs end."""
    heads = [f"{what} ({engine})" for what in METRICS.values() for engine in ("native", "linux")]
    yield f"| Line | Rate, Mbit/s | Discipline | {' | '.join(heads)} |"
    yield f"|---|---|---|{'---|' * len(heads)}"
    for name, rate in directions():
        aqms = {"CAKE": "cake:linux besteffort", "FQ-CoDel": f"fq_codel:linux {target(rate)}"}
        result = aqmlab.compare(
            rate=f"{rate // 1000}kbit", rtt="40ms", flows=FLOWS, aqm=list(aqms.values()), duration="12s", warmup="4s",
            seeds=seeds, jobs=jobs, engine="native,linux", allow_unequal_buffers=True, no_size_check=True,
            out=out / name.replace("/", "-").replace(", ", "-").replace(" ", "-"),
        )  # fmt: skip
        found = {(row.aqm, row.metric): row.estimate for row in result.rows}
        for short, spec in aqms.items():
            cells = []
            for metric in METRICS:
                for engine in ("native", "linux"):
                    one = found[f"{spec} on {engine}", metric]
                    half = "" if one.half_width is None else f" ± {one.half_width:.2f}"
                    cells.append(f"{one.value:.2f}{half}")
            yield f"| {name} | {rate / 1e6:.2f} | {short} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
