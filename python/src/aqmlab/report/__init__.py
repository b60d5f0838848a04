"""The report: one HTML page without external files, readable offline and on a phone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from aqmlab.plots import Figure, drawable, style
from aqmlab.results.settings import settings
from aqmlab.results.sheets import Sheets, sheets

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
    return ENVIRONMENT.get_template("report.html").render(
        result=result,
        manifest=result.manifest,
        colours=style.colours(result.aqms),
        points=[_point(result, number, tables) for number, tables in enumerate(sheets(result))],
        scenario=result.scenarios[0],
        settings=settings(result),
        figures=[(figure, inline(figure.bare_svg, figure.title)) for figure in drawn],
    )


def summary_table(result: Result, point: int = 0) -> str:
    """Return the summary of one scenario as an HTML table."""
    table = ENVIRONMENT.get_template("table.html")
    return table.render(table=sheets(result)[point].summary, colours=style.colours(result.aqms))


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


def inline(svg: str, title: str) -> Markup:
    """Return an SVG for use inside a page: no prologue, as wide as the page, with a name for screen readers."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r'\swidth="[^"]*"|\sheight="[^"]*"', "", body[: body.index(">")]) + body[body.index(">") :]
    named = f'<svg role="img" aria-label="{Markup.escape(title)}"'
    # The SVG is safe: matplotlib escapes its text.
    return Markup(body.replace("<svg", named, 1))
