from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pytest

from aqmlab.results import Result
from aqmlab.results.best import best
from aqmlab.results.differences import family
from aqmlab.results.frames import Frames, from_runs
from aqmlab.results.headline import headlines
from aqmlab.results.ranking import Ranking, rankings
from aqmlab.results.summary import summarise

NAME = "qdelay_mean_ms"


def _frames(values: Mapping[str, Sequence[float]], name: str = NAME) -> Frames:
    rows = [(0, aqm, seed, value) for aqm, own in values.items() for seed, value in enumerate(own, 1)]
    types = {"point": pl.UInt32, "aqm": pl.String, "seed": pl.UInt32, name: pl.Float64}
    empty = from_runs([])
    runs = pl.DataFrame(rows, schema=types, orient="row")
    return Frames(runs, empty.flows, empty.series, empty.queues, empty.histograms)


def _rankings(values: Mapping[str, Sequence[float]], name: str = NAME) -> list[Ranking]:
    frames, aqms = _frames(values, name), list(values)
    return rankings(family(frames, [0], aqms, [name]), summarise(frames, [0], aqms), [0], aqms, [name])


def _ranking(values: Mapping[str, Sequence[float]], name: str = NAME) -> Ranking:
    (found,) = _rankings(values, name)
    return found


def _result(values: Mapping[str, Sequence[float]], name: str = NAME) -> Result:
    """A result of hand-made runs."""
    scenario = {"aqm": [{"label": aqm, "name": aqm} for aqm in values], "seeds": [1, 2, 3, 4, 5], "flows": []}
    return Result({"points": [{"point": {}, "scenario": scenario}]}, _frames(values, name))


# Noise that the seeds have in common, and noise of their own.
COMMON = (0.0, 5.0, -4.0, 2.0, -3.0)
OWN = (0.3, -0.2, 0.1, -0.4, 0.2)


def the_order_says_where_neighbours_differ() -> None:
    found = _ranking(
        {
            "pie": [20.0 + one for one in COMMON],
            "codel": [20.1 + one + own for one, own in zip(COMMON, OWN, strict=True)],
            "fq_codel": [17.0 + one - own for one, own in zip(COMMON, OWN, strict=True)],
        }
    )
    assert list(found.groups) == [["fq_codel"], ["pie", "codel"]]
    assert found.words == "mean queue delay: fq_codel < pie ≈ codel"


def more_is_better_for_goodput() -> None:
    found = _ranking({"a": [9.0, 9.1, 9.2], "b": [9.5, 9.61, 9.7]}, "goodput_mbit")
    assert list(found.aqms) == ["b", "a"]
    assert found.words == "goodput: b > a"


def groups_may_overlap_and_a_step_separates_each_from_the_next() -> None:
    # Neighbours are as far apart as chance may put them, their neighbours are not.
    spread = (-1.0, 1.0, -0.5, 0.5, 0.0)
    values = {
        "a": [10.0] * 5,
        "b": [10.0 + 0.55 + 0.5 * one for one in spread],
        "c": [10.0 + 1.1 - 0.5 * one for one in spread],
    }
    found = _ranking(values)
    assert list(found.groups) == [["a", "b"], ["b", "c"]]
    (step,) = found.steps
    assert (step.ahead, step.behind) == ("a", "c")
    assert found.words == "mean queue delay: a ? b ? c; a < c"
    assert found.best == ["a", "b"]


# Each run of a is one or less better than that of b; c has as much noise of its own.
NOISY = {"a": [10.0, 10.1, 9.9, 10.0, 10.1], "b": [11.0, 11.2, 10.8, 11.1, 11.0], "c": [13.0, 8.0, 12.5, 9.0, 13.5]}


def a_noisy_one_is_behind_nobody_and_not_among_the_best_either() -> None:
    found = _ranking(NOISY)
    assert [list(group) for group in found.groups] == [["a"], ["b", "c"]]
    # c may be as good as a; it is not called best while b, which is worse than a, is ahead of it.
    assert (found.behind("a"), found.best) == (["b"], ["a"])
    assert found.words == "mean queue delay: a < b ? c; a ? c"


