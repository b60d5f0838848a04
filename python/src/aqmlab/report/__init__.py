"""The report: one HTML page without external files, readable offline and on a phone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from aqmlab.names import swept_names
from aqmlab.plots import Figure, drawable
from aqmlab.plots.looks import looks
from aqmlab.results import swept
from aqmlab.results.settings import settings
from aqmlab.results.sheets import Sheet, Sheets, sheets
from aqmlab.results.summary import Row
from aqmlab.results.tables import COLUMNS, filled, in_units, line

if TYPE_CHECKING:
    from aqmlab.results import Result

__all__ = ["environment", "inline", "render", "summary_table"]


def environment(*folders: Path) -> Environment:
    """Return the template environment of some folders and of the report's."""
    return Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


ENVIRONMENT = environment()


def render(result: Result, figures: Sequence[Figure] | None = None) -> str:
    """Return the report of a result."""
    drawn = drawable(result)[0] if figures is None else figures
    is_large = len(result.points) > swept.MOST_TABLES
    return ENVIRONMENT.get_template("report.html").render(
        result=result,
        manifest=result.manifest,
        looks=looks(result.aqms),
        points=[] if is_large else [_point(result, number, tables) for number, tables in enumerate(sheets(result))],
        sweep=_sweep(result) if is_large else None,
        short=swept_names(result),
        scenario=result.scenarios[0],
        settings=settings(result),
        figures=[(figure, inline(figure.bare_svg, figure.title)) for figure in drawn],
    )


def summary_table(result: Result, point: int = 0) -> str:
    """Return the summary of one scenario as an HTML table."""
    table = ENVIRONMENT.get_template("table.html")
    return table.render(table=sheets(result)[point].summary, looks=looks(result.aqms))


def _point(result: Result, number: int, tables: Sheets) -> dict[str, Any]:
    rows = [row for row in result.rows if row.point == number]
    return {
        "name": ", ".join(f"{key} {value}" for key, value in result.points[number].items()),
        "summary": tables.summary,
        "more": tables.more,
        "first_port": tables.first_port,
        "comparisons": [one for one in result.comparisons if one.point == number],
        "n": max((row.estimate.n for row in rows), default=0),
    }


def _sweep(result: Result) -> dict[str, Any]:
    """Return a large sweep: best and worst scenarios, where the order of AQMs flips, and one table of everything."""
    points = result.points
    places = [", ".join(f"{key} {value}" for key, value in point.items()) for point in points]
    columns = in_units(COLUMNS, result.rows)
    named = {column.metric: column for column in columns}
    rows: dict[tuple[int, str], list[Row]] = {}
    for row in result.rows:
        rows.setdefault((row.point, row.aqm), []).append(row)
    every = {
        (*point.values(), aqm): line(rows.get((number, aqm), []), "", columns)
        for number, point in enumerate(points)
        for aqm in result.aqms
    }
    return {
        "extremes": [
            {
                "column": named[one.metric],
                "aqm": one.aqm,
                "ends": [
                    (line([row], "", [named[one.metric]])[one.metric], places[row.point])
                    for row in (one.best, one.worst)
                ],
            }
            for one in swept.extremes(result)
        ],
        "orders": [(one.aqm, one.words(points)) for one in swept.orders(result)],
        "every": Sheet((*points[0], "AQM"), filled(columns, every), every),
        "n": max((row.estimate.n for row in result.rows), default=0),
    }


def inline(svg: str, title: str) -> Markup:
    """Return an SVG for use inside a page: no prologue, as wide as the page, with a name for screen readers."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r'\swidth="[^"]*"|\sheight="[^"]*"', "", body[: body.index(">")]) + body[body.index(">") :]
    named = f'<svg role="img" aria-label="{Markup.escape(title)}"'
    # The SVG is safe: matplotlib escapes its text.
    return Markup(body.replace("<svg", named, 1))
