"""Measurements of others: what flent, iperf3 and tc write, as results that figures take."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as any_of
from shared import CASES, needed

from aqmlab import exports, measured, plots
from aqmlab.results import Result
from aqmlab.vocabulary.errors import InputError

# What comes with flent for its own tests: measurements over real hosts.
_FLENT = importlib.util.find_spec("unittests")
SHIPPED = (
    sorted((Path(_FLENT.submodule_search_locations[0]) / "test_data").glob("*.flent.gz"))
    if _FLENT and _FLENT.submodule_search_locations
    else []
)


def _iperf3(*intervals: tuple[float, float, float], **end: Any) -> dict[str, Any]:
    """Intervals as end (s), rate (bit/s) and round trip (us)."""
    return {
        "start": {"test_start": {"protocol": "TCP", "num_streams": 1, "duration": len(intervals)}},
        "intervals": [
            {
                "streams": [{"socket": 5, "bits_per_second": rate, "rtt": rtt}],
                "sum": {"start": at - 1.0, "end": at, "bits_per_second": rate},
            }
            for at, rate, rtt in intervals
        ],
        "end": end,
    }


CAKE = [
    {
        "kind": "cake",
        "handle": "8001:",
        "bytes": 4500,
        "packets": 90,
        "drops": 10,
        "tins": [
            {"sent_packets": 30, "avg_delay_us": 100, "ecn_mark": 2},
            {"sent_packets": 60, "avg_delay_us": 4000, "ecn_mark": 3},
        ],
    },
    {"kind": "noqueue", "handle": "0:", "bytes": 0, "packets": 0, "drops": 0},
]


def _written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def what_is_exported_for_flent_reads_back(result: Result, tmp_path: Path) -> None:
    [(name, content)] = exports.flent(result, aqm=result.aqms[0], seed=result.seeds[0]).items()
    (tmp_path / name).write_bytes(content)
    found = measured.read(tmp_path / name)
    assert found.aqms == [result.aqms[0]]
    data = json.loads(gzip.decompress(content))
    goodput = found.series.filter(name="goodput_mbit")
    assert goodput["value"].to_list() == pytest.approx(data["results"]["TCP upload sum"])
    assert goodput["time_s"].to_list() == data["x_values"]
    pings = np.array(data["results"]["Ping (ms) ICMP"])
    (run,) = found.runs.iter_rows(named=True)
    assert run["rtt_base_ms"] == pytest.approx(pings.min())
    assert run["qdelay_mean_ms"] == pytest.approx((pings - pings.min()).mean())


def intervals_of_iperf3_become_series(tmp_path: Path) -> None:
    content = _iperf3((1.0, 8e6, 20_000), (2.0, 10e6, 50_000), sum_received={"bits_per_second": 9e6})
    found = measured.read(_written(tmp_path / "iperf.json", content))
    assert found.series.filter(name="goodput_mbit")["value"].to_list() == [8.0, 10.0]
    assert found.series.filter(name="qdelay_ms")["value"].to_list() == [0.0, 30.0]
    (run,) = found.runs.iter_rows(named=True)
    assert (run["goodput_mbit"], run["rtt_base_ms"], run["qdelay_mean_ms"]) == (9.0, 20.0, 15.0)
    assert found.scenarios[0]["flows"] == ["iperf3, 1 of TCP, upload"]


def acknowledgments_that_cake_filters_are_no_loss(tmp_path: Path) -> None:
    tin = {"sent_packets": 900, "avg_delay_us": 1000, "ecn_mark": 0, "ack_drops": 60}
    content = [{"kind": "cake", "packets": 900, "drops": 100, "tins": [tin]}]
    (run,) = measured.read(_written(tmp_path / "tc.json", content)).runs.iter_rows(named=True)
    assert (run["loss_ratio"], run["ack_drops"]) == (0.04, 60.0)


def _read(path: Path, content: Any) -> tuple[dict[str, Any], dict[str, list[float]], list[str]]:
    """The metrics, series and warnings of a file."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    found = measured.read(path)
    (run,) = found.runs.iter_rows(named=True)
    names = found.series["name"].unique(maintain_order=True)
    return run, {name: found.series.filter(name=name)["value"].to_list() for name in names}, found.manifest["warnings"]


