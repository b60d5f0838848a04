from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from rich.console import Console

import aqmlab as package
from aqmlab import InputError, Result, plots, scenario
from aqmlab.cli.details import details
from aqmlab.results.swept import extremes, orders
from aqmlab.scenario import sweeps
from aqmlab.stats import hypercube, sobol
from aqmlab.vocabulary.units import parse_span

PLAIN: dict[str, Any] = {"aqm": ["codel target $target", "fifo"], "rate": "10mbit"}


def all_combinations_come_in_the_order_of_the_names() -> None:
    experiment = scenario.swept(PLAIN, {"target": "1ms..3ms*3", "rtt": "10ms, 40ms"})
    assert [tuple(point.point.values()) for point in experiment.points] == [
        ("1ms", "10ms"), ("1ms", "40ms"), ("2ms", "10ms"), ("2ms", "40ms"), ("3ms", "10ms"), ("3ms", "40ms"),
    ]  # fmt: skip
    plans = [scenario.resolve(point) for point in experiment.points]
    assert [plan.echo["rtt"] for plan in plans[:2]] == ["10ms", "40ms"]
    assert plans[5].echo["aqm"][0]["params"]["target"] == "3ms"


@pytest.mark.parametrize("name", ["latin", "sobol"])
def a_sample_has_a_value_of_its_own_in_every_layer(name: str) -> None:
    swept = {"target": "0ms..16ms", "load": ["1", "2", "3", "4"]}
    rows = [values for _, values in sweeps.points(swept, f"{name}*16", {}, {}, "")]
    assert len(rows) == 16
    layers = sorted(parse_span(row["target"]) // 1_000_000 for row in rows)
    assert layers == list(range(16))
    assert [sum(row["load"] == load for row in rows) for load in ("1", "2", "3", "4")] == [4, 4, 4, 4]


def values_between_multiples_of_a_kilobyte_are_written_in_it() -> None:
    # Of tc's notation: 1024 bytes.
    rows = sweeps.points({"min": "8kb..64kb*3", "max": ["64kb"]}, "grid", {}, {}, "")
    assert [point["min"] for point, _ in rows] == ["8kb", "36kb", "64kb"]


def a_label_stands_for_what_it_reads_as() -> None:
    named = {"kmin": {"8 kB": "8000b", "64 kB": "64000b"}}
    with pytest.raises(InputError) as error:
        sweeps.points(named, "grid", {}, {}, "file.toml: ")
    assert str(error.value) == ("file.toml: sweep: kmin: '8 kB' stands for 8000b, but reads as 8kb: call it 8000b")
    other = {"kmin": {"8kb": "8kb", "few": "8000b"}, "load": {"30%": "120%", "one": "1*cubic"}}
    assert sweeps.points(other, "grid", {}, {}, "")[0] == (
        {"kmin": "8kb", "load": "30%"},
        {"kmin": "8kb", "load": "120%"},
    )


def values_of_python_become_text_in_labels() -> None:
    import datetime

    sweep = {"rtt": [datetime.timedelta(milliseconds=5)], "flows": [["1*cubic", "1*voip"]], "device_ring": [1, 8]}
    rows = sweeps.points(sweep, "grid", {}, {}, "")
    assert rows[1] == (
        {"rtt": "5ms", "flows": "1*cubic + 1*voip", "device_ring": "8"},
        {"rtt": datetime.timedelta(milliseconds=5), "flows": ["1*cubic", "1*voip"], "device_ring": 8},
    )


def sobol_points_are_those_of_joe_and_kuo() -> None:
    qmc = pytest.importorskip("scipy.stats.qmc", reason="scipy is not installed: the extra dev")
    theirs = qmc.Sobol(sobol.DIMENSIONS, scramble=False).random(256)
    assert (sobol.points(256, sobol.DIMENSIONS) - 0.5 / 256 == theirs).all()


def sobol_points_fill_every_elementary_square() -> None:
    # A (0, 2)-sequence in base 2: each square of 1/4 by 1/4 has one of 16 points, and so has each of 1/16 by 1.
    points = sobol.points(16, 2)
    for across, down in ((16, 1), (8, 2), (4, 4), (2, 8), (1, 16)):
        assert len({(int(x * across), int(y * down)) for x, y in points}) == 16


def a_hypercube_has_one_point_in_every_layer() -> None:
    points = hypercube.even(20, 3)
    for column in points.T:
        assert sorted(int(place * 20) for place in column) == list(range(20))


@pytest.mark.parametrize(
    ("sweep", "design", "message"),
    [
        ({"rtt": "40ms..10ms*3"}, "grid", "sweep: rtt: '40ms..10ms*3': the first end is not below the second"),
        ({"rtt": "10ms..40ms*1"}, "grid", "sweep: rtt: '10ms..40ms*1': '1' is not a whole number from 2 to 1000"),
        ({"rtt": "10ms..40ms"}, "grid", "sweep: rtt: a range needs the number of its values, as 10ms..40ms*8"),
        ({"rtt": "0ms..40ms*3log"}, "grid", "equal ratios need an end above zero"),
        ({"rtt": "10ms,10ms"}, "grid", "sweep: rtt: holds a value twice"),
        ({"rttt": "10ms,40ms"}, "grid", "sweep: unknown key 'rttt', did you mean 'rtt'?"),
        ({"rtt": "10ms..40ms"}, "sobl*4", "design: 'sobl*4' is none of grid, latin*N, sobol*N, did you mean 'sobol'?"),
        ({"rtt": "10ms..40ms"}, "sobol", "design: 'sobol': how many points? As sobol*30"),
        ({"rtt": "10ms..40ms"}, "grid*4", "design: 'grid*4': grid has the points of its values"),
        ({"rtt": "10ms..40ms*1000", "loss": "0%..1%*1000"}, "grid", "sweep: has 1000000 points; at most 10000"),
    ],
)
def a_wrong_sweep_is_refused_in_words(sweep: dict[str, str], design: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        scenario.swept({"aqm": "codel", "rate": "10mbit"}, sweep, design)
    assert message in str(error.value)


def a_sobol_sample_of_too_many_names_is_refused() -> None:
    names = [f"v{place}" for place in range(11)]
    flows = [f"1*cubic:start=${name}" for name in names]
    with pytest.raises(InputError, match="sobol: has 10 dimensions; 11 are swept: use latin"):
        scenario.swept({"aqm": "codel", "flows": flows}, dict.fromkeys(names, "1ms..9ms"), "sobol*4")


@pytest.fixture(scope="module")
def swept() -> Result:
    return package.sweep(
        sweep={"target": "2ms,20ms", "rtt": "10ms,40ms,160ms", "load": "1,20"},
        aqm=["codel target $target", "pie target $target"],
        flows="$load*cubic",
        rate="10mbit",
        duration="5s",
        seeds=3,
    )


def runs_have_the_swept_values_as_columns_with_units(swept: Result) -> None:
    assert swept.runs.columns[:6] == ["point", "aqm", "seed", "target_ms", "rtt_ms", "load"]
    last = swept.runs.row(-1, named=True)
    assert (last["target_ms"], last["rtt_ms"], last["load"]) == (20.0, 160.0, 20.0)
    assert "rtt_ms" not in swept.summary["metric"]


def a_resumed_sweep_has_its_columns_once(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"aqm": "codel", "rate": "10mbit", "duration": "2s", "out": tmp_path / "out"}
    package.sweep(sweep={"rtt": "10ms,40ms"}, seeds=1, **plain)
    grown = package.sweep(sweep={"rtt": "10ms,40ms,1s"}, seeds=2, **plain)
    assert grown.runs["rtt_ms"].to_list() == [10.0, 10.0, 40.0, 40.0, 1000.0, 1000.0]
    assert package.load(tmp_path / "out").runs.equals(grown.runs)


def the_best_scenario_has_least_delay_and_most_goodput(swept: Result) -> None:
    found = {(one.metric, one.aqm): one for one in extremes(swept)}
    for metric, best in (("qdelay_mean_ms", "min"), ("goodput_mbit", "max")):
        means = swept.summary.filter(metric=metric, aqm="codel")["mean"]
        one = found[metric, "codel"]
        assert one.best.estimate.value == getattr(means, best)()
        assert one.worst.estimate.value == getattr(means, "max" if best == "min" else "min")()


def an_order_names_the_scenarios_of_each_side(swept: Result) -> None:
    for order in orders(swept):
        places = [place for side in order.sides.values() for place in side]
        assert sorted(places) == [place for place in range(12) if swept.shows(place, order.metric)]
    delay = next(one for one in orders(swept) if one.metric == "qdelay_mean_ms")
    for one in swept.comparisons:
        if one.metric == "qdelay_mean_ms" and one.point in delay.sides["higher"]:
            assert one.difference.is_distinguishable
            assert one.difference.estimate.value > 0.0


def the_family_of_holms_correction_is_all_that_a_result_compares(swept: Result) -> None:
    own = [one.difference for one in swept.family]
    least = min(one.p_value for one in own if one.p_value is not None)
    assert min(one.p_holm for one in own if one.p_holm is not None) == pytest.approx(least * len(own))
    assert swept.document()["family"]["tests"] == len(own)


@pytest.mark.parametrize(
    ("sweep", "design", "panels", "across"),
    [
        # Delay, goodput and loss, one below the other.
        ({"rtt": "10ms,40ms"}, "grid", 3, 1),
        # The same beside each other for each rate.
        ({"rtt": "10ms,20ms,40ms", "rate": "5mbit,10mbit"}, "grid", 6, 2),
        # One metric for each rate and loss.
        ({"rtt": "10ms,20ms,40ms", "rate": "5mbit,10mbit", "loss": "0%,1%"}, "grid", 4, 2),
        # Goodput against delay.
        ({"rtt": "10ms..40ms", "rate": "5mbit..10mbit"}, "latin*5", 1, 1),
    ],
)
def a_figure_shows_the_whole_sweep(sweep: dict[str, str], design: str, panels: int, across: int) -> None:
    fixed = {} if "rate" in sweep else {"rate": "10mbit"}
    result = package.sweep(sweep=sweep, design=design, aqm=["fifo", "codel"], duration="2s", seeds=2, **fixed)
    figure = plots.figures("sweep", [result])[0]
    assert (len(figure.panels), figure.columns) == (panels, across)
    assert figure.svg.startswith("<?xml")
    for aqm in ("fifo", "codel"):
        assert aqm in figure.svg


def what_a_sweep_varies_is_not_in_the_names_of_curves(swept: Result) -> None:
    assert swept.aqms == ["codel", "pie"]
    figure = plots.figures("sweep", [swept])[0]
    assert set(figure.table["aqm"]) == {"codel", "pie"}
    assert figure.panels[0].rows == {"metric": "qdelay_mean_ms", "target": "2ms", "load": "1"}


def a_large_sweep_is_one_table_in_terminal_and_report(swept: Result) -> None:
    page = swept.report()
    assert "12 scenarios. Best and worst of them" in page
    assert page.count("<h3>") == 1
    console = Console(width=130, record=True, file=io.StringIO())
    console.print(details(swept, 130))
    text = console.export_text()
    assert "12 scenarios" in text
    assert text.count("Goodput, Mbit/s") == 1
    assert "$load*cubic" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sweep", "rtt"], "--sweep: 'rtt' is not NAME=VALUES, as rtt=10ms,40ms"),
        (["--sweep", "rtt=10ms,40ms", "--sweep", "rtt=1ms"], "--sweep: 'rtt' is given twice"),
        (["--sweep", "rtt=10ms,40ms", "--design", "latn*3"], "--design: 'latn*3' is none of grid, latin*N, sobol*N"),
        (["--sweep", "rtt=10ms,40ms", "--rtt", "3ms"], "--sweep: 'rtt' is given outside the sweep too"),
    ],
)
def a_wrong_sweep_is_one_line_on_the_command_line(aqmlab: Command, arguments: list[str], message: str) -> None:
    outcome = aqmlab("sweep", "--rate", "10mbit", "--aqm", "codel", *arguments)
    assert outcome.status == 2
    assert outcome.line.startswith(message)


