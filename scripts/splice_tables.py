"""Text that is computed, between two marks in a page that is written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


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
