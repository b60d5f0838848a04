"""Reports of runs as frames: one row per run, flow, sample, queue or histogram bucket."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import polars.selectors as cs

from aqmlab.engine.column_tables import REAL, WORD, Column, Histograms, Table
from aqmlab.runs.runner import FinishedRun
from aqmlab.vocabulary.metrics import is_metric, ordered

# The columns that identify the run of a row; `point` numbers the scenarios of a sweep.
RUN = {"point": pl.UInt32, "aqm": pl.String, "seed": pl.UInt32}
# Columns of a run beyond its metrics.
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
_Codes: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
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

    ``swept`` are the columns of runs that were given and not measured. The series of runs that have just been made have
    their texts coded (`coded`), as there are thousands of rows for each.
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
            frame = plain(frame)
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


def from_runs(done: Sequence[FinishedRun]) -> Frames:
    """Return the reports of finished runs as frames."""
    return Frames(
        runs=_runs(done),
        flows=_table(done, [one.report.flows for one in done]),
        series=_series(done, [one.report.series for one in done]),
        queues=_table(done, [one.report.queues for one in done]),
        histograms=_histograms(done, [one.report.histograms for one in done]),
    )


def of_metrics(done: Sequence[FinishedRun]) -> Frames:
    """Return the metrics of finished runs as frames; those of flows, series, queues and histograms are empty."""
    empty: dict[str, Any] = {name: pl.DataFrame(schema=SCHEMAS[name]) for name in FRAMES if name != "runs"}
    return Frames(runs=_runs(done), **empty)


def contestants(runs: pl.DataFrame) -> dict[tuple[object, ...], list[int]]:
    """Return the rows of each scenario and AQM, by number: a frame for each takes longer than what is made of it.

    >>> contestants(pl.DataFrame({"point": [0, 0, 0], "aqm": ["fifo", "codel", "fifo"]}))
    {(0, 'fifo'): [0, 2], (0, 'codel'): [1]}

    """
    found: dict[tuple[object, ...], list[int]] = {}
    for row, key in enumerate(runs.select("point", "aqm").rows()):
        found.setdefault(key, []).append(row)
    return found


def _counts(dtype: pl.DataType) -> bool:
    return dtype.is_float() or dtype.is_integer()


def coded(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with its texts as numbers, in the order of the alphabet: the same ones give the same numbers.

    >>> frame = coded(pl.DataFrame({"name": ["drops", "marks", "drops"]}))
    >>> frame["name"].to_physical().to_list(), plain(frame)["name"].to_list()
    ([0, 1, 0], ['drops', 'marks', 'drops'])

    """
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(frame[name].cast(pl.Enum(frame[name].unique().sort())) for name in texts)


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with its texts as texts."""
    return frame.with_columns(cs.enum().cast(pl.String))


def _both(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    filled = [plain(frame) for frame in (one, other) if len(frame)]
    return pl.concat(filled, how="diagonal_relaxed") if filled else one


def _runs(done: Sequence[FinishedRun]) -> pl.DataFrame:
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
            **_tags(done, [1] * len(done)),
            **{name: _metric([run.get(name) for run in metrics]) for name in names},
            **{name: pl.Series(values, dtype=ABOUT_RUN[name]) for name, values in about.items()},
        }
    )


def _table(done: Sequence[FinishedRun], tables: Sequence[Table]) -> pl.DataFrame:
    """Concatenate the tables of all runs; values that a run does not have are missing."""
    alike = itertools.groupby(tables, key=lambda table: (table.names, table.kinds))
    joined = [Table.joined(list(same)) for _, same in alike]
    names = dict.fromkeys(name for table in joined for name in table)
    lengths = [table.rows for table in joined]
    columns = {name: _column([table.get(name) for table in joined], lengths) for name in names}
    return pl.DataFrame({**_tags(done, [table.rows for table in tables]), **columns})


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


def _series(done: Sequence[FinishedRun], tables: Sequence[Table]) -> pl.DataFrame:
    """Return the series below each other: each value with its time, one name after the other; texts are coded."""
    rows = [len(table.names[1:]) * table.rows for table in tables]
    # A run shorter than a period has none.
    filled = [table for table in tables if table.rows]
    names = _Texts(table.names[1:] for table in filled)
    time_s, values, codes = np.empty(sum(rows)), np.empty(sum(rows)), np.empty(sum(rows), names.number)
    end = 0
    for table in filled:
        shape = (len(table.names[1:]), table.rows)
        here, end = slice(end, end + shape[0] * shape[1]), end + shape[0] * shape[1]
        reals = table.words.view(REAL)
        time_s[here].reshape(shape)[:] = reals[:1]
        values[here].reshape(shape)[:] = reals[1:]
        codes[here].reshape(shape).T[:] = names.codes[table.names[1:]]
    columns = {"time_s": _finite(time_s), "name": names.coded(codes), "value": _finite(values)}
    return pl.DataFrame({**_tags(done, rows, coded=True), **columns})


def _histograms(done: Sequence[FinishedRun], runs: Sequence[Histograms]) -> pl.DataFrame:
    """Return the histograms below each other."""
    names = _Texts(one.names for one in runs)
    buckets = np.array([count for one in runs for count in one.buckets], dtype=int)
    words = np.concatenate([np.empty(0, WORD), *(one.words for one in runs)])
    are_counts = np.repeat(np.tile([False, True], len(buckets)), np.repeat(buckets, 2))
    codes = np.concatenate([np.empty(0, names.number), *(names.codes[one.names] for one in runs)])
    columns = {
        "name": names.texts(np.repeat(codes, buckets)),
        "value_ns": pl.Series(words[~are_counts]),
        "count": pl.Series(words[are_counts]),
    }
    return pl.DataFrame({**_tags(done, [sum(one.buckets) for one in runs]), **columns})


class _Texts:
    """Texts as numbers, in the order of the alphabet; runs have the same ones in the same order again and again."""

    def __init__(self, lists: Iterable[tuple[str, ...]]) -> None:
        distinct = set(lists)
        self._sorted = sorted({text for one in distinct for text in one})
        places = {text: place for place, text in enumerate(self._sorted)}
        # As few bytes as polars takes.
        self.number = next(kind for kind in (np.uint8, np.uint16, np.uint32) if len(places) <= np.iinfo(kind).max)
        self.codes = {one: np.array([places[text] for text in one], self.number) for one in distinct}

    def coded(self, codes: _Codes) -> pl.Series:
        """Return the texts that numbers stand for, which are still stored as these numbers."""
        return pl.Series(codes).cat.to(pl.Enum(self._sorted))

    def texts(self, codes: _Codes) -> pl.Series:
        """Return the texts that numbers stand for; each is stored once."""
        return pl.Series(self._sorted, dtype=pl.String).gather(codes)


def _tags(done: Sequence[FinishedRun], rows: Sequence[int], *, coded: bool = False) -> dict[str, pl.Series]:
    """Return the run that each row belongs to."""
    times = np.array(rows, dtype=int)
    labels = [(one.run.aqm,) for one, count in zip(done, rows, strict=True) if count]
    aqms = _Texts(labels)
    codes = np.repeat(np.array([aqms.codes[label][0] for label in labels], aqms.number), times[times > 0])
    return {
        "point": pl.Series(np.repeat(np.array([one.run.point for one in done], dtype=np.uint32), times)),
        "aqm": aqms.coded(codes) if coded else aqms.texts(codes),
        "seed": pl.Series(np.repeat(np.array([one.run.seed for one in done], dtype=np.uint32), times)),
    }


def _metric(values: Sequence[float | None]) -> pl.Series:
    """Return values without those that are no number of a run."""
    numbers = np.array(values, dtype=float)
    numbers[np.isinf(numbers)] = np.nan
    return _finite(numbers)


def _finite(numbers: np.ndarray[Any, np.dtype[np.float64]]) -> pl.Series:
    return pl.Series(numbers, nan_to_null=True)
