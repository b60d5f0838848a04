"""What changed since an earlier result: the same runs, others of the same scenario, and refusals."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Command

from aqmlab import InputError, compare, load
from aqmlab.results.baseline import first_difference

BASE = ("--rate", "10mbit", "--rtt", "20ms", "--flows", "2*cubic", "--duration", "2s", "--seeds", "3", "--no-report")


@pytest.fixture
def kept(aqmlab: Command) -> str:
    assert aqmlab("compare", *BASE, "--aqm", "fifo,codel", "--out", "kept", "-q").status == 0
    return "kept"


def the_same_command_changes_nothing(aqmlab: Command, kept: str) -> None:
    ended = aqmlab("compare", *BASE, "--aqm", "fifo,codel", "--out", "new", "--baseline", kept)
    assert ended.status == 0, ended.err
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert lines[0].startswith("Since kept (aqmlab ")
    assert lines[1:3] == ["fifo the same in every run", "codel the same in every run"]
    written = json.loads(Path("new/baseline.json").read_text())
    assert written["baseline"]["folder"] == "kept"
    assert all(one["equal"] for one in written["changes"])
    assert {one["aqm"] for one in written["changes"]} == {"fifo", "codel"}


def a_discipline_that_changed_is_reported_metric_by_metric(aqmlab: Command, kept: str) -> None:
    other = ("--aqm", "fifo", "--aqm", "codel=codel target 1ms", "--aqm", "pie")
    ended = aqmlab("compare", *BASE, *other, "--out", "new", "--baseline", kept, "--json", "all.json")
    assert ended.status == 0, ended.err
    changes = {(one["aqm"], one["metric"]): one for one in json.loads(Path("all.json").read_text())["changes"]}
    delay = changes["codel", "qdelay_mean_ms"]
    assert delay["new"] < delay["old"]
    assert delay["difference"] == pytest.approx(delay["new"] - delay["old"])
    assert delay["n"] == 3
    mark = "*" if delay["distinguishable"] else "≈" if delay["equivalent"] else "?"
    line = next(one for one in ended.out.splitlines() if "mean queue delay" in one)
    assert f"mean queue delay {delay['old']:.2f} → {delay['new']:.2f} ms (-" in line
    assert line.endswith(mark)
    assert not any(aqm == "pie" for aqm, _ in changes)
    assert "not in the baseline" in ended.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--rate", "20mbit"], "--baseline: 'kept' is of another scenario: rate: '10mbit' there and '20mbit' here"),
        (
            ["--buffer", "100p", "--rtt", "30ms"],
            "--baseline: 'kept' is of another scenario: rtt: '20ms' there and '30ms' here",
        ),
    ],
)
def another_scenario_is_refused_before_any_run(aqmlab: Command, kept: str, words: list[str], says: str) -> None:
    given = dict(zip(BASE[:-1:2], BASE[1::2], strict=True)) | dict(zip(words[::2], words[1::2], strict=True))
    options = [word for pair in given.items() for word in pair]
    ended = aqmlab("compare", *options, "--aqm", "codel", "--out", "new", "--baseline", kept)
    assert (ended.status, ended.line) == (2, says)
    assert not Path("new").exists()


def the_folder_itself_and_what_is_no_result_are_refused(aqmlab: Command, kept: str) -> None:
    ended = aqmlab("compare", *BASE, "--aqm", "fifo", "--out", kept, "--baseline", kept)
    assert (ended.status, "is the folder of the new result" in ended.line) == (2, True)
    ended = aqmlab("compare", *BASE, "--aqm", "fifo", "--out", "new", "--baseline", "nothing")
    assert ended.status == 2
    ended = aqmlab("sweep", "--sweep", "rtt=10ms,20ms", *BASE[:2], "--aqm", "fifo", "--out", "new", "--baseline", kept)
    assert (ended.status, "has 1 scenarios, and this experiment 2" in ended.line) == (2, True)


def keys_of_another_version_do_not_count() -> None:
    assert first_difference({"rate": "1mbit", "new": "on"}, {"rate": "1mbit"}) == ""
    assert first_difference({"seeds": [1, 2]}, {"seeds": [1]}) == ""
    assert first_difference({"flows": ["1*cubic"]}, {"flows": ["1*cubic", "1*web"]}).startswith("flows: ")


def in_python_the_result_and_its_report_say_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options: Any = {"rate": "10mbit", "rtt": "20ms", "flows": "2*cubic", "duration": "2s", "seeds": 3}
    compare(**options, aqm=["fifo", "codel"], out="kept")
    changed = compare(**options, aqm=["fifo", "codel=codel target 1ms"], baseline="kept", out="new")
    frame = changed.changes
    assert set(frame.filter(pl.col("equal"))["aqm"]) >= {"fifo"}
    delay = frame.row(by_predicate=(pl.col("aqm") == "codel") & (pl.col("metric") == "qdelay_mean_ms"), named=True)
    assert delay["words"].startswith("mean queue delay ")
    page = Path("new/report.html").read_text(encoding="utf-8")
    assert "<h2>Since kept</h2>" in page
    assert delay["words"] in html.unescape(page)
    assert "the same in every run" in page
    # A folder keeps it, until it has other runs.
    assert load("new").changes.equals(frame)
    wider = compare(**{**options, "seeds": 4}, aqm=["fifo", "codel=codel target 1ms"], out="new")
    assert load("new").since is None
    assert "Since kept" not in Path("new/report.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="the result has no baseline"):
        _ = wider.changes
    with pytest.raises(InputError, match=r"baseline: 'kept' is of another scenario: rate: '10mbit' there"):
        compare(**{**options, "rate": "20mbit"}, aqm="fifo", baseline="kept")
