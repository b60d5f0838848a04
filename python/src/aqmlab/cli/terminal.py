"""What commands write for people: a line, a file's name, and what rich lays out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import rich.text
from rich.console import Console, ConsoleOptions
from rich.containers import Lines
from rich.segment import Segment

from aqmlab.vocabulary.line_breaks import together
from aqmlab.vocabulary.printable import printable

WIDTH_ELSEWHERE = 130
LONGEST_LINE = 1000
# A noncharacter of Unicode, one cell wide, for a blank at which no line ends: rich breaks at no-break spaces, too.
_GLUE = "\ufdd0"


class Text(rich.text.Text):
    """A text of rich whose control characters are seen, and whose numbers stay with their units."""

    def __init__(self, text: str = "", *args: Any, **named: Any) -> None:
        super().__init__(printable(text), *args, **named)

    def append(self, text: rich.text.Text | str, style: Any = None) -> Text:
        """Add text at the end."""
        super().append(printable(text) if isinstance(text, str) else text, style)
        return self

    def wrap(self, console: Console, width: int, **named: Any) -> Lines:
        """Return its lines, none of which ends between a number and its unit."""
        glued = self.copy()
        glued.plain = together(self.plain, _GLUE)
        lines = glued.wrap(console, width, **named)
        for line in lines:
            line.plain = line.plain.replace(_GLUE, " ")
        return lines


class Terminal(Console):
    """A console on which texts have no commands: neither those of a terminal, nor those of rich in brackets."""

    def __init__(self, *, to_stderr: bool = False) -> None:
        stream = sys.stderr if to_stderr else sys.stdout
        # Files and pipes have no width, so theirs is wide enough for the table.
        width = None if stream.isatty() or "COLUMNS" in os.environ else WIDTH_ELSEWHERE
        super().__init__(file=stream, width=width, highlight=False, markup=False, emoji=False)

    def print(self, *objects: Any, **named: Any) -> None:
        """Print what rich lays out, without the blanks with which it fills lines."""
        super().print(*map(_Trimmed, objects), **named)

    def render_str(self, text: str, **named: Any) -> rich.text.Text:
        """Return what is printed for a plain text."""
        plain = super().render_str(printable(text), **named)
        return Text(plain.plain, plain.style, spans=plain.spans)


class _Trimmed:
    """Something to print whose lines end where their text ends."""

    def __init__(self, what: Any) -> None:
        self._what = what

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        what = console.render_str(self._what) if isinstance(self._what, str) else self._what
        for line in Segment.split_lines(console.render(what, options)):
            kept = list(line)
            while kept and not kept[-1].text.strip(" "):
                kept.pop()
            if kept:
                last = kept.pop()
                kept.append(Segment(last.text.rstrip(" "), last.style, last.control))
            yield from kept
            yield Segment.line()


def tell(what: object) -> None:
    """Tell something in one line on standard error."""
    line = " ".join(printable(str(what)).split())
    if len(line) > LONGEST_LINE:
        # Somebody gave a value of thousands of characters.
        line = f"{line[: LONGEST_LINE // 2]} ... {line[-LONGEST_LINE // 2 :]}"
    if line:
        print(f"aqmlab: {line}", file=sys.stderr)


def give(what: object) -> None:
    """Write a line on standard output: the name of a file as it is for a program, and printable for a reader."""
    # Not by typer, which would take what looks like a colour out of a name.
    print(printable(str(what)) if sys.stdout.isatty() else str(what), flush=True)
