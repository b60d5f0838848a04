"""The claims of a paper in the terminal: this run's numbers first, what is stored beside them, and what flips them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aqmlab.cli.terminal import Text
from aqmlab.papers import sensitivity
from aqmlab.papers.findings import Word

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aqmlab.papers.summary import Cells, Line

STYLES = {
    Word.REPRODUCED: "green",
    Word.OTHER_SIZE: "yellow",
    Word.NO_SIZE: "yellow",
    Word.UNTESTED: "yellow",
    Word.FAILS: "magenta",
    Word.REVERSED: "magenta",
    Word.INCONCLUSIVE: "cyan",
    Word.NOT_REPRODUCED: "red",
    Word.NOT_TESTABLE: "dim",
}
INDENT = 4
# Stands behind what this run did not find itself.
STORED = ", stored"


def claims(lines: Sequence[Line], *, verbose: bool) -> RenderableType:
    """Return the claims: some lines for each headline one and a row for each other; verbosely all that is known."""
    from rich.console import Group

    blocks = [one for one in lines if one.is_headline or verbose]
    rows = [one for one in lines if one not in blocks]
    make = _whole if verbose else _short
    parts: list[RenderableType] = [part for one in blocks for part in (_block(one, make(one)), "")]
    if rows:
        parts += [Text(f"{len(rows)} further claims, with numbers on the page or by -v", style="bold"), _rows(rows), ""]
    return Group(*parts)


def _block(one: Line, found: Sequence[RenderableType]) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding

    head = Text.assemble((one.id, "bold"), ("  main claim" if one.is_main else "", "bold"), f"  {one.says}")
    return Group(head, *(Padding(text, (0, 0, 0, INDENT)) for text in found))


def _short(one: Line) -> list[RenderableType]:
    """Return this run's finding beside the paper's numbers; in a line what is stored; and what flips it."""
    stored = f"stored: {'the same' if one.is_as_stored else one.stored.word}" if one.stored else ""
    share = _share(one) if one.is_sampled else _share(one).removesuffix(STORED)
    beside = "; ".join(text for text in ((share, stored) if one.is_sampled else (stored, share)) if text)
    flips = f"flipped by: {'; '.join(one.flips)}" if one.flips else ""
    found = _found("", one.here)
    found.append(f"; paper: {one.here.paper}" if one.here.paper else "")
    return [found, *(Text(text, style="dim") for text in (_no_size(one), beside, flips) if text)]


def _no_size(one: Line) -> str:
    return f"size not comparable: {one.no_size}" if one.no_size else ""


def _whole(one: Line) -> list[RenderableType]:
    """Return all that is known of a claim, each in lines of its own."""
    found: list[RenderableType] = [_found("this run: " if one.stored else "", one.here)]
    if one.stored == one.here:
        found.append(Text("stored full form: the same", style="dim"))
    elif one.stored:
        found.append(_found("stored full form: ", one.stored))
    others = (
        f"paper: {one.here.paper}" if one.here.paper else "",
        _no_size(one),
        _share(one),
        f"flipped by: {'; '.join(one.flips)}" if one.flips else "",
        f"also: {'; '.join(one.alike)}" if one.alike else "",
    )
    return [*found, *(Text(text) for text in others if text)]


def _share(one: Line) -> str:
    """Say in how many configurations a claim holds, if any were sampled for it."""
    if not one.robustness:
        return ""
    held = f"holds in {sensitivity.share(one.robustness, 'sampled configurations')}"
    return held if one.is_sampled else f"{held}{STORED}"


def _found(whose: str, cells: Cells) -> Text:
    rest = cells.judged.removeprefix(str(cells.word))
    found = Text().append(whose, "dim").append(str(cells.word), STYLES[cells.word])
    return found.append(f"{rest}: {cells.ours}")


def _rows(lines: Sequence[Line]) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0), expand=True)
    table.add_column("Claim", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Holds in", no_wrap=True)
    table.add_column("The paper's claim", no_wrap=True, overflow="ellipsis", ratio=1)
    for one in lines:
        held = one.share.partition(" (")[0] if one.robustness else ""
        table.add_row(one.id, Text(str(one.here.word), style=STYLES[one.here.word]), held, Text(one.says))
    return table


__all__ = ["STYLES", "claims"]
