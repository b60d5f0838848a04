"""Every verdict can turn: the engine on made-up numbers, each of which is right for one verdict only."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.errors import InputError
from aqmlab.papers.claims import Claim, Operand, expectation, read
from aqmlab.papers.documents import Table
from aqmlab.papers.verdicts import ORDER, Verdict, judge

SEEDS = range(1, 11)


def _claim(**entries: object) -> Claim:
    base = {"id": "c-1", "says": "A is below B", "where": "Figure 1", "scenario": "s", "measure": {"of": "q"}}
    (claim,) = read(Table({"claim": [{**base, **entries}]}, "claims.toml: "))
    return claim


def _noisy(mean: float, spread: float = 0.05, salt: int = 0) -> dict[int, float]:
    noise = np.random.default_rng(salt).normal(0.0, spread, len(SEEDS))
    return {seed: mean * (1.0 + float(one)) for seed, one in zip(SEEDS, noise, strict=True)}


def _verdict(claim: Claim, **found: Mapping[int, float]) -> Verdict:
    return judge(claim, lambda side, point: found.get(side.aqm, {}), [0]).verdict


SIZED = {"expect": ["a < b"], "paper": {"a": 5.0, "b": 10.0}, "tolerance": "10 points"}


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (_noisy(5.2, salt=1), _noisy(10.0, salt=2), Verdict.REPRODUCED),
        (_noisy(8.0, salt=1), _noisy(10.0, salt=2), Verdict.DIRECTION_ONLY),
        (_noisy(2.0, salt=1), _noisy(10.0, salt=2), Verdict.DIRECTION_ONLY),
        (_noisy(10.0, salt=1), _noisy(10.0, salt=2), Verdict.NOT_REPRODUCED),
        (_noisy(12.0, salt=1), _noisy(10.0, salt=2), Verdict.NOT_REPRODUCED),
        ({}, _noisy(10.0, salt=2), Verdict.NOT_CHECKABLE),
        ({1: 5.0}, {1: 10.0}, Verdict.NOT_CHECKABLE),
    ],
)
def a_difference_turns_with_its_direction_its_interval_and_its_size(
    a: Mapping[int, float], b: Mapping[int, float], wanted: Verdict
) -> None:
    assert _verdict(_claim(**SIZED), a=a, b=b) is wanted


def the_interval_decides_not_the_mean() -> None:
    # Ten per cent lower on average, by a single run.
    b = dict.fromkeys(SEEDS, 10.0)
    a = {**b, 1: 0.0}
    claim = _claim(expect=["a < b"])
    assert _verdict(claim, a=a, b=b) is Verdict.NOT_REPRODUCED
    assert _verdict(claim, a=dict.fromkeys(SEEDS, 9.9), b=b) is Verdict.REPRODUCED


def runs_are_paired_by_their_seeds() -> None:
    # The seeds differ far more than the AQMs do.
    b = {seed: 10.0 * seed for seed in SEEDS}
    a = {seed: value - 1.0 - 0.01 * seed for seed, value in b.items()}
    assert _verdict(_claim(expect=["a < b"]), a=a, b=b) is Verdict.REPRODUCED
    assert _verdict(_claim(expect=["a < b"]), a=dict(zip(SEEDS, reversed(a.values()), strict=True)), b=b) is (
        Verdict.NOT_REPRODUCED
    )


def a_size_is_compared_with_the_papers_numbers_or_its_percentage() -> None:
    a, b = _noisy(2.0, salt=3), _noisy(10.0, salt=4)
    assert _verdict(_claim(expect=["a < b by 83%"], tolerance="10 points"), a=a, b=b) is Verdict.REPRODUCED
    assert _verdict(_claim(expect=["a < b by 50%"], tolerance="10 points"), a=a, b=b) is Verdict.DIRECTION_ONLY
    assert _verdict(_claim(expect=["b > a by 400%"], tolerance="60 points"), a=a, b=b) is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("a", "wanted"),
    [
        (_noisy(10.1, 0.01, 1), Verdict.REPRODUCED),
        (_noisy(10.4, 0.05, 2), Verdict.DIRECTION_ONLY),
        (_noisy(12.0, 0.01, 3), Verdict.NOT_REPRODUCED),
    ],
)
def equality_needs_the_whole_interval_within_its_bounds(a: Mapping[int, float], wanted: Verdict) -> None:
    b = dict.fromkeys(SEEDS, 10.0)
    assert _verdict(_claim(expect=["a = b within 5%"]), a=a, b=b) is wanted
    assert _verdict(_claim(expect=["a = 10 within 0.5"]), a=a) is wanted


def at_most_needs_its_interval_within_its_bound() -> None:
    claim = _claim(expect=["a <= b within 10%"])
    b = _noisy(10.0, salt=2)
    assert _verdict(claim, a=_noisy(10.0, salt=1), b=b) is Verdict.REPRODUCED
    assert _verdict(claim, a=_noisy(5.0, salt=1), b=b) is Verdict.REPRODUCED
    assert _verdict(claim, a=_noisy(13.0, salt=1), b=b) is Verdict.NOT_REPRODUCED
    # Noise is no evidence: what may be much more is not shown to be at most so much.
    assert _verdict(claim, a={1: 1.0, 2: 20.0}, b={1: 10.0, 2: 10.0}) is Verdict.NOT_REPRODUCED
    assert _verdict(_claim(expect=["a >= b within 0"]), a=b, b=b) is Verdict.REPRODUCED


def a_size_of_what_is_below_zero_is_a_share_of_its_amount() -> None:
    a, b = _noisy(-1.3, 0.01, 1), _noisy(-1.0, 0.01, 2)
    assert _verdict(_claim(expect=["a < b by 30%"], tolerance="5 points"), a=a, b=b) is Verdict.REPRODUCED


def a_paper_that_prints_zero_has_no_share_to_hold_against() -> None:
    claim = _claim(expect=["a > b"], paper={"a": 5, "b": 0}, tolerance="10 points")
    assert _verdict(claim, a=_noisy(40.0, salt=1), b=_noisy(1.0, salt=2)) is Verdict.DIRECTION_ONLY


def runs_that_one_side_lacks_are_not_left_out_in_silence() -> None:
    a = _noisy(5.0, salt=1)
    assert _verdict(_claim(expect=["a < b"]), a=a, b=dict.fromkeys((1, 2, 3), 10.0)) is Verdict.NOT_CHECKABLE


def a_doubted_number_matters_only_where_a_size_is_judged() -> None:
    claim = _claim(expect=["a < c"], paper={"a": 5}, doubt={"a": "it cannot be"}, tolerance="10 points")
    assert _verdict(claim, a=_noisy(5.0, salt=1), c=_noisy(10.0, salt=2)) is Verdict.REPRODUCED


def a_number_that_cannot_be_leaves_the_order_to_be_judged() -> None:
    claim = _claim(**SIZED, doubt={"a": "it cannot be"})
    assert _verdict(claim, a=_noisy(5.0, salt=1), b=_noisy(10.0, salt=2)) is Verdict.DIRECTION_ONLY
    assert _verdict(claim, a=_noisy(12.0, salt=1), b=_noisy(10.0, salt=2)) is Verdict.NOT_REPRODUCED


def a_claim_is_what_the_worst_of_its_expectations_is() -> None:
    claim = _claim(expect=["a < b", "a < c", "a < d"])
    runs = {"a": _noisy(5.0, salt=1), "b": _noisy(10.0, salt=2), "c": _noisy(9.0, salt=3), "d": _noisy(4.0, salt=4)}
    judgement = judge(claim, lambda side, point: runs[side.aqm], [0])
    assert judgement.verdict is Verdict.NOT_REPRODUCED
    assert judgement.why.startswith("2 of 3 hold; a < d: it is the other way round by +")


def a_tolerance_alone_is_no_size() -> None:
    claim = _claim(expect=["a < b", "a < c by 50%"], tolerance="10 points", paper={"b": 10})
    runs = {"a": _noisy(5.0, salt=1), "b": _noisy(20.0, salt=2), "c": _noisy(10.0, salt=3)}
    judgement = judge(claim, lambda side, point: runs[side.aqm], [0])
    assert [check.verdict for check in judgement.checks] == [Verdict.REPRODUCED, Verdict.REPRODUCED]
    assert judgement.checks[0].words.endswith("the paper gives no size")


def the_paper_need_not_give_both_sides() -> None:
    # Without the other number there is no size to hold a tolerance against.
    assert _claim(expect=["a < b"], paper={"a": 5}).tolerance is None


def the_reason_tells_by_how_much_and_how_many_more() -> None:
    claim = _claim(expect=[f"a < {name}" for name in "bcdef"])
    runs = {"a": dict.fromkeys(SEEDS, 12.0), **{name: dict.fromkeys(SEEDS, 10.0) for name in "bcdef"}}
    judgement = judge(claim, lambda side, point: runs[side.aqm], [0])
    assert judgement.why.startswith("0 of 5 hold; a < b: it is the other way round by +2 (+2 to +2, +20.0%); a < c")
    assert judgement.why.endswith("; and 2 more")
    single = judge(_claim(expect=["a < b"]), lambda side, point: runs[side.aqm], [0])
    assert single.why == "a < b: it is the other way round by +2 (+2 to +2, +20.0%)"
    missing = judge(_claim(expect=["a < z"]), lambda side, point: runs.get(side.aqm, {}), [0])
    assert missing.why == "nothing was measured of z"


def every_point_of_a_sweep_counts() -> None:
    claim = _claim(expect=["a < b"], each_point=True)
    runs = {0: {"a": _noisy(5.0, salt=1), "b": _noisy(10.0, salt=2)}, 1: {"a": _noisy(9.0, salt=1), "b": _noisy(2.0)}}

    def measured(side: Operand, point: int) -> Mapping[int, float]:
        return runs[point][side.aqm]

    assert judge(claim, measured, [0]).verdict is Verdict.REPRODUCED
    assert judge(claim, measured, [0, 1]).verdict is Verdict.NOT_REPRODUCED
    assert judge(claim, measured, []).verdict is Verdict.NOT_CHECKABLE


def what_cannot_be_checked_says_why() -> None:
    claim = _claim(not_checkable="the capture is not published")
    judgement = judge(claim, lambda side, point: {}, [0])
    assert (judgement.verdict, judgement.why) == (Verdict.NOT_CHECKABLE, "the capture is not published")


@given(st.floats(0.1, 100.0), st.floats(0.1, 100.0), st.floats(0.0, 0.3), st.integers(0, 1000))
def opposite_expectations_are_never_both_reproduced(a: float, b: float, spread: float, salt: int) -> None:
    runs = {"a": _noisy(a, spread, salt), "b": _noisy(b, spread, salt + 1)}
    verdicts = [_verdict(_claim(expect=[text]), **runs) for text in ("a < b", "a > b")]
    assert verdicts.count(Verdict.REPRODUCED) <= 1
    # What is strictly so is at most so.
    for strict, loose in (("a < b", "a <= b within 1%"), ("a > b", "a >= b within 1%")):
        better = [ORDER.index(_verdict(_claim(expect=[text]), **runs)) for text in (loose, strict)]
        assert better[0] <= better[1]


@given(st.integers(0, 10_000))
def noise_alone_is_seldom_taken_for_a_difference(salt: int) -> None:
    runs = [(_noisy(10.0, 0.1, 7919 * salt + n), _noisy(10.0, 0.1, 7919 * salt + n + 500)) for n in range(40)]
    wrong = sum(_verdict(_claim(expect=["a < b"]), a=a, b=b) is Verdict.REPRODUCED for a, b in runs)
    # 2.5 % of forty is one.
    assert wrong <= 8


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a is lower than b", "is not an expectation such as"),
        ("a = b", "'within' belongs to '=', '<=' and '>=', and they need it"),
        ("a <= b", "'within' belongs to '=', '<=' and '>=', and they need it"),
        ("a < b within 5%", "'within' belongs to '=', '<=' and '>=', and they need it"),
        ("a < 1.2.3", "'1.2.3' is neither a number nor an AQM"),
        ("0.3 < 0.5", "compares two numbers"),
        ("a = b by 5% within 5%", "'by' belongs to a difference"),
    ],
)
def an_expectation_that_cannot_be_read_is_refused(text: str, wanted: str) -> None:
    with pytest.raises(InputError, match=wanted):
        expectation(text)


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [
        ({"expect": []}, "claim c-1: expect: is missing"),
        ({"expects": ["a < b"]}, "claim c-1: unknown key 'expects', did you mean 'expect'?"),
        ({"expect": ["a.x < b"]}, "claim c-1: 'a.x' needs measures.x"),
        ({"expect": ["a < b"], "paper": {"a": 1, "b": 2}}, "claim c-1: tolerance: is missing"),
        ({"expect": ["a < b"], "tolerance": "10%"}, "tolerance: '10%' is not a tolerance such as '10 points'"),
        ({"expect": ["a < b"], "doubt": {"a": "why"}}, "doubt: the paper gives no 'a'"),
        ({"expect": ["a < b"], "measure": {"of": "q", "how": "avg"}}, "measure: how: unknown value 'avg'"),
        ({"expect": ["a < b"], "measure": {"of": "q", "until": "5"}}, "measure: until: '5'"),
        ({"expect": ["a < b"], "paper": {"ab": 1}}, "paper: unknown operand of an expectation 'ab', did you mean"),
        ({"expect": ["a < b"], "tolerance": "2.0.0 points"}, "tolerance: '2.0.0 points' is not a tolerance"),
        ({"expect": ["a < b"], "measure": {"of": "q", "since": "3s", "until": "2s"}}, "since: is not before until"),
        ({"expect": ["a < b"], "scale": float("nan")}, "scale: 'nan' is not a number"),
        ({"expect": ["a < b"], "changed": ["later"]}, "changed: 'later' is not"),
        ({"expect": ["a < b"], "paper": {"a": "much"}}, "paper: is a table of numbers"),
    ],
)
def a_claim_that_is_wrong_is_refused_by_its_name_key_and_value(entries: dict[str, object], wanted: str) -> None:
    with pytest.raises(InputError) as error:
        _claim(**entries)
    assert str(error.value).startswith("claims.toml: ")
    assert wanted in str(error.value)
