"""The report in a browser: its charts, tables and menus, on paper, on a phone, in the dark, and for everybody."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import launched, needs_browser, opened

import aqmlab
from aqmlab import Result, report
from aqmlab.results.brief import brief
from aqmlab.results.headline import headlines

REPORT = Path(report.__file__).parent
# What the page's script says about its charts.
CHARTS = "charts.map(({ chart }) => ({ ...chart.shown, visible: chart.plot.series.map((one) => one.show) }))"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    flows = ["2*cubic", "1*voip:name=calls"]
    options = {"rate": "10mbit", "rtt": "20ms", "duration": "5s", "warmup": "1s", "seeds": 3}
    result = aqmlab.compare(aqm=["fifo", "codel", "pie", "fq_codel"], flows=flows, **options)
    return result.save(tmp_path_factory.mktemp("pages") / "out") / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as one:
        yield one


def the_bundled_library_is_the_one_that_its_page_names() -> None:
    readme = (REPORT / "vendor" / "README.md").read_text()
    for name, checksum in re.findall(r"`(uPlot[\w.]+)` \|.*`([0-9a-f]{64})`", readme):
        assert hashlib.sha256((REPORT / "vendor" / name).read_bytes()).hexdigest() == checksum
    assert "(v1.6.32)" in (REPORT / "vendor" / "uPlot.iife.min.js").read_text()[:100]
    assert len(list((REPORT / "vendor").iterdir())) == 4


def the_library_keeps_its_licence_in_the_page(result: Result) -> None:
    assert "Copyright (c) 2022 Leon Sorokin" in result.report()


def the_answer_comes_first_in_a_line_for_each_discipline(result: Result) -> None:
    (headline,) = headlines(result)
    assert re.match(r"\d+ % less queue delay than fifo \([\d.]+ → [\d.]+ ms\)", headline.words)
    text = result.report()
    # In pages no line ends between a number and its unit.
    assert text.replace("\u00a0", " ").index(headline.words) < text.index("<table")


def the_answer_says_where_nothing_differs_or_nothing_can_be_concluded() -> None:
    from aqmlab.results.heat import heat_maps, heat_notes
    from aqmlab.results.over_settings import flips, ranges
    from aqmlab.results.over_settings import headlines as over_settings

    options: dict[str, Any] = {"rate": "10mbit", "duration": "1s", "warmup": "0s"}
    assert headlines(aqmlab.compare(rtt="20ms", aqm="fifo", seeds=1, **options)) == []
    once = aqmlab.compare(rtt="20ms", aqm=["fifo", "codel"], seeds=1, **options)
    assert brief(once).notes == ["One seed: nothing is known about chance, so nothing is marked."]
    same = aqmlab.compare(rtt="20ms", aqm=["fifo", "fifo:head"], seeds=2, flows=["1*cbr:rate=1mbit"], **options)
    assert [one.words for one in headlines(same)] == ["the same as fifo in every run"]
    swept = aqmlab.sweep(
        sweep={"rtt": "10ms..70ms*7"}, aqm=["fifo", "fifo:head"], seeds=2, flows=["1*cbr:rate=1mbit"], **options
    )
    assert [one.words for one in over_settings(swept)] == ["queue delay equal in 7; goodput equal in 7"]
    assert flips(swept) == []
    # Two seeds show nothing of a queue that is far shorter: that is no likeness.
    apart = aqmlab.sweep(sweep={"rtt": "20ms,40ms"}, aqm=["fifo", "codel"], seeds=2, **{**options, "duration": "4s"})
    assert over_settings(apart)[0].words.startswith("queue delay undecided in 2")
    assert any(one.startswith("2 seeds decide only the obvious") for one in heat_notes(apart, heat_maps(apart)))
    assert "2 seeds decide only the obvious" in apart.report()
    alone = aqmlab.sweep(sweep={"rtt": "10ms..70ms*7"}, aqm="fifo", seeds=1, **options)
    assert re.fullmatch(r"Mean queue delay: from [\d.]+ m?s \(rtt \d+ms\) to .*\.", ranges(alone)[0])


def the_command_that_makes_it_again_makes_the_same(result: Result) -> None:
    from shlex import split

    again = report._again(result)
    assert split(again)[:2] == ["aqmlab", "compare"]
    words = split(again)
    given = {words[place][2:]: words[place + 1] for place in range(2, len(words), 2)}
    assert given["rate"] == "10mbit"
    assert given["seeds"] == "3"


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def the_charts_have_their_data_and_follow_the_choice(browser: Any, page: Path, scheme: Any) -> None:
    with opened(page, 1000, scheme=scheme, browser=browser) as tab:
        charts = tab.evaluate(CHARTS)
        assert [one["title"] for one in charts][:2] == ["Queue delay (ms)", "Queue delay (ms)"]
        assert [one["lines"] for one in charts] == [4, 4, 4]
        assert all(one["points"] >= 12 for one in charts)
        tab.get_by_role("checkbox", name="pie").uncheck()
        assert {tuple(one["visible"]) for one in tab.evaluate(CHARTS)} == {(True, True, True, False, True)}
        assert tab.locator("tr[data-aqm=pie]:visible").count() == 0
        tab.locator("[data-chart=series] select").select_option(label="Queue (packets)")
        tab.locator("[data-chart=delays] select").nth(0).select_option(label="Queue delay of calls (ms)")
        tab.locator("[data-chart=delays] select").nth(1).select_option(label="share above")
        titles = [one["title"] for one in tab.evaluate(CHARTS)]
        assert titles[:2] == ["Queue delay of calls (ms)", "Queue (packets)"]
        # A menu of one chart leaves the disciplines chosen for all.
        assert {tuple(one["visible"]) for one in tab.evaluate(CHARTS)} == {(True, True, True, False, True)}
        over = tab.locator(".u-over").nth(1)
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        shown = tab.locator(".u-legend").nth(1).inner_text()
        assert re.search(r"Time \(s\):?\s*2\.\d", shown)
        tab.mouse.down()
        tab.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2, steps=4)
        tab.mouse.up()
        ends = "[charts[1].chart.plot.scales.x.min, charts[1].chart.plot.scales.x.max]"
        zoomed = tab.evaluate(ends)
        assert 0.9 < zoomed[0] < zoomed[1] < 3.0
        tab.get_by_role("button", name="Whole range").nth(1).click()
        whole = tab.evaluate(ends)
        assert whole[0] < 0.1
        assert whole[1] > 4.9


@needs_browser
def a_sweep_is_chosen_metric_by_metric_and_name_by_name(browser: Any, tmp_path: Path) -> None:
    sweep = {"target": "1ms..20ms*4", "rtt": ["10ms", "40ms"]}
    options: dict[str, Any] = {"rate": "10mbit", "duration": "1s", "warmup": "0s", "seeds": 2}
    result = aqmlab.sweep(sweep=sweep, aqm=["codel target $target", "fifo"], **options)
    page = result.save(tmp_path / "out") / "report.html"
    with opened(page, 800, browser=browser) as tab:
        (chart,) = tab.evaluate(CHARTS)
        assert (chart["title"], chart["points"], chart["lines"]) == ("Mean queue delay (ms)", 4, 2)
        rows = {(row.point, row.aqm): row.estimate for row in result.rows if row.metric == "goodput_mbit"}
        menus = tab.locator("[data-chart=sweep] select")
        menus.nth(0).select_option(label="Goodput (Mbit/s)")
        menus.nth(1).select_option(label="rtt")
        menus.nth(2).select_option(label="20ms")
        x, codel, fifo = tab.evaluate("charts[0].chart.plot.data")
        assert x == [10, 40]
        for line, aqm in ((codel, result.aqms[0]), (fifo, "fifo")):
            assert line == pytest.approx([rows[point, aqm].value for point in (6, 7)], rel=1e-3)
        assert tab.locator("[data-chart=sweep] label:visible").count() == 3


@needs_browser
def a_table_sorts_by_the_head_that_is_pressed(browser: Any, page: Path) -> None:
    with opened(page, 1000, browser=browser) as tab:
        head = tab.locator("table.sortable").first.locator("thead th").nth(3)
        column = tab.locator("table.sortable").first.locator("tbody td:nth-of-type(3)")
        for order, is_reversed in (("ascending", False), ("descending", True)):
            head.get_by_role("button").click()
            assert head.get_attribute("aria-sort") == order
            values = [float(text.split()[0]) for text in column.all_inner_texts()]
            assert values == sorted(values, reverse=is_reversed)


@needs_browser
def axe_finds_no_serious_barrier(browser: Any, page: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(page, browser=browser) as tab:
        for width in (1280, 390):
            tab.set_viewport_size({"width": width, "height": 900})
            for scheme in ("light", "dark"):
                tab.emulate_media(color_scheme=scheme)
                found = Axe().run(tab).response["violations"]
                grave = [
                    (one["id"], one["nodes"][0]["html"][:120])
                    for one in found
                    if one["impact"] in ("serious", "critical")
                ]
                assert grave == [], (width, scheme)
            assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


@needs_browser
def no_cell_is_cut_on_a_phone(browser: Any, page: Path) -> None:
    with opened(page, 390, browser=browser) as tab:
        right = "[...document.querySelectorAll('td, th, svg, canvas')].map(e => e.getBoundingClientRect().right)"
        assert max(tab.evaluate(right)) <= 390


@needs_browser
def nothing_is_folded_away_or_cut_in_print(browser: Any, page: Path) -> None:
    with opened(page, 1000, browser=browser) as tab:
        assert tab.locator("details:not([open])").count() > 0
        tab.emulate_media(media="print")
        tab.set_viewport_size({"width": 720, "height": 1000})
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.locator("details:not([open])").count() == 0
        assert tab.locator(".chart:visible").count() == 0
        assert tab.locator("figure svg:visible").count() == tab.locator("figure:not(.chart)").count()
        right = "[...document.querySelectorAll('td, th, svg')].map(e => e.getBoundingClientRect().right)"
        assert max(tab.evaluate(right)) <= 720


@needs_browser
def without_scripts_the_drawn_figures_are_there(browser: Any, page: Path) -> None:
    with opened(page, browser=browser, has_scripts=False) as tab:
        assert tab.locator("figure svg:visible").count() == tab.locator("figure:not(.chart)").count() >= 4
        assert tab.locator("details:not([open])").count() == 0
        assert tab.locator("fieldset:visible").count() == 0
