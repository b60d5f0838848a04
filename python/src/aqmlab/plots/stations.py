"""Stations of Wi-Fi: what each takes of the air, in which layer its packets wait, and how long they take."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aqmlab.plots import cdf
from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Axis, Panel
from aqmlab.results import groups, stations
from aqmlab.vocabulary.errors import InputError, did_you_mean
from aqmlab.vocabulary.scopes import of_group, of_station

ALL = "all"
DELAYS = ("owd_ms", "qdelay_ms", "pdv_ms")
# More stations have no panel: those whose packets wait longest have one.
MOST_PANELS = 6
MOST_BESIDE = 3
# Above the highest bar is room for its number.
HEADROOM = 1.1


def _estimates(curves: Sequence[Curve], kind: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return the means of some metrics of every station."""
    rows = [
        (curve.label, name, row.metric.rpartition(".")[2], row.estimate.value)
        for curve in curves
        for name in stations.names(curve.result.rows)
        for row in curve.result.rows
        if (row.point, row.aqm) == (curve.point, curve.aqm)
        and row.metric in {of_station(name).metric(column) for column in columns}
    ]
    if not rows:
        raise InputError(f"{kind}: the result has no stations: its link is not Wi-Fi")
    return pl.DataFrame(rows, ["aqm", "station", "metric", "mean"], orient="row")


def _only(kind: str, column: str, known: Sequence[str]) -> None:
    if column not in known:
        raise InputError(f"{kind}: there is no '{column}'{did_you_mean(column, known)}; known are {', '.join(known)}")


def _airtime(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    _only("airtime", column, [stations.SHARE])
    return _estimates(curves, "airtime", [column]).drop("metric")


def _airtime_panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del column, warmup_s
    names = tuple(table["station"].unique(maintain_order=True))
    shares = Axis("Share of the air (share)", 0.0, 1.0)
    return [Panel("parts", "aqm", "mean", _places(labels), shares, by="station", labels=names)]


def _layers(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    _only("layers", column, [ALL, *stations.LAYERS])
    wanted = tuple(stations.LAYERS) if column == ALL else (column,)
    table = _estimates(curves, "layers", wanted)
    return table.select("aqm", "station", pl.col("metric").replace(stations.LAYERS).alias("layer"), "mean")


def _layer_panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del column, warmup_s
    waits = table.group_by("station", "aqm", maintain_order=True).agg(pl.col("mean").sum())
    longest = waits.group_by("station", maintain_order=True).agg(pl.col("mean").max())
    by_wait = longest.sort("mean", descending=True, maintain_order=True)["station"][:MOST_PANELS].to_list()
    shown = [name for name in longest["station"] if name in by_wait]
    largest = longest["mean"].to_numpy().max()
    # All have the same axis: a fast and a slow station are compared.
    delays = Axis("Mean delay (ms)", 0.0, HEADROOM * float(largest) or 1.0)
    layers = tuple(name for name in stations.LAYERS.values() if table.filter(layer=name)["mean"].max() != 0.0)
    return [
        Panel(
            "parts",
            "aqm",
            "mean",
            _places(labels),
            delays,
            title=title,
            rows={"station": name},
            by="layer",
            labels=layers,
        )
        for name, title in _titles(shown, len(longest)).items()
    ]


def _titles(shown: Sequence[str], known: int) -> dict[str, str]:
    """Return the titles of the stations that have a panel; that of the last counts those that have none.

    >>> _titles(["near", "far"], 9)
    {'near': 'near', 'far': 'far (7 more are in the table)'}

    """
    titles = {name: name for name in shown}
    if known > len(shown):
        titles[shown[-1]] += f" ({known - len(shown)} more are in the table)"
    return titles


def _beside(table: pl.DataFrame) -> int:
    count = min(table["station"].n_unique(), MOST_PANELS)
    return -(-count // -(-count // MOST_BESIDE))


def _places(labels: Sequence[str]) -> Axis:
    return Axis(ticks={label: float(place) for place, label in enumerate(labels)})


def _delays(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    """Return the distribution of a delay over the packets to each station, by the groups of flows that go there."""
    _only("stations", column, DELAYS)
    parts = []
    for curve in curves:
        known = stations.names(curve.result.rows)
        if not known:
            raise InputError("stations: the result has no stations: its link is not Wi-Fi")
        for name in known:
            found = cdf.thinned(*cdf.merged(curve, _histograms(curve, name, column)), column)
            parts.append(found.select(pl.lit(curve.label).alias("aqm"), pl.lit(name).alias("station"), pl.all()))
    table = pl.concat(parts)
    if table.is_empty():
        raise InputError("stations: no group of flows goes to one station; to= says to which")
    return table


def _histograms(curve: Curve, station: str, column: str) -> list[str]:
    """Return the histograms of the groups that go to a station; a single group's is that of all packets."""
    delay = column.removesuffix("_ms")
    every = curve.result.scenarios[curve.point].get(groups.KEY, ())
    own = [group["name"] for group in every if group["keys"].get("to") == station]
    if len({group["name"] for group in every}) == 1:
        return [delay] if own else []
    return [of_group(name).metric(delay) for name in own]


def _delay_panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del warmup_s
    across = cdf.axis(table, column, cdf.title_of(column))
    shares = Axis("Share of packets", 0.0, 1.02)
    known = table["station"].unique(maintain_order=True).to_list()
    return [
        Panel("step", column, "share", across, shares, title=title, rows={"station": name}, labels=tuple(labels))
        for name, title in _titles(known[:MOST_PANELS], len(known)).items()
    ]


AIRTIME = FigureKind(
    "airtime",
    "Who has the air",
    stations.SHARE,
    "; the time of transmissions to and from each station, of that of all",
    _airtime,
    _airtime_panels,
    height_in=3.6,
    is_occasional=True,
)
LAYERS = FigureKind(
    "layers",
    "Where packets wait",
    ALL,
    "",
    _layers,
    _layer_panels,
    height_in=2.9,
    columns=_beside,
    is_occasional=True,
)
KIND = FigureKind(
    "stations",
    "How long packets to each station take",
    "owd_ms",
    "",
    _delays,
    _delay_panels,
    columns=_beside,
    is_occasional=True,
)
