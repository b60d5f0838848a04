"""Reports of runs as frames: one row per run, flow, sample, queue or histogram bucket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from aqmlab.metrics import ordered
from aqmlab.runner import Done

# The columns that say which run a row belongs to; `point` numbers the scenarios of a sweep.
RUN = {"point": pl.UInt32, "aqm": pl.String, "seed": pl.UInt32}
FRAMES = ("runs", "flows", "series", "queues", "histograms")
_ABOUT_RUN = ("events", "bottleneck_packets", "cpu_s", "warnings", "key")
_SERIES = {**RUN, "time_s": pl.Float64, "name": pl.String, "value": pl.Float64}
_HISTOGRAMS = {**RUN, "name": pl.String, "value_ns": pl.UInt64, "count": pl.UInt64}


@dataclass(frozen=True)
class Frames:
    """All the numbers of a result; every column name ends in its unit."""

    runs: pl.DataFrame
    flows: pl.DataFrame
    series: pl.DataFrame
    queues: pl.DataFrame
    histograms: pl.DataFrame

    def sorted(self, aqms: Sequence[str]) -> Frames:
        """Return the frames in the order of scenario, AQM as given, and seed; rows of a run keep their order."""
        rank = pl.col("aqm").replace_strict({aqm: place for place, aqm in enumerate(aqms)}, return_dtype=pl.UInt32)

        def sort(frame: pl.DataFrame) -> pl.DataFrame:
            return frame.sort("point", rank, "seed", maintain_order=True) if len(frame) else frame

        return Frames(**{name: sort(getattr(self, name)) for name in FRAMES})

    def joined(self, other: Frames) -> Frames:
        """Return the rows of both."""
        return Frames(
            **{name: pl.concat([getattr(self, name), getattr(other, name)], how="diagonal_relaxed") for name in FRAMES}
        )


def from_runs(done: Sequence[Done]) -> Frames:
    """Return the reports of finished runs as frames."""
    return Frames(
        runs=_runs(done),
        flows=_columns(done, "flows"),
        series=_join([_series(one) for one in done], _SERIES),
        queues=_columns(done, "queues"),
        histograms=_join([_histograms(one) for one in done], _HISTOGRAMS),
    )


def metric_names(runs: pl.DataFrame) -> list[str]:
    """Return the metrics that a frame of runs holds, in their usual order."""
    return ordered(set(runs.columns) - {*RUN, *_ABOUT_RUN})


def _runs(done: Sequence[Done]) -> pl.DataFrame:
    metrics = [one.run.metrics for one in done]
    names = ordered({name for run in metrics for name in run})
    columns: dict[str, pl.Series] = {
        "point": pl.Series([one.task.point for one in done], dtype=pl.UInt32),
        "aqm": pl.Series([one.task.aqm for one in done], dtype=pl.String),
        "seed": pl.Series([one.task.seed for one in done], dtype=pl.UInt32),
        **{name: pl.Series([_finite(run.get(name)) for run in metrics], dtype=pl.Float64) for name in names},
        "events": pl.Series([one.run.events for one in done], dtype=pl.UInt64),
        "bottleneck_packets": pl.Series([one.run.bottleneck_packets for one in done], dtype=pl.UInt64),
        "cpu_s": pl.Series([one.cpu_s for one in done], dtype=pl.Float64),
        "warnings": pl.Series([one.run.warnings for one in done], dtype=pl.List(pl.String)),
        "key": pl.Series([one.task.key for one in done], dtype=pl.String),
    }
    return pl.DataFrame(columns)


def _columns(done: Sequence[Done], name: str) -> pl.DataFrame:
    parts = []
    for one in done:
        columns: Mapping[str, list[object]] = getattr(one.run, name)
        parts.append(_tagged(one, pl.DataFrame({key: pl.Series(values) for key, values in columns.items()})))
    frame = _join(parts, RUN)
    reals = [column for column, dtype in frame.schema.items() if dtype == pl.Float64]
    return frame.with_columns(pl.col(reals).fill_nan(None)) if reals else frame


def _series(one: Done) -> pl.DataFrame:
    columns = {name: np.frombuffer(data, dtype="<f8") for name, data in one.run.series.items()}
    time_s = columns.pop("time_s")
    parts = [
        pl.DataFrame({"time_s": time_s, "value": values}).select(
            "time_s", pl.lit(name).alias("name"), pl.col("value").fill_nan(None)
        )
        for name, values in columns.items()
    ]
    return _tagged(one, pl.concat(parts)) if parts else _empty(_SERIES)


def _histograms(one: Done) -> pl.DataFrame:
    parts = [
        pl.DataFrame({"value_ns": np.frombuffer(values, "<u8"), "count": np.frombuffer(counts, "<u8")}).select(
            pl.lit(name).alias("name"), "value_ns", "count"
        )
        for name, (values, counts) in one.run.histograms.items()
    ]
    return _tagged(one, pl.concat(parts)) if parts else _empty(_HISTOGRAMS)


def _tagged(one: Done, frame: pl.DataFrame) -> pl.DataFrame:
    tags = (one.task.point, one.task.aqm, one.task.seed)
    literals = [pl.lit(tag, dtype=dtype).alias(name) for tag, (name, dtype) in zip(tags, RUN.items(), strict=True)]
    return frame.select(*literals, pl.all())


def _join(parts: Sequence[pl.DataFrame], schema: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    filled = [part for part in parts if len(part)]
    return pl.concat(filled, how="diagonal_relaxed") if filled else _empty(schema)


def _empty(schema: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    return pl.DataFrame(schema=dict(schema))


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else value
