"""How a difference is marked: it is beyond chance, its values are equivalent, or the runs do not decide.

A difference without significance is no evidence that two are alike: they are called so only where the whole interval
is within a margin (equivalence testing). `aqmlab.stats.statistics.Difference` defines both.
"""

from __future__ import annotations

from collections.abc import Collection

from aqmlab.stats.statistics import MARGIN, Difference

DIFFERS, SAME, UNDECIDED = "*", "≈", "?"
# What each of them means, after the name of what something is compared with.
MEANINGS = {
    DIFFERS: "differs{from_first} beyond chance",
    SAME: f"the same within {MARGIN:.0%}".replace("%", " %"),
    UNDECIDED: "undecided",
}


def mark_of(difference: Difference | None) -> str:
    """Return the mark of a value by its difference; none where nothing was tested."""
    if difference is None or difference.p_value is None:
        return ""
    if difference.is_distinguishable:
        return DIFFERS
    return SAME if difference.is_equivalent else UNDECIDED


def legend(marks: Collection[str], first: str = "") -> str:
    """Return what the marks mean that are in use.

    >>> legend("*?", "fifo"), legend("≈")
    ('* differs from fifo beyond chance, ? undecided', '≈ the same within 5 %')

    """
    from_first = f" from {first}" if first else ""
    return ", ".join(f"{one} {text.format(from_first=from_first)}" for one, text in MEANINGS.items() if one in marks)


__all__ = ["DIFFERS", "SAME", "UNDECIDED", "legend", "mark_of"]
