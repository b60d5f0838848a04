"""Draws a paper's figures from what was measured: one table per figure, and what is drawn from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from aqmlab import statistics
from aqmlab.plots import style
from aqmlab.plots.model import Figure
from aqmlab.reproduce import studies
from aqmlab.reproduce.figures import MEASURED, Drawing, Panel
from aqmlab.reproduce.names import short_names
from aqmlab.reproduce.reproduction import Reproduction
from aqmlab.reproduce.table import number
from aqmlab.results import Result
from aqmlab.units import parse_rate, parse_size, parse_span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

HEADROOM = 1.06
SWEPT = ("sweep", "cost", "sketch")
AXES = {"time": "Time (s)", "seeds": "Experiment (seed)", "cost": "Flows", "sketch": "Width (counters per row)"}
BEYOND_PAPER = "beyond the paper"
_SCHEMA = {
    "panel": pl.String,
    "aqm": pl.String,
    "group": pl.String,
    "x": pl.Float64,
    "at": pl.String,
    "mean": pl.Float64,
    "ci95_low": pl.Float64,
    "ci95_high": pl.Float64,
}


def draw(reproduction: Reproduction, preset: str) -> list[Figure]:
    """Return the figures of a preset; what was not run or is not asked for is left out."""
    figures = []
    for drawing in reproduction.paper.drawings:
        results = [reproduction.result(preset, panel.scenario) for panel in drawing.panels]
        present = [one for one, panel in zip(results, drawing.panels, strict=True) if one or not panel.scenario]
        if len(present) == len(results) and (reproduction.has_beyond or not drawing.is_measured):
            figures.append(_figure(reproduction, preset, drawing, present))
    return figures


def _figure(reproduction: Reproduction, preset: str, drawing: Drawing, results: Sequence[Result | None]) -> Figure:
    parts = [_table(panel, result) for panel, result in zip(drawing.panels, results, strict=True)]
    table = pl.concat(parts)
    numbers = [_numbers(reproduction, panel) for panel in drawing.panels]
    aqms = [_aqms(panel, result) for panel, result in zip(drawing.panels, results, strict=True)]
    shared = all(panel.kind in MEASURED or panel.scenario in reproduction.beyond for panel in drawing.panels)
    says = f"{drawing.says} " if drawing.says else ""
    return Figure(
        name=drawing.name if shared else f"{drawing.name}-{preset}",
        title=drawing.title,
        caption=f"{says}{BEYOND_PAPER if shared else preset}; {_origin(drawing, results, numbers)}",
        table=table,
        painter=lambda table: _paint(table, drawing.panels, aqms, numbers),
    )


def _origin(drawing: Drawing, results: Sequence[Result | None], numbers: Sequence[dict[str, float]]) -> str:
    if drawing.is_measured:
        return "measured without a simulation; times are this machine's"
    seeds = sorted({len(result.seeds) for result in results if result})
    count = " to ".join(dict.fromkeys((str(seeds[0]), str(seeds[-1]))))
    alone = {panel.seed for panel in drawing.panels}
    if None not in alone:
        return f"one run, seed {', '.join(map(str, alone))}"
    if seeds == [1]:
        return "one run"
    note = "; dashed: the paper's number" if any(numbers) else ""
    return f"mean over {count} seeds, 95 % interval{note}"


def _aqms(panel: Panel, result: Result | None) -> list[str]:
    """Return the short names of the AQMs (or sketches) that a panel shows: disciplines where they are unique."""
    if result is None:
        return [*studies.SKETCHES, *(["bound e / width"] if panel.of == "error" else [])]
    wanted = [aqm.replace("_", "-") for aqm in panel.aqms]
    return [name for name in short_names(result) if not wanted or name in wanted]


def _numbers(reproduction: Reproduction, panel: Panel) -> dict[str, float]:
    claim = next((one for one in reproduction.paper.claims if one.id == panel.numbers), None)
    return {} if claim is None else claim.paper


def _table(panel: Panel, result: Result | None) -> pl.DataFrame:
    rows = _rows(panel, result)
    scaled = [pl.col(name) * panel.scale for name in ("mean", "ci95_low", "ci95_high")]
    return pl.DataFrame(rows, _SCHEMA, orient="row").with_columns(scaled)


def _rows(panel: Panel, result: Result | None) -> list[tuple[Any, ...]]:
    if result is None:
        return [(panel.title, row[0], "", *row[1:]) for row in studies.sketch(panel.of, panel.at)]
    aqms = _aqms(panel, result)
    called = short_names(result)
    labels = [called[aqm] for aqm in aqms]
    if panel.kind == "cost":
        costs = studies.cost(result, aqms, labels, panel.of, panel.at)
        return [(panel.title, row[0], "", *row[1:]) for row in costs]
    make = {"time": _time, "periods": _periods, "seeds": _seeds, "bars": _bars, "sweep": _sweep}[panel.kind]
    return [
        (panel.title, aqm, group, *row)
        for aqm, label in zip(aqms, labels, strict=True)
        for group in panel.classes or ("",)
        for row in make(panel, result, label, f"class.{group}.{panel.of}" if group else panel.of)
    ]


def _series(panel: Panel, result: Result, label: str, name: str) -> pl.DataFrame:
    """Return a series, one column per seed."""
    rows = result.series.filter((pl.col("point") == 0) & (pl.col("aqm") == label) & (pl.col("name") == name))
    if panel.seed is not None:
        rows = rows.filter(pl.col("seed") == panel.seed)
    if panel.until_s is not None:
        rows = rows.filter(pl.col("time_s") <= panel.until_s)
    rows = rows.select("seed", "time_s", "value")
    if panel.cumulative:
        rows = rows.with_columns(pl.col("value").fill_null(0.0).cum_sum().over("seed"))
    if panel.running:
        rows = rows.drop_nulls().with_columns((pl.col("value").cum_sum() / (pl.col("value").cum_count())).over("seed"))
    return rows


def _spread(rows: pl.DataFrame, by: str) -> list[tuple[float, str, float, float, float]]:
    """Return mean and interval over the seeds for each value of a column."""
    value = pl.col("value")
    found = rows.drop_nulls().group_by(by, maintain_order=True)
    spread = found.agg(value.mean().alias("mean"), value.std().alias("deviation"), value.count().alias("n")).sort(by)
    answer = []
    for x, mean, deviation, n in spread.iter_rows():
        half = (deviation or 0.0) * (statistics.t_factor(n) or 0.0)
        answer.append((float(x), "", mean, mean - half, mean + half))
    return answer


def _time(panel: Panel, result: Result, label: str, name: str) -> list[Any]:
    return _spread(_series(panel, result, label, name), "time_s")


def _periods(panel: Panel, result: Result, label: str, name: str) -> list[Any]:
    rows = _series(panel, result, label, name).drop_nulls()
    # A sample stands for what lies before it.
    end = ((pl.col("time_s") - 1e-9) / panel.period_s).floor() * panel.period_s + panel.period_s
    means = rows.with_columns(end.alias("end")).group_by("seed", "end", maintain_order=True).agg(pl.col("value").mean())
    return _spread(means, "end")


def _seeds(panel: Panel, result: Result, label: str, name: str) -> list[Any]:
    del panel
    runs = result.runs.filter((pl.col("point") == 0) & (pl.col("aqm") == label))
    return [
        (float(seed), "", value, value, value) for seed, value in runs.select("seed", name).drop_nulls().iter_rows()
    ]


def _bars(panel: Panel, result: Result, label: str, name: str) -> list[Any]:
    return [row for row in _sweep(panel, result, label, name) if row[0] == 0.0]


def _sweep(panel: Panel, result: Result, label: str, name: str) -> list[Any]:
    answer: list[Any] = []
    if name not in result.runs.columns:
        return answer
    value = pl.col(name) / pl.col(panel.over) if panel.over else pl.col(name)
    for place, point in enumerate(result.points):
        runs = result.runs.filter((pl.col("point") == place) & (pl.col("aqm") == label))
        values = runs.select(value.alias("value"))["value"].drop_nulls().to_list()
        if values:
            one = statistics.mean(values)
            low, high = (one.value if end is None else end for end in (one.low, one.high))
            answer.append((float(place), ", ".join(point.values()), one.value, low, high))
    return answer


def _paint(
    table: pl.DataFrame, panels: Sequence[Panel], aqms: Sequence[Sequence[str]], numbers: Sequence[dict[str, float]]
) -> Canvas:
    canvas, axes = style.panels(len(panels))
    labels = list(dict.fromkeys(aqm for names in aqms for aqm in names))
    colours, dashes = style.colours(labels), style.dashes(labels)
    painters: dict[str, Callable[..., None]] = {
        "time": _paint_lines,
        "seeds": _paint_lines,
        "sweep": _paint_lines,
        "cost": _paint_lines,
        "sketch": _paint_lines,
        "bars": _paint_bars,
        "periods": _paint_periods,
    }
    for panel, own, names, given in zip(panels, axes, aqms, numbers, strict=True):
        rows = table.filter(pl.col("panel") == panel.title)
        painters[panel.kind](own, panel, rows, names, colours, dashes, given)
        own.set_ylabel(panel.label)
        own.set_title(panel.title, fontsize=10, loc="left")
        if panel.logarithmic:
            own.set_yscale("log")
        else:
            own.set_ylim(bottom=panel.bottom, top=panel.top or own.dataLim.y1 * HEADROOM)
    fullest = max(range(len(panels)), key=lambda place: len(aqms[place]))
    style.legend(canvas, axes[fullest])
    return canvas


def _paint_lines(
    axes: Axes,
    panel: Panel,
    rows: pl.DataFrame,
    aqms: Sequence[str],
    colours: dict[str, str],
    dashes: dict[str, Any],
    numbers: dict[str, float],
) -> None:
    ticks: dict[float, str] = {}
    for aqm in aqms:
        own = rows.filter(pl.col("aqm") == aqm)
        for rank, group in enumerate(own["group"].unique(maintain_order=True)):
            part = own.filter(pl.col("group") == group)
            x = part["x"].to_numpy()
            if panel.kind in SWEPT:
                x, ticks = _places(part, ticks)
            dash = dashes[aqm] if rank == 0 else (0, (2, 1))
            label = aqm if rank == 0 else None
            marker = None if panel.kind == "time" else "o"
            mean = part["mean"].to_numpy()
            if panel.logarithmic:
                mean = np.where(mean > 0.0, mean, np.nan)
            axes.plot(x, mean, color=colours[aqm], linestyle=dash, label=label, marker=marker, markersize=4)
            if panel.kind != "seeds":
                axes.fill_between(x, part["ci95_low"], part["ci95_high"], color=colours[aqm], alpha=0.13, linewidth=0)
        if aqm in numbers:
            axes.axhline(numbers[aqm], color=colours[aqm], linestyle=(0, (6, 4)), linewidth=0.9, alpha=0.8)
    axes.set_xlabel(panel.across or AXES.get(panel.kind, ""))
    if panel.kind in SWEPT and ticks:
        _name_places(axes, ticks)
    elif panel.kind == "time":
        axes.margins(x=0)


def _places(rows: pl.DataFrame, ticks: dict[float, str]) -> tuple[Any, dict[float, str]]:
    """Return where the points of a sweep stand: by their size where they are quantities, else by their order."""
    sizes = [_size(at) for at in rows["at"]]
    if all(size is not None and size > 0 for size in sizes):
        known = {float(size): at for size, at in zip(sizes, rows["at"], strict=True) if size is not None}
        return np.array([float(size) for size in sizes if size is not None]), {**ticks, **known}
    return rows["x"].to_numpy(), {**ticks, **dict(zip(rows["x"], rows["at"], strict=True))}


def _size(text: str) -> float | None:
    for read in (float, parse_rate, parse_span, lambda text: parse_size(text)[0]):
        try:
            return float(read(text))
        except ValueError:
            continue
    return None


def _name_places(axes: Axes, ticks: dict[float, str]) -> None:
    places = sorted(ticks)
    if len(places) > 2 and places[0] > 0 and places[-1] / places[0] >= 10:
        axes.set_xscale("log")
        axes.minorticks_off()
    longest = max(len(text) for text in ticks.values())
    axes.set_xticks(places, [ticks[place] for place in places], rotation=30 if longest * len(places) > 24 else 0)


def _paint_bars(
    axes: Axes,
    panel: Panel,
    rows: pl.DataFrame,
    aqms: Sequence[str],
    colours: dict[str, str],
    dashes: dict[str, Any],
    numbers: dict[str, float],
) -> None:
    del panel
    # Colours that come again have another dash in lines and are hatched in bars.
    hatches = {aqm: "" if dash == "solid" else "//" for aqm, dash in dashes.items()}
    for place, aqm in enumerate(aqms):
        own = rows.filter(pl.col("aqm") == aqm)
        for mean, low, high in own.select("mean", "ci95_low", "ci95_high").iter_rows():
            ends = [[max(mean - low, 0.0)], [max(high - mean, 0.0)]]
            bar: dict[str, Any] = {"color": colours[aqm], "hatch": hatches[aqm], "edgecolor": "white"}
            axes.bar(place, mean, 0.66, label=aqm, yerr=ends, ecolor=style.INK, capsize=3, **bar)
            axes.annotate(number(mean), (place, high), (0, 3), textcoords="offset points", ha="center", fontsize=8)
        if aqm in numbers:
            axes.hlines(numbers[aqm], place - 0.45, place + 0.45, color=style.INK, linestyle=(0, (3, 2)), linewidth=1.2)
    crowded = len(aqms) > 6 or sum(map(len, aqms)) > 32
    axes.set_xticks(range(len(aqms)), aqms, rotation=30 if crowded else 0, ha="right" if crowded else "center")
    axes.grid(visible=False, axis="x")


def _paint_periods(
    axes: Axes,
    panel: Panel,
    rows: pl.DataFrame,
    aqms: Sequence[str],
    colours: dict[str, str],
    dashes: dict[str, Any],
    numbers: dict[str, float],
) -> None:
    del dashes, numbers
    ends = rows["x"].unique().sort().to_list()
    width = 0.8 / max(len(aqms), 1)
    groups = rows["group"].unique(maintain_order=True).to_list()
    for place, aqm in enumerate(aqms):
        bottom = np.zeros(len(ends))
        for rank, group in enumerate(groups):
            part = rows.filter((pl.col("aqm") == aqm) & (pl.col("group") == group)).sort("x")
            x = np.arange(len(ends)) + (place - (len(aqms) - 1) / 2) * width
            mean = part["mean"].to_numpy()
            alpha = 1.0 if rank == 0 else 0.45
            label = aqm if rank == 0 else None
            axes.bar(x, mean, width * 0.92, bottom=bottom, color=colours[aqm], alpha=alpha, label=label)
            bottom = bottom + mean
    axes.set_xticks(range(len(ends)), [f"{end - panel.period_s:g} to {end:g}" for end in ends])
    axes.set_xlabel("Time (s)" + (f"; strong: {groups[0]}, pale: {groups[1]}" if len(groups) == 2 else ""))
    axes.grid(visible=False, axis="x")
