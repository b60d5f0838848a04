"""Verdicts are wrong as rarely as they say: the short form of `make verdict-rates`."""

from __future__ import annotations

import pytest
from conftest import ROOT, script

from aqmlab.papers.verdicts import Verdict

EXPERIMENTS = 300


SCRIPT = script("verdict_rates")
PAGE = (ROOT / "docs/reference/error-rates.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("draw", SCRIPT.DRAWS)
@pytest.mark.parametrize("runs", [2, 3, 5, 10])
@pytest.mark.parametrize(
    "case", [case for case in SCRIPT.CASES if not case.expect.endswith(" 1")], ids=lambda case: case.about
)
def a_comparison_of_two_is_rarely_wrong(case: object, draw: str, runs: int) -> None:
    found = SCRIPT.rates(case, SCRIPT.DRAWS[draw], runs, EXPERIMENTS)
    # 2.5 % of 300 are 7.5, and its standard deviation 2.7.
    assert sum(found[verdict] for verdict in case.wrong) <= 18  # type: ignore[attr-defined]


@pytest.mark.parametrize("draw", SCRIPT.DRAWS)
def papers_of_which_nothing_is_so_are_rarely_refuted_and_never_by_two_runs(draw: str) -> None:
    assert SCRIPT.some_refuted(SCRIPT.DRAWS[draw], 2, 30) == 0.0
    # 5 % at most.
    assert SCRIPT.some_refuted(SCRIPT.DRAWS[draw], 5, 60) <= 0.15


@pytest.mark.parametrize("draw", SCRIPT.CONFIGURATION_DRAWS)
@pytest.mark.parametrize("case", SCRIPT.CASES[:3], ids=lambda case: case.about)
def a_configuration_of_a_space_is_rarely_wrong_and_undecided_where_nothing_is_so(case: object, draw: str) -> None:
    found = SCRIPT.configuration_rates(case, SCRIPT.CONFIGURATION_DRAWS[draw], 1, EXPERIMENTS)
    # 5 % at most, as the script says, and a standard deviation more for so few experiments.
    assert SCRIPT.tested_share(found, case.wrong) <= 0.06  # type: ignore[attr-defined]
    if case.mean == 1.0:  # type: ignore[attr-defined]
        assert SCRIPT.tested_share(found, [Verdict.INCONCLUSIVE]) >= 0.9


def the_page_has_the_cases_of_the_script() -> None:
    for case in SCRIPT.CASES:
        for draw in SCRIPT.DRAWS:
            assert f"| `{case.expect}` | {case.about} | {draw} |" in PAGE


def a_line_of_the_page_is_what_the_script_writes() -> None:
    (case,) = (case for case in SCRIPT.CASES if case.expect == "a < b by 50%" and case.about.startswith("half"))
    assert SCRIPT.line(case, "skewed") in PAGE
