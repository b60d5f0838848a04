"""Frames as tables of pandas and Arrow, which know the units of their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from aqmlab.results.columns import units
from aqmlab.vocabulary.extras import missing

if TYPE_CHECKING:
    import pandas
    import pyarrow


def to_pandas(frame: pl.DataFrame) -> pandas.DataFrame:
    """Return a frame of pandas; ``attrs["units"]`` has the units of its columns.

    Raises:
        InputError: if pandas is not installed.

    """
    try:
        import pandas
    except ImportError:
        raise missing("to_pandas needs pandas", "pandas") from None
    table = pandas.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    table.attrs["units"] = units(frame.columns)
    return table


def to_arrow(frame: pl.DataFrame) -> pyarrow.Table:
    """Return a table of Arrow; the metadata of a field has its ``unit``.

    Raises:
        InputError: if pyarrow is not installed.

    """
    try:
        import pyarrow
    except ImportError:
        raise missing("to_arrow needs pyarrow", "arrow") from None
    table, of = frame.to_arrow(), units(frame.columns)
    fields = [field.with_metadata({"unit": of[field.name]}) if field.name in of else field for field in table.schema]
    return table.cast(pyarrow.schema(fields))


__all__ = ["to_arrow", "to_pandas"]
