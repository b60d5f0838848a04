from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from browser import LOOKED_AT, needs_browser, opened

import aqmlab
from aqmlab import InputError, Result, plots, report
from aqmlab.files import disk
from aqmlab.plots.label_styles import label_styles


def _columns(kind: str) -> list[str]:
    return {
        "airtime": [],
        "applications": [],
        "bars": ["all", "jain_index"],
        "box": ["qdelay_mean_ms", "loss_ratio"],
        "ccdf": ["qdelay_ms", "class.cubic.owd_ms"],
        "cdf": ["qdelay_ms", "owd_ms", "pdv_ms", "goodput_mbit", "class.cubic.qdelay_ms"],
        "fairness": [],
        "groups": ["all", "owd_mean_ms"],
        "jain": ["jain_index"],
        "layers": [],
        "pareto": ["qdelay_mean_ms", "loss_ratio"],
        "queue": ["all", "count"],
        "stations": [],
        "timeseries": ["qdelay_ms", "goodput_mbit", "queue_packets", "drops"],
        "tradeoff": ["qdelay_mean_ms", "loss_ratio", "owd_p99_ms"],
    }[kind]


CASES = [
    (name, column)
    for name, kind in plots.KINDS.items()
    if not kind.of_flows and not kind.across
    for column in _columns(name)
]


@pytest.mark.parametrize(("kind", "column"), CASES)
def every_figure_is_drawn_from_the_table_beside_it(result: Result, tmp_path: Path, kind: str, column: str) -> None:
    (figure,) = plots.figures(kind, [result], column)
    svg, csv = disk.put_all(tmp_path, plots.contents([figure]))
    ElementTree.parse(svg)
    text = svg.read_text()
    for aqm in result.aqms:
        assert f">{aqm}<" in text
    assert "10mbit, 40ms base RTT" in text
    assert "3 seeds" in text
    table = pl.read_csv(csv)
    assert table.columns[0] == "aqm"
    assert set(table["aqm"]) == set(result.aqms)


def a_distribution_rises_to_one(result: Result) -> None:
    (figure,) = plots.figures("cdf", [result])
    for aqm in result.aqms:
        share = figure.table.filter(pl.col("aqm") == aqm)["share"]
        assert share.is_sorted()
        assert share[-1] == 1.0


def an_aqm_has_one_colour_in_every_figure_and_all_differ(result: Result) -> None:
    found = label_styles(result.aqms)
    assert len({style.colour for style in found.values()}) == len(result.aqms)
    for figure in plots.drawable(result)[0]:
        for style in found.values():
            assert style.colour in figure.svg


def a_notebook_gets_figures_and_a_table(result: Result) -> None:
    from matplotlib.figure import Figure

    assert isinstance(result.plot.cdf("owd_ms"), Figure)
    assert isinstance(result.plot.timeseries(), Figure)
    assert isinstance(result.plot.tradeoff(), Figure)
    shown = result._repr_html_()
    assert ".aqmlab table {" in shown
    assert "<table" in shown
    assert f"over {len(result.seeds)} seeds" in shown
    assert all(one.words in html.unescape(shown) for one in result.rankings)
    with pytest.raises(InputError, match="point: '1' is out of range: allowed is 0 to 0"):
        result.plot.cdf(point=1)


