"""One definition of a preset: its card, its runs and the sampled configuration of that name are the same object."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import script

from aqmlab import _native, papers, scenario
from aqmlab.papers import generated, searching, statements, summary
from aqmlab.papers.paper import BEYOND, LIVE, load
from aqmlab.papers.verdicts import Verdict
from aqmlab.runs.watcher import Watcher
from aqmlab.scenario import Experiment
from aqmlab.search.runs import Runs
from aqmlab.vocabulary.errors import InputError

PAPERS = {name: papers.find(name) for name in papers.built()}
# What an author reads in some minutes, the table of the headline statements included.
MOST_WORDS = 1500
PRESETS = [(name, preset) for name, paper in PAPERS.items() for preset in paper.presets]


def _resolved(experiment: Experiment) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return what the simulator is given at every point of the sweep, by AQM."""
    return [
        (dict(point.point), {label: one.json for label, one in scenario.resolve(point).scenarios.items()})
        for point in experiment.points
    ]


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def a_preset_runs_what_the_sampled_configuration_of_its_name_runs(name: str, preset: str) -> None:
    paper = PAPERS[name]
    searched = searching.load(paper)
    runs = paper.experiments(preset)
    assert searched.scenarios
    for one in searched.scenarios:
        sampled = searched.experiment(searched.presets[preset], one)
        assert _resolved(runs[one]) == _resolved(sampled), one


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def every_level_of_a_preset_changes_a_scenario(name: str, preset: str) -> None:
    """A level that no scenario names would be a statement on the card that no run obeys."""
    paper = PAPERS[name]
    named = {key for one in paper.experiments(preset).values() for key in one.points[0].named}
    for factor in paper.factors:
        if factor.name in paper.presets[preset].levels:
            assert {*factor.names} & named, factor.name


@pytest.mark.parametrize("name", PAPERS)
def scenarios_stand_once(name: str) -> None:
    """No preset has files of its own, and no two files of a paper resolve to the same."""
    paper = PAPERS[name]
    assert not [preset for preset in paper.presets if (paper.folder / preset).exists()]
    assert not (paper.folder / "search").exists()
    preset = next(iter(paper.presets))
    seen: dict[str, str] = {}
    for one, experiment in paper.experiments(preset).items():
        found = str(_resolved(experiment))
        assert seen.setdefault(found, one) == one


@pytest.mark.parametrize("name", PAPERS)
def a_quick_form_changes_seeds_and_points_alone(name: str) -> None:
    """So that its verdicts are those of the full form with less power, not those of another experiment."""
    files = {file for preset in PAPERS[name].presets for file in PAPERS[name].scenarios(preset).values()}
    for file in sorted(files):
        quick = tomllib.loads(file.read_text(encoding="utf-8")).get("quick", {})
        assert {*quick} <= {"seeds", "sweep"}, file


@pytest.mark.parametrize("name", PAPERS)
def every_claim_has_a_kept_verdict_in_each_preset(name: str) -> None:
    paper = PAPERS[name]
    for preset in paper.presets:
        assert {one.id for one in paper.claims} <= {*paper.generated.verdicts[preset]}, preset


@pytest.mark.parametrize(("name", "preset"), [*PRESETS, *((name, BEYOND) for name in PAPERS)])
def the_simulator_accepts_every_run_of_a_preset(name: str, preset: str) -> None:
    simulated = [one for scenario, one in PAPERS[name].experiments(preset).items() if scenario != LIVE]
    for point in (point for experiment in simulated for point in (experiment.points[0], experiment.points[-1])):
        plan = scenario.resolve(point)
        for one in plan.scenarios.values():
            _native.Stepper(one.json, plan.inputs, 1)


@pytest.mark.parametrize("name", PAPERS)
def the_summary_speaks_of_claims_with_these_verdicts(name: str) -> None:
    paper = PAPERS[name]
    kept = {claim: one.verdict for claim, one in paper.generated.verdicts[paper.main].items()}
    assert {kept[claim] for claim in paper.summary.reproduced} <= {Verdict.REPRODUCED, Verdict.IN_PART}
    assert Verdict.REPRODUCED not in {kept[claim] for claim in paper.summary.failed}
    readme = " ".join((paper.folder / "README.md").read_text(encoding="utf-8").split())
    assert paper.summary.text in readme


