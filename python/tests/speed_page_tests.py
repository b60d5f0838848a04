"""The page about speed has the counts that are recorded."""

from __future__ import annotations

import json

from conftest import ROOT, loaded

SCRIPT = loaded(ROOT / "benches/instructions.py", "benches_instructions")


def the_page_has_the_recorded_counts() -> None:
    made = "\n".join(SCRIPT.lines(json.loads(SCRIPT.WRITTEN.read_text(encoding="utf-8"))))
    assert "| cake |" in made
    assert "| 100 flows, fifo |" in made
    assert f"{SCRIPT.BEGIN}\n{made}\n{SCRIPT.END}" in SCRIPT.PAGE.read_text(encoding="utf-8")
