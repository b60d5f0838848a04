"""Experiments that are too large are detected before anything is simulated."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

import aqmlab
from aqmlab import scenario
from aqmlab.files import machine
from aqmlab.runs import runner
from aqmlab.vocabulary.errors import InputError, MachineError

GB = 1 << 30
HUGE_SWEEP = {"rate": "mbit", "rtt": "ms", "buffer": "p", "overhead": "b"}


@pytest.fixture(autouse=True)
def _memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "memory_bytes", lambda: 16 * GB)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("--rate 100gbit --aqm fifo --flows 1*cbr:rate=100gbit:packet=28b --buffer 1000000000p", "GB of memory"),
        ("--rate 400gbit --aqm fifo --flows 8*cubic --buffer 1000000000000p", "GB of memory would be needed"),
        ("--rate 400gbit --aqm fifo --flows 8*cubic --buffer 100p --duration 3600000s", "events would be simulated"),
        ("--rate 1mbit --seeds 10000 --aqm fifo,codel,pie", "30000 runs are asked for, and more than 20000"),
    ],
)
def what_would_fill_the_memory_or_take_days_needs_yes(aqmlab: Command, options: str, wanted: str) -> None:
    seeds = [] if "--seeds" in options else ["--seeds", 1]
    before = time.process_time()
    ended = aqmlab("compare", "--rtt", "20ms", *seeds, "--jobs", 1, "--out", "out", *options.split())
    assert time.process_time() - before < 2.0
    assert ended.status == 2
    assert wanted in ended.line
    assert "only with --no-size-check (no_size_check=True)" in ended.line
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("flows", "count"),
    [
        ("--flows 1000*incast:servers=10000", 20_000_000),
        ("".join(f"--flows 100000*cubic:name=g{n} " for n in range(100)), 10_000_000),
    ],
)
def more_connections_than_the_simulator_names_are_refused_at_once(aqmlab: Command, flows: str, count: int) -> None:
    before = time.process_time()
    ended = aqmlab("compare", "--rtt", "20ms", "--rate", "10gbit", "--aqm", "fifo", "--out", "out", *flows.split())
    assert time.process_time() - before < 2.0
    assert (ended.status, ended.line) == (2, f"--flows: {count} connections: at most 1000000 can be simulated")
    assert not Path("out").exists()


def a_trace_of_ten_million_opportunities_in_a_millisecond_needs_yes(aqmlab: Command, tmp_path: Path) -> None:
    (tmp_path / "burst").write_text("1\n" * 2_000_000)
    ended = aqmlab("compare", "--link-trace", "burst", "--rtt", "20ms", "--seeds", 10, "--aqm", "fifo", "--out", "out")
    assert ended.status == 2
    assert "events would be simulated" in ended.line


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "aqm = 'fifo'\n[sweep]\n"
            + "".join(f"{key} = {[f'{n}{unit}' for n in range(1, 1001)]}\n" for key, unit in HUGE_SWEEP.items()),
            "has 1000000000000 points; at most 1000",
        ),
        (
            f"aqm = {[f'codel target {n}us' for n in range(1, 31)]}\nseeds = 10000\nrtt = '10ms'\n"
            f"[sweep]\nrate = {[f'{n}mbit' for n in range(1, 1001)]}",
            "300000000 runs are asked for",
        ),
        (
            f"aqm = {[f'codel target {n}us' for n in range(1, 5001)]}\nrtt = '10ms'\nrate = '1mbit'",
            "50000 runs are asked for",
        ),
    ],
)
def a_huge_file_is_refused_before_it_is_resolved(aqmlab: Command, tmp_path: Path, text: str, wanted: str) -> None:
    (tmp_path / "huge.toml").write_text(text)
    before = time.process_time()
    ended = aqmlab("run", "huge.toml", "--out", "out")
    assert time.process_time() - before < 2.0
    assert (ended.status, wanted in ended.line) == (2, True)


def yes_runs_what_is_refused_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenario.cost, "MOST_RUNS", 1)
    options: dict[str, Any] = {"rate": "1mbit", "rtt": "20ms", "aqm": "fifo", "duration": "1s", "seeds": 2}
    with pytest.raises(InputError, match="2 runs are asked for"):
        aqmlab.compare(**options)
    assert len(aqmlab.compare(**options, no_size_check=True).runs) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"flows": "4*cubic", "rate": "10mbit"},
        {"flows": "100*cubic", "rate": "1gbit", "duration": "2s"},
        {"flows": "10*cbr:rate=20mbit:packet=200b", "rate": "100mbit", "duration": "5s"},
        {"flows": "2000*cubic", "rate": "100mbit", "duration": "3s"},
        {"flows": ["20*web", "4*voip", "3*video"], "rate": "20mbit"},
        {"flows": "8*cubic", "rate": "1gbit", "duration": "3s", "buffer": "100000p"},
        {"flows": "10*incast:servers=100", "rate": "1gbit", "duration": "1s"},
        {"flows": "50*onoff:rate=1mbit:on=1s:off=1s:transport=newreno", "rate": "20mbit"},
        {"flows": "10*cubic:from=h1:to=h2", "rate": "100mbit", "topology": "star", "duration": "3s"},
        {"capture": "data/captures/aqmlab-lan.pcap", "rate": "10mbit"},
    ],
)
def the_estimate_of_events_is_right_within_a_factor_of_two(options: dict[str, Any]) -> None:
    texts = {"rtt": "20ms", "aqm": "fifo", "seeds": 1, "duration": "10s", **options}
    ((count, estimated),) = scenario.resolve(scenario.from_values(texts)).costs
    events = aqmlab.compare(**texts).runs["events"][0]
    assert count == 1
    assert events / 2 < estimated.events < events * 2


MEMORY = """
import re, sys
from pathlib import Path
from aqmlab import scenario
from aqmlab.engine import Task, find
plan = scenario.resolve(scenario.from_values({**dict(rtt="20ms", aqm="fifo", seeds="1"), **eval(sys.argv[1])}))
task = Task(0, "fifo", 1, "", plan.scenarios["fifo"], plan.inputs)
engine = find("native")
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
before = peak()
engine.run(task, engine.monitor(task))
print(peak() - before, plan.costs[0][1].memory_bytes)
"""


@pytest.mark.parametrize(
    "options",
    [
        {"flows": "5000*cubic", "rate": "100mbit", "duration": "1s"},
        {"flows": "10*cbr:rate=50mbit:packet=100b", "rate": "100mbit", "duration": "2s", "buffer": "10000000p"},
        {"flows": "8*cubic", "rate": "1gbit", "duration": "5s", "buffer": "100000p", "rtt": "100ms"},
        {"flows": "10*incast:servers=200", "rate": "1gbit", "duration": "1s"},
    ],
)
def the_estimate_of_memory_is_right_within_a_factor_of_three(options: dict[str, Any]) -> None:
    ended = subprocess.run([sys.executable, "-c", MEMORY, repr(options)], capture_output=True, text=True, check=True)
    used, estimated = map(float, ended.stdout.split())
    assert used / 3 < estimated < used * 3


LITTLE = """
import resource, aqmlab
options = dict(rtt="20ms", aqm="fifo", seeds=1, jobs=1, duration="20s")
aqmlab.compare(rate="1mbit", **{**options, "duration": "1s"})
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + (150 << 20), -1))
aqmlab.compare(rate="10mbit", flows="1*cbr:rate=3gbit:packet=100b", buffer="100000000p", **options, no_size_check=True)
"""


def memory_that_is_refused_is_one_line_and_status_1() -> None:
    ended = subprocess.run([sys.executable, "-c", LITTLE], capture_output=True, text=True, timeout=100, check=False)
    assert (ended.returncode, ended.stderr) == (1, "aqmlab: there is not enough memory\n")


def _within(addresses_bytes: int, threads: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command that may have so much address space."""
    limit = f'ulimit -v {addresses_bytes // 1024}; exec "$@"'
    command = ["sh", "-c", limit, "sh", sys.executable, "-m", "aqmlab", *map(str, arguments)]
    own = {**os.environ, machine.THREADS: threads}
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=own)


