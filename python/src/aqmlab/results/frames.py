"""Reports of runs as frames: one row per run, flow, sample, queue or histogram bucket."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from aqmlab.engine import Table
from aqmlab.engine.protocol import Column
from aqmlab.runs.runner import Done
from aqmlab.vocabulary.metrics import is_metric, ordered

# The columns that identify the run of a row; `point` numbers the scenarios of a sweep.
RUN = {"point": pl.UInt32, "aqm": pl.String, "seed": pl.UInt32}
# Columns of a run besides its metrics.
ABOUT_RUN: dict[str, Any] = {
    "engine": pl.String,
    "events": pl.UInt64,
    "bottleneck_packets": pl.UInt64,
    "cpu_s": pl.Float64,
    "warnings": pl.List(pl.String),
    "key": pl.String,
}
FRAMES = ("runs", "flows", "series", "queues", "histograms")
_SERIES = {**RUN, "time_s": pl.Float64, "name": pl.String, "value": pl.Float64}
_HISTOGRAMS = {**RUN, "name": pl.String, "value_ns": pl.UInt64, "count": pl.UInt64}
# The columns that each frame has in every result.
SCHEMAS: dict[str, Mapping[str, Any]] = {
    "runs": {**RUN, **ABOUT_RUN},
    "flows": RUN,
    "series": _SERIES,
    "queues": RUN,
    "histograms": _HISTOGRAMS,
}


@dataclass(frozen=True)
class Frames:
    """All the numbers of a result; every column name ends in its unit.

    ``swept`` are the columns of runs that were given and not measured.
    """

    runs: pl.DataFrame
    flows: pl.DataFrame
    series: pl.DataFrame
    queues: pl.DataFrame
    histograms: pl.DataFrame
    swept: tuple[str, ...] = ()

    @property
    def metrics(self) -> list[str]:
        """The metrics of the runs in their usual order, those of another version that this one does not know last."""
        others = {*RUN, *ABOUT_RUN, *self.swept}
        columns = self.runs.schema.items()
        return ordered({name for name, dtype in columns if name not in others and (is_metric(name) or _counts(dtype))})

    def each(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Frames:
        """Return what becomes of each frame."""
        changed: dict[str, Any] = {name: change(getattr(self, name)) for name in FRAMES}
        return replace(self, **changed)

    def sorted(self, aqms: Sequence[str]) -> Frames:
        """Return the frames in the order of scenario, AQM as given, and seed; rows of a run keep their order."""
        rank = pl.col("aqm").replace_strict({aqm: place for place, aqm in enumerate(aqms)}, return_dtype=pl.UInt32)
        # One number is ordered much faster than three columns.
        place = (pl.col("point").cast(pl.UInt64) * len(aqms) + rank) * 2**32 + pl.col("seed")

        def sort(frame: pl.DataFrame) -> pl.DataFrame:
            if frame.is_empty():
                return frame
            places = frame.select(place).to_series()
            return frame if places.is_sorted() else frame.sort(place, maintain_order=True)

        return self.each(sort)

    def joined(self, other: Frames) -> Frames:
        """Return the rows of both, each with all that it has; the columns of the runs come in their usual order."""
        joined: dict[str, Any] = {name: _both(getattr(self, name), getattr(other, name)) for name in FRAMES}
        both = replace(self, **joined)
        first = [name for name in (*RUN, *both.swept, *both.metrics) if name in both.runs.columns]
        last = [name for name in ABOUT_RUN if name in both.runs.columns]
        between = [name for name in both.runs.columns if name not in (*first, *last)]
        return replace(both, runs=both.runs.select(*first, *between, *last))


def from_runs(done: Sequence[Done]) -> Frames:
    """Return the reports of finished runs as frames."""
    return Frames(
        runs=_runs(done),
        flows=_table(done, [one.report.flows for one in done]),
        series=_long(done, [_series(one.report.series) for one in done], _SERIES),
        queues=_table(done, [one.report.queues for one in done]),
        histograms=_long(done, [_histograms(one.report.histograms) for one in done], _HISTOGRAMS),
    )


def of_metrics(done: Sequence[Done]) -> Frames:
    """Return the metrics of finished runs as frames; those of flows, series, queues and histograms are empty."""
    empty: dict[str, Any] = {name: pl.DataFrame(schema=SCHEMAS[name]) for name in FRAMES if name != "runs"}
    return Frames(runs=_runs(done), **empty)


def _counts(dtype: pl.DataType) -> bool:
    return dtype.is_float() or dtype.is_integer()


def _both(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    filled = [frame for frame in (one, other) if len(frame)]
    return pl.concat(filled, how="diagonal_relaxed") if filled else one


def _runs(done: Sequence[Done]) -> pl.DataFrame:
    metrics = [one.report.metrics for one in done]
    names = ordered({name for run in metrics for name in run})
    about: dict[str, list[Any]] = {
        "engine": [one.report.engine for one in done],
        "events": [one.report.events for one in done],
        "bottleneck_packets": [one.report.bottleneck_packets for one in done],
        "cpu_s": [one.report.cpu_s for one in done],
        "warnings": [one.report.warnings for one in done],
        "key": [one.run.key for one in done],
    }
    return pl.DataFrame(
        {
            **_tags(done, np.ones(len(done), dtype=int)),
            **{name: _finite([run.get(name) for run in metrics]) for name in names},
            **{name: pl.Series(values, dtype=ABOUT_RUN[name]) for name, values in about.items()},
        }
    )


def _table(done: Sequence[Done], tables: Sequence[Table]) -> pl.DataFrame:
    """Concatenate the tables of all runs; values that a run does not have are missing."""
    lengths = [len(next(iter(table.values()), ())) for table in tables]
    names = dict.fromkeys(name for table in tables for name in table)
    columns = {name: _column([table.get(name) for table in tables], lengths) for name in names}
    return pl.DataFrame({**_tags(done, np.array(lengths, dtype=int)), **columns})


def _column(parts: Sequence[Column | None], lengths: Sequence[int]) -> pl.Series:
    filled = [part for part in parts if part is not None and len(part)]
    if not filled:
        return pl.Series([None] * sum(lengths), dtype=pl.Null)
    if len(filled) < sum(length > 0 for length in lengths):
        whole = [pl.Series(part if part is not None else [None] * n) for part, n in zip(parts, lengths, strict=True)]
        series = pl.concat([pl.DataFrame({"": one}) for one in whole], how="vertical_relaxed").to_series()
    elif isinstance(filled[0], list):
        series = pl.Series(list(itertools.chain.from_iterable(filled)))
    else:
        series = pl.Series(np.concatenate(filled))
    return series.fill_nan(None) if series.dtype == pl.Float64 else series


# The long form: for each name, the arrays of the frame's last two columns.
_Parts: TypeAlias = list[tuple[str, Column, Column]]


def _series(table: Table) -> _Parts:
    return [(name, table["time_s"], values) for name, values in table.items() if name != "time_s"]


def _histograms(table: Mapping[str, tuple[Column, Column]]) -> _Parts:
    return [(name, values, counts) for name, (values, counts) in table.items()]


def _long(done: Sequence[Done], runs: Sequence[_Parts], schema: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    parts = list(itertools.chain.from_iterable(runs))
    if not parts:
        return pl.DataFrame(schema=dict(schema))
    lengths = [len(first) for _, first, _ in parts]
    left, right = (name for name in schema if name not in (*RUN, "name"))
    columns = {
        **_tags(done, np.array([sum(len(first) for _, first, _ in one) for one in runs], dtype=int)),
        "name": _repeated([name for name, _, _ in parts], lengths),
        left: pl.Series(np.concatenate([values for _, values, _ in parts])),
        right: pl.Series(np.concatenate([values for _, _, values in parts])),
    }
    frame = pl.DataFrame(columns).select(*schema)
    reals = [name for name, dtype in schema.items() if dtype == pl.Float64]
    return frame.with_columns(pl.col(reals).fill_nan(None)) if reals else frame


def _tags(done: Sequence[Done], rows: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, pl.Series]:
    """Return the run that each row belongs to."""
    return {
        "point": pl.Series(np.repeat(np.array([one.run.point for one in done], dtype=np.uint32), rows)),
        "aqm": _repeated([one.run.aqm for one in done], rows),
        "seed": pl.Series(np.repeat(np.array([one.run.seed for one in done], dtype=np.uint32), rows)),
    }


def _repeated(texts: Sequence[str], times: Sequence[int] | np.ndarray[Any, np.dtype[np.int64]]) -> pl.Series:
    """Return each text repeated; equal texts are stored once."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    each = np.repeat(np.array([places[text] for text in texts], dtype=np.uint32), times)
    return pl.Series(list(places), dtype=pl.String).gather(each)


def _finite(values: Sequence[float | None]) -> pl.Series:
    """Return values without those that are no number of a run."""
    numbers = np.array(values, dtype=float)
    numbers[~np.isfinite(numbers)] = np.nan
    return pl.Series(numbers, nan_to_null=True)
