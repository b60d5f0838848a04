"""Tables in the experiments' pages are those that scripts write from data beside them."""

from __future__ import annotations

import polars as pl
import pytest
from conftest import ROOT, script

EXPERIMENTS = ROOT / "experiments"


def the_comparisons_of_tuned_forms_are_those_of_the_judged_settings() -> None:
    pytest.importorskip("optuna", reason="optuna is not installed: the extra tune")
    tuned, folder = script("daqm_derivatives"), EXPERIMENTS / "daqm"
    differences = tuned.compared(pl.read_csv(folder / "generated/derivatives.csv"))
    assert tuned.table(differences) in (folder / "notes.md").read_text(encoding="utf-8")


def the_tables_of_the_data_centre_are_those_of_its_stored_runs() -> None:
    data_center = script("data_center")
    page = (EXPERIMENTS / "data-center/README.md").read_text(encoding="utf-8")
    tables = data_center.tables()
    assert len(tables) == page.count("written by scripts/data_center.py -->") > 1
    for name, lines in tables.items():
        begin, end = data_center.marks(name)
        assert "\n".join([begin, *lines, end]) in page, name
