"""Suites: their plan, what they run, and their page."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import CHROMIUM, opened
from conftest import Command

from aqmlab import InputError, engine, scenario, suites
from aqmlab.engine import Monitor, Report, Task
from aqmlab.engine.native import Native
from aqmlab.results import Result
from aqmlab.results.frames import from_runs
from aqmlab.scenario.inputs import steps
from aqmlab.suites import cards, engines, overview, suite_page
from aqmlab.suites.matrix import MatrixRow, Verdict, notes

TINY = """
title = "Tiny"
reference = "none"
disciplines = ["codel"]

[[scenario]]
file = "one"
section = "1.1"
title = "One flow"
asks = "One flow."
phases = { first = [1, 2], second = [2, 3] }
columns = ["goodput_mbit", "qdelay_mean_ms", "class.newreno.goodput_mbit / goodput_mbit"]
figures = ["cdf"]

[[scenario]]
file = "two"
section = "1.2"
title = "With ECN"
asks = "The same."
ecn = true
tail_drop = true
"""
FILE = """
title = "A flow"
aqm = ["fifo"]
rate = "5mbit"
rtt = "20ms"
flows = ["2*newreno"]
duration = "3s"
warmup = "1s"
seeds = 2
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A suite of two scenarios in a folder."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "suite.toml").write_text(TINY)
    for name in ("one", "two"):
        (folder / f"{name}.toml").write_text(FILE)
    return folder


def the_rfcs_suite_has_its_sections_and_its_numbers_of_flows() -> None:
    suite = suites.find("rfc7928")
    sections = ["4.4", "4.5", "5.1.1", "5.1.2", "5.2", "5.3", "5.4", "6.2", "7.2", "8.2.2", "8.2.3", "8.2.4", "8.2.5"]
    assert list(dict.fromkeys(one.section for one in suite.entries)) == [*sections, "8.2.6", "9.1", "9.2", "10.2"]
    # Section 8.2: S is 100 Mbit/s x 100 ms / 8 / 1500 = 833.3 packets, twice with the buffer.
    bdp = 100e6 * 0.1 / 8 / 1500
    for name, share in (("mild", 0.036), ("medium", 0.081), ("heavy", 0.114)):
        entry = next(one for one in suite.entries if one.name == name)
        [flows] = scenario.load(entry.file).points[0].texts("flows")
        assert flows == f"{round(share * 2 * bdp)}*newreno"


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
def every_scenario_of_every_suite_resolves(quick: bool) -> None:
    for suite in map(suites.find, suites.built()):
        for entry in suite.entries:
            for point in scenario.load(entry.file, quick=quick).points:
                plan = scenario.resolve(point)
                assert plan.contestants
                names = {flow.name for flow in plan.base.flows}
                asked = {column.split(".")[1] for column in entry.columns if column.startswith("class.")}
                assert asked <= names


