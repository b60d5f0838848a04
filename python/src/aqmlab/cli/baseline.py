"""What changed since a baseline, for a terminal: a line for each discipline and metric that did."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table

from aqmlab.cli.terminal import Text
from aqmlab.results import Result
from aqmlab.results.baseline import FILE, by_discipline
from aqmlab.results.marks import DIFFERS, SAME, UNDECIDED, legend

# More settings of a sweep are in the file.
MOST_LINES = 24


def shown(result: Result) -> RenderableType:
    """Return what changed since the baseline of a result."""
    assert result.since is not None
    earlier = result.since["baseline"]
    head = Text(f"Since {earlier['folder']} (aqmlab {earlier['aqmlab']}, {earlier['created'][:10]}):", style="bold")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column()
    lines = 0
    for name, words, is_changed in by_discipline(result):
        for number, one in enumerate(words):
            grid.add_row(Text("" if number else name), Text(one, style="" if is_changed else "dim"))
        lines += len(words)
        if lines > MOST_LINES:
            return Group(head, grid, Text(f"everything is in {FILE} of the new folder", style="dim"), "")
    found = result.since["changes"]
    clear = sum(one["distinguishable"] for one in found)
    note = f"{legend(DIFFERS + SAME + UNDECIDED)} ({clear} of {len(found)} differ); written to {FILE}."
    return Group(head, grid, Text(note, style="dim"), "")


__all__ = ["shown"]
