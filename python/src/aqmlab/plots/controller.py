"""The queue's length and the discipline's own variables over time, in one run: what the controller saw and did."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Axis, Panel
from aqmlab.scenario import registry
from aqmlab.vocabulary.errors import InputError, did_you_mean

QUEUE = "queue_packets"
PROBE = "probe."
ALL = "all"
# A variable that is on or off, by its unit, has nothing between.
IS_SWITCH = "(0/1)"
SWITCH = {"0": 0.0, "1": 1.0}
# Of each discipline, unless one is named; more panels are too small.
VARIABLES_EACH = 2
MOST_PANELS = 6


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    parts = []
    for curve in curves:
        rows = curve.of(curve.result.series)
        own = _variables(rows)
        wanted = own[:VARIABLES_EACH] if column == ALL else [name for name in own if name in (column, PROBE + column)]
        first = rows.filter((pl.col("seed") == rows["seed"].min()) & pl.col("name").is_in([QUEUE, *wanted]))
        parts.append(first.select(pl.lit(curve.label).alias("aqm"), "name", "time_s", "value").drop_nulls())
    table = pl.concat(parts)
    if column != ALL and table["name"].n_unique() < 2:
        every = {name for curve in curves for name in curve.of(curve.result.series)["name"].unique()}
        known = sorted(name.removeprefix(PROBE) for name in every if name.startswith(PROBE))
        hint = did_you_mean(column, known)
        raise InputError(f"queue: no discipline has a variable '{column}'{hint}; known are {', '.join(known)}")
    return table


def _variables(rows: pl.DataFrame) -> list[str]:
    """Return the names of a discipline's variables, those that are zero all the time last."""
    probes = rows.filter(pl.col("name").str.starts_with(PROBE))
    largest = probes.group_by("name", maintain_order=True).agg(pl.col("value").abs().max().fill_null(0.0))
    return largest.sort(pl.col("value") == 0.0, maintain_order=True)["name"].to_list()


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    units = {probe.name: probe.unit for one in (*registry.disciplines(), *registry.of_papers()) for probe in one.probes}
    probes = [name for name in _variables(table) if column != ALL or _moves(table, name)]
    titles = {QUEUE: "Queue (packets)"}
    for name in probes[: MOST_PANELS - 1]:
        plain = name.removeprefix(PROBE)
        words, unit = plain.replace("_", " ").capitalize(), units.get(plain, "")
        titles[name] = f"{words}\n({unit})" if unit else words
    return [
        Panel(
            "line",
            "time_s",
            "value",
            Axis("Time (s)"),
            Axis(title, 0.0, ticks=SWITCH if title.endswith(IS_SWITCH) else {}),
            rows={"name": name},
            labels=tuple(labels),
            shaded=(warmup_s, "warm-up") if warmup_s > 0 else None,
        )
        for name, title in titles.items()
    ]


def _moves(table: pl.DataFrame, name: str) -> bool:
    """Whether a variable is ever another than zero: what never is has nothing to show."""
    return bool((table.filter(pl.col("name") == name)["value"] != 0.0).any())


KIND = FigureKind(
    "queue",
    "The queue, and what its discipline computes",
    ALL,
    "; one run, the first seed",
    _table,
    _panels,
    height_in=1.7,
    in_report=False,
)
