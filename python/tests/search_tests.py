"""The search of a paper's open values, with made-up and therefore known numbers."""

from __future__ import annotations

import json
import math
import random
import re
import statistics
from pathlib import Path

import pytest
from conftest import Command
from fake import FakeRun, fake_run
from scipy.stats import qmc

from aqmlab import papers
from aqmlab.files import shipped
from aqmlab.papers import paper as folders
from aqmlab.papers import searching
from aqmlab.papers.paper import Paper
from aqmlab.scenario import load, resolve
from aqmlab.search import Outcome, design, run_search
from aqmlab.search.outcome import RECORDS
from aqmlab.search.sensitivity import Effect
from aqmlab.search.settings_table import closest, conclusion, ratio
from aqmlab.stats import hypercube
from aqmlab.vocabulary.errors import InputError

SCENARIO = """
aqm = ["fifo", "codel target $target interval $interval"]
rate = "$rate"
rtt = "20ms"
buffer = "100p"
flows = ["2*newreno"]
duration = "2s"
[values]
target = "5ms"
interval = "100ms"
rate = "5mbit"
"""
SPACE = """
[space]
own = "codel"
settings = 24
seeds = 2
steps = 3
best = 2
fresh_seeds = 4
quick = { settings = 12, seeds = 1, steps = 0, fresh_seeds = 1 }
"""
FACTORS = """
[[factor]]
name = "target"
says = "the target"
levels = ["5ms", "10ms", "15ms", "20ms"]
[[factor]]
name = "interval"
says = "does nothing"
levels = { short = "100ms", long = "200ms" }
[[factor]]
name = "rate"
says = "the link"
levels = ["5mbit", "9mbit", "10mbit"]
"""
CLAIMS = """
title = "A small paper"
reference = "Nobody, Nowhere 1(1):1 (2026)"
presets.printed = { says = "as printed", levels = { target = "20ms" } }
[[claim]]
id = "small-1"
says = "CoDel has the shorter queue, by far"
where = "Figure 1"
scenario = "line"
measure.of = "qdelay_mean_ms"
paper = { fifo = 40, codel = 20 }
expect = ["codel < fifo"]
[[claim]]
id = "small-2"
says = "CoDel loses as much as anything"
where = "Figure 2"
scenario = "line"
measure.of = "loss_ratio"
paper = { fifo = 0, codel = 0.5 }
expect = ["codel >= fifo within 5%"]
doubt.codel = "nothing loses half of its packets"
[[claim]]
id = "small-3"
says = "The sun shines"
where = "section 4"
not_testable = "there is no sun in the simulator"
"""
FIGURES = """
[[figure]]
name = "figure-1"
title = "Figure 1"
panel = [{ title = "a", scenario = "line", kind = "bars", of = "qdelay_mean_ms", label = "Delay" }]
"""
PAPER = CLAIMS + SPACE + FACTORS + FIGURES


class Simulator:
    """Counts its calls; the delay is target plus rate, or thirty plus rate without a target."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def __call__(self, scenario_json: str, inputs: object, seed: int, monitor: object) -> FakeRun:
        self.asked.append((scenario_json, seed))
        run = fake_run(scenario_json, inputs, seed, monitor)
        run.metrics["qdelay_mean_ms"] = self.answer(scenario_json, seed)
        run.metrics["loss_ratio"] = 0.25
        return run

    def answer(self, scenario_json: str, seed: int) -> float:
        """The delay."""
        del seed
        scenario = json.loads(scenario_json)
        target = re.search(r"target (\d+)ms", scenario["aqm"])
        return (float(target[1]) if target else 30.0) + scenario["capacity"]["rate_bps"] / 1e6

    def of(self, aqm: str) -> list[tuple[str, int]]:
        """The calls for a discipline."""
        return [one for one in self.asked if json.loads(one[0])["aqm"].startswith(aqm)]


@pytest.fixture
def simulator(monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """A simulator with known results."""
    one = Simulator()
    monkeypatch.setattr("aqmlab.engine.native.simulate", one)
    return one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a paper that leaves something open."""
    place = tmp_path / "experiments" / "s-pie"
    (place / "scenarios").mkdir(parents=True)
    (place / "scenarios/line.toml").write_text(SCENARIO)
    (place / "paper.toml").write_text(PAPER)
    return place


