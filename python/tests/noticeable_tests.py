"""A difference is coloured only where people notice it."""

from __future__ import annotations

import pytest

from aqmlab.results.differences import Comparison
from aqmlab.results.noticeable import explained, is_negligible, is_noticeable
from aqmlab.stats.statistics import Difference, Estimate

SCENARIO = {"rtt": "40ms", "duration": "30s"}


@pytest.mark.parametrize(
    ("metric", "base", "change", "noticeable"),
    [
        # A sixth less goodput makes a download a fifth longer.
        ("goodput_mbit", 18.0, -2.9, False),
        ("goodput_mbit", 18.0, -3.1, True),
        # A fifth of the round trip of 40 + 10 ms.
        ("qdelay_mean_ms", 10.0, 9.0, False),
        ("qdelay_mean_ms", 10.0, 11.0, True),
        ("mos_mean", 4.3, -0.2, False),
        ("mos_mean", 4.3, -0.4, True),
        ("page_load_mean_s", 0.2, 0.08, False),
        ("page_load_mean_s", 2.0, 0.5, True),
        # A hundredth of 30 s.
        ("video_stall_s", 0.0, 0.2, False),
        ("video_stall_s", 0.0, 0.4, True),
        # From when on loss or fairness is noticeable, no source says.
        ("loss_ratio", 0.001, 0.5, False),
        ("jain_index", 1.0, -0.5, False),
    ],
)
def a_difference_is_noticed_from_a_threshold_on(metric: str, base: float, change: float, noticeable: bool) -> None:
    one = Comparison(0, "b", "a", metric, base, Difference(Estimate(change, change, change, 3), 0.0, 0.0))
    assert is_noticeable(one, SCENARIO) is noticeable


@pytest.mark.parametrize(
    ("metric", "base", "change", "negligible"),
    [
        ("port.up.qdelay_mean_ms", 0.00003, 0.00002, True),
        # A hundredth of 40 + 1 ms.
        ("qdelay_mean_ms", 1.0, 0.40, True),
        ("qdelay_mean_ms", 1.0, 0.42, False),
        ("mos_back_mean", 4.409, 0.0004, True),
        ("mos_back_mean", 4.3, -0.2, False),
        # What a queue costs is asked for however little it is.
        ("goodput_mbit", 18.0, -0.001, False),
    ],
)
def a_difference_is_no_answer_far_below_what_is_noticed(
    metric: str, base: float, change: float, negligible: bool
) -> None:
    one = Comparison(0, "b", "a", metric, base, Difference(Estimate(change, change, change, 3), 0.0, 0.0))
    assert is_negligible(one, SCENARIO) is negligible


def the_thresholds_are_explained_with_their_sources() -> None:
    text = "; ".join(explained({"qdelay_mean_ms", "goodput_mbit", "mos_mean", "page_load_mean_s", "video_stall_s"}))
    for source in ("Seow, 2008", "G.107", "Miller, 1968", "Dobrian"):
        assert source in text
    assert explained({"loss_ratio"}) == []
