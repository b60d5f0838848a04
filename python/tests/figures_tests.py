"""Figures for papers and pages: their kinds, numbers and formats."""

from __future__ import annotations

import itertools
import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import aqmlab
from aqmlab import InputError, Result, papers, plots, report
from aqmlab.plots import overlay
from aqmlab.plots.panel import Axis
from aqmlab.vocabulary import metrics


@pytest.fixture(scope="module")
def household() -> Result:
    flows = ["cubic:name=near:rtt=10ms", "cubic:name=far:rtt=80ms", "1*voip", "1*web"]
    options = {"rate": "10mbit", "rtt": "20ms", "duration": "6s", "warmup": "2s", "seeds": 2}
    return aqmlab.compare(aqm=["fifo", "pie", "fq_codel"], flows=flows, **options)


def the_share_above_a_delay_is_what_the_distribution_leaves(household: Result) -> None:
    (below,), (above,) = plots.figures("cdf", [household]), plots.figures("ccdf", [household])
    both = below.table.join(above.table, on=["aqm", "qdelay_ms"], suffix="_above")
    ends = both.filter((pl.col("share") > 0.0) & (pl.col("share_above") < 1.0))
    assert len(ends) > 100
    assert (ends["share"] + ends["share_above"]).to_list() == pytest.approx([1.0] * len(ends))
    assert above.table["share"].min() > 0.0
    assert above.panels[0].y_axis.is_log


def who_is_beaten_in_neither_is_joined() -> None:
    from aqmlab.plots.pareto import _best

    assert _best([1.0, 2.0, 3.0, 2.0], [5.0, 9.0, 8.0, 7.0], "qdelay_mean_ms") == [True, True, False, False]
    assert _best([1.0, 2.0], [5.0, 9.0], "utilization") == [False, True]
    assert _best([1.0, 1.0], [5.0, 5.0], "qdelay_mean_ms") == [True, True]


def flows_are_compared_by_their_round_trip_time(household: Result) -> None:
    (figure,) = plots.figures("fairness", [household])
    assert figure.table.columns == ["aqm", "rtt_base_ms", "mean", "ci95_low", "ci95_high"]
    flows = household.flows.filter(aqm="pie", group="near")
    row = figure.table.filter((pl.col("aqm") == "pie") & (pl.col("rtt_base_ms") == 10.0))
    assert row["mean"].item() == pytest.approx(flows["goodput_mbit"].mean())
    # Calls and pages have a round-trip time of 20 ms; they take what they ask for.
    assert figure.table["rtt_base_ms"].unique().to_list() == [10.0, 80.0]


def flows_of_one_round_trip_time_cannot_be_compared_by_it(result: Result) -> None:
    with pytest.raises(InputError, match="fairness: all bulk flows have the same base round-trip time"):
        plots.figures("fairness", [result])


def a_controller_is_drawn_with_its_own_variables(household: Result) -> None:
    (figure,) = plots.figures("queue", [household])
    names = figure.table["name"].unique(maintain_order=True).to_list()
    assert names == ["queue_packets", "probe.burst_allowance", "probe.drop_probability", "probe.active_flows"]
    assert len(plots.figures("queue", [household], "qdelay")[0].panels) == 2
    with pytest.raises(InputError, match="queue: no discipline has a variable 'qdelai', did you mean 'qdelay'"):
        plots.figures("queue", [household], "qdelai")


def drops_and_marks_are_ticks_below_the_delay(household: Result) -> None:
    (figure,) = plots.figures("timeseries", [household])
    events = figure.table.filter(pl.col("name") == "events")
    assert [panel.mark for panel in figure.panels] == ["line", "ticks", "line"]
    drops = household.series.filter((pl.col("name") == "drops") & (pl.col("seed") == 1) & (pl.col("value") > 0))
    assert events.filter(pl.col("event") == "drops")["packets"].sum() == drops["value"].sum() > 0


def applications_and_groups_have_bars_with_the_intervals_of_the_summary(household: Result) -> None:
    (figure,) = plots.figures("applications", [household])
    assert figure.table["metric"].unique(maintain_order=True).to_list() == [
        "mos_mean",
        "mos_back_mean",
        "page_load_mean_s",
    ]
    rows = {(row.aqm, row.metric): row.estimate for row in household.rows}
    for aqm, metric, *values in figure.table.iter_rows():
        estimate = rows[aqm, metric]
        # Page loads complete in one of the runs only, or in both.
        ends = [estimate.value if end is None else end for end in (estimate.low, estimate.high)]
        assert values == [estimate.value, *ends]
    (figure,) = plots.figures("groups", [household], "goodput_mbit")
    assert set(figure.table["group"]) == {"near", "far", "voip", "web"}
    with pytest.raises(InputError, match="groups: no group has a 'goodput_mbitt', did you mean 'goodput_mbit'"):
        plots.figures("groups", [household], "goodput_mbitt")