def a_suite_of_ones_own_runs_from_its_folder_and_writes_one_page(aqmlab: Command, tiny: Path) -> None:
    ended = aqmlab(
        "suite", str(tiny), "--aqm", "pie", "--aqm", "codel target 5ms", "--json", "all.json", "--out", "out"
    )
    assert ended.status == 0, ended.line
    assert "1.2    two" in ended.out
    assert "Against pie: ▲ better" in ended.out
    # Runs of two seconds do not tell the two apart, and the scenario says so.
    assert "1.1 one, 1.2 two: 2 seeds do not decide" in ended.out
    page = (Path("out") / "index.html").read_text()
    for text in ("1.1 One flow", "second", "newreno / all", "What is to be stated", "tiny/one.toml"):
        assert text in page
    glance = page[page.index('id="glance"') : page.index("</nav>")]
    assert [glance.count(one) for one in ("Mean queue delay, ms", "Goodput, Mbit/s", "#one", "#two")] == [2, 2, 1, 1]
    assert page.index('id="matrix"') < page.index('id="glance"') < page.index('id="one"')
    assert page.count('<details class="fold scenario">') == 2
    document = json.loads(Path("all.json").read_text())
    assert [(row["name"], row["verdicts"]["pie"]) for row in document["matrix"]] == [
        ("one", {"side": "first"}),
        ("two", {"side": "first"}),
    ]
    assert [one["section"] for one in document["scenarios"]] == ["1.1", "1.2"]
    assert {row["aqm"] for row in document["scenarios"][1]["summary"]} == {"pie ecn", "codel target 5ms ecn"}
    first = document["scenarios"][0]
    assert {(row["phase"], row["series"]) for row in first["phases"]} == {
        (phase, series) for phase in ("first", "second") for series in ("goodput_mbit", "qdelay_ms")
    }
    # Both flows are NewReno's.
    assert [(row["aqm"], row["mean"]) for row in first["ratios"]] == [("pie", 1.0), ("codel target 5ms", 1.0)]
    assert (Path("out") / "figures" / "one-cdf.csv").is_file()
    for width in (390,) if CHROMIUM else ():
        with opened(Path("out") / "index.html", width) as tab:
            found = Axe().run(tab).response["violations"]
            assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
            assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    for width in (1280,) if CHROMIUM else ():
        with opened(Path("out") / "index.html", width) as tab:
            # With eight columns more the names beside them are not broken into letters.
            tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            tab.evaluate(
                "document.querySelectorAll('#glance tr').forEach(row =>"
                " row.append(...Array.from({length: 8}, () => row.lastElementChild.cloneNode(true))))"
            )
            assert (
                min(tab.evaluate("[...document.querySelectorAll('#glance tbody th')].map(one => one.offsetWidth)"))
                > 130
            )
    again = aqmlab("suite", str(tiny), "--only", "1.1,one", "--quiet", "--out", "part")
    assert again.status == 0
    assert not (Path("part") / "two").exists()


def numbers_of_another_measure_than_the_rows_are_marked_and_named_once() -> None:
    other, plain = Verdict("better", -0.46, "loss of small"), Verdict("worse", 3.17)
    assert [one.text for one in (plain, other, Verdict("worse", None, "loss of small"), Verdict("equal"))] == [
        "▼ +317 %",
        "▲ -46 %*",
        "▼*",
        "≈",
    ]
    entry = SimpleNamespace
    rows: Any = [
        MatrixRow(entry(section="1.1", name="one"), "queue delay", (plain, other), ""),
        MatrixRow(entry(section="1.2", name="two"), "queue delay", (other, other), ""),
        MatrixRow(entry(section="1.3", name="three"), "queue delay", (Verdict("equal"),), "nothing queues"),
        MatrixRow(entry(section="1.4", name="four"), "queue delay", (plain,), ""),
    ]
    assert notes(rows) == ["1.1 one, 1.2 two: * loss of small", "1.3 three: nothing queues"]


def at_a_glance_what_does_not_differ_from_the_best_is_best_too() -> None:
    values = {"a": [10.0, 10.1, 9.9], "b": [10.1, 9.9, 10.1], "c": [20.0, 20.1, 19.9]}
    rows = [(0, aqm, seed, *[value] * 3) for aqm, own in values.items() for seed, value in enumerate(own, 1)]
    lower, higher, neither = names = ("qdelay_mean_ms", "goodput_mbit", "marks")
    runs = pl.DataFrame(rows, ["point", "aqm", "seed", *names], orient="row")
    result = Result({"points": [{"point": {}, "scenario": {"aqm": [{"label": aqm} for aqm in values]}}]}, from_runs([]))
    result = replace(result, frames=replace(result.frames, runs=runs))
    assert overview._best(result, lower, ["a", "b", "c"]) == ["a", "b"]
    assert overview._best(result, higher, ["a", "b", "c"]) == ["c"]
    assert overview._best(result, neither, ["a", "b", "c"]) == overview._best(result, lower, ["a", "b"]) == []


OF_CONTROLS = """
title = "Controls"
reference = "none"
controls = ["newreno", "cubic"]

[[scenario]]
file = "one"
section = "1.1"
title = "Alone"
asks = "Two flows."
phases = { first = [1, 2] }
columns = ["goodput_mbit", "qdelay_mean_ms", "class.new.goodput_mbit / goodput_mbit"]
figures = ["cdf"]
"""


