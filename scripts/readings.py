#!/usr/bin/env python3
"""Write the shares of readings into a paper's README, from a reproduction.

    aqmlab reproduce sqm-lru --quick --json result.json
    scripts/readings.py result.json

Keeps what was measured as experiments/PAPER/generated/space.json, and writes the lines between the two marks in the
README from it, so that no number in them is typed in.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import marked

from aqmlab.search import Turn, turned

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
BEGIN, END = "<!-- readings: written by scripts/readings.py -->", "<!-- end of readings -->"


def lines(space: dict[str, Any]) -> str:
    """Return the table of a space and the sentence above it."""
    seeds = f"{space['seeds']} seed{'s' * (space['seeds'] > 1)}"
    rows = [
        f"{space['readings']} readings of [paper.toml](paper.toml), {seeds} each ({space['form']} form).",
        "*Undecided* are those in which the noise of the seeds hides the answer, *of* those in which there is",
        "something to test; in brackets the 95 % interval of the share in which it is shown to hold. *Decides*:",
        "the choices beyond chance, with their share of the differences. *Turned by*: single choices that turn what",
        "comes out in a preset. Each reading is tested at 2.5 %: of a claim that nothing decides chance alone",
        f"shows up to {0.025 * space['readings']:.1f} to hold.",
        "",
        "| Claim | holds | undecided | of | decides | turned by |",
        "|---|---|---|---|---|---|",
    ]
    for one in space["claims"]:
        share = f"{one['holding']} ({one['ci95_low']:.0%} to {one['ci95_high']:.0%})" if one["tested"] else ""
        decides = ", ".join(f"{each['factor']} {each['share']:.0%}" for each in one["strongest"] if each["decides"])
        turns = [Turn(each["preset"], tuple(each["changes"].items()), each["to"]) for each in one["turns"]]
        cells = (one["claim"], share, one["undecided"], one["tested"], decides, turned(turns))
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def written(readme: str, space: dict[str, Any]) -> str:
    """Return a README with the lines between its marks written anew."""
    return marked.replaced(readme, BEGIN, END, lines(space))


def main() -> None:
    """Write space.json and README.md of each paper in a result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path)
    parser.add_argument("--full", action="store_true", help="the result is of the full form")
    options = parser.parse_args()
    for found in json.loads(options.result.read_text(encoding="utf-8"))["readings"]:
        folder = EXPERIMENTS / found["paper"]
        space = {"form": "full" if options.full else "quick"}
        space |= {key: found[key] for key in ("readings", "seeds", "claims")}
        readme = written((folder / "README.md").read_text(encoding="utf-8"), space)
        (folder / "generated/space.json").write_text(json.dumps(space, indent=1) + "\n", encoding="utf-8")
        (folder / "README.md").write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
