"""The test bench for transports, as its users have it: under pytest, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copy
from typing import Any
from unittest.mock import patch

import pytest
from conftest import ROOT
from documents import blocks

from aqmlab import InputError, Transport, compare, testbed

EXAMPLES = ROOT / "docs" / "examples"
PATH: Any = {"rate": "4mbit", "rtt": "40ms", "duration": "2s"}


def _pytest(folder: Path, *arguments: str | Path) -> str:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, *arguments]
    return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120, cwd=folder).stdout


def the_example_is_what_the_page_shows_and_passes(tmp_path: Path) -> None:
    example = (EXAMPLES / "test_aimd.py").read_text()
    shown = [block.text for block in blocks(ROOT / "docs/how-to/test-transport.md") if block.kind == "python"]
    assert shown
    assert all(block in example for block in shown)
    for name in ("aimd.py", "test_aimd.py"):
        copy(EXAMPLES / name, tmp_path)
    printed = _pytest(tmp_path, "-rP")
    assert "3 passed" in printed
    # The table of the crate's matrix, whose transport is the same: see its several.rs.
    (table,) = [block.text for block in blocks(ROOT / "docs/how-to/test-transport.md") if "\nG: " in block.text]
    assert table in printed


def a_failed_assertion_names_its_figure_and_capture_under_pytests_folder(tmp_path: Path) -> None:
    (tmp_path / "test_stubborn.py").write_text(
        f"""import sys
sys.path.insert(0, {str(EXAMPLES)!r})
from aimd import AIMD
from aqmlab import testbed

class Stubborn(AIMD):
    "Never backs off."
    def _halve(self, number):
        pass

def test_it(tmp_path):
    path = dict(rate="10mbit", rtt="40ms", aqm="pie limit 200p", duration="4s", folder=tmp_path)
    run = testbed.run(transports=[Stubborn], flows="2*stubborn", **path)
    run.loss("stubborn").at_most(0.02)
