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
from aqmlab import InputError
from aqmlab.registry import Spec

HEAD = "import glob, itertools, os, signal, sys, time\nimport aqmlab\nclass Mine(aqmlab.AQM):\n    'One of the user.'\n"
LINK: dict[str, Any] = {"rate": "10mbit", "rtt": "20ms", "duration": "2s", "seeds": 1}
OPTIONS = ["--rate", "10mbit", "--rtt", "20ms", "--duration", "2s", "--seeds", 1]


def _file(folder: Path, body: str, after: str = "") -> str:
    path = folder / "mine.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.splitlines()) + after)
    return f"python:{path}:Mine"


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
