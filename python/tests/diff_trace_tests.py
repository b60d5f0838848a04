"""Traces of two profiles or engines: what they hold, and where they part."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from kernel import needs_kernel

from aqmlab.analysis import divergence, trace_figure, trace_json, traces
from aqmlab.analysis.divergence import Event, Flow
from aqmlab.vocabulary.errors import InputError

MS = 1_000_000
SEGMENT = 1448
LINE: dict[str, Any] = {"rate": "10mbit", "rtt": "40ms", "aqm": "codel", "duration": "3s", "warmup": "0s"}


def _sent(number: int, time_ms: float, fate: str = "delivered", *, again: bool = False) -> Event:
    return Event(int(time_ms * MS), False, number * SEGMENT, SEGMENT, 0, False, again, fate)


def _ack(number: int, time_ms: float) -> Event:
    return Event(int(time_ms * MS), True, number * SEGMENT, 0, 0, False, False, "")


def _flow(*events: Event) -> Flow:
    return Flow(tuple(events), ())


SOME = (_sent(0, 0), _sent(1, 0.1), _ack(2, 40), _sent(2, 40.1), _sent(3, 41, "dropped"), _ack(3, 80))


@pytest.mark.parametrize(
    ("place", "changed", "why"),
    [
        (3, _sent(2, 40.1, "dropped"), "a has data 2 delivered, and b data 2 dropped"),
        (3, _sent(0, 40.1, again=True), "a has data 2 delivered, and b again 0 delivered"),
        (2, _ack(1, 40), "a has ack 2, and b ack 1"),
        (2, _ack(2, 45), "ack 2: b has it 5.0 ms after a"),
        (2, _ack(2, 35), "ack 2: a has it 5.0 ms after b"),
        (2, replace(_ack(2, 40), echo=True), "a has ack 2, and b ack 2 echo"),
        (2, replace(_ack(2, 40), edge=3 * SEGMENT), "a has ack 2, and b ack 2 sack to 3"),
    ],
)
def the_first_event_that_differs_is_named(place: int, changed: Event, why: str) -> None:
    other = [*SOME[:place], changed, *SOME[place + 1 :]]
    found = divergence.first(7, _flow(*SOME), _flow(*other), ("a", "b"), SEGMENT, 2 * MS, 100 * MS)
    assert found is not None
    assert (found.flow, found.why, found.places) == (7, why, (place, place))


def what_is_within_the_tolerance_or_unknown_is_no_difference() -> None:
    # The acknowledgment and the data after it change places; of the last packet nobody knows.
    other = (*SOME[:2], _sent(2, 40.05), _ack(2, 40.06), replace(SOME[4], fate=""), _ack(3, 81.9))
    assert divergence.first(0, _flow(*SOME), _flow(*other), ("a", "b"), SEGMENT, 2 * MS, 100 * MS) is None
    late = divergence.first(0, _flow(*SOME), _flow(*other), ("a", "b"), SEGMENT, MS, 100 * MS)
    assert late is not None
    assert late.why == "ack 3: b has it 1.9 ms after a"


def a_trace_that_ends_before_the_other_parts_from_it_unless_the_run_is_over() -> None:
    def found(end_ms: int) -> str:
        one = divergence.first(0, _flow(*SOME), _flow(*SOME[:5]), ("a", "b"), SEGMENT, 2 * MS, end_ms * MS)
        return one.why if one else ""

    assert found(100) == "a has ack 3, and b nothing more of the kind"
    assert found(82) == ""


def the_stack_of_linux_acknowledges_the_first_segments_at_once() -> None:
    found = traces.diff(LINE | {"flows": "1*cubic"}, profile="rfc,linux")
    assert traces.words(found) == ["rfc and linux part at 41.5 ms of the flow: rfc has ack 2, and linux ack 1."]
    first = found.divergences[0]
    lines = traces.rows(found, first)
    assert len(lines) == 2 * traces.AROUND
    ours, theirs = lines[traces.AROUND]
    assert (ours[1], theirs[1]) == ("ack 2", "ack 1")
    document = trace_json.document(found)
    assert [side["state"]["phase"] for side in document["divergences"][0]["sides"]] == ["open", "open"]
    assert json.loads(json.dumps(document)) == document
    figure = trace_figure.figure(found, first)
    assert figure.table["event"].unique().sort().to_list() == ["acknowledged", "drops", "sent", "window"]
    assert figure.svg


def the_same_run_does_not_part_from_itself() -> None:
    one, other = (traces.diff(LINE | {"flows": "2*newreno"}, profile="rfc,linux").sides[0].flows for _ in range(2))
    for flow in (0, 1):
        assert len(one[flow].events) > 500
        assert divergence.first(flow, one[flow], other[flow], ("a", "b"), SEGMENT, 0, 3000 * MS) is None


def a_trace_has_every_packet_that_was_dropped_and_sent_again() -> None:
    given = LINE | {"flows": "1*newreno:size=2mb", "aqm": "fifo limit 20p", "duration": "10s"}
    flow = traces.diff(given, profile="rfc,linux").sides[0].flows[0]
    dropped = [one.number for one in flow.events if one.fate == "dropped"]
    again = [one.number for one in flow.events if one.again]
    assert dropped
    assert set(dropped) <= set(again)
    assert max(one.number + one.length for one in flow.events if not one.is_ack) == 2 * 2**20
    assert [one.number for one in flow.events if one.is_ack][-1] == 2 * 2**20
    reduced = [one for one in flow.states if one.ssthresh is not None]
    assert reduced[0].phase == "recovery"
    assert all(one.rto_ms >= 200 for one in flow.states)


@pytest.mark.parametrize(
    ("options", "sides", "says"),
    [
        ({}, {}, "give two sides: two engines, as --engine native,linux, or two profiles, as --profile rfc,linux"),
        ({}, {"engine": "native,linux", "profile": "rfc,linux"}, "give two sides"),
        ({}, {"profile": "rfc,lunix"}, "--profile: unknown profile 'lunix', did you mean 'linux'"),
        ({}, {"profile": "rfc,rfc"}, "--profile: 'rfc' is given twice"),
        ({}, {"profile": "rfc,linux", "tolerance": "2"}, "--tolerance: "),
        ({"flows": "1*cubic:profile=linux"}, {"profile": "rfc,linux"}, "its profile contradicts --profile"),
        ({"flows": "1*cbr:rate=1mbit"}, {"engine": "native,linux"}, "none is carried by TCP"),
        ({"aqm": "codel,pie"}, {"profile": "rfc,linux"}, "aqm: takes one discipline here"),
    ],
)
def what_cannot_be_traced_is_refused(options: dict[str, str], sides: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says.replace("(", "[(]")):
        traces.diff(LINE | options, **sides)


def the_command_shows_both_sides_and_writes_what_it_shows(aqmlab: Command, tmp_path: Path) -> None:
    line = ("--rate", "10mbit", "--rtt", "40ms", "--duration", "2s", "--aqm", "codel")
    words = ("diff-trace", *line, "--profile", "rfc,linux")
    done = aqmlab(*words, "--out", str(tmp_path / "out"))
    assert done.status == 0
    assert done.out.startswith("rfc and linux part at 41.5 ms of the flow")
    assert "ack 2" in done.out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "diff-trace.csv", "diff-trace.json", "diff-trace.svg",
    ]  # fmt: skip
    again = aqmlab(*words, "--out", str(tmp_path / "out"))
    assert again.status == 2
    assert "is there already" in again.err
    assert aqmlab(*words, "--seeds", "3").err.startswith("aqmlab: --seeds: one run of each is traced")


@needs_kernel
@pytest.mark.timeout(300)
def the_kernel_is_traced_beside_the_simulator() -> None:
    found = traces.diff(LINE | {"flows": "1*newreno", "aqm": "codel:linux"}, engine="native,linux")
    assert "native has ack 2, and linux ack 1" in traces.words(found)[0]
    native, kernel = (side.flows[0] for side in found.sides)
    assert [one.number for one in kernel.events[:10]] == [one.number for one in native.events[:10]]
    assert {one.fate for one in kernel.events if not one.is_ack} == {"delivered", "dropped"}
    dropped = {one.number for one in kernel.events if one.fate == "dropped"}
    assert dropped <= {one.number for one in kernel.events if one.again}
    assert any(one.phase == "recovery" for one in kernel.states)


@needs_kernel
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("keys", "tolerance", "says"),
    [
        ("", "2ms", "41.6 ms"),
        (":profile=linux", "2ms", "148.3 ms"),
        (":profile=linux", "2ms", "3.2 ms after"),
        (":profile=linux", "5ms", "231.7 ms of the flow: native has ack 57, and linux ack 56"),
    ],
)
def the_examples_of_the_page_part_where_their_causes_are(keys: str, tolerance: str, says: str) -> None:
    line = LINE | {"aqm": "fifo limit 5p", "flows": f"1*newreno:iw=4{keys}"}
    found = traces.diff(line, engine="native,linux", tolerance=tolerance)
    assert says in traces.words(found)[0]
