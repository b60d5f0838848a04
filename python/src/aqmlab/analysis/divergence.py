"""Where two traces of the same flows part: the first event that differs, and what was around it.

What a flow sends, and what comes back to it, are two sequences. The k-th of each is the same in both traces if it has
the same bytes, met the same fate and came at the same time within the tolerance; times count from the flow's first
data. So two events that merely change places within the tolerance are no difference.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from aqmlab.engine import FATES, Column, Trace


@dataclass(frozen=True)
class Event:
    """Data that a flow sends, or an acknowledgment that comes back; nanoseconds since its first data, and bytes.

    ``edge`` is where the highest block of SACK ends (0: none), ``echo`` whether a mark is echoed, ``again`` whether the
    data had been sent before, ``fate`` what became of it (empty where nobody knows).
    """

    time_ns: int
    is_ack: bool
    number: int
    length: int
    edge: int
    echo: bool
    again: bool
    fate: str

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        return "ack" if self.is_ack else "again" if self.again else "data"

    def words(self, segment: int) -> str:
        """Write it with whole segments as numbers, where that is possible.

        >>> Event(0, False, 2896, 1448, 0, False, True, "dropped").words(1448)
        'again 2 dropped'
        >>> Event(0, True, 2896, 0, 7240, True, False, "").words(1448)
        'ack 2 sack to 5 echo'

        """
        found = [self.kind, in_segments(self.number, segment)]
        found += [f"sack to {in_segments(self.edge, segment)}"] if self.edge else []
        found += ["echo"] if self.echo else []
        found += [self.fate] if self.fate in ("dropped", "marked") else []
        return " ".join(found)


@dataclass(frozen=True)
class State:
    """Windows (segments) and timers (milliseconds) of a sender; ``ssthresh`` is ``None`` while there is none."""

    time_ns: int
    cwnd: float
    ssthresh: float | None
    srtt_ms: float
    rto_ms: float
    phase: str


@dataclass(frozen=True)
class Flow:
    """One flow of a trace: its events in order of time, and its states."""

    events: tuple[Event, ...]
    states: tuple[State, ...]

    def before(self, time_ns: int) -> State | None:
        """Return the last state that was seen until then."""
        place = bisect_right(self.states, time_ns, key=lambda one: one.time_ns)
        return self.states[place - 1] if place else None


@dataclass(frozen=True)
class Divergence:
    """The first difference of a flow: when, why, and the place of the event in both traces."""

    flow: int
    time_ns: int
    why: str
    places: tuple[int, int]


def flows(trace: Trace, segments: Mapping[int, int]) -> dict[int, Flow]:
    """Return the flows of a trace by their numbers; ``segments`` has the payload of a full segment of each."""
    found = {}
    for flow, segment in segments.items():
        rows = [row for row in _rows(trace.events, flow) if row["is_ack"] or row["length"]]
        first_ns = next((row["time_ns"] for row in rows if not row["is_ack"]), 0)
        states = tuple(_state(row, first_ns, segment, trace.phases) for row in _rows(trace.states, flow))
        found[flow] = Flow(tuple(_events(rows, first_ns)), states)
    return found


def first(
    flow: int, ours: Flow, theirs: Flow, names: tuple[str, str], segment: int, tolerance_ns: int, end_ns: int
) -> Divergence | None:
    """Return the first difference of a flow until ``end_ns`` after its first data, or nothing."""
    found = []
    for is_ack in (False, True):
        sequences = [[(n, one) for n, one in enumerate(side.events) if one.is_ack == is_ack] for side in (ours, theirs)]
        for one, other in zip_longest(*sequences):
            why = _difference(one and one[1], other and other[1], names, segment, tolerance_ns, end_ns)
            if why:
                time_ns = min(place[1].time_ns for place in (one, other) if place)
                sides = ((one, ours), (other, theirs))
                places = [place[0] if place else _place(side, time_ns) for place, side in sides]
                found.append(Divergence(flow, time_ns, why, (places[0], places[1])))
                break
    return min(found, key=lambda one: one.time_ns, default=None)


def in_segments(number: int, segment: int) -> str:
    """Write bytes as segments.

    >>> in_segments(2896, 1448), in_segments(3000, 1448)
    ('2', '2.07')

    """
    return f"{number / segment:.2f}".rstrip("0").rstrip(".")


def _difference(
    one: Event | None, other: Event | None, names: tuple[str, str], segment: int, tolerance_ns: int, end_ns: int
) -> str:
    """Return in words how two events differ that should be the same; empty if they do not."""
    if one is None or other is None:
        left = one or other
        assert left is not None
        has, lacks = names if one else names[::-1]
        # What comes at the very end may come after it in the other.
        is_late = left.time_ns + tolerance_ns >= end_ns
        return "" if is_late else f"{has} has {left.words(segment)}, and {lacks} nothing more of the kind"
    what = [one.words(segment), other.words(segment)]
    unknown = "" in (one.fate, other.fate)
    same = (one.number, one.length, one.edge, one.echo) == (other.number, other.length, other.edge, other.echo)
    if not same or (one.fate != other.fate and not unknown):
        return f"{names[0]} has {_in_words(one, what[0])}, and {names[1]} {_in_words(other, what[1])}"
    late_ns = other.time_ns - one.time_ns
    if abs(late_ns) > tolerance_ns:
        order = names[::-1] if late_ns > 0 else names
        return f"{what[0]}: {order[0]} has it {abs(late_ns) / 1e6:.1f} ms after {order[1]}"
    return ""


def _in_words(event: Event, words: str) -> str:
    return f"{words} delivered" if event.fate == "delivered" else words


def _place(side: Flow, time_ns: int) -> int:
    """Return the place of the first event from a time on."""
    return next((n for n, one in enumerate(side.events) if one.time_ns >= time_ns), len(side.events))


def _rows(table: Mapping[str, Column], flow: int) -> Iterator[dict[str, int]]:
    names = list(table)
    columns = [np.asarray(table[name]) for name in names]
    mine = columns[names.index("flow")] == flow
    for values in zip(*(column[mine].tolist() for column in columns), strict=True):
        yield dict(zip(names, values, strict=True))


def _events(rows: Sequence[dict[str, int]], first_ns: int) -> Iterator[Event]:
    highest = 0
    for row in rows:
        is_ack, end = bool(row["is_ack"]), row["number"] + row["length"]
        yield Event(
            row["time_ns"] - first_ns,
            is_ack,
            row["number"],
            row["length"],
            row["edge"] if row["edge"] > row["number"] else 0,
            bool(row["echo"]),
            not is_ack and row["number"] < highest,
            FATES[row["fate"]],
        )
        if not is_ack:
            highest = max(highest, end)


# A window of this many segments is none.
ENDLESS = 1_000_000.0


def _state(row: Mapping[str, int], first_ns: int, segment: int, phases: Sequence[str]) -> State:
    ssthresh = row["ssthresh_bytes"] / segment
    return State(
        row["time_ns"] - first_ns,
        row["cwnd_bytes"] / segment,
        ssthresh if ssthresh < ENDLESS else None,
        row["srtt_ns"] / 1e6,
        row["rto_ns"] / 1e6,
        phases[row["phase"]],
    )
