"""A line with a downlink and an uplink: the answer has both directions."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab.exports.latex import TABLE, latex
from aqmlab.plots import figures
from aqmlab.report import charts, render, sweep
from aqmlab.results import directions, full_ports, over_settings, swept
from aqmlab.results.brief import brief
from aqmlab.results.headline import headlines
from aqmlab.results.heat import heat_maps
from aqmlab.results.result import Result
from aqmlab.results.setting_line import setting_line
from aqmlab.results.sheets import sheets

UP = "port.up.qdelay_mean_ms"


@pytest.fixture(scope="module")
def line() -> Result:
    """A line whose uplink alone is loaded, with a call across it."""
    return aqmlab.compare(
        rate="50mbit",
        rtt="20ms",
        topology="asymmetric:up=10mbit",
        buffer="50ms",
        flows=["1*cubic:name=upload:from=home:to=server:start=0s", "1*voip:start=0s"],
        aqm=["fifo", "fq_codel"],
        seeds=3,
        duration="10s",
    )


def the_table_has_the_delay_of_both_directions_and_of_the_call_both_ends(line: Result) -> None:
    found = brief(line)
    metrics = [column.metric for column in found.columns]
    assert metrics[:2] == ["qdelay_mean_ms", UP]
    assert {"mos_mean", "mos_back_mean"} <= set(metrics)
    assert [column.unit for column in found.columns[:2]] == ["mean down, ms", "mean up, ms"]
    delay = {aqm: float(cells[1][0]) for aqm, cells in found.lines.items()}
    assert delay["fifo"] > 50.0
    assert delay["fq_codel"] < 0.2 * delay["fifo"]


def the_first_sentence_is_of_the_direction_that_suffers(line: Result) -> None:
    (one,) = headlines(line)
    assert "less queue delay at up than fifo" in one.words


def an_idle_port_that_is_measured_by_default_is_warned_of() -> None:
    options = {"rate": "10mbit", "rtt": "10ms", "topology": "leaf_spine:leaves=2:spines=1:hosts=1", "duration": "2s"}
    flows = "2*cubic:start=0s:from=h0.0:to=h1.0"
    (warning,) = aqmlab.compare(**options, flows=flows, aqm="fifo", seeds=1).warnings
    assert warning.startswith("queue delay and loss are of port leaf0->h0.0, which is ")
    assert warning.endswith("times as much: --measure 'leaf0->spine0'")
    # Asked for by name, it is what the user wants.
    assert not aqmlab.compare(**options, flows=flows, aqm="fifo", seeds=1, measure="leaf0->h0.0").warnings


def groups_of_flows_are_measured_from_end_to_end(line: Result) -> None:
    groups = next(sheet for sheet in sheets(line)[0].more if sheet.heads[0] == "Flows")
    titles = [column.title for column in groups.columns]
    assert {"Goodput", "One-way delay", "Loss on the path"} <= set(titles)
    assert not any(title.startswith("Queue delay") for title in titles)
    # 50 ms of buffer at the download's rate take 251 ms of the uplink, in which the upload waits.
    assert float(groups.lines["upload", "fifo"]["owd_mean_ms"].value) > 100.0


def tables_begin_with_the_port_where_packets_wait(line: Result) -> None:
    ports = next(sheet for sheet in sheets(line)[0].more if sheet.heads[0] == "Port")
    assert [port for port, _ in ports.lines] == ["up, 10mbit", "up, 10mbit", "down, 50mbit", "down, 50mbit"]
    assert full_ports.ports(line, 0) == ["up", "down"]


def rankings_are_of_the_port_where_packets_wait(line: Result) -> None:
    ranked = [one.metric for one in full_ports.orders(line, 0)]
    assert UP in ranked
    assert "port.up.loss_ratio" in ranked
    assert not any("down" in metric or metric.startswith(("qdelay", "loss", "utilization")) for metric in ranked)


def tests_of_an_idle_port_say_which_it_is(line: Result) -> None:
    words = [directions.named(one, line.scenarios[0]).words for one in line.comparisons]
    assert any(text.startswith("mean queue delay at down:") for text in words)
    assert any(text.startswith("loss at down:") for text in words)
    assert not any(text.startswith(("mean queue delay:", "loss:", "utilization:")) for text in words)


@pytest.fixture(scope="module")
def swept_line() -> Result:
    """The same without a call, over two round trips."""
    return aqmlab.sweep(
        sweep={"rtt": "20ms,40ms"},
        rate="50mbit",
        topology="asymmetric:up=5mbit",
        buffer="50ms",
        flows="1*cubic:name=upload:from=home:to=server:start=0s",
        aqm=["fifo", "fq_codel"],
        seeds=3,
        duration="6s",
    )


def a_sweep_answers_for_the_port_where_packets_wait(swept_line: Result) -> None:
    (one,) = over_settings.headlines(swept_line)
    assert one.words.startswith("queue delay at up 9")
    first = heat_maps(swept_line)[0]
    assert (first.column.metric, first.column.title) == (UP, "Queue delay at up")
    assert all(float(row["fifo"].text) > 50.0 for row in first.rows)
    assert {one.metric for one in swept.extremes(swept_line)} >= {UP, "port.up.loss_ratio", "goodput_mbit"}
    assert [one.metric for one in swept.orders(swept_line)][:1] == [UP]
    chart = sweep.data(swept_line)
    assert chart["first"] == UP
    assert UP in [one["name"] for one in chart["metrics"]]
    picture = next(one for one in figures("sweep", [swept_line]) if one.name.startswith("sweep")).table
    assert picture["metric"].unique().sort().to_list() == ["goodput_mbit", "port.up.loss_ratio", UP]
    assert "Queue delay at up" in render(swept_line)


def a_sweep_over_one_port_has_no_names_of_ports() -> None:
    found = aqmlab.sweep(
        sweep={"rtt": "20ms,40ms"}, rate="5mbit", flows="1*cubic", aqm="fifo", seeds=1, duration="2s", warmup="500ms"
    )
    assert [one.column.title for one in heat_maps(found)] == ["Queue delay", "Goodput"]
    assert full_ports.over_settings(found, ["loss_ratio", "qdelay_p99_ms"]) == ["loss_ratio", "qdelay_p99_ms"]


def bars_are_of_the_port_where_packets_wait(line: Result) -> None:
    (bars,) = figures("bars", [line])
    waits = [UP, "port.up.qdelay_p99_ms", "goodput_mbit", "port.up.loss_ratio"]
    assert bars.table["metric"].unique(maintain_order=True).to_list() == waits


def a_notebook_shows_the_ports(line: Result) -> None:
    page = line._repr_html_()
    assert page.index("up, 10mbit") < page.index("down, 50mbit")


def a_table_for_a_paper_is_of_the_port_where_packets_wait(line: Result) -> None:
    text = latex(line)[TABLE].decode()
    assert "{Queue delay at up}" in text
    assert "{Loss at up}" in text
    assert r"{Queue delay}" in latex(line, ["qdelay_mean_ms"])[TABLE].decode()


def bars_of_groups_are_of_the_delay_from_end_to_end(line: Result) -> None:
    table = figures("groups", [line])[0].table
    assert table["metric"].unique().sort().to_list() == ["goodput_mbit", "owd_mean_ms"]


def pictures_and_losses_are_of_the_port_where_packets_wait_longest(line: Result) -> None:
    assert "Loss at up" in [column.title for column in brief(line).columns]
    for kind, column in (("tradeoff", UP), ("cdf", "port.up.qdelay_ms"), ("box", UP)):
        assert column in figures(kind, [line])[0].table.columns
    assert figures("timeseries", [line])[0].table["name"].unique().sort().to_list()[-1] == "port.up.qdelay_ms"
    assert charts.data(line)["points"][0]["first"]["runs"] == UP


def a_port_without_a_queue_is_no_part_of_the_answer(line: Result) -> None:
    (one,) = headlines(line)
    assert "at down" not in one.words


def the_buffer_is_as_long_as_each_rate_makes_it(line: Result) -> None:
    assert "buffer 207 packets (50 ms down, 251 ms up)" in setting_line(line)


def a_port_that_was_asked_for_is_named_beside_its_topology() -> None:
    options = {"rate": "10mbit", "rtt": "20ms", "topology": "parking_lot:hops=2", "duration": "1s", "warmup": "0s"}
    asked = aqmlab.compare(**options, measure="r1->r2", aqm="fifo", seeds=1, flows="1*cubic:start=0s")
    assert setting_line(asked).startswith("parking_lot:hops=2 at r1->r2, 10 Mbit/s")
