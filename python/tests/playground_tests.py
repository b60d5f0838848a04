"""The playground: the simulator in a page."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browser import needs_browser, opened
from conftest import script

import aqmlab
from aqmlab.advice import Line, advise, layer, paste
from aqmlab.scenario import registry
from aqmlab.vocabulary.units import parse_rate

ROOT = Path(__file__).resolve().parents[2]
TARGET = "wasm32-unknown-unknown"


def _has_target() -> bool:
    if not (shutil.which("rustc") and shutil.which("cargo")):
        return False
    found = subprocess.run(["rustc", "--print", "target-libdir", "--target", TARGET], capture_output=True, text=True)
    return found.returncode == 0 and Path(found.stdout.strip()).is_dir()


pytestmark = [
    needs_browser,
    pytest.mark.skipif(not _has_target(), reason=f"no WebAssembly here: rustup target add {TARGET}"),
    # The module is built here unless another test has done so.
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    playground = script("playground")
    path = tmp_path_factory.mktemp("playground") / "index.html"
    path.write_text(playground.built(playground.module()))
    return path


# Runs as a link has them, where a test does not say otherwise: little to simulate.
LITTLE = {
    "rate": "5mbit",
    "rtt": "20ms",
    "buffer": "40p",
    "duration": "5s",
    "flow": ["2*cubic"],
    "a": "fifo",
    "b": "codel",
}


@pytest.fixture(scope="module")
def tab(page: Path) -> Iterator[Any]:
    """The page in a browser, which all tests share: each follows a link of its own."""
    with opened(page, link=_link(**LITTLE)) as tab:
        _wait(tab, "null")
        yield tab


def _link(**setting: Any) -> str:
    return f"#{urlencode(setting, doseq=True)}"


def _ran(tab: Any, link: str = "", **setting: Any) -> dict[str, Any]:
    """Follow a link, and wait until both sides have run."""
    _follow(tab, link or _link(**{**LITTLE, **setting}))
    return _wait(tab, "before")


def _follow(tab: Any, link: str) -> None:
    """Follow a link; one that is open already is run again."""
    tab.evaluate("link => { before = run; location.hash === link ? simulate() : location.hash = link; }", link)


def _wait(tab: Any, before: str) -> dict[str, Any]:
    """Wait until both sides of another run than `before` are over; return what the page has of it."""
    for _ in range(3000):
        if tab.evaluate(f"run !== {before} && run.isOver"):
            seen: dict[str, Any] = tab.evaluate(
                "({errors: run.errors, took: run.tookMs, status: $('status').textContent,"
                " metrics: Object.fromEntries(Object.entries(run.reports).map(([side, one]) => [side, one.metrics]))})"
            )
            return seen
        time.sleep(0.02)
    raise AssertionError(tab.text_content("#status"))


@pytest.mark.parametrize(
    "setting",
    [
        {"rate": "20mbit", "rtt": "40ms", "buffer": "67p", "flow": ["8*cubic"], "a": "codel", "b": "pie target 5ms"},
        {"rate": "1.5mbit", "rtt": "35ms", "buffer": "200ms", "flow": ["1*voip", "1*web"], "a": "fifo", "b": "cake"},
        {
            "rate": "9mbit", "rtt": "10ms", "buffer": "90p", "flow": ["2*prague", "2*cubic", "1*cubic:ecn=classic"],
            "a": "dualpi2", "b": "red ecn on",
        },
    ],
)  # fmt: skip
def the_page_gives_in_steps_the_numbers_of_the_command_that_it_shows(
    tab: Any, tmp_path: Path, setting: dict[str, Any]
) -> None:
    ran = _ran(tab, seed=7, **setting)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = f"{tab.text_content('#command')} --out out --no-report --quiet"
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path, env={**os.environ, "PATH": path})
    compared = aqmlab.load(tmp_path / "out")
    for side in ("a", "b"):
        (run,) = compared.runs.filter(aqm=setting[side]).to_dicts()
        metrics = ran["metrics"][side]
        assert {name: run[name] for name in metrics} == metrics
        series = compared.series.filter(aqm=setting[side], name="queue_packets")
        assert series["value"].to_list() == tab.evaluate(f"run.series.{side}.columns.queue_packets")


def one_file_of_less_than_one_and_a_half_megabytes_is_all(page: Path) -> None:
    assert page.stat().st_size < 1_500_000
    assert "{{" not in page.read_text()


DRAWN = "charts.filter(chart => !chart.figure.hidden).map(chart => chart.plot.data.map(d => d.length))"


def a_run_is_drawn_from_its_first_moment_and_can_wait(tab: Any) -> None:
    whole, series = _ran(tab), tab.evaluate("JSON.stringify([run.series.a, run.series.b])")
    _follow(tab, _link(**LITTLE, speed="1x"))
    while not tab.evaluate("run !== before && run.reachedNs > 0"):
        time.sleep(0.02)
    time.sleep(0.1)
    tab.focus("#play")
    tab.keyboard.press("Enter")
    time.sleep(0.1)
    reached = tab.evaluate("run.reachedNs")
    assert 0 < reached < 3e9
    assert tab.text_content("#play") == "Go on"
    drawn = tab.evaluate(DRAWN)
    assert len(drawn) >= 5
    assert all(len(set(lengths)) == 1 and 0 < lengths[0] < 300 for lengths in drawn)
    assert tab.text_content("#numbers td.value") == "…"
    time.sleep(0.1)
    assert tab.evaluate("run.reachedNs") == reached
    # What is not there yet cannot be looked at.
    tab.evaluate("$('time').value = 1000")
    tab.dispatch_event("#time", "input")
    assert abs(tab.evaluate("$('time').value * run.durationNs / 1000") - reached) < 5e6
    tab.select_option("#speed", "full")
    tab.keyboard.press("Enter")
    assert _wait(tab, "before")["metrics"] == whole["metrics"]
    assert tab.evaluate("JSON.stringify([run.series.a, run.series.b])") == series
    assert "speed=full" in tab.evaluate("location.hash")


def a_change_runs_it_again_and_the_link_has_it(tab: Any) -> None:
    before = _ran(tab)
    tab.evaluate("before = run")
    tab.select_option("#b-name", "pie")
    _wait(tab, "before")
    tab.click("#b-params >> xpath=../summary")
    tab.evaluate("before = run")
    tab.fill("#b-target", "40ms")
    tab.press("#b-target", "Tab")
    after = _wait(tab, "before")
    assert "b=pie+target+40ms" in tab.evaluate("location.hash")
    assert after["metrics"]["a"] == before["metrics"]["a"]
    assert after["metrics"]["b"] != before["metrics"]["b"]
    shown = tab.evaluate(DRAWN)
    assert len(shown) >= 6
    assert all(lengths[0] > 100 and len(set(lengths)) == 1 for lengths in shown)
    # Halfway through the run, half of it is drawn.
    tab.evaluate("$('time').value = 500")
    tab.dispatch_event("#time", "input")
    half = tab.evaluate(DRAWN)
    assert all(abs(2 * short[0] - lengths[0]) <= 2 for short, lengths in zip(half, shown, strict=True))


def every_discipline_runs_with_its_defaults(tab: Any) -> None:
    names = [one.name for one in registry.disciplines()]
    for a, b in zip(names[::2], [*names[1::2], "fifo"], strict=False):
        ran = _ran(tab, rate="2mbit", a=a, b=b)
        assert ran["errors"] == {}, (a, b)
        # What a link has wrong is replaced: nothing was, the disciplines least of all.
        assert tab.evaluate("[setting.a, setting.b, setting.problems]") == [a, b, []]
        assert min(ran["metrics"][side]["goodput_mbit"] for side in ("a", "b")) > 1, (a, b)
        assert tab.evaluate("`${styles().a.dash}` !== `${styles().b.dash}`"), (a, b)


def every_kind_of_flow_runs(tab: Any) -> None:
    kinds = tab.evaluate("setup.flows")
    ran = _ran(tab, rate="50mbit", flow=[f"1*{kind}" for kind in kinds])
    assert ran["errors"] == {}
    delivered = tab.evaluate(
        "Object.entries(run.series.a.columns).filter(([name]) => name.startsWith('class.'))"
        ".map(([, values]) => values.reduce((a, b) => a + b))"
    )
    assert len(delivered) == len(kinds)
    assert min(delivered) > 0


@pytest.mark.parametrize("slider", ["rate", "rtt", "buffer", "flow-0"])
def a_slider_may_be_at_its_ends(tab: Any, slider: str) -> None:
    _ran(tab)
    for key in ("Home", "End"):
        tab.evaluate("before = run")
        tab.focus(f"#{slider}")
        tab.keyboard.press(key)
        ran = _wait(tab, "before")
        assert ran["errors"] == {}
        assert "cannot be used" not in ran["status"]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def it_fits_any_window_and_axe_finds_no_barrier(tab: Any, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size({"width": width, "height": 900})
    _ran(tab, b="pie")
    time.sleep(0.1)
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert tab.evaluate("charts.every(one => one.figure.hidden || one.plot.width <= one.box.clientWidth)")
    assert [one["id"] for one in Axe().run(tab).response["violations"]] == []


def the_verdict_and_the_table_are_above_the_charts(tab: Any) -> None:
    tab.set_viewport_size({"width": 1280, "height": 900})
    ran = _ran(tab, a="fifo", b="codel")
    verdict = tab.inner_text("#verdict")
    then, now = (ran["metrics"][side]["qdelay_mean_ms"] for side in ("a", "b"))
    assert verdict.startswith(f"codel against fifo: {round(100 * (1 - now / then))} % less queue delay (")
    assert "goodput" in verdict
    tops = [tab.locator(name).bounding_box()["y"] for name in ("#verdict", "#numbers", "#charts")]
    assert tops == sorted(tops)


def a_chart_and_its_controls_are_on_one_screen_of_a_phone(tab: Any) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    _ran(tab)
    tab.evaluate("scrollTo(0, 0)")
    boxes = [
        tab.locator(name).bounding_box() for name in ("#verdict", "#charts", "#rate", "#rtt", "#a-name", "#b-name")
    ]
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= 844 for box in boxes)


def charts_stay_in_sight_on_a_phone_while_a_control_is_moved(tab: Any) -> None:
    tab.set_viewport_size({"width": 390, "height": 800})
    _ran(tab)
    tab.locator("#seed").scroll_into_view_if_needed()
    box = tab.locator("#charts").bounding_box()
    seed = tab.locator("#seed").bounding_box()
    assert (box["y"], box["height"] > 200) == (0, True)
    assert box["y"] + box["height"] < seed["y"] + seed["height"] <= 800


SCENE = "Slow tablet on Wi-Fi"


def _clicked(tab: Any, title: str) -> dict[str, Any]:
    """Click a scene, and wait until it has run."""
    _ran(tab)
    tab.evaluate("before = run")
    tab.click(f"#scenes >> text={title}")
    return _wait(tab, "before")


def one_click_shows_who_has_the_air_of_a_slow_and_a_fast_station(tab: Any, tmp_path: Path) -> None:
    ran = _clicked(tab, SCENE)
    assert ran["errors"] == {}
    assert tab.evaluate("setting.problems") == []
    fifo, fair = ran["metrics"]["a"], ran["metrics"]["b"]
    assert fifo["station.tablet.airtime_share"] > 0.9
    assert abs(fair["station.tablet.airtime_share"] - 0.5) < 0.1
    assert fifo["station.phone.delay_total_ms"] > 10 * fair["station.phone.delay_total_ms"]
    verdict = tab.inner_text("#verdict")
    assert verdict.startswith("airtime_fq against fifo: packets take ")
    assert re.search(r"tablet has [0-9.]+ → [0-9.]+ % of the air", verdict)
    # The picture is that of the whole run, and has each station's share as its width.
    assert "After the warm-up" in tab.inner_text("#stations h2")
    widths = tab.evaluate("[...document.querySelectorAll('.bar span')].map(span => span.getBoundingClientRect().width)")
    for side, (phone, tablet) in zip((fifo, fair), (widths[:2], widths[2:]), strict=True):
        assert tablet / (phone + tablet) == pytest.approx(side["station.tablet.airtime_share"], abs=0.01)
    # In the middle it is that of a second.
    tab.evaluate("$('time').value = 500")
    tab.dispatch_event("#time", "input")
    assert "In the last second" in tab.inner_text("#stations h2")
    shares = [float(text) for text in re.findall(r"([0-9.]+) % of the air", tab.inner_text("#stations"))]
    assert [sum(shares[:2]), sum(shares[2:])] == pytest.approx([100, 100], abs=1)
    # The command gives the same.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = f"{tab.text_content('#command')} --out out --no-report --quiet"
    assert "--rate" not in command
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path, env={**os.environ, "PATH": path})
    for run in aqmlab.load(tmp_path / "out").runs.to_dicts():
        metrics = ran["metrics"]["a" if run["aqm"] == "fifo" else "b"]
        assert {name: run[name] for name in metrics} == metrics


def the_way_back_from_wifi_is_a_click(tab: Any) -> None:
    _clicked(tab, SCENE)
    assert tab.evaluate("$('rate').disabled")
    tab.evaluate("before = run")
    tab.select_option("#placement", "limited")
    _wait(tab, "before")
    assert "--placement limited" in tab.text_content("#command")
    tab.evaluate("before = run")
    tab.select_option("#link-kind", "turns")
    _wait(tab, "before")
    assert tab.evaluate("[setting.link, setting.placement, $('rate').disabled, $('stations').hidden]") == [
        "turns", "auto", False, True,
    ]  # fmt: skip
    assert "--link 'turns' " in tab.text_content("#command")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("wiif", "unknown link kind 'wiif', did you mean 'wifi'?"),
        ("turns until", "turns: 'until' has no value"),
        ("turns until never", "turns: parameter 'until': 'never'"),
        ("wifi stations [phone=ht-mcs99]", "wifi: parameter 'stations'"),
        ("trace a.down", "'trace a.down' names no recording that is there"),
        ("turns'; touch x", "a link has letters, digits and none of"),
    ],
)
def a_wrong_link_stays_in_its_field_with_what_is_wrong(tab: Any, text: str, problem: str) -> None:
    _ran(tab)
    tab.evaluate("document.querySelector('.wired details').open = true")
    tab.fill("#link", text)
    tab.press("#link", "Enter")
    assert problem in tab.inner_text("#link-problem")
    assert tab.input_value("#link") == text
    assert tab.get_attribute("#link", "aria-invalid") == "true"
    assert tab.evaluate("setting.link") == "rate"
    tab.evaluate("before = run")
    tab.fill("#link", "turns rate 6mbit")
    tab.press("#link", "Enter")
    ran = _wait(tab, "before")
    assert ran["errors"] == {}
    assert tab.inner_text("#rate-value") == "6 Mbit/s, of the link"
    assert tab.get_attribute("#link", "aria-invalid") == "false"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def wifi_fits_any_window_and_axe_finds_no_barrier(tab: Any, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size({"width": width, "height": 900})
    _clicked(tab, SCENE)
    tab.evaluate("document.querySelector('.wired details').open = true")
    time.sleep(0.1)
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert [one["id"] for one in Axe().run(tab).response["violations"]] == []
    # What is declared of each parameter stands there.
    params = tab.inner_text("#link-params")
    assert "most packets of an aggregate; 1 switches aggregation off. Allowed: 1 to 256" in params


WRONG = {
    "nothing": "#",
    "no pairs": "#garbage",
    "broken escapes": "#rate=%&a=%ff%fe",
    "huge numbers": "#rate=1e99mbit&rtt=99999999999999999999ms&buffer=99999999p&seed=1e300&flow=999*cubic",
    "names of the language": "#flow=1*toString&a=constructor&b=__proto__&rate=5constructor&speed=__proto__",
    "no flow": "#flow=0*cubic",
    "many flows": "#" + "&".join(["flow=9*cubic"] * 5000),
    "a long discipline": "#a=pie+target+" + "5" * 100_000,
    "a long value": "#rate=" + "9" * 100_000,
    "programs in a discipline": "#seed=900&a=codel%20%24(touch%20x)%22%3B%20rm%20-rf%20~%3B%20%23&b=codel'%60id%60",
    "a line in a discipline": "#a=codel%0atouch%20x&b=pie%20target%205ms%0a",
    "a limit": "#a=codel%20limit%205p&b=drr%20child%20[fifo%20limit%205p]%20child%20[fifo]",
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def a_link_of_nonsense_runs_what_can_be_understood(tab: Any, wrong: str) -> None:
    ran = _ran(tab, link=WRONG[wrong])
    assert ran["errors"] == {}
    assert ran["metrics"].keys() == {"a", "b"}
    assert len(ran["status"]) < 600
    assert "\n" not in ran["status"]
    assert re.search("touch|rm -rf|id`|limit", tab.text_content("#command")) is None


def what_a_link_has_wrong_is_reported_and_replaced(tab: Any) -> None:
    wrong = _link(
        rate="fast", rtt="40ms", buffer="-1p", flow=["1*warp"], a="nosuch", b="pie target sometimes", seed="x"
    )
    ran = _ran(tab, link=f"{wrong}&duration=5s")
    assert ran["metrics"].keys() == {"a"}
    assert ran["errors"].keys() == {"b"}
    assert "second discipline" in ran["status"]
    assert tab.text_content("#command") == "# None: a discipline is refused."
    assert "sometimes" in ran["status"]
    setting = tab.evaluate("setting")
    assert (setting["rate"], setting["buffer"], setting["a"], setting["seed"]) == ("20mbit", "270p", "fifo", "1")
    # As on the command line.
    assert "rate: 'fast' is not a rate such as 10mbit, 1.5gbit or 500kbit: 20mbit is used" in setting["problems"]
    assert len(setting["problems"]) == 5


def scripts_in_a_link_are_shown_and_not_run(tab: Any) -> None:
    script = "<img src=x onerror=\"document.title='taken'\">"
    ran = _ran(tab, rate=script)
    assert tab.title() == "aqmlab playground"
    assert script[:20] in ran["status"]


def ten_seconds_of_eight_flows_take_less_than_half_a_second(tab: Any) -> None:
    took = []
    for seed in range(1, 4):
        setting = {"rate": "20mbit", "buffer": "67p", "flow": ["8*cubic"], "a": "codel", "b": "pie", "duration": "10s"}
        took.append(_ran(tab, seed=seed, **setting)["took"])
    assert min(took) < 500


def _at_line(tab: Any, **texts: str) -> None:
    """Follow a link to a line; what is not given is as on a new page."""
    tab.evaluate("link => { location.hash = link; }", urlencode({f"my-{name}": text for name, text in texts.items()}))
    tab.wait_for_selector("#home", state="visible")


def _asked(tab: Any, **texts: str) -> dict[str, Any]:
    """Ask about a line, and return what the page found."""
    _at_line(tab, **texts)
    tab.evaluate(
        "() => { found = new Promise(done => addEventListener('advised', ({detail}) => done(detail), {once: true})); }"
    )
    tab.click("#ask")
    return dict(tab.evaluate("() => found"))


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("down", "up", "kind"), [("3mbit", "512kbit", "adsl"), ("6mbit", "700kbit", "docsis")])
def a_line_gets_the_answer_of_the_command(tab: Any, down: str, up: str, kind: str) -> None:
    found = _asked(tab, down=down, up=up, layer=kind)
    asked = Line(parse_rate(down), parse_rate(up), layer(kind))
    advice = advise(asked, seeds=asked.plan.quick_seeds)
    assert found["named"] == advice.chosen.name
    behind = {one["name"]: (one["grade"], one["behind"]) for one in found["ranked"]}
    assert behind == {one.name: (one.grade, pytest.approx(one.behind)) for one in advice.verdict.judged}
    for one in found["means"]:
        values = {name: pytest.approx(value.value) for name, value in advice.verdict.of(one["name"]).values.items()}
        assert one["values"] == {name: values[name] for name in one["values"]}
    assert tab.inner_text("#tc").splitlines() == paste.tc(advice.chosen, asked)
    assert tab.inner_text("#sqm").splitlines() == paste.sqm(advice.for_openwrt, asked)
    assert tab.inner_text("#my-command") == f"aqmlab advise --down {down} --up {up} --linklayer {kind} --rtt 40ms"
    assert advice.chosen.name in tab.inner_text("#headline")


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def the_answer_fits_any_window(tab: Any, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size({"width": width, "height": 900})
    _asked(tab, down="1mbit", up="512kbit", layer="vdsl", buffer="64kb")
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert [one["id"] for one in Axe().run(tab).response["violations"]] == []
    assert "64 KiB down and 64 KiB up" in tab.inner_text("#half")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("down", "50", "50 is no rate from 100kbit to 10gbit: write 50mbit for 50 Mbit/s"),
        ("up", "12,5 Mbit/s", "12,5 Mbit/s is no rate from 100kbit to 10gbit: write 12.5mbit for 12.5 Mbit/s"),
        ("up", "0", "0 is no rate from 100kbit to 10gbit: write 16mbit"),
        ("rtt", "20", "20 is no round trip up to 2s: write 20ms for 20 ms"),
        ("up", "", "nothing is no rate from 100kbit to 10gbit: write 16mbit"),
        ("rtt", "3s", "3s is no round trip up to 2s: write 40ms"),
        ("buffer", "<b>", "<b> is no buffer: write 256kb"),
    ],
)
def what_a_line_has_wrong_is_reported(tab: Any, name: str, text: str, message: str) -> None:
    _at_line(tab, **{"down": "16mbit", name: text})
    tab.click("#ask")
    assert tab.inner_text("#asking") == message
    assert tab.is_hidden("#answer")


def asking_can_be_stopped_and_begun_again(tab: Any) -> None:
    _at_line(tab, down="900mbit", up="90mbit")
    tab.click("#ask")
    tab.wait_for_selector("#progress", state="visible")
    assert tab.inner_text("#ask") == "Stop"
    tab.click("#ask")
    assert (tab.inner_text("#asking"), tab.inner_text("#ask")) == ("Stopped.", "Ask")
    assert tab.is_hidden("#answer")


def the_page_starts_from_kinds_and_metrics_that_exist(page: Path) -> None:
    text = page.read_text().split('id="setup">')[1].split("</script>")[0]
    setup = json.loads(gzip.decompress(base64.b64decode(text)))
    assert {one["name"] for one in setup["disciplines"]} == {one.name for one in registry.disciplines()}
    assert setup["start"]["a"] in {one["name"] for one in setup["disciplines"]}
