"""The space of configurations: shares, and what a claim is sensitive to, with made-up and therefore known outcomes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st
from search_tests import CLAIMS, PAPER, Simulator, folder, paper, simulator

from aqmlab.files import shipped
from aqmlab.files.documents import Table
from aqmlab.papers import cards, claims, generated, run_paper, searching, summary
from aqmlab.papers.claim_tables import ClaimTable
from aqmlab.papers.findings import Word
from aqmlab.papers.paper import Paper, load
from aqmlab.papers.reproduction import Reproduction
from aqmlab.papers.verdicts import Check, Judgement, Ratio, Verdict
from aqmlab.search import Factor, Grade, Search, Setting, Space, Target, design, flipped
from aqmlab.search.noise import AMOUNT, ENOUGH, SHARE, Noise
from aqmlab.search.scores import Score
from aqmlab.stats import statistics, student
from aqmlab.vocabulary.errors import InputError

__all__ = ["folder", "paper", "simulator"]

FACTORS = tuple(
    Factor(name, "", {level: {name: level} for level in levels})
    for name, levels in (("core", "abcd"), ("list", "xy"), ("noise", "012"))
)
ALL: list[Setting] = list(itertools.product(*(factor.levels for factor in FACTORS)))
HELD = Grade("reproduced", True, True, shown="reproduced")
REFUTED = Grade("not reproduced", False, False, shown="not reproduced")
UNTESTED = Grade("not testable", False, False, False, shown="not testable")
UNDECIDED = Grade("inconclusive", False, False, is_decided=False, shown="inconclusive")


def _space(grade: Callable[[Setting], Grade], **presets: Setting) -> Space:
    presets = presets or {"printed": ("a", "x", "0")}
    base = next(iter(presets.values()))
    plan = Search(FACTORS, {}, "own", False, base, presets, (base,), len(ALL), 1, 0, 1, 1)
    scores = {one: Score(one, {}, {}, 0.0, 0.0, 0, 0, {"c-1": grade(one)}) for one in ALL}
    return Space(plan, [Target("c-1", (), {}, lambda means, noise: HELD)], scores, ALL, range(1, 2), {}, Path())


def the_factor_that_decides_is_named_with_its_share() -> None:
    space = _space(lambda setting: HELD if setting[0] in "ab" else REFUTED)
    reach = space.reaches["c-1"]
    assert (reach.holding, reach.tested, reach.share) == (12, 24, 0.5)
    assert [(one.factor, one.share) for one in reach.deciding] == [("core", pytest.approx(1.0))]
    assert [(one.preset, one.changes, one.grade.word) for one in reach.flips] == [
        ("printed", (("core", "c"),), "not reproduced"),
        ("printed", (("core", "d"),), "not reproduced"),
    ]
    assert reach.sentence == (
        "Holds in 12 of 24 configurations (50%; 31% to 69% of all, 95 %); most sensitive to core (100% of the "
        'variance); printed becomes "not reproduced" with core c (and 1 other choice).'
    )
    strip = cards.strip("c-1", space)
    assert strip is not None
    assert strip.flipped == flipped(reach.flips) == "core c or d (printed)"


def chance_decides_nothing() -> None:
    # Every third in an order that no factor follows.
    reach = _space(lambda setting: HELD if _scattered(setting) % 3 == 0 else REFUTED).reaches["c-1"]
    assert reach.deciding == ()
    assert "; no factor alone matters beyond chance" in reach.sentence


def many_levels_alone_make_no_factor_strong() -> None:
    reach = _space(lambda setting: HELD if setting == ("d", "y", "2") else REFUTED).reaches["c-1"]
    # Chance puts (k - 1) / (n - 1) between k levels on average, and one success in n always does.
    assert [one.share for one in reach.strongest] == pytest.approx([0.0, 0.0, 0.0])


def a_preset_outside_the_sample_speaks_against_it() -> None:
    space = _space(lambda setting: HELD if setting == ("d", "y", "2") else REFUTED, own=("d", "y", "2"))
    space = replace(space, sample=[one for one in ALL if one[0] in "ab"])
    reach = space.reaches["c-1"]
    assert (reach.holding, reach.tested, reach.flips[0].grade.word) == (0, 12, "not reproduced")
    assert '; but it does in own; own becomes "not reproduced" with ' in reach.sentence
    assert "of 1 claims 0 hold in all, 0 in none, 1 in some" in cards.opening(space)
    assert cards.opening(space, {"c-1"}) == ""


def _scattered(setting: Setting) -> int:
    """A number without a pattern."""
    return (ALL.index(setting) * 7919 + 13) % 101


def a_claim_that_holds_everywhere_flips_nowhere() -> None:
    reach = _space(lambda setting: HELD).reaches["c-1"]
    assert reach.sentence == (
        "Holds in 24 of 24 configurations (100%; 86% to 100% of all, 95 %); no single choice flips it."
    )
    assert _space(lambda setting: UNTESTED).reaches["c-1"].sentence == "Testable in none of 24 configurations."


def what_cannot_be_tested_counts_for_neither_side() -> None:
    grades = {"a": HELD, "b": REFUTED, "c": UNTESTED, "d": UNTESTED}
    reach = _space(lambda setting: grades[setting[0]], printed=("c", "x", "0")).reaches["c-1"]
    assert (reach.holding, reach.tested) == (6, 12)
    assert "12 more have nothing to test" in reach.sentence
    # A preset that is not tested has nothing to turn.
    assert reach.flips == ()


def what_the_noise_hides_counts_and_flips_nothing() -> None:
    grades = {"a": HELD, "b": REFUTED, "c": UNDECIDED, "d": UNDECIDED}
    reach = _space(lambda setting: grades[setting[0]], printed=("c", "x", "0"), other=("a", "x", "0")).reaches["c-1"]
    assert (reach.holding, reach.tested, reach.undecided) == (6, 24, 12)
    assert "Holds in 6 of 24 configurations (25%; 12% to 45% of all, 95 %), open by the noise of the seeds in 12; " in (
        reach.sentence
    )
    assert [(one.preset, one.changes) for one in reach.flips] == [("other", (("core", "b"),))]
    # Among those that are decided the core decides alone.
    assert [(one.factor, one.share) for one in reach.deciding] == [("core", pytest.approx(1.0))]
    assert reach.document()["undecided"] == 12
    hidden = _space(lambda setting: UNDECIDED).reaches["c-1"]
    assert hidden.sentence.endswith("in 24; more seeds would be needed.")


def _configurations(*values: Mapping[str, Sequence[float]]) -> Noise:
    return Noise([{name: dict(enumerate(own)) for name, own in one.items()} for one in values])


def _half_width(noise: Noise, mean: float, runs: int = 1, name: str = "loss") -> float:
    """Return half the interval of a mean of so many runs."""
    found = statistics.mean([mean + one[name] for one in noise.deviations((name,), {name: mean}, runs)])
    assert found.value == pytest.approx(mean)
    assert found.half_width is not None
    return found.half_width


def pooled_noise_has_the_interval_and_the_chances_of_its_degrees_of_freedom() -> None:
    noise = _configurations({"delay": [9.0, 11.0]}, {"delay": [27.0, 33.0], "loss": []})
    for runs in (1, 4):
        # The root of 4 * 0.1^2 / 2, and Student's factor with two degrees of freedom.
        assert _half_width(noise, 1.0, runs, "delay") == pytest.approx(4.302653 * (0.02 / runs) ** 0.5)
    values = [1.0 + one["delay"] for one in noise.deviations(("delay",), {"delay": 1.0}, 1)]
    # Not at 95 % alone, since a claim of many parts needs other levels.
    for bound in (0.0, 0.5, 2.0):
        chance = statistics.exceeds([value - bound for value in values])
        assert chance == pytest.approx(student.above((1.0 - bound) / 0.02**0.5, 2))


def configurations_of_three_runs_have_two_degrees_of_freedom() -> None:
    noise = _configurations({"delay": [8.0, 10.0, 12.0]}, {"delay": [3.0, 4.0, 5.0]})
    assert len(noise.deviations(("delay",), {"delay": 1.0}, 1)) == 5
    # Shares of +-.2 and +-.25: the root of (2 * .04 + 2 * .0625) / 4, with four degrees of freedom.
    assert _half_width(noise, 1.0, 1, "delay") == pytest.approx(2.776445 * (0.205 / 4) ** 0.5)


def what_seeds_do_to_both_sides_cancels() -> None:
    noise = _configurations(
        *({"a": [mean - 1.0, mean + 1.0], "b": [2 * mean - 2.0, 2 * mean + 2.0]} for mean in (5.0, 8.0))
    )
    found = noise.deviations(("a", "b"), {"a": 3.0, "b": 6.0}, 1)
    assert [2.0 * one["a"] - one["b"] for one in found] == pytest.approx([0.0] * 3)
    assert max(one["a"] for one in found) > 0.1


@pytest.mark.parametrize("spread", [lambda mean: 0.1 * mean, lambda mean: 0.1 * mean**0.5, lambda mean: 0.01])
def configurations_in_which_there_is_nothing_are_no_evidence_that_nothing_varies(
    spread: Callable[[float], float],
) -> None:
    there = [{"loss": [mean - spread(mean), mean + spread(mean)]} for mean in (0.01, 0.16, 1.0, 25.0, 400.0)]
    beside = _configurations(*there, *[{"loss": [0.0, 0.0]}] * 20)
    assert beside.power(("loss",)) == _configurations(*there).power(("loss",))
    assert _half_width(beside, 2.0) == pytest.approx(_half_width(_configurations(*there), 2.0))


def a_configuration_is_undecided_where_nothing_is_known_of_its_noise() -> None:
    entry = {"id": "c-1", "says": "", "where": "", "scenario": "s", "measure": {"of": "q"}, "expect": ["a < b"]}
    (claim,) = claims.read(Table({"claim": [entry]}, ""))

    def word(noise: Noise, **means: float) -> str:
        return searching.grade(
            claim, {name: {1: mean} for name, mean in means.items()}, lambda names: noise.deviations(names, means, 1)
        ).word

    nothing = _configurations(*[{"a": [0.0, 0.0], "b": [0.0, 0.0]}] * 8)
    assert word(nothing, a=1.0, b=9.0) == Verdict.INCONCLUSIVE
    assert word(_configurations({"b": [8.0, 9.0]}), a=1.0, b=9.0) == Verdict.INCONCLUSIVE
    assert word(nothing, a=0.0, b=0.0) == Verdict.NOT_TESTABLE
    assert word(nothing, b=9.0) == Verdict.NOT_TESTABLE
    # What is zero here has no noise as a share: that of the other side is known.
    known = _configurations(*[{"a": [0.0, 0.0], "b": [8.0, 9.0]}] * 8)
    assert word(known, a=0.0, b=9.0) == Verdict.REPRODUCED
    assert word(known, a=1.0, b=9.0) == Verdict.INCONCLUSIVE


def noise_of_counts_and_of_amounts_hides_no_more_where_the_mean_is_large() -> None:
    def shares(spread: Callable[[float], float]) -> list[float]:
        means = (0.01, 0.04, 0.16, 1.0, 4.0, 25.0, 100.0, 400.0)
        noise = _configurations(*({"loss": [mean - spread(mean), mean + spread(mean)]} for mean in means))
        return [_half_width(noise, mean) / mean for mean in (1.0, 100.0)]

    as_shares, as_counts, as_amounts = (
        shares(lambda mean: 0.1 * mean),
        shares(lambda mean: 0.1 * mean**0.5),
        shares(lambda mean: 0.01),
    )
    assert as_shares[1] == pytest.approx(as_shares[0])
    assert as_counts[1] == pytest.approx(as_counts[0] / 10.0)
    assert as_amounts[1] == pytest.approx(as_amounts[0] / 100.0)


def an_amount_varies_as_much_where_its_mean_is_zero() -> None:
    noise = _configurations(*({"loss": [mean - 0.5, mean + 0.5]} for mean in (0.0, 1.0, 10.0, 100.0, 1000.0)))
    assert noise.power(("loss",)) == AMOUNT
    assert _half_width(noise, 0.0) == pytest.approx(_half_width(noise, 50.0))
    # Five degrees of freedom, of which the power takes one.
    assert _half_width(noise, 0.0) == pytest.approx(2.776445 * (5 * 0.5 / 4) ** 0.5)


@pytest.mark.parametrize("expect", ["a > b", "a > b by 50%", "a >= b within 10%"])
def a_comparison_with_an_amount_of_zero_is_judged(expect: str) -> None:
    entry = {"id": "c-1", "says": "", "where": "", "scenario": "s", "measure": {"of": "q"}, "expect": [expect]}
    (claim,) = claims.read(Table({"claim": [entry]}, ""))
    spreads = (0.3, 0.45, 0.35, 0.5, 0.41)
    values = [[mean - own, mean + own] for mean, own in zip((0.0, 1.0, 10.0, 100.0, 1000.0), spreads, strict=True)]
    noise = _configurations(*({"a": own, "b": own[::-1]} for own in values))

    def word(a: float) -> str:
        means = {"a": a, "b": 0.0}
        return searching.grade(
            claim, {name: {1: mean} for name, mean in means.items()}, lambda names: noise.deviations(names, means, 1)
        ).word

    assert word(0.5) == Verdict.INCONCLUSIVE
    assert word(50.0) in (Verdict.REPRODUCED, Verdict.IN_PART)


def both_sides_of_a_comparison_have_one_power() -> None:
    means = (1.0, 10.0, 100.0, 1000.0)
    noise = _configurations(*({"a": [mean - 0.5, mean + 0.5], "b": [0.9 * mean, 1.1 * mean]} for mean in means))
    assert (noise.power(("a",)), noise.power(("b",))) == (AMOUNT, SHARE)
    found = noise.deviations(("a", "b"), {"a": 4.0, "b": 400.0}, 1)
    power = noise.power(("a", "b"))
    again = noise.deviations(("a", "b"), {"a": 400.0, "b": 40000.0}, 1)
    for name in "ab":
        assert [one[name] for one in again] == pytest.approx([one[name] * 100.0**power for one in found])


class Noisy(Simulator):
    """Runs deviate from their mean by this share, to one side with odd seeds and to the other with even ones."""

    share = 0.0

    def answer(self, scenario_json: str, seed: int) -> float:
        own = -1.0 if json.loads(scenario_json)["aqm"].startswith("codel") else 1.0
        return super().answer(scenario_json, seed) * (1.0 + own * self.share * (-1.0) ** seed)


@pytest.mark.parametrize(("share", "undecided"), [(0.0, 0), (0.02, 0), (0.5, 12)])
def a_configuration_within_the_noise_of_its_bound_is_undecided(
    share: float, undecided: int, paper: Paper, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    noisy = Noisy()
    noisy.share = share
    monkeypatch.setattr("aqmlab.engine.native.simulate", noisy)
    space = searching.explore(paper, tmp_path / "out", jobs=1, quick=True)
    reach = space.reaches["small-1"]
    # CoDel's delay is 10 to 30 ms, and fifo's 35 to 40 ms.
    assert (reach.tested, reach.undecided) == (12, undecided)
    assert reach.holding == 12 - undecided
    strip = cards.strip("small-1", space)
    assert strip is not None
    hatched = sum(tile.verdict == Verdict.INCONCLUSIVE for tile in strip.tiles)
    assert (strip.undecided, hatched >= undecided) == (undecided, True)


@pytest.mark.parametrize(("share", "undecided"), [(0.02, 0), (0.5, 24)])
def a_configuration_with_enough_runs_is_judged_by_its_own(
    share: float, undecided: int, paper: Paper, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    noisy = Noisy()
    noisy.share = share
    monkeypatch.setattr("aqmlab.engine.native.simulate", noisy)
    space = searching.explore(paper, tmp_path / "out", jobs=1, seeds=str(ENOUGH))
    assert (len(space.numbers), space.noise) == (ENOUGH, None)
    reach = space.reaches["small-1"]
    assert (reach.tested, reach.undecided, reach.holding) == (24, undecided, 24 - undecided)


def the_noise_of_one_configuration_hides_nothing_in_another_with_enough_runs() -> None:
    entry = {"id": "c-1", "says": "", "where": "", "scenario": "s", "measure": {"of": "q"}, "expect": ["a < b"]}
    (claim,) = claims.read(Table({"claim": [entry]}, ""))
    quiet = {"a": dict(enumerate((1.0, 1.1, 0.9, 1.0, 1.05))), "b": dict(enumerate((1.5, 1.6, 1.4, 1.55, 1.5)))}
    loud = _configurations(*[{"a": [0.1, 9.0], "b": [5.0, 0.2]}] * 8)
    means = {name: statistics.mean(list(own.values())).value for name, own in quiet.items()}
    assert searching.grade(claim, quiet, lambda names: loud.deviations(names, means, 5)).word == Verdict.INCONCLUSIVE
    assert searching.grade(claim, quiet).word == Verdict.REPRODUCED
    # A side that no run has together with the other is no comparison.
    apart = {"a": {1: 1.0}, "b": {2: 2.0}}
    assert searching.grade(claim, apart).word == Verdict.NOT_TESTABLE


def changes_are_the_fewest_and_no_more_than_two() -> None:
    def both(setting: Setting) -> Grade:
        return HELD if setting[:2] == ("d", "y") else REFUTED

    (turn,) = _space(both).reaches["c-1"].flips
    assert turn.changes == (("core", "d"), ("list", "y"))
    (turn,) = _space(both, consistent=("d", "x", "2")).reaches["c-1"].flips
    assert turn.changes == (("list", "y"),)
    assert _space(lambda setting: HELD if setting == ("d", "y", "2") else REFUTED).reaches["c-1"].flips == ()


@given(st.integers(1, 200), st.data())
def the_interval_of_a_share_holds_the_share(of: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, of))
    low, high = statistics.share(count, of)
    assert 0.0 <= low <= count / of + 1e-12
    assert count / of - 1e-12 <= high <= 1.0


def the_claims_of_a_paper_are_judged_in_the_space(paper: Paper, simulator: Simulator, tmp_path: Path) -> None:
    del simulator
    space = searching.explore(paper, tmp_path / "out", jobs=2)
    assert {*space.reaches} == {"small-1", "small-2"}
    assert len(space.sample) == space.search.settings == 24
    # All combinations, since there are no more.
    assert {*space.scores} == {*space.sample}
    first = space.reaches["small-1"]
    assert (first.tested, first.share) == (24, 1.0)
    assert sum(cell.presets == ("printed",) for cell in first.cells) == 1
    quick = searching.explore(paper, tmp_path / "quick", jobs=2, quick=True)
    assert len(quick.sample) == 12
    assert {*quick.scores} == {*quick.sample, quick.search.base, *quick.search.presets.values()}


def neighbours_are_tried_of_the_presets_that_the_space_names(
    folder: Path, simulator: Simulator, tmp_path: Path
) -> None:
    del simulator
    few = PAPER.replace("settings = 24", "settings = 1")
    few = few.replace(
        "presets.printed",
        'presets.far = { says = "far", levels = { target = "5ms", rate = "10mbit" } }\npresets.printed',
    )
    tried = {}
    for around in ("", '"far"', '"far", "printed"'):
        (folder / "paper.toml").write_text(few.replace("steps = 3", f"steps = 3\naround = [{around}]"))
        space = searching.explore(load(folder), tmp_path / f"out{len(around)}", jobs=1)
        tried[around] = {*space.scores} - {*space.sample}
    base, far, printed = space.search.base, *(space.search.presets[name] for name in ("far", "printed"))
    near = {one: {*design.neighbours(space.search.factors, one)} for one in (base, far, printed)}
    named = {base, far, printed}
    assert tried['"far"'] == (named | near[far]) - {*space.sample}
    assert tried['"far", "printed"'] == (named | near[far] | near[printed]) - {*space.sample}
    assert tried[""] == (named | near[base] | near[far] | near[printed]) - {*space.sample}
    (folder / "paper.toml").write_text(few.replace("steps = 3", 'steps = 3\naround = ["fat"]'))
    with pytest.raises(InputError, match=r"paper\.toml: space: around: unknown preset 'fat', did you mean 'far'\?"):
        searching.load(load(folder))


def a_preset_may_be_left_out_of_the_quick_form(
    folder: Path, simulator: Simulator, aqmlab: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    del simulator
    far = 'presets.far = { says = "far", levels = { target = "5ms", rate = "10mbit" }, quick = "no" }\n'
    (folder / "paper.toml").write_text(PAPER.replace("presets.printed", far + "presets.printed", 1))
    paper = load(folder)
    assert {*searching.load(paper).presets} == {"far", "printed"}
    assert {*searching.load(paper, quick=True).presets} == {"printed"}
    monkeypatch.setattr(shipped, "experiments", lambda: folder.parent)
    claims = []
    for asked, run in (([], {"far", "printed"}), (["--quick"], {"printed"}), (["--quick", "--preset", "far"], {"far"})):
        out = str(tmp_path / f"out{len(asked)}")
        ended = aqmlab("reproduce", "s-pie", "--no-robustness", *asked, "--out", out, "--json", f"{out}.json", "-q")
        assert ended.status == 0, ended.err
        claims.append(json.loads(Path(f"{out}.json").read_text())["claims"])
        assert {one["preset"] for one in claims[-1]} == run
        assert ("It does not run far." in (Path(out) / "s-pie.html").read_text()) == ("far" not in run)
    # Its verdicts are those that are stored.
    stored = [{**one, "verdict": "not testable" if one["preset"] == "far" else one["verdict"]} for one in claims[0]]
    generated.write(folder, stored)
    quick = run_paper(load(folder), ["printed"], folder=tmp_path / "again", quick=True, robustness=False)
    assert quick.left_out == ["far"]
    table = summary.of_reproduction(quick)
    assert {one.id for one in table} == {one["id"] for one in stored}
    differ = [one for one in table if one.here.word != Word.NOT_TESTABLE]
    assert len(differ) >= 2
    found = [(each.presets, each.word, each.is_stored) for one in differ for each in one.others]
    assert found == [(("far",), Word.NOT_TESTABLE, True)] * len(differ)


def scenarios_that_share_a_run_get_their_own_measures_of_it(folder: Path, simulator: Simulator, tmp_path: Path) -> None:
    del simulator
    (folder / "scenarios/twin.toml").write_text((folder / "scenarios/line.toml").read_text())
    claims = CLAIMS.replace(
        'scenario = "line"\nmeasure.of = "loss_ratio"', 'scenario = "twin"\nmeasure.of = "loss_ratio"'
    )
    assert claims != CLAIMS
    (folder / "paper.toml").write_text(PAPER.replace(CLAIMS, claims))
    space = searching.explore(load(folder), tmp_path / "out", jobs=1, quick=True)
    assert {name: reach.tested for name, reach in space.reaches.items()} == {"small-1": 12, "small-2": 12}


def a_page_shows_each_claim_as_a_card_with_its_robustness(
    folder: Path, simulator: Simulator, aqmlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    del simulator
    monkeypatch.setattr(shipped, "experiments", lambda: folder.parent)
    made = 'made = ["2026-11-01: 12 targets; 10 ms was chosen"]\n'
    (folder / "paper.toml").write_text(PAPER.replace("[space]\n", f"[space]\n{made}") + MECHANISM)
    ended = aqmlab("reproduce", "s-pie", "--quick", "--out", "out", "--json", "out.json", "--verbose")
    assert ended.status == 0, ended.err
    assert "robustness: Holds in 12 of 12 configurations" in ended.out
    page, front = Path("out/s-pie.html").read_text(), Path("out/index.html").read_text()
    assert page.count('<section class="card"') == 4
    assert page.count('class="tile') >= 24
    for text in (
        "In 12 configurations of what the paper leaves open",
        "Searched 2026-11-01: 12 targets; 10 ms was chosen",
        "Claims and bounds: s-pie/paper.toml (SHA-256 ",
        "<h2>Why</h2>",
        'Explains <a href="#small-1">small-1</a>',
    ):
        assert text in page, text
    assert "2 of 2" in front
    document = json.loads(Path("out.json").read_text())
    (assumptions,) = document["assumptions"]
    alone = sum(any(len(flip["changes"]) == 1 for flip in one["flips"]) for one in assumptions["claims"])
    assert page.count("Flipped by a single choice: ") == alone
    assert next((one["claim"], one["share"]) for one in assumptions["claims"]) == ("small-1", 1.0)
    assert [one["explains"] for one in document["claims"]] == [[], [], [], ["small-1"]]
    assert aqmlab("reproduce", "s-pie", "--quick", "--no-robustness", "--out", "none", "--json", "n.json").status == 0
    assert json.loads(Path("n.json").read_text())["assumptions"] == []


MECHANISM = """
[[mechanism]]
id = "small-why-1"
says = "It is the target"
explains = ["small-1"]
where = "our own"
scenario = "line"
measure.of = "qdelay_mean_ms"
expect = ["codel < fifo"]
"""


def a_chart_has_the_measured_ratio_beside_the_papers(folder: Path, simulator: Simulator, tmp_path: Path) -> None:
    del simulator
    from aqmlab.papers import reproduction
    from aqmlab.papers.claim_tables import claim_tables

    (folder / "paper.toml").write_text(PAPER.replace('levels = { target = "20ms" }', 'levels = { target = "5ms" }'))
    found = reproduction.run_paper(load(folder), ["printed"], folder=tmp_path / "out", jobs=1, robustness=False)
    first, *_ = cards.cards(claim_tables(found), found)
    assert first.chart is not None
    assert first.strip is None
    (row,) = first.chart.rows
    ticks = {words: at for at, words in first.chart.ticks}
    (mark,) = row.marks
    # Fifo 35 ms, CoDel 10 ms; the paper has half, and its root and square are allowed.
    assert mark.at < ticks["÷ 2"] < ticks["equal"]
    assert row.paper == pytest.approx(ticks["÷ 2"])
    assert mark.least < row.paper < mark.most < ticks["equal"]
    assert mark.verdict in Verdict


def a_bound_in_a_unit_is_shaded_where_it_lies_in_each_preset(folder: Path) -> None:
    paper = load(folder)
    (claim, *_) = paper.claims
    checks = [
        Check("a <= b within 2", 0, Verdict.REPRODUCED, "", ratio=Ratio(1.0, 0.9, 1.1, 0.0, most))
        for most in (1.1, 1.5)
    ]
    judged = {
        name: Judgement(claim, one.verdict, "", (one,), {}) for name, one in zip(("near", "far"), checks, strict=True)
    }
    unmeasured = Reproduction(paper, {name: {} for name in judged}, {}, True, None, None, ())
    (card,) = cards.cards([ClaimTable(claim, (), (), judged, dict.fromkeys(judged, Word.REPRODUCED), {})], unmeasured)
    assert card.chart is not None
    near, far = card.chart.rows[0].marks
    assert near.least == far.least == 0.0
    assert near.at < near.most < far.most < 1.0
