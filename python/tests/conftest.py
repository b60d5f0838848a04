"""Fixtures and helpers of all tests."""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fake import fake_run
from hypothesis import settings

# How long an example takes says how busy the machine is.
settings.register_profile("aqmlab", deadline=None)
settings.load_profile("aqmlab")

ROOT = Path(__file__).resolve().parents[2]

# Where tests run in the background a shell has it ignored, and so would be each command that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def script(name: str) -> ModuleType:
    """Import a file of `scripts` by its name, where others of them can be imported."""
    if (folder := str(ROOT / "scripts")) not in sys.path:
        sys.path.append(folder)
    return loaded(ROOT / "scripts" / f"{name}.py", name)


def loaded(path: Path, name: str) -> ModuleType:
    """Import a file that is in no package, under a name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their module up.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> list[Any] | None:
    """Collect the functions that a test file defines, not those that it imports."""
    del name
    imported = getattr(obj, "__module__", None) != collector.obj.__name__
    return [] if callable(obj) and imported else None


@dataclass(frozen=True)
class Ended:
    """The outcome of a command."""

    status: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line on standard error."""
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.removeprefix("aqmlab: ").rstrip("\n")


Command = Callable[..., Ended]


@pytest.fixture
def aqmlab(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """The command line, run in this process, in an empty folder."""
    from aqmlab.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")

    def run(*arguments: object) -> Ended:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["aqmlab", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        return Ended(int(left.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the simulator's reports by made-up ones."""
    monkeypatch.setattr("aqmlab.engine.native.simulate", fake_run)


@pytest.fixture(scope="session")
def result() -> Any:
    """A small result, simulated: two AQMs, three seeds."""
    import aqmlab

    return aqmlab.compare(
        rate="10mbit", rtt="40ms", aqm=["fifo", "codel"], flows=["2*cubic", "1*cbr:rate=1mbit"], duration="6s", seeds=3
    )