@pytest.fixture
def of_controls(tmp_path: Path) -> Path:
    """A suite of controls in a folder: two disciplines, two buffers."""
    folder = tmp_path / "controls"
    folder.mkdir()
    (folder / "suite.toml").write_text(OF_CONTROLS)
    flows = FILE.replace("2*newreno", "2*$control:name=new").replace('["fifo"]', '["fifo", "codel"]')
    sweep = '[sweep]\ncontrol = ["newreno"]\nbuffer = ["20p", "80p"]\n'
    (folder / "one.toml").write_text(flows.replace("seeds = 2", "seeds = 3") + sweep)
    return folder


def a_suite_of_controls_compares_them_over_disciplines_and_settings(of_controls: Path, tmp_path: Path) -> None:
    asked = ["1*fixed:window=2p", "cubic"]
    outcome = suites.run_suite(suites.find(str(of_controls)), [], folder=tmp_path / "out", controls=asked)
    [part] = outcome.parts
    assert list(outcome.contestants) == part.shown.aqms == ["fixed:window=2p", "cubic"]
    assert part.shown.points == [
        {"aqm": aqm, "buffer": buffer} for buffer in ("20p", "80p") for aqm in ("fifo", "codel")
    ]
    # The same runs under other names.
    both = {
        (row["point"]["control"], row["point"]["buffer"], row["aqm"]): row["mean"]
        for row in suites.document(outcome)["scenarios"][0]["summary"]
        if row["metric"] == "qdelay_mean_ms"
    }
    for row in part.shown.rows:
        if row.metric == "qdelay_mean_ms":
            point = part.shown.points[row.point]
            assert row.estimate.value == both[row.aqm, point["buffer"], point["aqm"]]
    ratios = suites.document(outcome)["scenarios"][0]["ratios"]
    assert {(row["point"]["control"], row["aqm"], row["mean"]) for row in ratios} == {
        (control, aqm, 1.0) for control in part.shown.aqms for aqm in ("fifo", "codel")
    }
    # Four packets in flight do not fill the path, and leave no queue.
    [card] = cards.cards(outcome)
    assert (card.control, card.known) == ("fixed:window=2p", "cubic")
    assert any(one.measure == "mean queue delay" and "buffer 80p" in one.setting for one in card.better)
    shown = suite_page.write(outcome, tmp_path / "out").read_text()
    for text in ('id="card-1"', ">Control</th>", "first, aqm fifo, buffer 20p", "A card for each control"):
        assert text in shown
    assert "What is to be stated" not in shown


@pytest.mark.parametrize(
    ("flows", "problem"),
    [
        ("2*cubic", "the scenarios say how many; as 1*cubic or cubic"),
        ("cubic:name=mine", "name=mine is the scenarios' to say"),
        ("1*", "names no kind of flow"),
        ("cubics", "did you mean 'cubic'"),
    ],
)
def a_control_that_is_none_is_refused_before_any_run(
    of_controls: Path, tmp_path: Path, flows: str, problem: str
) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        suites.run_suite(suites.find(str(of_controls)), [], folder=tmp_path / "out", controls=[flows])
    assert not (tmp_path / "out").exists()


@pytest.fixture
def limited(of_controls: Path) -> Path:
    """The same with a scenario that cannot carry a real stack: a conversation, in both directions."""
    one = next(path for path in of_controls.glob("*.toml") if path.name != "suite.toml")
    limited = one.read_text().replace("2*$control:", "2*gaming:gap=40ms:transport=$control:")
    assert limited != one.read_text()
    (of_controls / "limited.toml").write_text(limited)
    plan = of_controls / "suite.toml"
    entry = plan.read_text().partition("[[scenario]]")[2].replace(f'"{one.stem}"', '"limited"')
    plan.write_text(f"{plan.read_text()}\n[[scenario]]{entry}")
    return of_controls


