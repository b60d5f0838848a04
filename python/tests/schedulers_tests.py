"""Schedulers protect their classes from a flood, with the buffer that all compared disciplines have."""

from __future__ import annotations

import pytest
from conftest import Command

import aqmlab

RUN = {"rate": "10mbit", "rtt": "20ms", "buffer": "100p", "duration": "6s", "warmup": "1s", "seeds": 1}
SHARING = ("rr", "wrr", "drr", "wfq", "qfq", "mq_ecn", "ets")


def _shares(aqm: str, flood: str, responsive: str) -> dict[str, float]:
    """Mbit/s of a flood of UDP at 12 Mbit/s and of two TCP flows, with the keys that choose their class."""
    flows = [f"1*cbr:rate=12mbit:name=flood:start=0s:{flood}", f"2*cubic:name=tcp:start=0s:{responsive}"]
    runs = aqmlab.compare(flows=flows, aqm=aqm, **RUN).runs
    return {name: float(runs[f"class.{name}.goodput_mbit"][0]) for name in ("flood", "tcp")}


@pytest.mark.parametrize(
    ("aqm", "low", "high"),
    [
        ("sp", "class=1", "class=0"),
        ("sp:linux", "class=2", "class=1"),
        ("pfifo_fast", "dscp=0", "dscp=4"),
        ("prio", "dscp=2", "dscp=0"),
        ("prio bands 2 priomap 0,1 priority class", "class=1", "class=0"),
        ("ets strict 1", "class=1", "class=0"),
        ("ets:linux strict 3 priomap 1,1,2,1,1,1,0", "dscp=2", "dscp=0"),
    ],
)
def strict_priority_is_strict_whoever_floods(aqm: str, low: str, high: str) -> None:
    behind = _shares(aqm, low, high)
    assert behind["tcp"] > 9.3
    assert behind["flood"] < 0.1
    ahead = _shares(aqm, high, low)
    assert ahead["flood"] > 9.6
    assert ahead["tcp"] < 0.1


@pytest.mark.parametrize("aqm", SHARING)
@pytest.mark.parametrize(("flood", "responsive"), [("class=0", "class=1"), ("class=1", "class=0")])
def schedulers_share_whichever_class_is_flooded(aqm: str, flood: str, responsive: str) -> None:
    shares = _shares(aqm, flood, responsive)
    assert shares["tcp"] == pytest.approx(4.8, abs=0.2)
    assert shares["flood"] == pytest.approx(4.8, abs=0.2)


@pytest.mark.parametrize(("aqm", "tcp", "tolerance"), [("pifo", 6.4, 0.2), ("sp_pifo", 5.5, 1.0)])
def fair_ranks_share_among_flows_whoever_floods(aqm: str, tcp: float, tolerance: float) -> None:
    # Two of three flows are TCP's.
    shares = _shares(aqm, "class=0", "class=0")
    assert shares["tcp"] == pytest.approx(tcp, abs=tolerance)
    assert shares["flood"] == pytest.approx(9.6 - tcp, abs=tolerance)


@pytest.mark.parametrize(
    ("aqm", "held"),
    [
        ("sp classes 3 child [fifo limit 40p]", "100p"),
        ("sp classes 3 child [fifo limit 20p]", "60p"),
        ("pfifo_fast band_limit 10p", "30p"),
        ("sp_pifo queues 4 queue_limit 10p", "40p"),
        ("sp:linux", "100p"),
    ],
)
def buffers_are_compared_by_what_all_classes_hold_together(aqm: str, held: str, aqmlab: Command) -> None:
    asked = ("compare", "--rate", "10mbit", "--rtt", "20ms", "--buffer", "100p", "--duration", "2s", "--seeds", "1")
    ended = aqmlab(*asked, "--aqm", "fifo", "--aqm", aqm)
    if held == "100p":
        assert ended.status == 0, ended.err
    else:
        assert ended.status == 2
        assert f"has {held} of buffer and 'fifo' 100p: give all the same limit" in ended.err
