from __future__ import annotations

from typing import Any

import pytest

from aqmlab import InputError, hypercube, scenario, sobol
from aqmlab.scenario import sweeps
from aqmlab.scenario.sweeps import Design, Range
from aqmlab.units import parse_span

PLAIN: dict[str, Any] = {"aqm": ["codel target $target", "fifo"], "rate": "10mbit"}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1ms..4ms*4", ["1ms", "2ms", "3ms", "4ms"]),
        ("1ms..20ms*8", ["1ms", "3714us", "6429us", "9143us", "11860us", "14570us", "17290us", "20ms"]),
        ("100kbit..100mbit*4log", ["100kbit", "1mbit", "10mbit", "100mbit"]),
        ("1%..10%*4", ["1%", "4%", "7%", "10%"]),
        ("10p..20p*3", ["10p", "15p", "20p"]),
        ("1..10*4", ["1", "4", "7", "10"]),
        ("1..100*5log", ["1", "3", "10", "32", "100"]),
        ("0.5..2*4", ["0.5", "1", "1.5", "2"]),
        # Rounded to whole packets, values that are equal count once.
        ("1p..3p*9", ["1p", "2p", "3p"]),
    ],
)
def a_range_has_its_values_at_equal_distances_or_ratios(text: str, values: list[str]) -> None:
    found = Range.parse(text)
    assert found is not None
    assert found.values() == values


@pytest.mark.parametrize("text", ["5ms", "start=0s..1s", "1ms..2mbit*4", "5*cubic:start=0s..1s", ".."])
def what_is_no_range_stays_a_value(text: str) -> None:
    assert sweeps.values(text) == [text]


def all_combinations_come_in_the_order_of_the_names() -> None:
    experiment = scenario.swept(PLAIN, {"target": "1ms..3ms*3", "rtt": "10ms, 40ms"})
    assert [tuple(point.point.values()) for point in experiment.points] == [
        ("1ms", "10ms"), ("1ms", "40ms"), ("2ms", "10ms"), ("2ms", "40ms"), ("3ms", "10ms"), ("3ms", "40ms"),
    ]  # fmt: skip
    plans = [scenario.resolve(point) for point in experiment.points]
    assert [plan.echo["rtt"] for plan in plans[:2]] == ["10ms", "40ms"]
    assert plans[5].echo["aqm"][0]["params"]["target"] == "3ms"


@pytest.mark.parametrize("name", ["latin", "sobol"])
def a_sample_has_a_value_of_its_own_in_every_layer(name: str) -> None:
    swept = {"target": sweeps.values("0ms..16ms"), "load": ["1", "2", "3", "4"]}
    rows = Design(name, 16).points_of(swept)
    assert len(rows) == 16
    layers = sorted(parse_span(row[0]) // 1_000_000 for row in rows)
    assert layers == list(range(16))
    assert [sum(row[1] == load for row in rows) for load in ("1", "2", "3", "4")] == [4, 4, 4, 4]


def sobol_points_are_those_of_joe_and_kuo() -> None:
    qmc = pytest.importorskip("scipy.stats.qmc", reason="scipy is not installed")
    theirs = qmc.Sobol(sobol.DIMENSIONS, scramble=False).random(256)
    assert (sobol.points(256, sobol.DIMENSIONS) - 0.5 / 256 == theirs).all()


def sobol_points_fill_every_elementary_square() -> None:
    # A (0, 2)-sequence in base 2: each square of 1/4 by 1/4 has one of 16 points, and so has each of 1/16 by 1.
    points = sobol.points(16, 2)
    for across, down in ((16, 1), (8, 2), (4, 4), (2, 8), (1, 16)):
        assert len({(int(x * across), int(y * down)) for x, y in points}) == 16


def a_hypercube_has_one_point_in_every_layer() -> None:
    points = hypercube.even(20, 3)
    for column in points.T:
        assert sorted(int(place * 20) for place in column) == list(range(20))


@pytest.mark.parametrize(
    ("sweep", "design", "message"),
    [
        ({"rtt": "40ms..10ms*3"}, "grid", "sweep: rtt: '40ms..10ms*3': the first end is not below the second"),
        ({"rtt": "10ms..40ms*1"}, "grid", "sweep: rtt: '10ms..40ms*1': '1' is not a whole number from 2 to 1000"),
        ({"rtt": "10ms..40ms"}, "grid", "sweep: rtt: a range needs the number of its values, as 10ms..40ms*8"),
        ({"rtt": "0ms..40ms*3log"}, "grid", "equal ratios need an end above zero"),
        ({"rtt": "10ms,10ms"}, "grid", "sweep: rtt: holds a value twice"),
        ({"rttt": "10ms,40ms"}, "grid", "sweep: unknown key 'rttt', did you mean 'rtt'?"),
        ({"rtt": "10ms..40ms"}, "sobl*4", "design: 'sobl*4' is none of grid, latin*N, sobol*N, did you mean 'sobol'?"),
        ({"rtt": "10ms..40ms"}, "sobol", "design: 'sobol': how many points? As sobol*30"),
        ({"rtt": "10ms..40ms"}, "grid*4", "design: 'grid*4': grid has the points of its values"),
        ({"rtt": "10ms..40ms*1000", "loss": "0%..1%*1000"}, "grid", "sweep: has 1000000 points; at most 10000"),
    ],
)
def a_wrong_sweep_is_refused_in_words(sweep: dict[str, str], design: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        scenario.swept({"aqm": "codel", "rate": "10mbit"}, sweep, design)
    assert message in str(error.value)


def a_sobol_sample_of_too_many_names_is_refused() -> None:
    names = [f"v{place}" for place in range(11)]
    flows = [f"1*cubic:start=${name}" for name in names]
    with pytest.raises(InputError, match="sobol: has 10 dimensions; 11 are swept: use latin"):
        scenario.swept({"aqm": "codel", "flows": flows}, dict.fromkeys(names, "1ms..9ms"), "sobol*4")
