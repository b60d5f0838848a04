#!/usr/bin/env python3
"""Keep the verdicts of a paper's full form, and what they are of, with the project.

    aqmlab reproduce large-network --no-readings --json result.json
    scripts/full_verdicts.py result.json

    aqmlab reproduce all --live --json live.json      (19 minutes, in real time)
    scripts/full_verdicts.py live.json

Writes experiments/PAPER/generated/verdicts.csv, which the quick form shows, and measured.csv: the mean over the seeds
of all that each claim compares, against which figures in the README are held. Of what goes beyond the paper
(`--beyond`) those scenarios and metrics are kept that a comment in the README names, under the preset `beyond`. What is
not in the results stays: other presets, and what only `--beyond` or `--live` runs. In the table between the two marks
in the README, cells of a claim's row below a preset's name are written from the verdicts, so that none is typed in.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import marked

from aqmlab.papers.paper import BEYOND

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
VERDICTS, COLUMNS = "generated/verdicts.csv", ("preset", "claim", "verdict")
# `point` is that of a swept key, for claims that hold at each: its number, or beyond the paper its values in words.
MEASURED, OF_MEASURED = "generated/measured.csv", ("preset", "claim", "of", "point", "mean")
HELD, NAME = re.compile(r"<!-- holds: .+?-->", re.S), re.compile(r'"([^"]+)"')
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
    new = {
        (one["preset"], one["id"]): [
            (name, point, mean["mean"])
            for name, means in one["measured"].items()
            for point, mean in enumerate(means if isinstance(means, list) else [means])
            if mean is not None
        ]
        for one in claims
    }
    return _in_place(rows, new)


def beyond(rows: list[dict[str, Any]], summary: list[dict[str, Any]], readme: str) -> list[dict[str, Any]]:
    """Return the rows of a paper with means beyond it that its README names in place of their earlier ones."""
    held = " ".join(comment for comment in HELD.findall(readme) if f'"{BEYOND}"' in comment)
    names = set(NAME.findall(held))
    # In a name that is put together (`f"class.{one}.goodput_mbit"`) anything may stand for what is in braces.
    of = re.compile("|".join(re.sub(r"\\{.*?\\}", r"(?:(?!class\\.).)+", re.escape(name)) for name in names))
    new: dict[tuple[str, str], list[tuple[str, Any, float]]] = {}
    run = [one for one in summary if one["preset"] == BEYOND and one["scenario"] in names]
    for scenario in dict.fromkeys(one["scenario"] for one in run):
        means = [one for one in run if one["scenario"] == scenario]
        alone = len({one["aqm"] for one in means}) == 1
        called = [one["metric"] if alone else f"{one['aqm']}.{one['metric']}" for one in means]
        new[BEYOND, scenario] = [
            (name, _words(one.get("point", {})), one["mean"])
            for name, one in zip(called, means, strict=True)
            if of.fullmatch(name)
        ]
    return _in_place(rows, new)


def _words(point: dict[str, Any]) -> str:
    return ", ".join(map(str, point.values())) or "0"


def _in_place(
    rows: list[dict[str, Any]], new: dict[tuple[str, str], list[tuple[str, Any, float]]]
) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["preset"], row["claim"]), []).append(row)
    for place, means in new.items():
        found[place] = [
            dict(zip(OF_MEASURED, (*place, name, point, f"{mean:.6g}"), strict=True)) for name, point, mean in means
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
        found = json.loads(result.read_text(encoding="utf-8"))
        judged, means = found["claims"], found["summary"]
        for paper in {one.get("from") or one["paper"] for one in (*judged, *means)}:
            folder = EXPERIMENTS / paper
            mine = [claim for claim in judged if claim["from"] == paper]
            rows = merged(read(folder / VERDICTS), mine)
            readme = written((folder / "README.md").read_text(encoding="utf-8"), rows)
            kept = measured(read(folder / MEASURED), mine)
            kept = beyond(kept, [one for one in means if one["paper"] == paper], readme)
            _write(folder / VERDICTS, COLUMNS, rows)
            _write(folder / MEASURED, OF_MEASURED, kept)
            (folder / "README.md").write_text(readme, encoding="utf-8")


def _write(file: Path, columns: Sequence[str], rows: list[dict[str, Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as text:
        table = csv.DictWriter(text, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
