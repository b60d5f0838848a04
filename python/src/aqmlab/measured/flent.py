"""Data files of flent (versions 1 to 4 of its format: `x_values`, `results`, `raw_values`, `metadata`)."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from aqmlab.measured.made import UNNAMED, FormatError, Measured, Measurement, Reals, number, numbers, part_of, waited

NEWEST_VERSION = 4
WAYS = ("download", "upload")
NOTE = "the queue delay of a measurement is its ping less the shortest ping"


def measurement(parsed: dict[str, Any]) -> Measurement:
    """Return what a data file holds.

    Raises:
        FormatError: saying what is wrong.

    """
    version = parsed.get("version", 1)
    if not isinstance(version, int) or version > NEWEST_VERSION:
        raise FormatError(f"has version {version} of flent's format: known are those up to {NEWEST_VERSION}")
    times = numbers(parsed["x_values"], "x_values")
    results = part_of(parsed, "results", dict, "the file")
    columns = {name: numbers(values, f"'{name}'") for name, values in results.items()}
    for name, values in columns.items():
        if len(values) != len(times):
            raise FormatError(f"'{name}' has {len(values)} values at {len(times)} times")
    series: dict[str, Reals] = {}
    for way in WAYS:
        found = _goodput(columns, way)
        if found is not None:
            series[f"class.{way}.goodput_mbit"] = found
    pings = [values for name, values in columns.items() if _is_ping(name)]
    if not series and not pings:
        raise FormatError("has neither TCP goodput nor pings")
    if series:
        series["goodput_mbit"] = _sum(list(series.values()))
    if pings:
        series["qdelay_ms"] = waited(_mean(pings))
    metadata = part_of(parsed, "metadata", dict, "the file")
    length = number(metadata.get("TOTAL_LENGTH") or metadata.get("LENGTH"), "LENGTH of the metadata")
    duration_s = length if math.isfinite(length) else float(np.nan_to_num(times).max(initial=0.0))
    name = metadata.get("NAME")
    one = Measured(_aqm(metadata), times, series, _single(parsed, pings))
    warnings = (NOTE,) if pings else ()
    return Measurement([one], str(name or "flent"), duration_s, warnings, str(metadata.get("TIME") or ""))


def _goodput(columns: dict[str, Reals], way: str) -> Reals | None:
    """The sum of all streams of a way: as it is in the file, or of `TCP upload::1`, `TCP upload BE`, ..."""
    whole = columns.get(f"TCP {way} sum")
    if whole is not None:
        return whole
    single = re.compile(rf"TCP {way}(::[0-9]+| (?!avg|sum|fairness)[^:]*)?")
    streams = [values for name, values in columns.items() if single.fullmatch(name)]
    return _sum(streams) if streams else None


def _single(parsed: dict[str, Any], pings: list[Reals]) -> Reals:
    """Every ping, rather than what was interpolated from them."""
    raw = part_of(parsed, "raw_values", dict, "the file")
    found = [
        number(one.get("val"), f"a raw value of '{name}'")
        for name, values in raw.items()
        if _is_ping(name) and isinstance(values, list)
        for one in values
        if isinstance(one, dict)
    ]
    return np.array(found) if found else np.concatenate(pings) if pings else np.zeros(0)


def _is_ping(name: str) -> bool:
    """Whether a column is a ping, not a mean of several, and not what a socket says besides (`...::tcp_rtt`)."""
    return name.startswith("Ping (ms)") and not name.endswith(" avg") and "::" not in name


def _aqm(metadata: dict[str, Any]) -> str:
    """The discipline of a run of aqmlab's; that at the egress of the measuring host need not be the bottleneck's."""
    if "AQMLAB_SCENARIO" not in metadata:
        return UNNAMED
    egress = part_of(metadata, "EGRESS_INFO", dict, "the metadata")
    qdiscs = part_of(egress, "qdiscs", list, "EGRESS_INFO")
    names = [one.get("name") for one in qdiscs if isinstance(one, dict)]
    return str(names[0]) if names and names[0] else UNNAMED


def _sum(columns: list[Reals]) -> Reals:
    together = np.array(columns)
    return np.where(np.isfinite(together).any(axis=0), np.nansum(together, axis=0), math.nan)


def _mean(columns: list[Reals]) -> Reals:
    together = np.array(columns)
    count = np.isfinite(together).sum(axis=0)
    return np.where(count > 0, np.nansum(together, axis=0) / np.maximum(count, 1), math.nan)


__all__ = ["measurement"]
