"""Runs made by executors, on a cluster and in shards: nothing lost, nothing twice, the bytes of one machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import ROOT, Command
from folders import forge_frame, manifest

import aqmlab as package
from aqmlab import InputError, MachineError, plots, store
from aqmlab.runs import cluster as clusters
from aqmlab.runs import workers

OPTIONS: dict[str, Any] = {
    "sweep": {"target": "5ms,10ms", "rtt": "20ms,40ms,80ms,160ms"},
    "rate": "10mbit",
    # The runs of fifo do not depend on the target: one run answers for two scenarios.
    "aqm": ["codel target $target", "fifo"],
    "duration": "2s",
    "seeds": 2,
}
CAPTURE = ROOT / "data" / "captures" / "aqmlab-lan.pcap"


@pytest.fixture(autouse=True, scope="module")
def plain() -> Iterator[None]:
    """No figures: one test is about them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aqmlab.publishing.publish", lambda result, folder: result)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that one machine writes."""
    out = tmp_path_factory.mktemp("whole") / "out"
    package.sweep(**OPTIONS, out=out)
    return out


def _are_same(one: Path, other: Path) -> bool:
    """Whether two folders are the same, byte for byte, except for processor times."""
    runs = [pl.read_parquet(folder / "runs.parquet").drop("cpu_s") for folder in (one, other)]
    files = [
        {path.name: path.read_bytes() for path in folder.rglob("*.*") if path.suffix in (".parquet", ".svg", ".csv")}
        for folder in (one, other)
    ]
    for contents in files:
        del contents["runs.parquet"]
    return files[0] == files[1] and runs[0].equals(runs[1])


# --- executors -------------------------------------------------------------------------------------------------------


def any_executor_makes_the_same_runs(whole: Path, tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        package.sweep(**OPTIONS, out=tmp_path / "out", executor=executor)
    assert _are_same(tmp_path / "out", whole)


class Changed(ThreadPoolExecutor):
    """An executor whose workers get other orders than were sent."""

    def __init__(self, change: Callable[[workers.Order], workers.Order]) -> None:
        super().__init__(1)
        self._change = change

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        return super().submit(function, self._change(arguments[0]), **named)


def a_worker_of_another_version_is_refused_in_one_line() -> None:
    with (
        Changed(lambda order: replace(order, version="0.0.9+abc")) as executor,
        pytest.raises(MachineError) as raised,
    ):
        package.sweep(**OPTIONS, executor=executor)
    assert "was started by 0.0.9+abc: install the same version on every worker" in str(raised.value)
    assert "\n" not in str(raised.value)


def a_worker_reads_captures_by_itself_and_checks_their_content() -> None:
    scenario: dict[str, Any] = {
        "rate": "1mbit",
        "rtt": "40ms",
        "aqm": "fifo",
        "capture": str(CAPTURE),
        "seeds": 1,
        "duration": "2s",
    }
    with Changed(lambda order: order) as executor:
        remote = package.compare(**scenario, executor=executor)
    assert remote.series.equals(package.compare(**scenario).series)

    for path, digest, why in (("/none.pcap", "", "/none.pcap: cannot be read"), (str(CAPTURE), "0", "another content")):

        def moved(order: workers.Order, place: tuple[str, str] = (path, digest)) -> workers.Order:
            return replace(order, files=dict.fromkeys(order.files, place))

        with Changed(moved) as executor, pytest.raises(InputError, match=f"worker .*{why}"):
            package.compare(**scenario, executor=executor)


class Dying(ProcessPoolExecutor):
    """A process pool one of whose workers is killed."""

    sent = 0

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        self.sent += 1
        if self.sent == 9:
            return super().submit(os.abort)
        return super().submit(function, *arguments, **named)


def a_pool_that_breaks_costs_no_finished_run(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with (
        Dying(1, mp_context=get_context("spawn")) as executor,
        pytest.raises(MachineError, match=r"a worker failed: BrokenProcessPool.*the same command continues"),
    ):
        package.sweep(**OPTIONS, out=out, executor=executor)
    found = package.load(out)
    assert 0 < len(found.runs) < 32
    package.sweep(**OPTIONS, out=out)
    assert _are_same(out, whole)
    assert len(found.runs.join(package.load(out).runs, on=["point", "aqm", "seed", "cpu_s"])) == len(found.runs)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--dask", "slurm://here"], "--dask: 'slurm://here' is not HOST:PORT"),
        (["--dask", "dask://"], "--dask: 'dask://' is not HOST:PORT"),
        (["--dask", "here:1", "--jobs", "2"], "--jobs: contradicts --dask"),
        (["--shard", "4/3"], "--shard: '4/3' is not K/N, one of N parts, as 3/20"),
        (["--shard", "0/3"], "--shard: '0/3' is not K/N"),
    ],
)
def wrong_workers_are_refused_in_one_line(aqmlab: Command, arguments: list[str], says: str) -> None:
    ended = aqmlab("compare", "--rate", "10mbit", "--rtt", "40ms", "--aqm", "fifo", *arguments)
    assert ended.status == 2
    assert ended.line.startswith(says)
    assert not Path("results").exists()


