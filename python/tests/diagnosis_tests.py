"""Estimates from a capture, held against lines that are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from browser import needs_browser, opened
from conftest import Command, script
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as any_of
from shared import CAPTURES, needed

from aqmlab import _native, diagnosis, scenario
from aqmlab.advice import layer
from aqmlab.diagnosis import Diagnosis, Finding, diagnosis_figure, diagnosis_json, diagnosis_page, marks, words
from aqmlab.diagnosis import recording as recordings
from aqmlab.diagnosis.diagnosed_line import line
from aqmlab.scenario.options import Options
from aqmlab.vocabulary.errors import InputError

EDITS = script("capture_edits")
Recorded = Callable[..., Path]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Return the capture of a simulated line; each is made once."""
    folder = tmp_path_factory.mktemp("captures")
    known: dict[str, Path] = {}

    def make(aqm: str = "fifo", tap: str = "senders", view: str = "whole", **options: str) -> Path:
        key = repr((aqm, tap, view, options))
        if key not in known:
            given = {
                "rate": "10mbit",
                "rtt": "40ms",
                "buffer": "100p",
                "flows": "2*cubic:handshake=on",
                "duration": "10s",
                "warmup": "10ms",
                "aqm": aqm,
                **options,
            }
            plan = scenario.resolve(Options(given={name: (value,) for name, value in given.items()}))
            (what,) = plan.scenarios.values()
            run = _native.run(json.dumps({**what.data(), "record": tap}), plan.inputs, 1, _native.Monitor())
            path = folder / f"{len(known)}.pcapng"
            path.write_bytes(EDITS.seen(run.packets, view))
            known[key] = path
        return known[key]

    return make


def _value(found: Finding) -> float:
    assert found.value is not None, found.why
    return found.value


@pytest.mark.parametrize("tap", ["senders", "receivers"])
@pytest.mark.parametrize("view", ["whole", "cut"])
def a_full_buffer_is_found_at_both_ends_and_with_headers_alone(recorded: Recorded, tap: str, view: str) -> None:
    direction = diagnosis.diagnose(str(recorded(tap=tap, view=view))).up
    # A packet of 1500 bytes takes 1514 on the link; the buffer holds 100 of them.
    assert _value(direction.rate_bps) == pytest.approx(10e6 * 1500 / 1514, rel=0.02)
    assert _value(direction.base_rtt_ms) == pytest.approx(40.0, rel=0.05)
    assert _value(direction.buffer_ms) == pytest.approx(121.1, rel=0.06)
    assert _value(direction.buffer_bytes) == pytest.approx(150_000, rel=0.08)
    assert (direction.pattern, direction.delay is not None and direction.delay.is_beyond) == (
        "tail drop",
        tap == "senders",
    )
    assert 50.0 < _value(direction.bloat_ms) < _value(direction.bloat_p95_ms) <= 125.0


def an_aqm_is_distinguished_from_a_full_buffer_whose_size_it_hides(recorded: Recorded) -> None:
    direction = diagnosis.diagnose(str(recorded("codel", flows="4*cubic:handshake=on"))).up
    assert (direction.pattern, direction.buffer_ms.confidence) == ("AQM", "cannot tell")
    assert "AQM" in direction.buffer_ms.why
    assert direction.buffer_ms.at_least is not None
    assert _value(direction.bloat_ms) < 20.0


def marks_are_counted_where_they_are_seen(recorded: Recorded) -> None:
    flows = "2*cubic:ecn=classic:handshake=on"
    before, behind = (
        diagnosis.diagnose(str(recorded("codel ecn", tap, flows=flows))).up for tap in ("senders", "receivers")
    )
    assert (before.pattern, behind.pattern) == ("AQM", "AQM")
    assert before.marks.ce == 0 < before.marks.echoed
    assert behind.marks.ce > 0
    assert (before.marks.offered, before.marks.agreed, before.marks.opened) == (0, 0, 2)


