"""Tables in the experiments' READMEs are those that scripts write from data beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from conftest import ROOT, script

from aqmlab import papers
from aqmlab.papers.paper import BEYOND

EXPERIMENTS = ROOT / "experiments"


def the_comparisons_of_tuned_forms_are_those_of_the_judged_settings() -> None:
    pytest.importorskip("optuna", reason="optuna is not installed: the extra tune")
    tuned, folder = script("daqm_derivatives"), EXPERIMENTS / "daqm"
    differences = tuned.compared(pl.read_csv(folder / "generated/derivatives.csv"))
    assert tuned.table(differences) in (folder / "README.md").read_text(encoding="utf-8")


def the_figures_of_control_experiments_are_those_that_are_kept() -> None:
    controls = script("control_figures")
    readme = controls.README.read_text(encoding="utf-8")
    assert controls.written(readme, pl.read_csv(controls.KEPT)) == readme
    changed = pl.read_csv(controls.KEPT).with_columns(pl.col("loss_ratio") * 2)
    assert controls.written(readme, changed) != readme


@pytest.mark.parametrize("kept", sorted(EXPERIMENTS.glob("*/generated/space.json")), ids=lambda kept: kept.parts[-3])
def the_shares_of_readings_are_those_that_were_measured(kept: Path) -> None:
    space = json.loads(kept.read_text(encoding="utf-8"))
    readme = (kept.parents[1] / "README.md").read_text(encoding="utf-8")
    assert script("readings").written(readme, space) == readme


@pytest.mark.parametrize("kept", sorted(EXPERIMENTS.glob("*/generated/verdicts.csv")), ids=lambda kept: kept.parts[-3])
def the_verdicts_are_those_that_are_kept(kept: Path) -> None:
    verdicts, readme = script("full_verdicts"), (kept.parents[1] / "README.md").read_text(encoding="utf-8")
    assert verdicts.written(readme, verdicts.read(kept)) == readme
    table = readme.partition(verdicts.BEGIN)[2].partition(verdicts.END)[0]
    stated = {one.id for one in papers.find(kept.parts[-3]).claims} | {row["claim"] for row in verdicts.read(kept)}
    assert [one for one in sorted(stated) if not re.search(rf"^\| {one}[: ]", table, re.M)] == []


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
_WORDS = [*_SMALL.split(), "eighteen", "nineteen"]
NUMBERS = {word: number for number, word in enumerate(_WORDS)} | {
    f"{tens}{f'-{_WORDS[ones]}' if ones else ''}": place + ones
    for place, tens in ((20, "twenty"), (30, "thirty"), (40, "forty"))
    for ones in range(10)
}
# What a README counts of its paper, in words or digits.
COUNTED = {
    "claims": r"as (\S+)\s+claims|: (\S+) claims and",
    "assumptions": r"lists (?:the )?(\S+) places",
    "presets": r"(\S+)\s+presets(?::|$)",
}


@pytest.mark.parametrize("name", papers.built())
def a_readme_counts_its_papers_claims_readings_and_presets(name: str) -> None:
    paper, readme = papers.find(name), (EXPERIMENTS / name / "README.md").read_text(encoding="utf-8")
    counted = 0
    for what, pattern in COUNTED.items():
        for found in re.finditer(pattern, readme, re.M):
            word = next(filter(None, found.groups())).lower()
            counted += 1
            assert (int(word) if word.isdigit() else NUMBERS[word]) == len(getattr(paper, what)), found[0]
    assert counted >= 2


def verdicts_in_a_readme_follow_what_is_kept() -> None:
    verdicts = script("full_verdicts")
    table = "| Claim | then | `b` | `a` |\n|---|---|---|---|\n| c-1 a | not | {} | {} |\n| c-12: b | - | {} | {} |\n"
    readme = f"# P\n\n{verdicts.BEGIN}\n{table}{verdicts.END}\n\nMore.\n"
    kept = (("a", "c-1", "reproduced"), ("a", "c-12", "holds by itself"), ("b", "c-1", "direction only"))
    rows = [dict(zip(verdicts.COLUMNS, one, strict=True)) for one in kept]
    found = verdicts.written(readme.format(*"????"), rows)
    assert found == readme.format("direction only", "**reproduced**", "-", "holds by itself")
    assert verdicts.written(found, rows) == found
    with pytest.raises(SystemExit, match="the page needs a line"):
        verdicts.written("# P\n", rows)


@pytest.mark.parametrize("kept", sorted(EXPERIMENTS.glob("*/generated/measured.csv")), ids=lambda kept: kept.parts[-3])
def the_means_that_are_kept_are_of_what_the_claims_compare(kept: Path) -> None:
    paper, rows = papers.find(kept.parts[-3]), script("full_verdicts").read(kept)
    compared = {one.id: {side.text for side in one.operands} for one in paper.statements}
    beyond = [row["claim"] for row in rows if row["preset"] == BEYOND]
    assert {*beyond} <= {*paper.scenarios(BEYOND)}
    rows = [row for row in rows if row["preset"] != BEYOND]
    assert [row for row in rows if row["of"] not in compared[row["claim"]] or row["preset"] not in paper.presets] == []
    assert {(preset, claim.id) for preset in paper.presets for claim in paper.claims} <= {
        (row["preset"], row["claim"]) for row in rows
    }


def means_of_what_was_not_run_again_stay() -> None:
    verdicts = script("full_verdicts")
    claim = {"preset": "a", "id": "c-1", "measured": {"red": {"mean": 8}, "pie": [{"mean": 1.25}, None, {"mean": 2}]}}
    rows = verdicts.measured([], [claim, {"preset": "b", "id": "c-2", "measured": {"red": {"mean": 7}}}])
    assert [[*row.values()] for row in rows] == [
        ["a", "c-1", "red", 0, "8"],
        ["a", "c-1", "pie", 0, "1.25"],
        ["a", "c-1", "pie", 2, "2"],
        ["b", "c-2", "red", 0, "7"],
    ]
    again = verdicts.measured(rows, [claim | {"measured": {"red": {"mean": 9}}}])
    assert [[*row.values()] for row in again] == [["a", "c-1", "red", 0, "9"], ["b", "c-2", "red", 0, "7"]]


def means_beyond_the_paper_are_kept_where_the_readme_names_them() -> None:
    verdicts = script("full_verdicts")
    readme = (
        '<!-- holds: m["beyond", "lost", f"{one}.loss_ratio", "50%"] == 3 -->\n<!-- holds: "other" == "other" -->\n'
    )
    run = {"preset": "beyond", "scenario": "lost", "aqm": "pie", "metric": "loss_ratio", "mean": 0.25}
    summary = [
        run | {"point": {"lost": "50%", "sender": "tcn"}},
        run | {"aqm": "red", "point": {"lost": "0%", "sender": "tcn"}},
        run | {"metric": "marks"},
        run | {"scenario": "other"},
        run | {"preset": "printed"},
    ]
    rows = verdicts.beyond([], summary, readme)
    assert [[*row.values()] for row in rows] == [
        ["beyond", "lost", "pie.loss_ratio", "50%, tcn", "0.25"],
        ["beyond", "lost", "red.loss_ratio", "0%, tcn", "0.25"],
    ]
    alone = readme.replace("{one}.", "")
    again = verdicts.beyond(rows, [run | {"mean": 0.5}], alone)
    assert [[*row.values()] for row in again] == [["beyond", "lost", "loss_ratio", "0", "0.5"]]
    assert verdicts.beyond(again, [run | {"scenario": "other"}], alone) == again


def verdicts_of_what_was_not_run_again_stay() -> None:
    verdicts = script("full_verdicts")
    rows = [
        dict(zip(verdicts.COLUMNS, one, strict=True))
        for one in (("a", "c-1", "inconclusive"), ("a", "why", "reproduced"))
    ]
    again = verdicts.merged(rows, [{"preset": "a", "id": "c-1", "verdict": "reproduced"}])
    assert [(row["claim"], row["verdict"]) for row in again] == [("c-1", "reproduced"), ("why", "reproduced")]
