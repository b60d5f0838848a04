from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import aqmlab

OPTIONS = {"rate": "10mbit", "rtt": "40ms", "aqm": "pie", "flows": "5*cubic", "duration": "20s", "seeds": 2}


def _mser5(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """MSER-5 as in White, Cobb and Spratt (2000): how many values to leave out."""
    batches = values[: len(values) // 5 * 5].reshape(-1, 5).mean(axis=1)
    errors = [batches[left_out:].var() / (len(batches) - left_out) for left_out in range(len(batches) - 4)]
    return int(np.argmin(errors)) * 5


def the_cut_of_a_run_is_that_of_mser5_and_its_metrics_are_those_of_a_fixed_warmup() -> None:
    result = aqmlab.compare(**OPTIONS, warmup="mser5")
    for run in result.runs.iter_rows(named=True):
        series = result.series.filter(pl.col("seed") == run["seed"])
        values = {
            name: part.sort("time_s")["value"].fill_null(0.0).to_numpy() for (name,), part in series.group_by("name")
        }
        times = sorted(series["time_s"].unique())
        cut = min(max(_mser5(values[name]) for name in ("goodput_mbit", "qdelay_ms")), len(times) // 2)
        expected = max(times[cut - 1] if cut else 0.0, 5.0)
        assert run["warmup_s"] == pytest.approx(expected)
        fixed = aqmlab.compare(**OPTIONS, warmup=f"{run['warmup_s'] * 1000:.0f}ms").runs
        same = fixed.filter(pl.col("seed") == run["seed"]).row(0, named=True)
        assert run["qdelay_mean_ms"] == same["qdelay_mean_ms"]
        assert run["goodput_mbit"] == same["goodput_mbit"]
    assert result.scenarios[0]["warmup"] == "mser5 from 5s"
    assert result.warmups_s() == (result.runs["warmup_s"].min(), result.runs["warmup_s"].max())


def a_run_that_is_not_steady_says_so() -> None:
    flows = ["1*cbr:rate=1mbit", "3*cbr:rate=2mbit:name=late:start=6s..6s"]
    result = aqmlab.compare(**{**OPTIONS, "duration": "8s", "flows": flows}, warmup="mser5")
    assert "MSER-5 finds no steady state in the first half of some run: make it longer" in result.warnings
    assert result.runs["warmup_s"].to_list() == pytest.approx([4.0, 4.0], abs=0.05)
