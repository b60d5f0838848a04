"""The JSON of iperf3 (`--json`, `--json-stream`): `start`, `intervals` and `end`; bit/s and microseconds.

The direction is that of the data between client and server, whoever of both wrote the file. What a sender of UDP sent
is no goodput: its receiver's report decides, at the end or in `server_output_json` (`--get-server-output`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab.measured.builder import UNNAMED, FormatError, Measured, Measurement, Reals, number, part_of, waited
from aqmlab.measured.lenient_json import CUT, REVERSE
from aqmlab.vocabulary.printable import printable
from aqmlab.vocabulary.scopes import of_group

NOTE = "the queue delay of a measurement is the sender's round trip less its shortest"


@dataclass(frozen=True)
class _Flow:
    """One direction, as one end of it reports its intervals.

    Attributes:
        sent: whether that end sends.
        times_s, seconds, mbit: end, length and rate of each interval.
        lost, packets: counts of UDP in all intervals; NaN where they are not reported.
    """

    sent: bool
    times_s: Reals
    seconds: Reals
    mbit: Reals
    lost: float
    packets: float

    def mean(self) -> float:
        """Return the mean rate by the length of the intervals: the last can be very short."""
        known = np.isfinite(self.mbit) & np.isfinite(self.seconds)
        whole = float(self.seconds[known].sum())
        return float((self.mbit[known] * self.seconds[known]).sum()) / whole if whole > 0.0 else math.nan


class _View:
    """What one end reports."""

    def __init__(self, parsed: Mapping[str, Any], what: str) -> None:
        start = part_of(parsed, "start", dict, what)
        self.test = part_of(start, "test_start", dict, "'start'")
        self.is_server = "accepted_connection" in start
        self.end = part_of(parsed, "end", dict, what)
        # `-O`: what was left out of the sums at the end.
        self.intervals = [
            one
            for one in part_of(parsed, "intervals", list, what)
            if part_of(one, "sum", dict, "an interval").get("omitted") is not True
        ]

    def has(self, key: str) -> bool:
        return any(isinstance(one, dict) and key in one for one in self.intervals)

    def flow(self, suffix: str, direction: str) -> _Flow:
        sums = [part_of(one, f"sum{suffix}", dict, "an interval") for one in self.intervals]

        def column(key: str) -> Reals:
            return np.array([number(one.get(key), f"'{key}' of an interval") for one in sums], np.float64)

        flags = {one["sender"] for one in sums if isinstance(one.get("sender"), bool)}
        sent = flags.pop() if len(flags) == 1 else (direction == "download") == self.is_server
        times, seconds = column("end"), column("seconds")
        seconds = np.where(np.isfinite(seconds), seconds, 1.0)
        lost, packets = (float(column(key).sum()) for key in ("lost_packets", "packets"))
        return _Flow(sent, times, seconds, column("bits_per_second") / 1e6, lost, packets)

    def rtts_ms(self) -> list[list[float]]:
        """Return the round-trip times of each interval; receivers report zero, or nothing."""
        return [
            [
                rtt / 1e3
                for stream in part_of(one, "streams", list, "an interval")
                if isinstance(stream, dict) and (rtt := number(stream.get("rtt"), "'rtt' of a stream")) > 0.0
            ]
            for one in self.intervals
        ]

    def at_end(self, key: str) -> dict[str, Any]:
        found: dict[str, Any] = part_of(self.end, key, dict, "'end'")
        return found


def measurement(parsed: dict[str, Any]) -> Measurement:
    """Return what a file holds.

    Raises:
        FormatError: saying what is wrong.

    """
    error = " ".join(printable(parsed["error"][:200]).split()) if isinstance(parsed.get("error"), str) else ""
    own = _View(parsed, "the file")
    if not own.intervals:
        raise FormatError(f"is of a test of iperf3 that failed: {error}" if error else "has no intervals")
    views = [own]
    if parsed.get("server_output_json") is not None:
        views.append(_View(part_of(parsed, "server_output_json", dict, "the file"), "'server_output_json'"))
    both = own.has(f"sum{REVERSE}")
    reverse = number(own.test.get("reverse"), "'reverse'") == 1.0
    names = {"": "upload", REVERSE: "download"} if both else {"": "download" if reverse else "upload"}
    ended = not error and CUT not in parsed
    parts = [_direction(views, suffix, name, ended) for suffix, name in names.items()]

    times, series = _series({part.name: (part.times_s, part.mbit) for part in parts})
    metrics = {of_group(part.name).metric("goodput_mbit"): part.goodput for part in parts}
    metrics["goodput_mbit"] = sum(part.goodput for part in parts)
    packets = sum(part.packets for part in parts if math.isfinite(part.packets))
    if packets > 0.0:
        metrics["loss_ratio"] = sum(part.lost for part in parts if math.isfinite(part.packets)) / packets
    warnings = [part.note for part in parts if part.note]
    sender = next((view for view in views if any(view.rtts_ms())), None)
    every: list[float] = []
    if sender is not None:
        rtts = sender.rtts_ms()
        every = [one for interval in rtts for one in interval]
        trips = np.array([sum(one) / len(one) if one else math.nan for one in rtts])
        times, series = _beside(times, series, sender.flow("", names[""]).times_s, "qdelay_ms", waited(trips))
        warnings.insert(0, NOTE)
    if error:
        warnings.append(f"the test ended early: {error}")
    elif CUT in parsed:
        warnings.append("the stream of events ends before the test did")
    finite = times[np.isfinite(times)]
    one = Measured(UNNAMED, times, series, [np.array(every)] if every else (), metrics)
    return Measurement([one], _traffic(own, names), float(finite.max(initial=0.0)), tuple(warnings))


@dataclass(frozen=True)
class _Received:
    """What arrived of one direction."""

    name: str
    goodput: float
    times_s: Reals
    mbit: Reals
    lost: float
    packets: float
    note: str = ""


def _direction(views: Sequence[_View], suffix: str, name: str, ended: bool) -> _Received:
    flows = [view.flow(suffix, name) for view in views]
    own, flow = views[0], flows[0]
    protocol = own.test.get("protocol")
    udp = protocol == "UDP" if isinstance(protocol, str) else math.isfinite(flow.packets)
    lost, packets = _loss(own, flow, suffix) if udp else (math.nan, math.nan)
    # A server has no report of what the client received; nobody has one of an interrupted test.
    reported = ended and not (own.is_server and flow.sent)
    received = number(own.at_end(f"sum_received{suffix}").get("bits_per_second"), "'bits_per_second' of the end") / 1e6
    goodput = received if reported and math.isfinite(received) else math.nan
    at_receiver = next((one for one in flows if not one.sent and len(one.mbit)), None)
    if not udp:
        if math.isfinite(goodput) or at_receiver is not None:
            goodput = goodput if math.isfinite(goodput) else at_receiver.mean() if at_receiver else math.nan
            return _Received(name, goodput, flow.times_s, flow.mbit, lost, packets)
        note = f"the {name} is what the sender sent: the receiver's report is missing"
        return _Received(name, flow.mean(), flow.times_s, flow.mbit, lost, packets, note)
    if at_receiver is not None:
        goodput = goodput if math.isfinite(goodput) else at_receiver.mean()
        if not math.isfinite(packets):
            lost, packets = at_receiver.lost, at_receiver.packets
        return _Received(name, goodput, at_receiver.times_s, at_receiver.mbit, lost, packets)
    total = own.at_end(f"sum{suffix}")
    if not math.isfinite(goodput) and reported and packets > 0.0:
        # Before version 3.11 there is one sum: what was sent, and what of it was lost.
        sent = number(total.get("bits_per_second"), "'bits_per_second' of the end") / 1e6
        goodput = (sent if math.isfinite(sent) else flow.mean()) * (1.0 - lost / packets)
    if not math.isfinite(goodput):
        raise FormatError(
            f"is of UDP without the receiver's report on the {name} (needed: 'sum_received' or 'sum' with "
            "'lost_packets' and 'packets' in 'end', or 'server_output_json'): what was sent is no goodput"
        )
    share = goodput / flow.mean() if flow.mean() > 0.0 else 0.0
    note = f"goodput of the {name} over time is what was sent, times the share of the whole that arrived"
    return _Received(name, goodput, flow.times_s, flow.mbit * share, lost, packets, note)


def _loss(view: _View, flow: _Flow, suffix: str) -> tuple[float, float]:
    """Packets lost and sent: `lost_percent` is rounded, and no number where nothing was sent."""
    for key in (f"sum_received{suffix}", f"sum{suffix}"):
        report = view.at_end(key)
        lost, packets = (number(report.get(one), f"'{one}' of '{key}'") for one in ("lost_packets", "packets"))
        if not (math.isfinite(lost) and packets > 0.0):
            percent = number(report.get("lost_percent"), f"'lost_percent' of '{key}'")
            lost, packets = percent, 100.0
        if math.isfinite(lost):
            if lost > packets:
                raise FormatError(f"has {lost:g} of {packets:g} packets lost in '{key}': allowed are at most all")
            # A duplicate, or a packet that came late, is taken off what is lost.
            return max(lost, 0.0), packets
    return (max(flow.lost, 0.0), flow.packets) if not flow.sent else (math.nan, math.nan)


def _series(directions: Mapping[str, tuple[Reals, Reals]]) -> tuple[Reals, dict[str, Reals]]:
    (first, (times, _)), *_others = directions.items()
    total = np.zeros(len(times))
    series: dict[str, Reals] = {}
    axis = times
    for name, (at, mbit) in directions.items():
        # The other direction's intervals end at about the same times.
        same = len(at) == len(times)
        total = total + (mbit if name == first or same else np.interp(times, at, mbit, math.nan, math.nan))
        axis, series = _beside(axis, series, times if same else at, of_group(name).metric("goodput_mbit"), mbit)
    return _beside(axis, series, times, "goodput_mbit", total)


def _beside(
    axis: Reals, series: Mapping[str, Reals], times: Reals, name: str, values: Reals
) -> tuple[Reals, dict[str, Reals]]:
    """Add a column with times of its own: at the others it has nothing."""
    if np.array_equal(axis, times, equal_nan=True):
        return axis, {**series, name: values}
    both = np.union1d(axis[np.isfinite(axis)], times[np.isfinite(times)])
    columns = {**{one: (axis, old) for one, old in series.items()}, name: (times, values)}
    return both, {one: _placed(both, at, column) for one, (at, column) in columns.items()}


def _placed(axis: Reals, times: Reals, values: Reals) -> Reals:
    placed = np.full(len(axis), math.nan)
    known = np.isfinite(times)
    placed[np.searchsorted(axis, times[known])] = values[known]
    return placed


def _traffic(view: _View, names: Mapping[str, str]) -> str:
    streams = number(view.test.get("num_streams"), "'num_streams'")
    if not math.isfinite(streams):
        return "iperf3"
    protocol = view.test.get("protocol")
    direction = "both directions" if len(names) > 1 else names[""]
    return f"iperf3, {streams:.0f} of {protocol if isinstance(protocol, str) else 'unknown protocol'}, {direction}"


__all__ = ["measurement"]
