"""The meter: recorded events give the same numbers through the kernel's engine as in simulator and live link."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import ROOT

from aqmlab.engine.linux.measure import at_queue
from aqmlab.engine.linux.taps import Packets

FOLDER = ROOT / "tests/meter"
# Quantiles are middles of buckets of one part in 64.
BUCKET = 1 / 64


def recorded_events_give_the_metrics_of_their_definitions() -> None:
    wanted = json.loads((FOLDER / "metrics.json").read_text())
    since_ns, until_ns = wanted["since_ns"], wanted["until_ns"]
    rows = [line.split(",") for line in (FOLDER / "events.csv").read_text().splitlines()[1:]]
    packets: dict[int, list[int]] = {}
    dropped = 0
    for time, event, number, length in rows:
        one = packets.setdefault(int(number), [int(time), 0, int(length), 0])
        if event == "depart":
            one[1] = int(time)
        if event == "mark":
            one[3] = 1
        dropped += event in ("early", "overlimit")
    # A tap cannot tell a packet that still waits from a lost one.
    waiting = sum(one[1] == 0 for one in packets.values()) - dropped
    arrived, left, length, marked = np.array(list(packets.values()), dtype="u8").T
    found, (middles, counts) = at_queue(Packets(arrived, left, np.zeros(len(left)), length, marked), since_ns, until_ns)
    known = wanted["metrics"]
    found["loss_ratio"] -= waiting / found["packets_arrived"]
    for name, value in found.items():
        within = BUCKET if name.startswith("qdelay_p") else 1e-12
        assert value == pytest.approx(known[name], rel=within), name
    assert set(found) == {name for name in known if not name.startswith(("queue_", "drops_", "ack_"))}
    inside = (left >= since_ns) & (left < until_ns)
    assert counts.sum() == inside.sum()
    mean = (middles * counts).sum() / counts.sum() / 1e6
    assert mean == pytest.approx(known["qdelay_mean_ms"], rel=BUCKET)


def nothing_that_was_recorded_has_no_numbers() -> None:
    empty = np.array([], dtype="u8")
    found, (middles, counts) = at_queue(Packets(empty, empty, empty, empty, empty), 0, 10**9)
    assert found == {"marks": 0.0, "packets_arrived": 0.0, "throughput_mbit": 0.0}
    assert (len(middles), len(counts)) == (0, 0)
