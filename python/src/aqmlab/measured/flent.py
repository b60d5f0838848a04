"""Data files of flent (versions 1 to 4 of its format: `x_values`, `results`, `raw_values`, `metadata`).

Version 1 has no `version`, and raw values at most in `metadata.SERIES_META.NAME.RAW_VALUES`. Before version 4 a raw
value of netperf's UDP_RR is in transactions a second, and has its duration as `dur`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from aqmlab.measured.builder import UNNAMED, FormatError, Measured, Measurement, Reals, number, numbers, part_of, waited
from aqmlab.vocabulary.scopes import of_group

NEWEST_VERSION = 4
DIRECTIONS = ("download", "upload")
# SCTP in flent's sctp_vs_tcp. What iperf sends by UDP (`UDP upload`) is no goodput.
TRANSPORTS = ("TCP", "SCTP")
# Columns that flent computes from others.
DERIVED = ("avg", "sum", "fairness", "total", "totals")
NOTE = "the queue delay of a measurement is each ping less the shortest ping to the same host"


def measurement(parsed: dict[str, Any]) -> Measurement:
    """Return what a data file holds.

    Raises:
        FormatError: saying what is wrong.

    """
    version = parsed.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool):
        raise FormatError(f"has a 'version' that is no whole number: known are 1 to {NEWEST_VERSION}")
    if not 1 <= version <= NEWEST_VERSION:
        raise FormatError(f"has version {version:.6g} of flent's format: known are 1 to {NEWEST_VERSION}")
    times = numbers(parsed["x_values"], "x_values")
    results = part_of(parsed, "results", dict, "the file")
    columns = {name: numbers(values, f"'{name}'") for name, values in results.items()}
    for name, values in columns.items():
        if len(values) != len(times):
            raise FormatError(f"'{name}' has {len(values)} values at {len(times)} times")
    goodput = _goodput(columns)
    series = {of_group(name).metric("goodput_mbit"): values for name, values in goodput.items() if name}
    pings = {name: values for name, values in columns.items() if _is_ping(name, columns)}
    if not goodput and not pings:
        raise FormatError("has neither TCP goodput nor pings")
    if goodput:
        series["goodput_mbit"] = _sum(list(goodput.values()))
    if pings:
        series["qdelay_ms"] = _mean([waited(values) for values in pings.values()])
    metadata = part_of(parsed, "metadata", dict, "the file")
    length = number(metadata.get("TOTAL_LENGTH") or metadata.get("LENGTH"), "LENGTH of the metadata")
    duration_s = length if math.isfinite(length) else float(np.nan_to_num(times).max(initial=0.0))
    name = metadata.get("NAME")
    every = _every_ping(_raw_values(parsed, metadata, version), pings, version)
    one = Measured(_aqm(metadata), times, series, every)
    warnings = (NOTE,) if pings else ()
    return Measurement([one], str(name or "flent"), duration_s, warnings, str(metadata.get("TIME") or ""))


def _goodput(columns: Mapping[str, Reals]) -> dict[str, Reals]:
    """The goodput of each direction; under "" that of streams without one in their name (`TCP cubic`)."""
    found: dict[str, list[Reals]] = {}
    for transport in TRANSPORTS:
        names = [name for name in columns if name.startswith(f"{transport} ") and not _is_of_socket(name, columns)]
        for direction in (*DIRECTIONS, ""):
            ours = [name for name in names if _direction(name.removeprefix(f"{transport} ")) == direction]
            whole = f"{transport} {direction} sum"
            streams = [whole] if whole in columns else [name for name in ours if name.split()[-1] not in DERIVED]
            if streams:
                found.setdefault(direction, []).append(_sum([columns[name] for name in streams]))
    return {direction: _sum(parts) for direction, parts in found.items()}


def _direction(rest: str) -> str:
    return next((one for one in DIRECTIONS if rest.startswith(one)), "")


def _raw_values(parsed: dict[str, Any], metadata: dict[str, Any], version: int) -> Mapping[str, Any]:
    raw: dict[str, Any] = part_of(parsed, "raw_values", dict, "the file")
    if version > 1 or raw:
        return raw
    meta = part_of(metadata, "SERIES_META", dict, "the metadata")
    return {name: part_of(meta, name, dict, "SERIES_META").get("RAW_VALUES") for name in meta}


def _every_ping(raw: Mapping[str, Any], pings: Mapping[str, Reals], version: int) -> list[Reals]:
    """Every ping of each host, rather than what was interpolated from them where the file has them."""
    found = []
    for name in dict.fromkeys([*pings, *(name for name in raw if _is_ping(name, raw))]):
        values = raw.get(name)
        every = np.array(list(_milliseconds(name, values, version)) if isinstance(values, list) else [], np.float64)
        found.append(every if np.isfinite(every).any() else pings.get(name, every))
    return found


def _milliseconds(name: str, values: list[Any], version: int) -> Iterable[float]:
    for one in values:
        if not isinstance(one, dict):
            continue
        value = number(one.get("val"), f"a raw value of '{name}'")
        if version < 4 and "UDP" in name and "dur" in one:
            # Transactions a second, as of an interval without any.
            value = 1e3 / value if value > 0.0 else math.nan
        yield value


def _is_ping(name: str, names: Iterable[str]) -> bool:
    return name.startswith("Ping (ms)") and name.split()[-1] not in DERIVED and not _is_of_socket(name, names)


def _is_of_socket(name: str, names: Iterable[str]) -> bool:
    """Whether a column is of another's socket (`TCP upload::1::tcp_rtt`); an address can hold `::`, too."""
    parts = name.split("::")
    return any("::".join(parts[:count]) in names for count in range(1, len(parts)))


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