@pytest.mark.parametrize("name", PAPERS)
def the_table_of_a_readme_is_that_of_what_is_kept(name: str) -> None:
    paper, results = PAPERS[name], script("paper_results")
    readme = (paper.folder / "README.md").read_text(encoding="utf-8")
    assert results.written(readme, paper) == readme
    page = (paper.folder / "generated" / statements.FILE).read_text(encoding="utf-8")
    assert page == statements.page(summary.of_folder(paper), paper)
    assert all(f"| {claim.says} |" in page for claim in paper.claims)
    rows = [line.split(" | ")[:2] for line in _between(readme, results.BEGIN, results.END)]
    says = {claim.id: claim.says for claim in paper.claims}
    named = {one: f"| `{one}`{' **main**' * (one == paper.summary.main)}" for one in paper.summary.headline}
    assert rows == [[named[one], says[one]] for one in paper.summary.headline]
    assert len(readme.split()) <= MOST_WORDS


def _between(readme: str, begin: str, end: str) -> list[str]:
    """Return the rows of the table between two marks, without its head."""
    lines = readme.partition(begin)[2].partition(end)[0].splitlines()
    return [line for line in lines if line.startswith("| ")][1:]


def headline_statements_come_first_in_their_order_and_are_claims(tmp_path: Path) -> None:
    paper = PAPERS["s-pie"]
    lines = summary.of_folder(paper)
    first = [one.id for one in lines if one.is_headline]
    assert first == [*paper.summary.headline] == [one.id for one in lines][: len(first)]
    assert {one.id for one in lines} == {one.id for one in paper.claims}
    rest = [one.id for one in lines if not one.is_headline]
    assert rest == [one.id for one in paper.claims if one.id not in first]
    every = summary.of_folder(replace(paper, summary=replace(paper.summary, headline=())))
    assert all(one.is_headline for one in every)
    folder = tmp_path / "s-pie"
    shutil.copytree(paper.folder, folder)
    text = (folder / "paper.toml").read_text(encoding="utf-8")
    (folder / "paper.toml").write_text(text.replace('headline = ["spie-1"', 'headline = ["spie-01"'), encoding="utf-8")
    with pytest.raises(InputError, match="summary: headline: unknown claim 'spie-01', did you mean 'spie-1'"):
        load(folder)


def rows_that_are_judged_again_keep_their_places(tmp_path: Path) -> None:
    def judged(preset: str, verdict: str) -> dict[str, object]:
        return {"preset": preset, "id": "x-1", "verdict": verdict, "why": "", "checks": [], "measured": {}}

    generated.write(tmp_path, [judged("first", "reproduced"), judged("second", "inconclusive")])
    generated.write(tmp_path, [judged("third", "reproduced"), judged("first", "not reproduced")])
    assert (tmp_path / "generated/verdicts.csv").read_text().splitlines()[1:] == [
        "first,x-1,not reproduced,",
        "second,x-1,inconclusive,",
        "third,x-1,reproduced,",
    ]


def sampled_configurations_judge_a_claim_at_every_point_of_its_sweep_and_run_no_other() -> None:
    paper = PAPERS["daqm"]
    searched = searching.load(paper)
    targets = {one.name: one for one in searching.targets(paper, searched)}
    asked = {dict(one.measure.point).get("size") for one in targets["daqm-3"].quantities}
    assert asked == {point.point["size"] for point in paper.experiments(paper.main)["size"].points}
    runs = Runs(searched, [targets["daqm-1"]], Path("unused"), Watcher())
    assert {need.point["load"] for need in runs._of(searched.base, "load", range(1, 2))} == {"4000kbit"}


def a_claim_of_each_point_is_judged_at_each_in_a_sampled_configuration() -> None:
    claim = next(one for one in PAPERS["daqm"].claims if one.id == "daqm-3")
    low, high = 1.0, 10.0

    def word(worst: int) -> str:
        """Return the verdict if dAQM1 is longer at one of two sizes."""
        values = {
            claim.quantity(side, point): dict.fromkeys(
                range(1, 17), high if (side.aqm == "daqm:daqm1") == (point == worst) else low
            )
            for side in claim.operands
            for point in (0, 1)
        }
        values |= {
            claim.quantity(side, point): dict.fromkeys(range(1, 17), 6.0)
            for side in claim.operands
            for point in (0, 1)
            if side.text == "codel.queue"
        }
        return searching.grade(claim, values, points=2).word

    assert word(worst=2) == Verdict.REPRODUCED
    assert word(worst=1) == Verdict.IN_PART