def a_scenario_leaves_out_a_control_that_it_cannot_carry(limited: Path, tmp_path: Path) -> None:
    suite = suites.find(str(limited))
    outcome = suites.run_suite(suite, [], folder=tmp_path / "out", controls=["newreno", "quinn"], quick=True)
    (why,) = outcome.skipped
    assert ", quinn: " in why
    assert "transport 'quinn' is not one of udp, newreno" in why
    assert [part.shown.aqms for part in outcome.parts] == [["newreno", "quinn"], ["newreno"]]
    # Another scenario takes it, and the suite's own controls show that this one is right.
    alone = suites.run_suite(suite, [], folder=tmp_path / "alone", controls=["quinn"], quick=True)
    assert [part.entry.name for part in alone.parts] == ["one"]


def only_a_control_that_the_user_named_must_fit_a_scenario(limited: Path, tmp_path: Path) -> None:
    plan = limited / "suite.toml"
    plan.write_text(plan.read_text().replace('["newreno", "cubic"]', '["quinn", "newreno"]'))
    suite = suites.find(str(limited))
    outcome = suites.run_suite(suite, [], folder=tmp_path / "out", only=["limited"], seeds=1)
    assert [part.shown.aqms for part in outcome.parts] == [["newreno"]]
    assert ", quinn: " in "".join(outcome.skipped)
    with pytest.raises(InputError, match="transport 'quinn' is not one of"):
        suites.run_suite(suite, [], folder=tmp_path / "named", only=["limited"], controls=["quinn", "newreno"])
    assert not (tmp_path / "named").exists()


@pytest.mark.parametrize("named", [[], ["quinn"]], ids=["the suite's", "the user's"])
def a_mistake_in_one_scenario_is_an_error_before_any_run(limited: Path, tmp_path: Path, named: list[str]) -> None:
    file = limited / "limited.toml"
    file.write_text(file.read_text().replace("gap=40ms", "gap=40mz"))
    with pytest.raises(InputError, match=r"limited\.toml: flows: .*40mz'"):
        suites.run_suite(suites.find(str(limited)), [], folder=tmp_path / "out", controls=named)
    assert not (tmp_path / "out").exists()


def a_suite_of_disciplines_takes_no_controls(aqmlab: Command, tiny: Path, of_controls: Path) -> None:
    assert "tiny compares disciplines" in aqmlab("suite", str(tiny), "--flows", "cubic").line
    plan = of_controls / "suite.toml"
    plan.write_text(OF_CONTROLS.replace("figures", "ecn = true\nfigures"))
    with pytest.raises(InputError, match="one: ecn and tail_drop are of suites of disciplines"):
        suites.find(str(of_controls))
    plan.write_text(OF_CONTROLS.replace("controls =", 'disciplines = ["pie"]\ncontrols ='))
    with pytest.raises(InputError, match="either disciplines or controls"):
        suites.find(str(of_controls))


class _Reversed(Native):
    """A second engine, in which two disciplines have changed places."""

    name = "linux"

    @functools.cached_property
    def version(self) -> str:
        return "reversed"

    def run(self, task: Task, monitor: Monitor) -> Report:
        aqm = task.scenario.aqm
        other = {"10p": LONG, "60p": SHORT}.get(aqm.rpartition("fifo:tail limit ")[2], aqm)
        return replace(super().run(replace(task, scenario=replace(task.scenario, aqm=other)), monitor), engine="linux")


SHORT, LONG = "fifo limit 10p", "fifo limit 60p"


def where_engines_reverse_the_order_is_the_headline(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engine.ENGINES, "linux", _Reversed())
    (tiny / "one.toml").write_text(FILE.replace("seeds = 2", "seeds = 4"))
    outcome = suites.run_suite(
        suites.find(str(tiny)), [SHORT, LONG, "pie"], folder=tmp_path / "out", only=["1.1"], engine="native,linux",
        allow_unequal_buffers=True,
    )  # fmt: skip
    found = {one.aqms: one for one in engines.pairs(outcome) if one.metric == "qdelay_mean_ms"}
    assert found[SHORT, LONG].ahead == (SHORT, LONG)
    assert found[SHORT, LONG].is_reversed
    assert len(found) == 3
    head, *rest = engines.headline(outcome)
    assert head.startswith("Of 6 comparisons of two disciplines, native and linux both tell ")
    assert f"1.1 One flow, mean queue delay: {SHORT} in native and {LONG} in linux is ahead of the other." in rest
    shown = suite_page.write(outcome, tmp_path / "out").read_text()
    assert head in shown
    glance = shown[shown.index('id="glance"') : shown.index("</nav>")]
    assert f"{LONG} on linux</th>" in glance
    assert "<td>-</td>" not in glance
    assert suites.document(outcome)["engines"]["headline"] == [head, *rest]