@pytest.fixture
def paper(folder: Path) -> Paper:
    """The paper in that folder."""
    return folders.load(folder)


@pytest.fixture
def outcome(paper: Paper, simulator: Simulator, tmp_path: Path) -> Outcome:
    """The outcome of a search in it."""
    del simulator
    return run_search(searching.explore(paper, tmp_path / "out", jobs=2), jobs=2)


def _chance(text: str, seed: int) -> float:
    """Return a number between -1 and 1 that only the run decides, by what settings vary: no other key changes it."""
    scenario = json.loads(text)
    varied = [scenario[key] for key in ("aqm", "capacity")]
    return random.Random(f"{varied} {seed}").uniform(-1.0, 1.0)


def _effect(effects: list[Effect], factor: str, claim: str = "small-1") -> Effect:
    return next(one for one in effects if (one.factor, one.claim) == (factor, claim))


def the_setting_that_gives_the_papers_numbers_is_found(outcome: Outcome) -> None:
    best = outcome.closest[0]
    assert outcome.search.values(best.setting)["target"] == "10ms"
    assert outcome.search.values(best.setting)["rate"] == "10mbit"
    assert (best.distance, best.own) == pytest.approx((0.0, 0.0))
    assert (best.near, best.numbers) == (2, 2)
    assert {name: grade.word for name, grade in best.grades.items()} == {
        "small-1": "reproduced",
        "small-2": "reproduced in part",
    }


