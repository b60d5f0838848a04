from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab import InputError
from aqmlab.results import precision
from aqmlab.results.precision import Precision
from aqmlab.stats import statistics

OPTIONS: dict[str, Any] = {
    "rate": "5mbit",
    "rtt": "20ms",
    "flows": "2*cubic",
    "aqm": ["pie", "codel"],
    "duration": "3s",
}


def seeds_are_added_until_the_interval_is_within_the_share(tmp_path: Path) -> None:
    result = aqmlab.compare(**OPTIONS, seeds=4, until_ci="10%", out=tmp_path / "r")
    stop = result.stop
    assert stop is not None
    assert stop["pilot"] == 4
    assert stop["seeds"] == len(result.seeds) == stop["needed"] > 4
    pilot = aqmlab.compare(**OPTIONS, seeds=4).runs
    needed = [
        statistics.runs_needed(pilot.filter(aqm=aqm)["qdelay_mean_ms"].to_list(), 0.1) or 0 for aqm in OPTIONS["aqm"]
    ]
    assert stop["needed"] == max(needed)
    assert precision.words(result).startswith(
        f"{stop['seeds']} seeds: mean queue delay is within 10 % of its mean for every AQM (Stein's"
    )
    for one in precision.reached(result):
        assert one.estimate.half_width is not None
        # The share is that of the pilot's mean.
        assert one.estimate.half_width <= 0.1 * pilot.filter(aqm=one.aqm)["qdelay_mean_ms"].mean() + 1e-12
    assert json.loads(result.to_json())["stop"]["words"] == precision.words(result)
    # Once more there is nothing to do, and it is the same as without a folder.
    again = aqmlab.compare(**OPTIONS, seeds=4, until_ci="10%", out=tmp_path / "r")
    assert again.stop == stop
    assert again.runs["cpu_s"].to_list() == result.runs["cpu_s"].to_list()
    alone = aqmlab.compare(**OPTIONS, seeds=4, until_ci="10%")
    assert alone.folder is None
    assert alone.runs.drop("cpu_s").equals(result.runs.drop("cpu_s"))


def of_several_ports_it_is_the_delay_where_packets_wait() -> None:
    upwards: dict[str, Any] = {
        **OPTIONS,
        "topology": "asymmetric:up=2mbit",
        "measure": "down,up",
        "flows": "2*cubic:from=home:to=server",
    }
    result = aqmlab.compare(**upwards, seeds=3, until_ci="10%:most=4")
    assert result.stop is not None
    assert result.stop["metric"] == "port.up.qdelay_mean_ms"
    assert "mean queue delay at up is within" in precision.words(result)


def reaching_the_maximum_is_reported() -> None:
    result = aqmlab.compare(**OPTIONS, seeds=3, until_ci="0.5%:metric=goodput_mbit:most=5")
    assert len(result.seeds) == 5
    words = precision.words(result)
    assert words.startswith("stopped at the maximum of 5 seeds: goodput is within ")
    assert " instead of 0.5 % for " in words


def equal_values_need_no_more_seeds() -> None:
    result = aqmlab.compare(**OPTIONS, seeds=3, until_ci="5%:metric=marks")
    assert len(result.seeds) == 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("5", "'5': '5' is out of range: allowed is above 0% to below 100%"),
        ("x", "'x': "),
        ("5%:metrik=marks", "'5%:metrik=marks': unknown key 'metrik'"),
        ("5%:metric=qdelay_p99_ms", "'5%:metric=qdelay_p99_ms': unknown mean 'qdelay_p99_ms'"),
        ("5%:most=2", "'2' is not a whole number from 3"),
    ],
)
def a_wrong_precision_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        Precision.parse(text)
    assert str(caught.value).startswith(problem)


def a_pilot_of_two_seeds_is_refused_before_it_is_made() -> None:
    with pytest.raises(InputError, match="seeds: '2' is no pilot: allowed is 3 to 200"):
        aqmlab.compare(**OPTIONS, seeds=2, until_ci="5%")


def a_run_of_the_pilot_without_the_metric_is_named() -> None:
    # One of the three flows starts early enough to complete.
    options = {**OPTIONS, "flows": "1*cubic:size=600kB:start=0s..3s", "duration": "2s"}
    with pytest.raises(InputError, match="the run of 'pie' with seed 1 has no 'fct_mean_s'"):
        aqmlab.compare(**options, seeds=3, until_ci="5%:metric=fct_mean_s")