def a_sweep_without_a_report_has_numbers_only(aqmlab: Command, tmp_path: Path) -> None:
    options = ["--rate", "10mbit", "--aqm", "codel", "--duration", "1s", "--seeds", "2", "--no-report"]
    outcome = aqmlab("sweep", "--sweep", "rtt=10ms,40ms", *options, "--out", str(tmp_path / "out"))
    assert outcome.status == 0
    assert outcome.out.replace("\n", "").rstrip().endswith(f"the numbers are in {tmp_path / 'out'}")
    assert not (tmp_path / "out/report.html").exists()
    assert len(package.load(tmp_path / "out").runs) == 4


def every_mean_of_a_sweep_is_within_the_axes_that_its_panels_share(swept: Result) -> None:
    figure = plots.figures("sweep", [swept])[0]
    means = figure.table.filter(metric="qdelay_mean_ms")["mean"].to_list()
    for axes in figure.draw().axes:
        low, high = axes.get_ylim()
        assert low <= min(means) < max(means) <= high


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(("rtts", "mark"), [(4, "line"), (5, "map")])
def two_names_of_many_values_are_heat_maps(rtts: int, mark: str) -> None:
    swept = {"target": "1ms..20ms*6", "rtt": f"10ms..50ms*{rtts}"}
    result = package.sweep(**PLAIN, sweep=swept, duration="3s", seeds=1)
    (figure,) = plots.figures("sweep", [result])
    assert {panel.mark for panel in figure.panels} == {mark}
    if mark == "map":
        # A column for each AQM, with the same colours; the metric above the goodput.
        assert figure.columns == 2
        assert [panel.rows["metric"] for panel in figure.panels] == ["qdelay_mean_ms"] * 2 + ["goodput_mbit"] * 2
        assert figure.panels[0].colours == figure.panels[1].colours
    assert figure.content("svg")