def without_dask_the_extra_is_named(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    ended = aqmlab("compare", "--rate", "10mbit", "--rtt", "40ms", "--aqm", "fifo", "--dask", "localhost:8786")
    assert ended.status == 2
    assert ended.line == f"--dask: Dask is not installed: {sys.executable} -m pip install 'distributed>=2026.8'"


# --- a cluster -------------------------------------------------------------------------------------------------------


class Cluster:
    """A Dask scheduler and its workers, each a process."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        place = folder / "scheduler.json"
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--scheduler-file", place)
        _wait(lambda: place.exists() and place.read_text())
        self.address = json.loads(place.read_text())["address"].replace("tcp", "dask")
        self.workers: list[subprocess.Popen[bytes]] = []
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> None:
        place = self._folder / "scheduler.json"
        self.workers.append(self._start("dask_worker", "--scheduler-file", place, "--nthreads", "1", "--no-nanny"))

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def _start(self, program: object, *arguments: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *map(str, arguments), "--no-dashboard"]
        with (self._folder / "log").open("ab") as log:
            process = subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log)
        self._processes.append(process)
        return process


def _wait(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="Dask is not installed: the extra dask")
    (tmp_path / "cluster").mkdir()
    one = Cluster(tmp_path / "cluster")
    yield one
    one.end()


def a_worker_killed_in_mid_sweep_loses_nothing_and_repeats_nothing(cluster: Cluster, tmp_path: Path) -> None:
    options = {**OPTIONS, "rate": "50mbit", "seeds": 3}
    package.sweep(**options, out=tmp_path / "whole")
    out = tmp_path / "out"
    made: list[str] = []

    class Counting(store.Folder):
        def keep(self, done: Any) -> None:
            made.append(f"{done.run.key} {done.run.point} {done.run.aqm}")
            if len(made) == 5:
                cluster.workers[0].send_signal(signal.SIGKILL)
            super().keep(done)

    with pytest.MonkeyPatch.context() as patch, clusters.connected(cluster.address) as executor:
        patch.setattr("aqmlab.store.folder.Folder", Counting)
        package.sweep(**options, out=out, executor=executor)
    assert cluster.workers[0].wait() == -signal.SIGKILL
    assert len(made) == len(set(made)) == 48
    assert _are_same(out, tmp_path / "whole")


def a_cluster_without_workers_is_reported_and_goes_on_with_a_new_one(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "COUNT_S", 0.1)
    notices: list[str] = []
    with clusters.connected(cluster.address, notices.append) as executor:
        assert executor.submit(abs, -1).result(60) == 1
        notices.clear()
        for worker in cluster.workers:
            worker.kill()
        _wait(lambda: notices)
        run = executor.submit(abs, -3)
        cluster.add_worker()
        assert run.result(60) == 3
        _wait(lambda: len(notices) == 2)
    place = cluster.address.removeprefix("dask://")
    assert notices[0].startswith(f"--dask: the Dask scheduler at {place} has lost all of its workers: waiting for one")
    assert notices[1] == f"--dask: the Dask scheduler at {place} has 1 worker again"


# --- shards ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three shards."""
    folder = tmp_path_factory.mktemp("parts")
    folders = [folder / f"part{number}" for number in (1, 2, 3)]
    for number, out in enumerate(folders, 1):
        package.sweep(**OPTIONS, out=out, shard=f"{number}/3")
    return folders


def three_shards_merged_are_what_one_machine_writes(whole: Path, parts: list[Path], tmp_path: Path) -> None:
    assert [len(package.load(part).runs) for part in parts] == [11, 10, 11]
    assert not (parts[0] / "report.html").exists()
    # In any order.
    merged = package.merge([parts[2], parts[0], parts[1]], tmp_path / "out")
    assert not merged.is_partial
    assert _are_same(tmp_path / "out", whole)
    # From the same numbers come the same figures.
    assert plots.contents(plots.drawable(merged)[0]) == plots.contents(plots.drawable(package.load(whole))[0])
    manifests = [manifest(folder) for folder in (tmp_path / "out", whole)]
    for entries in manifests:
        # The runs' frame has their processor times.
        del entries["digests"]["runs"]
        for name in ("created", "frames", "records", "pages"):
            del entries[name]
    assert manifests[0] == manifests[1]


def a_shard_is_continued_and_holds_no_other(parts: list[Path], tmp_path: Path) -> None:
    part = tmp_path / "part1"
    shutil.copytree(parts[0], part)
    before = (part / "manifest.json").read_bytes()
    package.sweep(**OPTIONS, out=part, shard="1/3")
    assert (part / "manifest.json").read_bytes() == before
    with pytest.raises(InputError, match="part1: holds other runs than shard 2/3 of this experiment"):
        package.sweep(**OPTIONS, out=part, shard="2/3")


def the_whole_command_completes_a_shard(whole: Path, parts: list[Path], tmp_path: Path) -> None:
    shutil.copytree(parts[0], tmp_path / "out")
    assert not package.sweep(**OPTIONS, out=tmp_path / "out").is_partial
    assert _are_same(tmp_path / "out", whole)


def a_shard_may_have_nothing_to_do(parts: list[Path], whole: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    assert package.sweep(**OPTIONS, out=empty, shard="99/100").runs.is_empty()
    package.merge([empty, *parts], tmp_path / "out")
    assert _are_same(tmp_path / "out", whole)


def a_missing_shard_is_named_and_what_is_there_is_merged(aqmlab: Command, whole: Path, parts: list[Path]) -> None:
    ended = aqmlab("merge", parts[0], parts[2], "--out", "out", "--quiet")
    assert ended.status == 1
    assert ended.err.splitlines() == [
        "aqmlab: 10 of 32 runs are missing (shard 2/3 missing)",
        "aqmlab: out: is not complete; the whole command with --out out makes what is missing",
    ]
    assert package.load("out").is_partial
    package.sweep(**OPTIONS, out="out")
    assert _are_same(Path("out"), whole)


def parts_are_merged_without_a_report_if_asked(aqmlab: Command, whole: Path, parts: list[Path]) -> None:
    ended = aqmlab("merge", *parts, "--out", "out", "--no-report")
    assert (ended.status, "the numbers are in out" in ended.out) == (0, True)
    assert not any(Path("out", name).exists() for name in ("report.html", "figures"))
    assert aqmlab("report", "out").status == 0
    assert _are_same(Path("out"), whole)


def overlapping_parts_are_kept_once_and_reported(
    aqmlab: Command, whole: Path, parts: list[Path], tmp_path: Path
) -> None:
    package.sweep(**OPTIONS, out=tmp_path / "half", shard="1/2")
    ended = aqmlab("merge", *parts, tmp_path / "half", "--out", "out", "--quiet")
    assert ended.status == 0
    assert ended.line == f"{tmp_path / 'half'}: 16 of its 16 runs are in other parts too, and equal"
    assert _are_same(Path("out"), whole)


def a_part_named_twice_is_refused(aqmlab: Command, parts: list[Path]) -> None:
    ended = aqmlab("merge", *parts, parts[1], "--out", "out")
    assert (ended.status, ended.line) == (2, f"{parts[1]}: is named twice")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"rate": "20mbit"}, "its rate is 20mbit, not 10mbit"),
        ({"seeds": 3}, "its seeds is 1 to 3, not 1 to 2"),
        ({"first_seed": 2}, "its seeds is 2 to 3, not 1 to 2"),
        ({"aqm": ["codel target $target"]}, "its aqm is codel, not codel, fifo"),
        ({"sweep": {"target": "5ms,11ms", "rtt": "20ms"}}, "its sweep has other scenarios"),
    ],
)
def a_part_of_another_experiment_is_refused(
    aqmlab: Command, parts: list[Path], tmp_path: Path, changed: dict[str, Any], says: str
) -> None:
    package.sweep(**{**OPTIONS, **changed}, out=tmp_path / "foreign", shard="2/3")
    ended = aqmlab("merge", parts[0], tmp_path / "foreign", "--out", "out")
    foreign = tmp_path / "foreign"
    assert (ended.status, ended.line) == (2, f"{foreign}: is a part of another experiment than {parts[0]}: {says}")
    assert not Path("out").exists()


