from __future__ import annotations

import subprocess
import sys

from conftest import ROOT

SOAK = ROOT / "tests" / "soak" / "soak.py"


def random_scenarios_pass_their_checks_or_are_refused_in_a_line() -> None:
    # The long form is `make soak`.
    command = [sys.executable, str(SOAK), "--runs", "200", "--jobs", "1", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("200 scenarios"), done.stdout