def neighbours_of_the_closest_lead_to_the_best_from_a_poor_draw(
    paper: Paper, simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del simulator
    monkeypatch.setattr(design, "sample", lambda factors, count: [("10ms", "short", "9mbit")])
    outcome = run_search(searching.explore(paper, tmp_path / "out", jobs=1), jobs=1)
    assert outcome.closest[0].distance == pytest.approx(0.0)


def a_factor_that_does_nothing_has_no_effect(outcome: Outcome) -> None:
    for effects in (outcome.effects, outcome.around):
        assert _effect(effects, "interval").size == pytest.approx(0.0, abs=1e-12)
        assert not _effect(effects, "interval").is_seen
        assert not _effect(effects, "target", "small-2").is_seen


def an_effect_is_the_range_of_the_levels_as_a_share_of_the_papers_value(outcome: Outcome) -> None:
    for effects in (outcome.effects, outcome.around):
        # 15 ms of 20, and 5 of 20.
        assert _effect(effects, "target").size == pytest.approx(0.75)
        assert _effect(effects, "rate").size == pytest.approx(0.25)
        assert _effect(effects, "target").is_seen


def a_level_says_in_how_many_settings_a_claim_holds(outcome: Outcome) -> None:
    shares = {(one.factor, one.level): one.holding["small-1"] for one in outcome.levels}
    assert set(shares.values()) == {1.0}
    nearest = min((one for one in outcome.levels if one.factor == "target"), key=lambda one: one.own)
    assert nearest.level in ("10ms", "15ms")


def runs_that_settings_share_are_made_once(outcome: Outcome, simulator: Simulator) -> None:
    assert len({*simulator.asked}) == len(simulator.asked)
    # Three rates, two seeds: the target does not affect a plain queue.
    rates = {setting[2] for setting in outcome.fresh}
    assert len(simulator.of("fifo")) == 6 + 4 * len(rates)
    assert len(simulator.of("codel")) == 2 * len(outcome.scores) + 4 * len(outcome.fresh)


def an_interrupted_search_continues(paper: Paper, outcome: Outcome, simulator: Simulator, tmp_path: Path) -> None:
    kept = tmp_path / "out" / "s-pie" / "search" / "runs.jsonl"
    lines = kept.read_text().splitlines()
    # The last line is incomplete.
    kept.write_text("\n".join([*lines[:-1], lines[-1][:30]]))
    simulator.asked.clear()
    again = run_search(searching.explore(paper, tmp_path / "out", jobs=2), jobs=2)
    assert len(simulator.asked) == 1
    assert again.closest[0] == outcome.closest[0]
    simulator.asked.clear()
    run_search(searching.explore(paper, tmp_path / "out", jobs=2), jobs=2)
    assert not simulator.asked


def the_closest_settings_are_reported_with_fresh_seeds(
    paper: Paper, simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All settings are equally close: only the noise of the seeds makes one the closest.
    monkeypatch.setattr(simulator, "answer", lambda text, seed: 30.0 * math.exp(_chance(text, seed)))
    outcome = run_search(searching.explore(paper, tmp_path / "out", jobs=1), jobs=1)
    best = outcome.closest[0]
    typical = statistics.median(one.distance for one in outcome.scores.values())
    fresh = outcome.fresh[best.setting]
    assert best.distance < typical / 2
    assert fresh.distance > typical / 2
    assert {seed for _, seed in simulator.asked} == {1, 2, 3, 4, 5, 6}
    assert (outcome.seeds, outcome.fresh_seeds) == (2, 4)
    words = " ".join(conclusion(outcome))
    assert "judged by their means and the noise of the seeds" in words
    assert f"The closest is {ratio(fresh.distance)} ({ratio(best.distance)}) away on average" in words
    cells = dict(closest(outcome).rows)["typical ratio, all AQMs"]
    assert f"{ratio(fresh.distance)} ({ratio(best.distance)})" in cells
    entry = outcome.document()["closest"][0]
    assert (entry["distance"], entry["fresh"]["distance"]) == (best.distance, fresh.distance)


def what_is_judged_by_its_own_runs_is_judged_so_with_fresh_seeds_too(
    paper: Paper, simulator: Simulator, tmp_path: Path
) -> None:
    del simulator
    space = searching.explore(paper, tmp_path / "out", seeds="5", jobs=1)
    outcome = run_search(space, jobs=1)
    assert (outcome.seeds, outcome.fresh_seeds) == (5, 5)
    words = " ".join(conclusion(outcome))
    assert "run again with 5 seeds" in words
    assert "judged by their own runs" in words
    assert all(grade.is_judged for again in outcome.fresh.values() for grade in again.grades.values())


def presets_and_records_are_run_again_too(outcome: Outcome) -> None:
    wanted = {one.setting for one in (*outcome.presets.values(), *outcome.closest[:2], *outcome.closest_own[:2])}
    wanted |= {outcome.record(figure).setting for figure in RECORDS}
    assert set(outcome.fresh) == wanted


def every_level_is_drawn_equally_often_and_always_the_same(paper: Paper) -> None:
    factors = searching.load(paper).factors
    drawn = design.sample(factors, 24)
    for place, factor in enumerate(factors):
        counts = {level: sum(one[place] == level for one in drawn) for level in factor.levels}
        assert set(counts.values()) == {24 // len(factor.levels)}
    assert drawn == design.sample(factors, 24)


@pytest.mark.parametrize(("count", "dimensions"), [(2, 2), (20, 3), (60, 5), (60, 12)])
def the_cover_is_scipys(count: int, dimensions: int) -> None:
    theirs = qmc.LatinHypercube(dimensions, optimization="random-cd", rng=hypercube.SEED).random(count)
    assert hypercube.even(count, dimensions) == pytest.approx(theirs, abs=0.0)


@pytest.mark.parametrize("name", [name for name in papers.built() if searching.is_there(papers.find(name))])
def every_level_of_the_papers_can_be_simulated(name: str) -> None:
    search = searching.load(papers.find(name))
    for setting in design.neighbours(search.factors, search.base):
        for path in search.scenarios.values():
            named = load(path).points[0].named
            values = {name: value for name, value in search.values(setting).items() if name in named}
            resolve(load(path, values=values).points[0])


def a_claim_about_a_sweep_is_searched_point_by_point(folder: Path, simulator: Simulator, tmp_path: Path) -> None:
    del simulator
    swept = SCENARIO.replace('rate = "$rate"\n', "").replace('rate = "5mbit"\n', "")
    (folder / "scenarios/line.toml").write_text(swept + '[sweep]\nrate = ["5mbit", "10mbit"]\n')
    factors = FACTORS.split('[[factor]]\nname = "rate"', maxsplit=1)[0]
    claim = """
[[claim]]
id = "small-1"
says = "CoDel's queue grows with the rate"
where = "Figure 1"
scenario = "line"
measures.slow = { of = "qdelay_mean_ms", point.rate = "5mbit" }
measures.fast = { of = "qdelay_mean_ms", point.rate = "10mbit" }
paper = { "codel.slow" = 25, "codel.fast" = 30 }
expect = ["codel.slow < codel.fast"]
"""
    (folder / "paper.toml").write_text(CLAIMS.split("[[claim]]", maxsplit=1)[0] + claim + SPACE + factors)
    outcome = run_search(searching.explore(folders.load(folder), tmp_path / "out", jobs=2), jobs=2)
    closest = outcome.closest[0]
    assert outcome.search.words(closest.setting).startswith("target 20ms")
    assert dict(closest.measured) == {("small-1", "codel.slow"): 25.0, ("small-1", "codel.fast"): 30.0}


def swept_contestants_are_searched_and_claimed_sizes_count_as_numbers(
    folder: Path, simulator: Simulator, tmp_path: Path
) -> None:
    del simulator
    swept = """
aqm = ["codel target $target interval $interval"]
rate = "$rate"
rtt = "20ms"
buffer = "100p"
flows = ["2*newreno"]
duration = "2s"
[values]
short = "10ms"
interval = "100ms"
rate = "5mbit"
[sweep.plan]
ours = { target = "$short" }
theirs = { target = "30ms" }
"""
    factors = """
[[factor]]
name = "short"
says = "the target"
levels = ["5ms", "10ms", "15ms"]
[[factor]]
name = "line"
says = "the link, and what goes with it"
levels.slow = { rate = "5mbit", interval = "100ms" }
levels.fast = { rate = "10mbit", interval = "200ms" }
"""
    claim = """
[[claim]]
id = "small-1"
says = "Ours waits for less than half as long"
where = "Figure 1"
scenario = "line"
contestants = "plan"
measure.of = "qdelay_mean_ms"
expect = ["ours < theirs by 50%"]
"""
    (folder / "scenarios/line.toml").write_text(swept)
    head = CLAIMS.split("[[claim]]", maxsplit=1)[0].replace('target = "20ms"', 'line = "fast"')
    text = head + claim + SPACE.replace('"codel"', '"ours"\nsizes = true') + factors
    (folder / "paper.toml").write_text(text)
    outcome = run_search(searching.explore(folders.load(folder), tmp_path / "out", jobs=2), jobs=2)
    best = outcome.closest[0]
    # (10 + 10) of (30 + 10): exactly half; at 5 Mbit/s no target gives that.
    assert best.setting == ("10ms", "fast")
    assert best.measured["small-1", "ours / theirs"] == pytest.approx(0.5)
    assert (best.own, best.near, best.numbers) == (pytest.approx(0.0), 1, 1)
    assert outcome.search.values(best.setting) == {"short": "10ms", "rate": "10mbit", "interval": "200ms"}
    assert outcome.document()["factors"]["line"]["levels"]["fast"] == "rate 10mbit, interval 200ms"
    assert _effect(outcome.effects, "short").is_seen
    for old, new, wanted in (
        ('"ours"', '"our"', "own: unknown AQM 'our', did you mean 'ours'?"),
        (', interval = "200ms" }', " }", "levels: 'fast' has other values (rate) than the first level"),
        ('rate = "5mbit", int', 'rate = "6mbit", int', "line: '5mbit, 100ms' is not a level of it"),
    ):
        assert old in text
        (folder / "paper.toml").write_text(text.replace(old, new))
        with pytest.raises(InputError) as error:
            searching.load(folders.load(folder))
        assert wanted in str(error.value)


def quick_runs_scenarios_in_their_quick_form(folder: Path, simulator: Simulator, tmp_path: Path) -> None:
    (folder / "scenarios/line.toml").write_text(SCENARIO + '[quick]\nduration = "1s"\n')
    paper = folders.load(folder)
    for is_quick, seconds in ((True, 1), (False, 2)):
        simulator.asked.clear()
        searching.explore(paper, tmp_path / str(seconds), jobs=1, quick=is_quick)
        assert {json.loads(text)["duration_ns"] for text, _ in simulator.asked} == {seconds * 10**9}


def quick_tries_less(paper: Paper) -> None:
    full, quick = searching.load(paper), searching.load(paper, quick=True)
    assert (full.settings, full.seeds, full.steps, full.best, full.fresh_seeds) == (24, 2, 3, 2, 4)
    assert (quick.settings, quick.seeds, quick.steps, quick.best, quick.fresh_seeds) == (12, 1, 0, 2, 1)


@pytest.mark.usefixtures("simulator")
def the_command_shows_the_search_and_keeps_all_settings(
    aqmlab: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "experiments", lambda: folder.parent)
    monkeypatch.setenv("COLUMNS", "100")
    ended = aqmlab("reproduce", "s-pie", "--search", "--out", "out", "--json", "out.json", "--seeds", "2")
    assert ended.status == 0, ended.err
    for text in ("Effect of each factor", "typical ratio, codel", "10mbit", "interval"):
        assert text in ended.out
    assert "…" not in ended.out
    assert max(map(len, ended.out.splitlines())) <= 100
    (entry,) = json.loads(Path("out.json").read_text())["search"]
    assert entry["closest"][0]["setting"]["target"] == "10ms"
    assert len((Path("out") / "s-pie" / "search" / "search.csv").read_text().splitlines()) == entry["settings"] + 1
    page = (Path("out") / "s-pie.html").read_text()
    assert '<h2 id="search">' in page
    assert (Path("out") / "s-pie" / "figures" / "search-effects.svg").is_file()


@pytest.mark.parametrize(
    ("file", "old", "new", "wanted"),
    [
        (
            "paper.toml",
            'own = "codel"',
            'own = "codal"',
            "paper.toml: space: own: unknown AQM 'codal', did you mean 'codel'?",
        ),
        ("paper.toml", "settings = 24", "settings = 0", "paper.toml: space: settings: '0' is out of range"),
        ("paper.toml", "seeds = 2", "", "paper.toml: space: seeds: is missing"),
        ("paper.toml", "best = 2", "best = 0", "paper.toml: space: best: '0' is out of range"),
        ("paper.toml", "steps = 0", "steps = -1", "paper.toml: space: quick: steps: '-1' is out of range"),
        ("paper.toml", '"15ms", "20ms"]', '"15ms", "15ms"]', "factor target: levels: '15ms' is given twice"),
        ("paper.toml", 'long = "200ms"', 'long = "100ms"', "factor interval: levels: two of them have the same value"),
        ("paper.toml", '["5ms", "10ms", "15ms", "20ms"]', '["5ms"]', "factor target: levels: must hold at least two"),
        ("paper.toml", 'target = "20ms"', 'target = "21ms"', "presets: printed: levels: target: unknown value '21ms'"),
        ("paper.toml", 'name = "interval"', 'name = "intervall"', "factor intervall: no searched scenario has it"),
        ("paper.toml", 'says = "the link"', 'say = "the link"', "factor rate: says: is missing"),
        ("scenarios/line.toml", 'target = "5ms"', 'target = "6ms"', "values: target: '6ms' is not a level of it"),
    ],
)
def a_search_that_is_wrong_is_refused_by_file_key_and_value(
    folder: Path, file: str, old: str, new: str, wanted: str
) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        searching.load(folders.load(folder))
    assert wanted in str(refused.value)
    assert str(folder) in str(refused.value)


def a_paper_without_a_search_says_so(aqmlab: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "experiments", lambda: folder.parent)
    (folder / "paper.toml").write_text(PAPER.replace(SPACE, ""))
    ended = aqmlab("reproduce", "s-pie", "--search", "--out", "out")
    assert ended.status == 2
    assert "has no search: there is no [space]" in ended.line
    assert not Path("out").exists()
