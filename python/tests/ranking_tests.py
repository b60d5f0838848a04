from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
import pytest

from aqmlab.report.answer import sentences
from aqmlab.results import Result
from aqmlab.results.frames import Frames, from_runs
from aqmlab.results.ranking import Ranking, rankings
from aqmlab.results.summary import compare, summarise

NAME = "qdelay_mean_ms"


def _frames(values: Mapping[str, Sequence[float]], name: str = NAME) -> Frames:
    rows = [(0, aqm, seed, value) for aqm, own in values.items() for seed, value in enumerate(own, 1)]
    types = {"point": pl.UInt32, "aqm": pl.String, "seed": pl.UInt32, name: pl.Float64}
    empty = from_runs([])
    runs = pl.DataFrame(rows, schema=types, orient="row")
    return Frames(runs, empty.flows, empty.series, empty.queues, empty.histograms)


def _ranking(values: Mapping[str, Sequence[float]], name: str = NAME) -> Ranking:
    frames = _frames(values, name)
    (found,) = rankings(frames, summarise(frames, [0], list(values)), [0], list(values))
    return found


def _answer(values: Mapping[str, Sequence[float]]) -> str:
    """The answer's sentence on hand-made runs."""
    scenario = {"aqm": [{"label": aqm, "name": aqm} for aqm in values], "seeds": [1, 2, 3, 4, 5]}
    (told,) = sentences(Result({"points": [{"point": {}, "scenario": scenario}]}, _frames(values)))
    return told


# Noise that the seeds have in common, and noise of their own.
COMMON = (0.0, 5.0, -4.0, 2.0, -3.0)
OWN = (0.3, -0.2, 0.1, -0.4, 0.2)


def who_cannot_be_told_apart_is_said_and_who_is_ahead_by_how_much() -> None:
    found = _ranking(
        {
            "pie": [20.0 + one for one in COMMON],
            "codel": [20.1 + one + own for one, own in zip(COMMON, OWN, strict=True)],
            "fq_codel": [17.0 + one - own for one, own in zip(COMMON, OWN, strict=True)],
        }
    )
    assert list(found.groups) == [["fq_codel"], ["pie", "codel"]]
    assert found.words == (
        "mean queue delay: pie and codel are not distinguishable; fq_codel is lower than pie by 3.00 ms [2.64, 3.36]"
    )


def more_is_better_for_goodput() -> None:
    found = _ranking({"a": [9.0, 9.1, 9.2], "b": [9.5, 9.61, 9.7]}, "goodput_mbit")
    assert list(found.aqms) == ["b", "a"]
    assert found.words.startswith("goodput: b is higher than a by 0.503 Mbit/s [0.")


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


# Each run of a is one or less better than that of b; c has as much noise of its own.
NOISY = {"a": [10.0, 10.1, 9.9, 10.0, 10.1], "b": [11.0, 11.2, 10.8, 11.1, 11.0], "c": [13.0, 8.0, 12.5, 9.0, 13.5]}


def a_noisy_one_is_placed_behind_nobody() -> None:
    found = _ranking(NOISY)
    assert [list(group) for group in found.groups] == [["a"], ["b", "c"]]
    assert (found.behind("a"), found.best, found.worst) == (["b"], ["a", "c"], ["a", "b", "c"])
    assert found.words.startswith(
        "mean queue delay: b and c are not distinguishable; a is not distinguishable from c; a is lower than b by "
    )


def the_answer_states_only_what_is_proven() -> None:
    assert _answer(NOISY) == (
        "Mean queue delay is lower under a (10.0 ms) than under b (11.0 ms); where c belongs is not certain."
    )
    assert _answer({"a": NOISY["a"], "c": NOISY["c"]}) == (
        "a and c cannot be told apart by mean queue delay (10.0 to 11.2 ms), with 5 seeds."
    )
    # Without the noise there is a first and a last.
    assert _answer({**NOISY, "c": [13.0, 13.1, 12.8, 13.0, 13.2]}) == (
        "Mean queue delay is best under a (10.0 ms), worst under c (13.0 ms)."
    )
    assert _answer({"a": NOISY["a"], "b": NOISY["a"], "c": NOISY["b"]}) == (
        "Mean queue delay is best under a and b (10.0 ms, equal in every run), worst under c (11.0 ms)."
    )
    # The first is so noisy that b and c, which differ, are both indistinguishable from it; d is far behind all.
    behind = [30.0, 30.1, 29.9, 30.2, 30.0]
    assert _answer({"a": [4.0, 14.0, 5.0, 13.0, 6.0], "b": NOISY["a"], "c": NOISY["b"], "d": behind}) == (
        "Mean queue delay is best under a, b and c (8.40 to 11.0 ms, not distinguishable from a), "
        "worst under d (30.0 ms)."
    )


def what_is_the_same_in_every_run_is_said_to_be_the_same() -> None:
    assert _ranking({"a": NOISY["a"], "b": NOISY["a"]}).words == "mean queue delay: a and b are equal in every run"
    assert _answer({"a": NOISY["a"], "b": NOISY["a"]}) == "a and b are the same in every run."
    assert _answer({"a": [1.0], "b": [1.0]}) == "a and b are the same in every run."


def all_alike_is_one_group_without_a_step() -> None:
    found = _ranking({"a": [1.0, 2.0, 3.0], "b": [1.1, 1.9, 3.0], "c": [0.9, 2.1, 3.05]})
    assert found.steps == []
    assert found.words.endswith(" are not distinguishable")


def the_seed_that_alone_decides_is_named() -> None:
    frames = _frames({"a": [1.0, 1.2, 0.9, 1.1, 9.0], "b": [2.0, 2.3, 1.9, 2.2, 5.0]})
    (one,) = compare(frames, [0], ["a", "b"], [NAME])
    assert not one.difference.is_distinguishable
    assert one.outlier is not None
    assert one.outlier.seed == 5
    assert one.words.endswith("; without seed 5, which moves it most, distinguishable)")
    # Without any of these seeds the verdict is the same.
    frames = _frames({"a": [1.0, 1.2, 0.9, 1.1, 1.0], "b": [2.0, 2.3, 1.9, 2.2, 2.1]})
    (one,) = compare(frames, [0], ["a", "b"], [NAME])
    assert one.outlier is None


@pytest.mark.parametrize("values", [{"a": [1.0, 2.0]}, {"a": [1.0], "b": [2.0]}])
def one_aqm_or_one_seed_has_no_ranking(values: Mapping[str, Sequence[float]]) -> None:
    frames = _frames(values)
    assert rankings(frames, summarise(frames, [0], list(values)), [0], list(values)) == []
