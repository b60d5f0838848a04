"""A delay and the goodput over time: the mean over the seeds with its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from aqmlab import metrics, statistics
from aqmlab.errors import InputError, did_you_mean
from aqmlab.plots import style
from aqmlab.plots.model import Curve, Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

GOODPUT = "goodput_mbit"
# The delay axis is logarithmic where the highest peak is this many times the median.
WIDE = 30.0
LABELS = {
    "qdelay_ms": "Queue delay (ms)",
    "queue_packets": "Queue (packets)",
    "queue_bytes": "Queue (bytes)",
    "drops": "Drops (packets)",
    "marks": "CE marks (packets)",
}


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    known = sorted({name for curve in curves for name in curve.result.series["name"].unique()})
    if column not in known:
        hint = did_you_mean(column, known)
        raise InputError(f"timeseries: there is no '{column}'{hint}; there are {', '.join(known)}")
    parts = [_spread(curve, list(dict.fromkeys((column, GOODPUT)))) for curve in curves]
    labelled = zip(curves, parts, strict=True)
    return pl.concat([part.select(pl.lit(curve.label).alias("aqm"), pl.all()) for curve, part in labelled])


def _spread(curve: Curve, names: Sequence[str]) -> pl.DataFrame:
    value = pl.col("value")
    spread = (
        curve.of(curve.result.series)
        .filter(pl.col("name").is_in(names))
        .group_by("name", "time_s")
        .agg(value.mean().alias("mean"), value.std().alias("deviation"), value.count().alias("n"))
        .sort("name", "time_s")
    )
    factors = {n: statistics.t_factor(n) for n in spread["n"].unique().to_list()}
    half = pl.col("deviation") * pl.col("n").replace_strict(factors, return_dtype=pl.Float64)
    return spread.select(
        "name",
        "time_s",
        "mean",
        (pl.col("mean") - half).alias("ci95_low"),
        (pl.col("mean") + half).alias("ci95_high"),
    )


def _draw(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> Canvas:
    names = [name for name in dict.fromkeys((column, GOODPUT)) if name in table["name"]]
    canvas, panels = style.canvas(len(names), 2.5 * len(names) + 0.9)
    colours, dashes = style.colours(labels), style.dashes(labels)
    for axes, name in zip(panels, names, strict=True):
        for label in labels:
            rows = table.filter((pl.col("name") == name) & (pl.col("aqm") == label)).drop_nulls("mean")
            time_s, colour = rows["time_s"], colours[label]
            axes.plot(time_s, rows["mean"], color=colour, linestyle=dashes[label], label=label, linewidth=1.4)
            band = rows.drop_nulls("ci95_low")
            low = band["ci95_low"].clip(lower_bound=0.0)
            axes.fill_between(band["time_s"], low, band["ci95_high"], color=colour, alpha=0.13, linewidth=0)
        if name != GOODPUT:
            _choose_scale(axes, table.filter(pl.col("name") == name)["mean"])
        axes.set_ylabel(LABELS.get(name, metrics.find(name).title))
        if axes.get_yscale() == "linear":
            axes.set_ylim(bottom=0)
        axes.margins(x=0)
        if warmup_s > 0:
            axes.axvspan(0, warmup_s, color=style.FAINT, alpha=0.1, linewidth=0)
            note: Any = {"ha": "right", "va": "top", "fontsize": 8, "color": style.FAINT}
            axes.text(warmup_s, 0.98, "warm-up ", transform=axes.get_xaxis_transform(), **note)
    panels[-1].set_xlabel("Time (s)")
    style.legend(canvas, panels[0])
    return canvas


def _choose_scale(axes: Axes, means: pl.Series) -> None:
    """Use a logarithmic axis where peaks would flatten everything else."""
    median, largest = means.drop_nulls().median(), means.max()
    if isinstance(median, float) and isinstance(largest, float) and 0.0 < median < largest / WIDE:
        axes.set_yscale("log")
        axes.set_ylim(bottom=median / 50)
        axes.yaxis.set_major_formatter(lambda value, position: f"{value:g}")


KIND = Kind(
    "timeseries",
    "Queue delay and goodput over time",
    "qdelay_ms",
    "; line: mean over the seeds, band: 95 % interval",
    _table,
    _draw,
)
