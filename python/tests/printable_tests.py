"""Text from outside: what has control characters is shown with them escaped, and kept as it is."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from conftest import ROOT, Command
from rich.console import Console

import aqmlab as package
from aqmlab import plots
from aqmlab.cli.terminal import Terminal, Text, give
from aqmlab.vocabulary.printable import escaped, printable

# A colour, the title of a window, and letters that are shown from right to left; brackets are commands of rich.
NASTY = "n\x1b[31m\x1b]0;owned\x07\x9b1mame\u202e\u2066gpj.exe\x7f[bold][/bold][/x]"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
BASE = ["--rate", "2mbit", "--rtt", "20ms", "--duration", "1s", "--warmup", "0s", "--seeds", "2"]
SCRIPT = f"""
title = {json.dumps(NASTY)}
rate = "2mbit"
rtt = "20ms"
aqm = ["codel target $t", "drr child [pie target 5ms]"]
flows = "2*cubic:start=0s"
duration = "1s"
warmup = "0s"
seeds = 2
[sweep.t]
{json.dumps(NASTY)} = "5ms"
"b\\u0000" = "10ms"
"""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe ± 5 µs, 中文, \u0627\u0644, e\u0301", "Größe ± 5 µs, 中文, \u0627\u0644, e\u0301"),
        ("a\tb\nc", "a\tb\nc"),
        ("\0\x1b\r\x7f\x9b", r"\x00\x1b\x0d\x7f\x9b"),
        ("\u202ea\u2069\u200f\u061c\u2028", r"\u202ea\u2069\u200f\u061c\u2028"),
        (b"a\xff\x9b".decode(errors="surrogateescape"), r"a\xff\x9b"),
        ("\ud800", r"\ud800"),
        (r"C:\x1b", r"C:\x1b"),
    ],
)
def what_controls_a_terminal_or_the_direction_is_seen(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown
    assert CONTROLS.search(shown) is None


def json_holds_the_same_text_in_letters_that_do_nothing() -> None:
    text = escaped(json.dumps({NASTY: ["\udcff", NASTY]}, ensure_ascii=False))
    assert CONTROLS.search(text) is None
    assert json.loads(text) == {NASTY: ["\udcff", NASTY]}
    text.encode()


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "--rate", NASTY, "--rtt", "1ms", "--aqm", "fifo"],
        ["compare", *BASE, "--aqm", NASTY],
        ["compare", *BASE, "--aqm", "fifo", "--flows", NASTY],
        ["compare", *BASE, "--aqm", "fifo", "--capture", NASTY],
        ["compare", *BASE, "--aqm", "fifo", "--topology", f"{NASTY}.toml"],
        ["compare", *BASE, "--aqm", "fifo", "--json", f"{NASTY}/x"],
        ["compare", f"--{NASTY}"],
        ["sweep", *BASE, "--aqm", "fifo", "--sweep", f"{NASTY}=1"],
        ["run", NASTY],
        ["report", NASTY],
        ["merge", NASTY, "--out", "x"],
        ["plot", NASTY, "."],
        ["export", NASTY, "--csv"],
        ["classify", NASTY],
        ["reproduce", NASTY],
        ["tune", *BASE[:6], "--aqm", NASTY, "--minimise", NASTY],
        ["advise", "--down", NASTY, "--up", "1mbit"],
        ["suite", NASTY],
        ["schema", NASTY],
        ["aqm", "show", NASTY],
        ["flows", "show", NASTY],
        ["new", "aqm", NASTY],
        [NASTY],
    ],
    ids=" ".join,
)
def an_error_shows_what_was_given(aqmlab: Command, command: list[str]) -> None:
    ended = aqmlab(*command)
    assert CONTROLS.search(ended.line) is None
    assert (ended.status, ended.out) == (2, "")
    if command[0] != "new":
        assert r"\x1b[31m" in ended.line


def an_error_of_aqmlab_itself_shows_its_text(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folder: Path) -> None:
        raise RuntimeError(f"{folder}")

    monkeypatch.setattr("aqmlab.experiment.report", fail)
    ended = aqmlab("report", NASTY)
    assert ended.status == 70
    assert CONTROLS.search(ended.err) is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of an experiment in which everything has such a name."""
    place = tmp_path_factory.mktemp("nasty")
    (place / f"{NASTY.replace('/', '')}.toml").write_text(SCRIPT)
    out = place / NASTY.replace("/", "")
    package.run(place / f"{NASTY.replace('/', '')}.toml", out=out)
    return out


def tables_on_a_terminal_show_names(aqmlab: Command, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SCRIPT)
    out = folder.name
    for command in (
        ["run", "x.toml", "--out", out, "-v"],
        ["merge", folder, "--out", f"{out}2"],
        ["classify", ROOT / "data/captures/aqmlab-lan.pcap"],
        ["compare", *BASE, "--aqm", "fifo,drr child [pie target 5ms]", "--out", f"{out}3", "--no-report", "-v"],
    ):
        ended = aqmlab(*command)
        assert ended.status == 0, ended.err
        assert CONTROLS.search(ended.out + ended.err) is None
        if "-v" in command:
            assert "[pie target 5ms]" in ended.out
            assert rf"{printable(out)}" in ended.out.replace("\n", "")


