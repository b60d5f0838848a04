"""Many runs in one process: memory stays as it is. `make many-runs` makes a hundred thousand."""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT


def memory_does_not_grow_from_run_to_run() -> None:
    words = [sys.executable, str(ROOT / "scripts/many_runs.py"), "--runs", "300"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 10
