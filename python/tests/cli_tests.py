from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer.main
from conftest import ROOT, Command

import aqmlab as package
from aqmlab.cli.unknown_option import OF_OTHER_TOOLS
from aqmlab.scenario.flows import keys_of
from aqmlab.scenario.kinds import KINDS, TRANSPORTS
from aqmlab.scenario.options import BY_NAME
from aqmlab.vocabulary.metrics import METRICS

BASE = ("--rate", "10mbit", "--rtt", "40ms", "--duration", "2s", "--seeds", "2")
CAPTURE = ROOT / "data" / "captures" / "aqmlab-lan.pcap"
TRACE = ROOT / "data" / "link-traces" / "aqmlab-lte.down"


# --- what the commands do --------------------------------------------------------------------------------------------


def list_names_every_discipline(aqmlab: Command) -> None:
    ended = aqmlab("aqm", "list")
    assert ended.status == 0
    for discipline in package.disciplines():
        assert f"  {discipline.name} " in ended.out


def list_as_json_holds_every_parameter_with_its_reference(aqmlab: Command) -> None:
    listed = json.loads(aqmlab("aqm", "list", "--json").out)
    assert [one["name"] for one in listed] == [one.name for one in package.disciplines()]
    for one in listed:
        assert one["reference"]
        for param in one["params"]:
            assert {"name", "unit", "default", "allowed", "help", "reference"} <= set(param)


@pytest.mark.parametrize("name", [discipline.name for discipline in package.disciplines()])
def show_explains_every_discipline_and_preset(aqmlab: Command, name: str) -> None:
    discipline = next(one for one in package.disciplines() if one.name == name)
    for preset in discipline.presets:
        ended = aqmlab("aqm", "show", f"{name}:{preset.name}", "--no-card")
        assert ended.status == 0
        assert f"{name}:{preset.name}" in ended.out
        for param in discipline.params:
            assert param.name in ended.out


def flows_list_and_show_name_every_kind_and_key(aqmlab: Command) -> None:
    listed = {"": aqmlab("flows", "list").out, "papers": aqmlab("flows", "list", "--papers").out}
    for kind in KINDS.values():
        assert [room for room, out in listed.items() if f"\n{kind.name} " in out] == [kind.extension]
        ended = aqmlab("flows", "show", kind.name)
        assert ended.status == 0
        keys = keys_of(kind).values()
        assert all((f"\n{key.name} " in ended.out) == (not key.group) for key in keys)
        rules = aqmlab("flows", "show", kind.name, "--all").out
        assert all(f"\n{key.name} " in rules for key in keys if key.group)


@pytest.mark.parametrize("kind", [one.name for one in TRANSPORTS.values() if one.form == "tcp"])
def the_keys_of_a_transport_fit_on_one_screen(aqmlab: Command, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = aqmlab("flows", "show", kind).out.splitlines()
    assert 24 <= len(lines) <= 40
    assert max(map(len, lines)) <= 80


def metrics_list_names_every_metric_and_observers_are_listed_apart(aqmlab: Command) -> None:
    listed, papers = aqmlab("metrics", "list").out, aqmlab("metrics", "list", "--papers").out
    for metric in METRICS:
        assert (f"\n{metric.name} " in listed) == (not metric.observer)
        assert (f"\n  {metric.name} " in papers) == bool(metric.observer)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("compare --aqm fifo --flow-monitor on", "--flow-monitor is now --observe flow_monitor"),
        ("compare --aqm fifo --yes", "--yes is now --no-size-check"),
        ("sweep --aqm fifo --on dask://here:1", "--on is now --dask"),
        ("export results --pcapng --at home", "--at is now --tap"),
        ("tune --minimise loss_ratio --front 3", "--front is now --pareto"),
        ("tune one.toml --judge=two.toml --minimise loss_ratio", "--judge is now --validate"),
        ("reproduce s-pie --readings 30", "--readings is now --robustness"),
    ],
)
def an_old_option_is_answered_with_the_new_one(aqmlab: Command, typed: str, says: str) -> None:
    ended = aqmlab(*typed.split())
    assert (ended.status, ended.err) == (2, f"aqmlab: {says}\n")


