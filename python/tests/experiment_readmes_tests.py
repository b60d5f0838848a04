"""Tables in the experiments' READMEs are those that scripts write from data beside them."""

from __future__ import annotations

import polars as pl
import pytest
from conftest import ROOT, script

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
