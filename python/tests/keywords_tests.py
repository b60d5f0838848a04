from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT

from aqmlab.scenario import OPTIONS
from aqmlab.scenario.keywords import Keywords

SNIPPET = """
import aqmlab

aqmlab.compare(rate="10mbit", rtt="40ms", aqm="pie", duration="2s", seeds=2)
aqmlab.compare(rat="10mbit", rtt="40ms", aqm="pie")
aqmlab.sweep(sweep={"rtt": "10ms,40ms"}, rate=10, aqm="pie")
"""


def the_keywords_are_the_options() -> None:
    assert [*Keywords.__annotations__] == [option.name for option in OPTIONS if option.name != "aqm"]


def a_misspelt_option_is_a_type_error(tmp_path: Path) -> None:
    (tmp_path / "snippet.py").write_text(SNIPPET)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={ROOT / '.mypy_cache'}", "snippet.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in checked.stdout.splitlines() if ": error:" in line]
    assert len(lines) == 2, checked.stdout
    assert lines[0].startswith('snippet.py:5: error: Unexpected keyword argument "rat" for "compare"')
    assert lines[1].startswith('snippet.py:6: error: Argument "rate" to "sweep" has incompatible type "int"')