FEW = ["compare", "--rate", "1mbit", "--rtt", "20ms", "--aqm", "fifo,codel", "--seeds", 2, "--duration", "2s", "-q"]


def an_address_space_that_is_too_small_is_one_line(tmp_path: Path) -> None:
    for megabytes in (300, 500, 700, 900):
        ended = _within(megabytes * 1_000_000, "2", *FEW, "--out", tmp_path / "out")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith("aqmlab: the address space is limited to ")
        assert "MB (ulimit -v), and 1428 MB are needed" in ended.stderr
        assert ended.stderr.count("\n") == 1


def an_address_space_that_is_declared_enough_is_enough(tmp_path: Path) -> None:
    needed = machine.ADDRESSES_BYTES + 2 * machine.ADDRESSES_PER_THREAD_BYTES
    ended = _within(needed + 1024, "2", *FEW, "--jobs", 2, "--out", tmp_path / "out")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "out/report.html").exists()


@pytest.mark.parametrize("threads", ["0", "-1", "x", "", "1000000", "9" * 5000])
def as_many_threads_as_polars_cannot_start_are_refused(
    aqmlab: Command, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    monkeypatch.setenv(machine.THREADS, threads)
    ended = aqmlab(*FEW, "--out", "out")
    assert (ended.status, ended.out) == (2, "")
    assert f"{machine.THREADS}: '{threads[:100]}" in ended.line
    assert "is not a whole number from 1 to 1024" in ended.line


def runs_stop_before_the_memory_is_used_up(
    aqmlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_up: None
) -> None:
    del made_up
    monkeypatch.setattr(machine, "memory_bytes", lambda: 4 * GB)
    monkeypatch.setattr(machine, "_free_bytes", lambda: GB // 10)
    monkeypatch.setattr(machine, "_own_bytes", lambda: 3 * GB)
    ended = aqmlab("compare", "--rate", "1mbit", "--rtt", "20ms", "--aqm", "fifo", "--out", tmp_path / "out")
    assert ended.status == 1
    assert "the memory is used up: this process holds 3 GB" in ended.line


def the_memory_of_others_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_free_bytes", lambda: 0)
    monkeypatch.setattr(machine, "_own_bytes", lambda: GB)
    machine.check_memory()
    monkeypatch.setattr(machine, "_own_bytes", lambda: 5 * GB)
    with pytest.raises(MachineError, match="holds 5 GB"):
        machine.check_memory()


def _wait_for_handlers(pid: int) -> None:
    """Wait until a command has started: from then on it handles SIGTERM."""
    caught = 0
    while not caught >> (signal.SIGTERM - 1) & 1:
        time.sleep(0.05)
        status = Path(f"/proc/{pid}/status").read_text()
        caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1], 16)