def runs_without_a_series_are_an_error_that_says_why() -> None:
    short = aqmlab.compare(rate="10gbit", rtt="1ms", aqm="fifo", duration="20us", warmup="0s", seeds=1)
    for kind in ("timeseries", "jain"):
        with pytest.raises(InputError, match="the runs have no time series: they are shorter than the period of one"):
            plots.figures(kind, [short])


def no_application_is_an_error_of_one_line(result: Result) -> None:
    with pytest.raises(InputError, match="applications: no flow is of an application: voip, web, video or rpc"):
        plots.figures("applications", [result])


def a_call_is_shown_in_the_direction_that_suffers() -> None:
    from aqmlab.plots.bars import _shown

    rows = [("pie", "mos_mean", 4.41), ("pie", "mos_back_mean", 1.78), ("fifo", "mos_mean", 4.40)]
    table = pl.DataFrame([*rows, ("pie", "page_load_mean_s", 1.0)], ["aqm", "metric", "mean"], orient="row")
    assert _shown(table) == ["mos_back_mean", "page_load_mean_s"]
    swapped = table.with_columns(pl.col("mean").replace({4.41: 1.2}))
    assert _shown(swapped) == ["mos_mean", "page_load_mean_s"]
    assert _shown(table.filter(aqm="fifo")) == ["mos_mean"]


def no_whisker_ends_below_an_axis_from_zero() -> None:
    from matplotlib.container import ErrorbarContainer

    table = pl.DataFrame({"aqm": ["pie"], "x": [1.0], "y": [2.0], "ci95_low": [-3.0], "ci95_high": [7.0]})
    for mark in ("bars", "line", "beside"):
        named = mark != "line"
        across = Axis(ticks={"pie": 0.0}) if named else Axis("X")
        panel = plots.Panel(
            mark, "aqm" if named else "x", "y", across, Axis("Y", 0.0), labels=("pie",), interval="whiskers"
        )
        (axes,) = plots.Figure("f", "F", "", table, [panel], 3.0).draw().axes
        (bar,) = (one for one in axes.containers if isinstance(one, ErrorbarContainer))
        assert bar.lines[2][0].get_segments()[0][:, 1].tolist() == [0.0, 7.0], mark


def a_small_difference_is_drawn_small_and_a_delay_from_zero() -> None:
    table = pl.DataFrame({"aqm": ["a", "b"], "qdelay_mean_ms": [30.0, 31.0], "goodput_mbit": [19.12, 19.06]})
    across, up = (plots.axes.of_metric(name) for name in ("qdelay_mean_ms", "goodput_mbit"))
    panel = plots.Panel("cloud", "qdelay_mean_ms", "goodput_mbit", across, up, labels=("a", "b"))
    (axes,) = plots.Figure("f", "F", "", table, [panel], 3.0).draw().axes
    low, high = axes.get_ylim()
    assert low < 19.06 < 19.12 < high
    assert (19.12 - 19.06) / (high - low) < 0.05
    assert axes.get_xlim()[0] == 0.0


@pytest.mark.parametrize(
    ("name", "peak", "samples", "is_cut"),
    [
        # What waited for a retransmission, delivered at once, in one sample of 13 ms or two.
        ("goodput_mbit", 17_000.0, slice(60, 62), True),
        # A link that is faster for a while, and a delay that was measured.
        ("goodput_mbit", 17_000.0, slice(60, 65), False),
        ("qdelay_ms", 17_000.0, slice(60, 61), False),
        # A peak of the warm-up, and one of less than twice the rest.
        ("qdelay_ms", 17_000.0, slice(2, 9), True),
        ("goodput_mbit", 800.0, slice(60, 62), False),
    ],
)
def a_peak_that_says_nothing_of_the_rest_does_not_set_the_axis(
    name: str, peak: float, samples: slice, is_cut: bool
) -> None:
    values = [450.0] * 100
    values[samples] = [peak] * len(values[samples])
    table = pl.DataFrame({"name": name, "aqm": "pie", "time_s": [n / 10 for n in range(100)], "mean": values})
    up = Axis("Goodput (Mbit/s)" if name == "goodput_mbit" else "Queue delay (ms)", 0.0)
    panel = plots.Panel(
        "line", "time_s", "mean", Axis("Time (s)"), up, rows={"name": name}, labels=("pie",), shaded=(1.0, "warm-up")
    )
    # One result alone, and two side by side.
    for panels in ([panel], [replace(panel, facet="a"), replace(panel, facet="b")]):
        for axes in plots.Figure("f", "F", "", table, panels, 3.0, columns=len(panels)).draw().axes:
            _, high = axes.get_ylim()
            assert (450.0 < high < 700.0) if is_cut else high > peak
            assert not is_cut or "Gbit" not in axes.get_ylabel()


