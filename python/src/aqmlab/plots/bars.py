"""Metrics as bars with their 95 % intervals: of the whole, of applications, and of each group of flows."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import polars as pl

from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Axis, Panel
from aqmlab.results import full_ports
from aqmlab.stats.statistics import Reals
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import InputError, did_you_mean
from aqmlab.vocabulary.scopes import Scope

ALL = "all"
WHOLE = ("qdelay_mean_ms", "qdelay_p99_ms", "goodput_mbit", "loss_ratio")
APPLICATIONS = (
    "mos_mean", "mos_back_mean", "page_load_mean_s", "video_stall_s", "video_bitrate_mbit", "rpc_latency_mean_ms"
)  # fmt: skip
# A call has a score in both directions, and people notice the worse.
DIRECTIONS = ("mos_mean", "mos_back_mean")
# A score of opinions is at least so much (ITU-T P.800).
LEAST_SCORE = 1.0
# The axis of groups is logarithmic where the largest mean is this many times the smallest.
WIDE = 20.0
# Letters of a line beside an axis.
LINE = 20
GROUPS = ("goodput_mbit", "qdelay_mean_ms")
# Where several ports are measured, each of which groups cross or not.
END_TO_END = ("goodput_mbit", "owd_mean_ms")


def _rows(curves: Sequence[Curve], names: Sequence[str]) -> pl.DataFrame:
    """Return the estimates of some metrics."""
    found = []
    for curve in curves:
        own = {row.metric: row for row in curve.result.rows if (row.point, row.aqm) == (curve.point, curve.aqm)}
        for name in names:
            if name in own:
                value, low, high = own[name].estimate.value, own[name].estimate.low, own[name].estimate.high
                ends = (value if low is None else low, value if high is None else high)
                found.append((curve.label, name, value, *ends))
    reals = dict.fromkeys(("mean", "ci95_low", "ci95_high"), pl.Float64)
    return pl.DataFrame(found, {"aqm": pl.String, "metric": pl.String, **reals}, orient="row")


def _names(curves: Sequence[Curve]) -> list[str]:
    return metrics.ordered({row.metric for curve in curves for row in curve.result.rows})


def _chosen(curves: Sequence[Curve], column: str, kind: str, usual: Sequence[str]) -> pl.DataFrame:
    known = _names(curves)
    if column != ALL and column not in known:
        raise InputError(f"{kind}: there is no '{column}'{did_you_mean(column, known)}; known are {', '.join(known)}")
    return _rows(curves, usual if column == ALL else [column])


def _whole(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    shown = {tuple(full_ports.over_settings(curve.result, WHOLE)) for curve in curves}
    return _chosen(curves, column, "bars", shown.pop() if len(shown) == 1 else WHOLE)


def _applications(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    table = _chosen(curves, column, "applications", APPLICATIONS)
    # What never happened, as stalls, needs no panel beside others.
    table = table.filter((pl.col("mean") != 0.0).any().over("metric") | (column != ALL))
    if table.is_empty():
        raise InputError("applications: no flow is of an application: voip, web, video or rpc")
    return table


def _shown(table: pl.DataFrame) -> list[str]:
    """Return the metrics that have a panel: of the two directions of calls that with the lowest score."""
    scores = {name: table.filter(metric=name)["mean"].min() for name in DIRECTIONS}
    known = [name for name, least in scores.items() if isinstance(least, float)]
    worst = min(known, key=lambda name: (scores[name], DIRECTIONS.index(name)), default="")
    return [name for name in table["metric"].unique(maintain_order=True) if name not in DIRECTIONS or name == worst]


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del column, warmup_s
    positions = {label: float(place) for place, label in enumerate(labels)}
    return [
        Panel(
            "bars",
            "aqm",
            "mean",
            Axis(ticks=positions),
            Axis(_wrapped(name), LEAST_SCORE if name in DIRECTIONS else 0.0),
            rows={"metric": name},
            labels=tuple(labels),
        )
        for name in _shown(table)
    ]


def _wrapped(name: str) -> str:
    """Return the title of a metric in short lines, its unit on a line of its own."""
    metric = metrics.find(name)
    unit = metric.title.removeprefix(metric.label).strip()
    return "\n".join([*textwrap.wrap(metric.label, LINE), *([unit] if unit else [])])


def columns(table: pl.DataFrame) -> int:
    """Return how many panels are side by side."""
    return min(2, len(_shown(table)))


def _groups(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    """Return the estimates of each group of flows."""
    usual = END_TO_END if all(_has_ports(curve) for curve in curves) else GROUPS
    wanted = usual if column == ALL else (column,)
    parts = [(name, *metrics.split(name)) for name in _names(curves)]
    scoped = [(name, Scope.of_prefix(prefix), plain) for name, prefix, plain in parts]
    grouped = {(plain, part.name): name for name, part, plain in scoped if part and part.family == "class"}
    if len({group for _, group in grouped}) < 2:
        raise InputError("groups: all flows are of one group; name= gives some another")
    if not any(plain in wanted for plain, _ in grouped):
        known = sorted({plain for plain, _ in grouped})
        hint = f"; known are {', '.join(known)}" if known else ""
        raise InputError(f"groups: no group has a '{column}'{did_you_mean(column, known)}{hint}")
    of = {name: (plain, group) for plain in wanted for (known, group), name in grouped.items() if known == plain}
    table = _rows(curves, list(of))
    names_of = pl.Series([of[name] for name in table["metric"]], dtype=pl.List(pl.String))
    return table.select(
        "aqm",
        names_of.list.get(1).alias("group"),
        names_of.list.get(0).alias("metric"),
        "mean",
        "ci95_low",
        "ci95_high",
    )


def _has_ports(curve: Curve) -> bool:
    """Return whether several ports are measured, and the delay from end to end."""
    several = len(curve.result.scenarios[curve.point].get("ports") or ()) > 1
    return several and "owd_mean_ms" in curve.result.runs.columns


def _group_panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del column, warmup_s
    positions = {group: float(place) for place, group in enumerate(table["group"].unique().sort())}
    return [
        Panel(
            "beside",
            "group",
            "mean",
            Axis("Group of flows", ticks=positions),
            _group_axis(name, rows["mean"].to_numpy()),
            rows={"metric": name},
            labels=tuple(labels),
        )
        for (name,), rows in table.group_by("metric", maintain_order=True)
    ]


def _group_axis(name: object, means: Reals) -> Axis:
    """Return an axis, logarithmic where a group would otherwise lie on its end, as calls beside downloads do."""
    is_wide = means.min() > 0.0 and means.max() / means.min() > WIDE
    return Axis(_wrapped(str(name)), None if is_wide else 0.0, is_log=bool(is_wide))


_NOTE = "; error bars: 95 % interval over the seeds"
OF_GROUPS = FigureKind(
    "groups",
    "What each group of flows gets",
    ALL,
    _NOTE,
    _groups,
    _group_panels,
    height_in=2.3,
    is_occasional=True,
)
OF_APPLICATIONS = FigureKind(
    "applications",
    "What users get",
    ALL,
    _NOTE,
    _applications,
    _panels,
    height_in=2.3,
    columns=columns,
    is_occasional=True,
)
KIND = FigureKind(
    "bars", "Delay, goodput and loss", ALL, _NOTE, _whole, _panels, height_in=2.3, columns=columns, in_report=False
)