def _interrupted(signal_number: signal.Signals, after_s: float, *arguments: object) -> tuple[int, str, float]:
    """Return status, standard error, and the seconds until a command ended after a signal."""
    command = [sys.executable, "-m", "aqmlab", *map(str, arguments)]
    # Under nohup a command rightly ignores SIGHUP, and so would this one.
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    signal.signal(signal.SIGHUP, inherited)
    _wait_for_handlers(process.pid)
    time.sleep(after_s)
    assert process.poll() is None
    since = time.monotonic()
    process.send_signal(signal_number)
    _, printed = process.communicate(timeout=60)
    # Python ends by the signal itself if it came while a compiled module was loaded: a shell sees 130 in both cases.
    status = 130 if process.returncode == -signal.SIGINT else process.returncode
    return status, printed, time.monotonic() - since


def setting_up_many_connections_can_be_interrupted(tmp_path: Path) -> None:
    flows = [part for name in "abcdefgh" for part in ("--flows", f"100000*cubic:name={name}")]
    out = tmp_path / "out"
    status, printed, took_s = _interrupted(
        signal.SIGINT, 4.0,
        "compare", "--rate", "1gbit", "--rtt", "20ms", "--aqm", "fifo", "--seeds", 1,
        "--no-size-check", "-q", "--out", out, *flows,
    )  # fmt: skip
    assert (status, printed) == (130, "aqmlab: interrupted; nothing was kept\n")
    # A second, on a machine that may be busy with other tests.
    assert took_s < 4.0


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["capture", "run"])
def a_pipe_without_a_writer_can_be_interrupted(tmp_path: Path, signal_number: signal.Signals, command: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    options = {
        "capture": ["compare", "--rate", "1mbit", "--rtt", "20ms", "--aqm", "fifo", "--capture", pipe],
        "run": ["run", pipe],
    }
    status, printed, took_s = _interrupted(signal_number, 1.0, *options[command])
    assert (status, printed) == (130, "aqmlab: interrupted; nothing was kept\n")
    assert took_s < 4.0


def the_simulator_checks_the_memory_while_runs_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    checks: list[int] = []
    monkeypatch.setattr(machine, "check_memory", lambda: checks.append(1))
    assert runner.machine is machine
    aqmlab.compare(rate="1mbit", rtt="20ms", aqm="fifo", duration="1s", seeds=1)
    assert checks
