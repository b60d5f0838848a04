"""What a format gives, and the result that is made of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from aqmlab.results import Result
from aqmlab.results.frames import RUN, SCHEMAS, Frames

# The label of what does not say which discipline it met.
UNNAMED = "measured"
Reals: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class FormatError(ValueError):
    """What is wrong with a file, as a sentence without a subject."""


@dataclass(frozen=True)
class Measured:
    """What was measured with one discipline.

    Attributes:
        aqm: the discipline, or `UNNAMED`.
        times_s: times of the series.
        series: its columns, as in results: NaN is nothing.
        pings_ms: round-trip times, an array for each path, as each path has its own shortest.
        metrics: metrics of the whole.
    """

    aqm: str
    times_s: Reals = field(default_factory=lambda: np.zeros(0))
    series: Mapping[str, Reals] = field(default_factory=dict)
    pings_ms: Sequence[Reals] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)

    def delays_ms(self) -> Reals:
        """Return the queue delay of every round trip: its time less the shortest of its path."""
        return np.concatenate([waited(path[np.isfinite(path)]) for path in self.pings_ms] or [np.zeros(0)])


@dataclass(frozen=True)
class Measurement:
    """A file: what was measured, its traffic and its length, and what to know before comparing it."""

    parts: Sequence[Measured]
    traffic: str
    duration_s: float
    warnings: tuple[str, ...] = ()
    created: str = ""


def number(value: object, what: str) -> float:
    """Return a number of a file; NaN where there is none.

    Raises:
        FormatError: if it is something else.

    """
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"{what} is no number")
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:
        raise FormatError(f"{what} is too large") from None


def numbers(values: object, what: str) -> Reals:
    """Return the numbers of a list.

    Raises:
        FormatError: if it is none.

    """
    if not isinstance(values, list):
        raise FormatError(f"{what} is no list")
    return np.array([number(one, f"an entry of {what}") for one in values], np.float64)


def part_of(parsed: object, key: str, kind: type[Any], what: str) -> Any:
    """Return an entry, empty where it is missing.

    Raises:
        FormatError: if it is something else.

    """
    found = parsed.get(key) if isinstance(parsed, dict) else None
    if found is None:
        return kind()
    if not isinstance(found, kind):
        raise FormatError(f"'{key}' of {what} is of another form")
    return found


def waited(rtts_ms: Reals) -> Reals:
    """Return how much longer round trips are than the shortest: the queue, and what else varies."""
    return rtts_ms - np.nanmin(rtts_ms) if np.isfinite(rtts_ms).any() else rtts_ms


def result(path: Path, measurement: Measurement) -> Result:
    """Return a measurement as a result that is in no folder."""
    labels = _labels([one.aqm for one in measurement.parts])
    duration = f"{measurement.duration_s:.4g}s"
    scenario = {
        "rate": "a measured line",
        "rtt": "unknown",
        "buffer": "unknown",
        "flows": [measurement.traffic],
        "capture": [],
        "duration": duration,
        "warmup": "0s",
        "aqm": [{"label": label, "spec": label, "name": label, "preset": ""} for label in labels],
        "seeds": [1],
    }
    manifest = {
        "title": path.name.removesuffix(".gz").removesuffix(".flent").removesuffix(".json"),
        "created": measurement.created,
        "engine": "measured",
        "points": [{"point": {}, "scenario": scenario}],
        "warnings": list(measurement.warnings),
        "partial": False,
        "failures": [],
    }
    parts = list(zip(labels, measurement.parts, strict=True))
    frames: dict[str, Any] = {name: _frame(name, parts) for name in SCHEMAS}
    return Result(manifest, Frames(**frames))


def _labels(names: Sequence[str]) -> list[str]:
    """Names of which each is there once."""
    return [
        name if names.count(name) == 1 else f"{name} {names[:place].count(name) + 1}"
        for place, name in enumerate(names)
    ]


def _frame(name: str, parts: Sequence[tuple[str, Measured]]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for label, one in parts:
        run = {"point": 0, "aqm": label, "seed": 1}
        if name == "runs":
            rows.append({**run, **_metrics(one), "engine": "measured"})
        elif name == "series":
            rows += [
                {**run, "time_s": float(time), "name": column, "value": float(value)}
                for column, values in one.series.items()
                for time, value in zip(one.times_s, values, strict=True)
                if math.isfinite(time) and math.isfinite(value)
            ]
        elif name == "histograms":
            values, counts = np.unique((one.delays_ms() * 1e6).astype(np.int64), return_counts=True)
            rows += [
                {**run, "name": "qdelay", "value_ns": int(value), "count": int(count)}
                for value, count in zip(values, counts, strict=True)
            ]
    known = dict(SCHEMAS[name])
    reals = {column: pl.Float64 for row in rows for column in row if column not in known}
    return pl.DataFrame(rows, schema={**known, **reals} if name != "flows" and name != "queues" else dict(RUN))


def _metrics(one: Measured) -> dict[str, float]:
    found = {
        name: float(np.nanmean(values))
        for name, values in one.series.items()
        if name.endswith("goodput_mbit") and np.isfinite(values).any()
    }
    delays = one.delays_ms()
    if len(delays):
        rtts = np.concatenate([path[np.isfinite(path)] for path in one.pings_ms])
        # Of several paths, the shortest of each by its share of the pings.
        found |= {"rtt_mean_ms": float(rtts.mean()), "rtt_base_ms": float((rtts - delays).mean())}
        found |= {"qdelay_mean_ms": float(delays.mean())}
        found |= {f"qdelay_{name}_ms": float(np.quantile(delays, share)) for name, share in QUANTILES.items()}
    return {**found, **{name: value for name, value in one.metrics.items() if math.isfinite(value)}}


__all__ = [
    "UNNAMED",
    "FormatError",
    "Measured",
    "Measurement",
    "Reals",
    "number",
    "numbers",
    "part_of",
    "result",
    "waited",
]
