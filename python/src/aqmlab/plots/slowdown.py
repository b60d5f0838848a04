"""Completion time of finite flows by their size, and slowdown: that over completion time in an empty network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Axis, Panel
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import InputError, did_you_mean

SIZE = "size_bytes"
# Ends of the bins: three for each power of ten.
ENDS = 10.0 ** (np.arange(0, 31) / 3.0)
LABELS = {"slowdown": "slowdown", "fct_s": "completion time (s)"}
SHOWN = {"mean": "Mean", "p99": "99th percentile of"}


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    parts = [_binned(curve, column).select(pl.lit(curve.label).alias("aqm"), pl.all()) for curve in curves]
    table = pl.concat(parts)
    if table.is_empty():
        raise InputError(f"{_kind(column)}: no flow of a size has completed, so none has a '{column}'")
    return table


def _binned(curve: Curve, column: str) -> pl.DataFrame:
    flows = curve.of(curve.result.flows)
    if column not in flows.columns or SIZE not in flows.columns:
        hint = did_you_mean(column, flows.columns)
        raise InputError(f"{_kind(column)}: there is no '{column}'{hint}; known are {', '.join(flows.columns)}")
    flows = flows.select(SIZE, column).drop_nulls()
    place = np.searchsorted(ENDS, flows[SIZE].to_numpy())
    binned = (
        flows.with_columns(pl.Series("bin", place, pl.Int64))
        .group_by("bin")
        .agg(
            # The middle of what was there: bins may be filled on one side.
            pl.col(SIZE).log().mean().exp(),
            pl.col(column).mean().alias("mean"),
            # Nearest rank.
            pl.col(column).sort().get((pl.len() * 99 + 99) // 100 - 1).alias("p99"),
            pl.len().alias("flows"),
        )
    )
    return binned.sort("bin").drop("bin")


def _kind(column: str) -> str:
    return "fct" if column == "fct_s" else "slowdown"


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del table, warmup_s
    sizes = Axis("Size of the flow (bytes)", is_log=True)
    title = LABELS.get(column) or metrics.find(column).title
    return [
        Panel(
            "line",
            SIZE,
            name,
            sizes,
            Axis(f"{how}\n{title}", is_log=True),
            labels=tuple(labels),
            has_points=True,
        )
        for name, how in SHOWN.items()
    ]


COMPLETION = FigureKind(
    "fct",
    "Completion time by the size of the flow",
    "fct_s",
    "; three bins of sizes for each power of ten",
    _table,
    _panels,
    height_in=2.4,
    of_flows=True,
    in_report=False,
)
KIND = FigureKind(
    "slowdown",
    "Completion time over that in an empty network",
    "slowdown",
    "; three bins of sizes for each power of ten",
    _table,
    _panels,
    height_in=2.4,
    of_flows=True,
)