def _flent(version: int | None, raw: dict[str, Any], **results: list[float]) -> dict[str, Any]:
    columns = {name.replace("_", " ").replace("Ping ", "Ping (ms) "): values for name, values in results.items()}
    x_values = [float(at) for at in range(len(next(iter(results.values()))))]
    content = {"x_values": x_values, "results": columns, "metadata": {"NAME": "rtt_fair"}}
    if version is None:
        return {**content, "metadata": {"SERIES_META": {name: {"RAW_VALUES": values} for name, values in raw.items()}}}
    return {**content, "version": version, "raw_values": raw}


def each_host_of_flent_has_its_own_shortest_ping(tmp_path: Path) -> None:
    near, far = [10.0, 10.5, 10.0, 10.5], [200.0, 200.5, 200.0, 200.5]
    raw = {"Ping (ms) ICMP2 far": [{"t": at, "val": value} for at, value in enumerate(far)]}
    content = _flent(4, raw, Ping_ICMP1_near=near, Ping_ICMP2_far=far, Ping_avg=[105.0] * 4)
    run, series, warnings = _read(tmp_path / "two.flent", content)
    assert (run["qdelay_mean_ms"], run["qdelay_p999_ms"]) == (0.25, 0.5)
    assert (run["rtt_mean_ms"], run["rtt_base_ms"]) == (105.25, 105.0)
    assert series == {"qdelay_ms": [0.0, 0.5, 0.0, 0.5]}
    assert warnings == ["the queue delay of a measurement is each ping less the shortest ping to the same host"]


@pytest.mark.parametrize("version", [None, 1, 2, 3, 4])
def pings_by_netperf_are_transactions_a_second_before_version_4(tmp_path: Path, version: int | None) -> None:
    # 20 and 40 ms; version 4 has the milliseconds themselves.
    values = [20.0, 40.0] if version == 4 else [50.0, 25.0]
    raw = {"Ping (ms) UDP BE": [{"t": at, "val": value, "dur": 0.2} for at, value in enumerate(values)]}
    content = _flent(version, raw, Ping_UDP_BE=[20.0, 40.0])
    run, _, _ = _read(tmp_path / "old.flent", content)
    assert (run["rtt_mean_ms"], run["rtt_base_ms"], run["qdelay_mean_ms"]) == (30.0, 20.0, 10.0)


def version_1_without_raw_values_has_its_columns(tmp_path: Path) -> None:
    content = {"x_values": [0, 1], "results": {"Ping (ms) ICMP": [20.0, 40.0]}, "metadata": {"NAME": "ping"}}
    assert _read(tmp_path / "one.flent", bz2.compress(json.dumps(content).encode()))[0]["qdelay_mean_ms"] == 10.0


def columns_of_flent_are_distinguished_by_their_names(tmp_path: Path) -> None:
    columns = {
        "TCP upload BE1 2001:db8::1": [1.0],
        "TCP upload BE1 2001:db8::1::tcp_rtt": [500.0],
        "TCP upload summit": [2.0],
        "TCP upload avg": [1.5],
        "TCP download::0-CS0": [3.0],
        "SCTP download CS1": [4.0],
        "TCP cubic": [5.0],
        "TCP totals": [99.0],
        "UDP upload": [77.0],
        "Ping (ms)::ICMP": [20.0],
        "Ping (ms) ICMP1 2001:db8::1": [40.0],
    }
    run, series, _ = _read(
        tmp_path / "names.flent", {"version": 4, "x_values": [0], "results": columns, "metadata": {}}
    )
    assert series["class.upload.goodput_mbit"] == [3.0]
    assert series["class.download.goodput_mbit"] == [7.0]
    assert series["goodput_mbit"] == [15.0]
    assert run["rtt_mean_ms"] == 30.0


def _stream(at: int, mbit: float, sender: bool, **more: Any) -> dict[str, Any]:
    return {"start": at, "end": at + 1, "seconds": 1, "bits_per_second": mbit * 1e6, "sender": sender, **more}


