"""The style of each discipline: one colour, one dash and one marker, the same in every figure.

Ten colours times five dashes are fifty styles. Those of disciplines are given by the place of their name in `ORDER`;
any other name has one by its checksum. Of the first ten, those that share a dash differ most in grey. Markers and
hatches take turns apart from dashes, so that lines with markers also differ without colour.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from aqmlab.vocabulary.names import plain

# Contrast with white is 3:1 or more. Any two differ by 13 or more (CIEDE2000), also without red, green or blue cones.
COLOURS = (
    "#24292f", "#0065f0", "#de7a22", "#00885e", "#b25090",
    "#009eda", "#9a8f90", "#7e6400", "#763228", "#6c2296",
)  # fmt: skip
# Lengths of strokes and gaps, in line widths.
DASHES: tuple[tuple[float, ...], ...] = ((), (7, 1.6), (5, 1.5, 1.2, 1.5), (2.8, 1.4), (1.2, 1.2))
# Twelve: with the dashes they make sixty pairs, and eleven further, where a colour comes again, is another one.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "d")
# Of lines alone: dots and circles are a hundred kilobytes each in an SVG.
HATCHES = ("", "///", "\\\\\\", "xxx", "+++", "---", "|||")
# The most used first, the strategies of papers last. A new one needs no place: appending one keeps all others.
ORDER = (
    "fifo", "codel", "pie", "red", "fq-codel", "cake", "pi2", "ared", "s-pie", "dualpi2",
    "fq-pie", "cobalt", "sqm-lru", "daqm", "dctcp-step", "tcn", "mq-ecn", "lru-red", "l-lru", "sfq",
    "pfifo-fast", "blue", "rem", "pi", "choke", "sfb", "afd", "drr", "wfq", "qfq",
    "feng-ared", "nlred", "wred", "ecn-ramp", "docsis-pie", "fq-cobalt", "pifo", "sp-pifo", "aifo", "sp",
    "rr", "wrr", "pmqecn", "dcqcn", "p4qcn",
)  # fmt: skip


@dataclass(frozen=True)
class LabelStyle:
    """How the curves, points and bars of a label are drawn."""

    colour: str
    dash: tuple[float, ...]
    marker: str
    hatch: str


def _style(place: int) -> LabelStyle:
    turn = place + place // len(COLOURS)
    return LabelStyle(
        COLOURS[place % len(COLOURS)],
        DASHES[turn % len(DASHES)],
        MARKERS[turn % len(MARKERS)],
        HATCHES[turn % len(HATCHES)],
    )


ALL = tuple(_style(place) for place in range(len(COLOURS) * len(DASHES)))


def label_styles(labels: Sequence[str]) -> dict[str, LabelStyle]:
    """Return the style of each label.

    The first label of a discipline has the discipline's style. Others of it have the same colour with another dash, and
    from the fourth on whatever style is free.

    >>> label_styles(["codel", "pie target 5ms", "pie target 20ms"])["pie target 5ms"] == label_styles(["pie"])["pie"]
    True

    """
    found: dict[str, LabelStyle] = {}
    # Disciplines come before variants, so that no variant takes the style of another discipline.
    ranked = sorted(dict.fromkeys(labels), key=lambda label: (_rank(label, labels), _discipline(label) not in ORDER))
    for label in ranked:
        free = [style for style in _wanted(_discipline(label)) if style not in found.values()]
        if _discipline(label) not in ORDER and not _rank(label, labels):
            # What has no place takes a colour that no other has.
            colours = {style.colour for style in found.values()}
            free.sort(key=lambda style: style.colour in colours)
        found[label] = free[0] if free else ALL[len(found) % len(ALL)]
    return {label: found[label] for label in labels}


def part_styles(labels: Sequence[str]) -> dict[str, LabelStyle]:
    """Return the styles of the parts of bars, by their places: what they are called decides nothing.

    >>> part_styles(["AQM", "air"]) == part_styles(["phone", "tablet"])
    False
    >>> list(part_styles(["AQM", "air"]).values()) == list(part_styles(["phone", "tablet"]).values())
    True

    """
    # Black is left to the first of disciplines.
    return {label: ALL[(place + 1) % len(ALL)] for place, label in enumerate(labels)}


def _rank(label: str, labels: Sequence[str]) -> int:
    """Return how many labels of the same discipline come before."""
    return sum(_discipline(other) == _discipline(label) for other in labels[: labels.index(label)])


def _discipline(label: str) -> str:
    return plain(re.split(r"[\s:(\[]", label, maxsplit=1)[0])


def _wanted(discipline: str) -> Iterator[LabelStyle]:
    """Return the styles that a label of a discipline may have, the best first."""
    place = ORDER.index(discipline) if discipline in ORDER else zlib.crc32(discipline.encode()) % len(ALL)
    own = ALL[place]
    same = [style for style in ALL if style.colour == own.colour and style != own]
    return chain((own,), same[:2], ALL)