"""
    )
    base = tmp_path / "base"
    printed = _pytest(tmp_path, tmp_path / "test_stubborn.py", "--basetemp", base)
    assert "AssertionError: loss of stubborn is 0." in printed
    assert "it must be at most 0.02" in printed
    assert "10mbit, 40ms, pie limit 200p: 2 stubborn, seed 1" in printed
    (folder,) = base.glob("test_it*0")
    assert f"see run.svg and queue.pcapng in {folder}" in printed
    # What pytest shows of the test ends at its own line.
    assert "def _check" not in printed
    assert (folder / "run.svg").read_text().count("<svg") == 1
    capture = (folder / "queue.pcapng").read_bytes()
    assert all(name in capture for name in (b"before", b"behind", b"dropped", b"congestion, after "))


def every_question_has_its_answer(tmp_path: Path) -> None:
    run = testbed.run(
        **PATH, aqm="codel", flows=["2*cubic:size=100kb:start=0s", "1*cbr:rate=1mbit:start=0s"], folder=tmp_path
    )
    assert run.goodput("cbr").value == pytest.approx(0.97, abs=0.05)
    assert run.metric("qdelay_p99_ms").value == run.qdelay_p99().value
    run.fairness().at_least(0.3)
    run.fairness().at_most(0.999)
    run.completed_by("cubic", 2.0)
    for group, most in [("cubic", 0.1), ("cbr", 1)]:
        with pytest.raises(AssertionError, match=f"completion of {group} is .*: it must be at most {most} s"):
            run.completed_by(group, most)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["queue.pcapng", "run.svg"]
    with pytest.raises(InputError, match="did you mean 'cubic'"):
        run.goodput("cubik")
    with pytest.raises(InputError, match="did you mean 'qdelay_mean_ms'"):
        run.metric("qdelay_maen_ms")


def a_failed_assertion_is_reported_also_where_a_figure_cannot_be_drawn(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("import aqmlab\nclass Mine(aqmlab.AQM):\n    pass\n")
    run = testbed.run(
        **{**PATH, "duration": "5ms"}, aqm=f"python:{mine}:Mine", flows="1*cubic:start=0s", folder=tmp_path
    )
    with pytest.raises(AssertionError) as failed:
        run.metric("packets_arrived").at_least(1e6)
    first, *_, kept, missing = str(failed.value).splitlines()
    assert first.startswith("packets_arrived is ")
    assert kept == f"see queue.pcapng in {tmp_path}"
    assert missing.startswith("no run.svg: timeseries: the runs have no time series")
    # A file is where the folder would be.
    blocked = replace(run, folder=mine)
    with pytest.raises(AssertionError, match=r"packets_arrived is [\s\S]*\nno run.svg: [\s\S]*\nno queue.pcapng: "):
        blocked.metric("packets_arrived").at_least(1e6)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"aqm": "fifo,codel"}, "aqm: 'fifo,codel' is not one discipline"),
        ({"aqm": ["fifo", "codel"]}, "is not one discipline"),
        ({"seeds": 3}, "seeds: a run has one seed: give testbed.run a seed, or testbed.over several"),
        ({"first_seed": 3}, "first_seed: a run has one seed"),
        ({"seed": "x"}, "seed: 'x' is not a whole number from 1"),
        ({"transports": Transport}, "transports: .* is no list: give classes of aqmlab.Transport in one"),
        ({"folder": 5}, "folder: 5 is no path"),
        ({"folder": __file__}, "folder: '.*' is a file"),
    ],
)
def what_makes_no_one_run_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        testbed.run(**PATH, **options)


def a_metric_without_a_value_is_undefined_and_not_unknown(tmp_path: Path) -> None:
    run = testbed.run(**PATH, folder=tmp_path)
    for name in ("ecn_ce_packets", "class.cubic.ecn_ce_packets"):
        with pytest.raises(AssertionError, match=f"{name} is undefined .*: it must be at most 0"):
            run.metric(name).at_most(0)
    with pytest.raises(InputError, match=r"did you mean 'class\.cubic\.goodput_mbit'"):
        run.metric("class.cubik.goodput_mbit")


def a_figure_is_held_against_a_number(tmp_path: Path) -> None:
    goodput = testbed.run(**PATH, folder=tmp_path).goodput("cubic")
    for bound in ("8", float("nan"), True):
        with pytest.raises(InputError, match=f"{bound!r} is no number: a figure cannot be held against it"):
            goodput.at_least(bound)  # type: ignore[arg-type]


def the_same_seed_is_the_same_run_and_another_is_not() -> None:
    def goodputs(seed: int) -> list[float]:
        return testbed.run(**PATH, seed=seed, flows="2*cubic").result.flows["goodput_mbit"].to_list()

    assert goodputs(1) == goodputs(1) != goodputs(2)


def what_is_measured_begins_as_that_of_a_comparison() -> None:
    run = testbed.run(**PATH, flows="2*cubic")
    compared = compare(**PATH, aqm="fifo", flows="2*cubic", seeds=1)
    assert run.qdelay_mean().value == compared.runs["qdelay_mean_ms"].item()
    assert run.qdelay_mean().value != testbed.run(**PATH, flows="2*cubic", warmup="0s").qdelay_mean().value


def a_condition_that_fails_in_too_many_seeds_names_them_and_leaves_the_files_of_the_worst(tmp_path: Path) -> None:
    runs = testbed.over([3, 4, 5, 6], **PATH, flows="2*cubic", folder=tmp_path)
    values = {seed: run.fairness().value for seed, run in runs.outcomes.items()}
    assert list(values) == [3, 4, 5, 6]
    worst, second, third, _ = sorted(values, key=lambda seed: values[seed] or 0.0)
    bound = ((values[second] or 0.0) + (values[third] or 0.0)) / 2
    runs.at_least(2, lambda run: run.fairness().is_at_least(bound))
    with pytest.raises(AssertionError) as failed:
        runs.all(lambda run: run.fairness().is_at_least(bound))
    first, one, other, title, files = str(failed.value).splitlines()
    assert first == f"fairness (Jain's index) is at least {bound!r} in 2 of 4 seeds: it must be in 4"
    assert [one, other] == [f"  seed {seed}: {values[seed]:.4f}" for seed in sorted((worst, second))]
    assert title == f"4mbit, 40ms, fifo: 2 cubic, seed {worst}"
    folder = tmp_path / f"seed-{worst}"
    assert files == f"see run.svg and queue.pcapng in {folder}"
    assert [*tmp_path.iterdir()] == [folder]
    assert len((folder / "queue.pcapng").read_bytes()) > 10_000


def an_undefined_figure_is_on_no_side_of_a_bound_and_no_seed_is_no_pass(tmp_path: Path) -> None:
    runs = testbed.over([1], **PATH, folder=tmp_path)
    for condition in (
        lambda run: run.metric("ecn_ce_packets").is_at_least(0.0),
        lambda run: run.metric("ecn_ce_packets").is_at_most(1e9),
    ):
        with pytest.raises(AssertionError, match="in 0 of 1 seeds: it must be in 1\n  seed 1: undefined"):
            runs.all(condition)
    with pytest.raises(AssertionError, match=r"^there is no seed$"):
        testbed.over([], **PATH).all(lambda run: run.fairness().is_at_least(0.0))


TESTS: dict[str, testbed.Condition] = {
    "G": lambda run, group: run.goodput(group).is_at_least(1.5),
    "D": lambda run, _: run.qdelay_mean().is_at_most(25.0),
}


def a_matrix_shows_what_passes_in_each_cell_and_knows_its_failures(tmp_path: Path) -> None:
    rows, columns = ["2*cubic", "2*newreno:name=reno"], ["fifo", "codel"]
    path = {**PATH, "duration": "6s", "folder": tmp_path}
    cells = testbed.matrix(rows, columns, TESTS, over=[1, 2], flows="cbr:rate=1mbit", **path)
    assert str(cells) == (
        "                      fifo       codel\n"
        "2*cubic               ✓ G  ✗ D   ✓ G,D\n"
        "2*newreno:name=reno   ✓ G  ✗ D   ✓ G,D\n"
        "G: goodput at least 1.5 Mbit/s, in 2 of 2 seeds\n"
        "D: mean queue delay at most 25 ms, in 2 of 2 seeds\n"
    )
    known = [(row, "fifo", "D") for row in rows]
    cells.fail_only(*known)
    assert not [*tmp_path.iterdir()]
    # A failure that is not known leaves its files, in a folder of its cell.
    with pytest.raises(AssertionError) as failed:
        cells.fail_only(known[0])
    assert str(failed.value).startswith(str(cells))
    says = "reno behind fifo fails D: mean queue delay is at most 25 ms in 0 of 2 seeds: it must be in 2\n  seed "
    assert says in str(failed.value)
    (folder,) = tmp_path.iterdir()
    assert folder.name == "2_newreno_name_reno-fifo"
    assert len([*folder.iterdir()]) == 1
    # A known failure that passes is none.
    with pytest.raises(AssertionError, match=r"2\*cubic behind fifo passes G: it is no known failure any more$"):
        cells.fail_only(*known, ("2*cubic", "fifo", "G"))
    assert cells.holds("2*cubic", "codel", "D")
    with pytest.raises(InputError, match=r"unknown row '2\*cubik', did you mean '2\*cubic'\?"):
        cells.holds("2*cubik", "fifo", "D")
    with pytest.raises(AssertionError, match="passes G"):
        testbed.matrix(["1*cubic"], ["fifo"], TESTS, **path).fail_only(("1*cubic", "fifo", "G"))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"tests": {}}, "tests: the matrix has none"),
        ({"rows": []}, "rows: the matrix has none"),
        ({"rows": "2*cubic"}, "rows: '2.cubic' is no list of texts"),
        ({"columns": ["fifo", "fifo"]}, "columns: 'fifo' is there twice"),
        ({"columns": ["fifoo"]}, "aqm: unknown discipline 'fifoo', did you mean 'fifo'?"),
        ({"aqm": "fifo"}, "aqm: the columns of a matrix are its disciplines"),
        ({"over": []}, "over: the matrix has no seeds"),
        ({"over": [1, 0]}, "over: '0' is not a whole number from 1"),
        ({"over": 3}, "over: 3 is no list of seeds: give one, as range"),
        ({"in_at_least": 4}, "in_at_least: of 1 seeds a condition cannot hold in 4"),
    ],
)
def a_matrix_that_asks_nothing_is_refused_before_it_runs(changed: dict[str, Any], problem: str) -> None:
    whole: dict[str, Any] = {"rows": ["1*cubic"], "columns": ["fifo"], "tests": TESTS, **PATH}
    with patch("aqmlab.facade.compare") as runs, pytest.raises(InputError, match=problem):
        testbed.matrix(**{**whole, **changed})
    runs.assert_not_called()
