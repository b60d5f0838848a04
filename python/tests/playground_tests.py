"""The playground: the simulator in a page."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browser import needs_browser, opened

import aqmlab
from aqmlab import registry

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
    spec = importlib.util.spec_from_file_location("playground", ROOT / "scripts/playground.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    path = tmp_path_factory.mktemp("playground") / "index.html"
    path.write_text(script.built(script.module()))
    return path


def _link(**setting: Any) -> str:
    return f"#{urlencode(setting, doseq=True)}"


def _results(tab: Any) -> dict[str, Any]:
    """Wait until both sides have run."""
    for _ in range(600):
        if tab.evaluate("Object.keys(results).length") == 2:
            results: dict[str, Any] = tab.evaluate("results")
            return results
        time.sleep(0.05)
    raise AssertionError(tab.text_content("#status"))


@pytest.mark.parametrize(
    "setting",
    [
        {"rate": "20mbit", "rtt": "40ms", "buffer": "67p", "flow": ["8*cubic"], "a": "codel", "b": "pie target 5ms"},
        {"rate": "1.5mbit", "rtt": "35ms", "buffer": "40p", "flow": ["1*voip", "1*web"], "a": "fifo", "b": "cake"},
        {
            "rate": "9mbit", "rtt": "10ms", "buffer": "90p", "flow": ["2*prague", "2*cubic", "1*cubic:ecn=classic"],
            "a": "dualpi2", "b": "red ecn on limit 70p",
        },
    ],
)  # fmt: skip
def the_page_gives_the_numbers_of_the_command_that_it_shows(page: Path, setting: dict[str, Any]) -> None:
    with opened(page, link=_link(duration="5s", seed=2, **setting)) as tab:
        results = _results(tab)
        command = tab.text_content("#command").replace("\\\n", " ")
    compared = aqmlab.compare(
        rate=setting["rate"], rtt=setting["rtt"], buffer=setting["buffer"], flows=setting["flow"],
        aqm=[setting["a"], setting["b"]], duration="5s", warmup="1666ms", seeds=2, allow_unequal_buffers=True,
    )  # fmt: skip
    for side in ("a", "b"):
        (run,) = compared.runs.filter(aqm=setting[side], seed=2).to_dicts()
        metrics = results[side]["metrics"]
        assert {name: run[name] for name in metrics} == metrics
        series = compared.series.filter(aqm=setting[side], seed=2, name="queue_packets")
        assert series["value"].to_list() == results[side]["series"]["columns"]["queue_packets"]
        assert f'--aqm "{setting[side]}"' in command
    assert f"aqmlab compare --rate {setting['rate']} --rtt {setting['rtt']} --buffer {setting['buffer']}" in command
    assert "--duration 5s --warmup 1666ms --seeds 2" in command


def one_file_of_less_than_three_megabytes_is_all(page: Path) -> None:
    assert page.stat().st_size < 3_000_000
    assert "{{" not in page.read_text()


def a_change_runs_it_again_and_the_link_has_it(page: Path) -> None:
    with opened(page, link=_link(duration="5s", flow=["2*cubic"])) as tab:
        before = _results(tab)
        tab.select_option("#b-name", "pie")
        tab.click("#b-params >> xpath=../summary")
        tab.fill("#b-target", "40ms")
        tab.press("#b-target", "Tab")
        time.sleep(0.2)
        after = _results(tab)
        link = tab.evaluate("location.hash")
        assert "b=pie+target+40ms" in link
        assert after["a"]["metrics"] == before["a"]["metrics"]
        assert after["b"]["metrics"] != before["b"]["metrics"]
        shown = tab.evaluate("charts.filter(chart => chart.plot).map(chart => chart.plot.data.map(d => d.length))")
        assert len(shown) >= 6
        assert all(lengths[0] > 100 and len(set(lengths)) == 1 for lengths in shown)
        # Half way through the run, half of it is drawn.
        tab.evaluate("document.getElementById('time').value = 500")
        tab.dispatch_event("#time", "input")
        half = tab.evaluate("charts.filter(chart => chart.plot).map(chart => chart.plot.data[0].length)")
        assert all(abs(2 * short - lengths[0]) <= 2 for short, lengths in zip(half, shown, strict=True))


@pytest.mark.parametrize("width", [390, 1280])
def it_fits_a_window(page: Path, width: int) -> None:
    with opened(page, width, link=_link(duration="5s")) as tab:
        _results(tab)
        assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def what_a_link_has_wrong_is_said_and_replaced(page: Path) -> None:
    wrong = _link(
        rate="fast", rtt="40ms", buffer="-1p", flow=["1*warp"], a="nosuch", b="pie target sometimes", seed="x"
    )
    with opened(page, link=f"{wrong}&duration=5s") as tab:
        results = _results(tab)
        status = tab.text_content("#status")
        assert results["a"] is not None
        assert results["b"] is None
        assert "second discipline" in status
        assert "sometimes" in status
        setting = tab.evaluate("setting")
        assert (setting["rate"], setting["buffer"], setting["a"], setting["seed"]) == ("20mbit", "270p", "fifo", "1")
        assert setting["problems"][0] == "rate 'fast' cannot be used: 20mbit is"
        assert len(setting["problems"]) == 5


def scripts_in_a_link_are_shown_and_not_run(page: Path) -> None:
    script = "<img src=x onerror=\"document.title='taken'\">"
    with opened(page, link=_link(duration="5s", b=f"pie target {script}", rate=script)) as tab:
        _results(tab)
        assert tab.title() == "aqmlab playground"
        assert script in tab.text_content("#command")


def the_page_starts_from_kinds_and_metrics_that_exist(page: Path) -> None:
    text = page.read_text().split('id="setup">')[1].split("</script>")[0].replace("<\\/", "</")
    setup = json.loads(text)
    assert {one["name"] for one in setup["disciplines"]} == {one.name for one in registry.disciplines()}
    assert setup["start"]["a"] in {one["name"] for one in setup["disciplines"]}
