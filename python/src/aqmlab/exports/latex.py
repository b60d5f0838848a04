"""A table for a paper: means with their intervals in LaTeX, with the rules of booktabs and the numbers of siunitx."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from aqmlab.results.full_ports import columns_over_settings
from aqmlab.results.metric_tables import ABSENT, COLUMNS, FLOW_COLUMNS, Cell, Column, Lines, filled, in_units, line
from aqmlab.results.setting_line import setting_line, sweep_line
from aqmlab.results.summary import Row
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import unknown
from aqmlab.vocabulary.printable import printable

if TYPE_CHECKING:
    from aqmlab.results import Result

TABLE = "table.tex"
# What a table has unless metrics are named: as much as fits the text of a page.
USUAL = ("goodput_mbit", "qdelay_mean_ms", "qdelay_p99_ms", "loss_ratio", "marks", "fct_mean_s")
# Says in the file of how many runs it is.
_OF_RUNS = "%% Of {} runs.\n"
_KNOWN = {column.metric: column for column in (*COLUMNS, *FLOW_COLUMNS)}
# Of letters with a meaning in TeX. A bracket after the end of a line would be an argument, `*` too.
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", "*": "{*}", '"': r"\textquotedblright{}",
}  # fmt: skip
_PREAMBLE = r"""% \usepackage{booktabs,siunitx,etoolbox}
% \robustify\bfseries
% \sisetup{detect-weight=true, separate-uncertainty=true}
"""


def latex(result: Result, names: Sequence[str] = ()) -> dict[str, bytes]:
    """Return the file ``TABLE``: a line for each AQM, in a sweep below each scenario, and a column for each metric.

    Bold is the best where it is ahead of every other beyond chance; percentiles, of which runs are no sample, are not
    compared.

    Args:
        result: the runs.
        names: metrics, instead of the usual.

    Raises:
        InputError: if the result has no such metric.

    """
    known = metrics.ordered({row.metric for row in result.rows})
    for name in names:
        if name not in known:
            raise unknown("metric", name, known)
    wanted = [_KNOWN.get(name) or _column(name) for name in dict.fromkeys(names or USUAL)]
    shown = in_units(wanted, result.rows)
    if not names:
        shown = columns_over_settings(result, shown)
    rows: dict[tuple[int, str], list[Row]] = {}
    for row in result.rows:
        rows.setdefault((row.point, row.aqm), []).append(row)
    every: dict[tuple[str, ...], dict[str, Cell]] = {
        (str(point), aqm): line(rows.get((point, aqm), []), "", shown)
        for point in range(len(result.points))
        for aqm in result.aqms
    }
    columns = filled(shown, every)
    if not names and not any(row.estimate.value for row in result.rows if row.metric == "marks"):
        columns = [column for column in columns if metrics.split(column.metric)[1] != "marks"]
    best = _best(result)
    swept = list(result.points[0])
    formats = "".join(_format(column, every.values()) for column in columns)
    lines = [
        r"\begin{table}",
        r"\centering",
        r"\small",
        r"\setlength{\tabcolsep}{4pt}",
        rf"\caption{{{escaped(_caption(result, columns, every))}}}",
        rf"\begin{{tabular}}{{{'l' * (len(swept) + 1)}{formats}}}",
        r"\toprule",
        *_heads([name.replace("_", " ").capitalize() for name in swept], columns),
    ]
    for point, values in enumerate(result.points):
        lines.append(r"\midrule")
        for place, aqm in enumerate(result.aqms):
            settings = [escaped(value) if place == 0 else "" for value in values.values()]
            cells = [
                _written(every[str(point), aqm][column.metric], is_best=best.get((point, column.metric)) == aqm)
                for column in columns
            ]
            lines.append(f"{' & '.join([*settings, escaped(aqm), *cells])} \\\\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return {TABLE: (_OF_RUNS.format(len(result.runs)) + _PREAMBLE + "\n".join(lines) + "\n").encode()}


def is_stale(result: Result, content: bytes) -> bool:
    """Return whether a table is of fewer or more runs than a result has, since seeds or AQMs were added."""
    first = content.decode(errors="replace").splitlines(keepends=True)[:1]
    return first != [_OF_RUNS.format(len(result.runs))]


def escaped(text: str) -> str:
    r"""Return a text as TeX sets it, letter by letter.

    >>> print(escaped("fq_codel 50%"))
    fq\_codel 50\%

    """
    return "".join(_ESCAPES.get(letter, letter) for letter in printable(text))


def _column(name: str) -> Column:
    metric = metrics.find(name)
    scale, unit, decimals = (100.0, "%", 2) if metric.is_share else (1.0, metric.unit, metric.decimals)
    return Column(name, metric.label, unit, scale, decimals)


def _best(result: Result) -> dict[tuple[int, str], str]:
    """Return of each scenario and metric the AQM that is ahead of every other."""
    return {
        (one.point, one.metric): one.aqms[0]
        for one in result.rankings
        if metrics.find(one.metric).better and len(one.behind(one.aqms[0])) == len(one.aqms) - 1
    }


def _caption(result: Result, columns: Sequence[Column], lines: Lines) -> str:
    counts = sorted({row.runs for row in result.rows})
    seeds = " to ".join(dict.fromkeys((str(counts[0]), str(counts[-1])))) if counts else "0"
    setting = sweep_line(result) if result.points[0] else setting_line(result)
    title = f"{result.title}: {setting.replace(' · ', '; ')}"
    if seeds == "1":
        return f"{title}."
    words = [f"{title}. Means of {seeds} seeds with half their 95 % intervals"]
    percentiles = [column.metric for column in columns if metrics.find(column.metric).is_percentile]
    if percentiles:
        words[0] += "; percentiles of all runs together"
        if any(line[name] != ABSENT and not line[name].half for line in lines.values() for name in percentiles):
            words[0] += ", without an interval where so few runs do not bound it"
    if len(result.aqms) > 1:
        words.append("Bold: better than every other by paired tests with Holm's correction, not by these intervals")
    return f"{'. '.join(words)}."


def _heads(swept: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """Return the lines of titles, which neighbours share, and of units."""
    first, second, rules = [escaped(name) for name in (*swept, "AQM")], [""] * (len(swept) + 1), []
    place = 0
    while place < len(columns):
        title = columns[place].title
        count = 1
        while place + count < len(columns) and columns[place + count].title == title:
            count += 1
        first.append(rf"\multicolumn{{{count}}}{{c}}{{{escaped(title)}}}")
        if count > 1:
            start = len(swept) + 2 + place
            rules.append(rf"\cmidrule(lr){{{start}-{start + count - 1}}}")
        second += [f"{{{escaped(column.unit)}}}" for column in columns[place : place + count]]
        place += count
    return [f"{' & '.join(first)} \\\\", *rules, f"{' & '.join(second)} \\\\"]


def _format(column: Column, lines: Iterable[Mapping[str, Cell]]) -> str:
    """Return the column's type: room for the digits of its largest number and of its widest interval."""
    cells = [line[column.metric] for line in lines]
    numbers = [cell.value for cell in cells if cell != ABSENT]
    whole = max(len(number.partition(".")[0]) for number in numbers)
    decimals = max(len(number.partition(".")[2]) for number in numbers)
    halves = [len(re.sub(r"\D", "", cell.half).lstrip("0")) for cell in cells if cell.half]
    interval = f"({max(*halves, 1)})" if halves else ""
    return f"S[table-format={whole}.{decimals}{interval}]"


def _written(cell: Cell, *, is_best: bool) -> str:
    if cell == ABSENT:
        return "{--}"
    number = f"{cell.value} +- {cell.half}" if cell.half else cell.value
    return rf"\bfseries {number}" if is_best else number


__all__ = ["TABLE", "escaped", "is_stale", "latex"]
