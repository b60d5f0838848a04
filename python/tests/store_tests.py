"""No finished run is lost or made twice when the process, the folder or the disk fails."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import Command
from fake import fake_run
from folders import Killed, forge, forge_frame, killed_at, manifest

import aqmlab as package
from aqmlab import CheckError, InputError, MachineError, Result, engine, exports, scenario, store
from aqmlab.engine import Capabilities, native
from aqmlab.experiment import run_experiment
from aqmlab.facade import with_methods
from aqmlab.files import disk, lock
from aqmlab.results.frames import FRAMES, coded, from_runs
from aqmlab.results.frames import plain as as_texts
from aqmlab.runs.runner import FinishedRun
from aqmlab.scenario import Experiment, from_values
from aqmlab.store import folder, journal, record

# At how many random times a command is killed; AQMLAB_KILLS=30 takes some minutes.
KILLS = int(os.environ.get("AQMLAB_KILLS", "1"))
SMALL = {"rate": "10mbit", "rtt": "40ms", "duration": "3s", "seeds": 2}
SWEPT = 'aqm = ["fifo"]\nrtt = "40ms"\nduration = "3s"\nseeds = 2\n[sweep]\nrate = {}\n'

Calls = list[tuple[str, int]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Made-up runs, and a list of those that were made."""
    made: Calls = []

    def counted(text: str, inputs: object, seed: int, monitor: object) -> object:
        made.append((json.loads(text)["aqm"].split(":")[0], seed))
        return fake_run(text, inputs, seed, monitor)

    monkeypatch.setattr("aqmlab.engine.native.simulate", counted)
    return made


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figures: for tests of other things."""
    monkeypatch.setattr("aqmlab.publishing.publish", lambda result, folder: result)


def _conduct(out: Path, aqm: tuple[str, ...] = ("fifo", "codel"), **options: Any) -> Result:
    values = {**SMALL, "aqm": list(aqm), **options}
    asked = Experiment("", (from_values(values),))
    return with_methods(run_experiment(asked, "compare", 1, out, engine="native"))


def _sweep(path: Path, rates: list[str], out: Path) -> Result:
    path.write_text(SWEPT.format(json.dumps(rates)))
    return package.run(path, out=out, jobs=1)


def _same(one: Result, other: Result) -> bool:
    """Whether two results are the same, byte for byte, except for processor times."""

    def content(result: Result) -> list[bytes]:
        found = []
        for name in FRAMES:
            frame: pl.DataFrame = getattr(result.frames, name)
            found.append(folder._parquet(name, frame.drop("cpu_s", strict=False)))
        return found

    return content(one) == content(other)


# --- growth ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain")
def more_seeds_and_another_aqm_are_added_to_a_folder(calls: Calls, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _conduct(out)
    assert len(calls) == 4
    assert _conduct(out, seeds=3).seeds == [1, 2, 3]
    assert calls[4:] == [("fifo", 3), ("codel", 3)]
    grown = _conduct(out, aqm=("pie",), seeds=3)
    assert calls[6:] == [("pie", 1), ("pie", 2), ("pie", 3)]
    assert grown.aqms == ["fifo", "codel", "pie"]
    assert len(grown.runs) == 9
    assert not grown.is_partial
    _conduct(out, aqm=("codel",), seeds=1)
    assert len(calls) == 9
    assert _same(grown, _conduct(tmp_path / "new", aqm=("fifo", "codel", "pie"), seeds=3))
    assert package.load(out).to_json() == grown.to_json()


@pytest.mark.usefixtures("plain")
def runs_with_a_later_first_seed_are_those_among_all(tmp_path: Path) -> None:
    out = tmp_path / "out"
    later = _conduct(out, first_seed=3)
    assert later.seeds == [3, 4]
    keys = _conduct(tmp_path / "all", seeds=4).runs.filter(pl.col("seed") >= 3)["key"]
    assert later.runs["key"].to_list() == keys.to_list()
    assert _conduct(out, first_seed=3, seeds=3).seeds == [3, 4, 5]
    with pytest.raises(InputError, match="its first seed is 3, this one's 1; results are never overwritten"):
        _conduct(out)


@pytest.mark.usefixtures("plain")
def an_added_aqm_gets_the_seeds_of_the_others(calls: Calls, tmp_path: Path) -> None:
    _conduct(tmp_path / "out", seeds=3)
    grown = _conduct(tmp_path / "out", aqm=("pie",), seeds=1)
    assert grown.runs.filter(pl.col("aqm") == "pie")["seed"].to_list() == [1, 2, 3]
    assert len(calls) == 9


@pytest.mark.usefixtures("plain")
def added_points_are_sorted_into_the_sweep(calls: Calls, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _sweep(tmp_path / "exp.toml", ["5mbit", "20mbit"], out)
    grown = _sweep(tmp_path / "exp.toml", ["5mbit", "10mbit", "20mbit"], out)
    assert len(calls) == 6
    assert [point["rate"] for point in grown.points] == ["5mbit", "10mbit", "20mbit"]
    assert _same(grown, _sweep(tmp_path / "exp.toml", ["5mbit", "10mbit", "20mbit"], tmp_path / "new"))
    other = _sweep(tmp_path / "exp.toml", ["40mbit"], out)
    assert [point["rate"] for point in other.points] == ["5mbit", "10mbit", "20mbit", "40mbit"]
    assert len(calls) == 14


@pytest.mark.usefixtures("plain")
def another_experiment_is_refused_with_the_difference(calls: Calls, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _conduct(out)
    for change, wanted in (
        ({"rate": "20mbit"}, "rate is 10mbit there and 20mbit here"),
        ({"flows": "2*cubic"}, "flows is "),
        ({"loss": "1%"}, "loss is 0% there and 1% here"),
    ):
        with pytest.raises(InputError, match=f"holds another experiment: {wanted}"):
            _conduct(out, **change)
    with pytest.raises(InputError, match="it sweeps nothing, this one rate"):
        _sweep(tmp_path / "exp.toml", ["5mbit", "20mbit"], out)
    assert len(calls) == 4
    assert len(package.load(out).runs) == 4


@pytest.mark.usefixtures("plain", "calls")
def runs_of_another_version_are_not_mixed_with_these(tmp_path: Path) -> None:
    _conduct(tmp_path / "out")
    forge(tmp_path / "out", lambda entries: entries.update(code=f"0.0.1+{entries['code']}"))
    with pytest.raises(InputError, match=r"by another version of aqmlab \(0\.0\.1\+"):
        _conduct(tmp_path / "out")


@pytest.mark.usefixtures("plain")
def equivalent_runs_are_made_once(calls: Calls, tmp_path: Path) -> None:
    result = _conduct(tmp_path / "out", aqm=("fifo", "fifo:tail"))
    assert len(calls) == 2
    assert len(result.runs) == 4
    assert len(package.load(tmp_path / "out").runs) == 4


# --- metrics of a newer version ---------------------------------------------------------------------------------------

NEWER = {"zz_newer_ms": 1.5, "class.all.zz_newer_ms": 2.5}


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Made-up runs of a version that measures what this one does not know."""

    def measured(*task: Any) -> object:
        run = fake_run(*task)
        return replace(run, metrics={**run.metrics, **NEWER})

    with monkeypatch.context() as patch:
        patch.setattr("aqmlab.engine.native.simulate", measured)
        yield patch


