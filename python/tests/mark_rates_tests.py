"""Marks are wrong as rarely as they say, and intervals hold together: the short form of `make coverage`."""

from __future__ import annotations

import itertools

import pytest
from conftest import ROOT, script

SCRIPT = script("mark_rates")
PAGE = (ROOT / "docs/reference/error-rates.md").read_text(encoding="utf-8")
EXPERIMENTS = 200


@pytest.mark.parametrize("runs", SCRIPT.RUNS)
@pytest.mark.parametrize("truth", SCRIPT.TRUTHS)
def normal_values_are_marked_wrongly_in_5_percent_of_results_at_most(truth: str, runs: int) -> None:
    found = SCRIPT.rates(SCRIPT.DRAWS["normal"], SCRIPT.TRUTHS[truth], runs, EXPERIMENTS)
    # 5 % of 200 are 10, and their standard deviation 3.
    assert found.wrong <= 0.08
    assert found.held >= 0.92


@pytest.mark.parametrize("values", SCRIPT.FRACTIONS)
def what_is_apart_by_the_margin_is_called_the_same_in_5_percent_of_results_at_most(values: str) -> None:
    found = SCRIPT.same_rates(values, 10, EXPERIMENTS)
    assert found.at_margin <= 0.08
    assert found.beyond == 0.0


def a_line_of_the_page_is_what_the_script_writes() -> None:
    assert SCRIPT.line("normal", "no difference", 3) in PAGE
    assert SCRIPT.same_line("normal, by 1 %", 5) in PAGE


def the_page_has_the_cases_of_the_script() -> None:
    for values, truth, runs in itertools.product(SCRIPT.DRAWS, SCRIPT.TRUTHS, SCRIPT.RUNS):
        assert f"| {values} | {truth} | {runs} |" in PAGE
    for values, runs in itertools.product(SCRIPT.FRACTIONS, SCRIPT.RUNS):
        assert f"| {values} | {runs} |" in PAGE