def _bidir() -> dict[str, Any]:
    intervals = [
        {
            "streams": [_stream(at, 2.0, sender=True, rtt=80_000), _stream(at, 9.0, sender=False)],
            "sum": _stream(at, 2.0, sender=True),
            "sum_bidir_reverse": _stream(at, 9.0, sender=False),
        }
        for at in range(2)
    ]
    sums = {"sum_sent": 2.1, "sum_received": 2.0, "sum_sent_bidir_reverse": 9.2, "sum_received_bidir_reverse": 9.0}
    return {
        "start": {"test_start": {"protocol": "TCP", "num_streams": 1}},
        "intervals": intervals,
        "end": {name: {"bits_per_second": mbit * 1e6} for name, mbit in sums.items()},
    }


@pytest.mark.parametrize("version", ["3.7", "3.16"])
def both_directions_of_iperf3_are_named(tmp_path: Path, version: str) -> None:
    text = json.dumps(_bidir())
    # Before 3.11 both sums have the same key.
    run, series, _ = _read(tmp_path / "both.json", text if version == "3.16" else text.replace("_bidir_reverse", ""))
    assert (run["class.upload.goodput_mbit"], run["class.download.goodput_mbit"]) == (2.0, 9.0)
    assert run["goodput_mbit"] == 11.0
    assert series["class.upload.goodput_mbit"] == [2.0, 2.0]
    assert series["class.download.goodput_mbit"] == [9.0, 9.0]


def _udp(sender: bool = True, **more: Any) -> dict[str, Any]:
    """10 Mbit/s for two seconds, of which 66.49 % is lost."""
    mbit, counts = (10.0, {"packets": 863}) if sender else (3.35, {"packets": 863, "lost_packets": 574})
    intervals = [
        {"streams": [], "sum": _stream(at, mbit + change, sender, **counts)} for at, change in ((0, -1.0), (1, 1.0))
    ]
    start = {"test_start": {"protocol": "UDP", "num_streams": 1}}
    return {"start": start, "intervals": intervals, "end": {}, **more}


LOST = {"bits_per_second": 10e6, "lost_packets": 6649, "packets": 10_000, "lost_percent": 66.49}


@pytest.mark.parametrize(
    "end",
    [
        {"sum": LOST},
        {"sum": {"bits_per_second": 10e6, "lost_percent": 66.49}},
        {"sum": LOST, "sum_sent": {"bits_per_second": 10e6}, "sum_received": {**LOST, "bits_per_second": 3.351e6}},
        {"sum": {**LOST, "lost_percent": float("nan")}},
    ],
)
def what_udp_sent_is_no_goodput(tmp_path: Path, end: dict[str, Any]) -> None:
    run, series, warnings = _read(tmp_path / "udp.json", _udp(end=end))
    assert run["goodput_mbit"] == pytest.approx(3.351)
    assert run["loss_ratio"] == pytest.approx(0.6649)
    assert series["goodput_mbit"] == pytest.approx([9 * 0.3351, 11 * 0.3351])
    assert warnings == ["goodput of the upload over time is what was sent, times the share of the whole that arrived"]


def the_receivers_intervals_are_what_arrived_over_time(tmp_path: Path) -> None:
    server = {**_udp(sender=False), "start": {"accepted_connection": {"host": "::1"}}}
    run, series, warnings = _read(tmp_path / "udp.json", _udp(end={"sum": LOST}, server_output_json=server))
    assert series["class.upload.goodput_mbit"] == pytest.approx([2.35, 4.35])
    assert run["loss_ratio"] == pytest.approx(0.6649)
    assert warnings == []
    # A server's own file: it received, whatever its report of the client's sum says.
    run, series, _ = _read(tmp_path / "server.json", server)
    assert run["class.upload.goodput_mbit"] == pytest.approx(3.35)
    assert run["loss_ratio"] == pytest.approx(574 / 863)


