"""Transports against disciplines: which conditions hold in which cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aqmlab.testbed.check import Check, Tally
from aqmlab.testbed.outcome import Outcome
from aqmlab.testbed.path import Path
from aqmlab.testbed.seeds import Seeds, over, write_files
from aqmlab.vocabulary.errors import about, unknown

#: What is asked of a run: the function gets it, and the name of the row's group of flows.
Condition = Callable[[Outcome, str], Check]


@dataclass(frozen=True)
class _Cell:
    """A row behind a discipline: its runs, and what each condition found in them."""

    runs: Seeds
    tallies: Mapping[str, Tally]


@dataclass(frozen=True)
class Cells:
    """What became of a `matrix`: as text a table with a mark and the names of the conditions in each cell."""

    rows: Sequence[str]
    columns: Sequence[str]
    tests: Sequence[str]
    _cells: Mapping[tuple[str, str], _Cell]

    def holds(self, row: str, column: str, test: str) -> bool:
        """Whether a condition holds in a cell.

        Raises:
            InputError: for a row, a column or a condition that is not there, with the nearest name.

        """
        return self._tally(row, column, test).holds

    def all_pass(self) -> None:
        """Assert that every condition holds in every cell."""
        __tracebackhide__ = True
        self.fail_only()

    def fail_only(self, *known: tuple[str, str, str]) -> None:
        """Assert that every condition holds but the known failures, each a row, a column and a test.

        A known failure that passes fails, too: so the list stays true.
        """
        __tracebackhide__ = True
        lines = [
            f"{row} behind {column} passes {test}: it is no known failure any more"
            for row, column, test in known
            if self.holds(row, column, test)
        ]
        for (row, column), cell in self._cells.items():
            for test, tally in cell.tallies.items():
                if tally.holds or (row, column, test) in known:
                    continue
                lines.append(f"{row} behind {column} fails {test}: {tally.summary()}")
                worst = tally.worst_seed()
                lines += [] if worst is None else [write_files(cell.runs.path, cell.runs.outcomes[worst], worst)]
        if lines:
            raise AssertionError("\n".join([str(self), *lines]))

    def __str__(self) -> str:
        lines = [["", *self.columns]]
        lines += [[row, *(self._marks(row, column) for column in self.columns)] for row in self.rows]
        widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
        table = [
            "   ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        # The first cell speaks for all: a condition is the same everywhere but for its group.
        first = self._cells[self.rows[0], self.columns[0]]
        return "\n".join([*table, *(_legend(test, tally) for test, tally in first.tallies.items())]) + "\n"

    def _marks(self, row: str, column: str) -> str:
        """Return the conditions that hold in a cell, and those that do not."""
        tallies = self._cells[row, column].tallies
        marked = [(mark, [test for test in self.tests if tallies[test].holds == holds]) for mark, holds in MARKS]
        return "  ".join(f"{mark} {','.join(names)}" for mark, names in marked if names)

    def _tally(self, row: str, column: str, test: str) -> Tally:
        for what, name, names in (
            ("row", row, self.rows),
            ("column", column, self.columns),
            ("test", test, self.tests),
        ):
            if name not in names:
                raise unknown(what, name, names)
        return self._cells[row, column].tallies[test]


MARKS = (("✓", True), ("✗", False))


def run_cells(
    path: Path,
    rows: Sequence[str],
    columns: Sequence[str],
    tests: Mapping[str, Condition],
    seeds: tuple[int, ...],
    needed: int | None,
) -> Cells:
    """Run every row behind every discipline, and ask each condition of each cell.

    Raises:
        InputError: if a cell cannot be run, or if rows, columns, seeds or conditions are missing or named twice.

    """
    for what, names in (("rows", rows), ("columns", columns), ("tests", list(tests))):
        if not names:
            raise about(what, "the matrix has none")
        if twice := [name for place, name in enumerate(names) if name in names[:place]]:
            raise about(what, f"'{twice[0]}' is there twice")
    if not seeds:
        raise about("over", "the matrix has no seeds")
    needed = len(seeds) if needed is None else needed
    if not isinstance(needed, int) or not 1 <= needed <= len(seeds):
        raise about("in_at_least", f"of {len(seeds)} seeds a condition cannot hold in {needed}")
    paths = {
        (row, column): path.within(f"{_plain(row)}-{_plain(column)}").behind(column, row)
        for row in rows
        for column in columns
    }
    # What cannot be read is refused before the first run.
    groups = {place: one.groups()[-1] for place, one in paths.items()}
    cells = {}
    for place, one in paths.items():
        runs = over(one, seeds)
        asked = {test: _of_group(condition, groups[place]) for test, condition in tests.items()}
        tallies = {test: runs.tally(needed, condition) for test, condition in asked.items()}
        cells[place] = _Cell(runs, tallies)
    return Cells(tuple(rows), tuple(columns), tuple(tests), cells)


def _of_group(condition: Condition, group: str) -> Callable[[Outcome], Check]:
    """Return a condition of one row's group."""
    return lambda outcome: condition(outcome, group)


def _legend(test: str, tally: Tally) -> str:
    (_, first), *rest = tally.checks
    seeds = f", in {tally.needed} of {len(tally.checks)} seeds" if rest else ""
    return f"{test}: {first.condition}{seeds}"


def _plain(text: str) -> str:
    """Return a text as part of a folder's name."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)
