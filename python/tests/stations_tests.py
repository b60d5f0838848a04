"""What is shown of Wi-Fi: the table of stations, the answer, figures, the page, and what the model leaves out."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import aqmlab
from aqmlab import InputError, Result, plots, report
from aqmlab.cli import answer
from aqmlab.results import over_settings, result_json, stations
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
    options = {"rtt": "10ms", "buffer": "1000p", "duration": "4s", "warmup": "2s", "seeds": 3}
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


def a_topology_file_gives_its_measured_link_its_rate(wifi: Result) -> None:
    topology = wifi.scenarios[0]["topology"]
    assert wifi.scenarios[0]["rate"] == "144444444bit"
    with pytest.raises(InputError, match=r"its kind has a rate of 144444444bit, but .* 1gbit: leave the rate out"):
        aqmlab.compare(aqm="fifo", rtt="10ms", rate="1gbit", topology=topology, flows="1*cubic:to=phone", seeds=1)


def a_sweep_says_what_changes_for_stations_where_they_wait_longest() -> None:
    swept = aqmlab.sweep(
        aqm=["fifo", "airtime_fq"],
        sweep={"rtt": ["10ms", "20ms"]},
        flows="1*cubic:to=tablet",
        link="wifi stations [phone=ht-mcs15-400ns, tablet=ht-mcs0-400ns]",
        buffer="1000p",
        duration="4s",
        seeds=2,
    )
    (row,) = over_settings.headlines(swept)
    assert re.search(r"; at rtt [12]0ms: packets for tablet wait [\d.]+ ms in the driver, not \d+ ms$", row.words)


def one_seed_names_what_differs(wifi: Result) -> None:
    one = aqmlab.compare(
        aqm=["fifo", "airtime_fq"],
        flows=["1*cubic:to=tablet", "1*cubic:to=phone"],
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


def bars_of_the_air_are_the_shares_of_its_stations(wifi: Result) -> None:
    (figure,) = plots.figures("airtime", [wifi])
    assert figure.table.columns == ["aqm", "station", "mean"]
    sums = figure.table.group_by("aqm", maintain_order=True).agg(pl.col("mean").sum())
    assert sums["mean"].to_list() == pytest.approx([1.0] * 3)
    bars = figure.draw().axes[0].patches
    assert sum(bar.get_height() for bar in bars) == pytest.approx(3.0)


def bars_of_delay_name_the_layer_in_which_packets_wait(wifi: Result) -> None:
    (figure,) = plots.figures("layers", [wifi])
    assert [panel.title for panel in figure.panels] == ["phone", "tablet"]
    # A fast and a slow station are compared, so their axes are the same.
    assert figure.panels[0].y_axis == figure.panels[1].y_axis
    assert figure.panels[0].labels == ("AQM", "driver and hardware", "air")
    own = figure.table.filter(aqm="fq_codel", station="tablet", layer="driver and hardware")
    assert own["mean"].item() == _mean(wifi, "fq_codel", "station.tablet.delay_driver_ms")
    (alone,) = plots.figures("layers", [wifi], "delay_air_ms")
    assert set(alone.table["layer"]) == {"air"}


def parts_of_bars_differ_without_colour(wifi: Result) -> None:
    (figure,) = plots.figures("layers", [wifi])
    axes = figure.draw().axes[0]
    styles = {(bar.get_facecolor(), bar.get_hatch()) for bar in axes.patches}
    assert len(styles) == len({hatch for _, hatch in styles}) == 3


def delays_of_a_station_are_those_of_the_flows_to_it(wifi: Result) -> None:
    (figure,) = plots.figures("stations", [wifi])
    assert [panel.title for panel in figure.panels] == ["phone", "tablet"]
    ends = figure.table.group_by("aqm", "station", maintain_order=True).agg(pl.col("owd_ms", "share").last())
    assert ends["share"].to_list() == pytest.approx([1.0] * 6)
    buckets = wifi.histograms.filter(
        pl.col("aqm") == "fifo", pl.col("name").is_in(["class.voip.owd", "class.film.owd"])
    )
    largest = ends.filter(aqm="fifo", station="phone")["owd_ms"].item()
    assert largest == pytest.approx(buckets.filter(pl.col("count") > 0)["value_ns"].max() / 1e6)


@pytest.mark.parametrize("kind", report.OF_STATIONS)
def a_result_without_stations_has_no_figure_of_them(result: Result, kind: str) -> None:
    with pytest.raises(InputError, match=f"{kind}: the result has no stations: its link is not Wi-Fi"):
        plots.figures(kind, [result])
    assert kind not in {figure.name for figure in plots.drawable(result)[0]}


def a_column_that_no_station_has_is_an_error(wifi: Result) -> None:
    with pytest.raises(InputError, match="layers: there is no 'delay_drive_ms', did you mean 'delay_driver_ms'"):
        plots.figures("layers", [wifi], "delay_drive_ms")
    with pytest.raises(InputError, match="stations: there is no 'owd', did you mean 'owd_ms'"):
        plots.figures("stations", [wifi], "owd")


def two_results_have_a_row_of_panels_for_each_station(wifi: Result) -> None:
    manifest = json.loads(json.dumps(wifi.manifest))
    manifest["points"][0]["scenario"].update(rtt="20ms")
    (figure,) = plots.figures("layers", [wifi, wifi.with_manifest(manifest)])
    assert [panel.title.partition(": ")[2] or panel.title for panel in figure.panels] == [
        "phone", "phone", "tablet", "tablet",
    ]  # fmt: skip
    figure.draw().draw_without_rendering()


def many_stations_have_few_panels_and_say_how_many_are_missing() -> None:
    from aqmlab.plots.stations import _layer_panels

    rows = [("fifo", f"s{number}", "air", float(number)) for number in range(9)]
    panels = _layer_panels(pl.DataFrame(rows, ["aqm", "station", "layer", "mean"], orient="row"), ["fifo"], "all", 0.0)
    assert [panel.title for panel in panels] == ["s3", "s4", "s5", "s6", "s7", "s8 (3 more are in the table)"]


def the_page_has_a_section_about_wifi(wifi: Result, result: Result) -> None:
    page = report.render(wifi)
    section = page[page.index("<h2>Wi-Fi</h2>") : page.index("<h2>Against fifo</h2>")]
    assert NOT_MODELLED in section
    for title in ("Where packets wait", "Who has the air", "How long packets to each station take"):
        assert page.count(f"<h3>{title}</h3>") == section.count(f"<h3>{title}</h3>") == 1
    assert section.count(">tablet</th>") == 3
    # The picture beside the answer stays delay against goodput.
    assert page.index("figures/tradeoff.csv") < page.index("<h2>Summary</h2>") < page.index("<h2>Wi-Fi</h2>")
    assert "<h2>Wi-Fi</h2>" not in report.render(result)


WALK = "0s ht-mcs15-400ns\n1s ht-mcs3 # behind the door\n"


def rates_of_a_station_come_from_a_file_and_stay_in_the_result(tmp_path: Path) -> None:
    (tmp_path / "walk.txt").write_text(WALK)
    options = {
        "rtt": "10ms",
        "buffer": "100p",
        "flows": "1*cubic:to=walker",
        "duration": "3s",
        "warmup": "1500ms",
        "seeds": 1,
    }
    of_file = f"wifi stations [walker=rates({tmp_path / 'walk.txt'})]"
    inline = "wifi stations [walker=ht-mcs15-400ns at 1s ht-mcs3]"
    first, second = (aqmlab.compare(aqm="fifo", link=link, **options) for link in (of_file, inline))
    assert [result.scenarios[0]["link"] for result in (first, second)] == [inline, inline]
    assert first.runs["goodput_mbit"].to_list() == second.runs["goodput_mbit"].to_list()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("0s ht-mcs7\n1s ht-mcs99\n", r"'.*walk.txt' line 2: 'ht-mcs99': mcs is 99: HT has 0 to 31"),
        ("0s ht-mcs7\nsoon ht-mcs3\n", r"'.*walk.txt' line 2: 'soon'"),
        ("", r"has no line of a time and a rate, as '0s ht-mcs7'"),
        ("\0" * 2_000_000, "is larger than 1mb"),
        (None, "cannot be read"),
    ],
)
def a_file_of_rates_that_cannot_be_is_refused_in_one_line(tmp_path: Path, content: str | None, problem: str) -> None:
    if content is not None:
        (tmp_path / "walk.txt").write_text(content)
    link = f"wifi stations [walker=rates({tmp_path / 'walk.txt'})]"
    with pytest.raises(InputError, match=problem) as refused:
        aqmlab.compare(aqm="fifo", link=link, rtt="10ms", buffer="100p", flows="1*cubic:to=walker", seeds=1)
    assert "\n" not in str(refused.value)
