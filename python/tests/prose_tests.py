"""What the documents say of their tables in words is what the tables say.

A sentence that states a number or an order has a comment after it, which readers do not see:

    <!-- holds: t["90 %", "400 kB", 1] < t["90 %", "100 kB", 1] -->

`t` is the table before it: rows by how they begin (further cells after ` | `), columns by how their heads begin, and
which number of the cell.
`r` is a paper's table of readings, wherever it stands.
`c["fifo", 0]` is the first number in the first line that begins with fifo of what the command before it printed,
halves of intervals not counted.
`v["spie-1 spie-2", "printed consistent"]` is the set of the verdicts that are kept beside the page of these claims in
these presets (`*`: all), `v.count("inconclusive", "printed")` how many of a preset there are, and
`v.never("reproduced")` the claims that have it in none. In a page with such verdicts no claim stands beside a word of
judgement unless a comment in the same paragraph or point names it.
`m["consistent", "spie-1", "s-pie"]` is the mean that is kept of what a claim compares in a preset, with a fourth place
for the point of a swept key. A number that it equals, after `==`, stands in the same paragraph or point.
`m["beyond", "lost", "loss_ratio", "50%, tcn"]` is that of a metric in a scenario beyond the paper, at the swept values.
`p["spie-1", "s-pie"]` is the number that the paper has for it.
`pmqecn` is `aqmlab.pmqecn`: what its model and its optimiser say is computed.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from documents import FENCE, PAGES

from aqmlab import papers, pmqecn

HOLDS = re.compile(r"<!-- holds: (.+?) -->", re.S)
TABLE = re.compile(r"(?:^\|.+\|[ ]*\n)+", re.M)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
# The head of a paper's table of readings.
READINGS = "| Claim | holds |"
GENERATED = "generated"
VERDICTS, MEASURED = f"{GENERATED}/verdicts.csv", f"{GENERATED}/measured.csv"
# The number, or numbers, that something equals.
EQUALS = re.compile(r"== (-?[\d.]+|\[[^\]]+\])")
# Words of judgement, and what they judge.
JUDGED = re.compile(
    r"reproduced|inconclusive|direction only|in (?:its )?direction|(?:hold|fail)s? by (?:itself|themselves)"
    r"|size undecided|not\s+testable"
)
# "spie-1, 2 and 3" are three; "spie-1 and 2 ms" is one.
_UNITS = r"(?:m?s|[kM]B|[kM]bit|of|packets|points)"
_NUMBERED = r"\d+[a-z]?"
CLAIM = re.compile(
    rf"\b((?:daqm|spie|sqm|pmq|eval)-(?:why-|live-)?)({_NUMBERED}(?:(?:,|,? and) {_NUMBERED}(?![\w%]| {_UNITS}\b))*)\b"
)
# Where a paragraph or a point begins.
APART = re.compile(r"\n(?:\s*\n|(?=- ))")
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


class Verdicts:
    """The verdicts that are kept beside a page: `v[claims, presets]`, and how many of a preset are the same."""

    def __init__(self, kept: Path) -> None:
        with kept.open(encoding="utf-8", newline="") as text:
            self._kept = {(row["preset"], row["claim"]): row["verdict"] for row in csv.DictReader(text)}

    def __getitem__(self, key: tuple[str, str]) -> set[str]:
        claims, presets = (names.split() for names in key)
        every = dict.fromkeys(preset for preset, _ in self._kept)
        return {self._kept[preset, claim] for preset in (every if presets == ["*"] else presets) for claim in claims}

    def count(self, verdict: str, preset: str) -> int:
        """How many statements have a verdict in a preset."""
        return sum(one == verdict for (where, _), one in self._kept.items() if where == preset)

    def never(self, *verdicts: str) -> set[str]:
        """The statements that have none of some verdicts in any preset."""
        ever = {claim for (_, claim), one in self._kept.items() if one in verdicts}
        return {claim for _, claim in self._kept} - ever


class Measured:
    """The means that are kept beside a page: `m[preset, claim, of]`, and `m[preset, claim, of, point]`."""

    def __init__(self, kept: Path) -> None:
        with kept.open(encoding="utf-8", newline="") as text:
            self._kept = {
                (row["preset"], row["claim"], row["of"], row["point"]): float(row["mean"])
                for row in csv.DictReader(text)
            }

    def __getitem__(self, key: tuple[Any, ...]) -> float:
        preset, claim, of, point = (*key, 0)[:4]
        return self._kept[preset, claim, of, str(point)]


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
        readings = [lines for _, lines in tables if lines[0].startswith(READINGS)]
        names |= {"r": Table(readings[0])} if readings else {}
        if (kept := page.parent / VERDICTS).is_file():
            names["v"] = Verdicts(kept)
        if (kept := page.parent / MEASURED).is_file():
            names["m"] = Measured(kept)
            claims = papers.find(page.parent.name).claims
            names["p"] = {(claim.id, of): number for claim in claims for of, number in claim.paper.items()}
        found.append((" ".join(match[1].split()), names | ({"c": Printed(printed[0])} if printed else {})))
    return found


def _unheld(text: str) -> list[str]:
    """The claims of a page that stand beside a word of judgement which no comment holds."""
    prose = TABLE.sub("\n", FENCE.sub("\n", text))
    found = []
    for part in APART.split(prose):
        held = " ".join(HOLDS.findall(part))
        said = re.sub(r"<!--.+?-->", "", part, flags=re.S)
        named = dict.fromkeys(_claims_named(said)) if JUDGED.search(said) else {}
        found += [claim for claim in named if not re.search(rf"\b{claim}(?![\w-])", held)]
    return found


def _unsaid(text: str) -> list[str]:
    """The numbers of a page that a comment holds against a kept mean, and that are not said where it stands."""
    found = []
    for part in APART.split(FENCE.sub("\n", text)):
        said = NUMBER.findall(re.sub(r"<!--.+?-->", "", part, flags=re.S))
        of_means = [comment for comment in HOLDS.findall(part) if "m[" in comment]
        held = [number for one in of_means for number in NUMBER.findall(" ".join(EQUALS.findall(one)))]
        found += [number for number in held if float(number) not in map(float, said)]
    return found


def _claims_named(text: str) -> list[str]:
    return [f"{paper}{one}" for paper, several in CLAIM.findall(text) for one in re.findall(_NUMBERED, several)]


def _bears(claim: str, names: dict[str, Any]) -> bool:
    return bool(eval(claim, {"__builtins__": {}, **FUNCTIONS, **names}))


CLAIMED = [page for page in PAGES if HOLDS.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", CLAIMED, ids=lambda page: page.stem)
def a_sentence_says_what_its_table_does(page: Path) -> None:
    for claim, names in _claims(page):
        assert _bears(claim, names), f"{page.name}: {claim}"


JUDGING = [page for page in PAGES if (page.parent / VERDICTS).is_file()]


@pytest.mark.parametrize("page", JUDGING, ids=lambda page: page.parent.name)
def a_verdict_in_prose_is_held_against_those_that_are_kept(page: Path) -> None:
    assert _unheld(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", JUDGING, ids=lambda page: page.parent.name)
def a_number_that_is_held_against_a_kept_mean_is_what_the_page_says(page: Path) -> None:
    assert _unsaid(page.read_text(encoding="utf-8")) == []


def a_number_in_prose_that_parts_from_the_kept_mean_is_found(tmp_path: Path) -> None:
    held = "round(m['a', 'spie-1', 'red', 1], 1) == 9.1 and m['a', 'spie-1', 'red'] < 9"
    page = tmp_path / "s-pie" / "README.md"
    (page.parent / GENERATED).mkdir(parents=True)
    page.write_text(f"RED has 9.1 packets.\n<!-- holds: {held} -->\n\nOthers 7.\n")
    for mean, holds in (("9.06", True), ("9.16", False)):
        (page.parent / MEASURED).write_text(f"preset,claim,of,point,mean\na,spie-1,red,0,8\na,spie-1,red,1,{mean}\n")
        ((claim, names),) = _claims(page)
        assert _bears(claim, names) is holds
    assert _unsaid(page.read_text()) == []
    assert _unsaid(page.read_text().replace("has 9.1", "has 9.2")) == ["9.1"]


def a_verdict_that_parts_from_what_is_kept_or_is_not_held_is_found(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    (tmp_path / GENERATED).mkdir()
    (tmp_path / VERDICTS).write_text("preset,claim,verdict\na,spie-1,reproduced\nb,spie-1,inconclusive\n")
    said = "spie-1 is reproduced in `a`.\n"
    page.write_text(f"{said}<!-- holds: v['spie-1', 'a'] == {{'reproduced'}} -->\n\nMore of spie-12 and spie-1.\n")
    ((claim, names),) = _claims(page)
    assert _bears(claim, names)
    assert _unheld(page.read_text()) == []
    assert not _bears("v['spie-1', '*'] == {'reproduced'}", names)
    assert _bears("v.count('inconclusive', 'b') == 1 and v.never('not reproduced') == {'spie-1'}", names)
    assert _bears("v.never('reproduced') == set()", names)
    for alone in (f"- {said}", f"{said}- More. <!-- holds: v['spie-1', 'a'] -->\n", f"{said}<!-- holds: 'spie-11' -->"):
        assert _unheld(alone) == ["spie-1"]
    assert _unheld(f"| Claim |\n|---|\n| {said.strip()} |\n") == []


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