@pytest.mark.usefixtures("plain", "calls")
def a_metric_of_a_newer_version_is_kept_through_growing_loading_and_exporting(
    newer: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    _conduct(out)
    newer.undo()
    grown, loaded = _conduct(out, seeds=3), package.load(out)
    assert loaded.to_json() == grown.to_json()
    for name, value in NEWER.items():
        for runs in (grown.runs, loaded.runs, pl.read_csv(exports.csv(loaded)["runs.csv"])):
            assert dict(runs.select("seed", name).rows()) == {1: value, 2: value, 3: None}
        assert exports.to_pandas(loaded.runs)[name].count() == 4
        (row, _) = (row for row in loaded.rows if row.metric == name)
        assert (row.estimate.value, row.estimate.n, row.runs) == (value, 2, 3)
    assert grown.runs.columns[-6:] == _conduct(tmp_path / "plain").runs.columns[-6:]
    assert '"title":"zz_newer_ms"' in loaded.report()


@pytest.mark.usefixtures("plain", "calls")
def a_metric_of_a_newer_version_is_kept_by_a_sweep_that_grows_and_by_merging_its_parts(
    newer: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out, path, parts = tmp_path / "out", tmp_path / "exp.toml", [tmp_path / "one", tmp_path / "two"]
    _sweep(path, ["5mbit", "10mbit"], out)
    package.run(path, out=parts[0], jobs=1, shard="1/2")
    newer.undo()
    package.run(path, out=parts[1], jobs=1, shard="2/2")
    grown = _sweep(path, ["5mbit", "10mbit", "20mbit"], out)
    for result, count in ((grown, 4), (package.load(out), 4), (package.merge(parts, tmp_path / "whole"), 2)):
        assert result.runs["zz_newer_ms"].drop_nulls().to_list() == [1.5] * count
        assert set(NEWER) < {row.metric for row in result.rows} <= {*result.frames.metrics}
        assert result.runs.columns[3] == "rate_mbit" not in result.frames.metrics


@pytest.mark.usefixtures("plain", "newer")
def seeds_may_be_as_many_as_a_metric_of_a_newer_version_took(tmp_path: Path) -> None:
    _conduct(tmp_path / "out", seeds=5)
    stop = {"metric": "zz_newer_ms", "share": 0.1, "most": 9, "pilot": 5, "needed": 5, "seeds": 5}
    forge(tmp_path / "out", lambda entries: entries.update(stop=stop))
    assert "zz_newer_ms" in package.load(tmp_path / "out").to_json()


# --- killed, interrupted ---------------------------------------------------------------------------------------------

COMMAND = [
    *("compare", "--rate", "10mbit", "--rtt", "20ms", "--duration", "20s", "--aqm", "fifo,codel", "--seeds", "10"),
    *("--jobs", "2", "--quiet", "--out"),
]


def _start(out: Path, **more: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "aqmlab", *COMMAND, str(out)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def _end(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=100)
    return process.returncode, err


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """The folder of an uninterrupted command, and how long it took."""
    out = tmp_path_factory.mktemp("whole") / "out"
    before = time.monotonic()
    assert _end(_start(out)) == (0, "")
    return out, time.monotonic() - before


@pytest.mark.timeout(100 + 40 * KILLS)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def finished_runs_outlive_the_process_and_are_reused(
    whole: tuple[Path, float], tmp_path: Path, how: signal.Signals
) -> None:
    reference, took_s = package.load(whole[0]), whole[1]
    moments = random.Random(int(how))
    for number in range(KILLS):
        out = tmp_path / f"out-{number}"
        process = _start(out)
        time.sleep(moments.uniform(0.2, 1.0) * took_s)
        process.send_signal(how)
        _end(process)
        found = package.load(out) if (out / "manifest.json").exists() else None
        if found is not None:
            assert found.is_partial == (len(found.runs) < 20)
            if found.is_partial:
                assert found.warnings[0] == f"partial result: {len(found.runs)} of 20 runs are finished"
        assert _end(_start(out)) == (0, "")
        again = package.load(out)
        assert _same(again, reference)
        if found is not None:
            # The processor time identifies a run among equal ones.
            kept = found.runs.join(again.runs, on=["point", "aqm", "seed", "cpu_s"], how="semi")
            assert len(kept) == len(found.runs)
        names = {path.relative_to(out) for path in out.rglob("*")}
        assert names == {path.relative_to(whole[0]) for path in whole[0].rglob("*")}
        figures = [path for path in names if path.suffix == ".svg"]
        assert all((out / path).read_bytes() == (whole[0] / path).read_bytes() for path in figures)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("place", range(16))
def a_kill_between_any_two_writes_leaves_a_whole_folder(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    out = tmp_path / "out"
    first = _conduct(out)
    with killed_at(place, monkeypatch):
        try:
            _conduct(out, aqm=("fifo", "pie", "codel"), seeds=3)
        except Killed:
            pass
        else:
            assert place >= 15
    left = package.load(out)
    assert len(left.runs) >= len(first.runs)
    again = _conduct(out, aqm=("fifo", "pie", "codel"), seeds=3)
    assert len(again.runs) == 9
    # Unfinished runs are made again.
    assert len(calls) <= 4 + 5 + 2
    assert _same(again, _conduct(tmp_path / "new", aqm=("fifo", "pie", "codel"), seeds=3))
    assert {path.name for path in out.iterdir()} == {"manifest.json", *(f"{name}.parquet" for name in FRAMES)}


@pytest.mark.usefixtures("plain", "calls")
def records_that_a_killed_writer_left_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(folder, "_remove_records", lambda path: None)
        _conduct(out)
    assert list((out / "records").iterdir())
    _conduct(out)
    assert not (out / "records").exists()


def an_interrupt_during_the_figures_loses_nothing(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(result: Result) -> Any:
        del result
        raise KeyboardInterrupt

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr("aqmlab.plots.drawable", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _conduct(out)
    assert len(package.load(out).runs) == 4
    assert not (out / "report.html").exists()
    _conduct(out)
    assert len(calls) == 4
    assert (out / "report.html").exists()


def a_figure_that_fails_is_a_warning(calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aqmlab.plots import style

    def broken(*arguments: object, **more: object) -> Any:
        del arguments, more
        raise ValueError("the painter slipped")

    monkeypatch.setattr(style, "legend", broken)
    result = _conduct(tmp_path / "out")
    assert "no figure 'cdf': the painter slipped" in result.warnings
    assert package.load(tmp_path / "out").warnings == result.warnings
    assert "the painter slipped" in (tmp_path / "out" / "report.html").read_text()
    assert len(calls) == 4


def a_window_that_measured_nothing_keeps_its_data(tmp_path: Path) -> None:
    result = package.compare(
        rate="10mbit", rtt="40ms", duration="10ms", flows="1*cubic:start=5s", aqm="fifo", seeds=2, out=tmp_path / "out"
    )
    assert "no figure 'cdf': there is no measurement for it" in result.warnings
    assert len(package.load(tmp_path / "out").runs) == 2


# --- several writers -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain", "calls")
def a_folder_that_another_process_writes_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = _conduct(out)
    with (out / ".lock").open("w") as other:
        other.write("process 17 on elsewhere")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(MachineError, match="out: process 17 on elsewhere is writing into it"):
            _conduct(out, seeds=3)
        assert package.load(out).to_json() == first.to_json()
    # The holder has disappeared without releasing it.
    assert len(_conduct(out, seeds=3).runs) == 6


def two_commands_into_one_folder_do_no_harm(whole: tuple[Path, float], tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = [_end(process) for process in [_start(out), _start(out)]]
    lines = [err for status, err in ended if status == 1]
    assert sorted(status for status, _ in ended) in ([0, 1], [0, 0])
    assert all(err.startswith(f"aqmlab: {out}: ") and "is writing into it" in err for err in lines)
    assert _same(package.load(out), package.load(whole[0]))


def a_command_that_begins_first_is_named_whenever_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    check = disk.check_writable
    with ExitStack() as stack:

        def another_begins(folder: Path) -> None:
            check(folder)
            monkeypatch.setattr(disk, "check_writable", check)
            folder.mkdir()
            stack.enter_context(lock.held(folder))
            (folder / "manifest.json").write_text("{}")

        monkeypatch.setattr(disk, "check_writable", another_begins)
        with pytest.raises(package.MachineError, match="is writing into it"), store.opened(out):
            pass


def folders_of_the_same_second_are_different(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Frozen(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Frozen:
            return cls(2026, 11, 21, 14, 25, 1, tzinfo=tz)

    monkeypatch.setattr(disk, "datetime", Frozen)
    names = [store.dated("compare", tmp_path).name for _ in range(3)]
    assert names == [f"compare-20261121-142501{ending}" for ending in ("", "-2", "-3")]


# --- files of others -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("calls")
def files_of_the_user_stay(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _conduct(out)
    mine = [out / "notes.txt", out / "csv" / "runs.csv", out / "figures" / "mine.svg"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    _conduct(out, seeds=3)
    package.experiment.report(out)
    assert all(path.read_text() == "mine" for path in mine)


@pytest.mark.usefixtures("calls")
def earlier_figures_are_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _sweep(tmp_path / "exp.toml", ["5mbit", "20mbit"], out)
    before = {path.name for path in (out / "figures").iterdir()}
    _sweep(tmp_path / "exp.toml", ["5mbit"], tmp_path / "one")
    _sweep(tmp_path / "exp.toml", ["5mbit", "20mbit"], tmp_path / "one")
    assert {path.name for path in (tmp_path / "one" / "figures").iterdir()} == before


@pytest.mark.usefixtures("plain", "calls")
def temporary_files_of_killed_writers_are_removed_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _conduct(out)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = [out / f".manifest.json.tmp-{dead.pid}", tmp_path / f".out.tmp-{dead.pid}", out / ".runs-0123.parquet"]
    for path in left:
        path.write_text("half")
    theirs = [tmp_path / f".out.tmp-{os.getppid()}", out / ".hidden"]
    for path in theirs:
        path.write_text("theirs")
    _conduct(out, seeds=3)
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in theirs)


@pytest.mark.usefixtures("plain")
def the_folder_may_be_this_one_or_behind_a_link(calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    _conduct(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    monkeypatch.chdir(tmp_path / "out")
    _conduct(Path("."), seeds=3)
    assert len(calls) == 6


@pytest.mark.usefixtures("plain", "calls")
@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("runs", lambda runs: pl.concat([runs, runs]), "runs.parquet: is damaged: it holds a run twice"),
        ("runs", lambda runs: runs[1:], "flows.parquet: is damaged: it holds rows of runs that runs.parquet lacks"),
        ("queues", lambda queues: queues.with_columns(pl.col("seed") + 9),
         "queues.parquet: is damaged: it holds rows of runs that runs.parquet lacks"),
        ("runs", lambda runs: runs.with_columns(pl.col("point") + 1),
         "runs.parquet: is damaged: it holds runs that manifest.json does not name"),
        ("runs", lambda runs: runs.with_columns(aqm=pl.lit("red")),
         "runs.parquet: is damaged: it holds runs that manifest.json does not name"),
        ("series", lambda series: series.drop("value"),
         "series.parquet: is damaged: there is no column 'value' of Float64"),
    ],
)  # fmt: skip
def frames_that_do_not_belong_together_are_refused(
    tmp_path: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame], says: str
) -> None:
    _conduct(tmp_path / "out")
    forge_frame(tmp_path / "out", name, change)
    with pytest.raises(InputError) as error:
        package.load(tmp_path / "out")
    assert str(error.value) == f"{tmp_path / 'out'}/{says}"


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("name", ["out[1]", "out?", "out*", os.fsdecode(b"out\xff"), "{out}", "out "])
def a_folder_may_have_any_name(calls: Calls, tmp_path: Path, name: str) -> None:
    _conduct(tmp_path / "out1", rate="1mbit")
    _conduct(tmp_path / name)
    assert len(_conduct(tmp_path / name, seeds=3).runs) == 6
    assert package.load(tmp_path / name).scenarios[0]["rate"] == "10mbit"
    assert len(calls) == 4 + 4 + 2


@pytest.mark.usefixtures("plain", "calls")
def a_folder_of_the_user_called_records_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _conduct(out)
    mine = out / "records" / "notes.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    os.mkfifo(out / "records" / "pipe.run")
    _conduct(out, seeds=3)
    assert [path.name for path in mine.parent.iterdir()] == ["notes.txt"]


@pytest.mark.usefixtures("plain", "calls")
def a_file_called_records_blocks_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _conduct(out)
    (out / "records").write_text("mine")
    with pytest.raises(InputError, match=r"out: cannot be written: File exists"):
        _conduct(out, seeds=3)
    assert (out / "records").read_text() == "mine"


@pytest.mark.usefixtures("plain", "calls")
@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("format_version",), 0),
        (("format_version",), 1e400),
        (("points",), {}),
        (("points", 0, "scenario"), None),
        (("points", 0, "scenario", "aqm"), ["fifo"]),
        (("points", 0, "scenario", "seeds"), None),
        (("points", 0, "scenario", "rules"), None),
        (("points", 0, "point"), {"rate": {}}),
        (("pages",), []),
        (("pages", "files"), [1]),
        (("failures",), None),
        (("frames",), "../../etc/passwd"),
        (("digests",), {"flows": ""}),
        (("records",), "../"),
        (("points", 0, "options", "given", "aqm"), 5),
        (("points", 0, "scenario", "warmup"), "soon"),
        (("created",), "yesterday"),
        (("stop",), {"metric": "qdelay_mean_ms"}),
    ],
)
def the_error_of_an_edited_manifest_is_one_line(tmp_path: Path, keys: tuple[str | int, ...], value: object) -> None:
    out = tmp_path / "out"
    _conduct(out)

    def change(entries: Any) -> None:
        for key in keys[:-1]:
            entries = entries[key]
        entries[keys[-1]] = value

    forge(out, change)
    with pytest.raises(InputError, match=r"manifest\.json: is damaged: it is not the manifest of a result"):
        package.load(out)


# --- the disk --------------------------------------------------------------------------------------------------------


def _too_small() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))


def the_error_of_a_write_on_a_full_disk_is_one_line(tmp_path: Path) -> None:
    status, err = _end(_start(tmp_path / "out", preexec_fn=_too_small))
    assert (status, err) == (1, f"aqmlab: {tmp_path / 'out'}: cannot be written: File too large\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
@pytest.mark.parametrize("size", ["4k", "100k", "400k"])
def a_full_disk_gives_one_line_and_keeps_finished_runs(small_disk: Callable[[str], Path], size: str) -> None:
    out = small_disk(size) / "out"
    status, err = _end(_start(out))
    assert (status, err) == (1, f"aqmlab: {out}: cannot be written: No space left on device\n")
    if size != "4k":
        assert 0 < len(package.load(out).runs) < 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A disk of a chosen size."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(size: str) -> Path:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True)
        if done.returncode:
            pytest.skip("this machine mounts nothing here")
        return place

    yield mount
    subprocess.run(["umount", str(place)], capture_output=True)


def json_goes_through_links_and_into_devices(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o600)
    (tmp_path / "link").symlink_to("file")
    disk.put(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    (tmp_path / "null").symlink_to("/dev/null")
    disk.put(tmp_path / "null", b"gone")
    assert not Path("/dev/null").is_file()


# --- records, engines, older folders ---------------------------------------------------------------------------------


def _done() -> FinishedRun:
    plan = scenario.resolve(from_values({**SMALL, "aqm": "fifo", "flows": ["2*cubic", "1*voip"]}))
    task = engine.Task(0, "fifo", 1, "key", plan.scenarios["fifo"])
    return FinishedRun(task, native.Native().run(task, native.Native().monitor(task)))


def a_record_reads_back_as_it_was_written() -> None:
    done = _done()
    read = record.decode(record.encode(done))
    for name in FRAMES:
        assert getattr(from_runs([read]), name).equals(getattr(from_runs([done]), name)), name


def a_record_whose_time_is_not_first_reads_back_too() -> None:
    done = _done()
    columns = dict(done.report.series.items())
    moved = engine.Table.of({name: columns[name] for name in reversed(columns)})
    assert moved.names[0] != "time_s"
    read = record.decode(record.encode(FinishedRun(done.run, replace(done.report, series=moved))))
    assert read.report.series.names[0] == "time_s"
    series = [from_runs([one]).series.sort("name", "time_s") for one in (read, done)]
    assert series[0].equals(series[1])


@pytest.mark.parametrize("count", [0, 255, 256, 65536])
def series_of_any_number_of_names_are_frames(count: int) -> None:
    done, time_s = _done(), np.array([0.01])
    series = engine.Table.of({"time_s": time_s, **{f"flow.{number}.rate_mbit": time_s for number in range(count)}})
    frame = from_runs([FinishedRun(done.run, replace(done.report, series=series))]).series
    assert frame["name"].cast(pl.String).to_list() == list(series.names[1:])
    assert coded(as_texts(frame)).equals(frame)


@pytest.mark.usefixtures("plain")
def texts_are_texts_for_every_reader_however_they_came_into_a_file(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: the extra arrow")
    made = _conduct(tmp_path / "made", seeds=2)
    _conduct(tmp_path / "grown", seeds=1)
    grown = _conduct(tmp_path / "grown", seeds=2)
    written = {one.folder: (one.folder / "series.parquet").read_bytes() for one in (made, grown) if one.folder}
    assert len(written) == 2
    assert len(set(written.values())) == 1
    for path in written:
        file = path / "series.parquet"
        assert {name: pl.read_parquet_schema(file)[name] for name in ("aqm", "name")} == dict.fromkeys(
            ("aqm", "name"), pl.String
        )
        assert {str(parquet.read_schema(file).field(name).type) for name in ("aqm", "name")} == {"large_string"}
    for result in (made, grown, package.load(tmp_path / "made")):
        assert (result.series.schema["aqm"], result.series.schema["name"]) == (pl.String, pl.String)
        assert result.series.equals(made.series)


def an_incomplete_record_is_ignored() -> None:
    data = record.encode(_done())
    for place in (0, 5, 30, len(data) // 2, len(data) - 1):
        with pytest.raises(record.DamagedError):
            record.decode(data[:place])
        with pytest.raises(record.DamagedError):
            record.decode(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


def _journal(path: Path) -> tuple[bytes, list[int]]:
    """Return a journal of five runs, and where each record ends."""
    written, ends, done = journal.Journal(path), [0], _done()
    for seed in range(1, 6):
        run = engine.Run(0, "fifo", seed, "key")
        written.append(record.encode(FinishedRun(run, done.report)), durable=False)
        ends.append(path.stat().st_size)
    written.close()
    return path.read_bytes(), ends


def a_journal_has_the_records_that_are_complete(tmp_path: Path) -> None:
    content, ends = _journal(tmp_path / "journal")
    for count, (end, following) in enumerate(pairwise([*ends, len(content) + 1])):
        for cut in {end, end + 1, end + 8, end + 30, following - 1}:
            seeds = [done.run.seed if done else None for done in journal.runs(content[:cut])]
            assert seeds == list(range(1, count + 1))


def a_damaged_record_of_a_journal_costs_one_run(tmp_path: Path) -> None:
    content, ends = _journal(tmp_path / "journal")
    # Of the third record: its length, shorter and longer, what it begins with, its checksum, its contents.
    for place in (0, 1, 7, 9, 22, 30, (ends[3] - ends[2]) // 2, ends[3] - ends[2] - 1):
        altered = bytearray(content)
        altered[ends[2] + place] ^= 1
        seeds = [done.run.seed if done else None for done in journal.runs(bytes(altered))]
        assert seeds == [1, 2, None, 4, 5], place


def a_record_that_finds_the_disk_full_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    disk.append(number, b"whole", durable=False)
    write = os.write

    def full(file: int, content: bytes) -> int:
        if len(content) < 10:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, content[:5])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            disk.append(number, b"0123456789012", durable=False)

    def quota(file: int) -> None:
        del file
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", quota)
        with pytest.raises(OSError, match="quota"):
            disk.append(number, b"0123456789012", durable=True)
    os.close(number)
    assert (tmp_path / "file").read_bytes() == b"whole"


@pytest.mark.timeout(20)
def a_journal_that_somebody_made_up_is_read_in_a_moment(tmp_path: Path) -> None:
    # Each beginning says that all the rest is its record.
    count, step = 50_000, len(record.MAGIC) + 8
    made_up = b"".join(((count - at) * step).to_bytes(8, "little") + record.MAGIC for at in range(count))
    assert not any(journal.runs(made_up))
    content, _ = _journal(tmp_path / "journal")
    assert [one.run.seed for one in journal.runs(made_up + content) if one] == [1, 2, 3, 4, 5]


def _forged(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a record edited by someone, with a matching checksum."""
    body = record.encode(_done())[len(record.MAGIC) + 4 :]
    at = 8 + int.from_bytes(body[:8], "little")
    header = json.loads(body[8:at])
    change(header)
    text = json.dumps(header).encode()
    body = len(text).to_bytes(8, "little") + text + body[at:]
    return record.MAGIC + zlib.crc32(body).to_bytes(4, "little") + body


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.clear(),
        lambda header: header.update(task=[0, "fifo", -1, "key"]),
        lambda header: header.update(task=[0, ["fifo"], 1, "key"]),
        lambda header: header["plain"].update(metrics=[1.0]),
        lambda header: header["plain"].update(metrics={"goodput_mbit": "much"}),
        lambda header: header["plain"].update(more=1),
        lambda header: header["tables"].update(series=[["time_s", False, ["<f8", 10**12]]]),
        lambda header: header["tables"].update(series=[["time_s", False, ["|O", 1]]]),
        lambda header: header["tables"].update(flows=[["a", True, ["x"]], ["b", True, ["x", "y"]]]),
    ],
)
def a_forged_record_is_ignored(change: Callable[[dict[str, Any]], object]) -> None:
    record.decode(_forged(lambda header: None))
    with pytest.raises(record.DamagedError):
        record.decode(_forged(change))


def an_unknown_engine_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown engine 'natve', did you mean 'native'"):
        package.compare(**SMALL, aqm="fifo", engine="natve")


def a_scenario_that_an_engine_does_not_support_is_refused_before_any_run(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Narrow(native.Native):
        name = "narrow"
        capabilities = Capabilities(frozenset({"dumbbell"}), frozenset({"cubic"}), frozenset({"fifo"}), captures=False)

    monkeypatch.setitem(engine.ENGINES, "narrow", Narrow())
    for change, wanted in (
        ({"aqm": "pie"}, "aqm: 'pie' is not supported; supported are fifo"),
        ({"flows": "1*voip"}, "flows: 'voip' is not supported; supported are cubic"),
        ({"topology": "star"}, "topology: 'star' is not supported; supported are dumbbell"),
    ):
        with pytest.raises(InputError, match=f"engine narrow: {wanted}"):
            package.compare(**{**SMALL, "aqm": "fifo", **change}, engine="narrow", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    result = package.compare(**SMALL, aqm="fifo", engine="narrow")
    assert set(result.runs["engine"]) == {"narrow"}
    assert len(calls) == 2


@pytest.mark.parametrize("name", ["mean", "n", "metric", "point", "seed", "goodput_mbit"])
def a_sweep_is_not_named_like_a_column(tmp_path: Path, name: str) -> None:
    path = tmp_path / "exp.toml"
    path.write_text(f'aqm = "codel target ${name}"\nrate = "10mbit"\nrtt = "40ms"\n[sweep]\n{name} = ["5ms", "10ms"]\n')
    with pytest.raises(InputError, match=f"sweep: '{name}' is the name of a column in every result"):
        scenario.load(path)


@pytest.mark.usefixtures("calls")
def a_folder_of_format_version_1_still_loads(tmp_path: Path) -> None:
    out = tmp_path / "out"
    new = _conduct(out)
    entries = manifest(out)
    for name in ("frames", "digests", "records", "plan_warnings", "pages", "engine"):
        del entries[name]
    for point in entries["points"]:
        del point["options"]
    (out / "manifest.json").write_text(json.dumps({**entries, "format_version": 1, "digest": "0"}))
    runs = pl.read_parquet(out / "runs.parquet").drop("engine")
    runs.write_parquet(out / "runs.parquet")
    old = package.load(out)
    assert {**json.loads(old.to_json()), "warnings": new.warnings} == json.loads(new.to_json())
    package.experiment.report(out)
    assert manifest(out)["format_version"] == 5
    assert len(package.load(out).runs) == 4
    with pytest.raises(InputError, match="another version of aqmlab"):
        _conduct(out, seeds=3)


def a_folder_that_an_earlier_version_wrote_still_loads(tmp_path: Path) -> None:
    # Format version 1, kept as it was: without records, engines, base round-trip times and much of the scenario.
    shutil.copytree(Path(__file__).parent / "golden" / "format-1", tmp_path / "old")
    old = package.load(tmp_path / "old")
    assert old.runs.select("aqm", "seed", pl.col("goodput_mbit").round(6)).rows() == [
        ("fifo", 1, 4.541553), ("fifo", 2, 7.016396), ("codel", 1, 6.634315), ("codel", 2, 8.692342),
    ]  # fmt: skip
    assert old.warnings == [
        "the buffer is small",
        "the folder is by an earlier version, without checksums: whether it was altered is not known",
    ]
    package.experiment.report(tmp_path / "old")
    assert "the buffer is small" in (tmp_path / "old" / "report.html").read_text()
    forge(tmp_path / "old", lambda entries: entries.update(format_version=99))
    with pytest.raises(InputError, match="has format version 99, and this aqmlab reads up to 5: use a newer one"):
        package.load(tmp_path / "old")


@pytest.mark.usefixtures("calls")
def a_sweep_by_0_2_0_loads_and_is_shown_and_says_why_it_does_not_grow(tmp_path: Path, aqmlab: Command) -> None:
    # Format version 4, kept as 0.2.0 wrote it: the flows have that version's keys, as relower=on and count=bytes.
    old = tmp_path / "old"
    shutil.copytree(Path(__file__).parent / "golden" / "format-4", old)
    before = manifest(old)
    assert (before["aqmlab"], before["format_version"]) == ("0.2.0", 4)
    found = package.load(old)
    assert found.runs.select("rtt_ms", pl.col("goodput_mbit").round(6)).rows() == [
        (10.0, 9.56501),
        (40.0, 9.040281),
        (160.0, 8.322688),
    ]
    assert not found.warnings
    shown = aqmlab("show", str(old), "--all")
    assert shown.status == 0
    assert "relower=on" in shown.out
    assert aqmlab("report", str(old)).status == 0
    assert manifest(old)["format_version"] == 5
    assert package.load(old).to_json() == found.to_json()
    asked = ("sweep", "--sweep", "rtt=10ms,40ms,80ms", "--rate=10mbit", "--duration=10s", "--aqm=codel", "--seeds=2")
    grown = aqmlab(*asked, "--out", str(old))
    assert grown.status == 2
    assert re.search(r"old: holds another experiment: by another version of aqmlab \(0\.2\.0\+", grown.line)
    assert grown.line.endswith("results are never overwritten: name another folder")
    assert package.load(old).to_json() == found.to_json()


@pytest.mark.usefixtures("plain", "calls")
def what_an_earlier_version_did_not_write_was_empty(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _conduct(out)
    forge(out, lambda entries: entries["points"][0]["scenario"].pop("topology_values"))
    assert len(_conduct(out, seeds=3).runs) == 6


@pytest.mark.usefixtures("plain")
def all_runs_that_fail_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> object:
        del arguments
        raise CheckError("check failed: made up")

    monkeypatch.setattr("aqmlab.engine.native.simulate", fail)
    with pytest.raises(CheckError, match="made up"):
        _conduct(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("plain", "calls")
def a_folder_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _conduct(out)
    seen: list[int] = []
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.is_set():
            found = package.load(out)
            seen.append(len(found.runs))
            assert set(found.series.select("aqm", "seed").rows()) == set(found.runs.select("aqm", "seed").rows())

    with ThreadPoolExecutor() as pool:
        watching = pool.submit(watch)
        for seeds in range(3, 12):
            _conduct(out, seeds=seeds)
        is_over.set()
        watching.result()
    assert seen == sorted(seen)
    assert len(package.load(out).runs) == 22