def a_word_that_belongs_to_no_option_is_refused(aqmlab: Command) -> None:
    ended = aqmlab("compare", "fifo,codel", *BASE)
    assert (ended.status, ended.out) == (2, "")
    assert ended.line.startswith("'fifo,codel' belongs to no option, did you mean '--aqm fifo,codel'?")
    assert "'there' belongs to no option (" in aqmlab("show", "here", "there").line


@pytest.mark.parametrize(("theirs", "ours"), OF_OTHER_TOOLS.items())
def an_option_of_another_tool_is_answered_with_ours(aqmlab: Command, theirs: str, ours: str) -> None:
    ended = aqmlab("compare", theirs, "1")
    assert (ended.status, ended.err) == (2, f"aqmlab: {theirs}: there is no such option, did you mean '{ours}'?\n")


def flows_show_has_a_column_for_each_profile_and_the_source_of_each_rule(aqmlab: Command) -> None:
    lines = aqmlab("flows", "show", "cubic", "--all").out.splitlines()
    heading = max(at for at, line in enumerate(lines) if line.split()[:4] == ["Key", "rfc", "linux", "ns3"])
    (growth,) = (line for line in lines[heading:] if line.startswith("growth "))
    assert growth.split()[1:4] == ["curve", "count", "curve"]
    assert "RFC 9438" in growth
    assert "profile=" not in aqmlab("flows", "show", "dcqcn", "--all").out


def flows_show_refuses_an_unknown_kind_with_the_nearest(aqmlab: Command) -> None:
    # What Linux calls a kind is that kind.
    assert aqmlab("flows", "show", "bbr").out == aqmlab("flows", "show", "bbr1").out
    ended = aqmlab("flows", "show", "wep")
    assert ended.status == 2
    assert ended.line.startswith("unknown kind 'wep', did you mean 'web'?")


def compare_prints_the_answer_and_show_prints_the_rest(aqmlab: Command, tmp_path: Path) -> None:
    ended = aqmlab("compare", *BASE, "--aqm", "fifo,codel", "--out", "out")
    assert ended.status == 0
    assert ended.out.splitlines()[0] == "10 Mbit/s, 40 ms, buffer 34 packets (41 ms) · 1 cubic · 2 seeds of 2 s"
    for wanted in ("Goodput", "Mbit/s", "Queue delay, ms", "99 %", "? undecided", "aqmlab show out"):
        assert wanted in ended.out
    # Of one flow Jain's index is 1, whatever it gets.
    assert "Jain" not in ended.out
    assert ended.out.endswith("open out/report.html\n")
    assert len(ended.out.splitlines()) <= 20
    assert all(line == line.rstrip() for line in ended.out.splitlines())
    verbose = aqmlab("compare", *BASE, "--aqm", "fifo,codel", "--out", "out", "-v")
    shown = aqmlab("show", "out")
    assert verbose.out.startswith(shown.out)
    for wanted in ("±", "Against fifo", "over 2 seeds", "10mbit", "1bdp at 40ms", "1*cubic", "tests with Holm's"):
        assert wanted in shown.out
    assert "14b (default)" not in shown.out
    every = aqmlab("show", "out", "--all").out
    for setting in ("overhead", "14b (default)", "1 to 2", "mss=1448b"):
        assert setting in every
    assert (tmp_path / "out" / "report.html").exists()


