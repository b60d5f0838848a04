#!/usr/bin/env python3
"""Put the preset `artifact` of dAQM beside what the authors' program printed, value by value.

    aqmlab run experiments/daqm/artifact/load.toml --out FOLDER
    scripts/daqm_program.py FOLDER/results.json

Compares the means over the seeds with `experiments/daqm/published.csv` (traffic load, eight AQMs, six quantities as the
authors measure them), and says which share is within 20 %, of dAQM1 within 30 %. The loads of `SEEN` were looked at while
the preset was made; all others were kept apart. A published zero is met by zero alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

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
LABELS = {"red": "red:ns3", "pie": "pie:linux", "cobalt": "cobalt:ns3"} | {
    f"daqm{n}": f"daqm:daqm{n}" for n in (1, 2, 3)
}


def main() -> None:
    """Print a line for every load and AQM, and the shares."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    compared = pl.DataFrame(list(_compared(json.loads(Path(sys.argv[1]).read_text("utf-8")))))
    print(f"{'':>16}" + "".join(f"{name:>22}" for name in METRICS))
    for (load, aqm), values in compared.group_by("load", "aqm", maintain_order=True):
        pairs = (
            f"{ours:.3g} ({theirs:.3g}){' ' if ok else '!'}"
            for ours, theirs, ok in values.select("ours", "theirs", "ok").rows()
        )
        print(f"{load:>5} {aqm:>10}" + "".join(f"{pair:>22}" for pair in pairs))
    seen = pl.col("load").is_in(SEEN)
    for what, chosen in (("looked at", seen), ("kept apart", ~seen), ("all", pl.lit(value=True))):
        rows = compared.filter(chosen)
        print(f"{what}: {_share(rows)}; without published zeros {_share(rows.filter(pl.col('theirs') > 0))}")
    for by in ("aqm", "metric", "load"):
        print(", ".join(f"{key[0]} {_share(rows)}" for key, rows in compared.group_by(by, maintain_order=True)))


def _compared(result: dict[str, object]) -> Iterator[dict[str, object]]:
    """Every value that both have."""
    means: dict[tuple[int, str, str], float] = {
        (int(row["point"]["load"].removesuffix("kbit")), row["aqm"].split()[0].replace("_", "-"), row["metric"]): row[
            "mean"
        ]
        for row in result["summary"]  # type: ignore[attr-defined]
    }
    for row in pl.read_csv(PUBLISHED, comment_prefix="#").rows(named=True):
        label = LABELS.get(row["aqm"], row["aqm"])
        for name, metric in METRICS.items():
            ours = means.get((row["load_kbit"], label, metric))
            if ours is not None:
                theirs = row[name]
                ok = abs(ours - theirs) <= WITHIN.get(row["aqm"], 0.2) * theirs
                yield {
                    "load": row["load_kbit"],
                    "aqm": row["aqm"],
                    "metric": name,
                    "ours": ours,
                    "theirs": float(theirs),
                    "ok": ok,
                }


def _share(rows: pl.DataFrame) -> str:
    return f"{rows['ok'].sum()} of {rows.height}" + (f" ({rows['ok'].mean():.0%})" if rows.height else "")


if __name__ == "__main__":
    main()
