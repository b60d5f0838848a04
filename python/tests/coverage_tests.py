"""Intervals hold the truth as often as they say: the short form of `make coverage`."""

from __future__ import annotations

import pytest
from conftest import ROOT, script

EXPERIMENTS = 2000


SCRIPT = script("coverage")
CASES = {(case.interval, case.runs, case.about): case for case in SCRIPT.cases()}


@pytest.mark.parametrize(
    "case",
    [
        ("mean, Student-t", "5", "normal"),
        ("mean, Student-t", "10", "lognormal, cv .3"),
        ("difference, paired", "5", "common seeds"),
        ("mean, until within 5 %", "10 and more", "normal, cv 0.15"),
        ("mean, until within 5 %", "10 and more", "normal, cv 0.3"),
        ("percentile, Woodruff", "5", "95% of delays, runs differ by 15%"),
        ("percentile, Woodruff", "5", "99% of delays, runs differ by 15%"),
    ],
)
def an_interval_holds_the_truth_in_93_to_97_percent_of_the_experiments(case: tuple[str, str, str]) -> None:
    assert 0.93 <= SCRIPT.cover(CASES[case], EXPERIMENTS).held <= 0.97


def a_bootstrap_over_five_runs_does_not() -> None:
    case = CASES["percentile, bootstrap (not used)", "5", "99% of delays, runs differ by 15%"]
    assert SCRIPT.cover(case, 300).held < 0.90


def the_page_has_the_cases_of_the_script() -> None:
    page = (ROOT / "docs/reference/error-rates.md").read_text(encoding="utf-8")
    for interval, runs, about in CASES:
        assert f"| {interval} | {runs} | {about} |" in page


def a_line_of_the_page_is_what_the_script_writes() -> None:
    page = (ROOT / "docs/reference/error-rates.md").read_text(encoding="utf-8")
    assert SCRIPT.line(CASES["difference, paired", "5", "common seeds"]) in page
