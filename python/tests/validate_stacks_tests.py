"""What is said of quinn beside the simulator's own senders is what was compared."""

from __future__ import annotations

import csv
from collections import Counter

from conftest import ROOT, loaded

SCRIPT = loaded(ROOT / "validate/stacks/compare.py", "validate_stacks")
PAGE = " ".join((ROOT / "docs/how-to/real-stacks.md").read_text().split())


def the_page_says_how_many_of_the_kept_values_differ() -> None:
    with (ROOT / "validate/stacks/cells.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    outside = Counter(
        row["measure"] for row in rows if SCRIPT.differs(row["measure"], float(row["native"]), float(row["quinn"]))
    )
    assert f"Of {len(rows)} goodputs, mean queue delays and losses, {len(rows) - outside.total()} differ" in PAGE
    assert outside == {"loss_ratio": 17, "qdelay_mean_ms": 1}
    assert "every goodput does. The others are 17 losses and one delay." in PAGE


def the_rule_is_relative_to_the_larger_and_leaves_out_what_nobody_notices() -> None:
    assert not SCRIPT.differs("goodput_mbit", 8.5, 10.0)
    assert SCRIPT.differs("goodput_mbit", 8.4, 10.0)
    assert not SCRIPT.differs("loss_ratio", 0.001, 0.0019)