def a_reverse_test_is_a_download(tmp_path: Path) -> None:
    content = _udp(sender=False, start={"test_start": {"protocol": "UDP", "num_streams": 1, "reverse": 1}})
    run, series, _ = _read(tmp_path / "down.json", {**content, "error": "interrupt - the client has terminated"})
    assert series["class.download.goodput_mbit"] == pytest.approx([2.35, 4.35])
    assert run["class.download.goodput_mbit"] == pytest.approx(3.35)
    # A server that sent has no report of the client: zeros.
    zero = {"bits_per_second": 0.0}
    server = _iperf3((1.0, 8e6, 20_000), (2.0, 10e6, 50_000), sum_received=zero, sum_sent={"bits_per_second": 9e6})
    server["start"] = {"accepted_connection": {}, "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 1}}
    run, _, warnings = _read(tmp_path / "server.json", server)
    assert (run["class.download.goodput_mbit"], run["qdelay_mean_ms"]) == (9.0, 15.0)
    assert "the download is what the sender sent: the receiver's report is missing" in warnings


def the_senders_round_trips_come_from_the_server_in_a_reverse_test(tmp_path: Path) -> None:
    client = _iperf3((1.0, 8e6, 0), (2.0, 10e6, 0), sum_received={"bits_per_second": 9e6})
    client["start"]["test_start"]["reverse"] = 1
    server = _iperf3((1.1, 8e6, 20_000), (2.1, 10e6, 50_000))
    run, series, _ = _read(tmp_path / "down.json", {**client, "server_output_json": server})
    assert (run["qdelay_mean_ms"], series["qdelay_ms"]) == (15.0, [0.0, 30.0])
    assert series["class.download.goodput_mbit"] == [8.0, 10.0]


def omitted_intervals_are_left_out(tmp_path: Path) -> None:
    content = _iperf3((1.0, 99e6, 1), (1.0, 8e6, 20_000), (2.0, 10e6, 50_000), sum_received={"bits_per_second": 9e6})
    content["intervals"][0]["sum"]["omitted"] = True
    run, series, _ = _read(tmp_path / "omit.json", content)
    assert (series["goodput_mbit"], run["rtt_base_ms"]) == ([8.0, 10.0], 20.0)


def many_streams_are_added(tmp_path: Path) -> None:
    content = _iperf3((1.0, 8e6, 20_000), (2.0, 10e6, 50_000), sum_received={"bits_per_second": 9e6})
    for interval, rtt in zip(content["intervals"], (40_000, 70_000), strict=True):
        interval["streams"] += [{"socket": 7, "rtt": rtt}]
    run, series, _ = _read(tmp_path / "many.json", content)
    assert (series["qdelay_ms"], run["goodput_mbit"]) == ([0.0, 30.0], 9.0)


def a_test_that_ended_early_is_read_with_its_error(tmp_path: Path) -> None:
    content = _iperf3((1.0, 8e6, 20_000), (2.0, 10e6, 50_000), sum_received={"bits_per_second": 0.0})
    content["intervals"][1]["sum"]["seconds"] = 0.25
    run, _, warnings = _read(
        tmp_path / "early.json", {**content, "error": "interrupt -\nthe client\x1b has terminated"}
    )
    assert run["goodput_mbit"] == pytest.approx((8.0 * 1.0 + 10.0 * 0.25) / 1.25)
    assert warnings[1:] == [
        "the upload is what the sender sent: the receiver's report is missing",
        r"the test ended early: interrupt - the client\x1b has terminated",
    ]


def _events(content: dict[str, Any]) -> list[str]:
    events = [
        ("start", content["start"]),
        *(("interval", one) for one in content["intervals"]),
        ("end", content["end"]),
    ]
    return [json.dumps({"event": event, "data": data}) for event, data in events]


def a_stream_of_events_is_one_result(tmp_path: Path) -> None:
    content = _iperf3((1.0, 8e6, 20_000), (2.0, 10e6, 50_000), sum_received={"bits_per_second": 9e6})
    whole = _read(tmp_path / "whole.json", content)
    lines = _events(content)
    assert _read(tmp_path / "stream.json", "\n".join(lines)) == whole
    # PowerShell's `>` writes UTF-16; `--json-stream-full-output` adds the whole.
    assert _read(tmp_path / "utf-16.json", "\r\n".join(lines).encode("utf-16")) == whole
    assert _read(tmp_path / "full.json", "\n".join([*lines, json.dumps(content, indent=1)])) == whole
    run, series, warnings = _read(tmp_path / "cut.json", "\n".join(lines)[:-30])
    assert (run["goodput_mbit"], series) == (9.0, whole[1])
    assert "the stream of events ends before the test did" in warnings
    with pytest.raises(InputError, match=r"several.json: holds several results: put each into a file of its own"):
        _read(tmp_path / "several.json", "\n".join(lines + lines))
    with pytest.raises(InputError, match=r"has no intervals"):
        _read(tmp_path / "start.json", lines[0])


@pytest.mark.parametrize("nan", ["nan", "-nan", "NaN", "inf", "-inf", "-nan(ind)", "1.#QNAN", "-1.#IND"])
def what_c_prints_for_no_number_is_read(tmp_path: Path, nan: str) -> None:
    text = json.dumps(_udp(end={"sum": {**LOST, "lost_percent": "HERE", "title": 'a nan, "-nan" '}}))
    run, _, _ = _read(tmp_path / "nan.json", text.replace('"HERE"', nan))
    assert run["loss_ratio"] == pytest.approx(0.6649)


@pytest.mark.timeout(20)
def hostile_text_takes_no_time(tmp_path: Path) -> None:
    for text in ('"\\' * 500_000, '\\"' * 500_001 + "\\", "nan" * 1_000_000, "{}" * 1_000_000, "[" * 1_000_000):
        with pytest.raises(InputError):
            _read(tmp_path / "hostile.json", text)


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("flent/two-hosts.flent.gz", {"qdelay_mean_ms": 0.25}),
        ("iperf3/bidir37.json", {"class.upload.goodput_mbit": 2.0, "class.download.goodput_mbit": 9.0}),
        ("iperf3/bidir316.json", {"class.upload.goodput_mbit": 2.0, "class.download.goodput_mbit": 9.0}),
        ("iperf3/udp-old.json", {"goodput_mbit": 3.35}),
        ("iperf3/udp-new.json", {"goodput_mbit": 3.35}),
        ("iperf3/stream.json", {"goodput_mbit": 3.35}),
        ("iperf3/nan.json", {"goodput_mbit": 3.35}),
    ],
)
def files_of_others_have_the_right_values(name: str, metrics: dict[str, float]) -> None:
    (run,) = measured.read(needed(CASES / name)).runs.iter_rows(named=True)
    assert {key: run[key] for key in metrics} == pytest.approx(metrics, rel=1e-3)


