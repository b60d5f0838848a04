"""The record of one run: a JSON header, then the columns, with a checksum of both.

A record that a crash left incomplete, or that was altered, does not match its checksum, and its run is made again.
CRC-32 notices one or two changed bits anywhere, any number within 32 neighbouring ones, and of all other changes all
but one in 2**32.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np

from aqmlab.engine import Report, Run
from aqmlab.engine.protocol import Column, Table
from aqmlab.runs.runner import Done

MAGIC = b"aqmlab run 1\n"
_TABLES = ("flows", "series", "queues")
_PLAIN = ("metrics", "warnings", "events", "bottleneck_packets", "cpu_s", "engine")


class DamagedError(ValueError):
    """The record is incomplete or invalid."""


def encode(done: Done) -> bytes:
    """Return a finished run as bytes."""
    arrays: list[bytes] = []

    def column(values: Column) -> Any:
        if isinstance(values, list):
            return values
        arrays.append(values.tobytes())
        return [values.dtype.str, len(values)]

    def table(columns: Table) -> list[Any]:
        return [[name, isinstance(values, list), column(values)] for name, values in columns.items()]

    run, report = done.run, done.report
    header = {
        "task": [run.point, run.aqm, run.seed, run.key],
        "plain": {name: getattr(report, name) for name in _PLAIN},
        "tables": {name: table(getattr(report, name)) for name in _TABLES},
        "histograms": [[name, column(left), column(right)] for name, (left, right) in report.histograms.items()],
    }
    text = json.dumps(header).encode()
    body = b"".join([len(text).to_bytes(8, "little"), text, *arrays])
    return b"".join([MAGIC, zlib.crc32(body).to_bytes(4, "little"), body])


def decode(data: bytes) -> Done:
    """Return the run in a record.

    Raises:
        DamagedError: if the record is incomplete, or none.

    """
    try:
        return _decode(data)
    # The checksum detects incomplete records, not forged ones.
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise DamagedError(str(error)) from None


def _decode(data: bytes) -> Done:
    start = len(MAGIC) + 4
    body = memoryview(data)[start:]
    if not data.startswith(MAGIC) or zlib.crc32(body).to_bytes(4, "little") != data[len(MAGIC) : start]:
        raise DamagedError("the checksum does not match")
    at = 8 + int.from_bytes(body[:8], "little")
    header = json.loads(bytes(body[8:at]))

    def array(entry: list[Any]) -> np.ndarray[Any, np.dtype[Any]]:
        nonlocal at
        dtype, count = np.dtype(entry[0]), entry[1]
        if dtype.kind not in "biuf":
            raise ValueError("a column holds no numbers")
        values = np.frombuffer(body, dtype, count, at)
        at += values.nbytes
        return values

    def table(columns: list[Any]) -> dict[str, Column]:
        return {name: values if is_text else array(values) for name, is_text, values in columns}

    point, aqm, seed, key = header["task"]
    # In the order of writing.
    tables = {name: table(header["tables"][name]) for name in _TABLES}
    histograms = {name: (array(left), array(right)) for name, left, right in header["histograms"]}
    fields: dict[str, Any] = {**header["plain"], **tables, "histograms": histograms}
    done = Done(Run(point, aqm, seed, key), Report(**fields))
    _check(done)
    return done


def _check(done: Done) -> None:
    run, report = done.run, done.report
    texts = [run.aqm, run.key, report.engine, *report.warnings, *report.metrics]
    counts = [run.point, run.seed, report.events, report.bottleneck_packets]
    numbers = [report.cpu_s, *(value for value in report.metrics.values() if value is not None)]
    pairs = [{"value": left, "count": right} for left, right in report.histograms.values()]
    tables = [report.flows, report.series, report.queues, *pairs]
    if (
        not all(isinstance(text, str) for text in texts)
        or not all(isinstance(count, int) and count >= 0 for count in counts)
        or run.seed >= 2**32
        or not all(isinstance(number, int | float) for number in numbers)
        or any(len({len(column) for column in table.values()}) > 1 for table in tables)
    ):
        raise ValueError("it is no run")
