"""A defect of ours is one line for the user, and names of nodes that there are not are the input's."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from shared import CASES, needed

import aqmlab as package
from aqmlab.runs import workers
from aqmlab.vocabulary.errors import CheckError, defect

BASE = ("compare", "--rate", "10mbit", "--rtt", "20ms", "--aqm", "fifo", "--seeds", "1", "--duration", "1s")
LINK = '[[link]]\nfrom = "alpha"\nto = "beta"\ndelay = "1ms"\nqueue = "test"\n'

# A command in which the compiled part panics.
PANIC = """
from aqmlab import _native

_native.estimate = lambda *given: _native.panic("index out of bounds: the len is 2")
from aqmlab.cli import main
main()
"""


@pytest.mark.parametrize(
    ("ends", "problem"),
    [
        ('sources = ["alhpa"]\nsinks = ["beta"]\n', "sources: unknown node 'alhpa', did you mean 'alpha'?"),
        ('sources = ["alpha"]\nsinks = ["beta", "gamma"]\n', "sinks: unknown node 'gamma'; known are alpha, beta"),
    ],
)
def ends_of_flows_are_nodes_that_a_link_has(ends: str, problem: str, tmp_path: Path, aqmlab: Command) -> None:
    (tmp_path / "net.toml").write_text(ends + LINK)
    ended = aqmlab(*BASE, "--topology", "net.toml")
    assert (ended.status, ended.out) == (2, "")
    assert ended.line.startswith(f"--topology: net.toml: {problem}")
    assert list(tmp_path.iterdir()) == [tmp_path / "net.toml"]


def the_shared_case_of_an_unknown_source_is_refused_in_one_line(aqmlab: Command) -> None:
    ended = aqmlab(*BASE, "--topology", needed(CASES / "attack" / "unknown-source.toml"))
    assert ended.status == 2
    assert "sources: unknown node 'typo'; known are a, b" in ended.line


@pytest.mark.parametrize(("module", "name"), [("aqmlab.engine.native", "simulate"), ("aqmlab._native", "estimate")])
def the_simulator_itself_knows_no_other_nodes(module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call = getattr(importlib.import_module(module), name)

    def misplaced(scenario: str, *rest: Any) -> Any:
        table = json.loads(scenario)
        table["flows"][0]["from"] = ["scr"]
        return call(json.dumps(table), *rest)

    monkeypatch.setattr(f"{module}.{name}", misplaced)
    with pytest.raises(package.InputError, match="from: unknown node 'scr', did you mean 'src'"):
        package.compare(aqm="fifo", rate="10mbit", rtt="20ms", topology="parking_lot", duration="1s", seeds=1)


def a_panic_is_one_line_whatever_backtraces_are_asked_of_rust(tmp_path: Path) -> None:
    environment = {**os.environ, "RUST_BACKTRACE": "full"}
    command = [sys.executable, "-c", PANIC, *BASE]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("aqmlab: a defect of ours: index out of bounds: the len is 2 (crates/")
    assert done.stderr.endswith("please report it, with what AQMLAB_TRACEBACK=1 prints\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wanted", ["", "1"])
def the_compiled_part_prints_its_backtrace_on_request_only(wanted: str, tmp_path: Path) -> None:
    code = "import aqmlab._native as n\ntry: n.panic('on request')\nexcept BaseException as e: print(n.defect(str(e)))"
    environment = {**os.environ, "RUST_BACKTRACE": "full", "AQMLAB_TRACEBACK": wanted}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("a defect of ours: on request (crates/aqm-python/src/panics.rs:")
    assert bool(done.stderr) == bool(wanted)
    assert ("panics.rs" in done.stderr) == bool(wanted)


def a_panic_on_a_worker_is_a_defect_and_not_the_machine_s() -> None:
    class PanicException(BaseException):
        pass

    class Nobody(Executor):
        def submit(self, *given: Any, **named: Any) -> Future[Any]:
            raise NotImplementedError

    found = workers.Elsewhere(Nobody()).error(PanicException("gone"))
    assert isinstance(found, CheckError)
    assert str(found).startswith("a defect of ours: gone")
    assert defect(ValueError("no panic")) is None
