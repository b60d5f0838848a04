"""One definition of a preset: its card, its runs and the sampled configuration of that name are the same object."""

from __future__ import annotations

import tomllib

import pytest
from conftest import script

from aqmlab import papers, scenario
from aqmlab.papers import searching
from aqmlab.papers.verdicts import Verdict
from aqmlab.scenario import Experiment

PAPERS = {name: papers.find(name) for name in papers.built()}
# Their definitions changed after their last full form, which is run again with the next release.
DUE = ("daqm",)
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


@pytest.mark.parametrize("name", [name for name in PAPERS if name not in DUE])
def every_claim_has_a_kept_verdict_in_each_preset(name: str) -> None:
    paper = PAPERS[name]
    for preset in paper.presets:
        assert {one.id for one in paper.claims} <= {*paper.generated.verdicts[preset]}, preset


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
