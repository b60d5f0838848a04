from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT

SNIPPET = """
import aqmlab

aqmlab.compare(rate="10mbit", rtt="40ms", aqm="pie", duration="2s", seeds=2)
aqmlab.compare(rat="10mbit", rtt="40ms", aqm="pie")
aqmlab.sweep(sweep={"rtt": "10ms,40ms"}, rate=10, aqm="pie")
"""


def a_misspelt_option_is_a_type_error(tmp_path: Path) -> None:
    snippet = tmp_path / "snippet.py"
    snippet.write_text(SNIPPET)
    # With the project's settings and from its folder, where `make lint` has left what it knows.
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", snippet],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    # What mypy knows of the same snippet it says with the folder of that time.
    lines = [line.split("snippet.py")[-1] for line in checked.stdout.splitlines() if ": error:" in line]
    assert len(lines) == 2, checked.stdout
    assert lines[0].startswith(':5: error: Unexpected keyword argument "rat" for "compare"')
    assert lines[1].startswith(':6: error: Argument "rate" to "sweep" has incompatible type "int"')
