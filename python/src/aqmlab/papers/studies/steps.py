"""How rate-based congestion controls answer one congestion, without a network."""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab import _native
from aqmlab.papers.studies.study import Row, Study
from aqmlab.results import Result
from aqmlab.vocabulary.errors import unknown
from aqmlab.vocabulary.units import parse_span

# Control: its link, its notification, and how often in a row. The authors' senders have no bound.
NOTIFICATIONS = {
    "pmqecn": (10e6, ("rates", 400.0, 200.0), 1),
    "pmqecn_as_run": (1e13, ("rates", 400.0, 300.0), 50),
    "dcqcn_as_run": (1e13, ("notified", 0.0, 0.0), 1),
    "p4qcn_as_run": (1e13, ("quantised", 20.0, 0.0), 26),
    "dcqcn": (40e9, ("notified", 0.0, 0.0), 1),
    "qcn": (10e9, ("quantised", 32.0, 0.0), 1),
}
CURVES = ("rate", "target")


def measure(of: str, at: Sequence[str]) -> list[Row]:
    """Return rate and target of a control in Mbit/s.

    It receives one notification of congestion, a third of the time after the start. Timers alone go on; no byte
    counter does.

    >>> from aqmlab.papers.studies import steps
    >>> [row[3] for row in steps.measure("dcqcn", ["0us", "50us", "60us", "160us"]) if row[0] == "rate"]
    [40000.0, 40000.0, 20000.0, 30000.0]

    Raises:
        InputError: for a control that there is not, or a time that is none.

    """
    if of not in NOTIFICATIONS:
        raise unknown("rate control", of, NOTIFICATIONS)
    line, notification, times = NOTIFICATIONS[of]
    moments = [parse_span(text) for text in at]
    when = max(moments) // 3
    events: list[tuple[int, str, float, float]] = []
    marks: list[int] = []
    for moment in sorted(moments):
        if moment > when and not any(kind == notification[0] for _, kind, _, _ in events):
            events += [(when, *notification)] * times
        marks.append(len(events))
        events.append((moment, "wait", 0.0, 0.0))
    sender = _native.RateSender(of, line, 1)
    steps = [sender.after(*event) for event in events]
    rows: list[Row] = []
    for curve, place in (("rate", 0), ("target", 1)):
        for moment, text, mark in zip(sorted(moments), at, marks, strict=True):
            value = steps[mark][place] / 1e6
            rows.append((curve, moment / 1e9, text, value, value, value))
    return rows


def _rows(result: Result | None, aqms: Sequence[str], labels: Sequence[str], of: str, at: Sequence[str]) -> list[Row]:
    del result, aqms, labels
    return measure(of, at)


STUDY = Study("steps", "Time (s)", _rows, lambda of: list(CURVES), is_numeric=True, is_beyond=False)
