"""The texts of ``--aqm``, of ``aqm =`` and of Python: lists of disciplines, in aqmlab's notation or pasted from tc."""

from __future__ import annotations

from dataclasses import dataclass

from aqmlab._native import is_tc, translate_tc
from aqmlab.vocabulary.names import engine_of, name_of


@dataclass(frozen=True)
class Written:
    """One discipline as written: its label, its text in aqmlab's notation, and the engine that it names.

    ``notes`` say what of tc's text has no effect here, or belongs to the link.
    """

    label: str
    text: str
    engine: str
    notes: tuple[str, ...] = ()


def split_texts(text: str) -> list[str]:
    """Split a list of disciplines at commas, except those in brackets and between numbers (`weight 3,1`).

    Quotes around one of them are dropped: ``fifo,"pie target 5ms"``. Blanks and newlines become one blank.

    >>> split_texts("pie, drr child [codel] child [fifo]")
    ['pie', 'drr child [codel] child [fifo]']

    """
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        # tc prints counters in parentheses, and its JSON has braces.
        depth += (character in "[({") - (character in "])}")
        if character == "," and depth == 0 and not text[at + 1 : at + 2].isdigit():
            parts.append(text[start:at])
            start = at + 1
    return [" ".join(part.strip().strip("\"'").split()) for part in (*parts, text[start:])]


def split_specs(text: str) -> list[str]:
    """Split a list of disciplines, each in aqmlab's notation: tc's text is translated, unless a sweep fills it in.

    Raises:
        InputError: naming the part of tc's text that has no counterpart, and what comes closest.

    >>> split_specs("fifo, tc qdisc add dev eth0 root fq_codel limit 1000")
    ['fifo', 'fq_codel:linux limit 1000p']

    """
    return [part if "$" in part else _joined(part) for part in split_texts(text)]


def read(part: str, label: str) -> Written:
    """Return one of the texts of a list; ``label`` is what it is called, without the values of a sweep.

    Raises:
        InputError: naming the part of tc's text that has no counterpart, and what comes closest.

    >>> read("Home=tc qdisc add dev eth0 root cake bandwidth 9mbit on linux", "")
    Written(label='Home on linux', text='cake:linux bandwidth 9mbit', engine='linux', notes=())

    """
    name, unnamed = name_of(part)
    text, engine = engine_of(unnamed)
    notes: tuple[str, ...] = ()
    if is_tc(text):
        text, found = translate_tc(text)
        notes = tuple(found)
        # A swept value stands in the parameters, which a label leaves out.
        short = text if label == part else text.split()[0]
        label = f"{short} on {engine}" if engine else short
    if name:
        label = f"{name} on {engine}" if engine else name
    return Written(label, text, engine, notes)


def _joined(part: str) -> str:
    """One text with its name and engine, in aqmlab's notation."""
    name, unnamed = name_of(part)
    text, engine = engine_of(unnamed)
    if not is_tc(text):
        return part
    translated, _ = translate_tc(text)
    return f"{f'{name}=' if name else ''}{translated}{f' on {engine}' if engine else ''}"