def no_line_ends_between_a_number_and_its_unit() -> None:
    text = Text("codel has 22 % less queue delay than fifo (30 -> 10 ms), at 20 Mbit/s; ▲ -46 % of 10 seeds ")
    # A no-break space, where rich breaks lines.
    text.append("(-10\u00a0%) ")
    text.append("▼ +317 %", "bold")
    for width in range(20, 100):
        lines = [line.plain for line in text.wrap(Console(width=width), width)]
        assert " ".join(" ".join(lines).split()) == text.plain.replace("\u00a0", " ")
        assert all(len(line.rstrip()) <= width for line in lines)
        assert not [line for line in lines if re.search(r"(\d|->|[▲▼]) ?$", line)]
        assert not [line for line in lines if re.match(r"%|ms|Mbit|seeds|->", line)]
    styled = [
        (line.plain[span.start : span.end], span.style) for line in text.wrap(Console(), 30) for span in line.spans
    ]
    assert styled == [("▼ +317 %", "bold")]
    # Narrower than what stays together, a line is cut like a long word.
    assert [line.plain for line in Text("10 Mbit/s").wrap(Console(), 5)] == ["10 Mb", "it/s"]


def every_table_is_printed_by_the_one_console(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().print(NASTY)
    Terminal().print("drr child [codel] :smile:")
    assert capsys.readouterr().out == f"{printable(NASTY)}\ndrr child [codel] :smile:\n"
    for path in (ROOT / "python/src/aqmlab/cli").glob("*.py"):
        found = re.findall(r"\bConsole\(|rich\.text|typer\.echo\(str\b|(?<!\.)print\(f", path.read_text())
        assert path.name == "terminal.py" or not found, path.name


def names_of_files_are_bytes_for_programs_and_printable_for_readers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    give(Path(NASTY))
    assert capsys.readouterr().out == f"{NASTY}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    give(Path(NASTY))
    assert capsys.readouterr().out == f"{printable(NASTY)}\n"


def pages_figures_and_notebooks_show_names(folder: Path) -> None:
    pages = [folder / "report.html", *(folder / "figures").glob("*.svg")]
    assert len(pages) > 4
    for page in pages:
        assert CONTROLS.search(page.read_text()) is None, page.name
    report = pages[0].read_text()
    assert r"<h1>n\x1b[31m" in report
    # Once more in the JSON of the charts.
    assert r'"n\\x1b[31m' in report
    result = package.load(folder)
    assert CONTROLS.search(result._repr_html_()) is None
    drawn = plots.figures("sweep", [result])[0].draw()
    texts = [text.get_text() for axes in drawn.axes for text in axes.get_xticklabels()]
    assert any(r"\x1b[31m" in text for text in texts)
    assert CONTROLS.search("".join(texts)) is None


def data_keeps_the_text_itself(folder: Path) -> None:
    result = package.load(folder)
    assert result.title == NASTY
    assert [point["t"] for point in result.points] == [NASTY, "b\0"]
    assert json.loads(result.to_json())["title"] == NASTY
    assert CONTROLS.search(result.to_json()) is None
    assert set(pl.read_parquet(io.BytesIO((folder / "runs.parquet").read_bytes()))["t"]) == {NASTY, "b\0"}


def the_file_of_a_name_that_is_no_text_is_refused_or_shown(tmp_path: Path) -> None:
    def ran(*words: str | bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([sys.executable, "-m", "aqmlab", *words], capture_output=True, cwd=tmp_path, check=False)

    name = b"c\xff"
    for ending, content in ((b".pcap", (ROOT / "data/captures/aqmlab-lan.pcap").read_bytes()), (b".down", b"6\n12\n")):
        Path(tmp_path, (name + ending).decode(errors="surrogateescape")).write_bytes(content)
    link = ["compare", "--rtt", "20ms", "--aqm", "fifo", "--link-trace", name + b".down"]
    for command in (
        ["classify", name + b".pcap"],
        ["compare", *BASE, "--aqm", "fifo", "--capture", name + b".pcap"],
        link,
    ):
        ended = ran(*command)
        assert ended.returncode == 2
        assert rb"c\xff" in ended.stderr
        assert b"bytes that are not text in UTF-8" in ended.stderr
    Path(tmp_path, (name + b".toml").decode(errors="surrogateescape")).write_text(SCRIPT.replace("title", "#"))
    ended = ran("run", name + b".toml", "--out", "out", "-q")
    assert (ended.returncode, ended.stdout) == (0, b"out\n")
    assert "<h1>c?</h1>" in (tmp_path / "out/report.html").read_text()
