"""The log of a live run: every call into the disciplines, and their decisions.

The data path writes rows of fixed size (`crates/aqm-link/src/log.rs`); users get a table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aqmlab import _native
from aqmlab.live.directions import DIRECTIONS
from aqmlab.vocabulary.errors import InputError

# Where each field of a row is, and what it is.
FIELDS = {
    "time_ns": (0, "<u8"),
    "flow": (8, "<u8"),
    "packet": (16, "<u4"),
    "length_bytes": (20, "<u4"),
    "source": (24, "<u4"),
    "destination": (28, "<u4"),
    "tcp_seq": (32, "<u4"),
    "tcp_ack": (36, "<u4"),
    "tcp_payload_bytes": (40, "<u2"),
    "class": (42, "<u2"),
    "kind": (44, "u1"),
    "reason": (45, "u1"),
    "dscp": (46, "u1"),
    "ecn": (47, "u1"),
    "protocol": (48, "u1"),
    "tcp_flags": (49, "u1"),
    "has": (50, "u1"),
}
ROW_BYTES = 56
ROW = np.dtype(
    {
        "names": list(FIELDS),
        "formats": [form for _, form in FIELDS.values()],
        "offsets": [offset for offset, _ in FIELDS.values()],
        "itemsize": ROW_BYTES,
    }
)
KINDS = ("arrive", "depart", "nothing", "wake", "drop", "mark")
DROPS = ("unspecified", "overlimit", "congestion", "unfair", "reconfigured", "redundant", "other")
MARKS = ("unspecified", "congestion", "threshold")
ECN = ("not-ect", "ect1", "ect0", "ce")
OF_TCP = ("tcp_seq", "tcp_ack", "tcp_payload_bytes", "tcp_flags", "has_sack")
OF_ARRIVALS = ("flow", "source", "destination", "length_bytes", "class", "dscp", "ecn", "protocol")
COLUMNS = ("direction", "time_ns", "kind", "packet", "reason", *OF_ARRIVALS, *OF_TCP)
ENDINGS = (".parquet", ".csv")


def check(path: Path) -> None:
    """Refuse a name that says no format.

    Raises:
        InputError: naming those that there are.

    """
    if path.suffix not in ENDINGS:
        raise InputError(f"--log: '{path}': the name must end in {' or '.join(ENDINGS)}")


def table(folder: Path) -> pl.DataFrame:
    """Return the logs of both directions as a table: rows of a call in the order in which they were made."""
    return pl.concat([_table(name, folder / f"{name}.log") for name in DIRECTIONS])


def _table(name: str, path: Path) -> pl.DataFrame:
    rows = np.fromfile(path, dtype=ROW)
    kind = np.array(KINDS)[rows["kind"]]
    frame = pl.DataFrame(
        {
            "direction": np.full(len(rows), name),
            **{column: rows[column] for column in FIELDS if column not in ("has", "kind", "ecn", "reason")},
            "kind": kind,
            "ecn": np.array(ECN)[rows["ecn"]],
            "reason": np.where(kind == "mark", _named(MARKS, rows["reason"]), _named(DROPS, rows["reason"])),
            "has_sack": rows["has"] & 2 == 2,
        }
    )
    # What a row does not tell is not zero.
    columns = {
        "packet": np.isin(kind, ("arrive", "depart", "drop", "mark")),
        "reason": np.isin(kind, ("drop", "mark")),
        **dict.fromkeys(OF_ARRIVALS, kind == "arrive"),
        **dict.fromkeys(OF_TCP, rows["has"] & 1 == 1),
    }
    return frame.select(
        pl.when(pl.Series(columns[name])).then(pl.col(name)) if name in columns else name for name in COLUMNS
    )


def _named(names: tuple[str, ...], numbers: Any) -> Any:
    return np.array(names)[np.minimum(numbers, len(names) - 1)]


def replay(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Make the calls in both logs again, and return how many there are and where the decisions part, if they do."""
    calls, parts = 0, {}
    for name in DIRECTIONS:
        made, parts_at = _native.replay_link(json.dumps(config), name, folder / f"{name}.log")
        calls += made
        if parts_at is not None:
            parts[name] = parts_at
    return {"calls": calls, "parts_at": parts}


def write(folder: Path, path: Path, *, as_csv: bool) -> None:
    """Write the table where the user wants it, else as Parquet."""
    frame = table(folder)
    # Opened here: polars writes to a pipe only if it is handed over.
    with path.open("wb") as to:
        if as_csv:
            frame.write_csv(to)
        else:
            frame.write_parquet(to)


__all__ = ["check", "replay", "table", "write"]