def a_narrow_terminal_gets_tables_in_parts_and_nothing_is_cut(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    ended = aqmlab("compare", *BASE, "--aqm", "fifo,fq_codel", "--out", "out", "-v")
    assert "…" not in ended.out
    assert max(map(len, ended.out.splitlines())) <= 70
    assert sum(line.startswith("fq_codel ") for line in ended.out.splitlines()) >= 3


def compare_writes_into_a_dated_folder_by_default(aqmlab: Command, tmp_path: Path) -> None:
    ended = aqmlab("compare", *BASE, "--aqm", "fifo", "--quiet")
    (folder,) = (tmp_path / "results").iterdir()
    assert folder.name.startswith("compare-")
    assert ended.out == f"results/{folder.name}\n"


def json_is_the_only_standard_output(aqmlab: Command) -> None:
    ended = aqmlab("compare", *BASE, "--aqm", "fifo,codel", "--json", "-")
    document = json.loads(ended.out)
    assert len(document["runs"]) == 4
    assert "Goodput" in ended.err
    quiet = aqmlab("compare", *BASE, "--aqm", "fifo,codel", "--json", "-", "--quiet")
    assert json.loads(quiet.out)
    assert quiet.err == ""


def json_goes_to_a_file(aqmlab: Command, tmp_path: Path) -> None:
    aqmlab("compare", *BASE, "--aqm", "fifo", "--json", "r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["command"] == "compare"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "results"]


def captures_and_link_traces_may_be_combined_with_flows(aqmlab: Command) -> None:
    ended = aqmlab(
        "compare", "--link-trace", TRACE, "--capture", CAPTURE, "--flows", "1*newreno", "--rtt", "40ms",
        "--duration", "9s", "--seeds", "1", "--aqm", "fifo", "--json", "-",
    )  # fmt: skip
    assert ended.status == 0
    document = json.loads(ended.out)
    metrics = document["runs"][0]["metrics"]
    assert metrics["class.capture.goodput_mbit"] > 0
    assert metrics["class.newreno.goodput_mbit"] > 0
    assert document["scenario"]["link_trace"] == str(TRACE)
    assert document["scenario"]["rate"] is None


def run_takes_a_file_and_overrides(aqmlab: Command, tmp_path: Path) -> None:
    (tmp_path / "exp.toml").write_text('aqm = "fifo"\nrate = "5mbit"\nrtt = "20ms"\nduration = "2s"\n')
    ended = aqmlab("run", "exp.toml", "--seeds", "3", "--json", "-", "--quiet")
    document = json.loads(ended.out)
    assert document["command"] == "run"
    assert document["title"] == "exp"
    assert [run["seed"] for run in document["runs"]] == [1, 2, 3]


def folders_can_be_reported_plotted_and_exported(aqmlab: Command, tmp_path: Path) -> None:
    for name in ("one", "two"):
        aqmlab("compare", *BASE, "--aqm", "fifo,codel", "--out", name, "--quiet")
    (tmp_path / "one" / "report.html").unlink()
    assert aqmlab("report", "one").out == "one/report.html\n"
    assert (tmp_path / "one" / "report.html").exists()

    drawn = aqmlab("plot", "cdf", "one", "two", "--column", "owd_ms", "--out", "figures")
    assert drawn.out.split() == ["figures/cdf.svg", "figures/cdf.csv"]
    table = pl.read_csv(tmp_path / "figures" / "cdf.csv")
    assert table.select("panel", "aqm").unique(maintain_order=True).rows() == [
        ("one", "fifo"), ("one", "codel"), ("two", "fifo"), ("two", "codel"),
    ]  # fmt: skip

    aqmlab("export", "one", "--csv")
    assert len(pl.read_csv(tmp_path / "one" / "csv" / "runs.csv")) == 4


# --- bad input: one clear line, status 2, nothing written ------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([*BASE, "--aqm", "codle"], "--aqm: unknown discipline 'codle', did you mean 'codel'?; the nearest of "),
        ([*BASE, "--aqm", "codel tagret 5ms"], "--aqm: codel: parameter 'tagret' is unknown, did you mean 'target'?"),
        (
            [*BASE, "--aqm", "codel target 5mbit"],
            "--aqm: codel: parameter 'target': '5mbit' has an unknown unit 'mbit'",
        ),
        ([*BASE, "--aqm", "fifo limit 0p"], "--aqm: fifo: parameter 'limit': '0p' is out of range: allowed is 1 to"),
        ([*BASE], "--aqm: is missing"),
        (["--rtt", "40ms", "--aqm", "fifo"], "--rate: is missing"),
        (["--rate", "1mbit", "--aqm", "fifo"], "--rtt: is missing"),
        (["--rate", "10", "--rtt", "1ms", "--aqm", "fifo"], "--rate: '10' has no unit: give a rate such as 10mbit"),
        (["--rate", "-1mbit", "--rtt", "1ms", "--aqm", "fifo"], "--rate: '-1mbit' is negative"),
        (["--rate", "0mbit", "--rtt", "1ms", "--aqm", "fifo"], "--rate: '0mbit' is out of range"),
        ([*BASE, "--aqm", "fifo", "--buffer", "0p"], "--buffer: '0p' is out of range"),
        ([*BASE, "--aqm", "fifo", "--link-trace", TRACE], "--rate: contradicts the link trace: give one of them"),
        ([*BASE, "--aqm", "fifo", "--aqm", "codel limit 9p"], "or --allow-unequal-buffers"),
        ([*BASE, "--aqm", "fifo", "--flows", "1*cubic:rrt=1ms"], "--flows: '1*cubic:rrt=1ms': unknown key 'rrt'"),
        ([*BASE, "--aqm", "fifo", "--jobs", "0"], "--jobs: '0' is not a whole number from 1"),
        ([*BASE, "--aqm", "fifo", "--seeds", "x"], "--seeds: 'x' is not a whole number"),
        ([*BASE, "--aqm", "fifo", "--bufer", "1p"], "--bufer: there is no such option, did you mean '--buffer'?"),
        ([*BASE, "--aqm", "fifo", "--json", "none/r.json"], "--json: 'none/r.json' cannot be written"),
        ([*BASE, "--aqm", "fifo", "--out", "/proc/here"], "/proc/here: cannot be written: "),
        ([*BASE, "--aqm", "fifo", "--out", "/dev/null"], "/dev/null: is a file, not a folder"),
    ],
)
def bad_options_end_in_one_line(aqmlab: Command, tmp_path: Path, arguments: list[object], wanted: str) -> None:
    ended = aqmlab("compare", *arguments)
    assert ended.status == 2
    assert wanted in ended.line
    assert ended.out == ""
    assert list(tmp_path.iterdir()) == []


