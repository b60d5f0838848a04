"""Lessons: what a class does with one. That all of it runs is tested when the site is built (site_tests.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

LESSONS = sorted((ROOT / "docs/lessons").glob("*.ipynb"))
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)


def _cells(lesson: Path, kind: str) -> list[tuple[str, dict[str, Any]]]:
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    return [("".join(cell["source"]), cell["metadata"]) for cell in cells if cell["cell_type"] == kind]


@each_lesson
def a_lesson_starts_in_the_playground_and_ends_with_answers(lesson: Path) -> None:
    texts = [text for text, _ in _cells(lesson, "markdown")]
    number, title = lesson.stem[0], texts[0].splitlines()[0]
    assert title.startswith(f"# Lesson {number}: ")
    assert ".build/playground/index.html#" in texts[0]
    assert "## Exercise" in "\n".join(texts)
    assert "## Answers" in texts[-1]


@each_lesson
def the_check_of_an_exercise_tells_a_solution_from_the_first_guess(
    lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = _cells(lesson, "code")
    ((place, solution),) = [(place, one["solution"]) for place, (_, one) in enumerate(cells) if "solution" in one]
    (guess, _), (check, _) = cells[place : place + 2]
    for answer, verdict in ((guess, "not yet"), (solution, "solved")):
        exec(f"import aqmlab\nimport polars as pl\n{answer}\n{check}", {})
        assert capsys.readouterr().out.endswith(f"{verdict}\n"), answer


def lessons_hold_no_outputs() -> None:
    for lesson in LESSONS:
        for cell in json.loads(lesson.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs"), lesson
