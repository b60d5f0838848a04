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


def claims(lines: Sequence[Line], *, verbose: bool) -> RenderableType:
    """Return the claims: a block for each headline one, and a row for each other; verbosely blocks for all."""
    from rich.console import Group

    blocks = [one for one in lines if one.is_headline or verbose]
    rows = [one for one in lines if one not in blocks]
    parts: list[RenderableType] = [part for one in blocks for part in (_block(one), "")]
    if rows:
        parts += [Text(f"{len(rows)} further claims, with numbers on the page or by -v", style="bold"), _rows(rows), ""]
    return Group(*parts)


def _block(one: Line) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding

    head = Text.assemble((one.id, "bold"), ("  main claim" if one.is_main else "", "bold"), f"  {one.says}")
    is_same = one.stored is not None and one.stored == one.here
    found: list[RenderableType] = [_found("this run: " if one.stored else "", one.here)]
    if is_same:
        found.append(Text("stored full form: the same", style="dim"))
    elif one.stored:
        found.append(_found("stored full form: ", one.stored))
    found += [Text(f"paper: {one.here.paper}")] if one.here.paper else []
    if one.robustness:
        whose = "" if one.is_sampled else "stored: "
        held = sensitivity.share(one.robustness, "sampled configurations")
        found.append(Text.assemble((whose, "dim"), f"holds in {held}"))
    if one.flips:
        found.append(Text(f"flipped by: {'; '.join(one.flips)}", style="dim"))
    if one.alike:
        found.append(Text(f"also: {'; '.join(one.alike)}", style="dim"))
    return Group(head, *(Padding(text, (0, 0, 0, INDENT)) for text in found))


def _found(whose: str, cells: Cells) -> RenderableType:
    rest = cells.judged.removeprefix(str(cells.word))
    return Text.assemble((whose, "dim"), (str(cells.word), STYLES[cells.word]), f"{rest}: {cells.ours}")


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
