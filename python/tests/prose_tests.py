"""What the documents say of their tables in words is what the tables say.

A sentence that states a number or an order has a comment after it, which readers do not see:

    <!-- holds: t["90 %", "400 kB", 1] < t["90 %", "100 kB", 1] -->

`t` is the table before it: rows by how they begin (further cells after ` | `), columns by how their heads begin, and
which number of the cell.
`c["fifo", 0]` is the first number in the first line that begins with fifo of what the command before it printed,
halves of intervals not counted.
`pmqecn` is `aqmlab.papers.pmqecn`: what its model and its optimiser say is computed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from documents import FENCE, PAGES

from aqmlab.papers import pmqecn

HOLDS = re.compile(r"<!-- holds: (.+?) -->", re.S)
TABLE = re.compile(r"(?:^\|.+\|[ ]*\n)+", re.M)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
FUNCTIONS = {
    function.__name__: function for function in (abs, all, any, enumerate, len, max, min, round, set, sum, zip)
}


class Table:
    """A table of a page: `t[row, column, which]`, and with `:` for a row or a column the numbers of all."""

    def __init__(self, lines: list[str]) -> None:
        head, _, *body = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines)
        self._heads = head[1:]
        # A row begins with its first cell, and goes on with the others where that is another's, too.
        self._cells = {" | ".join(cells): cells[1:] for cells in body}

    @property
    def rows(self) -> list[str]:
        """The rows as they are written."""
        return list(self._cells)

    def __getitem__(self, key: tuple[Any, ...]) -> Any:
        row, column, which = (*key, 0)[:3]
        rows = self.rows if isinstance(row, slice) else [_one(row, self.rows)]
        heads = self._heads if isinstance(column, slice) else [_one(column, self._heads)]
        found = [self._number(name, self._heads.index(head), which) for name in rows for head in heads]
        return found if isinstance(row, slice) or isinstance(column, slice) else found[0]

    def _number(self, row: str, column: int, which: int) -> float:
        return float(NUMBER.findall(self._cells[row][column])[which])


class Printed:
    """What a command printed: `c[line, which]`."""

    def __init__(self, text: str) -> None:
        self._lines = [" ".join(line.split()) for line in text.splitlines()]

    def __getitem__(self, key: tuple[str, int]) -> float:
        beginning, which = key
        line = next(one for one in self._lines if one.startswith(f"{beginning} "))
        return float(NUMBER.findall(re.sub(r"± \S+", "", line.removeprefix(beginning)))[which])


def _one(beginning: str, names: list[str]) -> str:
    found = [name for name in names if name.startswith(beginning)]
    assert len(found) == 1, f"{beginning!r} begins {found or 'none'} of {names}"
    return found[0]


def _claims(page: Path) -> list[tuple[str, dict[str, Any]]]:
    """The claims of a page, each with the table and the output before it."""
    text = page.read_text(encoding="utf-8")
    tables = [(match.end(), match[0].strip().splitlines()) for match in TABLE.finditer(text)]
    outputs = [(match.end(), match["text"]) for match in FENCE.finditer(text) if match["kind"] == "console"]
    found = []
    for match in HOLDS.finditer(text):
        lines = [lines for end, lines in tables if end <= match.start()][-1:]
        printed = [output for end, output in outputs if end <= match.start()][-1:]
        names: dict[str, Any] = {"pmqecn": pmqecn} | ({"t": Table(lines[0])} if lines else {})
        found.append((" ".join(match[1].split()), names | ({"c": Printed(printed[0])} if printed else {})))
    return found


def _bears(claim: str, names: dict[str, Any]) -> bool:
    return bool(eval(claim, {"__builtins__": {}, **FUNCTIONS, **names}))


# A paper's page takes its numbers from what a script writes.
OTHERS = [page for page in PAGES if not (page.parent / "paper.toml").is_file()]
CLAIMED = [page for page in OTHERS if HOLDS.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", CLAIMED, ids=lambda page: page.stem)
def a_sentence_says_what_its_table_does(page: Path) -> None:
    for claim, names in _claims(page):
        assert _bears(claim, names), f"{page.name}: {claim}"


def a_sentence_that_its_table_does_not_bear_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    said = "The second is more.\n<!-- holds: t['b', 'Goodput'] > t['a', 'Goodput'] -->\n"
    for second, holds in (("3.5 Mbit/s", True), ("0.5 Mbit/s", False)):
        page.write_text(f"# P\n\n| Which | Goodput |\n|---|---|\n| a | 2 Mbit/s |\n| b | {second} |\n\n{said}")
        ((claim, names),) = _claims(page)
        assert _bears(claim, names) is holds
    page.write_text("```console\n$ aqmlab x\nfifo  9.1 ± 0.2  30 ± 1\n```\n<!-- holds: c['fifo', 1] == 30 -->\n")
    ((claim, names),) = _claims(page)
    assert _bears(claim, names)