def the_headline_states_what_is_beyond_chance() -> None:
    sentences = {one.aqm: one.words for one in headlines(_result(NOISY))}
    assert sentences == {
        "b": "10 % more queue delay than a (10 → 11 ms)",
        "c": "undecided against a: queue delay (10 → 11 ms, -33 to +57 %)",
    }
    (one,) = headlines(_result({"a": NOISY["a"], "b": NOISY["a"]}))
    assert one.words == "the same as a in every run"
    (one,) = headlines(_result({"a": [40.0, 41.0, 42.0], "b": [9.0, 9.2, 9.1]}))
    assert one.words == "78 % less queue delay than a (41.0 → 9.1 ms)"
    (one,) = headlines(_result({"a": [1.0, 1.01, 1.02], "b": [9.0, 9.2, 9.1]}))
    assert one.words == "9 times the queue delay of a (1.0 → 9.1 ms)"
    (one,) = headlines(_result({"a": [0.0, 0.0, 0.0], "b": [2.0, 2.1, 2.2]}))
    assert one.words == "higher queue delay than a (0.0 → 2.1 ms)"


def the_best_are_named_with_what_is_known_between_them() -> None:
    every = {"a": "A", "b": "B", "c": "C"}
    near = {"a": [10.0, 10.1, 9.9], "b": [10.01, 10.09, 9.9], "c": [20.0, 20.1, 19.9]}
    assert best(_result(near), every) == "Best by queue delay: A or B (the same within 5 %)."
    noisy = {"a": [10.0, 10.1, 9.9], "b": [11.0, 9.0, 10.5], "c": [30.0, 30.1, 29.9]}
    assert best(_result(noisy), every) == "Best by queue delay: A or B (undecided)."
    assert best(_result({"a": near["a"], "b": near["c"]}), every) == "", "of two the answer says it"
    alike = {"a": [10.0, 12.0, 8.0], "b": [11.0, 9.0, 10.5], "c": [10.0, 8.0, 12.9]}
    assert best(_result(alike), every) == ""


def an_interval_without_zero_and_a_mark_go_together() -> None:
    random = np.random.default_rng(5)
    for _ in range(60):
        shifts = random.choice([0.0, 0.5, 2.0], 5)
        values = {f"aqm{place}": (10.0 + shift + random.normal(0, 1, 6)) for place, shift in enumerate(shifts)}
        frames = _frames({aqm: own.tolist() for aqm, own in values.items()})
        for one in family(frames, [0], list(values), [NAME]):
            low, high = one.difference.estimate.low, one.difference.estimate.high
            assert low is not None
            assert high is not None
            assert one.difference.is_distinguishable == (low >= 0.0 or high <= 0.0)
            assert one.verdict.startswith(("undecided", "the same within")) == (low < 0.0 < high)


def rankings_and_differences_are_of_one_family() -> None:
    result = _result(NOISY)
    (order,) = result.rankings
    assert len(result.family) == 3
    for one in result.comparisons:
        pair = (one.reference, one.aqm) if (one.reference, one.aqm) in order.pairs else (one.aqm, one.reference)
        assert order.pairs[pair] is one.difference


def what_is_the_same_in_every_run_is_reported_as_such() -> None:
    assert _ranking({"a": NOISY["a"], "b": NOISY["a"]}).words == "mean queue delay: a = b"


def all_alike_is_one_group_without_a_step() -> None:
    found = _ranking({"a": [1.0, 2.0, 3.0], "b": [1.1, 1.9, 3.0], "c": [0.9, 2.1, 3.05]})
    assert found.steps == []
    assert not found.is_decided
    assert found.words == "mean queue delay: a ? b ? c"


def the_seed_that_alone_decides_is_named() -> None:
    frames = _frames({"a": [1.0, 1.2, 0.9, 1.1, 9.0], "b": [2.0, 2.3, 1.9, 2.2, 5.0]})
    (one,) = family(frames, [0], ["a", "b"], [NAME])
    assert not one.difference.is_distinguishable
    assert one.outlier is not None
    assert one.outlier.seed == 5
    assert one.words.endswith("; without seed 5, which moves it most, beyond chance)")
    # Without any of these seeds the verdict is the same.
    frames = _frames({"a": [1.0, 1.2, 0.9, 1.1, 1.0], "b": [2.0, 2.3, 1.9, 2.2, 2.1]})
    (one,) = family(frames, [0], ["a", "b"], [NAME])
    assert one.outlier is None


@pytest.mark.parametrize("values", [{"a": [1.0, 2.0]}, {"a": [1.0], "b": [2.0]}])
def one_aqm_or_one_seed_has_no_ranking(values: Mapping[str, Sequence[float]]) -> None:
    assert _rankings(values) == []
