"""Papers: their files, a small one reproduced completely, its pages and its JSON."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from browser import LOOKED_AT, needs_browser, opened
from conftest import Command

from aqmlab import experiment, papers, scenario
from aqmlab.files import shipped
from aqmlab.live import checkup
from aqmlab.papers import glossary, reproduction, summary, workspace
from aqmlab.papers import paper as folders
from aqmlab.papers.claims import Measure
from aqmlab.papers.discipline_names import labels_by_discipline
from aqmlab.papers.paper_values import Printed, printed
from aqmlab.results import Result
from aqmlab.results.measures import label_of, values
from aqmlab.vocabulary.errors import InputError

SCENARIO = """
aqm = ["fifo", "codel", "pie:$preset"]
rate = "5mbit"
rtt = "20ms"
flows = ["4*newreno:name=a", "4*cubic:name=others"]
duration = "3s"
warmup = "0s"
seeds = 3
series = "groups"
[values]
preset = "rfc8033"
[sweep]
buffer = ["100p", "200p"]
[quick.sweep]
buffer = ["100p"]
"""
CLAIMS = """
title = "A small paper"
reference = "Nobody, Nowhere 1(1):1 (2026)"
presets.printed.says = "as printed"
[[claim]]
id = "small-1"
says = "CoDel has the shorter queue"
where = "Figure 1"
scenario = "line"
measure = { of = "qdelay_mean_ms", point.buffer = "200p" }
unit = "ms"
paper = { fifo = 1000, codel = 100 }
expect = ["codel < fifo"]
[[claim]]
id = "small-2"
says = "A plain queue is the shorter one, whatever its length"
where = "Figure 2"
scenario = "line"
measure = { of = "queue_packets", since = "500ms", how = "max" }
each_point = true
expect = ["fifo < codel"]
[[claim]]
id = "small-3"
says = "The sun shines"
where = "section 4"
not_testable = "there is no sun in the simulator"
[[claim]]
id = "small-4"
says = "A drives better than B"
where = "section 4"
scenario = "line"
measure = { of = "fct_mean_s", point.buffer = "100p" }
expect = ["pie > fifo"]
"""
FIGURES = """
[[figure]]
name = "figure-1"
title = "Figure 1: everything there is"
panel = [
    { title = "time", scenario = "line", of = "queue_packets", label = "Queue", cumulative = true },
{ title = "p", scenario = "line", kind = "periods", of = "goodput_mbit", label = "G", classes = ["a"], period = "1s" },
    { title = "seeds", scenario = "line", kind = "seeds", of = "goodput_mbit", label = "Goodput" },
    { title = "bars", scenario = "line", kind = "bars", of = "qdelay_mean_ms", label = "Delay", numbers = "small-1" },
    { title = "sweep", scenario = "line", kind = "sweep", of = "loss_ratio", label = "Loss", aqms = ["fifo", "pie"] },
]
[[figure]]
name = "figure-2"
title = "Figure 2: one run, and one thing over another"
panel = [
    { title = "queue", scenario = "line", of = "queue_packets", label = "Queue", seed = 2 },
    { title = "each", scenario = "line", kind = "sweep", of = "events", over = "packets_delivered", label = "Events" },
]
"""
ASSUMPTIONS = '[[assumption]]\nabout = "Equation 1"\ngap = "has no meaning"\nchoice = "none"\n'


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a made-up paper called s-pie."""
    folder = tmp_path / "experiments" / "s-pie"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "paper.toml").write_text(CLAIMS + ASSUMPTIONS + FIGURES)
    (folder / "scenarios/line.toml").write_text(SCENARIO)
    monkeypatch.setattr(shipped, "experiments", lambda: folder.parent)
    return folder


