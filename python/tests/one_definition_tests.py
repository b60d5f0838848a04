"""One definition of a preset: its card, its runs and the sampled configuration of that name are the same object."""

from __future__ import annotations

import pytest

from aqmlab import papers, scenario
from aqmlab.papers import searching
from aqmlab.scenario import Experiment

PAPERS = {name: papers.find(name) for name in papers.built()}
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
