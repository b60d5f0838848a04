"""The report: one HTML page without external files, readable offline and on a phone."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

from aqmlab.plots import Figure, drawable
from aqmlab.plots.label_styles import label_styles
from aqmlab.report import charts
from aqmlab.report.templates import rendered
from aqmlab.results import over_settings, stations, swept
from aqmlab.results.baseline import FILE as BASELINE
from aqmlab.results.baseline import by_discipline
from aqmlab.results.best import best
from aqmlab.results.differences import Comparison
from aqmlab.results.directions import named
from aqmlab.results.full_ports import columns_over_settings, orders
from aqmlab.results.headline import headlines
from aqmlab.results.heat import heat_maps, heat_notes
from aqmlab.results.marks import DIFFERS, SAME, UNDECIDED, legend
from aqmlab.results.metric_tables import SWEEP_COLUMNS, filled, in_units, line
from aqmlab.results.notes import few_seeds
from aqmlab.results.noticeable import explained, is_noticeable
from aqmlab.results.ranking import SIGNS
from aqmlab.results.result_json import family
from aqmlab.results.setting_line import LINK, setting_line, sweep_line
from aqmlab.results.settings import aqms, settings
from aqmlab.results.sheets import PORT, Sheet, Sheets, sheets
from aqmlab.results.summary import Row
from aqmlab.scenario import registry
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.metrics import Metric
from aqmlab.vocabulary.printable import all_printable, printable

if TYPE_CHECKING:
    from aqmlab.results import Result

__all__ = ["beside", "inline", "notebook", "render"]


# The figures that a chart takes the place of, where scripts run: that of the first scenario shows them all.
CHARTS = {"cdf": "delays", "timeseries": "series", "tradeoff": "runs", "fairness": "fairness", "sweep": "sweep"}


# The figures of the section about Wi-Fi.
OF_STATIONS = ("layers", "airtime", "stations")

# The figure beside the answer, above everything else.
FIRST = "tradeoff"


def render(result: Result, figures: Sequence[Figure] | None = None) -> str:
    """Return the report of a result."""
    drawn = drawable(result)[0] if figures is None else figures
    is_large = len(result.points) > swept.MOST_TABLES
    numbers = charts.data(result)
    first = None if result.points[0] else next((figure for figure in drawn if figure.name == FIRST), None)
    return rendered(
        __file__,
        "report.html",
        result=result,
        manifest=result.manifest,
        styles=label_styles(result.aqms),
        points=[] if is_large else [_point(result, number, tables) for number, tables in enumerate(sheets(result))],
        sweep=_sweep(result) if is_large else None,
        settled=_settled(result) if result.points[0] else None,
        line=sweep_line(result) if result.points[0] else setting_line(result),
        noticeable=explained({one.metric for one in result.comparisons}),
        # What is not compared with the first: an AQM in another engine.
        against={one.aqm: one.reference for one in result.comparisons if one.reference != result.aqms[0]},
        scenario=result.scenarios[0],
        family=family(result),
        settings=settings(result),
        as_run=aqms(result),
        first=None if first is None else (first, inline(first.bare_svg, first.title)),
        figures=[
            (figure, inline(figure.bare_svg, figure.title), *_chart(figure.name))
            for figure in drawn
            if figure is not first and not _is_of_stations(figure)
        ],
        of_stations=[(figure, inline(figure.bare_svg, figure.title)) for figure in drawn if _is_of_stations(figure)],
        not_modelled=stations.not_modelled(result.rows),
        disciplines={one.name: one for one in (*registry.disciplines(), *registry.of_papers())},
        again=_again(result),
        since=by_discipline(result),
        marks=legend(DIFFERS + SAME + UNDECIDED),
        signs=SIGNS,
        baseline_file=BASELINE,
        data=_script(numbers),
    )


def _chart(name: str) -> tuple[str, bool]:
    """Return the chart that takes the place of a figure, and whether the figure is the one that it stands in."""
    kind, _, point = name.partition("-")
    return CHARTS.get(kind, ""), point in ("", "1")


def _is_of_stations(figure: Figure) -> bool:
    """Whether a figure stands in the section about Wi-Fi."""
    return figure.name.partition("-")[0] in OF_STATIONS


def _script(numbers: object) -> Markup:
    """Return numbers as JSON that no text in them can end."""
    shown = all_printable(numbers)
    return Markup(json.dumps(shown, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))


def _again(result: Result) -> str:
    """Return the command that runs the same again; nothing for a sweep that is a sample, or of an older folder."""
    options = result.manifest["points"][0].get("options") or {}
    given, swept_values = options.get("given", {}), _swept_values(result)
    if LINK in swept_values:
        return _links_again(result)
    if not given or math.prod(map(len, swept_values.values())) != len(result.points):
        return ""
    parts = ["aqmlab", "sweep" if swept_values else "compare"]
    for name, values in swept_values.items():
        parts += ["--sweep", f"{name}={','.join(values)}"]
    for name, values in given.items():
        if name not in swept_values:
            parts += [part for value in values for part in (f"--{name.replace('_', '-')}", value)]
    return shlex.join([*parts, *(["--allow-unequal-buffers"] if options.get("allow_unequal_buffers") else [])])


def _links_again(result: Result) -> str:
    """Return the command of a comparison over named links: what all have in common is given once."""
    every = [point.get("options") or {} for point in result.manifest["points"]]
    given = [one.get("given", {}) for one in every]
    if not all(given):
        return ""
    of_links = every[0].get("varied", ())
    parts = ["aqmlab", "compare"]
    for point, own in zip(result.points, given, strict=True):
        spec = " ".join(f"{name.replace('_', '-')} {values[0]}" for name, values in own.items() if name in of_links)
        parts += ["--link", f"{point[LINK]}={spec}"]
    for name, values in given[0].items():
        if name in of_links:
            continue
        parts += [part for value in values for part in (f"--{name.replace('_', '-')}", value)]
    return shlex.join([*parts, *(["--allow-unequal-buffers"] if every[0].get("allow_unequal_buffers") else [])])


def _swept_values(result: Result) -> dict[str, list[str]]:
    return {name: list(dict.fromkeys(point[name] for point in result.points)) for name in result.points[0]}


@dataclass(frozen=True)
class DifferenceCell:
    """A difference against the first AQM as a cell: its text, and its class in the style."""

    metric: Metric
    text: str
    verdict: str


def _verdicts(comparisons: Sequence[Comparison], scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return the differences as a table, a line for each AQM."""
    found = {(one.aqm, one.metric): _verdict(one, scenario) for one in comparisons}
    names = list(dict.fromkeys(one.metric for one in comparisons))
    aqms = dict.fromkeys(one.aqm for one in comparisons)
    absent = {name: DifferenceCell(metrics.find(name), "-", "plain") for name in names}
    return {
        "metrics": [metrics.find(name) for name in names],
        "lines": {aqm: [found.get((aqm, name), absent[name]) for name in names] for aqm in aqms},
    }


