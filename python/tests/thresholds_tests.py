"""dAQM's thresholds: the equations by hand, and what they hold in a simulation."""

from __future__ import annotations

import json

import pytest
from conftest import Command

from aqmlab import InputError, compare
from aqmlab.analysis.thresholds import held, thresholds
from aqmlab.scenario.registry import Spec


def the_equations_give_what_they_give_by_hand() -> None:
    # l = 100/2; L_s = 50/1000; s'' H = L_s; s''' H^2/2 = L_s. A packet takes 1.2 ms: 41 within 50 ms, of which 1 is
    # there; 40 packets in 100 samples.
    found = thresholds(100, 200, 1000, hops=2, packet_ms=1.2, waiting_packets=1)
    assert (found.s, found.s1, found.s2, found.s3) == (50, 0.05, 0.00005, pytest.approx(1e-7))
    assert (found.b, found.b1, found.b2, found.b3) == (41, 0.4, 0.004, pytest.approx(8e-5))
    assert thresholds(100, 30, 1000, packet_ms=1.2).b == 30
    assert thresholds(50, 200, 1000, waited_ms=30).s1 == 0.02


def as_many_packets_have_room_as_are_sent_within_the_limit() -> None:
    # Equation 3; 438.9 / 1.1 is below 399 by a last digit.
    assert [thresholds(399 * 1.1, 1000, 1000, packet_ms=1.1).b, thresholds(438.9, 1000, 1000, packet_ms=1.1).b] == [
        399,
        399,
    ]
    assert thresholds(438.8, 1000, 1000, packet_ms=1.1).b == 398


def a_spec_of_them_is_one_that_the_discipline_reads() -> None:
    spec = Spec.parse(thresholds(50, 200, 500).spec)
    assert spec.params["features"].startswith("[s 50ms, s1 0.1, ")
    assert ", b 200, " in spec.params["features"]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({"delay_ms": 0}, "delay: 0 ms is out of range: allowed is 1e-06 to 1e+09 ms"),
        ({"horizon_ms": 1e-200}, "horizon: 1e-200 ms is out of range"),
        ({"sample_ms": 1e308}, "sample: 1e+308 ms is out of range"),
        ({"packet_ms": 1e-320}, "packet: 9.99989e-321 ms is out of range"),
        ({"hops": 0}, "hops: 0 is not a whole number from 1 to 1000000000"),
        ({"hops": 2.5}, "hops: 2.5 is not a whole number"),
        ({"buffer_packets": 200.7}, "buffer: 200.7 is not a whole number"),
        ({"buffer_packets": float("nan")}, "buffer: nan is not a whole number"),
        ({"waited_ms": 50}, "waited: 50 ms must be below the limit of 50 ms"),
        ({"waiting_packets": 200}, "waiting: 200 packets must be fewer than the 200 that may wait"),
    ],
)
def what_cannot_be_is_refused_by_name(values: dict[str, float], wanted: str) -> None:
    with pytest.raises(InputError) as error:
        thresholds(**{"delay_ms": 50, "buffer_packets": 200, "horizon_ms": 1000, **values})  # type: ignore[arg-type]
    assert wanted in str(error.value)


def the_command_prints_the_spec_and_refuses_bytes(aqmlab: Command) -> None:
    words = ("aqm", "thresholds", "--delay", "50ms", "--horizon", "500ms", "--buffer")
    shown = json.loads(aqmlab(*words, "200p", "--json").out)
    assert shown["spec"] == thresholds(50, 200, 500).spec
    assert "--aqm 'daqm features [s 50000000ns" in aqmlab(*words, "200p", "--rate", "10mbit").out
    refused = aqmlab(*words, "64kb")
    assert (refused.status, "--buffer: '64kb' is not a number of packets" in refused.err) == (2, True)


def the_limit_is_held_where_enough_is_dropped_and_not_where_a_twentieth_is() -> None:
    # 20 % more than the link carries: with 5 % dropped the queue grows whatever is found, with 50 % it empties.
    spec = thresholds(50, 2000, 1000).spec
    result = compare(
        rate="10mbit",
        rtt="20ms",
        buffer="2000p",
        flows="1*poisson:rate=12mbit",
        aqm=[f"{spec} drop_rate 5%", f"{spec} drop_rate 50%"],
        duration="10s",
        seeds="2",
    )
    few, many = held(result, 50).values()
    assert (few < 0.1, many > 0.99) == (True, True), (few, many)
