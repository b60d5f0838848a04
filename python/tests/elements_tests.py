"""The elements of each paper: every one has a place, or the reason why it has none."""

from __future__ import annotations

import csv
import re

import pytest

from aqmlab import papers
from aqmlab.papers.paper import BEYOND

LISTED = [name for name in papers.built() if (papers.find(name).folder / "elements.csv").exists()]
STATUS = ("yes", "partly", "no")


def _elements(name: str) -> list[dict[str, str]]:
    with (papers.find(name).folder / "elements.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", LISTED)
def what_is_not_there_has_a_reason(name: str) -> None:
    found = _elements(name)
    assert found
    for one in found:
        assert None not in one, "a comma that is not quoted"
        assert one["element"]
        assert one["status"] in STATUS, one
        assert one["where"] != "" if one["status"] == "yes" else one["reason"], one
    assert len({one["element"] for one in found}) == len(found)


@pytest.mark.parametrize("name", LISTED)
def claims_figures_and_factors_that_elements_name_exist(name: str) -> None:
    paper = papers.find(name)
    claims = {one.id for one in paper.statements}
    figures = {one.name for one in paper.drawings}
    stems = {claim.partition("-")[0] for claim in claims}
    for one in _elements(name):
        for word in re.findall(r"[a-z]+(?:-[a-z0-9]+)+", one["where"]):
            if word.partition("-")[0] in stems and re.search(r"-(\d|why|live)", word):
                assert word in claims, (one["element"], word)
            if word.startswith("figure-"):
                assert word in figures, (one["element"], word)
    files = {path.name for preset in (*paper.presets, BEYOND) for path in paper.scenarios(preset).values()}
    for one in _elements(name):
        for file in re.findall(r"(?:scenarios|beyond)/([a-z0-9-]+\.toml)", one["where"]):
            assert file in files, (one["element"], file)
