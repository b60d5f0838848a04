"""The file of a golden run: its scenario in one line, a table of its main metrics, and a hash of its whole result."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
from conftest import ROOT

import aqmlab
from aqmlab.vocabulary.metrics import split

FOLDER = Path(__file__).parent / "golden" / "runs"
FRAMES = ("runs", "flows", "queues", "series", "histograms")
TAGS = ("point", "aqm", "seed")
NOT_RESULTS = {*TAGS, "cpu_s", "key", "warnings"}
# What the table shows of all packets and of each group and port.
SHOWN = ("goodput_mbit", "qdelay_mean_ms", "qdelay_p99_ms", "loss_ratio", "marks", "events")


def file(name: str) -> Path:
    """Where the golden run of a case is recorded."""
    return FOLDER / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.txt"


def text(options: dict[str, Any], result: aqmlab.Result) -> str:
    """Write a run as its file has it."""
    tables = frames(result)
    return f"{_scenario(options)}\n\n{_table(metrics(tables['runs']))}\n\nsha256 {digest(tables)}\n"


def events(name: str) -> int:
    """Events of a recorded run."""
    (row,) = (line.split() for line in file(name).read_text().splitlines() if line.startswith("all "))
    return int(row[1 + SHOWN.index("events")])


def frames(result: aqmlab.Result) -> dict[str, pl.DataFrame]:
    """All tables of a result."""
    return {name: getattr(result, name) for name in FRAMES}


def metrics(runs: pl.DataFrame) -> dict[str, Any]:
    """Metrics of the only run."""
    (run,) = runs.iter_rows(named=True)
    return {name: value for name, value in run.items() if name not in NOT_RESULTS and value is not None}


def digest(tables: dict[str, pl.DataFrame]) -> str:
    """Hash every value of a result."""
    values: dict[str, Any] = {
        name: metrics(table) if name == "runs" else table.drop(TAGS).to_dict(as_series=False)
        for name, table in tables.items()
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _scenario(options: dict[str, Any]) -> str:
    """Options in one line, with paths from the root of the repository."""
    words = {name: ", ".join(value) if isinstance(value, list) else str(value) for name, value in options.items()}
    return "; ".join(f"{name} = {word}" for name, word in words.items()).replace(f"{ROOT}/", "")


def _table(found: dict[str, Any]) -> str:
    """Main metrics in columns, with a row for all packets and one for each group and port."""
    rows = [["packets", *SHOWN]]
    for part in sorted({split(name)[0] for name in found if split(name)[1] in SHOWN}):
        values = [found.get(part + name) for name in SHOWN]
        rows.append([part.rstrip(".") or "all", *("-" if value is None else f"{value:.9g}" for value in values)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)
