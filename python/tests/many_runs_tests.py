"""Many runs in one process: memory stays as it is. `make many-runs` makes a hundred thousand."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT, script


def memory_does_not_grow_from_run_to_run() -> None:
    words = [sys.executable, str(ROOT / "scripts/many_runs.py"), "--runs", "300"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 10


def growth_fails_it_and_what_the_first_runs_needed_does_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    many_runs = script("many_runs")
    monkeypatch.setattr(sys, "argv", ["many_runs.py", "--runs", "20"])
    for last, status in ((many_runs.MOST_GROWTH, 0), (many_runs.MOST_GROWTH + 1, f"by {many_runs.MOST_GROWTH + 1} ")):
        monkeypatch.setattr(many_runs, "tenths", lambda _, last=last: iter([1 << 30, (1 << 30) + last]))
        with pytest.raises(SystemExit) as ended:
            many_runs.main()
        assert ended.value.code == status or str(status) in str(ended.value.code)
    assert capsys.readouterr().out.startswith("2 runs, ")