def a_name_is_beside_what_it_names_and_a_legend_has_what_finds_no_room(household: Result) -> None:
    for kind in ("cdf", "ccdf", "tradeoff", "pareto", "timeseries", "jain", "queue", "fairness"):
        (figure,) = plots.figures(kind, [household])
        canvas = figure.draw()
        canvas.draw_without_rendering()
        texts = [text for axes in canvas.axes for text in axes.texts if text.get_text() in household.aqms]
        in_legend = [text.get_text() for legend in canvas.legends for text in legend.get_texts()]
        assert sorted([*(text.get_text() for text in texts), *in_legend]) == sorted(household.aqms), kind
        boxes = [text.get_window_extent() for text in texts]
        # None covers another, and all are within the figure.
        for place, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:place]), kind
            assert canvas.bbox.x0 <= box.x0 < box.x1 <= canvas.bbox.x1, kind


def lines_that_end_together_have_names_apart() -> None:
    from aqmlab.plots.direct_labels import _apart

    assert _apart([0.2, 0.5, 0.9], 0.1) == [0.2, 0.5, 0.9]
    found = _apart([0.0, 0.0, 0.01, 1.0, 1.0], 0.1)
    assert all(high - low >= 0.0999 for low, high in itertools.pairwise(found))
    assert min(found) >= -1e-9
    assert max(found) <= 1.0 + 1e-9


def labels_are_shortened_to_what_sets_them_apart() -> None:
    from aqmlab.results.short_labels import LONGEST, short_labels

    tail = "tupdate 16ms alpha 0.125hz beta 1.25hz ecn"
    one, other = f"pie target 15ms {tail}", f"pie target 20ms {tail}"
    assert list(short_labels(["fifo", one, other]).values()) == ["fifo", "pie target 15ms", "pie target 20ms"]
    assert short_labels(["fifo", one]) == {"fifo": "fifo", one: "pie"}
    assert short_labels([one, f"{one} bytemode"])[f"{one} bytemode"] == "pie bytemode"
    # A name that the user gave has nothing to leave out.
    named = [f"{'my very long name of a discipline of mine' * 2} {number}" for number in range(3)]
    short = list(short_labels(named).values())
    assert len(set(short)) == 3
    assert max(map(len, short)) <= LONGEST + 4


def a_figure_of_a_long_label_has_room_for_its_panels(household: Result) -> None:
    import warnings

    long = "pie target 20ms tupdate 16ms alpha 0.125hz beta 1.25hz ecn by"
    manifest = json.loads(json.dumps(household.manifest))
    manifest["points"][0]["scenario"]["aqm"][1]["label"] = long
    frames = replace(
        household.frames,
        **{
            name: getattr(household.frames, name).with_columns(pl.col("aqm").cast(pl.String).replace({"pie": long}))
            for name in ("runs", "flows", "series", "queues", "histograms")
        },
    )
    renamed = Result(manifest, frames)
    for kind in plots.KINDS:
        with suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("error")
            for layout in (plots.SCREEN, plots.PAPER):
                (figure,) = plots.figures(kind, [renamed])
                canvas = figure.draw(layout)
                canvas.draw_without_rendering()
                assert all(axes.get_position().height * canvas.get_figheight() > 0.15 for axes in canvas.axes), kind
                assert f"pie is {long}" in figure.caption
                assert long in figure.table["aqm"].to_list()


