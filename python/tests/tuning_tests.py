"""The search for parameters, and its judgement where nothing was chosen; what needs optuna is left out without it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Command

from aqmlab import InputError, compare
from aqmlab.scenario import cost
from aqmlab.stats.statistics import family, paired
from aqmlab.tuning import sensitivity
from aqmlab.tuning.goal import Bound, Goal
from aqmlab.tuning.scenarios import FIRST_TRAINING_SEED, from_options
from aqmlab.tuning.search import front, spread_over
from aqmlab.tuning.space import Space
from aqmlab.tuning.trials import Trial, Trials
from aqmlab.tuning.tuning import tune
from aqmlab.tuning.verdict import Improvement

SPACE = "codel target 1ms..50ms interval 100ms ecn"
SMALL = {"rate": "10mbit", "rtt": "20ms", "flows": "4*cubic", "duration": "3s", "seeds": 2}
QUICK = {**SMALL, "minimise": "qdelay_p95_ms", "trials": 3, "sensitivity": 2, "training_seeds": 1, "jobs": 1}
COMMAND = ["--rate", "10mbit", "--duration", "3s", "--seeds", 2, "--flows", "4*cubic", "--sweep", "rtt=10ms,20ms,40ms"]
FEW = ["--design", "grid", "--trials", 2, "--sensitivity", 2, "--training-seeds", 1, "--jobs", 1]


def a_space_is_a_spec_with_ranges() -> None:
    space = Space.parse("pie target 1ms..50ms ecn alpha 0.01hz..1hz limit 500p")
    assert [one.name for one in space.dimensions] == ["target", "alpha"]
    assert space.default == "pie ecn limit 500p"
    assert space.at([0.0, 1.0]) == "pie target 1ms ecn alpha 1hz limit 500p"
    # More than a decade: the middle of 1 and 50 ms is their geometric mean, 7.071 ms.
    assert space.at([0.5, 1.0]).split()[2] == "7.071ms"
    # Less: the middle of 5 and 40 ms is 22.5 ms.
    assert Space.parse("pie target 5ms..40ms").at([0.5]) == "pie target 22.5ms"


def a_parameter_may_be_off_or_in_a_range() -> None:
    space = Space.parse("daqm_artifact s 10ms..20ms b auto|5..500")
    assert space.default == "daqm_artifact"
    assert [space.at([0.0, share]) for share in (0.0, 0.49)] == ["daqm_artifact s 10ms b auto"] * 2
    # The upper half is the range, the middle of which is its geometric mean.
    assert [space.at([0.0, share]).split()[-1] for share in (0.5, 0.75, 1.0)] == ["5", "50", "500"]
    with pytest.raises(InputError, match="'5000000000'"):
        Space.parse("daqm_artifact b auto|5..5000000000")
    with pytest.raises(InputError, match="'never' is no"):
        Space.parse("daqm_artifact b auto|never|5..500")


def a_choice_and_a_child_may_vary() -> None:
    space = Space.parse("drr child [codel target 2ms..4ms ecn on|off] child [fifo]")
    assert space.default == "drr child [codel] child [fifo]"
    assert space.at([1.0, 0.99]) == "drr child [codel target 4ms ecn off] child [fifo]"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("codel target 50ms..1ms", "'50ms..1ms': the first end is not below the second"),
        ("codel target 1ms..5mbit", "'1ms..5mbit' is not a range with two ends of one unit"),
        ("codel target 1ms..9ms*3", "'1ms..9ms*3' is not a range"),
        ("codel targt 1ms..2ms", "parameter 'targt' is unknown, did you mean 'target'?"),
        ("codel 1ms..2ms", "no parameter is before '1ms..2ms'"),
        ("codel ecn on|", "'on|' is not a choice"),
        ("codel target 5ms", "has no range"),
        ("coddel target 1ms..5ms", "did you mean 'codel'?"),
    ],
)
def a_space_that_cannot_be_is_refused_in_one_line(text: str, says: str, aqmlab: Command) -> None:
    with pytest.raises(InputError, match="aqm: ") as refused:
        Space.parse(text)
    assert says in str(refused.value)
    ended = aqmlab("tune", "--aqm", text, "--minimise", "qdelay_p99_ms")
    assert (ended.status, says in ended.line) == (2, True)


def a_bound_says_by_which_share_it_is_missed() -> None:
    most, least = Bound.parse("qdelay_p95_ms <= 20"), Bound.parse("goodput_mbit >= 0.8*fifo")
    assert (most.missed(20, None), most.missed(30, None)) == (0, 0.5)
    assert (least.missed(8.0, 10.0), least.missed(4.0, 10.0), least.reference) == (0, 0.5, "fifo")
    assert Bound.parse("loss_ratio <= 2 * pie target 5ms").reference == "pie target 5ms"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--minimise", "qdelay"], "--minimise: unknown metric 'qdelay'"),
        (["--minimise", "goodput_mbit"], "--minimise: more goodput_mbit is better: keep it"),
        (["--minimise", "loss_ratio", "--minimise", "loss_ratio"], "'loss_ratio' is given twice"),
        (["--minimise", "loss_ratio", "--keep", "qdelay_p95_ms < 20"], "is not a bound, as"),
        (["--minimise", "loss_ratio", "--keep", "godput_mbit >= 1"], "did you mean 'goodput_mbit'?"),
        (["--minimise", "loss_ratio", "--keep", "goodput_mbit >= 0.9*fiffo"], "did you mean 'fifo'?"),
        (["--minimise", "loss_ratio", "--sensitivity", "3"], "'3' is not 0 or a power of two"),
        (["--minimise", "loss_ratio", "--trials", "-1"], "--trials: "),
        (["--minimise", "loss_ratio", "--trials", "0", "--sensitivity", "0"], "leaves nothing to try"),
        (["--minimise", "loss_ratio", "--jobs", "0"], "--jobs: "),
        (["--minimise", "loss_ratio", "--pareto", "0"], "--pareto: "),
        (["--minimise", "loss_ratio", "--training-seeds", "many"], "--training-seeds: "),
        (["--minimise", "loss_ratio", "--validate", "one.toml"], "--validate: name experiments to tune on, too"),
        (["--minimise", "loss_ratio", "--sweep", "rtt"], "--sweep: 'rtt' is not NAME=VALUES"),
        (["--minimise", "loss_ratio", "--rtt", "soon"], "--rtt: "),
        (["--minimise", "loss_ratio", "--aqm", "fifo"], "--aqm: name one AQM with ranges"),
        (["--minimise", "loss_ratio", "--trials", "1000000"], "--no-size-check"),
        (["--minimise", "class.web.goodput_mbit", "--rate", "1mbit"], "more class.web.goodput_mbit is better"),
        ([], "--minimise"),
    ],
)
def a_wrong_question_is_one_line_and_leaves_no_trace(
    arguments: list[str], says: str, aqmlab: Command, tmp_path: Path
) -> None:
    ended = aqmlab("tune", "--aqm", SPACE, *arguments)
    assert (ended.status, says in ended.line) == (2, True), ended.err
    assert not [*tmp_path.iterdir()]


def judging_that_is_too_large_is_refused_before_anything_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed: the extra tune")
    monkeypatch.setattr(Trials, "measure", lambda self, aqms: pytest.fail("it was tried"))
    with pytest.raises(InputError, match="runs are asked for"):
        tune(SPACE, **{**QUICK, "seeds": 9999})


def what_is_run_in_any_case_is_not_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed: the extra tune")
    monkeypatch.setattr(cost, "of_run", lambda *arguments: pytest.fail("it was estimated"))
    assert tune(SPACE, **QUICK, no_size_check=True).unseen.runs.height > 0
    assert len(compare(aqm="fifo", **SMALL, no_size_check=True).runs) == 2


def half_of_the_scenarios_judge_and_no_seed_is_in_both_halves() -> None:
    split = from_options({"flows": "4*cubic"}, {"rtt": "10ms,20ms,40ms,80ms,160ms"}, "grid", 1, "")
    assert (len(split.training), len(split.judging)) == (5, 5)  # two rates each
    training, judging = ({(*one.point.values(),) for one in side} for side in (split.training, split.judging))
    assert not training & judging
    again = from_options({"flows": "4*cubic"}, {"rtt": "10ms,20ms,40ms,80ms,160ms"}, "grid", 2, "")
    assert {(*one.point.values(),) for one in again.judging} != judging
    assert FIRST_TRAINING_SEED == 10_001  # A comparison has at most 10 000 seeds, from 1.


def the_front_is_what_nothing_beats_among_what_keeps_the_bounds() -> None:
    goal = Goal.parse(["qdelay_mean_ms", "loss_ratio"], ["utilization >= 0.9"])
    values = {"a": (1, 5, 0), "b": (2, 3, 0), "c": (3, 4, 0), "d": (5, 1, 0), "e": (0, 0, 0.1), "f": (2, 3, 0)}
    tried = [Trial(name, {"qdelay_mean_ms": x, "loss_ratio": y}, missed) for name, (x, y, missed) in values.items()]
    assert [one.aqm for one in front(goal, tried)] == ["a", "b", "d"]
    # If none keeps them: what misses them least.
    assert [one.aqm for one in front(goal, tried[4:5])] == ["e"]
    assert [one.aqm for one in spread_over(front(goal, tried), 2)] == ["a", "d"]
    assert [one.aqm for one in spread_over(front(goal, tried), 1)] == ["a"]


def a_share_that_no_share_can_be_is_called_noise() -> None:
    def sentences(share: float, low: float, high: float) -> list[str]:
        return sensitivity.words([sensitivity.Index("marks", "target", "in all", share, low, high)])

    assert sentences(0.5, 0.3, 0.7) == ["marks: target 50% [30%, 70%] of the variance over the space"]
    assert sentences(1.07, 0.9, 1.2)[1:] == [sensitivity.BEYOND]
    assert sentences(0.1, -0.02, 0.2)[1:] == [sensitivity.BEYOND]


def indices_agree_with_a_function_whose_are_known() -> None:
    pytest.importorskip("SALib", reason="SALib is not installed: the extra tune")
    # Of 3 x + y, uniform: variances 9/12 and 1/12, so shares 0.9 and 0.1; a constant has none.
    space = Space.parse("pie target 1ms..2ms tupdate 1ms..2ms")
    places = sensitivity.sample(space, 256, 1)
    assert len(places) == sensitivity.count(space, 256) == 1024
    found = [Trial("", {"loss_ratio": 3 * x + y, "marks": 1.0}, 0.0) for x, y in places]
    shares = {(one.kind, one.parameter): one for one in sensitivity.indices(space, ["loss_ratio", "marks"], found, 1)}
    for (_, parameter), one in shares.items():
        expected = {"target": 0.9, "tupdate": 0.1}[parameter]
        assert one.share == pytest.approx(expected, abs=0.03)
        assert one.low < expected < one.high
    assert len(shares) == 4
    assert sensitivity.indices(space, ["marks"], [None, *found], 1) == []


def better_worse_and_chance_are_described_alike() -> None:
    random = np.random.default_rng(1)
    default = random.normal(20.0, 1.0, 8)
    found = []
    for shift in (-3.0, 0.0, 3.0):
        difference = family([paired(default + shift + random.normal(0, 0.1, 8), default)])[0]
        found.append(Improvement("pie", "qdelay_p99_ms", 20.0, 20.0 + shift, difference, "scenarios"))
    assert [one.beats for one in found] == [True, False, False]
    beats = "beats the default by 2.99 ms of 99th percentile of queue delay (2.95 to 3.03, 15%, "
    assert found[0].words.startswith(beats)
    assert "undecided" in found[1].words
    assert "ms higher" in found[2].words
    assert all(one.words.endswith(", over 8 unseen scenarios)") for one in found)


def the_same_question_has_the_same_answer_with_any_jobs_and_after_a_kill(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed: the extra tune")
    out = tmp_path / "out"
    first = tune(SPACE, keep="goodput_mbit >= 0.9*fifo", out=out, **QUICK)
    assert len(first.tried) <= 9  # 2 * 3 of the sample, 3 proposed
    assert tune(SPACE, keep="goodput_mbit >= 0.9*fifo", **{**QUICK, "jobs": 2}).to_json() == first.to_json()
    # A kill leaves half of the runs, the last of them half written.
    kept = (out / "runs.jsonl").read_text().splitlines()
    (out / "runs.jsonl").write_text("\n".join(kept[: len(kept) // 2]) + kept[0][:30])
    (out / "tuning.json").write_text(json.dumps({"question": first.question}))
    assert tune(SPACE, keep="goodput_mbit >= 0.9*fifo", out=out, **QUICK).to_json() == first.to_json()
    assert (out / "tuning.json").read_text() == first.to_json()
    # More trials go on from there; another question does not.
    more = tune(SPACE, keep="goodput_mbit >= 0.9*fifo", out=out, **{**QUICK, "trials": 4})
    assert [one.aqm for one in more.tried][: len(first.tried)] == [one.aqm for one in first.tried]
    with pytest.raises(InputError, match="holds another tuning \\(its keep differs\\)"):
        tune(SPACE, out=out, **QUICK)


def a_tuning_is_a_folder_with_a_page_and_the_judged_runs(tmp_path: Path, aqmlab: Command) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed: the extra tune")
    goal = ["--minimise", "qdelay_p95_ms", "--minimise", "loss_ratio"]
    ended = aqmlab("tune", "--aqm", SPACE, *goal, *COMMAND, *FEW, "--out", "out", "--json", "out.json")
    assert ended.status == 0, ended.err
    document = json.loads((tmp_path / "out.json").read_text())
    assert document == json.loads((tmp_path / "out" / "tuning.json").read_text())
    assert {one["metric"] for one in document["verdicts"]} == {"qdelay_p95_ms", "loss_ratio"}
    default, *judged = document["judged"]
    assert default["aqm"] == "codel interval 100ms ecn"
    # Of two goals the end of the front that is best in one of them cannot be beaten in both by the other end.
    ends = [min(document["judged"], key=lambda one: one["values"][name]) for name in ("qdelay_p95_ms", "loss_ratio")]
    assert all(end["is_front"] for end in ends)
    for one in judged:
        for verdict in document["verdicts"]:
            if verdict["aqm"] == one["aqm"]:
                assert one["values"][verdict["metric"]] == pytest.approx(verdict["tuned"])
    lasting = sum(one["is_front"] for one in judged)
    assert any(f"{lasting} of {len(judged)} judged settings are a front still" in line for line in document["words"])
    page = (tmp_path / "out" / "report.html").read_text()
    for line in document["words"]:
        assert line.replace("'", "&#39;").replace(">=", "&gt;=") in page
        assert " ".join(line.split()) in " ".join(ended.out.split())
    for figure in ("front", "judged", "sensitivity"):
        assert (tmp_path / "out" / "figures" / f"{figure}.svg").exists()
        assert (tmp_path / "out" / "figures" / f"{figure}.csv").exists()
    unseen = json.loads((tmp_path / "out" / "unseen" / "manifest.json").read_text())
    assert unseen["points"][0]["scenario"]["seeds"] == [1, 2]
    assert not any(path.name == ".lock" for path in (tmp_path / "out").iterdir())
    # Less of the same front may be judged in the same folder: the runs are there.
    less = ["--pareto", 1, "--out", "out"]
    again = aqmlab("tune", "--aqm", SPACE, *goal, *COMMAND, *FEW, *less, "--json", "out.json", "--force")
    assert again.status == 0, again.err
    assert len(json.loads((tmp_path / "out.json").read_text())["judged"]) == 2


def a_file_may_say_where_to_tune_and_another_where_to_judge(tmp_path: Path, aqmlab: Command) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed: the extra tune")
    text = 'aqm = ["codel"]\nrate = "10mbit"\nrtt = "{}"\nflows = "4*cubic"\nduration = "3s"\nseeds = 3\n'
    for name, rtt in (("one", "10ms"), ("other", "40ms")):
        (tmp_path / f"{name}.toml").write_text(text.format(rtt))
    few = ["--trials", 2, "--sensitivity", 0, "--training-seeds", 1, "--jobs", 1, "--quiet", "--json", "-"]
    ended = aqmlab("tune", "one.toml", "--validate", "other.toml", "--aqm", SPACE, "--minimise", "loss_ratio", *few)
    document = json.loads(ended.out)
    assert (document["verdicts"][0]["n"], document["verdicts"][0]["unit"]) == (3, "seeds")
    assert "the scenarios of other.toml judge" in document["words"][-1]
    assert document["sensitivity"] == []
    # Of several files each is a scenario of its own, also when more trials go on.
    (tmp_path / "third.toml").write_text(text.format("80ms"))
    both = [
        "--validate",
        "other.toml",
        "--validate",
        "third.toml",
        "--aqm",
        SPACE,
        "--minimise",
        "loss_ratio",
        "--out",
        "two",
    ]
    for trials in (2, 3):
        ended = aqmlab("tune", "one.toml", *both, *few, "--trials", trials)
        assert ended.status == 0, ended.err
        assert (json.loads(ended.out)["verdicts"][0]["n"], json.loads(ended.out)["verdicts"][0]["unit"]) == (
            2,
            "scenarios",
        )
    manifest = json.loads((tmp_path / "two" / "unseen" / "manifest.json").read_text())
    assert [one["point"] for one in manifest["points"]] == [{"file": "other.toml"}, {"file": "third.toml"}]
    seen = aqmlab("tune", "one.toml", "--validate", "one.toml", "--aqm", SPACE, "--minimise", "loss_ratio", *few)
    assert "judge: one.toml has a scenario that is tuned on, too" in seen.line
    clash = aqmlab("tune", "one.toml", "--sweep", "rtt=1ms,2ms", "--aqm", SPACE, "--minimise", "loss_ratio")
    assert "--sweep: an experiment file has a sweep of its own" in clash.line


def an_unseen_run_without_the_metric_is_named(tmp_path: Path, aqmlab: Command) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed: the extra tune")
    text = 'aqm = ["codel"]\nrate = "5mbit"\nrtt = "20ms"\nduration = "2s"\nseeds = 2\n'
    text += 'flows = "1*cubic:size=600kB:start={}"\n'
    for name, start in (("done", "0s"), ("cut", "1.9s")):
        (tmp_path / f"{name}.toml").write_text(text.format(start))
    few = ["--trials", 1, "--sensitivity", 0, "--training-seeds", 1, "--jobs", 1]
    ended = aqmlab("tune", "done.toml", "--validate", "cut.toml", "--aqm", SPACE, "--minimise", "fct_mean_s", *few)
    assert (ended.status, "with seed 1 has no 'fct_mean_s'" in ended.line) == (2, True), ended.err
