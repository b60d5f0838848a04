"""The space of a tuning: a discipline in tc's notation with ranges in place of values.

``pie target 5ms..40ms tupdate 5ms..50ms``; ``on|off`` is a choice, and ``auto|5..500`` one between off and a range. A
place in it is a share from 0 to 1 for each parameter, which its choices divide equally; a range over more than a decade
is divided by equal ratios.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.scenario.registry import Spec
from aqmlab.scenario.sweeps import Range
from aqmlab.vocabulary.errors import InputError, about

DECADE = 10.0


@dataclass(frozen=True)
class Dimension:
    """One parameter and its choices, each of which is a value or a range."""

    name: str
    levels: tuple[Range | str, ...]

    def at(self, share: float) -> str:
        """Return the value at a share from 0 to 1."""
        place = min(int(share * len(self.levels)), len(self.levels) - 1)
        level = self.levels[place]
        return level.at(share * len(self.levels) - place) if isinstance(level, Range) else level


@dataclass(frozen=True)
class Space:
    """A discipline with ranges: ``parts`` are its words, in which ``{}`` stands for each value."""

    text: str
    parts: str
    default: str
    dimensions: tuple[Dimension, ...]

    @classmethod
    def parse(cls, text: str) -> Space:
        """Read a space.

        Raises:
            InputError: if a range is wrong, there is none, or its ends are not allowed.

        >>> space = Space.parse("pie target 5ms..40ms ecn")
        >>> space.at([0.0]), space.default
        ('pie target 5ms ecn', 'pie ecn')

        """
        parts: list[str] = []
        default: list[str] = []
        dimensions: list[Dimension] = []
        for word in text.split():
            # A child's last word ends in brackets.
            value, brackets = re.fullmatch(r"(.*?)(\]*)", word).groups()  # type: ignore[union-attr]
            levels = _levels(value) if parts else None
            if levels is None:
                parts.append(word)
                default.append(word)
                continue
            name = default.pop() if len(default) > 1 else ""
            if not name:
                raise about("aqm", f"'{text}': no parameter is before '{word}'")
            again = sum(one.name.split(" ")[0] == name for one in dimensions)
            dimensions.append(Dimension(f"{name} {again + 1}" if again else name, levels))
            parts.append("{}" + brackets)
            if brackets:
                default[-1] += brackets
        if not dimensions:
            raise about("aqm", f"'{text}' has no range: write one in place of a value, as pie target 5ms..40ms")
        space = cls(text, " ".join(parts), " ".join(default), tuple(dimensions))
        for share in sorted({place / len(one.levels) for one in dimensions for place in range(len(one.levels) + 1)}):
            try:
                Spec.parse(space.at([share] * len(dimensions)))
            except ValueError as error:
                raise about("aqm", f"{error}") from None
        return space

    def at(self, shares: Sequence[float]) -> str:
        """Return the discipline at a place."""
        values = [one.at(share) for one, share in zip(self.dimensions, shares, strict=True)]
        return self.parts.format(*values)


def _levels(word: str) -> tuple[Range | str, ...] | None:
    choices = word.split("|")
    if "|" in word and (not all(choices) or len(set(choices)) < len(choices)):
        raise about("aqm", f"'{word}' is not a choice, as on|off")
    levels = tuple(_range(one) if ".." in one else one for one in choices)
    return None if levels == (word,) else levels


def _range(word: str) -> Range:
    try:
        found = Range.parse(word)
    except InputError as error:
        raise about("aqm", f"{error}") from None
    if found is None or found.count is not None:
        raise about("aqm", f"'{word}' is not a range with two ends of one unit, as 5ms..40ms")
    is_wide = found.low > 0 and found.high / found.low > DECADE
    return found.by_ratio() if is_wide else found