def _capture(cut_to: int) -> bytes:
    return CAPTURE.read_bytes()[:cut_to]


@pytest.mark.parametrize(
    ("option", "content", "wanted"),
    [
        ("--capture", None, "cannot be read: No such file"),
        ("--capture", b"", ""),
        ("--capture", b"not a capture, but a letter to a friend\n", ""),
        ("--capture", _capture(20), ""),
        ("--capture", b"\x0a\x0d\x0d\x0a" + b"\xff" * 60, ""),
        ("--link-trace", None, "cannot be read: No such file"),
        ("--link-trace", b"", "is empty"),
        ("--link-trace", b"5\n4\n", "line 2: 4 comes after 5: numbers must not decrease"),
        ("--link-trace", b"1\nabc\n", "line 2: 'abc' is not one"),
        ("--link-trace", b"-1\n", "line 1: '-1' is negative"),
        ("--link-trace", b"\xff\xfe\x00", "is not text"),
    ],
)
def a_bad_file_ends_in_one_line_that_names_it(
    aqmlab: Command, tmp_path: Path, option: str, content: bytes | None, wanted: str
) -> None:
    file = tmp_path / "input"
    if content is not None:
        file.write_bytes(content)
    rate = [] if option == "--link-trace" else ["--rate", "10mbit"]
    ended = aqmlab("compare", *rate, "--rtt", "40ms", "--aqm", "fifo", option, file)
    assert ended.status == 2
    assert ended.line.startswith(f"{option}: {file}")
    assert wanted in ended.line
    assert [path.name for path in tmp_path.iterdir()] == ([] if content is None else ["input"])


def a_truncated_capture_is_used_with_a_warning(aqmlab: Command, tmp_path: Path) -> None:
    (tmp_path / "cut.pcap").write_bytes(_capture(200_000))
    ended = aqmlab("compare", *BASE, "--aqm", "fifo", "--capture", "cut.pcap", "--json", "-", "--quiet")
    assert ended.status == 0
    assert json.loads(ended.out)["warnings"]
    ended = aqmlab("classify", "cut.pcap")
    assert ended.status == 0
    assert "cut.pcap" in ended.line