def a_run_that_differs_between_parts_is_refused(aqmlab: Command, parts: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(parts[0], other)
    forge_frame(other, "queues", lambda queues: queues.with_columns(pl.col("arrived_packets") + 1))
    ended = aqmlab("merge", parts[0], other, "--out", "out")
    assert ended.status == 2
    assert ended.line == f"{other}: its runs differ from the same runs in another part (queues): one is damaged"
    assert not Path("out").exists()


def a_worker_reads_an_edited_discipline_again_and_checks_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    options: dict[str, Any] = {"rate": "5mbit", "rtt": "20ms", "duration": "2s", "seeds": 1}

    def delay(most: int, executor: Any) -> float:
        path.write_text(
            "import aqmlab\nclass Mine(aqmlab.AQM):\n    def enqueue(self, packet, now):\n"
            f"        self.queue.append(packet) if len(self.queue) < {most} else self.drop(packet)\n"
        )
        made = package.compare(aqm=f"python:{path}:Mine", executor=executor, **options)
        return float(made.runs["qdelay_mean_ms"][0])

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        assert 2.0 * delay(3, executor) < delay(15, executor)
    with (
        Changed(lambda order: replace(order, law="another")) as executor,
        pytest.raises(InputError, match="Mine: has another content than where"),
    ):
        delay(9, executor)


def a_peer_that_is_no_scheduler_is_reported_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: the extra dask")
    monkeypatch.setattr(clusters, "CONNECT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(MachineError, match=f"--dask: {place} is no Dask scheduler: it gave no answer within 0.5 s"),
            clusters.connected(f"dask://{place}"),
        ):
            pass
    with (
        pytest.raises(MachineError, match=f"--dask: there is no Dask scheduler at {place}: "),
        clusters.connected(f"dask://{place}"),
    ):
        pass


def a_scheduler_without_workers_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: the extra dask")
    monkeypatch.setattr(clusters, "WORKERS_S", 0.5)
    cluster, notices = Cluster(tmp_path, workers=0), list[str]()
    try:
        with (
            pytest.raises(MachineError, match=r"has no workers: start one with 'dask worker"),
            clusters.connected(cluster.address, notices.append),
        ):
            pass
    finally:
        cluster.end()
    assert len(notices) == 1
    assert notices[0].endswith("has no workers: waiting 0.5 s for one")


def a_killed_scheduler_is_reported_in_one_line(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "out"
    line = ["--rate", "50mbit", "--rtt", "20ms", "--duration", "20s", "--seeds", "50", "--aqm", "fifo", "--quiet"]
    command = [sys.executable, "-m", "aqmlab", "compare", *line, "--dask", cluster.address, "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as started:
        _wait(lambda: any(out.glob("records/*")))
        cluster.scheduler.kill()
        printed = started.communicate(timeout=100)[1]
    assert started.returncode == 1
    assert printed.count("\n") == 1, printed
    assert "finished runs are kept, and the same command continues" in printed
