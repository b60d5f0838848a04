#!/usr/bin/env python3
"""Draw the house as its code states it: crates and the package, their rooms, and who may use whom.

    scripts/architecture_picture.py docs/explanation/architecture.svg

The rooms of the package and their order are those that import-linter checks (`pyproject.toml`); those of a crate are
the list at the top of its `lib.rs`, in its order. The same sources give the same bytes.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What stands above uses what stands below.
CRATES = {
    "aqm-python": "the border: one call for many runs",
    "aqm-wasm": "the border to browsers: the playground's module",
    "aqm-capi": "the border to C and C++: one queue, one path",
    "aqm-testbed": "a transport behind a bottleneck, as a test of its own project",
    "aqm-papers": "what the programs of papers' authors do and the field does not",
    "aqm-quinn, aqm-smoltcp": "real transports in virtual time",
    "aqm-link": "the live link: sockets, namespaces and the wall clock",
    "aqm-advice": "what a home's line should have: setups, figures, choice",
    "aqm-scenario": "what people write: a discipline, or tc's text",
    "aqm-sim": "the simulator: opens no file, reads no clock",
    "aqm-path": "devices, media, wires and meters behind a queue",
    "aqm-io": "captures, link traces, histograms: from bytes to bytes",
    "aqm-core": "the disciplines: no clock, no I/O, no allocation per packet",
}
WIDTH, MARGIN, PAD, LINE, CHIP, GAP = 960, 16, 12, 20, 26, 8
# The advance of a letter of the font below, at its size: chips need no measuring program.
ADVANCE = 7.3
STYLE = """
  text { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; fill: #1a1a1a }
  .about { fill: #55606b }
  .name { font-weight: bold; font-size: 14px }
  .house { fill: #f4f6f8; stroke: #9aa5b1 }
  .room { fill: #ffffff; stroke: #57789c }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e6e6 } .about { fill: #a7b3bf }
    .house { fill: #20262c; stroke: #5b6772 } .room { fill: #12161a; stroke: #7fa6cf }
  }
"""


def picture() -> str:
    """Return the picture as SVG."""
    pieces: list[str] = []
    top = MARGIN
    top = _house(pieces, top, "python/aqmlab", "the package: plans, runs, answers", _layers(), _said())
    for crate, what in CRATES.items():
        # Several in one box have no list.
        rooms = [] if "," in crate else _rooms(crate)
        top = _house(pieces, top, f"crates/{crate}", what, [rooms] if rooms else [], {})
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img">'
    title = "<title>The rooms of aqmlab: each uses only what stands below it or, in a crate, before it</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", *pieces, "</svg>"]) + "\n"


def _house(
    pieces: list[str], top: int, name: str, what: str, rows: Sequence[Sequence[str]], about: Mapping[str, str]
) -> int:
    """Draw a box with a row of rooms for each layer; returns where the next begins."""
    chips: list[str] = []
    y = top + PAD + LINE
    for row in rows:
        x = MARGIN + PAD
        for room in row:
            width = round(len(room) * ADVANCE) + 2 * PAD
            if x + width > WIDTH - MARGIN - PAD:
                x, y = MARGIN + PAD, y + CHIP + GAP
            chips.append(f'<rect class="room" x="{x}" y="{y}" width="{width}" height="{CHIP}" rx="4"/>')
            chips.append(f'<text x="{x + PAD}" y="{y + 17}">{escape(room)}</text>')
            x += width + GAP
        if len(row) == 1 and row[0] in about:
            chips.append(f'<text class="about" x="{x + GAP}" y="{y + 17}">{escape(about[row[0]])}</text>')
        y += CHIP + GAP
    bottom = y + (PAD - GAP if rows else PAD)
    width = WIDTH - 2 * MARGIN
    pieces.append(f'<rect class="house" x="{MARGIN}" y="{top}" width="{width}" height="{bottom - top}" rx="8"/>')
    pieces.append(f'<text x="{MARGIN + PAD}" y="{top + 20}"><tspan class="name">{name}</tspan>  {escape(what)}</text>')
    pieces += chips
    return bottom + MARGIN


def _layers() -> list[list[str]]:
    """Return the rooms of the package by layer, the door first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = project["tool"]["importlinter"]["contracts"]
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"] if layer != "__main__"]


def _said() -> dict[str, str]:
    """Return the first sentence of each room of the package."""
    package = ROOT / "python/src/aqmlab"
    files = [*package.glob("*.py"), *package.glob("*/__init__.py")]
    names = {file: file.parent.name if file.stem == "__init__" else file.stem for file in files}
    about = {names[file]: ast.get_docstring(ast.parse(file.read_text())) or "" for file in files}
    return {name: re.sub(r" \(.*?\)|``", "", text.split("\n\n")[0].replace("\n", " ")) for name, text in about.items()}


def _rooms(crate: str) -> list[str]:
    """Return the rooms that a crate's first comment lists."""
    entries = re.findall(
        r"^//! - (.*(?:\n//!   .*)*)", (ROOT / "crates" / crate / "src/lib.rs").read_text(), re.MULTILINE
    )
    # An entry names rooms before their colons; what follows may name others. Lists are no rooms.
    return [room for entry in entries for room in re.findall(r"(?:^|; )\[?`([a-z]\w*)`\]?(?:\(.*?\))?:", entry)]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture())
