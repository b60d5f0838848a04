"""What link and queue were like where a claim was judged, in one plain sentence.

It is computed from the metrics of the runs that the claim is judged by, and says what an operator would look at first:
how full the link was, how long the queue, and who dropped. The statistics stay in the verdict's reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.results import Result, measures
from aqmlab.vocabulary.names import listed

if TYPE_CHECKING:
    from aqmlab.papers.claims import Claim

# A link that is less used than this has time to empty its queue, and a queue shorter than this holds no packet mostly.
BUSY, SHORT_PACKETS = 0.8, 1.0
# Less use than this is shown as none.
SLIGHT = 0.005
# Losses below this share change nothing that is measured in per cent.
LITTLE = 1e-4
NEEDED = ("utilization", "queue_mean_packets", "loss_ratio", "drops_early", "drops_overflow", "marks")


@dataclass(frozen=True)
class Place:
    """The bottleneck under an AQM at a point of a sweep: means over the seeds."""

    aqm: str
    point: str
    utilization: float
    queue_packets: float
    loss: float
    early: float
    overflow: float
    marks: float

    @property
    def is_idle(self) -> bool:
        """Whether nothing queues, since the link is not full."""
        return self.utilization < BUSY and self.queue_packets < SHORT_PACKETS


def plain(claim: Claim, result_of: Callable[[str], Result | None]) -> str:
    """Return the sentence about a claim, given the result of a scenario; nothing if it is not about a bottleneck."""
    found: dict[tuple[str, str, str], Place] = {}
    for side in claim.operands:
        measure = claim.measure(side)
        result = result_of(measure.scenario)
        label = measures.label_of(result, claim.aqm(side)) if result else None
        if result is None or label is None or not set(NEEDED) <= set(result.runs.columns):
            continue
        points = measures.points_of(result, measure)
        for point in points if claim.each else points[:1]:
            name = (side.aqm or label).split()[0]
            place = _place(result, label, name, point)
            if place is not None:
                found[measure.scenario, label, str(point)] = place
    return in_words(list(found.values()))


def in_words(places: Sequence[Place]) -> str:
    """Return the sentence about some bottlenecks."""
    if not places:
        return ""
    use = _share([one.utilization for one in places])
    aqms = list(dict.fromkeys(one.aqm for one in places))
    # Where they use the link unequally something differs with an empty queue, too, such as the signals that senders
    # receive.
    alike = len(aqms) > 1 and len({_share([one.utilization]) for one in places}) == 1
    equal = f" and {'all' if len(aqms) > 2 else 'both'} are equal" if alike else ""
    if all(one.is_idle for one in places):
        return f"The link is {use} used, so nothing queues{equal}."
    idle = [one for one in places if one.is_idle]
    busy = list(dict.fromkeys(one.point for one in places if not one.is_idle))
    # Scenarios that sweep nothing have no name for where it fills.
    if idle and all(busy):
        return (
            f"Nothing queues in {len(idle)} of {len(places)} cases, where the link is "
            f"{_share([one.utilization for one in idle])} used; it fills at {_few(busy)}."
        )
    lost = [one for one in places if one.loss > LITTLE]
    queue, losses = _queue(places), _losses(places, lost) if lost else "nothing is dropped"
    # Packets that wait while the link is hardly used wait for something else, as a channel that is shared.
    if max(one.utilization for one in places) < SLIGHT:
        return f"{queue[0].upper()}{queue[1:]}; {losses}."
    return f"The link is {use} used and {queue}; {losses}."


def _losses(places: Sequence[Place], lost: Sequence[Place]) -> str:
    """What the bottleneck drops, of what comes, and whether the AQM decides it or the queue is full."""
    full = [one for one in lost if one.overflow > one.early]
    acting = [one for one in lost if one.overflow <= one.early]
    share = _share([one.loss for one in lost], 2)
    if len(full) == len(lost):
        where = "" if len(lost) == len(places) else f" under {_named(full, places)}"
        marking = " and none decides a drop" if not any(one.early or one.marks for one in places) else ""
        return f"the queue overflows{where} ({share} dropped){marking}"
    if len(acting) == len(lost):
        where = "" if len(lost) == len(places) else f" under {_named(acting, places)}"
        return f"the AQM drops {share}{where} before the queue is full"
    overflowing, dropping = _named(full, places), _named(acting, places)
    return (
        f"the bottleneck drops {share}: the queue overflows under {overflowing}, the AQM drops first under {dropping}"
    )


def _queue(places: Sequence[Place]) -> str:
    """The mean queue of each AQM, or of all if they are many."""
    aqms = list(dict.fromkeys(one.aqm for one in places))
    if len(aqms) > 3:
        return f"the mean queue is {_span([one.queue_packets for one in places])} packets"
    parts = [f"{_span([one.queue_packets for one in places if one.aqm == aqm])} under {aqm}" for aqm in aqms]
    return f"the mean queue in packets is {listed(parts)}"


def _named(some: Sequence[Place], places: Sequence[Place]) -> str:
    """The AQMs of some places; with the points of those that have others too."""
    elsewhere = {one.aqm for one in places if one not in some}
    return _few(list(dict.fromkeys(f"{one.aqm} at {one.point}" if one.aqm in elsewhere else one.aqm for one in some)))


def _few(names: Sequence[str]) -> str:
    return listed([*names[:2], f"{len(names) - 2} others"] if len(names) > 3 else names)


def _span(values: Sequence[float]) -> str:
    low, high = (f"{end:.{0 if end >= 10 else 1}f}" for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _share(values: Sequence[float], digits: int = 0) -> str:
    low, high = (f"{pick(values) * 100:.{digits}f}" for pick in (min, max))
    return f"{low if low == high else f'{low} to {high}'} %"


def _place(result: Result, label: str, name: str, point: int) -> Place | None:
    runs = result.runs.filter((pl.col("point") == point) & (pl.col("aqm") == label)).select(NEEDED).fill_null(0.0)
    if runs.is_empty():
        return None
    use, queue, loss, early, overflow, marks = (float(runs[column].to_numpy().mean()) for column in NEEDED)
    where = ", ".join(f"{key} {value}" for key, value in result.points[point].items()) if len(result.points) > 1 else ""
    return Place(name, where, use, queue, loss, early, overflow, marks)


__all__ = ["Place", "in_words", "plain"]
