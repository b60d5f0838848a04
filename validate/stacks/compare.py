"""Compare quinn's congestion controls with the simulator's own, and say where they differ by more than 15 %.

    python validate/stacks/compare.py [--seeds 3] [--duration 30s] [--out FILE] [--write]

1, 5 and 20 flows at 10 and 50 Mbit/s and 20 and 80 ms, under four disciplines, without ECN: goodput, mean queue delay
and loss. Both sides have the same seeds, so the same starts. What differs so little that nobody would notice (0.1
Mbit/s, 1 ms, 0.1 % of packets) does not count as different. `make validate-stacks` stores all values in `cells.csv`,
and `--write` puts what they say into README.md.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import aqmlab

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import splice_tables

HERE = Path(__file__).resolve().parent
CELLS, PAGE = HERE / "cells.csv", HERE / "README.md"
BEGIN, END = "<!-- cells, by compare.py -->", "<!-- end of cells -->"
NAMES = {"goodput_mbit": "goodput, Mbit/s", "qdelay_mean_ms": "mean queue delay, ms", "loss_ratio": "loss ratio"}

FLOWS, RATES, RTTS = (1, 5, 20), ("10mbit", "50mbit"), ("20ms", "80ms")
AQMS = ["fifo", "codel", "pie", "fq_codel"]
# What is compared, and the difference that nobody would notice.
MEASURES = {"goodput_mbit": 0.1, "qdelay_mean_ms": 1.0, "loss_ratio": 0.001}
TOLERANCE = 0.15


def differs(measure: str, ours: float, theirs: float) -> bool:
    """Return whether two means differ by more than is allowed and so much that one would notice it."""
    return abs(theirs - ours) > max(TOLERANCE * max(ours, theirs), MEASURES[measure])


def means(flows: str, rate: str, rtt: str, seeds: int, duration: str) -> dict[str, dict[str, float]]:
    """Return the means over the seeds, by discipline and measure."""
    runs = aqmlab.compare(rate=rate, rtt=rtt, flows=flows, aqm=AQMS, seeds=seeds, duration=duration).runs
    found: dict[str, dict[str, float]] = {}
    for aqm in AQMS:
        of_aqm = runs.filter(runs["aqm"] == aqm)
        found[aqm] = {measure: float(sum(of_aqm[measure]) / of_aqm.height) for measure in MEASURES}
    return found


def lines() -> Iterator[str]:
    """Yield what the stored values say: how many agree, and each that does not."""
    with CELLS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    outside = [row for row in rows if differs(row["measure"], float(row["native"]), float(row["quinn"]))]
    yield f"| Measure | Within {TOLERANCE:.0%} |"
    yield "|---|---|"
    for measure, name in NAMES.items():
        every, apart = (sum(row["measure"] == measure for row in some) for some in (rows, outside))
        yield f"| {name} | {every - apart} of {every} |"
    yield ""
    yield "| Cell that differs | Measure | Simulator | quinn |"
    yield "|---|---|---|---|"
    for row in outside:
        cell = f"{row['flows']} {row['cc']}, {row['rate']}, {row['rtt']}, {row['aqm']}"
        values = " | ".join(f"{float(row[side]):.3g}" for side in ("native", "quinn"))
        yield f"| {cell} | {NAMES[row['measure']]} | {values} |"


def main() -> int:
    """Print a line for each cell and measure that differs, and write all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--duration", default="30s")
    parser.add_argument("--native", default="", help="keys of the native flows, as pacing=on")
    parser.add_argument("--out", type=Path, default=Path("results/stacks.csv"))
    parser.add_argument("--write", action="store_true", help="only put what the stored values say into README.md")
    options = parser.parse_args()
    if options.write:
        splice_tables.write_or_print(PAGE, {(BEGIN, END): lines()})
        return 0
    options.out.parent.mkdir(parents=True, exist_ok=True)
    differ = total = 0
    with options.out.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("cc", "flows", "rate", "rtt", "aqm", "measure", "native", "quinn"))
        for cc, count, rate, rtt in itertools.product(("newreno", "cubic"), FLOWS, RATES, RTTS):
            keys = f":{options.native}" if options.native else ""
            native = means(f"{count}*{cc}{keys}", rate, rtt, options.seeds, options.duration)
            quinn = means(f"{count}*quinn:cc={cc}:ecn=off", rate, rtt, options.seeds, options.duration)
            for aqm, measure in itertools.product(AQMS, MEASURES):
                ours, theirs = native[aqm][measure], quinn[aqm][measure]
                table.writerow((cc, count, rate, rtt, aqm, measure, f"{ours:.6g}", f"{theirs:.6g}"))
                total += 1
                if differs(measure, ours, theirs):
                    differ += 1
                    cell = f"{cc:8} {count:3} {rate:7} {rtt:5} {aqm:9} {measure:15}"
                    print(f"{cell} native {ours:8.4g}  quinn {theirs:8.4g}")
            file.flush()
    print(f"{differ} of {total} differ by more than {TOLERANCE:.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
