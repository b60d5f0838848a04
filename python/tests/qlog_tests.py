from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from conftest import Command
from jsonschema import Draft202012Validator
from qlog_schema import EVENT, EVENTS, FILE

import aqmlab
from aqmlab import Result, exports
from aqmlab.vocabulary.errors import CheckError

OPTIONS: dict[str, Any] = {
    "rate": "5mbit",
    "rtt": "20ms",
    "buffer": "20p",
    "flows": [
        "1*newreno:ecn=classic:start=0s",
        "1*cubic:recovery.rack=on:pacing=on:start=0s",
        "1*quinn:start=0s",
        "1*cbr:rate=500kbit:start=0s",
    ],
    "aqm": ["codel ecn", "fifo"],
    "duration": "4s",
    "warmup": "1s",
    "seeds": 1,
}
Events = list[dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return aqmlab.compare(**OPTIONS, out=tmp_path_factory.mktemp("qlog") / "r")


@pytest.fixture(scope="module")
def files(made: Result) -> dict[str, Events]:
    return {name: _parsed(content) for name, content in _all(made).items()}


def _all(made: Result, **chosen: Any) -> dict[str, bytes]:
    return {name: content for run in exports.qlog(made, **chosen) for name, content in run.items()}


def _parsed(content: bytes) -> Events:
    """RFC 7464: records, each after a separator and with a line feed at its end."""
    empty, *records = content.split(b"\x1e")
    assert empty == b""
    assert all(record.endswith(b"\n") for record in records)
    return [cast("dict[str, Any]", json.loads(record)) for record in records]


def _named(events: Events, name: str) -> Events:
    return [one["data"] for one in events if one.get("name") == name]


def every_event_is_one_that_the_drafts_allow_and_each_kind_occurs(files: dict[str, Events]) -> None:
    head, event = Draft202012Validator(FILE), Draft202012Validator(EVENT)
    of_kind = {name: Draft202012Validator(data) for name, data in EVENTS.items()}
    seen: Counter[str] = Counter()
    for first, *events in files.values():
        head.validate(first)
        times = [one["time"] for one in events]
        assert times == sorted(times)
        for one in events:
            # The whole is slow: its first of each kind, and the data of all.
            if not seen[one["name"]]:
                event.validate(one)
            assert set(one) == {"time", "name", "data"}
            of_kind[one["name"]].validate(one["data"])
            seen[one["name"]] += 1
    assert set(seen) == set(EVENTS)


def a_schema_refuses_what_the_drafts_do_not_have() -> None:
    lost = Draft202012Validator(EVENT)
    good = {"time": 1.5, "name": "quic:packet_lost", "data": {"trigger": "pto_expired"}}
    assert lost.is_valid(good)
    for wrong in ({"name": "recovery:packet_lost"}, {"time": "1.5"}, {"data": {"trigger": "timeout"}}):
        assert not lost.is_valid({**good, **wrong})


def the_same_result_gives_the_same_bytes_and_a_file_for_each_sender_and_queue(
    made: Result, files: dict[str, Events]
) -> None:
    assert {name: _parsed(content) for name, content in _all(made, aqm="fifo").items()} == {
        name: events for name, events in files.items() if name.startswith("fifo-")
    }
    senders = [f"{aqm}-1.sender-{flow}.sqlog" for aqm in ("codel-ecn", "fifo") for flow in range(4)]
    assert set(senders) < set(files)
    assert all(".queue-" in name for name in set(files) - set(senders))


def a_queue_log_adds_up_to_what_the_queue_counted(made: Result, files: dict[str, Events]) -> None:
    for aqm in made.aqms:
        log = files[f"{aqm.replace(' ', '-')}-1.queue-left-right.sqlog"]
        counted = made.queues.filter(aqm=aqm, link="left->right").row(0, named=True)
        drops = _named(log, "aqmlab:packet_dropped")
        enqueued, dequeued = _named(log, "aqmlab:packet_enqueued"), _named(log, "aqmlab:packet_dequeued")
        refused = sum(one["point"] == "enqueue" for one in drops)
        assert len(enqueued) + refused == counted["arrived_packets"]
        assert len(dequeued) == counted["departed_packets"]
        assert sum(one["raw"]["length"] for one in dequeued) == counted["departed_bytes"]
        assert len(drops) == counted["dropped_early_packets"] + counted["dropped_overflow_packets"]
        assert len(_named(log, "aqmlab:packet_marked")) == counted["marked_packets"]
        assert len(enqueued) - len(dequeued) - (len(drops) - refused) == counted["backlog_packets"]


def drops_by_a_switch_and_on_the_wire_are_logged_and_captured() -> None:
    made = aqmlab.compare(
        rate="10mbit",
        rtt="4ms",
        topology="star:hosts=3:buffer=20kb:alpha=1",
        flows="2*cbr:rate=8mbit:start=0s",
        loss="1%",
        aqm="fifo",
        duration="1s",
        warmup="0s",
        seeds=1,
    )
    row = made.queues.filter(link="switch->h0").row(0, named=True)
    files = {name: _parsed(content) for name, content in _all(made).items()}
    drops = _named(files["fifo-1.queue-switch-h0.sqlog"], "aqmlab:packet_dropped")
    where = Counter((one["reason"], one["point"]) for one in drops)
    assert row["dropped_overflow_packets"] > 100
    assert where["overlimit", "buffer"] == row["dropped_overflow_packets"] + row["dropped_early_packets"]
    assert set(where) == {("overlimit", "buffer"), ("random_loss", "wire")}
    of_drops = Draft202012Validator(EVENTS["aqmlab:packet_dropped"])
    assert all(of_drops.is_valid(one) for one in drops)
    packets = exports.pcapng(made, tap="queue")["fifo-1.pcapng"]
    assert packets.count(b"overlimit, buffer") == where["overlimit", "buffer"]
    assert packets.count(b"random_loss, wire") == where["random_loss", "wire"]


def the_backlog_follows_from_the_events(files: dict[str, Events]) -> None:
    held = 0
    for one in files["codel-ecn-1.queue-left-right.sqlog"][1:]:
        kind, data = one["name"].partition(":")[2], one["data"]
        held += {"packet_enqueued": 1, "packet_marked": 0}.get(kind, -1)
        if kind == "packet_dropped" and data["point"] == "enqueue":
            held += 1
        assert data["backlog_packets"] == held


def a_packet_lost_was_sent_under_its_number_and_once(files: dict[str, Events]) -> None:
    for name in ("fifo-1.sender-0.sqlog", "fifo-1.sender-1.sqlog"):
        sent = {one["header"]["packet_number"]: one["frames"][0]["offset"]
                for one in _named(files[name], "quic:packet_sent")}  # fmt: skip
        losses = _named(files[name], "quic:packet_lost")
        numbers = [one["header"]["packet_number"] for one in losses]
        assert len(set(numbers)) == len(numbers)
        # Each is sent again under another number, unless the run ends; one that a timeout took for lost may arrive.
        found = [one["header"]["packet_number"] for one in losses if one["trigger"] != "pto_expired"]
        times_sent = Counter(sent.values())
        assert found
        assert all(times_sent[sent[number]] > 1 for number in found[:-1])
    by_count = _named(files["fifo-1.sender-0.sqlog"], "quic:packet_lost")
    by_time = _named(files["fifo-1.sender-1.sqlog"], "quic:packet_lost")
    assert "reordering_threshold" in {one["trigger"] for one in by_count}
    assert "time_threshold" in {one["trigger"] for one in by_time}


def what_a_queue_dropped_of_a_flow_is_what_its_sender_found_lost(files: dict[str, Events]) -> None:
    drops = _named(files["fifo-1.queue-left-right.sqlog"], "aqmlab:packet_dropped")
    dropped = {one["packet_number"] for one in drops if one["flow"] == 0 and one["direction"] == "forward"}
    lost = {one["header"]["packet_number"] for one in _named(files["fifo-1.sender-0.sqlog"], "quic:packet_lost")}
    # The last may not be found yet, and a timeout takes all for lost.
    assert len(dropped - lost) <= 3


def windows_are_those_of_the_time_series(made: Result, files: dict[str, Events]) -> None:
    log = files["codel-ecn-1.sender-0.sqlog"]
    times, windows = zip(
        *(
            (one["time"] / 1e3, one["data"]["congestion_window"])
            for one in log[1:]
            if one["name"] == "quic:recovery_metrics_updated" and "congestion_window" in one["data"]
        ),
        strict=True,
    )
    series = made.series.filter(aqm="codel ecn", name="flow.0.cwnd_bytes")
    at = np.searchsorted(times, series["time_s"].to_numpy(), side="right") - 1
    same = np.array(windows)[at] == series["value"].to_numpy()
    # At the sample's own instant either may be first.
    assert same.mean() > 0.9


def a_receivers_counts_are_those_of_its_metrics(made: Result, files: dict[str, Events]) -> None:
    counts = _named(files["codel-ecn-1.sender-2.sqlog"], "aqmlab:ecn_counts_updated")
    run = made.runs.filter(aqm="codel ecn").row(0, named=True)
    assert counts[-1]["ect0"] > run["ecn_ect0_packets"] > 0
    assert counts[-1]["ce"] >= run["ecn_ce_packets"] > 0
    assert run["ecn_ect1_packets"] == 0
    assert made.runs["ecn_ce_packets"].to_list()[-1] == 0


def the_command_writes_them(made: Result, aqmlab: Command) -> None:
    assert made.folder is not None
    assert aqmlab("export", str(made.folder), "--qlog", "--aqm", "fifo", "--seed", "1").status == 0
    written = {path.name: path.read_bytes() for path in (made.folder / "qlog").iterdir()}
    assert written == _all(made, aqm="fifo", seed=1)


def a_run_is_on_disk_before_the_next_is_made_and_there_are_all_files_or_none(
    made: Result, aqmlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[set[str]] = []
    again = exports.rerun._made

    def noted(*given: Any) -> Any:
        if not given[2].aqm.startswith(refused):
            found.append({path.name.partition("-1.")[0] for path in Path("out").glob("*")})
            return again(*given)
        raise CheckError("events: the run made again is another")

    monkeypatch.setattr(exports.rerun, "_made", noted)
    refused = "fifo"
    ended = aqmlab("export", made.folder, "--qlog", "--out", "out")
    assert (ended.status, ended.line) == (1, "events: the run made again is another")
    assert (found, Path("out").exists()) == ([set()], False)
    refused = "none"
    assert aqmlab("export", made.folder, "--qlog", "--out", "out").status == 0
    # Under temporary names.
    assert found[1:] == [set(), {".codel-ecn"}]
    assert {path.name.partition("-1.")[0] for path in Path("out").glob("*")} == {"codel-ecn", "fifo"}
    for path in Path("out").glob("codel*"):
        path.unlink()
    ended = aqmlab("export", made.folder, "--qlog", "--out", "out")
    assert (ended.status, "is there already" in ended.line, len(found)) == (2, True, 3)


def a_paced_sender_times_out_where_a_full_queue_drops_a_retransmission_unless_losses_are_found_by_time() -> None:
    """RFC 6675 finds no second loss of a segment; RFC 8985 does."""

    def logs(keys: str) -> tuple[Events, Events]:
        flows = f"1*newreno:pacing=on:start=0s{keys}"
        made = aqmlab.compare(rate="10mbit", rtt="20ms", buffer="20p", flows=flows, aqm="fifo", duration="6s", seeds=1)
        sender, queue = (_parsed(content) for content in _all(made).values())
        return sender, queue

    sender, queue = logs("")
    lost, sent = _named(sender, "quic:packet_lost"), _named(sender, "quic:packet_sent")
    offsets = {one["header"]["packet_number"]: one["frames"][0]["offset"] for one in sent}
    dropped = Counter(offsets[one["packet_number"]] for one in _named(queue, "aqmlab:packet_dropped"))
    states = [one["new"] for one in _named(sender, "quic:congestion_state_updated")]
    by_timer = [offsets[one["header"]["packet_number"]] for one in lost if one["trigger"] == "pto_expired"]
    assert states.count("loss") > 2
    # As many segments that the timer found as timeouts, at least, were dropped twice.
    assert sum(dropped[offset] > 1 for offset in by_timer) >= states.count("loss")
    sender, _ = logs(":recovery.rack=on")
    assert {one["trigger"] for one in _named(sender, "quic:packet_lost")} == {"time_threshold"}
