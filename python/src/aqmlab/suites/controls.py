"""Suites of congestion controls: what a file sweeps as ``$control`` becomes what is compared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from aqmlab.results import Result
from aqmlab.results.frames import plain
from aqmlab.vocabulary.errors import about

SWEPT = "control"
# Keys that scenarios give themselves.
SHARED = ("name", "size", "start", "spacing", "stop", "rtt")


def parse(text: str) -> str:
    """Read a control as the scenarios name it: a kind of flow with keys, without their number.

    Raises:
        InputError: if it has a number of flows or a name of its own: both are the scenarios'.

    >>> parse("1*bbr3:pacing=on")
    'bbr3:pacing=on'

    """
    count, star, rest = (part.strip() for part in text.rpartition("*"))
    if star and count.strip() != "1":
        raise about("flows", f"'{text}': the scenarios say how many; as 1*{rest} or {rest}")
    head, *pairs = rest.split(":")
    named = [pair for pair in pairs if pair.partition("=")[0].strip() in SHARED]
    if named:
        raise about("flows", f"'{text}': {named[0]} is the scenarios' to say")
    if not head:
        raise about("flows", f"'{text}' names no kind of flow; as cubic or 1*bbr3:pacing=on")
    return rest


def by_control(result: Result, traffic: Sequence[str]) -> Result:
    """Return a result over controls with them as what is compared, and the disciplines among its settings.

    ``traffic`` is the flows of all of them, with ``$control``.
    """
    settings: list[tuple[dict[str, str], str, dict[str, Any]]] = []
    places: list[tuple[int, str, int, str]] = []
    found: dict[tuple[tuple[tuple[str, str], ...], str], int] = {}
    controls = list(dict.fromkeys(point[SWEPT] for point in result.points))
    for (number, point), aqm in itertools.product(enumerate(result.points), result.aqms):
        rest = {key: value for key, value in point.items() if key != SWEPT}
        key = (tuple(rest.items()), aqm)
        if key not in found:
            found[key] = len(settings)
            shown = {**({"aqm": aqm} if len(result.aqms) > 1 else {}), **rest}
            settings.append((shown, aqm, result.scenarios[number]))
        places.append((number, aqm, found[key], point[SWEPT]))
    more = {"traffic": list(traffic)}
    points = [
        {"point": shown, "scenario": {**scenario, "aqm": _contestants(controls), **more, "discipline": aqm}}
        for shown, aqm, scenario in settings
    ]
    frames = replace(result.frames.each(lambda frame: _moved(frame, places)).sorted(controls), swept=())
    return replace(result, manifest={**result.manifest, "points": points}, frames=frames)


def _contestants(controls: Sequence[str]) -> list[dict[str, str]]:
    return [{"label": one, "spec": one, "name": one, "preset": ""} for one in controls]


def _moved(frame: pl.DataFrame, places: Sequence[tuple[int, str, int, str]]) -> pl.DataFrame:
    """Give every row its new point and name; columns stay in their order."""
    kinds: dict[str, Any] = {
        "point": frame.schema["point"],
        "aqm": pl.String,
        "to": frame.schema["point"],
        "control to": pl.String,
    }
    moves = pl.DataFrame(places, schema=kinds, orient="row")
    joined = plain(frame).join(moves, on=["point", "aqm"], how="inner", maintain_order="left")
    moved = joined.with_columns(point=pl.col("to"), aqm=pl.col("control to"))
    return moved.select(name for name in frame.columns if name != SWEPT)


__all__ = ["SWEPT", "by_control", "parse"]
