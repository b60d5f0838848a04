"""The page on quinn beside the simulator's own senders has the figures of the comparison."""

from __future__ import annotations

from conftest import ROOT, loaded

SCRIPT = loaded(ROOT / "validate/stacks/compare.py", "validate_stacks")


def the_page_has_the_tables_of_the_stored_values() -> None:
    made = "\n".join(SCRIPT.lines())
    assert "of 96 |" in made
    assert f"{SCRIPT.BEGIN}\n{made}\n{SCRIPT.END}" in SCRIPT.PAGE.read_text(encoding="utf-8")


def the_rule_is_relative_to_the_larger_and_leaves_out_what_nobody_notices() -> None:
    assert not SCRIPT.differs("goodput_mbit", 8.5, 10.0)
    assert SCRIPT.differs("goodput_mbit", 8.4, 10.0)
    assert not SCRIPT.differs("loss_ratio", 0.001, 0.0019)
