"""Switches of a topology: their options by generator key and by file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Command

import aqmlab as package


def incast_into_a_switch_drops_and_with_flow_control_it_pauses() -> None:
    incast = {"aqm": "fifo limit 10mb", "rate": "10mbit", "rtt": "4ms", "duration": "2s", "seeds": 1}
    flows = "4*cbr:rate=10mbit:start=0s"
    drops = package.compare(**incast, flows=flows, topology="many_to_one:senders=4:buffer=100kb").runs
    assert drops["buffer_drops"][0] > 1000
    pauses = package.compare(**incast, flows=flows, topology="many_to_one:senders=4:xoff=20kb").runs
    assert pauses["pfc_losses"][0] == pauses["path_loss_ratio"][0] == 0
    # Each of four ports sends a quarter of 10 Mbit/s at 100 Mbit/s, and is paused for the rest of the 2 s; the first
    # pause comes when 4 x 20 KiB have gathered at 40 - 10 Mbit/s.
    assert pauses["paused_s"][0] == pytest.approx(4 * (2 * (1 - 0.025) - 0.022), rel=0.01)
    assert 1514 <= pauses["pfc_headroom_bytes"][0] <= pauses["port.s0->router.p0.pfc_headroom_limit_bytes"][0]


EXPERIMENTS = Path(__file__).parents[2] / "experiments" / "switches"


def the_victims_experiment_shows_head_of_line_blocking(aqmlab: Command) -> None:
    ended = aqmlab("run", EXPERIMENTS / "victim.toml", "--seeds", 1, "--json", "-", "--quiet")
    assert ended.status == 0, ended.err
    metrics = [run["metrics"] for run in json.loads(ended.out)["runs"]]
    # 100 and 400 Mbit/s of packets of which 1472 bytes of 1514 are payload; at the source, 1472 of 1500.
    share = [100 * 1472 / 1514, 400 * 1472 / 1500]
    assert [one["class.victim.goodput_mbit"] for one in metrics] == pytest.approx(share, rel=0.02)
    assert [one["class.congested.goodput_mbit"] for one in metrics] == pytest.approx([share[0]] * 2, rel=0.02)
    assert metrics[0]["path_loss_ratio"] == 0 < metrics[1]["class.congested.path_loss_ratio"]


def the_headroom_experiment_needs_at_most_the_computed_headroom(aqmlab: Command) -> None:
    ended = aqmlab("run", EXPERIMENTS / "headroom.toml", "--seeds", 1, "--json", "-", "--quiet")
    losses = [run["metrics"]["pfc_losses"] for run in json.loads(ended.out)["runs"]]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 1000
    assert losses[-1] == 0
    last = json.loads(ended.out)["runs"][-1]["metrics"]
    assert 25_000 <= last["pfc_headroom_bytes"] <= 25_000 + 64 + 3 * 1514 + 1


def packets_carry_telemetry_and_marks_of_a_program() -> None:
    flows = "2*cbr:rate=10mbit:start=0s:ecn=classic"
    runs = package.compare(
        aqm="fifo limit 10mb",
        rate="10mbit",
        rtt="4ms",
        duration="2s",
        seeds=1,
        flows=flows,
        topology="many_to_one:senders=2:program=dscp threshold 100kb int",
    ).runs
    assert runs["telemetry_packets"][0] == runs["telemetry_hops"][0] > 1000
    assert runs["marks"][0] > 1000
    assert runs["program_drops"][0] == 0


def a_program_that_takes_packets_from_their_class_is_warned_of() -> None:
    run = {"aqm": "fifo limit 10mb", "rate": "10mbit", "rtt": "4ms", "duration": "100ms", "warmup": "0s", "seeds": 1}
    topology = "many_to_one:senders=1:xoff=20kb:priorities=0|2:program=dscp"
    wanted = "at router->server: the program puts flow-controlled packets into another class than their sender's"
    # The program's third class is 2.
    warned = package.compare(**run, flows="1*cbr:rate=1mbit:start=0s", topology=topology).warnings
    assert any(wanted in warning for warning in warned)
    quiet = package.compare(**run, flows="1*cbr:rate=1mbit:start=0s:class=2", topology=topology).warnings
    assert not any(wanted in warning for warning in quiet)


def a_flow_that_begins_at_a_switch_may_be_further_away(tmp_path: Path) -> None:
    links = (
        '[[link]]\nfrom="a"\nto="s"\nrate="100mbit"\ndelay="1ms"\n'
        '[[link]]\nfrom="s"\nto="b"\ndelay="1ms"\nqueue="test"\n'
    )
    graph = tmp_path / "t.toml"
    graph.write_text(links + '[switch]\nnodes = ["s"]\npfc = { xoff = "20kb", headroom = "10mb" }\n')
    runs = package.compare(
        aqm="rr classes 8 limit 100mb",
        rate="10mbit",
        rtt="4ms",
        duration="500ms",
        warmup="0s",
        seeds=1,
        flows="1*cbr:rate=20mbit:start=0s:rtt=20ms:from=s:to=b",
        topology=str(graph),
    ).runs
    # It sends twice what the link behind the switch carries: paused for half of the time.
    assert runs["paused_s"][0] > 0.2
    assert runs["pfc_losses"][0] == 0


def a_rate_based_sender_that_is_further_away_has_the_line_of_its_link() -> None:
    runs = package.compare(
        aqm="fifo limit 100mb",
        rate="10mbit",
        rtt="4ms",
        duration="100ms",
        warmup="0s",
        seeds=1,
        flows="1*dcqcn:start=0s:rtt=20ms",
        topology="many_to_one:senders=1",
        measure="s0->router",
    ).runs
    assert runs["packets_arrived"][0] > 500
    assert runs["queue_max_packets"][0] <= 1


@pytest.mark.parametrize(
    ("options", "utilization"),
    [
        ({"rate": "1mbit", "device_ring": 16, "flows": "1*cbr:rate=2mbit:start=0s"}, 0.9983),
        # The first packet arrives after 480 ms at 1 Mbit/s of access; a ninth of it is carried in what remains.
        ({"rate": "100kbit", "buffer": "100p", "flows": "1*cbr:rate=2mbit:packet=60000b:start=0s"}, 0.5194),
    ],
)
def what_the_device_still_holds_is_not_carried(options: dict[str, str | int], utilization: float) -> None:
    runs = package.compare(**options, aqm="fifo", rtt="4ms", duration="1s", warmup="0s", seeds=1).runs
    assert runs["utilization"][0] == pytest.approx(utilization, abs=1e-4)


@pytest.mark.parametrize("aqm", ["cobalt", "fq_codel"])
def a_packet_held_back_by_a_pause_does_not_count_in_the_limit(aqm: str) -> None:
    result = package.compare(
        aqm=aqm,
        topology="many_to_many:senders=3:servers=2:xoff=1b:headroom=100kb",
        rate="10mbit",
        rtt="10ms",
        jitter="20ms",
        flows=["1*dcqcn:packet=29b", "5*prague:start=0s", "1*dcqcn_as_run:class=2:rtt=60ms:start=0s"],
        duration="1s",
        warmup="300ms",
        seeds=1,
    )
    assert result.runs["paused_s"][0] > 0.0


PROGRAMS = "leaf_spine:leaves=2:spines=2:hosts=2:program="


def what_a_program_marks_after_a_discipline_has_counts_once() -> None:
    flows = ["6*cubic:ecn=classic:rtt=300ms", "3*cubic:ecn=classic"]
    topology = f"{PROGRAMS}dscp target 1ms period 10ms"
    runs = package.compare(
        rate="10mbit",
        rtt="1us",
        duration="1800ms",
        aqm="red ecn",
        topology=topology,
        flows=flows,
        seeds=4,
        buffer="64kb",
    ).runs
    assert sum(runs["marks"]) > 0


def the_flow_monitor_sees_packets_that_a_program_sends() -> None:
    topology = f"{PROGRAMS}dscp threshold 3000b notify int"
    runs = package.compare(
        rate="1mbit",
        rtt="10ms",
        duration="5s",
        aqm="fifo",
        topology=topology,
        flows="4*dcqcn",
        seeds=1,
        observe="flow_monitor",
    ).runs
    assert runs["feedback_sent"][0] > 0