def several_results_have_a_panel_each_with_the_same_axes(household: Result) -> None:
    def other(rate: str) -> Result:
        manifest = json.loads(json.dumps(household.manifest))
        manifest["points"][0]["scenario"].update(rate=rate)
        return household.with_manifest(manifest)

    results = [household, other("20mbit"), other("50mbit")]
    for kind in plots.KINDS:
        try:
            (figure,) = plots.figures(kind, results)
        except InputError:
            continue
        canvas = figure.draw()
        canvas.draw_without_rendering()
        # No legend takes what the panels need.
        taken = sum(legend.get_window_extent().height for legend in canvas.legends)
        assert taken < 0.15 * canvas.bbox.height, kind
        if plots.KINDS[kind].across:
            assert list(figure.panels[0].x_axis.ticks) == ["10mbit", "20mbit", "50mbit"]
            continue
        assert [panel.title for panel in figure.panels[:3]] == ["10mbit", "20mbit", "50mbit"], kind
        first = canvas.axes[: len(figure.panels)][:3]
        for axes in first[1:]:
            assert axes.get_xlim() == pytest.approx(first[0].get_xlim(), abs=1e-9), kind
            assert axes.get_ylim() == pytest.approx(first[0].get_ylim(), abs=1e-9), kind


def a_sweep_has_a_panel_for_each_scenario() -> None:
    options = {"rtt": "20ms", "duration": "1s", "warmup": "0s", "seeds": 1}
    swept = aqmlab.sweep(sweep={"rate": ["5mbit", "10mbit"]}, aqm=["fifo", "codel"], **options)
    (figure,) = plots.figures("cdf", [swept])
    assert [panel.title for panel in figure.panels] == ["5mbit", "10mbit"]
    assert set(figure.table["panel"]) == {"5mbit", "10mbit"}
    (one,) = plots.figures("cdf", [swept], points=[1])
    assert one.title.endswith("rate 10mbit")
    assert "panel" not in one.table.columns


def a_name_of_many_disciplines_is_whole() -> None:
    names = ["fifo", "codel", "pie", "red", "fq_codel", "cake", "pi2", "dualpi2", "cobalt", "s_pie", "fq_pie", "sfq"]
    table = pl.DataFrame(
        {"aqm": names, "x": [1.0] * 12, "y": [1.0] * 12, "ci95_low": [0.9] * 12, "ci95_high": [1.1] * 12}
    )
    for layout in (plots.SCREEN, plots.PAPER):
        panel = plots.Panel("line", "x", "y", Axis("X"), Axis("Y"), labels=tuple(names))
        canvas = plots.Figure("f", "F", "", table, [panel], 4.0).draw(layout)
        canvas.draw_without_rendering()
        written = [text for text in canvas.axes[0].texts if text.get_text() in names]
        # All have room at the ends of their lines, or else all are in the legend.
        found = written or canvas.legends[0].get_texts()
        assert sorted(text.get_text() for text in found) == sorted(names)
        boxes = [text.get_window_extent() for text in found]
        assert all(0.0 <= box.x0 < box.x1 <= canvas.bbox.x1 for box in boxes)
        positions = {name: float(place) for place, name in enumerate(names)}
        panel = plots.Panel("bars", "aqm", "y", Axis(ticks=positions), Axis("Y", 0.0), labels=tuple(names))
        (axes,) = plots.Figure("f", "F", "", table, [panel], 4.0).draw(layout).axes
        assert [text.get_text() for text in axes.get_xticklabels()] == names


def values_of_a_sweep_are_spread_where_they_lie_most_evenly() -> None:
    from aqmlab.plots.ticks import are_even_by_ratio

    assert are_even_by_ratio([10.0, 160.0, 40.0])
    assert not are_even_by_ratio([1.0, 5.75, 10.5, 15.25, 20.0])
    assert not are_even_by_ratio([0.0, 1.0, 10.0])


def shares_are_shown_in_percent() -> None:
    assert metrics.find("class.web.loss_ratio").title == "Loss of web (share)"
    assert Axis(metrics.find("loss_ratio").aim).readable(0.02) == ("Loss, lower is better (%)", 100.0)


def units_suit_the_size() -> None:
    assert Axis("Queue delay (ms)").readable(0.2) == ("Queue delay (us)", 1000.0)
    assert Axis("Size of the flow (bytes)").readable(3e9) == ("Size of the flow (GB)", 1e-9)
    assert Axis("Jain index").readable(1.0) == ("Jain index", 1.0)


