"""Code of a user that misbehaves: it ends in one line that names the place, and an interrupt ends it at any time."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

import aqmlab
from aqmlab import InputError, _native
from aqmlab.registry import Spec

HEAD = "import glob, itertools, os, signal, sys, time\nimport aqmlab\nclass Mine(aqmlab.AQM):\n    'One of the user.'\n"
LINK: dict[str, Any] = {"rate": "10mbit", "rtt": "20ms", "duration": "2s", "seeds": 1}
OPTIONS = ["--rate", "10mbit", "--rtt", "20ms", "--duration", "2s", "--seeds", 1]


def _file(folder: Path, body: str, after: str = "") -> str:
    path = folder / "mine.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.splitlines()) + after)
    return f"python:{path}:Mine"


def _fails(name: str) -> dict[str, str]:
    found = _native.conformance(Spec.parse(name).canonical)
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
def every_way_to_end_is_named(end: str, says: str, tmp_path: Path) -> None:
    name = _file(tmp_path, "pass", f"{end}\n")
    with pytest.raises(InputError) as refused:
        aqmlab.compare(aqm=name, **LINK)
    assert str(refused.value) == f"aqm: {name}: {says} ({tmp_path / 'mine.py'}, line 6)"


def a_module_beside_it_that_ends_the_program_is_one_too(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("raise SystemExit(0)\n")
    with pytest.raises(InputError, match=r"SystemExit: 0 \(.*mine.py, line 6, line 1\)"):
        Spec.parse(_file(tmp_path, "pass", "import beside\n"))


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


def a_file_changes_neither_signals_nor_folder_nor_streams(tmp_path: Path) -> None:
    changes = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.chdir('/')\nsys.stdout = sys.stderr = None\n"
    before = signal.getsignal(signal.SIGTERM), os.getcwd(), sys.stdout, sys.stderr
    Spec.parse(_file(tmp_path, "pass", changes))
    assert (signal.getsignal(signal.SIGTERM), os.getcwd(), sys.stdout, sys.stderr) == before
