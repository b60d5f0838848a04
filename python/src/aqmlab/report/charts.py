"""The numbers of a report's interactive charts: what the page's script reads, as small as their pixels allow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from aqmlab import plots
from aqmlab.plots.label_styles import label_styles
from aqmlab.plots.panel import Axis
from aqmlab.report import sweep
from aqmlab.report.rounding import short
from aqmlab.results import swept
from aqmlab.results.full_ports import at_fullest
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.scopes import Scope

if TYPE_CHECKING:
    from aqmlab.results import Result

# Samples of a distribution and of a series: two or three pixels each.
DELAYS = 160
TIMES = 300
# Series of the whole that are shown, beside the groups' goodput and the disciplines' own variables.
CARRIED = "throughput_mbit"
SERIES = ("qdelay_ms", "queue_packets", "goodput_mbit", CARRIED, "drops", "marks", "jain_index", "rtt_ms")
# Beside them the variables of disciplines, and what groups get and ports hold.
PARTS = re.compile(r"probe\..*|class\..*\.goodput_mbit|port\..*\.qdelay_ms")
TITLES = {"qdelay": "Queue delay", "owd": "One-way delay", "pdv": "Delay variation", "ping": "Ping"}


def data(result: Result) -> dict[str, Any]:
    """Return the AQMs with their styles, the sweep, and for few scenarios each its distributions, series and runs."""
    known = label_styles(result.aqms)
    points = [] if len(result.points) > swept.MOST_TABLES else list(enumerate(result.points))
    fairness = _fairness(result) if points else []
    return {
        "aqms": [
            {"label": aqm, "name": aqm, "colour": known[aqm].colour, "dash": known[aqm].dash} for aqm in result.aqms
        ],
        "points": [
            {
                "name": ", ".join(f"{key} {value}" for key, value in values.items()),
                "warmup": result.warmup_s(point),
                # What charts show at first, where a port after the first is the one that the answer is about.
                "first": {
                    "delays": at_fullest(result, point, "qdelay_ms").removesuffix("_ms"),
                    "series": at_fullest(result, point, "qdelay_ms"),
                    "runs": at_fullest(result, point, "qdelay_mean_ms"),
                },
                "delays": _delays(result, point),
                "series": _series(result, point),
                "runs": _runs(result, point),
                "fairness": fairness[point : point + 1],
            }
            for point, values in points
        ],
        "sweep": sweep.data(result) if len(result.points) > 1 else None,
    }


def _delays(result: Result, point: int) -> list[dict[str, Any]]:
    """Return each delay's share of packets below some values, for each AQM."""
    rows = result.histograms.filter(
        (pl.col("point") == point) & (pl.col("name").str.contains(r"^(.*\.)?(qdelay|owd|pdv|ping)$"))
    )
    merged = rows.group_by("name", "aqm", "value_ns").agg(pl.col("count").sum()).sort("value_ns")
    parts = merged.partition_by("name", "aqm", as_dict=True, maintain_order=True)
    found = []
    for name in sorted({str(key[0]) for key in parts}, key=_delay_rank):
        own = {str(aqm): part for (of, aqm), part in parts.items() if of == name}
        largest = max(part["value_ns"].to_numpy()[-1] for part in own.values()) / 1e6
        if largest <= 0.0:
            continue
        least = min(_early(part) for part in own.values()) / 1e6
        at = np.geomspace(min(max(least, largest / 1e4), largest / 2), largest, DELAYS)
        title, factor = Axis(_delay_title(name)).readable(largest)
        found.append(
            {
                "name": name,
                "title": title,
                "x": short(at * factor),
                "y": [_below(own.get(aqm), at) for aqm in result.aqms],
            }
        )
    return found


def _delay_rank(name: str) -> tuple[str, int]:
    """Return the rank of a delay: those of all packets come before those of groups."""
    group, _, delay = name.rpartition(".")
    return group, list(TITLES).index(delay)


def _early(part: pl.DataFrame) -> float:
    """Return what a hundredth of the packets are not above, in nanoseconds."""
    counts = np.cumsum(part["count"].to_numpy())
    return float(part["value_ns"].to_numpy()[np.searchsorted(counts, counts[-1] / 100)])


