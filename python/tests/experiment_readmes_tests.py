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
