from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import script
from fake import fake_run
from folders import forge

import aqmlab
from aqmlab import CheckError, InputError, Result, store
from aqmlab.engine import Task
from aqmlab.experiment import run_experiment
from aqmlab.facade import with_methods
from aqmlab.results import metric_tables
from aqmlab.results.frames import FRAMES
from aqmlab.results.settings import settings
from aqmlab.results.summary import Row
from aqmlab.runs import runner
from aqmlab.runs.workers import Threads
from aqmlab.scenario import Experiment, from_values
from aqmlab.stats import statistics
from aqmlab.store import seal

SMALL = {"rate": "10mbit", "rtt": "40ms", "duration": "3s", "seeds": 2}


def _conduct(folder: Path | None, aqm: tuple[str, ...] = ("fifo", "codel"), **options: Any) -> Result:
    values = {**SMALL, "aqm": list(aqm), **options}
    asked = Experiment("", (from_values(values),))
    return with_methods(run_experiment(asked, "compare", 2, folder))


# --- the contents of a result ----------------------------------------------------------------------------------------


def a_result_has_a_row_per_run_in_the_order_of_aqm_and_seed(result: Result) -> None:
    assert result.runs.select("aqm", "seed").rows() == [(aqm, seed) for aqm in ("fifo", "codel") for seed in (1, 2, 3)]
    assert result.aqms == ["fifo", "codel"]
    assert result.seeds == [1, 2, 3]
    assert not result.is_partial
    assert len(result.flows) == 6 * 3


def the_summary_is_the_mean_of_the_runs(result: Result) -> None:
    row = result.summary.filter((pl.col("aqm") == "codel") & (pl.col("metric") == "goodput_mbit")).row(0, named=True)
    runs = result.runs.filter(pl.col("aqm") == "codel")["goodput_mbit"]
    assert row["mean"] == pytest.approx(runs.mean())
    assert row["n"] == 3
    assert row["ci95_low"] < row["mean"] < row["ci95_high"]


def percentiles_come_from_all_runs_together(result: Result) -> None:
    row = result.summary.filter((pl.col("aqm") == "fifo") & (pl.col("metric") == "qdelay_p99_ms")).row(0, named=True)
    merged = result.histograms.filter((pl.col("aqm") == "fifo") & (pl.col("name") == "qdelay")).sort("value_ns")
    share = merged["count"].cum_sum() / merged["count"].sum()
    assert row["mean"] == pytest.approx(merged.filter(share >= 0.99)["value_ns"][0] / 1e6)
    assert row["method"] == "percentile of all runs, Woodruff"


def the_histogram_of_one_run_has_the_percentile_of_the_simulator(result: Result) -> None:
    for run in result.runs.iter_rows(named=True):
        one = (pl.col("aqm") == run["aqm"]) & (pl.col("seed") == run["seed"]) & (pl.col("name") == "qdelay")
        merged = result.histograms.filter(one).sort("value_ns")
        share = merged["count"].cum_sum() / merged["count"].sum()
        assert merged.filter(share >= 0.5)["value_ns"][0] / 1e6 == pytest.approx(run["qdelay_p50_ms"], rel=0.02)


def differences_are_in_words_and_against_the_first(result: Result) -> None:
    (delay,) = (one for one in result.comparisons if one.metric == "qdelay_mean_ms")
    assert (delay.aqm, delay.reference) == ("codel", "fifo")
    assert delay.difference.estimate.value < 0
    if delay.difference.is_distinguishable:
        assert delay.words.startswith("mean queue delay: ")
        assert "ms lower (" in delay.words
    assert set(result.differences["aqm"]) == {"codel"}


def equal_aqms_are_not_distinguishable() -> None:
    result = aqmlab.compare(**SMALL, aqm=["fifo", "fifo:tail"])
    assert {one.verdict for one in result.comparisons} == {"equal in every run"}


