"""The test bench for transports, as its users have it: under pytest, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from conftest import ROOT
from documents import blocks

from aqmlab import InputError, Transport, testbed

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
    assert "1 passed" in _pytest(tmp_path)


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
    assert "pie limit 200p: 2 stubborn, seed 1" in printed
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
    for group, most in [("cubic", 0.1), ("cbr", 1.0)]:
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
        ({"seeds": 3}, "seeds: a test bench makes one run"),
        ({"first_seed": 3}, "first_seed: a test bench makes one run"),
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
