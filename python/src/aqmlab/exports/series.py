"""Time series as a table: what formats need that have a column for each."""

from __future__ import annotations

import polars as pl

from aqmlab.results.frames import RUN
from aqmlab.vocabulary.errors import InputError


def wide(series: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each time of each run, with a column for each name: null where a series has no value.

    Raises:
        InputError: if the series are none that a run has, as in a folder that somebody has changed.

    """
    # No period ends at 0, and none at no time.
    time = pl.col("time_s")
    if not series.select((time.is_finite() & (time > 0)).fill_null(value=False).all()).item():
        raise InputError("series: is damaged: a time is not above zero")
    try:
        return series.pivot("name", index=[*RUN, "time_s"], values="value", maintain_order=True)
    except pl.exceptions.PolarsError:
        # Two values, or a name that is that of a column.
        raise InputError("series: is damaged: it has no single value of each name at each time") from None


__all__ = ["wide"]