def a_figure_for_a_paper_is_as_wide_as_a_column_and_carries_its_fonts(household: Result) -> None:
    (figure,) = plots.figures("cdf", [household])
    pdf = figure.content("pdf", plots.PAPER)
    assert pdf == figure.content("pdf", plots.PAPER)
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", pdf)
    assert box is not None
    assert float(box[1]) == 3.5 * 72
    # Two panels side by side are no wider.
    (beside,) = plots.figures("applications", [household])
    assert beside.draw(plots.PAPER).get_figwidth() == 3.5
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"base RTT" not in figure.content("svg", plots.PAPER)
    sizes = {float(size) for size in re.findall(rb"font: ([\d.]+)px", figure.content("svg", plots.PAPER))}
    assert sizes <= {7.5, 8.0}


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def a_figure_is_written_in_the_format_of_its_file(household: Result, ending: plots.Ending, start: bytes) -> None:
    (figure,) = plots.figures("pareto", [household])
    assert set(plots.contents([figure], ending)) == {f"pareto.{ending}", "pareto.csv"}
    assert figure.content(ending).startswith(start)


def the_command_writes_one_file_with_its_numbers_or_a_folder(household: Result, tmp_path: Path) -> None:
    from aqmlab import store
    from aqmlab.cli.folders import plot

    # Without a report.
    folder = tmp_path / "result"
    with store.opened(folder) as place:
        place.commit(household.manifest, household.frames)
    plot("tradeoff", [folder], column=None, out=tmp_path / "my" / "figure.pdf", paper=True)
    assert sorted(path.name for path in (tmp_path / "my").iterdir()) == ["figure.csv", "figure.pdf"]
    plot("tradeoff", [folder], column=None, out=tmp_path / "my" / "figure.svg")
    with pytest.raises(InputError, match=r"figure.csv: is there already"):
        plot("pareto", [folder], column=None, out=tmp_path / "my" / "figure.png")
    with pytest.raises(InputError, match=r"figure.pdf: is there already"):
        plot("tradeoff", [folder], column=None, out=tmp_path / "my" / "figure.pdf")
    plot("tradeoff", [folder], column=None, out=tmp_path / "more")
    assert sorted(path.name for path in (tmp_path / "more").iterdir()) == ["tradeoff.csv", "tradeoff.svg"]