def _below(part: pl.DataFrame | None, at: Any) -> list[float | None] | None:
    if part is None:
        return None
    counts = np.concatenate([[0], np.cumsum(part["count"].to_numpy())])
    places = np.searchsorted(part["value_ns"].to_numpy() / 1e6, at, side="right")
    return short(counts[places] / counts[-1], 5)


def _delay_title(name: str) -> str:
    group, _, delay = name.rpartition(".")
    scope = Scope.of_prefix(group)
    return f"{TITLES[delay]}{f' of {scope.name}' if scope else ''} (ms)"


def _series(result: Result, point: int) -> list[dict[str, Any]]:
    """Return each series, averaged over the seeds and over neighbours."""
    has_goodput = "goodput_mbit" in result.runs.columns
    whole = [name for name in SERIES if result.shows(point, name) and (name != CARRIED or not has_goodput)]
    wanted = [name for name in result.series_names if name in whole or PARTS.fullmatch(name)]
    rows = result.series_of(wanted).filter(pl.col("point") == point)
    if rows.is_empty():
        return []
    end = float(rows["time_s"].to_numpy().max())
    # Bins between samples would be empty.
    count = min(TIMES, rows["time_s"].n_unique())
    step = max(end / count, 1e-9)
    binned = rows.with_columns(
        ((pl.col("time_s") / step - 1e-6).floor().clip(0, count - 1)).cast(pl.UInt32).alias("bin")
    )
    means = binned.group_by("name", "aqm", "bin").agg(pl.col("value").mean()).sort("bin")
    parts = means.partition_by("name", "aqm", as_dict=True, maintain_order=True)
    names = {str(key[0]) for key in parts}
    rank = {name: place for place, name in enumerate(SERIES)}
    found = []
    for name in sorted(names, key=lambda name: (rank.get(name, len(rank)), name)):
        known = [part["value"].to_numpy() for (of, _), part in parts.items() if of == name]
        largest = max(float(np.fmax.reduce(values, initial=0.0)) for values in known)
        title, factor = Axis(_series_title(name)).readable(largest)
        lines: list[list[float | None] | None] = []
        for aqm in result.aqms:
            part = parts.get((name, aqm))
            if part is None:
                lines.append(None)
                continue
            values = np.full(count, np.nan)
            values[part["bin"].to_numpy()] = part["value"].to_numpy() * factor
            lines.append(short(values))
        found.append({"name": name, "title": title, "x": short((np.arange(count) + 0.5) * step), "y": lines})
    return found


def _series_title(name: str) -> str:
    if name.startswith("probe."):
        return f"Variable: {name.removeprefix('probe.').replace('_', ' ')}"
    return metrics.series_title(name)


def _runs(result: Result, point: int) -> list[dict[str, Any]]:
    """Return each metric of every run."""
    runs = result.runs.filter(pl.col("point") == point)
    parts = runs.partition_by("aqm", as_dict=True, maintain_order=True)
    found = []
    for name in result.frames.metrics:
        if runs[name].null_count() == len(runs):
            continue
        metric = metrics.find(name)
        title, factor = Axis(metric.title).readable(float(np.nanmax(runs[name].cast(pl.Float64).to_numpy())))
        values = [short(parts[aqm,][name].to_numpy() * factor) if (aqm,) in parts else [] for aqm in result.aqms]
        found.append({"name": name, "title": title, "better": metric.better, "y": values})
    return found


def _fairness(result: Result) -> list[dict[str, Any]]:
    """Return for each scenario what flows get by their round-trip time, as it is drawn; nothing if that is not."""
    try:
        figures = plots.figures("fairness", [result])
    except InputError:
        return []
    found = []
    for figure in figures:
        x = figure.table.select(pl.col("rtt_base_ms").unique().sort())
        own = [
            x.join(figure.table.filter(aqm=name), on="rtt_base_ms", how="left", maintain_order="left")
            for name in result.aqms
        ]
        ends = (("y", "mean"), ("low", "ci95_low"), ("high", "ci95_high"))
        lines = {end: [short(part[column].to_numpy()) for part in own] for end, column in ends}
        found.append({"title": figure.panels[0].y_axis.label, "x": short(x["rtt_base_ms"].to_numpy()), **lines})
    return found
