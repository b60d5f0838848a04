"""The distribution of a delay over packets, or of a column over flows, all seeds together; and what exceeds it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Axis, Panel
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import InputError, did_you_mean
from aqmlab.vocabulary.scopes import Scope

LABELS = {"qdelay": "Queue delay", "owd": "One-way delay", "pdv": "Delay variation", "ping": "Ping"}
# Shares at which a curve has a point: evenly spaced, and denser in the last hundredth.
SHARES = np.unique(np.concatenate([np.linspace(0.0, 0.99, 300), 1.0 - np.geomspace(0.01, 1e-5, 60), [1.0]]))
# The axis is logarithmic if the ratio of the medians exceeds this.
WIDE = 8.0


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    parts = [thinned(*_counts(curve, column), column) for curve in curves]
    labelled = zip(curves, parts, strict=True)
    return pl.concat([part.select(pl.lit(curve.label).alias("aqm"), pl.all()) for curve, part in labelled])


def _counts(curve: Curve, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the values, ascending, and their counts."""
    delay = column.removesuffix("_ms")
    delays = curve.result.histograms["name"].unique().sort().to_list()
    if delay in delays:
        return merged(curve, [delay])
    flows = curve.of(curve.result.flows)
    if flows.schema.get(column) == pl.Float64:
        return np.unique(flows[column].drop_nulls().to_numpy(), return_counts=True)
    reals = [name for name, dtype in flows.schema.items() if dtype == pl.Float64]
    known = [*(f"{name}_ms" for name in delays), *reals]
    raise InputError(f"cdf: there is no '{column}'{did_you_mean(column, known)}; known are {', '.join(known)}")


def merged(curve: Curve, histograms: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the delays of some histograms together in milliseconds, ascending, and their counts."""
    rows = curve.of(curve.result.histograms).filter(pl.col("name").is_in(histograms))
    both = rows.group_by("value_ns").agg(pl.col("count").sum()).sort("value_ns")
    return both["value_ns"].to_numpy() / 1e6, both["count"].to_numpy()


def thinned(values: np.ndarray, counts: np.ndarray, column: str) -> pl.DataFrame:
    """Return the distribution of values with counts: at most as many points as a figure shows."""
    if not len(values):
        return pl.DataFrame(schema={column: pl.Float64, "share": pl.Float64})
    share = np.cumsum(counts) / counts.sum()
    kept = np.unique(np.searchsorted(share, SHARES).clip(0, len(share) - 1))
    # A curve begins at zero.
    kept_values, kept_shares = values[kept].astype(float), share[kept]
    return pl.DataFrame({column: np.insert(kept_values, 0, values[0]), "share": np.insert(kept_shares, 0, 0.0)})


def _above(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    """Return the table of the shares above a value; what is above the largest is nothing."""
    return _table(curves, column).with_columns((1.0 - pl.col("share")).alias("share")).filter(pl.col("share") > 1e-9)


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del warmup_s
    title = title_of(column)
    shares = Axis(f"Share of {_whose(column)}", 0.0, 1.02)
    return [Panel("step", column, "share", axis(table, column, title), shares, labels=tuple(labels))]


def _panels_above(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del table, warmup_s
    values = Axis(title_of(column), 0.0)
    shares = Axis(f"Share of {_whose(column)} above", None, 1.0, is_log=True)
    return [Panel("step", column, "share", values, shares, labels=tuple(labels))]


def _whose(column: str) -> str:
    delay = column.removesuffix("_ms").rpartition(".")[2]
    return "pings" if delay == "ping" else "packets" if delay in LABELS else "flows"


def title_of(column: str) -> str:
    """Return the title of a delay or of a column of flows, with its unit."""
    group, _, delay = column.removesuffix("_ms").rpartition(".")
    scope = Scope.of_prefix(group)
    of_group = f" of {scope.name}" if scope else ""
    return f"{LABELS[delay]}{of_group} (ms)" if delay in LABELS else metrics.find(column).title


def axis(table: pl.DataFrame, column: str, title: str) -> Axis:
    """Return the axis of a delay: logarithmic where the medians of curves are far apart."""
    # Of each curve: all but two columns say whose it is.
    whose = [name for name in table.columns if name not in (column, "share")]
    medians = table.filter(pl.col("share") >= 0.5).group_by(whose).agg(pl.col(column).min())[column].to_numpy()
    largest = table[column].to_numpy().max(initial=0.0)
    if largest <= 0.0 or (medians.min() > 0.0 and medians.max() / medians.min() <= WIDE):
        return Axis(title, 0.0)
    least = medians[medians > 0.0].min(initial=largest)
    return Axis(title, max(least / 20, largest / 1e4), is_log=True)


ABOVE = FigureKind("ccdf", "How long the last packets wait", "qdelay_ms", "", _above, _panels_above, in_report=False)
KIND = FigureKind("cdf", "How long packets wait", "qdelay_ms", "", _table, _panels)