def _verdict(one: Comparison, scenario: Mapping[str, Any]) -> DifferenceCell:
    metric = metrics.find(one.metric)
    text = one.verdict
    if not one.difference.is_distinguishable:
        return DifferenceCell(metric, text, "plain")
    if not is_noticeable(one, scenario):
        return DifferenceCell(metric, text, "clear")
    is_better = (one.difference.estimate.value > 0.0) == (metric.better == "higher")
    return DifferenceCell(metric, f"{'better' if is_better else 'worse'}: {text}", "good" if is_better else "bad")


def notebook(result: Result) -> str:
    """Return what a notebook shows of a result: the summary of the first scenario, and the order of the AQMs.

    Of several measured ports the table is that of the ports, which has all of the summary but the goodput.
    """
    first = sheets(result)[0]
    return rendered(
        __file__,
        "notebook.html",
        result=result,
        table=next((sheet for sheet in first.more if sheet.heads[0] == PORT), first.summary),
        styles=label_styles(result.aqms),
        answer=headlines(result),
        rankings=[one.words for one in orders(result, 0)],
        n=max((row.estimate.n for row in result.shown_rows if row.point == 0), default=0),
    )


def _point(result: Result, number: int, tables: Sheets) -> dict[str, Any]:
    rows = [row for row in result.shown_rows if row.point == number]
    compared = [named(one, result.scenarios[number]) for one in result.comparisons if one.point == number]
    return {
        "name": ", ".join(f"{key} {value}" for key, value in result.points[number].items()),
        "summary": tables.summary,
        "more": tables.more,
        "stations": tables.stations,
        "answer": headlines(result, number),
        "best": best(result, {aqm: aqm for aqm in result.aqms}, number),
        "few": few_seeds(result),
        "comparisons": compared,
        "verdicts": _verdicts(compared, result.scenarios[number]),
        "rankings": [one.words for one in orders(result, number)],
        "n": max((row.estimate.n for row in rows), default=0),
    }


def _settled(result: Result) -> dict[str, Any]:
    """Return the answer over all settings of a sweep, its heat maps, and where AQMs change places."""
    maps = heat_maps(result)
    return {
        "answer": over_settings.headlines(result),
        "ranges": over_settings.ranges(result),
        "flips": [one.words(result.points) for one in over_settings.flips(result)],
        "maps": maps,
        "notes": heat_notes(result, maps),
    }


def _sweep(result: Result) -> dict[str, Any]:
    """Return a large sweep: best and worst scenarios, where the order of AQMs flips, and one table of everything."""
    points = result.points
    places = [", ".join(f"{key} {value}" for key, value in point.items()) for point in points]
    columns = columns_over_settings(result, in_units(SWEEP_COLUMNS, result.shown_rows))
    named = {column.metric: column for column in columns}
    rows: dict[tuple[int, str], list[Row]] = {}
    for row in result.shown_rows:
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
        "n": max((row.estimate.n for row in result.shown_rows), default=0),
    }


def beside(svg: str, place: str, title: str) -> Markup:
    """Return an SVG that is in a file beside a page, as much of it as this one shows: there a caption follows."""
    head = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert head is not None
    # Stretched to the shape of the file, and back to its own.
    view = f"svgView(viewBox(0,0,{head[1]},{head[2]});preserveAspectRatio(none))"
    image = Markup('<img src="{}#{}" style="aspect-ratio: {} / {}" alt="{}" loading="lazy">')
    return image.format(quote(place), view, head[1], head[2], printable(title))


def inline(svg: str, title: str) -> Markup:
    """Return an SVG for use inside a page: no prologue, as wide as the page, with a name for screen readers."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r'\swidth="[^"]*"|\sheight="[^"]*"', "", body[: body.index(">")]) + body[body.index(">") :]
    named = f'<svg role="img" aria-label="{Markup.escape(printable(title))}"'
    # The SVG is safe: matplotlib escapes its text.
    return Markup(body.replace("<svg", named, 1))
