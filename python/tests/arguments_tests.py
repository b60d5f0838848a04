"""Arguments of the Python functions: what is no number, or out of its range, is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

import aqmlab
from aqmlab import InputError


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"jobs": "x"}, "jobs: 'x' is no whole number: allowed is 1 or more"),
        ({"jobs": 1.5}, "jobs: '1.5' is no whole number: allowed is 1 or more"),
        ({"jobs": True}, "jobs: 'True' is no whole number: allowed is 1 or more"),
        ({"jobs": 0}, "jobs: '0' is out of range: allowed is 1 or more"),
    ],
)
def numbers_that_are_none_are_refused_by_name(given: dict[str, Any], says: str) -> None:
    scenario: dict[str, Any] = {"rate": "10mbit", "rtt": "40ms", "duration": "1s", "seeds": 1}
    with pytest.raises(InputError, match=says):
        aqmlab.compare(**scenario, aqm="fifo", **given)
    with pytest.raises(InputError, match=says):
        aqmlab.tune(aqm="pie target 5ms..50ms", minimise="qdelay_mean_ms", trials=1, **{**scenario, **given})


@pytest.mark.parametrize("name", ["trials", "pareto", "training_seeds", "sensitivity"])
def counts_of_a_tuning_are_whole_numbers(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: 'x' is no whole number: allowed is "):
        aqmlab.tune(
            aqm="pie target 5ms..50ms",
            minimise="qdelay_mean_ms",
            rate="10mbit",
            rtt="40ms",
            **{name: "x"},  # type: ignore[arg-type]
        )
