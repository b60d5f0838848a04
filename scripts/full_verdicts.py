#!/usr/bin/env python3
"""Keep the verdicts of a paper's full form, and what they are of, with the project.

    aqmlab reproduce large-network --no-readings --json result.json
    scripts/full_verdicts.py result.json

    aqmlab reproduce all --live --json live.json      (19 minutes, in real time)
    scripts/full_verdicts.py live.json

Writes experiments/PAPER/verdicts.csv, which the quick form shows, and measured.csv: the mean over the seeds of all that
each claim compares, against which figures in the README are held. What is not in the results stays: other presets, and
mechanisms that only `--beyond` or `--live` runs. In the table between the two marks in the README, cells of a claim's
row below a preset's name are written from the verdicts, so that none is typed in.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import marked

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
VERDICTS, COLUMNS = "verdicts.csv", ("preset", "claim", "verdict")
# `point` is that of a swept key, for claims that hold at each.
MEASURED, OF_MEASURED = "measured.csv", ("preset", "claim", "of", "point", "mean")
BEGIN, END = "<!-- verdicts: written by scripts/full_verdicts.py -->", "<!-- end of verdicts -->"
# What stands out in a table.
BEST = "reproduced"
# Where no verdict of the full form is kept.
NONE = "-"


def merged(rows: list[dict[str, Any]], claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a paper with those of some judged claims in place of their earlier ones."""
    verdicts = {(row["preset"], row["claim"]): row["verdict"] for row in rows}
    verdicts |= {(one["preset"], one["id"]): one["verdict"] for one in claims}
    return [dict(zip(COLUMNS, (*place, verdict), strict=True)) for place, verdict in verdicts.items()]


def measured(rows: list[dict[str, Any]], claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a paper with what some claims compare in place of theirs of before."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["preset"], row["claim"]), []).append(row)
    for one in claims:
        place = one["preset"], one["id"]
        found[place] = [
            dict(zip(OF_MEASURED, (*place, name, point, f"{mean['mean']:.6g}"), strict=True))
            for name, means in one["measured"].items()
            for point, mean in enumerate(means if isinstance(means, list) else [means])
            if mean is not None
        ]
    return [row for several in found.values() for row in several]


def read(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a paper; none if none are kept."""
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def written(readme: str, rows: list[dict[str, Any]]) -> str:
    """Return a README with the verdicts in its table written anew."""
    _, table, _ = marked.split(readme, BEGIN, END)
    verdicts = {(row["claim"], row["preset"]): row["verdict"] for row in rows}
    head, rule, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines())
    presets = {place: name.strip("`") for place, name in enumerate(head) if name.startswith("`")}
    for cells in body:
        claim = cells[0].partition(" ")[0].rstrip(":")
        for place, preset in presets.items():
            verdict = verdicts.get((claim, preset), NONE)
            cells[place] = f"**{verdict}**" if verdict == BEST else verdict
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *body)]
    return marked.replaced(readme, BEGIN, END, "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]]))


def main() -> None:
    """Write the verdicts of all papers in some results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    for result in parser.parse_args().results:
        claims = json.loads(result.read_text(encoding="utf-8"))["claims"]
        for paper in {claim["from"] for claim in claims}:
            folder = EXPERIMENTS / paper
            mine = [claim for claim in claims if claim["from"] == paper]
            rows = merged(read(folder / VERDICTS), mine)
            readme = written((folder / "README.md").read_text(encoding="utf-8"), rows)
            _write(folder / VERDICTS, COLUMNS, rows)
            _write(folder / MEASURED, OF_MEASURED, measured(read(folder / MEASURED), mine))
            (folder / "README.md").write_text(readme, encoding="utf-8")


def _write(file: Path, columns: Sequence[str], rows: list[dict[str, Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as text:
        table = csv.DictWriter(text, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
