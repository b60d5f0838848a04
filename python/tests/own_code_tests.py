"""Code of a user that misbehaves: it ends in one line that names the place, and an interrupt ends it at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

import aqmlab
from aqmlab import InputError, MachineError, _native
from aqmlab.runs import workers
from aqmlab.scenario.registry import Spec

HEAD = "import glob, itertools, os, signal, sys, time\nimport aqmlab\nclass Mine(aqmlab.AQM):\n    'One of the user.'\n"
LINK: dict[str, Any] = {"rate": "10mbit", "rtt": "20ms", "duration": "2s", "seeds": 1}
OPTIONS = ["--rate", "10mbit", "--rtt", "20ms", "--duration", "2s", "--seeds", 1]


def _file(folder: Path, body: str, after: str = "") -> str:
    path = folder / "mine.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.splitlines()) + after)
    return f"python:{path}:Mine"


def _fails(name: str) -> dict[str, str]:
    found = _native.conformance(Spec.parse(name).canonical, _native.Monitor())
    return {test: why for test, why in found if why}


# --- code that ends the program --------------------------------------------------------------------------------------

COMMANDS: dict[str, list[object]] = {
    "compare": ["compare", *OPTIONS, "--aqm"],
    "sweep": ["sweep", *OPTIONS[:2], *OPTIONS[4:], "--sweep", "rtt=10ms,20ms", "--aqm"],
    "tune": ["tune", *OPTIONS, "--minimise", "qdelay_mean_ms", "--aqm"],
    "suite": ["suite", "rfc7928", "--quick", "--aqm"],
    "check": ["aqm", "check"],
    "show": ["aqm", "show"],
}


@pytest.mark.parametrize("command", COMMANDS)
def a_file_that_ends_the_program_is_an_error(command: str, tmp_path: Path, aqmlab: Command) -> None:
    name = _file(tmp_path, "pass", "sys.exit(0)\n")
    ended = aqmlab(*COMMANDS[command], f"{name} limit 10p..20p" if command == "tune" else name)
    assert ended.status == 2
    assert f"{name}: SystemExit: 0 ({tmp_path / 'mine.py'}, line 6)" in ended.line
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


@pytest.mark.parametrize(
    ("end", "says"),
    [
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("sys.exit()", "SystemExit"),
        ("sys.exit('done')", "SystemExit: done"),
        ("raise GeneratorExit", "GeneratorExit"),
    ],
)
def every_kind_of_end_is_named(end: str, says: str, tmp_path: Path) -> None:
    name = _file(tmp_path, "pass", f"{end}\n")
    with pytest.raises(InputError) as refused:
        aqmlab.compare(aqm=name, **LINK)
    assert str(refused.value) == f"aqm: {name}: {says} ({tmp_path / 'mine.py'}, line 6)"


def a_module_beside_it_that_ends_the_program_is_one_too(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("raise SystemExit(0)\n")
    with pytest.raises(InputError, match=r"SystemExit: 0 \(.*mine.py, line 6, line 1\)"):
        Spec.parse(_file(tmp_path, "pass", "import beside\n"))


CALLS = {
    "__init__": "def __init__(self):\n    raise SystemExit(0)",
    "enqueue": "def enqueue(self, packet, now):\n    raise SystemExit(0)",
    "dequeue": "def dequeue(self, now):\n    raise SystemExit(0)",
    "next_wakeup": "def next_wakeup(self):\n    raise SystemExit(0)",
    "on_wakeup": "def on_wakeup(self, now):\n    raise SystemExit(0)\ndef next_wakeup(self):\n    return 10**8",
    "count": "probes = {'count': 'packets'}\n@property\ndef count(self):\n    raise SystemExit(0)",
}


@pytest.mark.parametrize("call", CALLS)
def a_call_that_ends_the_program_ends_its_run(call: str, tmp_path: Path, aqmlab: Command) -> None:
    name = _file(tmp_path, CALLS[call])
    line = 8 if call == "count" else 6
    says = f"{name}: SystemExit: 0 ({tmp_path / 'mine.py'}, line {line}, in {call})"
    ended = aqmlab("compare", *OPTIONS, "--jobs", 2, "--aqm", f"fifo,{name}")
    assert (ended.status, ended.line.endswith(says)) == (2, True), ended.line
    ended = aqmlab("aqm", "check", name)
    assert (ended.status, says in ended.out) == (1, True), ended.out


def a_worker_elsewhere_outlives_code_that_ends_the_program(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        for body in (CALLS["enqueue"], "pass"):
            name = _file(tmp_path, body)
            if body == "pass":
                assert len(aqmlab.compare(aqm=name, executor=executor, **LINK).runs) == 1
            else:
                with pytest.raises(InputError, match=r"SystemExit: 0 \(.*mine.py, line 6, in enqueue\)"):
                    aqmlab.compare(aqm=name, executor=executor, **LINK)


def an_endless_recursion_and_memory_that_is_not_there_are_errors_as_well(tmp_path: Path) -> None:
    for body, says in [("self.enqueue(packet, now)", "RecursionError"), ("b' ' * 10**15", "MemoryError")]:
        with pytest.raises(InputError, match=says):
            aqmlab.compare(aqm=_file(tmp_path, f"def enqueue(self, packet, now):\n    {body}"), **LINK)


# --- interrupts ------------------------------------------------------------------------------------------------------

LOOPS = {
    "a loop": "while True: pass",
    "a loop that swallows": "while True:\n        try:\n            while True: pass\n        except: pass",
    "a sleep": "time.sleep(1000)",
    # Nobody else gets Python's lock.
    "a call in C": "sum(itertools.count())",
}
RUN = ["compare", *OPTIONS, "--no-report", "--quiet", "--jobs", 2, "--out", "out", "--aqm"]
CHECK = ["aqm", "check"]


def _interrupted(
    signal_number: signal.Signals, folder: Path, loop: str, command: list[object], call: str
) -> tuple[int, str]:
    """Return status and standard error of a command that gets a signal in a loop: at most a second after that."""
    # The run of fifo comes first; what is made before a run does not wait for it.
    waits = "while self.waits and os.path.exists('out') and not glob.glob('out/records/*'): time.sleep(0.01)"
    loops = f"def {call}:\n    {waits}\n    open('looping', 'w').close()\n    {LOOPS[loop]}"
    body = f"waits = {not call.startswith('__init__')}\n{loops}"
    name = _file(folder, body)
    arguments = [*command[:-1], command[-1], f"fifo,{name}"] if command is RUN else [*command, name]
    process = subprocess.Popen(
        [sys.executable, "-m", "aqmlab", *map(str, arguments)], cwd=folder, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not (folder / "looping").exists():
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        since = time.monotonic()
        process.send_signal(signal_number)
        _, printed = process.communicate(timeout=20)
    finally:
        process.kill()
    # A second, on a machine that may be busy with other tests.
    assert time.monotonic() - since < 4.0
    return process.returncode, printed


@pytest.mark.parametrize(
    ("loop", "signal_number"), [*((loop, signal.SIGINT) for loop in LOOPS), ("a loop", signal.SIGTERM)]
)
def an_interrupt_ends_a_run_in(loop: str, signal_number: signal.Signals, tmp_path: Path) -> None:
    status, printed = _interrupted(signal_number, tmp_path, loop, RUN, "dequeue(self, now)")
    assert status == 130
    in_c = loop == "a call in C"
    assert printed == (
        "aqmlab: interrupted in a call that does not return; what was finished is kept\n"
        if in_c
        else "aqmlab: interrupted: out holds the finished runs\n"
    )
    # That of fifo, and the same command continues.
    assert aqmlab.load(tmp_path / "out").runs["aqm"].to_list() == ["fifo"]


@pytest.mark.parametrize(
    ("loop", "signal_number"), [*((loop, signal.SIGTERM) for loop in LOOPS), ("a loop", signal.SIGINT)]
)
def an_interrupt_ends_the_conformance_tests_in(loop: str, signal_number: signal.Signals, tmp_path: Path) -> None:
    status, printed = _interrupted(signal_number, tmp_path, loop, CHECK, "enqueue(self, packet, now)")
    assert (status, printed.startswith("aqmlab: interrupted"), printed.count("\n")) == (130, True, 1), printed


@pytest.mark.parametrize("command", [RUN, CHECK])
def an_interrupt_ends_what_is_made_before_a_run(command: list[object], tmp_path: Path) -> None:
    status, printed = _interrupted(signal.SIGINT, tmp_path, "a loop", command, "__init__(self)")
    assert (status, printed) == (130, "aqmlab: interrupted; nothing was kept\n")


def an_interrupt_in_a_notebook_leaves_no_thread_behind(tmp_path: Path) -> None:
    name = _file(tmp_path, f"def enqueue(self, packet, now):\n    {LOOPS['a loop']}")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            aqmlab.compare(aqm=name, jobs=2, **{**LINK, "seeds": 4})
    finally:
        timer.cancel()
    assert not workers.left_behind()


@pytest.mark.timeout(60)
def memory_that_is_used_up_ends_a_loop_that_takes_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As if that were so at the first look.
    monkeypatch.setattr("aqmlab.files.machine.LEAST_FREE", 2.0)
    monkeypatch.setattr("aqmlab.files.machine.LEAST_OWN", 0.0)
    name = _file(tmp_path, "def enqueue(self, packet, now):\n    while True:\n        self.queue.append(bytes(10))")
    with pytest.raises(MachineError, match="the memory is used up"):
        aqmlab.compare(aqm=name, **LINK)
    assert not workers.left_behind()


def an_interrupt_hits_the_users_code_alone(tmp_path: Path) -> None:
    name = _file(tmp_path, "def enqueue(self, packet, now):\n    sum(range(100))\n    self.queue.append(packet)")
    spec = Spec.parse(name).canonical
    for _ in range(30):
        monitor = _native.Monitor()
        ended: list[object] = []

        def run(monitor: _native.Monitor = monitor, ended: list[object] = ended) -> None:
            try:
                _native.conformance(spec, monitor)
            except _native.Cancelled:
                # What was not raised in the discipline is not raised here.
                ended.append(sum(range(100_000)))

        thread = threading.Thread(target=run)
        thread.start()
        for _ in range(5):
            time.sleep(0.002)
            monitor.cancel()
        thread.join()
        assert ended == [4999950000]


# --- wake-ups --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "returned"),
    [
        ("def next_wakeup(self):\n    return 0", "0"),
        ("def next_wakeup(self):\n    return -5", "0"),
        ("def next_wakeup(self):\n    return 7\ndef on_wakeup(self, now):\n    pass", "7"),
        ("def dequeue(self, now):\n    return None\ndef next_wakeup(self):\n    return 7", "7"),
        ("at = 0\ndef on_wakeup(self, now):\n    self.at = now\ndef next_wakeup(self):\n    return self.at + 1", ""),
    ],
)
def wakeups_that_do_not_bring_time_on_are_an_error(body: str, returned: str, tmp_path: Path, aqmlab: Command) -> None:
    name = _file(tmp_path, body)
    ended = aqmlab("compare", *OPTIONS, "--aqm", name)
    assert ended.status == 2
    assert f"{name}: next_wakeup returned {returned}" in ended.line
    assert ended.line.endswith("the last of 100 times without a packet sent: it must return a later time, or None")
    ended = aqmlab("aqm", "check", name)
    assert (ended.status, "it must return a later time, or None" in ended.out) == (1, True)


@pytest.mark.parametrize(("returned", "shown"), [("1.5", "1.5"), ("'soon'", "soon"), ("float('inf')", "inf")])
def a_wakeup_is_whole_nanoseconds(returned: str, shown: str, tmp_path: Path) -> None:
    name = _file(tmp_path, f"def next_wakeup(self):\n    return {returned}")
    says = f"next_wakeup returned {shown}, which is neither whole nanoseconds nor None"
    with pytest.raises(InputError, match=says):
        aqmlab.compare(aqm=name, **LINK)


PACED = """
quiet_packets = float("inf")
free = 0
def dequeue(self, now):
    if now < self.free or not self.queue:
        return None
    self.free = now + 1000
    return self.queue.popleft()
