"""What is shown of Wi-Fi: the table of stations, the answer, figures, the page, and what the model leaves out."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import aqmlab
from aqmlab import Result
from aqmlab.cli import answer
from aqmlab.results import result_json, stations
from aqmlab.results.headline import headlines
from aqmlab.results.sheets import sheets

LINK = """
[[link]]
from = "{one}"
to = "{other}"
both = false
{rest}
"""
NOT_MODELLED = "The model of Wi-Fi leaves out hidden terminals, fading, roaming, rate control"


def _home(names: dict[str, str]) -> str:
    """Return the topology of an access point with stations: their names and rates."""
    rates = ", ".join(f"{name}={rate}" for name, rate in names.items())
    air = f'delay = "0ms"\nmedium = "wifi"\nkind = "wifi stations [{rates}]"\nqueue = '
    wire = 'delay = "5ms"\nrate = "1gbit"'
    near = 'delay = "0ms"\nrate = "10gbit"'
    links = [("ap", "air", f'{air}"test"'), ("air", "ap", near), ("server", "ap", wire), ("ap", "server", wire)]
    for name in names:
        links += [(name, "air", f'{air}"fifo limit 1000p"'), ("air", name, near)]
    head = f'measured = "ap->air"\nsources = ["server"]\nsinks = {list(names)}\n'.replace("'", '"')
    return head + "".join(LINK.format(one=one, other=other, rest=rest) for one, other, rest in links)


@pytest.fixture(scope="module")
def wifi(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A tablet in the garden downloads, and a phone beside the access point calls and has a film."""
    topology = tmp_path_factory.mktemp("home") / "home.toml"
    topology.write_text(_home({"phone": "ht-mcs15-400ns", "tablet": "ht-mcs0-400ns"}))
    flows = ["1*cbr:to=tablet:rate=20mbit", "1*voip:to=phone", "1*cbr:to=phone:rate=100mbit:name=film"]
    options = {"rate": "144mbit", "rtt": "10ms", "buffer": "1000p", "duration": "4s", "warmup": "2s", "seeds": 3}
    return aqmlab.compare(aqm=["fifo", "fq_codel", "airtime_fq"], flows=flows, topology=str(topology), **options)


def _printed(result: Result, width: int, *, verbose: bool = False) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(answer.result(result, Path("out"), width, verbose=verbose))
    return console.export_text()


def _mean(result: Result, aqm: str, metric: str) -> float:
    return next(row.estimate.value for row in result.rows if (row.aqm, row.metric) == (aqm, metric))


def the_table_of_stations_says_where_packets_wait(wifi: Result) -> None:
    table, medium = sheets(wifi)[0].stations
    assert table.heads == ("Station", "AQM")
    names = [(station, aqm) for station in ("phone", "tablet") for aqm in ("fifo", "fq_codel", "airtime_fq")]
    assert list(table.lines) == names
    shown = [column.metric for column in table.columns]
    assert shown[:5] == [
        "airtime_share",
        "delay_discipline_ms",
        "delay_driver_ms",
        "delay_air_ms",
        "aggregate_mean_packets",
    ]
    # Without errors of the radio nothing waits to be put in order.
    assert "delay_reorder_ms" not in shown
    share = 100.0 * _mean(wifi, "fifo", "station.tablet.airtime_share")
    assert table.lines["tablet", "fifo"]["airtime_share"].value == f"{share:.1f}"
    assert list(medium.lines) == [("fifo",), ("fq_codel",), ("airtime_fq",)]


@pytest.mark.parametrize("width", [80, 120])
def a_terminal_shows_the_table_after_that_of_flows(wifi: Result, width: int) -> None:
    text = _printed(wifi, width, verbose=True)
    assert max(map(len, text.splitlines())) <= width
    assert text.index("Flows") < text.index("Station") < text.index(NOT_MODELLED) < text.index("Against fifo")


def the_answer_names_the_slow_station_and_its_wait_below_the_aqm(wifi: Result) -> None:
    above, fair = (one.words for one in headlines(wifi))
    waits = {aqm: _mean(wifi, aqm, "station.tablet.delay_driver_ms") for aqm in wifi.aqms}
    # The driver's queue is below the discipline, and there it stays.
    assert re.search(r"packets for tablet still wait (\d+) ms in the driver, below the AQM", above)
    assert f"still wait {waits['fq_codel']:.0f} ms" in above
    assert f"packets for tablet wait {waits['airtime_fq']:.1f} ms in the driver, not {waits['fifo']:.0f} ms" in fair


def one_seed_names_what_differs(wifi: Result) -> None:
    one = aqmlab.compare(
        aqm=["fifo", "airtime_fq"],
        flows=["1*cubic:to=tablet", "1*cubic:to=phone"],
        rate="144mbit",
        rtt="10ms",
        buffer="1000p",
        topology=wifi.scenarios[0]["topology"],
        duration="4s",
        seeds=1,
    )
    assert "takes" in headlines(one)[0].words
    assert "in the driver, not" in headlines(one)[0].words


def every_wifi_result_says_what_its_model_leaves_out(wifi: Result, result: Result) -> None:
    assert NOT_MODELLED in _printed(wifi, 120)
    assert NOT_MODELLED not in _printed(result, 120)
    assert result_json.document(wifi)["not_modelled"] == list(stations.NOT_MODELLED)
    assert "not_modelled" not in result_json.document(result)


def other_results_have_no_stations(result: Result) -> None:
    assert sheets(result)[0].stations == []
    assert stations.names(result.rows) == []
    assert stations.words(result, 0, *result.aqms[:2]) == []
