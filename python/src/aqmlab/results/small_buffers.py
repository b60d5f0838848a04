"""Warnings about buffers: a queue law with far less room than its own default, which loses goodput for it.

All AQMs of a comparison get the same buffer (RFC 7928 section 3.2), usually one bandwidth-delay product. A law that is
deployed with room for thousands of packets may react to a full queue as it hardly ever has to there: BLUE in CAKE
raises its probability whenever the buffer overflows, and lowers it only when the queue of a flow is found empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from aqmlab.results.frames import Frames
from aqmlab.results.headline import percent
from aqmlab.scenario import registry
from aqmlab.scenario.registry import Discipline
from aqmlab.vocabulary.units import Size

# A buffer is far below the default of a law if that is so many times as much.
FAR = 10
# The share of the goodput of the best from which on a loss of it is worth a line.
LOST = 0.1
GOODPUT = "goodput_mbit"
OVERFLOWS = "dropped_overflow_packets"


@dataclass(frozen=True)
class SmallBuffer:
    """An AQM in a scenario whose buffer is far below its default, and the share of goodput that the best has more."""

    point: int
    label: str
    limit: str
    default: str
    lost: float
    best: str
    instead: str


def warnings(manifest: Mapping[str, Any], frames: Frames) -> list[str]:
    """Return a line for each AQM that overflowed such a buffer, with the command that gives it its default."""
    found: dict[str, list[SmallBuffer]] = {}
    for one in _small_buffers(manifest["points"], frames):
        found.setdefault(one.label, []).append(one)
    return [_words(same, manifest["points"]) for same in found.values()]


def _words(same: Sequence[SmallBuffer], points: Sequence[Mapping[str, Any]]) -> str:
    worst = max(same, key=lambda one: one.lost)
    place = ", ".join(f"{name} {value}" for name, value in points[worst.point]["point"].items())
    where = f" at {place} ({len(same)} of {len(points)} settings)" if place else ""
    lost = percent(worst.lost)
    return (
        f"{worst.label} overflows a buffer of {worst.limit} and has {lost} less goodput than {worst.best}"
        f"{where}; its own default is {worst.default}: try --aqm '{worst.instead}' --allow-unequal-buffers"
    )


def _small_buffers(points: Sequence[Mapping[str, Any]], frames: Frames) -> Iterator[SmallBuffer]:
    queues, runs = frames.queues, frames.runs
    # Where stations share the air, what a packet costs decides more than the room for it.
    if (
        OVERFLOWS not in queues.columns
        or GOODPUT not in runs.columns
        or any(name.startswith("station.") for name in runs.columns)
    ):
        return
    goodputs = {(point, aqm): value for point, aqm, value in _means(runs).iter_rows()}
    for point, entry in enumerate(points):
        contestants, buffer = entry["scenario"]["aqm"], entry["scenario"]["buffer"]
        own = {aqm["label"]: goodputs.get((point, aqm["label"])) or 0.0 for aqm in contestants}
        best = max(own, key=lambda label: own[label])
        for aqm in contestants:
            label = aqm["label"]
            # One with a limit of its own has the one that the user chose.
            is_given = aqm["params"].get("limit") != buffer or "limit" in label.split()
            if is_given or own[label] >= (1.0 - LOST) * own[best]:
                continue
            law = _law(aqm["name"])
            if law is None:
                continue
            default = next(one.default for one in law.params if one.name == "limit")
            if _is_far(buffer, default) and _overflows(queues, point, aqm):
                instead = _instead(aqm, buffer, default)
                yield SmallBuffer(point, label, buffer, default, 1.0 - own[label] / own[best], best, instead)


def _means(runs: pl.DataFrame) -> pl.DataFrame:
    return runs.group_by("point", "aqm").agg(pl.col(GOODPUT).mean())


def _law(name: str) -> Discipline | None:
    """Return a discipline of the list that has a law, which a full buffer may mislead, and a limit of its own."""
    listed = (one for one in (*registry.disciplines(), *registry.of_papers()) if one.name == name)
    return next((one for one in listed if one.traits["signals"] and one.has_limit), None)


def _is_far(limit: str, default: str) -> bool:
    here, own = Size.parse(limit), Size.parse(default)
    return here.in_packets == own.in_packets and here.count * FAR <= own.count


def _overflows(queues: pl.DataFrame, point: int, aqm: Mapping[str, Any]) -> bool:
    is_own = (pl.col("point") == point) & (pl.col("aqm") == aqm["label"])
    own = queues.filter(is_own & pl.col("discipline").str.starts_with(aqm["name"]))
    return bool(own[OVERFLOWS].sum() > 0)


def _instead(aqm: Mapping[str, Any], limit: str, default: str) -> str:
    """Return the same AQM with its default limit, as one writes it.

    >>> _instead({"label": "cake rtt 20ms", "name": "cake"}, "83p", "10240p")
    'cake rtt 20ms limit 10240p'

    """
    label = str(aqm["label"])
    if label.split(maxsplit=1)[0].partition(":")[0] == aqm["name"]:
        return f"{label} limit {default}"
    return f"{label}={aqm['spec'].replace(f'limit {limit}', f'limit {default}')}"


__all__ = ["SmallBuffer", "warnings"]
