#!/usr/bin/env python3
"""Write the figures of S-PIE's control experiments into its README, from a reproduction's folder.

    aqmlab reproduce s-pie --no-readings --out FOLDER
    scripts/control_figures.py FOLDER

Keeps the means over the seeds of each preset's `why` as experiments/s-pie/controls.csv, and writes the lines between
the two marks in the README from it, so that no number in them is typed in.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import marked
import polars as pl

import aqmlab

PAPER = Path(__file__).resolve().parents[1] / "experiments" / "s-pie"
KEPT, README = PAPER / "generated/controls.csv", PAPER / "README.md"
SCENARIO = "why"
BEGIN, END = "<!-- controls: written by scripts/control_figures.py -->", "<!-- end of controls -->"
# Metrics: a word, what they are multiplied by, and digits; each has a column for each preset that is shown.
METRICS = {"queue_ewma_packets": ("queue", 1, 1), "jain_index": ("Jain", 1, 3), "loss_ratio": ("loss", 100, 1)}
# The others are these with 20 ms.
SHOWN = ("consistent", "rfc-tcp", "consistent-tick")
CONTROLS = {
    "s-pie": "S-PIE, 5 ms",
    "no-pie": "without PIE's probability",
    "no-shares": "one counter for all flows: no shares",
    "pie": "PIE",
    "algorithm2": "algorithm 2 as printed",
    "late": "S-PIE, 20 ms",
    "red": "RED",
    "red-floyd": "RED with Floyd's probability of 0.1",
}


def measured(folder: Path) -> pl.DataFrame:
    """Return the means over the seeds of each preset's controls."""
    found = []
    for place in sorted(folder.glob(f"s-pie/*/{SCENARIO}")):
        runs = aqmlab.load(place).runs
        means = runs.group_by("control", maintain_order=True).agg(pl.mean(one) for one in METRICS)
        found.append(means.select(pl.lit(place.parent.name).alias("preset"), pl.all()))
    return pl.concat(found).with_columns(pl.selectors.float().round_sig_figs(6))


def lines(controls: pl.DataFrame) -> str:
    """Return the table."""
    values = {(row["preset"], row["control"]): row for row in controls.iter_rows(named=True)}
    heads = [f"{word}, `{preset}`" for word, _, _ in METRICS.values() for preset in SHOWN]
    rows = [f"| | {' | '.join(heads)} |", f"|{'---|' * (len(heads) + 1)}"]
    for control, name in CONTROLS.items():
        cells = [
            f"{values[preset, control][metric] * scale:.{digits}f}"
            for metric, (_, scale, digits) in METRICS.items()
            for preset in SHOWN
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def written(readme: str, controls: pl.DataFrame) -> str:
    """Return a README with the lines between its marks written anew."""
    return marked.replaced(readme, BEGIN, END, lines(controls))


def main() -> None:
    """Write controls.csv and README.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    controls = measured(parser.parse_args().folder)
    readme = written(README.read_text(encoding="utf-8"), controls)
    controls.write_csv(KEPT)
    README.write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