@pytest.mark.usefixtures("made_up")
def a_setting_is_named_in_the_figure_of_its_sweep() -> None:
    wide = package.sweep(
        **PLAIN, sweep={"target": "1ms,2ms,4ms,8ms,16ms", "rtt": "10ms..50ms*5"}, duration="3s", seeds=1
    )
    (figure,) = plots.figures("sweep", [wide])
    # Between 2 and 4 ms, at the middle of their ratio; at the third of five round trips.
    marked = plots.with_annotations(figure, ["a rule: target=2828us rtt=30ms"])
    assert {(one.name, round(one.x, 3), one.y) for panel in marked.panels for one in panel.annotations} == {
        ("a rule", 1.5, 2.0)
    }
    assert b"a rule" in marked.content("svg")
    (lines,) = plots.figures(
        "sweep", [package.sweep(**PLAIN, sweep={"target": "2ms,8ms"}, rtt="20ms", duration="3s", seeds=1)]
    )
    assert {
        one.x for panel in plots.with_annotations(lines, ["x: target=4ms"]).panels for one in panel.annotations
    } == {4e6}
    for wrong, message in {
        "rtt": "not of the form",
        "a: rtt=20ms": "no value of 'target'",
        "a: rt=20ms target=2ms": "unknown swept name of --mark 'rt', did you mean",
        "a: rtt=60ms target=2ms": "outside of what was swept",
        "a: rtt=20mbit target=2ms": "has no place between",
    }.items():
        with pytest.raises(package.InputError, match=message):
            plots.with_annotations(figure, [wrong])
