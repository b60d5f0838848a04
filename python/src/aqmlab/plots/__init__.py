"""Figures, declared as data over the columns of results.

Every figure is drawn from one table, which is written beside it as CSV. Its panels state which columns are shown by
which marks. One painter draws all figures: those of results here, those of papers and searches elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.plots import backend as _backend  # noqa: F401 (before anything imports matplotlib)
from aqmlab.plots import (
    bars,
    box,
    cdf,
    controller,
    fairness,
    painter,
    pareto,
    slowdown,
    stations,
    style,
    sweep,
    timeseries,
    tradeoff,
)
from aqmlab.plots.annotations import with_annotations
from aqmlab.plots.curves import Curve, FigureKind, caption
from aqmlab.plots.figure import Figure
from aqmlab.plots.overlay import names
from aqmlab.plots.panel import Axis, Mark, Panel
from aqmlab.plots.style import ENDINGS, PAPER, SCREEN, Ending
from aqmlab.results.full_ports import at_fullest
from aqmlab.results.short_labels import short_labels
from aqmlab.vocabulary.errors import InputError, unknown

if TYPE_CHECKING:
    import matplotlib.figure

    from aqmlab.results import Result

__all__ = [
    "ENDINGS",
    "KINDS",
    "PAPER",
    "SCREEN",
    "Axis",
    "Ending",
    "Figure",
    "Mark",
    "Panel",
    "Plotter",
    "contents",
    "drawable",
    "figures",
    "with_annotations",
]

KINDS: dict[str, FigureKind] = {
    kind.name: kind
    for kind in (
        sweep.KIND,
        bars.KIND,
        bars.OF_APPLICATIONS,
        bars.OF_GROUPS,
        cdf.KIND,
        cdf.ABOVE,
        box.KIND,
        slowdown.KIND,
        slowdown.COMPLETION,
        timeseries.KIND,
        controller.KIND,
        timeseries.JAIN,
        fairness.KIND,
        tradeoff.KIND,
        pareto.KIND,
        stations.LAYERS,
        stations.AIRTIME,
        stations.KIND,
    )
}

# Height of a figure of one panel, at least, and of a panel where each result or scenario has one.
LEAST_IN = 3.6
FACET_IN = 2.5
# More results or scenarios are several figures.
MOST_FACETS = 12
# The column of a table that says of which result or scenario a row is.
FACET = "panel"
# A larger sweep has no figures of its scenarios one by one; `aqmlab plot` draws any.
MOST_POINTS = 6


def figures(
    kind: str, results: Sequence[Result], column: str | None = None, points: Sequence[int] | None = None
) -> list[Figure]:
    """Return the figures of a kind; one has a panel for each result, and each scenario of a sweep.

    Args:
        kind: one of `KINDS`.
        results: one or several.
        column: what to draw, instead of the kind's default.
        points: scenarios of a sweep by number; all unless given.

    Raises:
        InputError: if the results hold no such column.

    """
    chosen = KINDS[kind]
    called = names(results) if len(results) > 1 else [""]
    if chosen.across:
        return _over_sweeps(chosen, results, called, column)
    curves = [
        Curve(aqm, aqm, point, result, ", ".join(filter(None, (name, *result.points[point].values()))))
        for result, name in zip(results, called, strict=True)
        for point in (range(len(result.points)) if points is None else points)
        for aqm in result.aqms
    ]
    facets = list(dict.fromkeys(curve.facet for curve in curves))
    sheets = [facets[first : first + MOST_FACETS] for first in range(0, len(facets), MOST_FACETS)]
    return [
        _figure(
            chosen,
            [curve for curve in curves if curve.facet in sheet],
            column,
            f"{chosen.name}-{number}" if len(sheets) > 1 else chosen.name,
        )
        for number, sheet in enumerate(sheets, 1)
    ]


def _over_sweeps(
    kind: FigureKind, results: Sequence[Result], called: Sequence[str], column: str | None
) -> list[Figure]:
    """Return figures over what was swept; over the results where each is of one scenario."""
    curves = [
        [Curve(aqm, aqm, point, result, name) for point in range(len(result.points)) for aqm in result.aqms]
        for result, name in zip(results, called, strict=True)
    ]
    if len({tuple(result.points[0]) for result in results}) == 1 and all(result.points[0] for result in results):
        drawn = [_figure(kind, own, column, kind.name) for own in curves]
        if len(drawn) == 1 or any(figure.columns > 1 for figure in drawn):
            return [
                replace(figure, name=f"{kind.name}-{number}", title=f"{figure.title}: {name}") if name else figure
                for number, (figure, name) in enumerate(zip(drawn, called, strict=True), 1)
            ]
        return [_figure(kind, [curve for own in curves for curve in own], column, kind.name)]
    if len(results) == 1:
        raise InputError(f"{kind.name}: the result is of one scenario; a sweep has several, or name several results")
    # Each is a place on one axis.
    return [_figure(kind, [curve for own in curves for curve in own], column, kind.name, is_faceted=False)]


def drawable(result: Result) -> tuple[list[Figure], list[str]]:
    """Return the figures of every result folder, painted, and the reasons why others cannot be drawn."""
    # Scenarios that are files of their own have no names to sweep over.
    swept = any(result.points)
    finite = "slowdown_mean" in result.runs.columns
    drawn, problems = [], []
    for name, kind in KINDS.items():
        is_left_out = not swept if kind.across else len(result.points) > MOST_POINTS
        if is_left_out or not kind.in_report or (kind.of_flows and not finite):
            continue
        try:
            wanted = figures(name, [result])
        except InputError:
            if not kind.is_occasional:
                problems.append(f"no figure '{name}': there is no measurement for it")
            continue
        for figure in wanted:
            problem = _paint(figure)
            if problem:
                problems.append(f"no figure '{figure.name}': {problem}")
            else:
                drawn.append(figure)
    return drawn, problems


def _paint(figure: Figure) -> str:
    """Paint a figure, which caches its SVG; return the problem, if there is one."""
    if figure.table.is_empty():
        return "there is no measurement for it"
    try:
        return "" if figure.svg and figure.bare_svg else "it is empty"
    # No error in a figure may cost the result.
    except Exception as error:
        if "NaN or Inf" in str(error):
            return "its numbers are not finite"
        return " ".join(str(error).split()) or type(error).__name__


def contents(
    drawn: Sequence[Figure], ending: style.Ending = "svg", layout: style.Layout = style.SCREEN
) -> dict[str, bytes]:
    """Return the files of figures by their names: each in a format, and its table as CSV."""
    return {
        f"{figure.name}.{suffix}": content
        for figure in drawn
        for suffix, content in ((ending, figure.content(ending, layout)), ("csv", figure.table.write_csv().encode()))
    }


@dataclass(frozen=True)
class Plotter:
    """Figures of one result as matplotlib figures: notebooks show them, ``savefig`` writes them."""

    _result: Result

    def draw(self, kind: str, column: str | None = None, point: int = 0) -> matplotlib.figure.Figure:
        """Draw a figure of any kind that `aqmlab plot` knows."""
        if kind not in KINDS:
            raise unknown("kind of figure", kind, KINDS)
        return self._draw(kind, column, point)

    def cdf(self, column: str | None = None, point: int = 0) -> matplotlib.figure.Figure:
        """Draw the distribution of a delay (``qdelay_ms``, ``owd_ms``, ``pdv_ms``) or of a column of the flows."""
        return self._draw("cdf", column, point)

    def timeseries(self, column: str | None = None, point: int = 0) -> matplotlib.figure.Figure:
        """Draw a column of the series and the goodput over time, averaged over the seeds."""
        return self._draw("timeseries", column, point)

    def tradeoff(self, column: str | None = None, point: int = 0) -> matplotlib.figure.Figure:
        """Draw goodput against a metric, one dot per run with its ellipse (RFC 7928 section 2.7)."""
        return self._draw("tradeoff", column, point)

    def slowdown(self, column: str = "slowdown", point: int = 0) -> matplotlib.figure.Figure:
        """Draw the slowdown of finite flows against their size: mean and 99th percentile."""
        return self._draw("slowdown", column, point)

    def sweep(self, column: str | None = None) -> matplotlib.figure.Figure:
        """Draw a metric, the goodput and the loss against the swept value."""
        return self._draw("sweep", column, 0)

    def _draw(self, kind: str, column: str | None, point: int) -> matplotlib.figure.Figure:
        last = len(self._result.points) - 1
        if not 0 <= point <= last:
            raise InputError(f"point: '{point}' is out of range: allowed is 0 to {last}")
        return figures(kind, [self._result], column, [point])[0].draw()


def _figure(
    kind: FigureKind, curves: Sequence[Curve], column: str | None, name: str, *, is_faceted: bool = True
) -> Figure:
    drawn = [curve for curve in curves if curve.count]
    if not drawn:
        raise InputError("there is nothing to draw: no run is finished")
    column = column or at_fullest(drawn[0].result, drawn[0].point, kind.column)
    labels = list(dict.fromkeys(curve.label for curve in curves))
    warmup_s = curves[0].result.warmup_s(curves[0].point)
    facets = list(dict.fromkeys(curve.facet for curve in drawn)) if is_faceted else []
    if len(facets) > 1:
        parts = [kind.table([curve for curve in drawn if curve.facet == facet], column) for facet in facets]
        named = zip(facets, parts, strict=True)
        # Where one lacks what others have, as the variables of its disciplines, it has no such column.
        table = pl.concat([part.select(pl.lit(one).alias(FACET), pl.all()) for one, part in named], how="diagonal")
        bases = kind.panels(table, labels, column, warmup_s)
        panels = [
            replace(
                base,
                rows={**base.rows, FACET: facet},
                facet=facet,
                title=": ".join(filter(None, (facet if number == 0 else "", base.title))),
            )
            for number, base in enumerate(bases)
            for facet in facets
        ]
        blocks = -(-len(facets) // painter.facets_across(len(facets)))
        height_in = min(kind.height_in, FACET_IN) * len(bases) * blocks + 1.0
        columns, place = 1, ""
    else:
        table = kind.table(drawn, column)
        panels, columns = list(kind.panels(table, labels, column, warmup_s)), kind.columns(table)
        height_in = (
            max(kind.height_in, LEAST_IN) if len(panels) == 1 else kind.height_in * -(-len(panels) // columns) + 1.0
        )
        alone = len({(id(curve.result), curve.point) for curve in curves}) == 1
        point = curves[0].result.points[curves[0].point] if alone else {}
        place = ", ".join(f"{key} {value}" for key, value in point.items())
    shortened = [f"; {short} is {label}" for label, short in short_labels(labels).items() if short != label]
    return Figure(
        name=name,
        title=f"{kind.title}: {place}" if place else kind.title,
        caption="".join([caption(drawn), kind.note, *shortened]),
        table=table,
        panels=panels,
        height_in=height_in,
        columns=columns,
    )