def next_wakeup(self):
    return self.free if self.queue else None
"""


def a_time_that_has_passed_is_none_while_the_link_is_busy(tmp_path: Path) -> None:
    # A microsecond between packets that take a millisecond each.
    name = _file(tmp_path, PACED)
    paced, plain = (aqmlab.compare(aqm=aqm, **LINK).runs["goodput_mbit"][0] for aqm in (name, "fifo"))
    assert paced == pytest.approx(plain, rel=0.01)
    assert _fails(name) == {}


# --- what is not overridden ------------------------------------------------------------------------------------------


def a_class_with_a_docstring_only_is_a_plain_queue(tmp_path: Path, aqmlab: Command) -> None:
    name = _file(tmp_path, "pass")
    ended = aqmlab("aqm", "check", name)
    assert ended.status == 0, ended.out
    assert ended.out.startswith("never signals: a plain queue\nok   ")
    assert "when it is full" in aqmlab("aqm", "show", "--no-card", name).out


OLD = "self.queue.pop() if self.queue else None"


@pytest.mark.parametrize(
    ("quiet", "body", "why"),
    [
        ("0", "", "no early drop, and its quiet_packets do not say that it never signals"),
        ("float('inf')", "", ""),
        ("float('inf')", "if len(self.queue) > 9:\n        self.drop(self.queue.pop())\n    ", "it never signals"),
    ],
)
def a_law_that_never_signals_says_so(quiet: str, body: str, why: str, tmp_path: Path) -> None:
    order = "reorders_flows = reorders_within_flow = drops_queued = True"
    fails = _fails(
        _file(tmp_path, f"quiet_packets = {quiet}\n{order}\ndef dequeue(self, now):\n    {body}return {OLD}")
    )
    assert bool(fails) == bool(why)
    assert not why or any(why in text for text in fails.values()), fails


# --- wrong classes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("ecn = 1", "ecn: is 1 (allowed: True, False)"),
        ("quiet_packets = -1", "quiet_packets: is -1 (allowed: a number of packets, or math.inf: no signals)"),
        ("quiet_packets = '5'", "quiet_packets: is '5' (allowed"),
        ("params = {'my target': '5ms'}", "params: 'my target' is not a name"),
        ("params = {'': '5ms'}", "params: '' is not a name"),
        ("params = {'class': '5ms'}", "params: 'class' is not a name"),
        ("params = {'a': '5ms', 'A': '5ms'}", "params: two names differ in capitals only"),
        ("params = {'limit': '5ms'}", "params: limit: '5ms' is no value"),
        ("probes = {'a-b': 'packets'}", "probes: 'a-b' is not a name"),
    ],
)
def a_wrong_declaration_is_one_line(body: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        Spec.parse(_file(tmp_path, body))
    assert says in str(refused.value)


def a_docstring_may_be_empty_or_no_text(tmp_path: Path) -> None:
    for doc in ("'  '", "5"):
        name = _file(tmp_path, f"__doc__ = {doc}")
        assert aqmlab.compare(aqm=name, **LINK).aqms == [name]


def packets_of_another_run_are_not_sent(tmp_path: Path) -> None:
    # A list of the class, as `__init__` was forgotten: what an earlier run left in it has the numbers of this one.
    body = "kept = []\ndef enqueue(self, packet, now):\n    self.kept.append(packet)\ndef dequeue(self, now):\n"
    body += "    return self.kept.pop(0) if self.kept else None"
    with pytest.raises(InputError, match=r"sends packet .* of another run: what a class holds is shared by all runs"):
        aqmlab.compare(aqm=_file(tmp_path, body), jobs=1, **{**LINK, "seeds": 2})


def packets_that_wait_at_the_end_need_no_remove(tmp_path: Path) -> None:
    body = "def __init__(self):\n    self.mine = []\ndef enqueue(self, packet, now):\n    self.mine.append(packet)\n"
    body += "def dequeue(self, now):\n    return self.mine.pop(0) if self.mine else None"
    runs = aqmlab.compare(aqm=["fifo", _file(tmp_path, body)], **LINK).runs
    assert runs["goodput_mbit"][0] == runs["goodput_mbit"][1]


def a_packet_that_is_removed_is_not_dropped_as_well(tmp_path: Path) -> None:
    body = "drops_queued = True\ndef remove(self, packet):\n    self.queue.remove(packet)\n    self.drop(packet)"
    fails = _fails(_file(tmp_path, body))
    assert any("which is dropped anyway" in why for why in fails.values()), fails


@pytest.mark.parametrize("name", ["a b", "a,b", "a:b", "a]", "\x1b[31m", "a\nb"])
def a_registered_name_can_be_written(name: str) -> None:
    with pytest.raises(InputError, match="is no name in tc's notation"):
        aqmlab.register_aqm(aqmlab.AQM, name)


@pytest.mark.parametrize("wrong", [5, None, int, "Mine"])
def what_is_registered_is_a_subclass(wrong: Any) -> None:
    with pytest.raises(InputError, match="is no subclass of"):
        aqmlab.register_aqm(wrong, "mine")


def a_file_is_read_as_python_reads_it(tmp_path: Path) -> None:
    # A mark of byte order, lines that end as on Windows, annotations that are evaluated.
    name = _file(tmp_path, "when: time = 5")
    (tmp_path / "mine.py").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "mine.py").read_bytes().replace(b"\n", b"\r\n"))
    assert aqmlab.compare(aqm=name, **LINK).aqms == [name]
    (tmp_path / "mine.py").write_text(f"{HEAD}    when: nothing = 5\n")
    with pytest.raises(InputError, match="NameError: name 'nothing' is not defined"):
        Spec.parse(name)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no device without an end")
def a_device_is_no_source() -> None:
    with pytest.raises(InputError, match="/dev/zero: is longer than 16777216 characters"):
        Spec.parse("python:/dev/zero:Mine")


# --- what the process shares -----------------------------------------------------------------------------------------


def a_file_changes_neither_signals_nor_folder_nor_streams(tmp_path: Path) -> None:
    changes = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.chdir('/')\nsys.stdout = sys.stderr = None\n"
    before = signal.getsignal(signal.SIGTERM), os.getcwd(), sys.stdout, sys.stderr
    Spec.parse(_file(tmp_path, "pass", changes))
    assert (signal.getsignal(signal.SIGTERM), os.getcwd(), sys.stdout, sys.stderr) == before


def a_closed_standard_output_is_named(tmp_path: Path) -> None:
    name = _file(tmp_path, "def enqueue(self, packet, now):\n    sys.stdout.close()\n    self.queue.append(packet)")
    command = [
        sys.executable,
        "-m",
        "aqmlab",
        "compare",
        *map(str, OPTIONS),
        "--no-report",
        "--out",
        "out",
        "--aqm",
        name,
    ]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    says = "aqmlab: standard output was closed by a discipline in Python; finished runs are kept\n"
    assert (ended.returncode, ended.stderr) == (1, says)
    assert len(aqmlab.load(tmp_path / "out").runs) == 1


def a_process_that_a_discipline_forks_ends(tmp_path: Path) -> None:
    body = "waits = True\ndef enqueue(self, packet, now):\n    self.queue.append(packet)\n"
    body += "    if self.waits:\n        self.waits = False\n        os.fork()"
    command = [
        sys.executable,
        "-m",
        "aqmlab",
        "compare",
        *map(str, OPTIONS),
        "--out",
        "out",
        "--aqm",
        _file(tmp_path, body),
    ]
    # The pipe is read until every process has closed it.
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False)
    assert len(aqmlab.load(tmp_path / "out").runs) == 1


@pytest.mark.timeout(60)
def a_file_may_run_experiments_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(HEAD)
    other = f"python:{tmp_path / 'other.py'}:Mine"
    after = f"runs = aqmlab.compare(aqm={other!r}, rate='1mbit', rtt='10ms', duration='1s', seeds=1).runs\n"
    assert aqmlab.compare(aqm=_file(tmp_path, "pass", after), **LINK).runs.height == 1
