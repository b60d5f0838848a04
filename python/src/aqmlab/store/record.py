"""The record of one run: a JSON header, then the columns, with a checksum of both.

A record that a crash left incomplete, or that was altered, does not match its checksum, and its run is made again.
CRC-32 notices one or two changed bits anywhere, any number within 32 neighbouring ones, and of all other changes all
but one in 2**32.

Not Arrow's IPC: it has no checksum (polars reads a stream with a changed bit as other numbers), and describes a row of
40 columns in 6 kB.
"""

from __future__ import annotations

import functools
import json
import zlib
from typing import Any

import numpy as np

from aqmlab.engine import Report, Run
from aqmlab.engine.column_tables import REAL, TEXT, WORD, Histograms, Table
from aqmlab.runs.runner import FinishedRun

MAGIC = b"aqmlab run 1\n"
_TABLES = ("flows", "series", "queues")
# Tables whose description is remembered: those of a run, of as many AQMs as are compared at once.
ALIKE = 16
_PLAIN = ("metrics", "warnings", "events", "bottleneck_packets", "cpu_s", "engine")


class DamagedError(ValueError):
    """The record is incomplete or invalid."""


def encode(done: FinishedRun) -> bytes:
    """Return a finished run as bytes."""
    run, report = done.run, done.report
    tables = {name: getattr(report, name) for name in _TABLES}
    about = {
        "task": [run.point, run.aqm, run.seed, run.key],
        "plain": {name: getattr(report, name) for name in _PLAIN},
    }
    # What its tables are is nearly the same in all runs, and would take longer than all else.
    columns = ", ".join(f'"{name}": {_described(table)}' for name, table in tables.items())
    buckets = ", ".join(_buckets(*one) for one in zip(report.histograms.names, report.histograms.buckets, strict=True))
    text = f'{json.dumps(about)[:-1]}, "tables": {{{columns}}}, "histograms": [{buckets}]}}'.encode()
    arrays = [*(table.words for table in tables.values()), report.histograms.words]
    body = b"".join([len(text).to_bytes(8, "little"), text, *arrays])
    return b"".join([MAGIC, zlib.crc32(body).to_bytes(4, "little"), body])


def _described(table: Table) -> str:
    texts = tuple(tuple(values) for values in table.texts.values())
    return _columns(table.names, table.kinds, table.rows, texts)


@functools.lru_cache(maxsize=ALIKE)
def _columns(names: tuple[str, ...], kinds: tuple[str, ...], rows: int, texts: tuple[tuple[str, ...], ...]) -> str:
    following = iter(texts)
    columns = zip(names, kinds, strict=True)
    return json.dumps(
        [[name, kind == TEXT, next(following) if kind == TEXT else [kind, rows]] for name, kind in columns]
    )


@functools.lru_cache(maxsize=1024)
def _buckets(name: str, count: int) -> str:
    return json.dumps([name, [WORD, count], [WORD, count]])


def decode(data: bytes) -> FinishedRun:
    """Return the run in a record.

    Raises:
        DamagedError: if the record is incomplete, or none.

    """
    try:
        return _decode(data)
    # The checksum detects incomplete records, not forged ones.
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise DamagedError(str(error)) from None


def _decode(data: bytes) -> FinishedRun:
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

    def table(columns: list[Any]) -> Table:
        found = {name: values if is_text else array(values) for name, is_text, values in columns}
        # Earlier versions had the time of live series among the others.
        return Table.of({name: found[name] for name in sorted(found, key=lambda name: name != "time_s")})

    point, aqm, seed, key = header["task"]
    # In the order of writing.
    tables = {name: table(header["tables"][name]) for name in _TABLES}
    histograms = Histograms.of({name: (array(left), array(right)) for name, left, right in header["histograms"]})
    fields: dict[str, Any] = {**header["plain"], **tables, "histograms": histograms}
    done = FinishedRun(Run(point, aqm, seed, key), Report(**fields))
    _check(done)
    return done


def _check(done: FinishedRun) -> None:
    run, report = done.run, done.report
    texts = [run.aqm, run.key, report.engine, *report.warnings, *report.metrics]
    counts = [run.point, run.seed, report.events, report.bottleneck_packets]
    numbers = [report.cpu_s, *(value for value in report.metrics.values() if value is not None)]
    if (
        not all(isinstance(text, str) for text in texts)
        or not all(isinstance(count, int) and count >= 0 for count in counts)
        or run.seed >= 2**32
        or not all(isinstance(number, int | float) for number in numbers)
        or any(kind != REAL for kind in report.series.kinds)
    ):
        raise ValueError("it is no run")