def bytes_that_are_no_text_are_one_line(aqmlab: Command) -> None:
    ended = aqmlab("compare", *BASE, "--aqm", "fi\udcfffo")
    assert (ended.status, ended.line) == (2, r"--aqm: 'fi\xfffo' holds bytes that are not text in UTF-8")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["aqm", "show", "codle"], "unknown discipline 'codle', did you mean 'codel'?"),
        (["aqm", "shwo"], "No such command 'shwo'"),
        (["run", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["run"], "Missing argument"),
        (["report", "none"], "none: is not a result folder"),
        (["plot", "cfd", "none"], "unknown kind of figure 'cfd', did you mean 'cdf'?"),
        (["plot", "cdf", "none"], "none: is not a result folder"),
        (["export", "none"], "export: name one format: --csv"),
        (["compair"], "No such command 'compair'"),
        (["compare", *BASE, "--out", ""], "Invalid value for '--out': it is empty: name a folder, or . for this one"),
        (["classify", "--flows", "many", "x.pcap"], "Invalid value for '--flows': it is not a whole number"),
        (["classify", "--flows=-1", "x.pcap"], "Invalid value for '--flows': "),
        (
            ["aqm", "thresholds", "--delay", "50ms", "--buffer", "200p", "--horizon", "1s", "--rate", "0bit"],
            "--rate: '0bit' is out of range: allowed is a rate above zero",
        ),
    ],
)
def bad_commands_end_in_one_line(aqmlab: Command, tmp_path: Path, arguments: list[str], wanted: str) -> None:
    ended = aqmlab(*arguments)
    assert ended.status == 2
    assert wanted in ended.line
    assert list(tmp_path.iterdir()) == []


def a_missing_column_is_refused_with_the_known_ones(aqmlab: Command) -> None:
    aqmlab("compare", *BASE, "--aqm", "fifo", "--out", "out", "--quiet")
    for kind, wanted in (
        ("cdf", "qdelay_ms"),
        ("timeseries", "queue_packets"),
        ("tradeoff", "loss_ratio"),
    ):
        ended = aqmlab("plot", kind, "out", "--column", f"{wanted}x")
        assert ended.status == 2
        assert f"{kind}: there is no '{wanted}x', did you mean '{wanted}'?" in ended.line


# --- the real program ------------------------------------------------------------------------------------------------


