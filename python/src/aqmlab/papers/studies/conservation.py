"""What the capacity of a full link leaves for the gains and losses that SQM-LRU's paper prints."""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab.papers.studies.study import Row, Study
from aqmlab.results import Result
from aqmlab.vocabulary.errors import InputError, unknown

# Section 4.2: responsive flows get 2 to 3 times what they had, CBR loses about 20 %.
GAINS = {"responsive x 2": 2.0, "responsive x 3": 3.0}
PRINTED = 0.2
AS_PRINTED = "as printed: 20 %"


def loss(share: float, gain: float) -> float:
    """Return the share that CBR loses of what it had.

    Responsive flows go from ``share`` of a full link to ``gain`` times as much. What one side gains
    the other loses: (gain - 1) share = loss (1 - share).

    >>> round(loss(1 / 6, 2.0), 3), round(loss(1 / 11, 3.0), 3)
    (0.2, 0.2)

    """
    return min((gain - 1.0) * share / (1.0 - share), 1.0)


def share_for(printed: float, gain: float) -> float:
    """Return the share of the link before at which a gain costs CBR so much.

    >>> round(share_for(0.2, 2.0), 4), round(share_for(0.2, 3.0), 4)
    (0.1667, 0.0909)

    """
    return printed / (gain - 1.0 + printed)


def _rows(result: Result | None, aqms: Sequence[str], labels: Sequence[str], of: str, at: Sequence[str]) -> list[Row]:
    del result, aqms, labels
    if of != "loss":
        raise unknown("side of the conservation of capacity", of, ["loss"])
    rows = []
    for text in at:
        try:
            share = float(text)
        except ValueError:
            raise InputError(f"at: '{text}' is not a share of the link") from None
        values = {name: loss(share, gain) for name, gain in GAINS.items()} | {AS_PRINTED: PRINTED}
        rows += [(name, share, text, value, value, value) for name, value in values.items()]
    return sorted(rows, key=lambda row: row[0])


STUDY = Study("conservation", "Responsive flows' share of the full link before", _rows, lambda _: [*GAINS, AS_PRINTED])
