"""Frames as CSV. Time series have a column for each name, and the two longest tables are compressed."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.exports.series import wide
from aqmlab.results.frames import FRAMES

if TYPE_CHECKING:
    from aqmlab.results import Result

LONG = ("series", "histograms")


def csv(result: Result) -> dict[str, bytes]:
    """Return a file for each frame: `runs.csv`, `flows.csv`, `queues.csv`, `series.csv.gz`, `histograms.csv.gz`.

    Raises:
        InputError: if the time series are damaged.

    """
    contents = {}
    for name in FRAMES:
        frame: pl.DataFrame = getattr(result, name)
        if name == "series" and len(frame):
            # One row for each time instead of one for each value: a fifth of the size.
            frame = wide(frame)
        lists = [column for column, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
        text = frame.with_columns(pl.col(lists).list.join("; ")).write_csv().encode()
        if name in LONG:
            # Without a time of its own: the same result gives the same bytes.
            contents[f"{name}.csv.gz"] = gzip.compress(text, mtime=0)
        else:
            contents[f"{name}.csv"] = text
    return contents


__all__ = ["csv"]