def seeds_that_change_nothing_are_warned_about() -> None:
    fixed = {**SMALL, "flows": "1*cbr:rate=12mbit:start=0s", "aqm": ["fifo", "codel"]}
    result = aqmlab.compare(**fixed)
    assert result.warnings[-1].startswith("fifo, codel: every seed gave the same run")
    assert any("in every run, " in one.words for one in result.comparisons)
    assert not aqmlab.compare(**{**fixed, "flows": "1*onoff:rate=12mbit:on=exp(1s)"}).warnings


def one_seed_has_no_interval_and_says_so() -> None:
    result = aqmlab.compare(**{**SMALL, "seeds": 1}, aqm=["fifo", "codel"])
    assert result.summary["ci95_low"].null_count() == len(result.summary)
    assert all("one run says nothing about chance" in one.words for one in result.comparisons)


def json_follows_the_contract(result: Result) -> None:
    document = json.loads(result.to_json())
    contract = script("contract_page")
    assert set(document) == set(contract.DOCUMENT)
    assert document["format_version"] == 1
    assert document["command"] == "compare"
    assert document["aqmlab"] == aqmlab.__version__
    assert document["scenario"]["rate"] == "10mbit"
    run = document["runs"][0]
    assert set(run) == set(contract.RUN)
    assert run["engine"] == "native"
    assert run["flows"][0]["kind"] == "cubic"
    assert None not in run["metrics"].values()
    assert set(document["summary"][0]) == set(contract.SUMMARY)


@pytest.mark.usefixtures("made_up")
def undefined_values_are_absent_from_the_json() -> None:
    document = _conduct(None).document()
    assert "fct_mean_s" not in document["runs"][0]["metrics"]
    assert "fct_s" not in document["runs"][0]["flows"][0]
    assert "fct_mean_s" not in {row["metric"] for row in document["summary"]}


def every_number_of_a_sweep_names_its_point(tmp_path: Path) -> None:
    path = tmp_path / "exp.toml"
    path.write_text('aqm = "fifo"\nrtt = "40ms"\nduration = "6s"\nseeds = 2\n[sweep]\nrate = ["5mbit", "10mbit"]\n')
    result = aqmlab.run(path, out=tmp_path / "out")
    assert result.summary.columns[0] == "rate"
    goodput = result.summary.filter(pl.col("metric") == "goodput_mbit")
    assert goodput["rate"].to_list() == ["5mbit", "10mbit"]
    assert goodput["mean"][1] > 1.5 * goodput["mean"][0]
    document = result.document()
    assert {run["point"]["rate"] for run in document["runs"]} == {"5mbit", "10mbit"}
    assert {"sweep.svg", "sweep.csv", "cdf.svg", "cdf.csv"} <= {
        path.name for path in (tmp_path / "out" / "figures").iterdir()
    }


# --- determinism -----------------------------------------------------------------------------------------------------


def _without_times(result: Result) -> str:
    document = result.document()
    for run in document["runs"]:
        del run["cpu_s"]
    return json.dumps(document)


def the_number_of_jobs_changes_nothing_but_times() -> None:
    options = {**SMALL, "seeds": 3, "flows": ["2*cubic", "1*onoff:rate=1mbit:on=exp(200ms):off=0..1s"]}
    one, two, again = (
        _without_times(aqmlab.compare(**options, aqm=["fifo", "codel"], jobs=jobs)) for jobs in (1, 2, 2)
    )
    assert one == two == again


def figures_are_the_same_bytes_each_time(result: Result) -> None:
    from aqmlab import plots

    kinds = [
        name for name, kind in plots.KINDS.items() if not kind.of_flows and not kind.is_occasional and not kind.across
    ]
    for kind in kinds:
        first, second = (plots.figures(kind, [result])[0].svg for _ in range(2))
        assert first == second
    assert len(kinds) > 5


# --- folders ---------------------------------------------------------------------------------------------------------