def what_goes_beyond_the_paper_is_skipped_without_its_recordings_or_links(
    small: Path, aqmlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AQMLAB_SHARED", "elsewhere")
    (small / "beyond").mkdir()
    recorded = SCENARIO.replace("rate = ", "capture = 'shared:captures/call.pcap'\nrate = ")
    (small / "beyond/recorded.toml").write_text(recorded)
    (small / "beyond/live.toml").write_text(SCENARIO)
    monkeypatch.setattr(checkup, "refusal", lambda: "namespaces are forbidden")
    ended = aqmlab("reproduce", "s-pie", "--beyond", "--out", "out", "--json", "out.json")
    assert ended.status == 0
    for reason in (
        "beyond, recorded: skipped: there is no elsewhere/data/captures/call.pcap",
        "beyond, live: skipped: namespaces are forbidden",
    ):
        assert reason in ended.out
        assert reason in json.loads(Path("out.json").read_text())["warnings"]
        assert reason in Path("out/s-pie.html").read_text()


def how_long_what_goes_beyond_the_paper_takes_is_announced_before_the_first_run(
    small: Path, aqmlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small / "beyond").mkdir()
    (small / "beyond/more.toml").write_text(SCENARIO.replace('"5mbit"', '"50gbit"'))
    live = "".join(SCENARIO.partition("series")[:1]).replace('"0s"', '"1s"').replace("$preset", "rfc8033")
    (small / "beyond/live.toml").write_text(live.replace(', "4*cubic:name=others"', "") + "[quick]\nseeds = 2\n")
    monkeypatch.setattr(checkup, "refusal", lambda: "")
    monkeypatch.setattr(workspace, "begin", lambda *given: sys.exit(7))
    for form, seconds in ((), 27), (("--quick",), 18):
        ended = aqmlab("reproduce", "s-pie", "--beyond", "--out", "out", *form)
        pattern = r"s-pie beyond: simulations take about \d\d+ s of processor time, live runs (\d+) s and a moment each"
        assert (found := re.search(pattern, ended.err)), ended.err
        assert int(found[1]) == seconds
        assert ended.status == 7


def what_cannot_run_live_is_refused_before_the_first_run(
    small: Path, aqmlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small / "beyond").mkdir()
    (small / "beyond/live.toml").write_text(SCENARIO)
    monkeypatch.setattr(checkup, "refusal", lambda: "")
    ended = aqmlab("reproduce", "s-pie", "--beyond", "--out", "out")
    assert ended.status == 2
    assert f"{small / 'beyond/live.toml'}: sweep: does not run live" in ended.line
    assert not Path("out").exists()


LIVE = """
[[mechanism]]
id = "small-live-{number}"
says = "Live, too, CoDel has the shorter queue"
where = "Figure 1"
explains = ["small-1"]
scenario = "live"
measure.of = "qdelay_mean_ms"
expect = ["codel < fifo"]
"""


@pytest.fixture
def live(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The paper with a comparison that is judged twice on live packets, here simulated ones, and once on others."""
    (small / "beyond").mkdir()
    scenario = SCENARIO.partition("[values]")[0].replace("$preset", "rfc8033").replace('series = "groups"\n', "")
    for name in ("live", "more"):
        (small / f"beyond/{name}.toml").write_text(scenario.replace('"5mbit"', '"5mbit"\nbuffer = "200p"'))
    mechanisms = [LIVE.format(number=number) for number in (1, 2)] + [
        LIVE.format(number=0).replace("small-live-0", "small-why").replace('"live"', '"more"')
    ]
    (small / "paper.toml").write_text(CLAIMS + "".join(mechanisms))
    monkeypatch.setattr(checkup, "refusal", lambda: "")
    monkeypatch.setattr(reproduction.scenarios, "planned", lambda experiment: SimpleNamespace(seconds=27))
    monkeypatch.setattr(
        reproduction.scenarios,
        "run_live",
        lambda loaded, place, progress: experiment.run_experiment(
            loaded, "reproduce", 1, place, None, with_report=False, no_size_check=True
        ),
    )
    return small


@pytest.mark.usefixtures("live")
def what_is_judged_on_live_packets_is_a_family_of_its_own(tmp_path: Path) -> None:
    paper = papers.find("s-pie")
    assert [one.id for one in paper.mechanisms] == ["small-why"]
    assert [one.id for one in paper.live] == ["small-live-1", "small-live-2"]
    with_all = papers.run_paper(paper, ["printed"], folder=tmp_path / "all", beyond=True, robustness=False)
    alone = papers.run_paper(paper, ["printed"], folder=tmp_path / "alone", live=True, robustness=False)
    # Neither claims nor ablations change a live verdict, nor it theirs.
    assert with_all.live == alone.live
    assert (len(with_all.mechanisms["printed"]), len(with_all.judgements["printed"])) == (1, 4)
    assert (alone.mechanisms["printed"], alone.judgements["printed"], list(alone.beyond)) == ([], [], ["live"])


@pytest.mark.usefixtures("live")
def live_packets_alone_are_run_and_judged_if_asked_for(aqmlab: Command) -> None:
    ended = aqmlab("reproduce", "s-pie", "--live", "--out", "out", "--json", "out.json")
    assert ended.status == 0, ended.err
    assert "s-pie beyond: live runs 27 s and a moment each, in real time" in ended.err
    assert "2 claims: reproduced 2" in ended.out
    found = json.loads(Path("out.json").read_text())
    assert [one["id"] for one in found["claims"]] == ["small-live-1", "small-live-2"]
    assert {one["scenario"] for one in found["runs"]} == {"live"}
    page = Path("out/s-pie.html").read_text()
    assert "<h2>Live</h2>" in page
    assert "<h2>Claims</h2>" not in page
    assert "small-live-2" in Path("out/index.html").read_text()
    # The folder's verdicts are not those of the paper, nor lost when it is asked for.
    ended = aqmlab("reproduce", "s-pie", "--out", "out")
    assert (ended.status, "holds s-pie live too" in ended.line) == (2, True)
    assert aqmlab("reproduce", "s-pie", "--beyond", "--no-robustness", "--out", "out").status == 0
    assert all(f"<h2>{name}</h2>" in Path("out/s-pie.html").read_text() for name in ("Claims", "Why", "Live"))


@pytest.mark.usefixtures("live")
def verdicts_on_live_packets_are_not_lost_where_they_cannot_be_made_again(
    aqmlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert aqmlab("reproduce", "s-pie", "--beyond", "--no-robustness", "--out", "out").status == 0
    monkeypatch.setattr(checkup, "refusal", lambda: "namespaces are forbidden")
    kept = Path("out/claims.json").read_bytes()
    for more in ([], ["--beyond"]):
        ended = aqmlab("reproduce", "s-pie", *more, "--no-robustness", "--out", "out")
        assert (ended.status, "holds s-pie live too" in ended.line) == (2, True)
    assert Path("out/claims.json").read_bytes() == kept


def a_preset_of_no_paper_that_runs_live_is_refused(aqmlab: Command) -> None:
    ended = aqmlab("reproduce", "all", "--live", "--preset", "equal-threshold", "--out", "out")
    assert (ended.status, "unknown preset" in ended.line) == (2, True), ended.line


def live_packets_alone_need_a_link_and_a_scenario(live: Path, aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for option in ("beyond", "search"):
        ended = aqmlab("reproduce", "s-pie", "--live", f"--{option}", "--out", "out")
        assert (ended.status, f"leave out --{option}" in ended.line) == (2, True)
    monkeypatch.setattr(checkup, "refusal", lambda: "namespaces are forbidden")
    ended = aqmlab("reproduce", "s-pie", "--live", "--out", "out")
    assert (ended.status, "s-pie, live: namespaces are forbidden" in ended.line) == (1, True)
    (live / "beyond/live.toml").unlink()
    (live / "paper.toml").write_text(CLAIMS)
    ended = aqmlab("reproduce", "s-pie", "--live", "--out", "out")
    assert (ended.status, "has nothing that runs live" in ended.line) == (2, True)
    assert not Path("out").exists()


@pytest.mark.parametrize("name", papers.built())
def the_names_in_every_claim_and_figure_of_a_paper_exist(name: str) -> None:
    paper = papers.find(name)
    assert (paper.folder / "README.md").is_file()
    for preset in paper.presets:
        paths = {**paper.scenarios(preset), **paper.scenarios(folders.BEYOND)}
        loaded = {stem: scenario.load(path) for stem, path in paths.items()}
        named = {
            stem: {
                name.replace("_", "-")
                for one in scenario.resolve(experiment.points[0]).contestants
                for name in (one.spec.name, one.label, one.label.split()[0])
            }
            for stem, experiment in loaded.items()
            if not experiment.absent
        }
        for claim in (claim for claim in paper.claims if not claim.contestants):
            for side in claim.operands:
                assert side.aqm.replace("_", "-") in named[claim.measure(side).scenario], claim.id
        for drawing in paper.drawings:
            for panel in (panel for panel in drawing.panels if panel.scenario in named and not panel.lines):
                assert {aqm.replace("_", "-") for aqm in panel.aqms} <= named[panel.scenario], drawing.name


@pytest.mark.usefixtures("small")
def a_paper_is_reproduced_as_a_whole(aqmlab: Command) -> None:
    ended = aqmlab("reproduce", "s-pie", "--out", "out", "--json", "out.json", "--paper", "--verbose")
    assert ended.status == 0
    assert (Path("out") / "s-pie" / "figures" / "figure-1-printed.pdf").read_bytes().startswith(b"%PDF")
    page = (Path("out") / "s-pie.html").read_text()
    # Each cell of an assumption says what it is, where its head is out of sight.
    assert page.count('data-label="Our choice"') == page.count('data-label="Open or contradictory"') > 0
    for text in ("A small paper", "small-1", "1000", "reproduced", "there is no sun", "4 claims: reproduced 1"):
        assert text in ended.out
    document = json.loads(Path("out.json").read_text())
    assert (document["command"], document["format_version"]) == ("reproduce", 1)
    verdicts = {one["id"]: one["verdict"] for one in document["claims"]}
    assert verdicts == {
        "small-1": "reproduced",
        "small-2": "not reproduced",
        "small-3": "not testable",
        "small-4": "not testable",
    }
    first = document["claims"][0]
    assert {"paper", "measured", "why"} <= set(first)
    assert first["measured"]["codel"]["n"] == 3
    assert document["claims"][1]["why"].startswith("not at 200p; open at 100p. 0 of 2 hold")
    assert {run["scenario"] for run in document["runs"]} == {"line"}
    assert json.loads((Path("out") / "claims.json").read_text())["claims"] == document["claims"]
    for file in ("index.html", "s-pie.html", "s-pie/figures/figure-1-printed.svg", "s-pie/printed/line/manifest.json"):
        assert (Path("out") / file).is_file(), file
    figure = pl.read_csv("out/s-pie/figures/figure-2-printed.csv")
    alone = figure.filter(pl.col("panel") == "queue")
    assert alone["mean"].to_list() == alone["ci95_low"].to_list()
    runs = pl.read_parquet("out/s-pie/printed/line/runs.parquet").filter(pl.col("point") == 0, pl.col("aqm") == "fifo")
    each = figure.filter(pl.col("panel") == "each", pl.col("aqm") == "fifo")
    assert each["mean"][0] == pytest.approx((runs["events"] / runs["packets_delivered"]).mean())
    before = (Path("out") / "s-pie" / "printed" / "line" / "runs.parquet").stat().st_mtime_ns
    assert 'src="s-pie/figures/figure-1-printed.svg' in page
    # Finished runs are reused.
    assert aqmlab("reproduce", "s-pie", "--out", "out", "--quiet", "--single-file").status == 0
    alone = (Path("out") / "s-pie.html").read_text()
    assert alone.count("<svg role") == page.count("<img src") > 0
    assert "<img" not in alone
    assert (Path("out") / "s-pie" / "printed" / "line" / "runs.parquet").stat().st_mtime_ns == before


@pytest.mark.usefixtures("small")
def the_papers_are_listed(aqmlab: Command) -> None:
    ended = aqmlab("reproduce", "list")
    assert ended.status == 0
    assert "s-pie (4 claims)\n    A small paper\n" in ended.out
    assert "Presets" not in ended.out.partition("aqmlab reproduce")[0]
    assert "    Presets: printed\n" in aqmlab("reproduce", "list", "-v").out


def values_of_a_swept_key_may_take_the_place_of_aqms(small: Path, aqmlab: Command) -> None:
    swept = SCENARIO.replace('"fifo", "codel", "pie:$preset"', '"pie:$preset"').replace("[values]\npreset", "#")
    swept = swept.partition("[sweep]")[0] + '[sweep]\npreset = ["rfc8033", "linux"]\n'
    (small / "scenarios/line.toml").write_text(swept)
    head = CLAIMS.partition("[[claim]]")[0]
    claim = """
        [[claim]]
        id = "small-1"
        says = "Linux has the longer queue"
        where = "Figure 1"
        scenario = "line"
        contestants = "preset"
        measure.of = "qdelay_mean_ms"
        paper = { linux = 20, rfc8033 = 10 }
        expect = ["linux > rfc8033"]
        """
    panels = ["bars", "time", "seeds", "sweep"]
    figure = (
        '[[figure]]\nname = "figure-1"\ntitle = "Figure 1"\npanel = ['
        + "".join(
            f'{{ title = "{kind}", scenario = "line", kind = "{kind}", lines = "preset", '
            f'of = "{"queue_packets" if kind == "time" else "qdelay_mean_ms"}", label = "Queue" }}, '
            for kind in panels
        )
        + "]\n"
    )
    (small / "paper.toml").write_text(head + claim + figure)
    ended = aqmlab("reproduce", "s-pie", "--out", "out", "--json", "-", "--quiet")
    assert ended.status == 0, ended.err
    measured = json.loads(ended.out)["claims"][0]["measured"]
    runs = pl.read_parquet("out/s-pie/printed/line/runs.parquet")
    for place, preset in enumerate(["rfc8033", "linux"]):
        mean = runs.filter(pl.col("point") == place)["qdelay_mean_ms"].mean()
        assert measured[preset]["mean"] == pytest.approx(mean)
    drawn = pl.read_csv("out/s-pie/figures/figure-1-printed.csv")
    for kind in panels:
        assert set(drawn.filter(pl.col("panel") == kind)["aqm"]) == {"rfc8033", "linux"}, kind
    (small / "paper.toml").write_text(head + claim.replace("linux", "linus") + figure)
    ended = aqmlab("reproduce", "s-pie", "--out", "out", "--quiet")
    assert ended.status == 2
    assert "claim small-1: 'linus': point: no point has {'preset': 'linus'}" in ended.line


@pytest.mark.usefixtures("small")
def a_folder_that_holds_something_else_is_left_alone(aqmlab: Command) -> None:
    Path("mine").mkdir()
    (Path("mine") / "index.html").write_text("mine")
    (Path("mine") / "claims.json").write_text('["mine"]')
    ended = aqmlab("reproduce", "s-pie", "--out", "mine")
    assert ended.status == 2
    assert "holds files already" in ended.line
    assert {file.read_text() for file in Path("mine").iterdir()} == {"mine", '["mine"]'}


@pytest.mark.usefixtures("small")
def a_folder_that_another_reproduction_writes_is_left_alone(aqmlab: Command) -> None:
    workspace.begin(Path("out"), "s-pie", ["printed"])
    before = (Path("out") / "claims.json").read_bytes()
    with workspace.held(Path("out")):
        ended = aqmlab("reproduce", "s-pie", "--out", "out")
    assert ended.status == 1
    assert "is writing into it: wait, or name another folder" in ended.line
    assert [(path.name, path.read_bytes()) for path in Path("out").iterdir()] == [("claims.json", before)]


@pytest.mark.usefixtures("small")
def a_full_run_adds_to_what_a_quick_one_left(aqmlab: Command) -> None:
    assert aqmlab("reproduce", "s-pie", "--quick", "--out", "out", "--quiet").status == 0
    assert aqmlab("reproduce", "s-pie", "--out", "out", "--json", "grown.json", "--quiet").status == 0
    assert aqmlab("reproduce", "s-pie", "--out", "new", "--json", "new.json", "--quiet").status == 0
    grown, new = (json.loads(Path(name).read_text())["claims"] for name in ("grown.json", "new.json"))
    assert grown == new


@pytest.mark.usefixtures("small")
def one_claim_is_judged_alone_and_says_so(aqmlab: Command) -> None:
    ended = aqmlab("reproduce", "s-pie", "--claim", "small-1", "--out", "out", "--json", "out.json")
    assert ended.status == 0
    assert "not corrected for the number of the paper's other claims" in " ".join(ended.out.split())
    assert [one["id"] for one in json.loads(Path("out.json").read_text())["claims"]] == ["small-1"]
    page = Path("out/s-pie.html").read_text()
    assert "not corrected for the number" in page
    # Nothing is folded that was asked for.
    assert 'id="further"' not in page


@pytest.mark.usefixtures("small")
def a_claim_that_the_paper_does_not_have_is_refused(aqmlab: Command) -> None:
    for asked, words in (
        (("s-pie", "--claim", "small-9"), "unknown claim of s-pie 'small-9'"),
        (("all", "--claim", "small-1"), "--claim: name the paper: a claim belongs to one"),
    ):
        ended = aqmlab("reproduce", *asked)
        assert (ended.status, words in ended.err, Path("results").exists()) == (2, True, False)


def an_error_counts_what_it_names() -> None:
    with pytest.raises(
        InputError, match=r"the nearest of its 22 claims \(beside them 3 explanations and 3 live checks"
    ):
        papers.find("s-pie").narrowed(["nosuch"])


@pytest.mark.usefixtures("small")
def a_claim_alone_samples_no_configurations_unless_asked(
    aqmlab: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[bool, str | None]] = []

    def noted(*_: object, robustness: bool, seeds: str | None, **_more: object) -> None:
        asked.append((robustness, seeds))
        raise KeyboardInterrupt

    monkeypatch.setattr(papers, "run_paper", noted)
    for number, more in enumerate(
        (("--claim", "small-1"), ("--claim", "small-1", "--robustness"), (), ("--seeds", "3"))
    ):
        aqmlab("reproduce", "s-pie", *more, "--out", str(tmp_path / str(number)))
    assert asked == [(False, None), (True, None), (True, None), (True, "3")]


def a_claim_alone_needs_its_scenarios_alone() -> None:
    paper = papers.find("daqm")
    alone = paper.narrowed(["daqm-15"])
    assert list(alone.experiments(paper.main)) == ["cases"]
    # Sampled configurations stay those of the whole paper.
    assert alone.sampled == paper.sampled


def bars_are_shares_of_the_largest_where_they_are_normalised(small: Path, aqmlab: Command) -> None:
    text = (small / "paper.toml").read_text()
    bars = 'kind = "bars", of = "qdelay_mean_ms"'
    (small / "paper.toml").write_text(text.replace(bars, f"{bars}, normalised = true"))
    assert aqmlab("reproduce", "s-pie", "--quick", "--out", "out").status == 0
    shown = pl.read_csv("out/s-pie/figures/figure-1-printed.csv").filter(pl.col("panel") == "bars")["mean"]
    assert shown.max() == pytest.approx(1.0)
    assert 0.0 < float(shown.min() or 0.0) < 1.0


def _kept(folder: Path) -> Path:
    (folder / "generated").mkdir(exist_ok=True)
    return folder / "generated/verdicts.csv"


def quick_runs_less_and_says_what_it_cannot_decide_and_what_the_full_form_decided(small: Path, aqmlab: Command) -> None:
    _kept(small).write_text("preset,claim,verdict\nprinted,small-1,reproduced\n")
    ended = aqmlab("reproduce", "all", "--quick", "--out", "out", "--json", "out.json", "--verbose")
    assert ended.status == 0
    document = json.loads(Path("out.json").read_text())
    assert {run["point"]["buffer"] for run in document["runs"]} == {"100p"}
    assert [one["verdict"] for one in document["claims"][:2]] == ["not testable", "inconclusive"]
    assert [one["full_form"] for one in document["claims"][:2]] == ["reproduced", None]
    page = (Path("out") / "s-pie.html").read_text()
    limits = "leaves 1 of 4 claims open; the stored verdict of the full form stands beside its own."
    for text in (" ".join(ended.out.split()), page.replace("&#39;", "'")):
        assert limits in text
    assert "(stored: reproduced)" in page
    assert "<code>aqmlab reproduce s-pie --quick</code>" in page
    assert re.search(r"stored full form: reproduced", ended.out)


def a_verdict_that_is_kept_of_nothing_that_is_known_is_refused(small: Path, aqmlab: Command) -> None:
    _kept(small).write_text("preset,claim,verdict\nprinted,small-9,reproduced\n")
    ended = aqmlab("reproduce", "s-pie", "--quick", "--out", "out")
    assert ended.status == 2
    assert "verdicts.csv: unknown claim 'small-9'" in ended.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("paper", "figure", "panel", "lines", "marks"),
    [
        ("large-network", "figure-6", 0, {"codel": 1220, "red": 1220, "pfifo-fast": 700, "fifo": 700}, {}),
        (
            "large-network",
            "figure-13",
            0,
            {},
            {"red": [("20p", 600.0), ("140p", 820.0)], "ared": [("20p", 700.0), ("140p", 820.0)]},
        ),
        ("s-pie", "figure-9", 0, {}, {"red": [(5.0, 0.67), (20.0, 0.97)], "s-pie": [(5.0, 0.86), (20.0, 0.99)]}),
        ("s-pie", "figure-6", 0, {}, {"red": [(5.0, 40.35)], "s-pie": [(5.0, 41.18)]}),
        ("pmqecn", "figure-10", 1, {"pmqecn": 0.15239, "tcn": 0.18432}, {}),
        ("pmqecn", "figure-10", 0, {}, {}),
        ("sqm-lru", "figure-17", 1, {}, {"sqm-lru": [("240", 0.75)]}),
    ],
)
def the_papers_numbers_are_drawn_where_they_belong(
    paper: str, figure: str, panel: int, lines: dict[str, float], marks: dict[str, list[tuple[str | float, float]]]
) -> None:
    found = papers.find(paper)
    shown = next(one for one in found.drawings if one.name == figure).panels[panel]
    claim = next((one for one in found.claims if one.id == shown.numbers), None)
    assert printed(shown, claim, [*lines, *marks]) == Printed(lines, marks)


@needs_browser
@pytest.mark.usefixtures("small")
def a_browser_shows_the_pages_without_errors(aqmlab: Command) -> None:
    aqmlab("reproduce", "s-pie", "--out", "out")
    pages = Path("out").resolve()
    with opened(pages / "s-pie.html", within=pages) as tab:
        for width in (390, 1200):
            tab.set_viewport_size({"width": width, "height": 900})
            assert tab.evaluate(LOOKED_AT)["wide"] == 0
        drawings = tab.locator("figure img")
        assert drawings.count() == 2
        tab.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
        for one in drawings.all():
            # It is read when it comes into sight, without its caption, which the page has.
            one.scroll_into_view_if_needed()
            tab.wait_for_function("one => one.complete && one.naturalWidth", arg=one.element_handle())
            box, (width, height) = (
                one.bounding_box(),
                map(float, one.evaluate("one => one.style.aspectRatio").split("/")),
            )
            assert box["height"] > 100
            assert box["width"] / box["height"] == pytest.approx(width / height, rel=0.02)
        tab.get_by_role("link", name="all papers").click()
        for width in (390, 1200):
            tab.set_viewport_size({"width": width, "height": 900})
            front = tab.evaluate(LOOKED_AT)
            assert (front["wide"], front["rows"]) == (0, 5)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("reproduce", "s-pi"), "unknown paper 's-pi', did you mean 's-pie'?"),
        (("reproduce", "dacm"), "unknown paper 'dacm'; known are s-pie, all"),
        (("reproduce", "s-pie", "--preset", "print"), "unknown preset of s-pie 'print', did you mean 'printed'?"),
        (("reproduce", "s-pie", "--seeds", "0"), "--seeds: '0' is not a whole number from 1"),
        (("reproduce", "s-pie", "--jobs", "none"), "--jobs: 'none' is not a whole number from 1"),
        (("reproduce",), "Missing argument 'PAPER'"),
    ],
)
def a_wrong_command_leaves_one_line_and_nothing_behind(
    aqmlab: Command, arguments: tuple[str, ...], wanted: str
) -> None:
    ended = aqmlab(*arguments, "--out", "out")
    assert ended.status == 2
    assert wanted in ended.line
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('id = "small-2"', 'id = "small-1"', "claim: 'small-1' is given twice"),
        ('scenario = "line"', 'scenario = "lane"', "there is no lane.toml"),
        ('title = "A small paper"', "", "paper.toml: title: is missing"),
        ('kind = "bars"', 'kind = "bar"', "figure figure-1: panel bars: kind: unknown value 'bar'"),
        ('label = "Queue"', 'lable = "Queue"', "panel time: label: is missing"),
        ('period = "1s"', 'period = "1"', "panel p: '1'"),
        ("choice", "chosen", "assumption Equation 1: choice: is missing"),
    ],
)
def a_file_that_is_wrong_is_refused_by_file_key_and_value(small: Path, old: str, new: str, wanted: str) -> None:
    path = small / "paper.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError) as error:
        papers.find("s-pie")
    assert str(small) in str(error.value)
    assert wanted in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("pie > fifo", "pi > fifo", "claim small-4: 'pi': unknown AQM 'pi', did you mean 'pie'?"),
        (
            '"fct_mean_s", point.buffer = "100p"',
            '"fct_mean_s"',
            "claim small-4: 'pie': point: 2 points of the sweep match",
        ),
        ('point.buffer = "200p"', 'point.buffer = "300p"', "claim small-1: 'fifo': point: no point has"),
        ("point.buffer", "point.bufer", "point: unknown key 'bufer', did you mean 'buffer'?"),
    ],
)
def a_claim_without_a_measurement_is_refused_before_the_first_run(
    small: Path, aqmlab: Command, old: str, new: str, wanted: str
) -> None:
    path = small / "paper.toml"
    path.write_text(path.read_text().replace(old, new))
    ended = aqmlab("reproduce", "s-pie", "--out", "out")
    assert ended.status == 2
    assert wanted in ended.line
    assert not Path("out").exists()


def a_reproduction_loses_no_verdicts_to_another(small: Path, aqmlab: Command) -> None:
    paper = small / "paper.toml"
    paper.write_text(paper.read_text().replace("presets.printed", 'presets.other.says = "otherwise"\npresets.printed'))
    assert aqmlab("reproduce", "s-pie", "--preset", "printed", "--out", "out", "--quiet").status == 0
    ended = aqmlab("reproduce", "s-pie", "--preset", "other", "--out", "out")
    assert ended.status == 2
    assert "holds s-pie printed too, whose verdicts would be lost" in ended.line
    assert aqmlab("reproduce", "s-pie", "--out", "out", "--quiet").status == 0
    held = json.loads((Path("out") / "claims.json").read_text())
    assert {one["preset"] for one in held["claims"]} == {"printed", "other"} == {*held["papers"]["s-pie"]}


def a_run_without_a_value_makes_a_measure_empty(result: Result) -> None:
    # Marks: none in any run, so that their variation is a share of nothing.
    found = values(result, Measure("marks", "s", how="variation"), "codel", 0)
    assert found == {}
    over = Measure("class.cubic.goodput_mbit", "s", over="marks")
    assert values(result, over, "codel", 0) == {}


def measures_reduce_series_between_two_times(result: Result) -> None:
    series = result.series
    label = label_of(result, "codel")
    assert label == "codel"
    assert label_of(result, "red") is None

    def measured(**entries: object) -> float:
        return values(result, Measure(scenario="s", **entries), "codel", 0)[2]  # type: ignore[arg-type]

    own = series.filter((pl.col("aqm") == "codel") & (pl.col("seed") == 2) & (pl.col("name") == "queue_packets"))
    part = own.filter((pl.col("time_s") > 1.0) & (pl.col("time_s") <= 3.0))["value"]
    window = {"of": "queue_packets", "since_s": 1.0, "until_s": 3.0}
    assert measured(**window) == pytest.approx(part.mean())
    assert (measured(**window, how="min"), measured(**window, how="max")) == (part.min(), part.max())
    assert measured(**window, how="last") == part[-1]
    assert measured(**window, how="sum") == pytest.approx(part.sum())
    assert measured(**window, how="variation") == pytest.approx(part.std() / part.mean())
    both = measured(of="class.cubic.goodput_mbit", over="class.cbr.goodput_mbit", since_s=2.0)
    assert both == pytest.approx(
        measured(of="class.cubic.goodput_mbit", since_s=2.0) / measured(of="class.cbr.goodput_mbit", since_s=2.0)
    )
    row = result.runs.filter((pl.col("aqm") == "codel") & (pl.col("seed") == 2))
    assert measured(of="jain_index") == row["jain_index"][0]
    assert values(result, Measure("nothing", "s"), "codel", 0) == {}


def names_are_short_where_they_can_be() -> None:
    def short(*labels: str) -> list[str]:
        entries = [{"name": label.split(":")[0].split()[0], "label": label} for label in labels]
        return list(labels_by_discipline(Named([{"aqm": entries}])))  # type: ignore[arg-type]

    assert short("pie:ns3.27 target 5ms", "fq_codel") == ["pie", "fq-codel"]
    assert short("pie alpha 1hz", "pie alpha 2hz") == ["pie alpha 1hz", "pie alpha 2hz"]
    assert short("daqm:a x 1", "daqm:b", "codel") == ["daqm:a", "daqm:b", "codel"]
    assert short("pie target a", "pie target b", "red") == ["pie target a", "pie target b", "red"]


@dataclass
class Named:
    """The part of a result that names need."""

    scenarios: list[dict[str, Any]]


def every_name_of_a_measure_or_factor_in_a_papers_table_is_explained() -> None:
    def stands(name: str, *texts: str) -> bool:
        return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for text in texts)

    paper = folders.find("s-pie")
    table = {line.id: line for line in summary.of_folder(paper)}
    names = glossary.of_table(paper, list(table.values()))
    factors = {
        one.name
        for one in paper.factors
        if stands(one.name, *(f"{line.settings} {line.factors}" for line in table.values()))
    }
    claims = [claim for claim in paper.claims if claim.id in table]
    measures = {name for claim in claims for name in claim.measures if name and stands(name, *table[claim.id].texts)}
    assert "red_law" in factors
    assert "s1-early" in measures
    assert {name.partition(" (")[0] for name, _ in names} == factors | measures
    assert all(meaning for _, meaning in names)