def counters_of_tc_become_runs(tmp_path: Path) -> None:
    found = measured.read(_written(tmp_path / "tc.json", CAKE))
    assert found.aqms == ["cake"]
    (run,) = found.runs.iter_rows(named=True)
    assert (run["loss_ratio"], run["marks"]) == (0.1, 5.0)
    assert run["qdelay_mean_ms"] == pytest.approx((30 * 0.1 + 60 * 4.0) / 90)


@pytest.mark.parametrize("path", SHIPPED or [None], ids=lambda path: path.name if path else "none")
def measurements_that_come_with_flent_are_read(path: Path | None) -> None:
    if path is None:
        pytest.skip("flent is not installed: the extra dev")
    if path.name == "test-http.flent.gz":
        with pytest.raises(InputError, match="has neither TCP goodput nor pings"):
            measured.read(path)
        return
    found = measured.read(path)
    (run,) = found.runs.iter_rows(named=True)
    assert found.aqms == ["measured"]
    assert run["goodput_mbit"] > 0.5
    if "rrul" in path.name:
        names = {f"class.{name}.goodput_mbit" for name in ("download", "upload")}
        assert names <= set(found.series["name"].unique())
        assert run["qdelay_p95_ms"] > 0.0


def simulated_and_measured_are_in_one_figure(aqmlab: Command, result: Result, tmp_path: Path) -> None:
    other = measured.read(_written(tmp_path / "line.json", _iperf3((0.5, 8e6, 20_000), (1.0, 9e6, 30_000))))
    for kind in ("timeseries", "cdf", "bars", "tradeoff"):
        [figure] = plots.figures(kind, [result, other])
        # Each has a panel of its own, with the axes of both.
        assert set(figure.table.filter(aqm="measured")["panel"]) == {"line"}
        assert len({panel.facet for panel in figure.panels}) == 2
    ended = aqmlab("plot", "timeseries", tmp_path / "line.json", "--out", tmp_path / "figure.svg")
    assert ended.status == 0
    assert "the queue delay of a measurement is the sender's round trip less its shortest" in ended.err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({}, "is JSON, but none of flent's data"),
        ([], "is JSON, but none of flent's data"),
        ({"x_values": [1, 2], "results": {"TCP upload": [1]}}, "'TCP upload' has 1 values at 2 times"),
        ({"x_values": "x", "results": {}}, "x_values is no list"),
        ({"version": 9, "x_values": [], "results": {}}, "has version 9 of flent's format: known are 1 to 4"),
        ({"version": "4", "x_values": [], "results": {}}, "has a 'version' that is no whole number: known are 1 to 4"),
        ({"start": {}, "intervals": []}, "has no intervals"),
        ({"start": {}, "intervals": [], "error": "refused"}, "is of a test of iperf3 that failed: refused"),
        (_udp(end={}), "is of UDP without the receiver's report on the upload (needed: 'sum_received'"),
        (_udp(end={"sum": {**LOST, "packets": 1}}), "has 6649 of 1 packets lost in 'sum': allowed are at most all"),
        (_udp(end={"sum": {"lost_packets": "x"}}), "'lost_packets' of 'sum' is no number"),
        ({"start": {}, "intervals": [{"sum": {"end": "x"}}]}, "'end' of an interval is no number"),
        ([{"kind": "fifo", "packets": 0}], "has no qdisc that packets went through"),
        ([{"kind": "fifo", "packets": 10**400}], "'packets' of a qdisc is too large"),
    ],
)
def what_is_wrong_with_a_file_is_reported_in_one_line(tmp_path: Path, content: Any, says: str) -> None:
    with pytest.raises(InputError) as caught:
        measured.read(_written(tmp_path / "file.json", content))
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'file.json'}: ")
    assert "\n" not in str(caught.value)