def _program(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "aqmlab"), *arguments]
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def the_program_exits_with_the_statuses_of_the_contract(tmp_path: Path) -> None:
    version = _program("--version", cwd=tmp_path)
    assert (version.returncode, version.stdout) == (0, f"aqmlab {package.FULL_VERSION}\n")
    done = _program("compare", *BASE, "--aqm", "fifo,codel", "--json", "-", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["format_version"] == 1
    bad = _program("compare", *BASE, "--aqm", "codle", cwd=tmp_path)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("aqmlab: --aqm: unknown discipline 'codle'")
    assert bad.stderr.count("\n") == 1


def _shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    return subprocess.run(["sh", "-c", line], cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["aqm list", "--help", "--version", "flows show voip"])
def an_output_error_is_one_line(tmp_path: Path, command: str) -> None:
    for redirection, why in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
        ended = _shell(f"aqmlab {command} {redirection}", tmp_path)
        assert (ended.returncode, ended.stderr) == (1, f"aqmlab: standard output: {why}\n")


def a_closed_pipe_and_a_closed_standard_error_do_no_harm(tmp_path: Path) -> None:
    ended = _shell("aqmlab aqm list | head -1", tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert _shell(f"aqmlab compare {' '.join(BASE)} --aqm fifo --out out 2>&-", tmp_path).returncode == 0
    assert _shell("aqmlab compare --aqm codle 2>&-", tmp_path).returncode == 2


def letters_that_the_terminal_lacks_are_replaced(tmp_path: Path) -> None:
    arguments = ("compare", *BASE, "--aqm", "fifo")
    ascii_only = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for number, environment in enumerate((ascii_only, {"PYTHONIOENCODING": "ascii"})):
        ended = _program(*arguments, "--out", f"out-{number}", cwd=tmp_path, **environment)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert " ? " in ended.stdout


def a_name_that_is_too_long_is_one_line(aqmlab: Command) -> None:
    for options in (("--out", "x" * 300), ("--json", "x" * 300)):
        ended = aqmlab("compare", *BASE, "--aqm", "fifo", *options)
        assert ended.status == 2
        assert "File name too long" in ended.line


def plot_and_export_write_through_links_and_keep_the_mode(aqmlab: Command, tmp_path: Path) -> None:
    aqmlab("compare", *BASE, "--aqm", "fifo", "--out", "out", "--quiet")
    for name in ("cdf.csv", "runs.csv"):
        (tmp_path / "elsewhere" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "elsewhere" / name).write_text("earlier")
        (tmp_path / "elsewhere" / name).chmod(0o600)
        (tmp_path / name).symlink_to(f"elsewhere/{name}")
    assert aqmlab("plot", "cdf", "out", "--force").status == 0
    assert aqmlab("export", "out", "--csv", "--out", ".", "--force").status == 0
    for name in ("cdf.csv", "runs.csv"):
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "elsewhere" / name).stat().st_mode & 0o777 == 0o600
        assert (tmp_path / name).read_text() != "earlier"


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["plot", "cdf", "out"], "cdf.csv"),
        (["export", "out", "--csv"], "out/csv/queues.csv"),
        (["compare", *BASE, "--aqm", "fifo", "--out", "out", "--json", "r.json"], "r.json"),
        (["run", "first-comparison", "--json", "r.json"], "r.json"),
        (["sweep", "--sweep", "rtt=1ms,2ms", "--rate", "1mbit", "--aqm", "fifo", "--json", "r.json"], "r.json"),
        (["reproduce", "s-pie", "--json", "r.json"], "r.json"),
    ],
)
def a_file_that_is_there_is_replaced_only_by_force(
    aqmlab: Command, tmp_path: Path, arguments: list[str], file: str
) -> None:
    if arguments[0] in ("plot", "export", "compare"):
        aqmlab("compare", *BASE, "--aqm", "fifo", "--out", "out", "--quiet")
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    ended = aqmlab(*arguments)
    line = f"{file}: is there already: name another place, or replace it with --force"
    assert (ended.status, ended.line) == (2, line)
    assert (tmp_path / file).read_text() == "mine"
    assert sorted(tmp_path.rglob("*")) == before
    if arguments[0] in ("plot", "export", "compare"):
        assert aqmlab(*arguments, "--force").status == 0
        assert (tmp_path / file).read_text() != "mine"


