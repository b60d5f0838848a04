"""Tables of pages: rows that are alike, and text that is computed between two marks in a page written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def merged(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return rows, of those that follow each other and differ in their first cell alone one with all first cells.

    >>> merged([("`a`", "auto"), ("`b`", "auto"), ("`c`", "off")])
    [('`a`, `b`', 'auto'), ('`c`', 'off')]

    """
    found: list[tuple[str, ...]] = []
    for row in rows:
        if found and any(row[1:]) and found[-1][1:] == row[1:]:
            found[-1] = (f"{found[-1][0]}, {row[0]}", *row[1:])
        else:
            found.append(row)
    return found


def split(text: str, begin: str, end: str) -> tuple[str, str, str]:
    """Return what stands before, between and after two marks.

    Raises:
        SystemExit: if one of them is missing.

    """
    before, _, rest = text.partition(begin)
    between, mark, after = rest.partition(end)
    if not mark:
        raise SystemExit(f"the page needs a line '{begin}' and a line '{end}'")
    return before, between, after


def replaced(text: str, begin: str, end: str, lines: str) -> str:
    """Return a page with other lines between its marks."""
    before, _, after = split(text, begin, end)
    return f"{before}{begin}\n{lines}\n{end}{after}"


def write_or_print(page: Path | None, tables: Mapping[tuple[str, str], Iterable[str]]) -> None:
    """Write the lines of tables between their marks in a page, or print them as they come."""
    for (begin, end), lines in tables.items():
        if page is None:
            for line in lines:
                print(line, flush=True)
            print()
        else:
            page.write_text(replaced(page.read_text(encoding="utf-8"), begin, end, "\n".join(lines)), encoding="utf-8")