def what_one_engine_alone_tells_apart_is_no_turn(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = (("a", "a"), ("b", "b"), ("a", ""), ("", "b"), ("b", ""), ("", ""))
    made = [engines.Pair("1", "One", "", "goodput_mbit", ("a", "b"), ahead) for ahead in sides]
    monkeypatch.setattr(engines, "pairs", lambda _: made)
    outcome = suites.Outcome(suites.find(str(tiny)), ("a", "b"), True, (), engines=("native", "linux"))
    assert engines.headline(outcome) == [
        "Of 6 comparisons of two disciplines, native and linux both tell 2 apart, "
        "and agree on the order in all of them.",
        "One engine alone distinguishes others: 2 by native and 1 by linux.",
    ]


def one_engine_has_no_headline(tiny: Path, tmp_path: Path) -> None:
    outcome = suites.run_suite(suites.find(str(tiny)), ["codel", "pie"], folder=tmp_path / "out", only=["1.1"])
    assert engines.headline(outcome) == []
    assert "engines" not in suites.document(outcome)


def what_is_wrong_with_a_suite_is_named(aqmlab: Command, tiny: Path) -> None:
    assert "did you mean 'rfc7928'?" in aqmlab("suite", "rfc7982").line
    assert "only: '3' is no section" in aqmlab("suite", "rfc7928", "--only", "3").line
    alone = aqmlab("suite", str(tiny), "--only", "1.2", "--aqm", "fifo")
    assert (alone.status, "nothing is left to run: section 1.2, With ECN: no discipline" in alone.line) == (2, True)
    (tiny / "suite.toml").write_text(TINY.replace('"goodput_mbit", "qdelay', '"goodput", "qdelay'))
    with pytest.raises(InputError, match="columns: unknown metric 'goodput'"):
        suites.find(str(tiny))
    (tiny / "suite.toml").write_text(TINY.replace('figures = ["cdf"]', 'matters = ["goodput_mbi"]'))
    with pytest.raises(InputError, match="matters: unknown column 'goodput_mbi', did you mean 'goodput_mbit'"):
        suites.find(str(tiny))
    (tiny / "suite.toml").write_text(TINY.replace("[2, 3]", "[3, 2]"))
    with pytest.raises(InputError, match="phases: second: must end after it begins"):
        suites.find(str(tiny))


def steps_of_a_rate_are_opportunities_that_add_up() -> None:
    # 100 Mbit/s for 30 ms are 250 packets of 12 000 bits; 10 Mbit/s for 30 ms are 25.
    times = [int(line) for line in steps("steps:100mbit*30ms,10mbit*30ms").split()]
    assert sum(at <= 30 for at in times) == 250
    assert len(times) == 275
    for text, problem in {
        "steps:10mbit": "is not RATE",
        "steps:10mbit*1us": "whole milliseconds",
        "steps:0bit*1s": "rate above zero",
        "steps:1000gbit*1000s": "at most",
    }.items():
        with pytest.raises(InputError, match=problem):
            steps(text)


def a_link_of_steps_is_an_option(aqmlab: Command) -> None:
    ended = aqmlab(
        "compare", "--link-trace", "steps:12mbit*100ms,3mbit*100ms", "--rtt", "20ms", "--aqm", "fifo",
        "--duration", "2s", "--seeds", "1", "--no-report", "--json", "-", "--out", "out",
    )  # fmt: skip
    assert ended.status == 0
    assert json.loads(ended.out)["scenario"]["link_trace_mean_rate"] == "7.5mbit"