class _Page(HTMLParser):
    """Collects what a page would load, its text, and whether its tags are closed in order."""

    VOID = ("meta", "br", "link", "img", "input", "hr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def page(result: Result) -> str:
    return result.report()


def the_report_is_one_page_that_loads_nothing(page: str) -> None:
    seen = _Page(page)
    assert seen.open == []
    assert all(link.startswith("#") for link in seen.links)
    assert "default-src 'none'" in page


def the_report_has_settings_and_results(result: Result, page: str) -> None:
    text = re.sub(r"\s+", " ", _Page(page).text)
    wanted = ("fifo and codel compared", "Goodput", "Against fifo", "1bdp at 40ms", "1 to 3", "codel:rfc8289 limit 34p")
    assert [words for words in wanted if words not in text] == []
    for one in result.comparisons:
        assert one.words in text


def labels_that_differ_only_in_what_varies_stay_apart(tmp_path: Path) -> None:
    # Without what the sweep varies both would have the same name.
    (tmp_path / "x.toml").write_text(
        "rate = '10mbit'\nrtt = '40ms'\nduration = '1s'\nseeds = 2\n"
        "aqm = ['codel interval $i target $t', 'codel target $t interval $i']\n"
        "[sweep]\nt = ['5ms', '6ms']\ni = ['100ms', '200ms']\n"
    )
    found = aqmlab.run(tmp_path / "x.toml")
    assert found.aqms == ["codel interval i target t", "codel target t interval i"]
    assert "codel target t interval i" in re.sub(r"\s+", " ", plots.figures("cdf", [found])[0].svg)


def text_of_the_user_cannot_become_markup() -> None:
    title = "<script>alert('1')</script> & co"
    result = aqmlab.compare(rate="10mbit", rtt="40ms", aqm="fifo", duration="2s", seeds=1, title=title)
    page = result.report()
    assert "<script>alert" not in page
    assert "<script" not in result._repr_html_()
    assert "&lt;script&gt;alert" in page


def text_of_the_user_cannot_end_the_numbers_of_the_charts() -> None:
    numbers = report._script({"name": "</script><script>alert(1)</script>"})
    assert "<" not in numbers
    assert json.loads(numbers) == {"name": "</script><script>alert(1)</script>"}


@needs_browser
def a_browser_shows_the_report_without_errors(page: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page)
    with opened(file) as tab:
        for width in (390, 1200):
            tab.set_viewport_size({"width": width, "height": 900})
            seen = tab.evaluate(LOOKED_AT)
            # Two of the drawn figures have charts in their place.
            assert (seen["wide"], sorted(seen["figures"])) == (0, [False] * 2 + [True] * 2)


@needs_browser
def a_name_of_ten_megabytes_fits_the_window(tmp_path: Path) -> None:
    title = "<" + "x" * 10_000_000
    result = aqmlab.compare(rate="10mbit", rtt="40ms", aqm="fifo", duration="2s", seeds=1, title=title)
    result.manifest["plan_warnings"].append(title)
    result.manifest["points"][0]["scenario"]["flows"].append(title)
    file = tmp_path / "report.html"
    file.write_text(result.report())
    with opened(file) as tab:
        seen = tab.evaluate(LOOKED_AT)
        assert seen["wide"] == 0
        assert seen["rows"] > 0
        assert len(tab.text_content("h1")) < 25_000


def slowdown_is_drawn_by_size_for_flows_that_have_one(result: Result) -> None:
    assert "slowdown" not in {figure.name for figure in plots.drawable(result)[0]}
    with pytest.raises(InputError, match="slowdown: no flow of a size has completed"):
        plots.figures("slowdown", [result])
    flows = ["20*cubic:size=10kb:start=0..1s", "4*cubic:size=500kb:start=0s"]
    options = {"rate": "10mbit", "rtt": "10ms", "duration": "8s", "warmup": "0s", "seeds": 2}
    finite = aqmlab.compare(aqm=["fifo", "codel"], flows=flows, **options)
    (figure,) = plots.figures("slowdown", [finite])
    assert figure.table.columns == ["aqm", "size_bytes", "mean", "p99", "flows"]
    assert figure.table["flows"].to_list() == [40, 8] * 2
    assert figure.table["size_bytes"].to_list() == pytest.approx([10240.0, 512000.0] * 2)
    assert (figure.table["mean"] > 1.0).all()
    assert (figure.table["p99"] >= figure.table["mean"]).all()
    assert "slowdown" in {figure.name for figure in plots.drawable(finite)[0]}
    rows = {row.metric: row.estimate.value for row in finite.rows if row.aqm == "fifo"}
    small, medium = finite.flows.filter(aqm="fifo").partition_by("group", maintain_order=True)
    small, medium = (rows["slowdown_small_mean"], rows["slowdown_medium_mean"]), (small, medium)
    for mean, flows_of in zip(small, medium, strict=True):
        assert mean == pytest.approx(flows_of["slowdown"].mean())
    assert rows["slowdown_small_p99"] <= rows["slowdown_p99"]