def a_file_of_another_kind_is_refused(aqmlab: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no JSON", encoding="utf-8")
    ended = aqmlab("plot", "cdf", tmp_path / "notes.txt")
    assert ended.status == 2
    assert "is neither a result folder nor JSON of flent's data" in ended.line
    (tmp_path / "cut.flent.gz").write_bytes(gzip.compress(b"{}")[:-12] + b"damage")
    with pytest.raises(InputError, match=r"neither a result folder|is damaged"):
        measured.read(tmp_path / "cut.flent.gz")


_JSON = any_of.recursive(
    any_of.none() | any_of.booleans() | any_of.integers() | any_of.floats(allow_nan=False) | any_of.text(max_size=5),
    lambda inner: any_of.lists(inner, max_size=3) | any_of.dictionaries(any_of.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=any_of.sampled_from(["flent", "iperf3", "tc"]), key=any_of.integers(0, 30), value=_JSON)
def any_value_in_any_place_is_read_or_refused(tmp_path: Path, base: str, key: int, value: Any) -> None:
    flent = {"version": 4, "x_values": [0.0, 1.0], "results": {"TCP upload sum": [1.0, 2.0]}, "metadata": {}}
    bases: dict[str, Any] = {"flent": flent, "iperf3": _iperf3((1.0, 1e6, 1000)), "tc": [dict(CAKE[0])]}
    content = json.loads(json.dumps(bases[base]))
    places = list(_places(content))
    holder, name = places[key % len(places)]
    holder[name] = value
    try:
        measured.read(_written(tmp_path / "any.json", content))
    except InputError as error:
        says = str(error)
        assert "\n" not in says


def _places(content: Any) -> Any:
    """Every place in lists and tables that holds something."""
    items = list(content.items() if isinstance(content, dict) else enumerate(content))
    for name, value in items:
        yield content, name
        if isinstance(value, dict | list):
            yield from _places(value)
