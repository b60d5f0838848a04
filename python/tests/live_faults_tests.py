"""Live links that meet a full disk, files that are taken away, a kill, or a line that loses everything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Command
from links import link_of

from aqmlab.live import comparing
from aqmlab.live.carrying import carry
from aqmlab.vocabulary.errors import MachineError

LINE = ["--down", "5mbit", "--up", "5mbit", "--rtt", "2ms", "--aqm", "fifo"]


@pytest.fixture(scope="module", autouse=True)
def permitted() -> None:
    """Skip where no link can be made."""
    try:
        carry(link_of("fifo"), ["true"])
    except MachineError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "harm",
    [
        'rm -r "$(dirname "$AQMLAB_MEASURE")"',
        'rm "$(dirname "$AQMLAB_MEASURE")"/*',
        'echo "{" > "$(dirname "$AQMLAB_MEASURE")"/samples.jsonl',
    ],
)
def status_and_json_outlive_what_a_command_does_to_the_links_files(aqmlab: Command, tmp_path: Path, harm: str) -> None:
    out, log = tmp_path / "out.json", tmp_path / "log.csv"
    line = ["link", "--self-contained", *LINE, "--json", out, "--log", log]
    ended = aqmlab(*map(str, line), "--", "sh", "-c", f"{harm}; sleep 0.3; exit 7")
    assert "Traceback" not in ended.err
    assert ended.status == 7
    assert json.loads(out.read_text())["link"]["status"] == 7


def status_and_json_outlive_a_full_temporary_folder(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root mounts a small disk")
    (small := tmp_path / "small").mkdir()
    link = [sys.executable, "-m", "aqmlab", "link", "--self-contained", *LINE, "--json", "out.json", "--log", "log.csv"]
    fill = 'cat /dev/zero > "$TMPDIR/fill" 2>/dev/null; sleep 0.5; exit 7'
    mounted = f'mount -t tmpfs -o size=64k none {small}; export TMPDIR={small}; exec "$@"'
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mounted, "sh", *link, "--", "sh", "-c", fill],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 7, ended.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["link"]["status"] == 7
    assert any("No space left" in text for text in document["warnings"])


def status_and_json_outlive_a_result_that_cannot_be_written(aqmlab: Command, tmp_path: Path) -> None:
    out, result = tmp_path / "out.json", tmp_path / "result"
    ended = aqmlab(
        *("link", "--self-contained", *LINE, "--json", str(out), "--out", str(result)),
        *("--", "sh", "-c", f"rm -r {result}; echo > {result}; exit 7"),
    )
    assert "Traceback" not in ended.err
    assert ended.status == 7
    assert json.loads(out.read_text())["link"]["status"] == 7


# Before the process that carries packets, while it is set up, and when it waits for its path to the outside.
@pytest.mark.parametrize("after_s", [0.2, 0.4, 0.6, 0.8, 1.0, 1.2])
def a_link_killed_while_it_starts_leaves_no_traceback(after_s: float) -> None:
    command = [sys.executable, "-m", "aqmlab", "link", *LINE, "--", "true"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as started:
        time.sleep(after_s)
        started.kill()
        assert "Traceback" not in started.communicate(timeout=60)[1]


def a_line_that_loses_everything_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(comparing, "CONNECT_S", 0.5)
    link = link_of("fifo", loss="99.9999%")
    with pytest.raises(MachineError, match=r"fifo: the traffic ended: no transfer was accepted within 0.5 s: all"):
        comparing.compare({"fifo": (link.down, link.up)}, comparing.Traffic(duration_s=0.2, warmup_s=0.1), [1])
    assert capfd.readouterr().err == ""


def a_killed_comparison_continues_with_the_same_command(aqmlab: Command, tmp_path: Path) -> None:
    out, document = tmp_path / "out", tmp_path / "document.json"
    line = [*LINE, "--duration", "600ms", "--warmup", "200ms", "--seeds", "3", "--out", str(out)]
    command = [sys.executable, "-m", "aqmlab", "live-compare", *line]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        while started.stderr.readline() != "aqmlab: running fifo, seed 3\n":
            pass
        started.send_signal(signal.SIGKILL)
    ended = aqmlab("live-compare", *line, "--json", str(document))
    assert (ended.status, ended.err.splitlines()[0]) == (0, "aqmlab: running fifo, seed 3"), ended.err
    found = json.loads(document.read_text())
    assert [one["seed"] for one in found["runs"]] == [1, 2, 3]
    assert all(len(one["flows"]) == 2 and one["metrics"]["goodput_mbit"] > 1 for one in found["runs"])
    assert [one["lateness_ms"] is None for one in found["runs"]] == [True, True, False]
    again = aqmlab("live-compare", *line, "--json", str(document), "--force")
    assert again.status == 0
    assert again.err.splitlines()[0] == f"aqmlab: running nothing: all 3 runs are in {out}"
    assert [one["metrics"] for one in json.loads(document.read_text())["runs"]] == [
        one["metrics"] for one in found["runs"]
    ]
    other = aqmlab("live-compare", *line, "--rtt", "9ms")
    assert other.status == 2
    assert "holds another experiment: rtt is 2ms there and 9ms here" in other.err
