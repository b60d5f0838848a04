#!/usr/bin/env python3
"""Put the preset `artifact` of dAQM beside what the authors' program printed, value by value.

    aqmlab reproduce daqm --preset artifact --out out
    scripts/daqm_program.py out/daqm/artifact/load

Compares the means over the seeds with `experiments/daqm/published.csv` (traffic load, eight AQMs, six quantities as the
authors measure them), and says which share is within 20 %, of dAQM1 within 30 %. The loads of `SEEN` were looked at
while the preset was made; all others were kept apart. A published zero is met by zero alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import aqmlab

PUBLISHED = Path(__file__).resolve().parents[1] / "experiments" / "daqm" / "published.csv"
SEEN = (400, 1500, 4000)
WITHIN = {"daqm1": 0.3}
METRICS = {
    "queue_packets": "flowmon_queue_packets",
    "sojourn_ms": "flowmon_sojourn_ms",
    "delay_ms": "flowmon_delay_ms",
    "loss_ratio": "flowmon_loss_ratio",
    "throughput_kbit": "flowmon_throughput_kbit",
    "fct_s": "flowmon_fct_s",
}
LABELS = {
    "red:ns3": "red",
    "pie:linux": "pie",
    "codel": "codel",
    "fq_codel": "fq-codel",
    "cobalt:ns3": "cobalt",
    "daqm:daqm1": "daqm1",
    "daqm:daqm2": "daqm2",
    "daqm:daqm3": "daqm3",
}


def main() -> None:
    """Print a line for every load and AQM, and the shares."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    compared = pl.DataFrame(list(_compared(json.loads(aqmlab.load(sys.argv[1]).to_json()))))
    print(" " * 16 + "".join(f"{name:>22}" for name in METRICS))
    for load, aqm in compared.select("load", "aqm").unique(maintain_order=True).rows():
        rows = compared.filter(pl.col("load") == load, pl.col("aqm") == aqm).rows(named=True)
        print(f"{load:>5} {aqm:>10}" + "".join(f"{_pair(row):>22}" for row in rows))
    seen = pl.col("load").is_in(SEEN)
    for what, chosen in (("looked at", seen), ("kept apart", ~seen), ("all", pl.lit(value=True))):
        rest = compared.filter(chosen)
        print(f"{what}: {_share(rest)}; without published zeros {_share(rest.filter(pl.col('theirs') > 0))}")
    for by in ("aqm", "metric", "load"):
        values = compared[by].unique(maintain_order=True)
        print(", ".join(f"{value} {_share(compared.filter(pl.col(by) == value))}" for value in values))


def _compared(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every value that both have."""
    means = {
        (row["point"]["load"], LABELS.get(row["aqm"].split()[0]), row["metric"]): row["mean"]
        for row in result["summary"]
    }
    for row in pl.read_csv(PUBLISHED, comment_prefix="#").rows(named=True):
        load, aqm = row["load_kbit"], row["aqm"]
        for name, metric in METRICS.items():
            ours, theirs = means.get((f"{load}kbit", aqm, metric)), float(row[name])
            if ours is not None:
                ok = abs(ours - theirs) <= WITHIN.get(aqm, 0.2) * theirs
                yield {"load": load, "aqm": aqm, "metric": name, "ours": ours, "theirs": theirs, "ok": ok}


def _pair(row: Mapping[str, Any]) -> str:
    return f"{row['ours']:.3g} ({row['theirs']:.3g}){' ' if row['ok'] else '!'}"


def _share(rows: pl.DataFrame) -> str:
    within = rows["ok"].sum()
    return f"{within} of {rows.height} ({within / max(rows.height, 1):.0%})"


if __name__ == "__main__":
    main()