def the_flags_of_openings_negotiate_and_are_no_reports(recorded: Recorded) -> None:
    seen = recordings.read(str(recorded()))
    flags = seen.packets["flags"].copy()
    is_opening = flags & recordings.SYN != 0
    is_answer = is_opening & (flags & recordings.ACK != 0)
    # RFC 3168 section 6.1.1: a SYN with ECE and CWR, a SYN-ACK with ECE alone.
    flags[is_opening] |= recordings.ECE
    flags[is_opening & ~is_answer] |= recordings.CWR
    going = seen.going(down=False)
    found = marks.measure(replace(seen, packets={**seen.packets, "flags": flags}), going, going)
    assert (found.offered, found.agreed, found.opened, found.echoed) == (2, 2, 2, 0)


def a_line_that_is_never_full_is_not_judged(recorded: Recorded) -> None:
    found = diagnosis.diagnose(str(recorded(flows="1*cubic:window=20kb:handshake=on")))
    direction = found.up
    confidences = [
        one.confidence for one in (direction.rate_bps, direction.bloat_ms, direction.buffer_ms, direction.buffer_bytes)
    ]
    assert confidences == ["cannot tell"] * 4
    assert direction.pattern_confidence == "cannot tell"
    assert direction.rate_bps.at_least == pytest.approx(20 * 1024 * 8 / 0.041, rel=0.15)
    assert "never fills" in words.headline(found)


def without_acknowledgments_nothing_is_made_up(recorded: Recorded) -> None:
    direction = diagnosis.diagnose(str(recorded(tap="receivers", view="data"))).up
    for found in (
        direction.rate_bps,
        direction.base_rtt_ms,
        direction.bloat_ms,
        direction.buffer_ms,
        direction.buffer_packets,
        direction.buffer_bytes,
    ):
        assert found.confidence == "cannot tell"
    assert direction.pattern_confidence == "cannot tell"


def without_data_the_acknowledgments_tell_what_arrived(recorded: Recorded) -> None:
    # The port of the server says that it is at the other end.
    direction = diagnosis.diagnose(str(recorded(view="acknowledgments"))).up
    assert direction.connections == 2
    assert direction.rate_bps.at_least == pytest.approx(10e6, rel=0.1)
    assert direction.base_rtt_ms.confidence == "cannot tell"


def the_home_is_private_or_who_is_named(recorded: Recorded) -> None:
    path = str(recorded())
    found = diagnosis.diagnose(path)
    assert (found.home.is_guessed, found.up.connections, found.down.connections) == (False, 2, 0)
    reversed_home = diagnosis.diagnose(path, home="198.18.0.1")
    assert (reversed_home.home.is_guessed, reversed_home.up.connections, reversed_home.down.connections) == (
        False,
        0,
        1,
    )
    with pytest.raises(InputError, match=r"home: no packet is from or to 192\.0\.2\.1"):
        diagnosis.diagnose(path, home="192.0.2.1")
    with pytest.raises(InputError, match="home: 'router' is no IP address"):
        diagnosis.diagnose(path, home="router")


def an_advice_is_fed_with_what_was_found(recorded: Recorded) -> None:
    found = diagnosis.diagnose(str(recorded()))
    with pytest.raises(InputError, match="does not tell the rate down: --down R says it"):
        line(found, layer("ethernet"))
    asked = line(found, layer("adsl"), down_bps=50_000_000)
    # Cells of 53 bytes carry 48, and 40 bytes are around each packet.
    assert asked.up_bps == pytest.approx(10e6 * 1500 / 1514 * 1540 / 1500 * 53 / 48, rel=0.02)
    assert asked.down_bps == 50_000_000
    assert asked.rtt.endswith("us")
    assert 36_000 < int(asked.rtt[:-2]) < 42_000
    assert 130_000 < int(asked.modem_buffer[:-1]) < 160_000


def page_and_json_say_the_same(aqmlab: Command, recorded: Recorded, tmp_path: Path) -> None:
    ended = aqmlab("diagnose", recorded(), "--no-advise", "--out", tmp_path / "found", "--json", "-")
    assert ended.status == 0
    printed: dict[str, Any] = json.loads(ended.out)
    text = (tmp_path / "found" / diagnosis_page.PAGE).read_text(encoding="utf-8")
    assert printed["words"] in text
    up = printed["directions"]["up"]
    assert up["losses"]["pattern"] == "tail drop"
    assert words.rate(up["rate_bps"]["value"]) in text
    assert up["buffer_ms"]["confidence"] in ("high", "medium")
    assert printed["advice"] is None
    assert "Not asked for" in text


