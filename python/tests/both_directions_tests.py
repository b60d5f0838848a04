"""Estimates from a capture of a line that is full in both directions, each with a queue of its own."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import script
from shared import CASES, needed

from aqmlab import diagnosis
from aqmlab.diagnosis import Diagnosis

HOUSEHOLDS = script("diagnosed_households")
Recorded = Callable[..., Diagnosis]


@pytest.fixture(scope="module")
def household(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Return the diagnosis of a line of 16 and 2 Mbit/s; each is made once."""
    folder = tmp_path_factory.mktemp("households")
    known: dict[str, Diagnosis] = {}

    def make(
        down: str = "fifo", up: str = "fifo", vantage: str = "home", ticks: int = 1000, jitter_ms: float = 0.0
    ) -> Diagnosis:
        key = f"{down} {up} {vantage} {ticks} {jitter_ms}"
        if key not in known:
            directions = [
                HOUSEHOLDS.Direction(mbit, aqm, "200p" if aqm == "fifo" else "1000p", "2*cubic")
                for mbit, aqm in ((16, down), (2, up))
            ]
            asked = HOUSEHOLDS.Household(40, *directions, vantage, ticks, jitter_ms)
            path = folder / f"{len(known)}.pcapng"
            path.write_bytes(HOUSEHOLDS.record(asked, folder, 1)[0])
            known[key] = diagnosis.diagnose(str(path))
        return known[key]

    return make


def a_full_buffer_is_found_though_the_other_direction_is_full(household: Recorded) -> None:
    found = household()
    down = found.down
    assert down.pattern == "tail drop"
    assert down.buffer_packets.value == pytest.approx(200, rel=0.05)
    # A packet of 1500 bytes takes 1514 on the link; some are acknowledgments.
    assert 0.85 * 151.4 < (down.buffer_ms.value or 0) < 1.03 * 151.4
    assert (down.rate_bps.value or 0) / 1e6 == pytest.approx(16 * 1500 / 1514, rel=0.03)
    assert down.delay is not None
    assert down.delay.is_one_way
    # The uplink holds many acknowledgments, of which nothing shows which were lost.
    assert found.up.pattern in ("tail drop", "cannot tell")
    assert found.up.delay is not None
    assert found.up.delay.is_one_way


def a_buffer_of_packets_is_full_at_any_time_and_at_one_number(household: Recorded) -> None:
    # Recorded behind the queue, its acknowledgments are seen.
    up = household(vantage="far").up
    assert (up.pattern, up.pattern_confidence) == ("tail drop", "high")
    assert up.buffer_packets.value == pytest.approx(200, rel=0.05)
    assert up.buffer_packets.confidence == "high"


@pytest.mark.parametrize(("down", "up"), [("codel", "fifo"), ("fifo", "codel"), ("fq_codel", "fq_codel")])
def an_aqm_of_one_direction_is_none_of_the_other(household: Recorded, down: str, up: str) -> None:
    found = household(down, up, vantage="far")
    for direction, aqm in ((found.down, down), (found.up, up)):
        right = "tail drop" if aqm == "fifo" else "AQM"
        assert direction.pattern in (right, "cannot tell"), direction.pattern_why


def without_timestamps_the_directions_cannot_be_separated(household: Recorded) -> None:
    found = household(ticks=0)
    for direction in found.directions:
        assert direction.pattern_confidence == "cannot tell"
        assert "both directions" in direction.pattern_why
        for one in (
            direction.rate_bps,
            direction.bloat_ms,
            direction.buffer_ms,
            direction.buffer_packets,
            direction.buffer_bytes,
        ):
            assert one.confidence == "cannot tell"
        assert direction.base_rtt_ms.confidence != "high"


def wi_fi_makes_nothing_sure_that_is_wrong(household: Recorded) -> None:
    found = household("fq_codel", "fifo", jitter_ms=5.0)
    assert found.down.pattern in ("AQM", "cannot tell")
    assert found.up.pattern in ("tail drop", "cannot tell")


def a_line_of_two_full_buffers_is_no_aqm(tmp_path: Path) -> None:
    path = needed(CASES / "captures" / "home-fifo.pcap.xz")
    capture = tmp_path / "home-fifo.pcap"
    capture.write_bytes(lzma.decompress(path.read_bytes()))
    found = diagnosis.diagnose(str(capture))
    assert (found.down.pattern, found.up.pattern) == ("tail drop", "cannot tell")
    assert found.down.buffer_packets.value == pytest.approx(200, rel=0.05)
    assert (found.down.rate_bps.value or 0) / 1e6 == pytest.approx(15.85, rel=0.02)
