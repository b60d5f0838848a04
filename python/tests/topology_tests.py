"""Topologies from their names and from files."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from rich.console import Console

import aqmlab as package
from aqmlab import Result
from aqmlab.cli.details import details
from aqmlab.results.metric_tables import APPLICATION_COLUMNS, occasional_cells
from aqmlab.results.ports import port_cells
from aqmlab.scenario import topologies


@pytest.mark.parametrize("kind", topologies.KINDS, ids=lambda kind: kind.name)
def every_kind_carries_flows(kind: topologies.TopologyKind) -> None:
    result = package.compare(
        aqm="fq_codel",
        # The rate of Wi-Fi is that of its stations.
        rate=None if kind.name == "wifi" else "10mbit",
        rtt="20ms",
        topology=kind.name,
        flows="4*newreno",
        duration="3s",
        seeds=1,
    )
    # On the bus each packet takes the channel for its 10 ms of propagation too, ACKs as well: at most 0.7 Mbit/s.
    assert result.runs["goodput_mbit"][0] > (0.4 if kind.name == "bus" else 1.0)


def equal_routes_are_all_used() -> None:
    result = package.compare(
        aqm="fifo",
        rate="10mbit",
        rtt="20ms",
        topology="leaf_spine:spines=4:hosts=16",
        flows="64*cbr:rate=100kbit",
        duration="2s",
        seeds=1,
    )
    used = result.queues.filter(
        result.queues["link"].str.starts_with("spine") & result.queues["link"].str.ends_with("leaf0")
    )
    assert len(used) == 4
    assert used["arrived_packets"].min() > 0


def a_file_gives_links_queues_and_ends(tmp_path: Path, aqmlab: Command) -> None:
    text = """
        measured = "a->b"
        sources = ["a"]
        sinks = ["c"]
        [[link]]
        from = "a"
        to = "b"
        delay = "5ms"
        queue = "test"
        [[link]]
        from = "b"
        to = "c"
        rate = "100mbit"
        delay = "5ms"
        queue = "codel"
        back = "fifo limit 100p"
    """
    (tmp_path / "chain.toml").write_text(text)
    ended = aqmlab(
        *("compare", "--rate", "10mbit", "--rtt", "20ms", "--topology", "chain.toml", "--aqm", "pie", "--seeds", "1"),
        *("--duration", "2s", "--out", "out"),
    )
    assert ended.status == 0, ended.err
    assert set(package.load("out").queues["link"]) >= {"a->b", "b->c", "c->b"}


def both_directions_of_an_asymmetric_line_are_measured_and_what_their_users_get() -> None:
    result = package.compare(
        aqm="codel",
        rate="16mbit",
        rtt="40ms",
        topology="asymmetric:up=1mbit",
        flows=["1*cubic:name=download", "1*cubic:name=upload:from=home:to=server", "1*voip", "1*web"],
        duration="20s",
        seeds=1,
    )
    (row,) = result.runs.iter_rows(named=True)
    for port in ("down", "up"):
        for name in ("qdelay_mean_ms", "qdelay_p99_ms", "loss_ratio", "queue_max_packets", "utilization"):
            assert row[f"port.{port}.{name}"] is not None
    assert row["port.down.throughput_mbit"] > 5.0
    assert 0.5 < row["port.up.throughput_mbit"] <= 1.01
    # Without a prefix, the queue is that of the first port.
    assert row["qdelay_mean_ms"] == row["port.down.qdelay_mean_ms"]
    assert row["class.upload.goodput_mbit"] > 0.3
    assert row["class.download.goodput_mbit"] > 3.0
    assert row["mos_mean"] > 1.0
    assert row["pages_completed"] > 0
    assert {"port.up.queue_packets", "port.down.qdelay_ms"} <= set(result.series["name"])
    assert {"port.up.qdelay", "port.down.qdelay"} <= set(result.histograms["name"])
    percentile = [one for one in result.summary.iter_rows(named=True) if one["metric"] == "port.up.qdelay_p99_ms"]
    assert percentile[0]["mean"] > 0.0


HOME_LINE: dict[str, Any] = {
    "rate": "16mbit",
    "topology": "asymmetric:up=1mbit",
    "rtt": "40ms",
    "buffer": "200p",
    "flows": ["1*cubic:name=download", "1*cubic:name=upload:from=home:to=server", "1*voip", "2*web", "1*video"],
}


def an_upload_bloats_its_own_direction_and_flow_queues_keep_the_call() -> None:
    result = package.compare(aqm=["fifo", "fq_codel"], seeds=2, **HOME_LINE)
    mean = {(row.aqm, row.metric): row.estimate.value for row in result.rows}
    # 200 packets of 1514 bytes take 2.42 s at 1 Mbit/s, and a sixteenth of it down.
    assert 1000.0 < mean["fifo", "port.up.qdelay_p99_ms"] <= 2423.0
    assert mean["fifo", "port.down.qdelay_p99_ms"] <= 152.0
    assert mean["fq_codel", "port.up.qdelay_mean_ms"] < 30.0
    assert mean["fifo", "mos_back_mean"] < 3.0
    assert min(mean["fq_codel", "mos_mean"], mean["fq_codel", "mos_back_mean"]) > 4.0
    assert mean["fq_codel", "page_load_mean_s"] < 2.0 < mean["fifo", "page_load_mean_s"]
    for aqm in result.aqms:
        unfinished = mean[aqm, "pages_requested"] - mean[aqm, "pages_completed"]
        assert 0.0 <= unfinished <= 2.0  # one for each of two people

    ports = port_cells(result, 0)
    assert list(ports) == [(port, aqm) for port in ("down, 16mbit", "up, 1mbit") for aqm in ("fifo", "fq_codel")]
    assert {(line["buffer"].value, line["buffer_ms"].value) for line in ports.values()} == {
        ("200p", "151"),
        ("200p", "2422"),
    }
    page = result.report()
    terminal = io.StringIO()
    Console(width=100, file=terminal, highlight=False).print(details(result, 100))
    text = terminal.getvalue()
    assert all(len(line.rstrip()) <= 100 for line in text.splitlines())
    for shown in (page, text):
        for words in ("up, 1mbit", "2422", "MOS", "Page load", "requested", "stalled, s", "200p"):
            assert words in shown
    assert result.document()["scenario"]["ports"]["up"] == {"link": "modem->isp", "rate": "1mbit"}


def without_ports_and_applications_their_tables_are_absent(result: Result) -> None:
    assert port_cells(result, 0) == {}
    assert occasional_cells(result.aqms, result.rows, APPLICATION_COLUMNS) == {}
    assert "MOS" not in result.report()


def any_port_can_be_measured_and_a_wrong_one_is_refused(tmp_path: Path, aqmlab: Command) -> None:
    words = ("compare", "--rate", "10mbit", "--rtt", "20ms", "--aqm", "pie", "--seeds", "1", "--duration", "2s")
    ended = aqmlab(*words, "--measure", "bottleneck,back", "--out", "out", "--json", "-")
    assert ended.status == 0, ended.err
    metrics = json.loads(ended.out)["runs"][0]["metrics"]
    assert metrics["port.back.packets_arrived"] > 100
    assert metrics["port.bottleneck.utilization"] == metrics["utilization"]
    alone = aqmlab(*words, "--topology", "asymmetric", "--measure", "up", "--out", "alone", "--json", "-")
    metrics = json.loads(alone.out)["runs"][0]["metrics"]
    assert not any(name.startswith("port.") for name in metrics)
    for options, wanted in (
        (("--measure", "bakc"), "--measure: unknown port 'bakc', did you mean 'back'?"),
        (("--measure", "back", "--measure", "back"), "--measure: 'back' is given twice"),
        (
            ("--topology", "asymmetric", "--measure", "uo"),
            "--measure: unknown port 'uo', did you mean 'up'?; known are",
        ),
    ):
        refused = aqmlab(*words, *options)
        assert refused.status == 2
        assert wanted in refused.err
    (tmp_path / "two.toml").write_text(
        'rate = "10mbit"\nrtt = "20ms"\naqm = "pie"\nduration = "2s"\nseeds = 1\n'
        'topology = "asymmetric"\nmeasure = ["up", "down"]\n'
    )
    ended = aqmlab("run", "two.toml", "--out", "file", "--json", "-")
    assert ended.status == 0, ended.err
    metrics = json.loads(ended.out)["runs"][0]["metrics"]
    assert metrics["port.up.utilization"] == metrics["utilization"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("star:host=3", "--topology: unknown key 'host', did you mean 'hosts'?"),
        ("missing.toml", "missing.toml: cannot be read"),
        ("t.toml", "--topology: t.toml: link 0: delay is missing"),
    ],
)
def a_wrong_topology_is_refused_by_option_file_and_key(text: str, wanted: str, aqmlab: Command, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('[[link]]\nfrom = "a"\nto = "b"')
    ended = aqmlab("compare", "--rate", "10mbit", "--rtt", "20ms", "--aqm", "pie", "--topology", text)
    assert ended.status == 2
    assert wanted in ended.line


def ends_are_checked_against_the_topology(aqmlab: Command) -> None:
    base = ("compare", "--rate", "10mbit", "--rtt", "20ms", "--aqm", "pie", "--flows")
    ended = aqmlab(*base, "1*cubic:from=h9", "--topology", "star:hosts=4")
    assert ended.status == 2
    assert "flows: 'cubic': from: unknown node 'h9', did you mean 'h0'?" in ended.line


def a_dumbbell_has_no_nodes_to_name(aqmlab: Command) -> None:
    base = ("compare", "--rate", "10mbit", "--rtt", "20ms", "--aqm", "pie", "--flows")
    for key in ("from", "to"):
        ended = aqmlab(*base, f"1*cubic:name=film:{key}=phone")
        assert ended.status == 2
        assert f"flows: 'film': {key}: 'phone' is no node: a dumbbell has none" in ended.line


def cake_shares_between_the_hosts_of_a_topology(aqmlab: Command) -> None:
    flows = ("--flows", "1*cubic:name=one:from=s0", "--flows", "8*cubic:name=eight:from=s1")
    link = ("--rate", "20mbit", "--rtt", "30ms", "--topology", "many_to_one:senders=2")
    times = ("--duration", "20s", "--warmup", "5s", "--seeds", 1)
    for isolation, expected in (("dual-srchost", 1 / 2), ("flows", 1 / 9)):
        ended = aqmlab("compare", *link, *times, *flows, "--aqm", f"cake {isolation}", "--json", "-", "--quiet")
        metrics = json.loads(ended.out)["runs"][0]["metrics"]
        share = metrics["class.one.goodput_mbit"] / metrics["goodput_mbit"]
        assert share == pytest.approx(expected, rel=0.12)


def figures_name_the_topology(aqmlab: Command, tmp_path: Path) -> None:
    base = ("compare", "--rate", "10mbit", "--rtt", "20ms", "--aqm", "fifo", "--duration", "1s", "--seeds", "1")
    aqmlab(*base, "--topology", "star:hosts=3", "--out", "star")
    aqmlab(*base, "--out", "plain")
    assert "10mbit in star:hosts=3, 20ms base RTT" in (tmp_path / "star" / "report.html").read_text()
    assert "10mbit, 20ms base RTT" in (tmp_path / "plain" / "report.html").read_text()


# Two stations, each behind recorded links of its own down and up; the first one's is measured.
STATIONS = """measured = "point->near"
sources = ["server"]
sinks = ["near", "far"]
link = [
  { from = "server", to = "point", rate = "1gbit", delay = "8ms" },
  { from = "point", to = "near", both = false, queue = "test", delay = "1ms", kind = "trace steps:12mbit*1s" },
  { from = "near", to = "point", both = false, queue = "test", delay = "1ms", kind = "trace steps:2mbit*1s" },
  { from = "point", to = "far", both = false, queue = "test", delay = "1ms", kind = "trace FAR" },
  { from = "far", to = "point", both = false, queue = "test", delay = "1ms", kind = "trace steps:1mbit*1s" },
]
"""


WITH_STATIONS: dict[str, Any] = {
    "aqm": "codel",
    "rate": "12mbit",
    "rtt": "20ms",
    "flows": ["1*cubic:name=near:to=near", "1*cubic:name=far:to=far"],
    "duration": "20s",
    "seeds": 1,
}


def each_station_has_recorded_links_of_its_own(tmp_path: Path) -> None:
    file, far = tmp_path / "stations.toml", tmp_path / "far.down"
    file.write_text(STATIONS.replace("FAR", str(far)))
    # 1500 bytes each 4 ms, and each 8 ms: another content is another scenario.
    for opportunities, rate in (("4\n", 3.0), ("8\n", 1.5)):
        far.write_text(opportunities)
        run = package.compare(topology=str(file), **WITH_STATIONS).runs.row(0, named=True)
        assert 10.6 < run["class.near.goodput_mbit"] < 12.0
        assert 0.85 * rate < run["class.far.goodput_mbit"] < rate


def a_recording_of_a_link_that_is_not_there_is_named(tmp_path: Path, aqmlab: Command) -> None:
    (tmp_path / "stations.toml").write_text(STATIONS.replace("FAR", "nowhere.down"))
    flows = ["--flows", "1*cubic", "--rate", "12mbit", "--rtt", "20ms", "--duration", "2s"]
    done = aqmlab("compare", "--aqm", "codel", "--topology", str(tmp_path / "stations.toml"), *flows)
    assert done.status == 2
    assert "--topology: nowhere.down: " in done.err
