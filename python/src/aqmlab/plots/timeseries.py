"""A delay and the goodput over time, with a tick for each drop and mark; and the Jain index since the start."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Axis, Panel
from aqmlab.stats import statistics
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import InputError, did_you_mean

# The second panel: what flows got, else (over a live link) what the bottleneck carried.
RATES = ("goodput_mbit", "throughput_mbit")
FAIRNESS = "jain_index"
EVENTS = ("drops", "marks")
# More lines have no bands.
MOST_BANDS = 3
# The delay axis is logarithmic where the highest peak is this many times the median.
WIDE = 30.0


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    results = {id(curve.result): curve.result for curve in curves}
    known = sorted({name for result in results.values() for name in result.series_names})
    if not known:
        raise InputError("timeseries: the runs have no time series: they are shorter than the period of one")
    if column not in known:
        hint = did_you_mean(column, known)
        raise InputError(f"timeseries: there is no '{column}'{hint}; known are {', '.join(known)}")
    rate = next((name for name in RATES if name in known), RATES[0])
    return _labelled(curves, [_over_seeds(rows) for rows in _series(curves, list(dict.fromkeys((column, rate))))])


def _eventful(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    """Return the table with the samples of the first seed in which something was dropped or marked."""
    events = _labelled(curves, [_events(rows) for rows in _series(curves, EVENTS)])
    return pl.concat([_table(curves, column), events], how="diagonal")


def _labelled(curves: Sequence[Curve], parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    labelled = zip(curves, parts, strict=True)
    return pl.concat([part.select(pl.lit(curve.label).alias("aqm"), pl.all()) for curve, part in labelled])


def _series(curves: Sequence[Curve], names: Sequence[str]) -> list[pl.DataFrame]:
    """Return the named series of each curve; those of a result, which may be millions of samples, are sought once."""
    chosen: dict[int, pl.DataFrame] = {}
    for curve in curves:
        if id(curve.result) not in chosen:
            chosen[id(curve.result)] = curve.result.series_of(names)
    return [curve.of(chosen[id(curve.result)]) for curve in curves]


def _events(rows: pl.DataFrame) -> pl.DataFrame:
    first = rows.filter((pl.col("seed") == pl.col("seed").min()) & (pl.col("value") > 0.0))
    return first.select(
        pl.lit("events").alias("name"), "time_s", pl.col("value").alias("packets"), pl.col("name").alias("event")
    ).sort("event", "time_s")


def _over_seeds(rows: pl.DataFrame) -> pl.DataFrame:
    """Return mean and interval over the seeds at each time."""
    value = pl.col("value")
    found = (
        rows.group_by("name", "time_s")
        .agg(value.mean().alias("mean"), value.std().alias("deviation"), value.count().alias("n"))
        .sort("name", "time_s")
    )
    factors = {n: statistics.t_factor(n) for n in found["n"].unique().to_list()}
    half = pl.col("deviation") * pl.col("n").replace_strict(factors, return_dtype=pl.Float64)
    return found.select(
        "name",
        "time_s",
        "mean",
        (pl.col("mean") - half).alias("ci95_low"),
        (pl.col("mean") + half).alias("ci95_high"),
    )


def _eventful_panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    """Return the panels over time, with one for what was dropped and marked."""
    panels = _panels(table, labels, column, warmup_s)
    if "events" not in table["name"]:
        return panels
    rows = Axis("", ticks={label: float(place) for place, label in enumerate(labels)})
    ticks = Panel(
        "ticks",
        "time_s",
        "",
        Axis("Time (s)"),
        rows,
        rows={"name": "events"},
        group="event",
        height=max(0.14 * len(labels), 0.3),
    )
    return [panels[0], ticks, *panels[1:]]


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    # The bands of many lines would cover one another.
    is_crowded = len(labels) > MOST_BANDS
    return [
        Panel(
            "line",
            "time_s",
            "mean",
            Axis("Time (s)"),
            _axis(name, table.filter(pl.col("name") == name)["mean"]),
            rows={"name": name},
            labels=tuple(labels),
            interval="" if is_crowded else "band",
            shaded=(warmup_s, "warm-up") if warmup_s > 0 else None,
        )
        for name in dict.fromkeys((column,) if column == FAIRNESS else (column, *RATES))
        if name in table["name"]
    ]


def _axis(name: str, means: pl.Series) -> Axis:
    """Return an axis, logarithmic if peaks would flatten everything else."""
    title = metrics.series_title(name)
    median, largest = means.drop_nulls().median(), means.max()
    wide = isinstance(median, float) and isinstance(largest, float) and 0.0 < median < largest / WIDE
    if wide and name not in RATES and isinstance(median, float):
        return Axis(title, median / 50, is_log=True)
    return Axis(title, 0.0)


JAIN = FigureKind(
    "jain",
    "Fairness since the start",
    FAIRNESS,
    "; over what every flow got since the start, also those that have ended or not begun; line: mean over the seeds, "
    "band (of up to three lines): 95 % interval",
    _table,
    _panels,
    in_report=False,
)
KIND = FigureKind(
    "timeseries",
    "Queue delay and goodput over time",
    "qdelay_ms",
    "; line: mean over the seeds, band (of up to three lines): 95 % interval; ticks: samples with drops (up) and CE "
    "marks (down), first seed; goodput above its axis: a gap is filled, and what waited behind it is delivered at once",
    _eventful,
    _eventful_panels,
    height_in=2.3,
)
