"""From which size on people notice a difference: the thresholds of `aqmlab advise`, for the metrics of a comparison.

Something may differ beyond chance and matter to nobody. Pages colour only what is noticeable.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab import _native
from aqmlab.results.differences import Comparison
from aqmlab.vocabulary.metrics import split
from aqmlab.vocabulary.units import parse_span

# The figure of a household whose threshold a metric has; a delay in a queue is a part of the round trip.
_FIGURES = {
    "goodput_mbit": "download_mbit",
    "throughput_mbit": "download_mbit",
    "utilization": "download_mbit",
    "qdelay_mean_ms": "game_rtt_ms",
    "ping_mean_ms": "game_rtt_ms",
    "mos_mean": "call_mos",
    "mos_back_mean": "call_mos",
    "page_load_mean_s": "page_load_s",
    "fct_mean_s": "page_load_s",
    "video_stall_s": "video_stall_s",
}
NANOS_PER_MS = 1e6
SECONDS_PER_MINUTE = 60.0
# Of a fifth of a round trip this is a hundredth of it: between two queues that short nobody has to choose.
NEGLIGIBLE = 0.05


@dataclass(frozen=True)
class Threshold:
    """What is noticeable: a difference of at least this much and of this share of the value, and who says so."""

    least: float
    share: float
    source: str


@functools.cache
def _thresholds() -> dict[str, Threshold]:
    figures = {one["name"]: one["noticeable"] for one in json.loads(_native.advice_figures())}
    return {metric: Threshold(**figures[figure]) for metric, figure in _FIGURES.items()}


def is_noticeable(one: Comparison, scenario: Mapping[str, Any]) -> bool:
    """Return whether people notice a difference; of loss, marks and fairness nobody knows from when."""
    threshold = _least(one, scenario)
    return threshold is not None and abs(one.difference.estimate.value) >= threshold


def is_negligible(one: Comparison, scenario: Mapping[str, Any]) -> bool:
    """Return whether a difference is so far below what people notice that it is no answer, however certain it is.

    Rates are never: who designs a queue asks what it costs, to a tenth of a per cent.
    """
    threshold = _least(one, scenario)
    is_rate = _FIGURES.get(split(one.metric)[1]) == "download_mbit"
    return threshold is not None and not is_rate and abs(one.difference.estimate.value) < NEGLIGIBLE * threshold


def least_delay_ms(scenario: Mapping[str, Any]) -> float:
    """Return the mean queue delay up to which a queue is as good as none: differences from none are negligible."""
    return NEGLIGIBLE * _thresholds()["qdelay_mean_ms"].share * _round_trip_ms(scenario)


def _round_trip_ms(scenario: Mapping[str, Any]) -> float:
    # A live link has none of its own.
    return parse_span(scenario["rtt"]) / NANOS_PER_MS if scenario.get("rtt") else 0.0


def _least(one: Comparison, scenario: Mapping[str, Any]) -> float | None:
    """Return the least difference that people notice; none where nobody knows."""
    metric = split(one.metric)[1]
    threshold = _thresholds().get(metric)
    if threshold is None:
        return None
    base, least = one.reference_value, threshold.least
    if metric == "qdelay_mean_ms":
        # The share is of the whole round trip. Steps of so many ms are those of a game; others notice the share.
        base, least = base + _round_trip_ms(scenario), 0.0
    elif metric == "ping_mean_ms":
        least = 0.0
    elif metric == "video_stall_s":
        least *= parse_span(scenario["duration"]) / 1e9 / SECONDS_PER_MINUTE
    return max(least, threshold.share * base)


def explained(metrics: set[str]) -> list[str]:
    """Return the thresholds of some metrics with their sources, in words."""
    found = []
    if metrics & {"qdelay_mean_ms", "ping_mean_ms"}:
        found.append("delays from a fifth of the round trip on (a fifth more time is noticeable: Seow, 2008)")
    if metrics & {"goodput_mbit", "utilization", "throughput_mbit"}:
        share = _thresholds()["goodput_mbit"].share
        found.append(f"rates from {share:.0%} on (downloads that take a fifth longer: Seow, 2008)")
    if "mos_mean" in metrics:
        found.append(f"calls from {_thresholds()['mos_mean'].least:g} of MOS on (ITU-T G.107, annex B)")
    if metrics & {"page_load_mean_s", "fct_mean_s"}:
        found.append("waiting from a fifth and 0.1 s on (Seow, 2008; Miller, 1968)")
    if "video_stall_s" in metrics:
        found.append("stalls from 1 % of the time on (Dobrian et al., 2011)")
    return found


__all__ = ["Threshold", "explained", "is_negligible", "is_noticeable", "least_delay_ms"]
