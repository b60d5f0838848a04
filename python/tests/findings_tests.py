"""Verdicts as they are shown: what *reproduced in part* stands for, distinguished in one place."""

from __future__ import annotations

from typing import Any

import pytest

from aqmlab import papers
from aqmlab.papers import main_claim, sensitivity, summary
from aqmlab.papers.findings import MEANINGS, Part, Word, word
from aqmlab.papers.verdicts import Verdict


def _part(expected: str, verdict: Verdict, low: float, high: float, paper: float | None = None) -> Part:
    holds = verdict in (Verdict.REPRODUCED, Verdict.IN_PART)
    return Part(expected, "", verdict, holds, paper, (low + high) / 2, low, high)


HELD = _part("a < b", Verdict.REPRODUCED, -0.3, -0.2)
LESS = _part("a < c by 50%", Verdict.IN_PART, -0.1, -0.05, -0.5)
DOUBTED = _part("a < c", Verdict.IN_PART, -0.1, -0.05)
REVERSED = _part("a < d", Verdict.NOT_REPRODUCED, 0.1, 0.2)
FARTHER = _part("a > e", Verdict.NOT_REPRODUCED, -0.4, -0.3)
APART = _part("a = f within 5%", Verdict.NOT_REPRODUCED, 0.1, 0.2)
SMALLER = _part("a < d beyond 10%", Verdict.NOT_REPRODUCED, -0.05, -0.01)
UNTESTED = Part("a < g", "", Verdict.NOT_TESTABLE, False, None, None, None, None)


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ((HELD, LESS), Word.OTHER_SIZE),
        ((HELD, DOUBTED), Word.NO_SIZE),
        ((LESS, DOUBTED), Word.OTHER_SIZE),
        ((HELD, REVERSED), Word.REVERSED),
        ((LESS, FARTHER, APART), Word.REVERSED),
        ((HELD, APART), Word.FAILS),
        ((HELD, SMALLER), Word.FAILS),
        ((HELD, UNTESTED), Word.UNTESTED),
    ],
)
def what_is_reproduced_in_part_is_told_apart(parts: tuple[Part, ...], wanted: Word) -> None:
    assert word(Verdict.IN_PART, parts) == wanted


def all_other_verdicts_are_shown_as_they_are() -> None:
    for verdict in {*Verdict} - {Verdict.IN_PART}:
        assert str(word(verdict, (HELD, REVERSED))) == str(verdict)
    assert {*MEANINGS} == {*Word}


def the_part_that_decides_is_one_that_fails_or_that_another_preset_contests() -> None:
    paper = papers.find("s-pie")
    lines = {one.id: one for one in summary.of_folder(paper)}
    # All three parts hold here, and CoDel's and PIE's do everywhere: RED's is the one that "printed" reverses.
    assert lines["spie-1"].here.ours.startswith("✓ s-pie < red: ")
    assert (lines["spie-1"].here.word, lines["spie-1"].here.parts) == (Word.NO_SIZE, "3 of 3")
    (reverses,) = (one for one in lines["spie-1"].others if "printed" in one.presets)
    assert (reverses.word, reverses.part.partition(" +")[0]) == (Word.REVERSED, "s-pie < red")
    assert lines["spie-5"].here.ours.startswith("✗ s-pie = red ± 5%: ")
    assert lines["spie-1"].share == "44 of 120 (19 open)"
    # Every level that flips it, and the second strongest factor.
    assert "target 20ms, 10ms, 15ms; mss 500b" in lines["spie-1"].settings
    assert lines["spie-1"].factors == "mss, updates"
    assert lines["spie-10"].settings == sensitivity.NONE


def a_setting_that_is_named_flips_what_the_table_says() -> None:
    for name in papers.built():
        paper = papers.find(name)
        for one in summary.of_folder(paper):
            for each in one.others:
                assert each.word != one.here.word
                assert (each.text in one.flips) == each.flips
                assert not each.flips or each.word not in (Word.INCONCLUSIVE, Word.NOT_TESTABLE)


@pytest.mark.parametrize("name", papers.built())
def a_paper_has_one_main_claim_with_a_sentence_of_what_is_stored(name: str) -> None:
    paper = papers.find(name)
    table = summary.of_folder(paper)
    assert [one.id for one in table if one.is_main] == [paper.summary.main]
    line = main_claim.of(table)
    assert line is not None
    sentence = main_claim.sentence(line, paper)
    assert sentence in (paper.folder / "README.md").read_text(encoding="utf-8")
    assert line.here.ours in sentence
    robustness: dict[str, Any] = paper.generated.robustness["claims"][line.id]
    assert f"it holds in {robustness['holding']} of {robustness['tested']} sampled configurations" in sentence
