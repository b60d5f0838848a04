#!/usr/bin/env python3
"""How well `aqmlab diagnose` finds what is known: captures of simulated lines (`make diagnosis-rates`).

Sixty lines that are full in one direction, of rate, round trip, buffer, discipline, loss and traffic, recorded at the
sender or the receiver, whole, cut, or with one direction missing. Sixty households with traffic in both directions, of
which each has its own queue, recorded at home (some by Wi-Fi) or at the far end, with the clocks of common hosts or
without timestamps. Printed are the errors of the estimates, how often it was wrong though called sure, and how often
"cannot tell" was right.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import diagnosed_households
import diagnosed_lines
import splice_tables
from diagnosis_truth import HEAD, Score, Truth, judge

from aqmlab import diagnosis

BEGIN, END = "<!-- rates: written by make diagnosis-rates -->", "<!-- end of rates -->"
Truths = list[tuple[str, Truth]]


def cases(
    folder: Path, draw: int
) -> Iterator[tuple[str, str, Callable[[], tuple[bytes, dict[str, float]]], Callable[[dict[str, float]], Truths]]]:
    """Return the kind of each line, a description, what records it, and what is so of it by the metrics of its run."""
    for setting in diagnosed_lines.settings(folder, draw):
        yield (
            "one direction",
            str(setting),
            lambda setting=setting: diagnosed_lines.record(setting),
            lambda metrics, setting=setting: [("up", diagnosed_lines.truth(setting, metrics))],
        )
    for number, household in enumerate(diagnosed_households.households(draw)):
        yield (
            "household",
            str(household),
            lambda household=household, seed=number + 1: diagnosed_households.record(household, folder, seed),
            lambda metrics, household=household: list(diagnosed_households.truths(household, metrics)),
        )


def main() -> None:
    """Print every line, and the errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--draw", type=int, default=5, help="which lines (5; the bounds of the laws were set with 1 to 4)"
    )
    parser.add_argument("--only", type=int, nargs="*", help="numbers of lines")
    parser.add_argument("--keep", type=Path, help="a folder for the captures")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table between the marks of a page")
    options = parser.parse_args()
    scores: dict[str, dict[str, Score]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for number, (kind, text, record, truths) in enumerate(cases(folder, options.draw)):
            if options.only and number not in options.only:
                continue
            path, known = folder / f"{number}.pcapng", folder / f"{number}.json"
            if not (options.keep and path.exists() and known.exists()):
                packets, metrics = record()
                path.write_bytes(packets)
                known.write_text(json.dumps(metrics), encoding="utf-8")
            found = diagnosis.diagnose(str(path))
            for name, true in truths(json.loads(known.read_text(encoding="utf-8"))):
                direction = found.down if name == "down" else found.up
                says = judge(direction, true, scores.setdefault(kind, {}))
                print(f"{number:3} {text}: {name}: {'; '.join(says)}", flush=True)
            if not options.keep:
                path.unlink()
    made = table(scores)
    print(f"\n{made}")
    if options.write:
        page = splice_tables.replaced(options.write.read_text(encoding="utf-8"), BEGIN, END, made)
        options.write.write_text(page, encoding="utf-8")


def table(scores: dict[str, dict[str, Score]]) -> str:
    """Return what was estimated and what was not as a table in Markdown."""
    rows = [score.row(f"{kind}: {name}") for kind, by_name in scores.items() for name, score in by_name.items()]
    return "\n".join([HEAD, *rows])


if __name__ == "__main__":
    main()
