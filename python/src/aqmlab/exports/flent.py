"""Runs as data files of flent (version 4 of its format), which `flent-gui` and `flent --plot` open.

Each run is one of flent's test `tcp_nup`: its flows are the uploads, and a ping is the base round-trip time with the
queue delay at that time, which is what a packet would have met.
"""

from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from aqmlab.exports import names
from aqmlab.exports.series import wide
from aqmlab.vocabulary.errors import about

if TYPE_CHECKING:
    from aqmlab.results import Result

FORMAT_VERSION = 4
PING = "Ping (ms) ICMP"
_DELIVERED = re.compile(r"flow\.(0|[1-9][0-9]{0,8})\.delivered_bytes")


def flent(
    result: Result, aqm: str | None = None, seed: int | None = None, point: int | None = None
) -> dict[str, bytes]:
    """Return a `.flent.gz` for each run with this AQM, seed and number of the scenario.

    Raises:
        InputError: naming what the result does not have: a run, or the time series of one.

    """
    return {f"{one.file}.flent.gz": _file(result, one) for one in names.runs(result, aqm, seed, point)}


def _file(result: Result, one: names.RunName) -> bytes:
    here = (pl.col("point") == one.point) & (pl.col("aqm") == one.aqm) & (pl.col("seed") == one.seed)
    series = wide(result.series.filter(here)).sort("time_s")
    if not {"goodput_mbit", "qdelay_ms"} <= set(series.columns):
        raise about("flent", f"a run of {one.aqm} has no time series: it is shorter than the period of one")
    times = series["time_s"].to_numpy()
    period_s = float(times[0])
    # An older folder lacks it.
    base_ms = result.runs.filter(here)["rtt_base_ms"].item() if "rtt_base_ms" in result.runs.columns else None

    def values(name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return series[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()

    numbers = sorted(int(found[1]) for found in map(_DELIVERED.fullmatch, series.columns) if found)
    flows = [f"flow.{number}.delivered_bytes" for number in numbers]
    uploads = [np.diff(values(name), prepend=0.0) * 8 / 1e6 / period_s for name in flows] or [values("goodput_mbit")]
    # Nothing left an empty queue: a ping would not have waited.
    columns = {PING: np.nan_to_num(values("qdelay_ms")) + (base_ms or 0.0)}
    columns |= {f"TCP upload::{number}": upload for number, upload in enumerate(uploads, 1)}
    columns |= {"TCP upload sum": np.sum(uploads, axis=0), "TCP upload avg": np.mean(uploads, axis=0)}
    started = datetime.fromisoformat(result.manifest["created"]).astimezone(UTC)
    text = {
        "version": FORMAT_VERSION,
        "x_values": times.tolist(),
        "results": {name: _finite(column) for name, column in columns.items()},
        "raw_values": {
            name: [{"t": started.timestamp() + at, "val": value} for at, value in zip(times, column, strict=True)]
            for name, column in ((name, _finite(column)) for name, column in columns.items())
        },
        "metadata": _metadata(result, one, started, period_s, float(times[-1]), len(uploads)),
    }
    return gzip.compress(json.dumps(text, allow_nan=False).encode(), mtime=0)


def _metadata(
    result: Result, one: names.RunName, started: datetime, period_s: float, length_s: float, streams: int
) -> dict[str, Any]:
    scenario = result.scenarios[one.point]
    time = started.isoformat(timespec="microseconds").replace("+00:00", "Z")
    swept = ", ".join(f"{name} {value}" for name, value in result.points[one.point].items())
    return {
        "NAME": "tcp_nup",
        "TITLE": ", ".join(part for part in (one.aqm, swept, f"seed {one.seed}") if part),
        "NOTE": f"simulated by aqmlab {result.manifest['aqmlab']}",
        "HOST": "aqmlab",
        "HOSTS": ["aqmlab"],
        "LOCAL_HOST": "aqmlab",
        "TIME": time,
        "T0": time,
        "BATCH_TIME": time,
        "BATCH_NAME": result.title,
        "LENGTH": length_s,
        "TOTAL_LENGTH": length_s,
        "STEP_SIZE": period_s,
        "DELAY": 0,
        "IP_VERSION": 4,
        "DATA_FILENAME": f"{one.file}.flent.gz",
        "TEST_PARAMETERS": {"upload_streams": str(streams)},
        "EGRESS_INFO": {"qdiscs": [{"name": one.aqm}], "bql": {}, "link_params": {}},
        "AQMLAB_SCENARIO": {key: value for key, value in scenario.items() if key not in ("rules", "defaults", "seeds")},
    }


def _finite(column: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in column]


__all__ = ["flent"]
