"""The warning about a law that overflows a buffer far below its own default."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab.results.result import Result

LINK = {"rate": "10mbit", "rtt": "40ms", "flows": "1*cubic:start=0s", "seeds": 2, "duration": "15s"}


def _warnings(result: Result) -> list[str]:
    return [text for text in result.warnings if "overflows" in text]


@pytest.fixture(scope="module")
def small() -> Result:
    """A lone flow through a buffer of one bandwidth-delay product."""
    return aqmlab.compare(**LINK, aqm=["fifo", "fq_codel", "cake rtt 100ms", "cake limit 34p"])


def cake_loses_most_of_a_link_for_a_lone_flow_where_its_buffer_overflows(small: Result) -> None:
    goodput = {row.aqm: row.estimate.value for row in small.rows if row.metric == "goodput_mbit"}
    assert goodput["cake rtt 100ms"] < 0.7 * goodput["fifo"]
    assert goodput["fq_codel"] > 0.9 * goodput["fifo"], "it overflows too, and loses little"


def the_warning_names_who_loses_how_much_and_what_to_write(small: Result) -> None:
    (text,) = _warnings(small)
    assert text.startswith("cake rtt 100ms overflows a buffer of 34p and has ")
    assert text.endswith("10240p: try --aqm 'cake rtt 100ms limit 10240p' --allow-unequal-buffers")


def what_it_names_has_no_such_loss() -> None:
    deployed = aqmlab.compare(**LINK, aqm=["fifo", "cake rtt 100ms limit 10240p"], allow_unequal_buffers=True)
    goodput = {row.aqm: row.estimate.value for row in deployed.rows if row.metric == "goodput_mbit"}
    assert goodput["cake rtt 100ms limit 10240p"] > 0.9 * goodput["fifo"]
    assert not _warnings(deployed)


def a_sweep_says_it_once_with_the_worst_of_its_settings() -> None:
    swept = aqmlab.sweep(sweep={"buffer": ["34p", "200p"]}, **LINK, aqm=["fifo", "Home=cake"])
    (text,) = _warnings(swept)
    assert " at buffer 34p (1 of 2 settings)" in text
    assert "--aqm 'Home=cake:linux limit 10240p'" in text
