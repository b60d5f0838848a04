from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import ROOT, loaded

from aqmlab import _native

SOAK = ROOT / "tests" / "soak" / "soak.py"


def random_scenarios_pass_their_checks_or_are_refused_in_a_line() -> None:
    # The long form is `make soak`.
    command = [sys.executable, str(SOAK), "--runs", "200", "--jobs", "1", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("200 scenarios"), done.stdout


def a_run_that_goes_wrong_is_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(SOAK.parent)
    soak = loaded(SOAK, "soak")
    options = {"rate": "1mbit", "rtt": "20ms", "aqm": "fifo", "flows": ["1*cubic"], "duration": "1s", "seeds": 1}
    assert soak.outcome(options, 20.0) == ("passed", "")
    assert soak.outcome({**options, "rate": "1mbot"}, 20.0)[0] == "refused"

    class Wrong:
        CheckError, Cancelled, Monitor = _native.CheckError, _native.Cancelled, _native.Monitor

        @staticmethod
        def run(*_: object) -> object:
            raise ends.pop()

    monkeypatch.setattr(soak, "_native", Wrong)
    ends: list[Exception] = [_native.Cancelled(), _native.CheckError("a packet is lost")]
    assert [soak.outcome(options, 20.0)[0] for _ in range(2)] == ["false alarm", "hang"]
    run = SimpleNamespace(metrics={"utilization": 1.5, "goodput_mbit": 2.0})
    monkeypatch.setattr(Wrong, "run", staticmethod(lambda *_: run))
    assert soak.outcome(options, 20.0) == ("share", "{'utilization': 1.5}")
    # An abort leaves a run without an outcome; any of these fails the whole.
    monkeypatch.setattr(sys, "argv", ["soak.py", "--runs", "1", "--jobs", "1"])
    monkeypatch.setattr(soak, "supervise", lambda *_: [{"kind": "abort", "message": "", "options": None}])
    assert soak.main() == 1
    assert "1 abort" in capsys.readouterr().out


def random_scenarios_with_real_transports_pass_their_checks_or_are_refused_in_a_line() -> None:
    command = [
        sys.executable,
        str(SOAK),
        "--runs",
        "40",
        "--jobs",
        "1",
        "--seed",
        "8",
        "--flows",
        "quinn,smoltcp,cubic",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("40 scenarios"), done.stdout


def mutated_commands_work_or_end_in_a_line(tmp_path: Path) -> None:
    command = [sys.executable, str(SOAK.with_name("commands.py")), "--runs", "100", "--log", str(tmp_path / "found")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + (tmp_path / "found").read_text()
    assert done.stdout.startswith("100 commands: status 0 "), done.stdout


def mutated_files_and_notations_are_read_or_refused(tmp_path: Path) -> None:
    command = [sys.executable, str(SOAK.with_name("parsers.py")), "--runs", "1000", "--log", str(tmp_path / "found")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + (tmp_path / "found").read_text()
    assert done.stdout == "1000 inputs: found 0\n"


@pytest.mark.timeout(300)
def cases_over_all_surfaces_do_what_they_say_or_are_refused_in_a_line() -> None:
    command = [sys.executable, str(SOAK.with_name("surfaces.py")), "--runs", "8", "--jobs", "1", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=290)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 cases" in done.stdout, done.stdout
