"""The error of S-PIE's sketch, and of the threshold computed from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aqmlab import _native
from aqmlab.papers.studies.study import Row, Study
from aqmlab.results import Result
from aqmlab.vocabulary.errors import unknown
from aqmlab.vocabulary.units import parse_whole

SKETCHES = ("count_min", "conservative", "count_sketch")
ERRORS = ("error", "threshold")
STREAM_PACKETS = 100_000
STREAM_FLOWS = 1000
# A sketch of depth d may exceed its bound with probability e^-d (Cormode and Muthukrishnan 2005, theorem 1).
DEPTH = 4
BOUND = "bound e / width"


def measure(of: str, at: Sequence[str]) -> list[Row]:
    """Return the error of the three sketches by width, for a stream with Zipf popularity.

    ``error`` is the error that a share of 1 - e^-4 of the estimates does not exceed, as a share of all packets
    counted, beside the bound of count-min, e / width. ``threshold`` is the largest relative difference between
    S-PIE's running threshold, computed from estimates, and eq. 9 computed directly from exact counts.

    Raises:
        InputError: for an unknown error, or an invalid width.

    """
    if of not in ERRORS:
        raise unknown("error of a sketch", of, ERRORS)
    keys = _stream()
    exact = _counts_before(keys)
    slow = _thresholds(keys)
    rows = []
    for kind in SKETCHES:
        for width in (parse_whole(text, 1) for text in at):
            estimates, thresholds, _ = _native.sketch(kind, width, DEPTH, keys.astype("<u8").tobytes())
            if of == "error":
                value = _high_error(np.frombuffer(estimates, "<u8"), exact)
            else:
                running = np.frombuffer(thresholds, "<f8")
                value = max(abs(running[place] / threshold - 1.0) for place, threshold in slow.items())
            rows.append((kind, float(width), str(width), value, value, value))
    if of == "error":
        bounds = [(float(width), str(width), math.e / width) for width in (parse_whole(text, 1) for text in at)]
        rows += [(BOUND, x, text, value, value, value) for x, text, value in bounds]
    return rows


def _stream() -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return the flow of every packet: popularity by Zipf's law, flows spread over all 64 bits."""
    random = np.random.default_rng(9)
    popularity = 1.0 / np.arange(1, STREAM_FLOWS + 1)
    flows = random.integers(0, 2**64, STREAM_FLOWS, dtype=np.uint64)
    return flows[random.choice(STREAM_FLOWS, STREAM_PACKETS, p=popularity / popularity.sum())]


def _counts_before(keys: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return how many earlier packets the flow of each packet has."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    starts = np.flatnonzero(first)
    place = np.arange(len(keys)) - np.repeat(starts, np.diff([*starts, len(keys)]))
    counts = np.empty(len(keys), dtype=np.int64)
    counts[order] = place
    return counts


def _thresholds(keys: np.ndarray[Any, np.dtype[np.uint64]], samples: int = 50) -> dict[int, float]:
    """Return eq. 9, sum m_i G_i / sum m_i, computed directly after some of the packets."""
    found = {}
    for place in np.linspace(len(keys) // samples, len(keys) - 1, samples).astype(int):
        counts = np.unique(keys[: place + 1], return_counts=True)[1].astype(float)
        shares = counts / counts.sum()
        found[int(place)] = float((counts * shares).sum() / counts.sum())
    return found


def _high_error(estimates: np.ndarray[Any, np.dtype[np.uint64]], exact: np.ndarray[Any, np.dtype[np.int64]]) -> float:
    settled = slice(len(exact) // 10, None)
    counted = np.arange(len(exact))[settled]
    error = np.abs(estimates[settled].astype(float) - exact[settled]) / counted
    return float(np.quantile(error, 1.0 - np.exp(-DEPTH)))


def _labels(of: str) -> list[str]:
    return [*SKETCHES, *([BOUND] if of == "error" else [])]


def _rows(result: Result | None, aqms: Sequence[str], labels: Sequence[str], of: str, at: Sequence[str]) -> list[Row]:
    del result, aqms, labels
    return measure(of, at)


STUDY = Study("sketch", "Width (counters per row)", _rows, _labels)