def a_failed_check_exits_with_status_1(aqmlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fake import fake_run

    def fail(scenario: str, inputs: object, seed: int, monitor: object) -> object:
        if seed == 2:
            raise package.CheckError("check failed: made up")
        return fake_run(scenario, inputs, seed, monitor)

    monkeypatch.setattr("aqmlab.engine.native.simulate", fail)
    ended = aqmlab("compare", *BASE, "--aqm", "fifo", "--out", "out", "--quiet")
    assert ended.status == 1
    assert ended.line == "fifo, seed 2: check failed: made up"
    assert package.load(tmp_path / "out").is_partial


def starting_loads_neither_frames_nor_figures_nor_statistics() -> None:
    code = "import sys, aqmlab.cli; print([m for m in ('polars', 'matplotlib', 'scipy', 'numpy') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


# What no first table needs: packages, modules and all that lies in them.
NOT_FOR_A_TABLE = (
    *("pydantic", "matplotlib", "scipy", "jinja2"),
    *("aqmlab.plots", "aqmlab.report", "aqmlab.engine.linux.job", "aqmlab.engine.linux.guest", "aqmlab.runs.cluster"),
    *("aqmlab.cli.details", "aqmlab.cli.heat", "aqmlab.cli.baseline", "aqmlab.since", "aqmlab.store.shards"),
    *("aqmlab.results.baseline", "aqmlab.results.over_settings"),
)


def the_first_table_loads_no_more_than_it_shows(tmp_path: Path) -> None:
    words = ["aqmlab", "compare", *BASE, "--aqm", "fifo,codel", "--no-report", "--out", str(tmp_path / "out")]
    code = (
        f"import atexit, sys, aqmlab.cli; sys.argv = {words}; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); aqmlab.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Goodput" in done.stdout
    assert [
        module
        for module in done.stderr.splitlines()[-1].split()
        if any(module == name or module.startswith(f"{name}.") for name in NOT_FOR_A_TABLE)
    ] == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = " + "[" * 1000 + "]" * 1000, "is nested too deep"),
        ("x = " + "{a = " * 1000 + "1" + "}" * 1000, "is nested too deep"),
        ("seeds = " + "1" * 5000, "holds a number of too many digits"),
        ("#" * (16 << 20) + "\n\n", "is larger than 16mb"),
    ],
    ids=["arrays", "tables", "digits", "size"],
)
def a_hostile_experiment_is_one_line(aqmlab: Command, tmp_path: Path, text: str, wanted: str) -> None:
    (tmp_path / "some.toml").write_text(text)
    ended = aqmlab("run", "some.toml")
    assert (ended.status, ended.line) == (2, f"some.toml: {wanted}")


def a_file_without_end_is_refused(aqmlab: Command) -> None:
    ended = aqmlab("run", "/dev/zero")
    assert (ended.status, ended.line) == (2, "/dev/zero: is larger than 16mb")
    flows = "1*onoff:rate=1mbit:off=cdf(/dev/zero)"
    ended = aqmlab("compare", *BASE, "--aqm", "fifo", "--flows", flows)
    assert (ended.status, ended.line) == (2, f"--flows: '{flows}': off: /dev/zero: is larger than 1mb")


def a_result_folder_with_devices_for_files_is_refused(aqmlab: Command, tmp_path: Path) -> None:
    aqmlab("compare", *BASE, "--aqm", "fifo", "--out", "out", "--quiet")
    for name in ("flows.parquet", "manifest.json"):
        (tmp_path / "out" / name).unlink()
        (tmp_path / "out" / name).symlink_to("/dev/zero")
        ended = aqmlab("report", "out")
        assert (ended.status, ended.line) == (2, f"out/{name}: is not a file")


