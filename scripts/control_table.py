#!/usr/bin/env python3
"""Write what the suite of RFC 9743 shows of known congestion controls into its README, from the suite's folder.

aqmlab suite rfc9743 --out FOLDER
scripts/control_table.py FOLDER
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import splice_tables

import aqmlab

README = Path(__file__).resolve().parents[1] / "experiments" / "rfc9743" / "README.md"
BEGIN, END = "<!-- controls: written by scripts/control_table.py -->", "<!-- end of controls -->"
NEW, OLD = pl.col("class.new.goodput_mbit"), pl.col("class.old.goodput_mbit")


@dataclass(frozen=True)
class Row:
    """A line of the table: a scenario, at a setting of what it varies, and what is shown of its runs."""

    name: str
    scenario: str
    value: pl.Expr
    setting: tuple[str, str] | None = None
    digits: int = 2


ROWS = (
    Row("5.1.2 queue, one flow, 8 BDP (ms)", "bufferbloat", pl.col("qdelay_mean_ms"), digits=1),
    Row("5.1.3 loss, 4 flows, 1 BDP (%)", "loss", pl.col("loss_ratio") * 100, ("buffer", "1bdp")),
    Row("5.1.3 loss, 4 flows, 3 BDP (%)", "loss", pl.col("loss_ratio") * 100, ("buffer", "3bdp")),
    Row(
        "5.1.4 goodput, 20 ms over 80 ms",
        "round-trip-times",
        pl.col("class.near.goodput_mbit") / pl.col("class.far.goodput_mbit"),
    ),
    Row("5.2.1 goodput over CUBIC's, 0.5 BDP", "beside-cubic", NEW / OLD, ("buffer", "0.5bdp")),
    Row("5.2.1 goodput over CUBIC's, 8 BDP", "beside-cubic", NEW / OLD, ("buffer", "8bdp")),
    Row("6.4 goodput at 1 % random loss (Mbit/s)", "random-loss", pl.col("goodput_mbit"), ("loss", "1%")),
    Row("7.1 goodput over CUBIC's, CoDel that marks", "marks", NEW / OLD),
    Row("7.1 goodput over CUBIC's, DualPI2", "aqm-dualpi2", NEW / OLD),
    Row("7.5 goodput at 600 ms (Mbit/s)", "high-delay", pl.col("goodput_mbit")),
    Row("7.8 bursts of 6 Mbit/s beside CUBIC: goodput (Mbit/s)", "application-limited", NEW),
    Row("7.8 bursts of 6 Mbit/s beside CUBIC: CUBIC's (Mbit/s)", "application-limited", OLD),
    Row("7.11 goodput in the data centre (Mbit/s)", "data-centre", pl.col("goodput_mbit"), digits=0),
)


def means(folder: Path, row: Row) -> dict[str, float]:
    """Return the mean over the seeds by control; those that the scenario left out are missing."""
    result = aqmlab.load(folder / row.scenario)
    values = result.runs.group_by("point").agg(row.value.mean().alias("mean"))
    known = dict(values.select("point", "mean").iter_rows())
    places = enumerate(result.points)
    return {
        point["control"]: known[number]
        for number, point in places
        if number in known and (row.setting is None or point[row.setting[0]] == row.setting[1])
    }


def lines(folder: Path) -> str:
    """Return the table."""
    found = [means(folder, row) for row in ROWS]
    controls = list(dict.fromkeys(control for one in found for control in one))
    heads = [control.replace(":cc=", " ") for control in controls]
    rows = [f"| Measure | {' | '.join(heads)} |", f"|{'---|' * (len(heads) + 1)}"]
    for row, one in zip(ROWS, found, strict=True):
        cells = [f"{one[control]:.{row.digits}f}" if control in one else "-" for control in controls]
        rows.append(f"| {row.name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    """Write README.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    table = lines(parser.parse_args().folder)
    README.write_text(splice_tables.replaced(README.read_text(encoding="utf-8"), BEGIN, END, table), encoding="utf-8")


if __name__ == "__main__":
    main()
