#!/usr/bin/env python3
"""Keep the verdicts of a paper's full form with the project, for the quick form to show beside its own.

    aqmlab reproduce large-network --no-readings --json result.json
    scripts/full_verdicts.py result.json

Writes experiments/PAPER/verdicts.csv; verdicts of presets that are not in the results stay.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
COLUMNS = ("preset", "claim", "verdict")


def merged(rows: list[dict[str, Any]], claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a paper with those of some judged claims in place of their presets' earlier ones."""
    new = {claim["preset"] for claim in claims}
    kept = [row for row in rows if row["preset"] not in new]
    return kept + [{"preset": one["preset"], "claim": one["id"], "verdict": one["verdict"]} for one in claims]


def main() -> None:
    """Write the verdicts of all papers in some results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    for result in parser.parse_args().results:
        claims = json.loads(result.read_text(encoding="utf-8"))["claims"]
        for paper in {claim["from"] for claim in claims}:
            file = EXPERIMENTS / paper / "verdicts.csv"
            rows = list(csv.DictReader(file.open(encoding="utf-8", newline=""))) if file.is_file() else []
            with file.open("w", encoding="utf-8", newline="") as text:
                table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
                table.writeheader()
                table.writerows(merged(rows, [claim for claim in claims if claim["from"] == paper]))


if __name__ == "__main__":
    main()