def too_few_file_handles_are_the_machines_fault(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(Path, "open", refuse)
    ended = aqmlab("run", "some.toml")
    assert (ended.status, ended.line) == (1, "some.toml: cannot be read: Too many open files")


@pytest.mark.parametrize("option", ["--seeds", "--jobs", "--buffer", "--flows", "--duration", "--topology"])
def thousands_of_digits_are_a_short_line(aqmlab: Command, option: str) -> None:
    digits = "9" * 5000
    value = {"--flows": f"{digits}*cubic", "--duration": f"{digits}s", "--topology": f"star:hosts={digits}"}
    ended = aqmlab("compare", "--aqm", "fifo", *BASE, option, value.get(option, digits))
    assert ended.status == 2
    assert ended.line.startswith(f"{option}: ")
    assert len(ended.line) < 1100


@pytest.mark.parametrize("backend", ["nonsense", "module://no_such_module.backend_inline"])
def figures_need_no_backend(tmp_path: Path, backend: str) -> None:
    arguments = ["compare", "--aqm", "fifo", *BASE[:4], "--duration", "1s", "--seeds", "1", "--out", "out"]
    assert _program(*arguments, cwd=tmp_path, MPLBACKEND=backend).returncode == 0
    assert (tmp_path / "out" / "figures" / "cdf.svg").exists()


def an_error_of_our_own_has_a_status_of_its_own(
    aqmlab: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*given: object) -> None:
        raise TypeError(f"{len(given)} is wrong")

    monkeypatch.setattr("aqmlab.scenario.resolve", broken)
    (tmp_path / "_native.so").touch()
    monkeypatch.setattr("aqmlab._native.__file__", str(tmp_path / "_native.so"))
    ended = aqmlab("compare", "--aqm", "fifo", *BASE)
    assert ended.status == 70
    assert "Traceback" in ended.err
    assert ended.err.splitlines()[-1].startswith("aqmlab: an error of aqmlab itself; please report it")


def an_error_with_a_compiled_part_of_older_sources_says_what_to_run(
    aqmlab: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*given: object) -> None:
        raise TypeError(f"{len(given)} is wrong")

    old = tmp_path / "_native.so"
    old.touch()
    os.utime(old, (0, 0))
    monkeypatch.setattr("aqmlab.scenario.resolve", broken)
    monkeypatch.setattr("aqmlab._native.__file__", str(old))
    ended = aqmlab("compare", "--aqm", "fifo", *BASE)
    assert ended.status == 70
    last = ended.err.splitlines()[-1]
    assert last.startswith(
        "aqmlab: the compiled part is older than its sources: run 'make setup', and try again: TypeError("
    )


def too_little_memory_is_one_line(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*given: object) -> None:
        raise MemoryError(len(given))

    monkeypatch.setattr("aqmlab.scenario.resolve", greedy)
    ended = aqmlab("compare", "--aqm", "fifo", *BASE)
    assert (ended.status, ended.line) == (1, "there is not enough memory")


def every_option_of_an_experiment_is_one_of_the_command(aqmlab: Command) -> None:
    printed = aqmlab("compare", "--help").out
    assert [name for name in BY_NAME if f"--{name.replace('_', '-')}" not in printed] == []


def _commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, group
    for name, command in getattr(group, "commands", {}).items():
        yield from _commands(command, (*words, name))


def help_has_every_option_with_its_whole_name(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from aqmlab.cli import help as helping
    from aqmlab.cli.main import app

    monkeypatch.setenv("COLUMNS", "80")
    for words, command in _commands(typer.main.get_command(app)):
        printed = aqmlab(*words, "--help").out
        assert isinstance(command, helping.Command | helping.Group), words
        for word in ("<bool>", "\u2026", "[/"):
            assert word not in printed, words
        assert all(len(line) <= 80 for line in printed.splitlines()), words
        for option in command.params:
            names = [*getattr(option, "opts", []), *getattr(option, "secondary_opts", [])]
            assert option.param_type_name == "argument" or all(name in printed for name in names), words


def sentences_of_the_help_are_short() -> None:
    from aqmlab.cli.main import app

    for words, command in _commands(typer.main.get_command(app)):
        texts = [command.help or "", *(getattr(option, "help", None) or "" for option in command.params)]
        paragraphs = [" ".join(one.split()) for text in texts for one in re.split(r"\n\s*\n", text)]
        for sentence in (one for text in paragraphs for one in re.split(r"(?<=[.!?]) ", text)):
            assert len(sentence.split()) <= 20 or sentence.startswith("aqmlab "), (words, sentence)


def help_says_of_each_command_the_first_sentence_of_its_own() -> None:
    from aqmlab.cli import help as helping
    from aqmlab.cli.commands import LINES, PLACES
    from aqmlab.cli.main import app

    root: Any = typer.main.get_command(app)
    assert {name: helping.sentence(one.help) for name, one in root.commands.items() if not one.hidden} == LINES
    assert list(LINES) == list(PLACES)


def help_loads_no_command() -> None:
    code = (
        "import atexit, sys, aqmlab.cli; sys.argv = ['aqmlab', '--help']; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); aqmlab.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: aqmlab" in done.stdout
    assert not {"aqmlab.scenario", "aqmlab.cli.compare", "aqmlab.cli.aqm"} & set(done.stderr.split())


def options_of_a_scenario_and_commands_have_a_group() -> None:
    from aqmlab.cli import help as helping
    from aqmlab.cli.main import app
    from aqmlab.scenario.options import OPTIONS

    assert {one.section for one in OPTIONS} <= set(helping.OPTIONS)
    known = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert {name for names in helping.COMMANDS.values() for name in names} <= known
