#!/usr/bin/env python3
"""Keep what the full form of a paper gave, and write the tables of its claims from it.

    aqmlab reproduce large-network --json result.json
    scripts/paper_results.py result.json

Writes experiments/PAPER/generated (see `aqmlab.papers.generated`) for the papers and presets of the results, and in
each README the sentence on the main claim and the headline claims, each between two marks. Without a result only these
are rewritten.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import splice_tables

from aqmlab import papers
from aqmlab.papers import generated, statements, summary

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
OPENING = ("<!-- main claim: written by scripts/paper_results.py -->", "<!-- end of main claim -->")
BEGIN, END = "<!-- claims: written by scripts/paper_results.py -->", "<!-- end of claims -->"


def keep(document: dict[str, Any]) -> None:
    """Keep the claims of a reproduction, and their robustness if it was judged, in the papers' folders."""
    for name in dict.fromkeys(one["from"] for one in document["claims"]):
        mine = [one for one in document["claims"] if one["from"] == name]
        space = next((one for one in document["assumptions"] if one["paper"] == name), None)
        robustness = None
        if space is not None:
            claims = {one["id"]: one["robustness"] for one in mine if one["robustness"]}
            robustness = {**{key: space[key] for key in ("configurations", "seeds")}, "claims": claims}
        generated.write(EXPERIMENTS / name, mine, robustness)


def written(readme: str, paper: papers.Paper) -> str:
    """Return a README with what stands between its marks rewritten."""
    table = summary.of_folder(paper)
    opened = splice_tables.replaced(readme, *OPENING, statements.opening(table, paper))
    return splice_tables.replaced(opened, BEGIN, END, statements.headline(table, paper))


def main() -> None:
    """Keep results, and write the tables of all papers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="*")
    for result in parser.parse_args().results:
        keep(json.loads(result.read_text(encoding="utf-8")))
    for name in papers.built():
        paper, folder = papers.find(name), EXPERIMENTS / name
        table = statements.page(summary.of_folder(paper), paper)
        (folder / generated.FOLDER / statements.FILE).write_text(table, encoding="utf-8")
        file = folder / "README.md"
        readme = file.read_text(encoding="utf-8")
        if BEGIN in readme:
            file.write_text(written(readme, paper), encoding="utf-8")


if __name__ == "__main__":
    main()
