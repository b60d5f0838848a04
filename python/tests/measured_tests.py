"""Measurements of others: what flent, iperf3 and tc write, as results that figures take."""

from __future__ import annotations

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
    assert found.scenarios[0]["flows"] == ["iperf3, 1 of TCP"]


def counters_of_tc_become_runs(tmp_path: Path) -> None:
    found = measured.read(_written(tmp_path / "tc.json", CAKE))
    assert found.aqms == ["cake"]
    (run,) = found.runs.iter_rows(named=True)
    assert (run["loss_ratio"], run["marks"]) == (0.1, 5.0)
    assert run["qdelay_mean_ms"] == pytest.approx((30 * 0.1 + 60 * 4.0) / 90)


@pytest.mark.parametrize("path", SHIPPED or [None], ids=lambda path: path.name if path else "none")
def measurements_that_come_with_flent_are_read(path: Path | None) -> None:
    if path is None:
        pytest.skip("flent is not installed")
    if path.name == "test-http.flent.gz":
        with pytest.raises(InputError, match="has neither TCP goodput nor pings"):
            measured.read(path)
        return
    found = measured.read(path)
    (run,) = found.runs.iter_rows(named=True)
    assert found.aqms == ["measured"]
    assert run["goodput_mbit"] > 0.5
    if "rrul" in path.name:
        ways = {f"class.{way}.goodput_mbit" for way in ("download", "upload")}
        assert ways <= set(found.series["name"].unique())
        assert run["qdelay_p95_ms"] > 0.0


def simulated_and_measured_are_in_one_figure(aqmlab: Command, result: Result, tmp_path: Path) -> None:
    other = measured.read(_written(tmp_path / "line.json", _iperf3((0.5, 8e6, 20_000), (1.0, 9e6, 30_000))))
    for kind in ("timeseries", "cdf", "bars", "tradeoff"):
        [figure] = plots.figures(kind, [result, other])
        assert "measured, line" in figure.table["aqm"].to_list()
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
        ({"version": 9, "x_values": [], "results": {}}, "has version 9 of flent's format"),
        ({"start": {}, "intervals": []}, "has no intervals"),
        ({"start": {}, "intervals": [], "error": "refused"}, "is of a test of iperf3 that failed: refused"),
        ({"start": {}, "intervals": [{"sum": {"end": "x"}}]}, "'end' of an interval is no number"),
        ([{"kind": "fifo", "packets": 0}], "has no qdisc that packets went through"),
        ([{"kind": "fifo", "packets": 10**400}], "'packets' of a qdisc is too large"),
    ],
)
def what_is_wrong_with_a_file_is_said_in_one_line(tmp_path: Path, content: Any, says: str) -> None:
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