def the_figure_shows_the_queue_and_the_rate(recorded: Recorded) -> None:
    direction = diagnosis.diagnose(str(recorded())).up
    shown = diagnosis_figure.figure(direction)
    assert shown is not None
    queue, rate = (panel.of(shown.table.filter(direction=panel.labels[0]))["value"] for panel in shown.panels)
    assert queue.max() == pytest.approx(direction.delay.queue_ms.max() if direction.delay else None)
    assert rate.median() == pytest.approx(_value(direction.rate_bps) / 1e6, rel=0.05)


def a_missing_rate_is_asked_for_in_place_of_an_advice(aqmlab: Command, recorded: Recorded, tmp_path: Path) -> None:
    ended = aqmlab("diagnose", recorded(), "--out", tmp_path / "found")
    assert ended.status == 0
    assert "--down R says it" in ended.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--up", "3"), "--up: '3' has no unit"),
        (("--down", "1kbit"), "--down: '1kbit' is out of range"),
        (("--linklayer", "dsl"), "--linklayer: unknown link layer 'dsl', did you mean"),
        (("--home", "x"), "home: 'x' is no IP address"),
    ],
)
def what_is_wrong_is_reported_in_one_line(
    aqmlab: Command, recorded: Recorded, options: tuple[str, ...], says: str
) -> None:
    ended = aqmlab("diagnose", recorded(), "--no-advise", *options)
    assert ended.status == 2
    assert says in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("path", sorted(CAPTURES.glob("*.pcap*")) or [CAPTURES], ids=lambda path: path.name)
def a_recorded_capture_is_diagnosed_without_a_claim_that_it_cannot_bear(path: Path) -> None:
    needed(path)
    found = diagnosis.diagnose(str(path))
    _holds(found)


def _holds(found: Diagnosis) -> None:
    """What holds of any capture."""
    for direction in found.directions:
        for one in (
            direction.rate_bps,
            direction.base_rtt_ms,
            direction.bloat_ms,
            direction.bloat_p95_ms,
            direction.buffer_ms,
            direction.buffer_packets,
            direction.buffer_bytes,
        ):
            assert one.is_known == (one.value is not None)
            assert one.why
            assert one.value is None or one.value >= 0.0
        assert direction.losses.ratio <= 1.0
        assert direction.rate_bps.value is None or direction.load.busy_s > 0 or direction.pattern == "policer"
    json.dumps(diagnosis_json.document(found), allow_nan=False)
    diagnosis_page.render(found)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=any_of.lists(any_of.tuples(any_of.floats(0.0, 0.999), any_of.integers(0, 255)), max_size=60),
    cut=any_of.floats(0.05, 1.0),
)
def a_damaged_capture_is_diagnosed_or_refused_in_one_line(
    recorded: Recorded, tmp_path: Path, edits: list[tuple[float, int]], cut: float
) -> None:
    content = bytearray(recorded(duration="2s").read_bytes())
    for place, value in edits:
        content[int(place * len(content))] = value
    path = tmp_path / "damaged.pcapng"
    path.write_bytes(content[: int(cut * len(content))])
    try:
        found = diagnosis.diagnose(str(path))
    except InputError as error:
        says = str(error)
    else:
        _holds(found)
        return
    assert "\n" not in says


@needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def the_page_fits_its_window_and_axe_finds_no_barrier(
    recorded: Recorded, tmp_path: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    shown = diagnosis_page.write(diagnosis.diagnose(str(recorded())), tmp_path)
    with opened(shown, width, scheme=scheme) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        assert "tail drop" in tab.inner_text("body")
        assert [one["id"] for one in Axe().run(tab).response["violations"]] == []


def markup_in_a_file_name_stays_text(recorded: Recorded) -> None:
    found = replace(diagnosis.diagnose(str(recorded())), capture="<script>alert(1)</script>.pcap")
    assert "<script>alert" not in diagnosis_page.render(found)