def a_folder_reads_back_as_it_was_written(result: Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "out")
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json", "report.html", "figures", *(f"{name}.parquet" for name in FRAMES),
    }  # fmt: skip
    read = aqmlab.load(folder)
    assert read.to_json() == result.to_json()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def a_folder_is_never_overwritten(result: Result, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="holds files already, and results are never overwritten"):
        result.save(tmp_path / "out")
    with pytest.raises(InputError, match="never overwritten"):
        _conduct(tmp_path / "out")
    assert (tmp_path / "out" / "thesis.txt").read_text() == "mine"


def a_folder_of_another_experiment_is_left_alone(tmp_path: Path) -> None:
    _conduct(tmp_path / "out")
    before = (tmp_path / "out" / "runs.parquet").read_bytes()
    with pytest.raises(InputError, match="holds another experiment: rate is 10mbit there and 20mbit here"):
        _conduct(tmp_path / "out", rate="20mbit")
    assert (tmp_path / "out" / "runs.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("manifest", "wanted"),
    [
        ('{"format_version": 6}', "has format version 6, and this aqmlab reads up to 5: use a newer one"),
        ("{", "is damaged"),
        ("[]", "is damaged"),
    ],
)
def a_manifest_that_cannot_be_read_is_refused(tmp_path: Path, manifest: str, wanted: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(InputError) as error:
        aqmlab.load(tmp_path)
    assert wanted in str(error.value)


def a_damaged_frame_is_named(result: Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "out")
    (folder / "series.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"series\.parquet: is damaged, or was altered"):
        aqmlab.load(folder)
    forge(folder, lambda entries: entries["digests"].update(series=seal.digest(b"PAR1 and no more")))
    with pytest.raises(InputError, match=r"series\.parquet: cannot be read"):
        aqmlab.load(folder)


def finished_runs_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(scenario: str, inputs: object, seed: int, monitor: object) -> object:
        calls.append(seed)
        if len(calls) == 3:
            raise CheckError("check failed: made up")
        return fake_run(scenario, inputs, seed, monitor)

    monkeypatch.setattr("aqmlab.engine.native.simulate", counted)
    values = {**SMALL, "aqm": ["fifo", "codel"]}
    experiment = Experiment("", (from_values(values),))
    first = run_experiment(experiment, "compare", 1, tmp_path / "out")
    assert first.is_partial
    assert len(first.runs) == 3
    assert first.warnings[0] == "partial result: 3 of 4 runs are finished"
    assert "PARTIAL RESULT" in (tmp_path / "out" / "figures" / "cdf.svg").read_text()
    assert "Partial result" in (tmp_path / "out" / "report.html").read_text()
    second = run_experiment(experiment, "compare", 1, tmp_path / "out")
    assert len(calls) == 5
    assert not second.is_partial
    assert second.runs.select("aqm", "seed").rows() == [("fifo", 1), ("fifo", 2), ("codel", 1), ("codel", 2)]
    run_experiment(experiment, "compare", 1, tmp_path / "out")
    assert len(calls) == 5


def a_dated_folder_is_always_new(tmp_path: Path) -> None:
    names = set()
    for _ in range(3):
        folder = store.dated("compare", tmp_path)
        names.add(folder.name)
    assert len(names) == 3


# --- runs ------------------------------------------------------------------------------------------------------------


def _task(seed: int, duration_ns: int = 10**15) -> Task:
    from aqmlab import scenario

    plan = scenario.resolve(from_values({**SMALL, "aqm": "fifo"}))
    one = plan.scenarios["fifo"]
    settings = {**one.settings, "duration_ns": duration_ns}
    return Task(0, "fifo", seed, str(seed), replace(one, settings=settings))


def an_interrupt_stops_runs_and_keeps_finished_ones() -> None:
    tasks = [_task(1, 2 * 10**9), _task(2), _task(3)]

    kept: list[object] = []

    def interrupt_after_the_first(done: object) -> None:
        kept.append(done)
        if len(kept) == 1:
            signal.raise_signal(signal.SIGINT)

    outcome = runner.execute(tasks, Threads(1), on_done=interrupt_after_the_first)
    assert outcome.interrupted
    assert [one.run.seed for one in outcome.done] == [1]


TELLING = """
import os
from aqmlab.engine import native
from aqmlab.cli import main

simulate = native.simulate

def telling(*arguments):
    run = simulate(*arguments)
    os.write(1, b"a run is finished\\n")
    return run

native.simulate = telling
main()
"""


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def an_interrupted_command_leaves_a_readable_partial_result(tmp_path: Path, signal_number: signal.Signals) -> None:
    out = tmp_path / "out"
    command = [
        sys.executable, "-c", TELLING, "compare", "--rate", "100mbit", "--rtt", "20ms", "--aqm", "fifo",
        "--flows", "20*cubic", "--duration", "20s", "--seeds", "1000", "--jobs", "2", "--out", str(out), "--quiet",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        for _ in range(3):
            assert process.stdout.readline() == "a run is finished\n"
        process.send_signal(signal_number)
        _, err = process.communicate(timeout=100)
    assert process.returncode == 130, err
    assert err == f"aqmlab: interrupted: {out} holds the finished runs\n"
    result = aqmlab.load(out)
    assert result.is_partial
    assert 3 <= len(result.runs) < 1000
    assert "Partial result" in (out / "report.html").read_text()


def a_run_that_refuses_its_input_ends_everything_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(scenario: str, inputs: object, seed: int, monitor: object) -> object:
        del scenario, inputs, seed, monitor
        raise InputError("file x, key y")

    monkeypatch.setattr("aqmlab.engine.native.simulate", refuse)
    with pytest.raises(InputError, match="file x, key y"):
        _conduct(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def a_failed_check_is_an_error_in_python() -> None:
    with pytest.raises(InputError, match="scenario: "):
        aqmlab._native.run("{}", aqmlab._native.Inputs(), 1, aqmlab._native.Monitor())


@pytest.mark.usefixtures("made_up")
def warnings_of_runs_are_printed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(scenario: str, inputs: object, seed: int, monitor: object) -> object:
        run = fake_run(scenario, inputs, seed, monitor)
        run.warnings = ["all alike", *(["codel's own"] if "codel" in scenario else [])]
        return run

    monkeypatch.setattr("aqmlab.engine.native.simulate", warn)
    assert _conduct(None).warnings == ["all alike", "codel: codel's own"]


def columns_are_in_the_unit_of_their_largest_value_and_all_of_a_title_in_one() -> None:
    def row(metric: str, value: float) -> Row:
        return Row(0, "fifo", metric, "", statistics.mean([value]))

    rows = [row("goodput_mbit", 94_123.4), row("qdelay_mean_ms", 0.0123), row("qdelay_p99_ms", 0.456)]
    columns = {column.metric: column for column in metric_tables.in_units(metric_tables.COLUMNS, rows)}
    line = metric_tables.line(rows, "", list(columns.values()))
    shown = {metric: (line[metric].value, columns[metric].unit) for metric in ("goodput_mbit", "qdelay_mean_ms")}
    assert shown == {"goodput_mbit": ("94.123", "Gbit/s"), "qdelay_mean_ms": ("12.3", "mean, us")}
    assert columns["qdelay_p50_ms"].unit == "median, us"
    # One value of a millisecond or more keeps the title's columns in milliseconds, in every scenario.
    rows.append(Row(1, "codel", "class.web.qdelay_p99_ms", "", statistics.mean([1.5])))
    assert metric_tables.in_units(metric_tables.COLUMNS, rows)[2] == metric_tables.COLUMNS[2]
    assert {row.metric for row in rows} == {
        "goodput_mbit",
        "qdelay_mean_ms",
        "qdelay_p99_ms",
        "class.web.qdelay_p99_ms",
    }


def a_buffer_that_no_aqm_has_is_reported_as_unused() -> None:
    unused = "not used: each AQM has a limit of its own"
    for aqm, note in ((("fifo limit 20p", "codel limit 20p"), unused), (("fifo", "codel"), "1bdp at 40ms")):
        (buffer,) = (one for one in settings(_conduct(None, aqm)) if one.name == "buffer")
        assert note in buffer.note
