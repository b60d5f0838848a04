"""Tables in text: names on the left, numbers on the right, and what they have in common above them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType

from aqmlab.cli.terminal import Text

GAP = 2
# A longer name stands in a line of its own, by default.
LONGEST_NAME = 24


def table(
    heads: Sequence[tuple[str, str]],
    lines: Sequence[tuple[str, Sequence[Text]]],
    *,
    styled: str = "bold",
    left: int = LONGEST_NAME,
    width: int | None = None,
) -> RenderableType:
    """Return a table.

    Args:
        heads: title and unit of each column; neighbours with the same title share it, and what their units end in.
        lines: the name of each, and its cells, in which a value's marks stand to the right of its digits.
        styled: how titles look.
        left: a longer name stands in a line of its own.
        width: of the terminal: for columns that need more of it, fewer names stand in front of them.

    """
    titles, units = _shared(heads)
    widths = [
        max(len(units[place]), *(cells[place].cell_len for _, cells in lines)) if lines else len(units[place])
        for place in range(len(heads))
    ]
    names = [Text(name) for name, _ in lines]
    _widen(titles, widths)
    if width is not None:
        left = min(left, max(width - sum(widths) - GAP * len(widths), 0))
    left = max((name.cell_len for name in names if name.cell_len <= left), default=0)
    parts: list[RenderableType] = [_titles(titles, widths, left, styled)] if any(title for title, _ in titles) else []
    if any(units):
        parts.append(_row(Text(""), [Text(unit, "dim") for unit in units], widths, left))
    for name, (_, cells) in zip(names, lines, strict=True):
        if name.cell_len > left:
            parts.append(name)
            name = Text("")
        parts.append(_row(name, cells, widths, left))
    return Group(*parts)


def marked(value: str, mark: str, *, style: str = "") -> Text:
    """Return a cell: a value, and its mark or room for one."""
    return Text(value, style).append(mark or " ", "dim")


def _shared(heads: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, int]], list[str]]:
    """Return the titles with how many columns each stands above, and the units without what a title has of them."""
    titles: list[tuple[str, int]] = []
    units: list[str] = []
    place = 0
    while place < len(heads):
        title = heads[place][0]
        count = 1
        while place + count < len(heads) and heads[place + count][0] == title:
            count += 1
        own = [unit for _, unit in heads[place : place + count]]
        ends = {unit.rpartition(", ")[2] for unit in own}
        if count > 1 and len(ends) == 1 and all(", " in unit for unit in own):
            title = f"{title}, {ends.pop()}"
            own = [unit.rpartition(", ")[0] for unit in own]
        titles.append((title, count))
        units += own
        place += count
    return titles, units


def _widen(titles: Sequence[tuple[str, int]], widths: list[int]) -> None:
    """Make columns as wide as the titles above them need, with the room for a mark."""
    place = 0
    for title, count in titles:
        span = sum(widths[place : place + count]) + GAP * (count - 1)
        widths[place] += max(len(title) + 1 - span, 0)
        place += count


def _titles(titles: Sequence[tuple[str, int]], widths: Sequence[int], left: int, style: str) -> Text:
    """Return the line of titles, each ending with its last column."""
    line = Text(" " * left)
    place = 0
    for title, count in titles:
        # The room for a mark stays free.
        needed = len(title) + 1
        span = sum(widths[place : place + count]) + GAP * (count - 1)
        line.append(" " * (GAP + span - needed)).append(title, style).append(" ")
        place += count
    return line


def _row(name: Text, cells: Sequence[Text], widths: Sequence[int], left: int) -> Text:
    line = Text("").append(name).append(" " * (left - name.cell_len))
    for cell, width in zip(cells, widths, strict=True):
        line.append(" " * (GAP + width - cell.cell_len)).append(cell)
    return line


__all__ = ["marked", "table"]