@pytest.mark.parametrize("name", ["x.jpg", "x.JPEG", "my/figure.eps"])
def the_command_makes_no_folder_of_a_file_of_another_format(tmp_path: Path, name: str) -> None:
    from aqmlab.cli.folders import plot

    allowed = r"(x.jpg|x.JPEG|figure.eps)' is of no format that figures have: allowed are .svg, .pdf, .png, or a folder"
    with pytest.raises(InputError, match=allowed):
        plot("tradeoff", [tmp_path / "result"], out=tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    # What is there already is a folder, whatever it is called.
    (tmp_path / "figures.jpg").mkdir()
    with pytest.raises(InputError, match="result: is not a result folder"):
        plot("tradeoff", [tmp_path / "result"], out=tmp_path / "figures.jpg")


def the_command_names_all_kinds() -> None:
    from aqmlab.cli import folders

    named = re.findall(r"[a-z]+", folders._KINDS.replace(" or ", " "))
    assert named == sorted(plots.KINDS)


def several_results_are_drawn_together_in_the_colours_of_their_disciplines(household: Result, result: Result) -> None:
    (figure,) = plots.figures("ccdf", [household, result])
    assert figure.panels[0].labels == ("fifo", "pie", "fq_codel", "codel")
    fifo = [
        (line.get_color(), line.get_linestyle())
        for axes in figure.draw().axes
        for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
        if label == "fifo"
    ]
    assert len(fifo) == 2
    assert len(set(fifo)) == 1


def the_name_of_a_result_in_a_figure_of_several_is_what_differs(result: Result) -> None:
    def other(**settings: object) -> Result:
        manifest = json.loads(json.dumps(result.manifest))
        manifest["points"][0]["scenario"].update(settings)
        return result.with_manifest(manifest)

    rate = result.scenarios[0]["rate"]
    assert overlay.names([result, other(rate="77mbit")]) == [rate, "77mbit"]
    # A buffer that follows from the rate by the same rule is not named again.
    assert overlay.names([result, other(rate="77mbit", buffer="255p")]) == [rate, "77mbit"]
    assert len(set(overlay.names([result, other(rate="77mbit"), other(rate="77mbit", rtt="9ms")]))) == 3
    live = other(flows=["2*bbr1"])
    live = live.with_manifest({**live.manifest, "engine": "live"})
    assert overlay.names([live, result]) == ["live", "simulated"]
    (figure,) = plots.figures("cdf", [result, other(rate="77mbit")])
    assert figure.caption.startswith(f"{rate} or 77mbit")


def a_figure_for_a_paper_is_one_column_wide_or_two() -> None:
    for columns in range(1, 9):
        widths = {
            plots.style.beside(columns, columns, 3.0, plots.PAPER)[0].get_figwidth(),
            plots.style.grid(2, columns, 3.0, share="none", layout=plots.PAPER)[0].get_figwidth(),
        }
        assert widths <= {3.5, 7.0}


def every_kind_of_figure_is_one_column_wide_or_two_on_paper(household: Result) -> None:
    widths = {}
    for kind in plots.KINDS:
        with suppress(InputError):
            widths[kind] = plots.figures(kind, [household])[0].draw(plots.PAPER).get_figwidth()
    # What is left out needs a sweep, flows that end, or Wi-Fi.
    assert len(widths) >= len(plots.KINDS) - 4 - len(report.OF_STATIONS)
    assert set(widths.values()) <= {3.5, 7.0}, widths


def every_figure_of_a_paper_is_one_column_wide_or_two() -> None:
    counts = {len(drawing.panels) for name in papers.built() for drawing in papers.find(name).drawings}
    assert max(counts) > plots.painter.MOST_BESIDE
    table = pl.DataFrame({"aqm": ["pie"], "x": [1.0], "y": [2.0]})
    panel = plots.Panel("line", "x", "y", Axis("X"), Axis("Y (ms)"), labels=("pie",))
    for count in counts:
        figure = plots.Figure("f", "F", "", table, [panel] * count, 3.9, columns=count)
        assert figure.draw(plots.PAPER).get_figwidth() in (3.5, 7.0), count


def panels_side_by_side_of_one_quantity_and_unit_share_their_axis() -> None:
    rows = [("a", "pie", 1.0, 2.0), ("b", "pie", 1.0, 9.0), ("c", "pie", 1.0, 30.0)]
    table = pl.DataFrame(rows, ["part", "aqm", "x", "y"], orient="row")
    titles = ("Goodput (Mbit/s)", "Goodput (Mbit/s)", "Loss (%)")
    panels = [
        plots.Panel("line", "x", "y", Axis("Time (s)"), Axis(title, 0.0), labels=("pie",), rows={"part": part})
        for part, title in zip("abc", titles, strict=True)
    ]
    first, second, third = plots.Figure("f", "F", "", table, panels, 3.0, columns=3).draw(plots.PAPER).axes[:3]
    assert first.get_ylim() == second.get_ylim()
    assert third.get_ylim() != first.get_ylim()


def the_parts_of_a_stack_have_the_intervals_of_the_table() -> None:
    from matplotlib.container import ErrorbarContainer

    rows = [("pie", "a", 1.0, 3.0, 2.5, 3.5), ("pie", "b", 1.0, 2.0, 1.0, 3.0)]
    table = pl.DataFrame(rows, ["aqm", "group", "x", "mean", "ci95_low", "ci95_high"], orient="row")
    across = Axis(ticks={"0 to 1": 0.0})
    panel = plots.Panel("stacks", "x", "mean", across, Axis("Goodput"), labels=("pie",), group="group")
    (axes,) = plots.Figure("f", "F", "", table, [panel], 3.0).draw().axes
    bars = [one for one in axes.containers if isinstance(one, ErrorbarContainer)]
    ends = [one.lines[2][0].get_segments()[0][:, 1].tolist() for one in bars]
    # The second stands on the first.
    assert ends == [[2.5, 3.5], [4.0, 6.0]]


def a_figure_that_shows_the_same_under_several_presets_is_drawn_once() -> None:
    from aqmlab.papers.paper_figures import _is_same

    table = pl.DataFrame({"aqm": ["pie"], "mean": [1.0]})
    one = plots.Figure("figure-4-printed", "Figure 4", "printed", table, [], 3.0)
    assert _is_same(one, plots.Figure("figure-4-consistent", "Figure 4", "consistent", table.clone(), [], 3.0))
    other = table.with_columns(mean=pl.lit(2.0))
    assert not _is_same(one, plots.Figure("figure-4-consistent", "Figure 4", "consistent", other, [], 3.0))
