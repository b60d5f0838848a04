"""One row for each wrong input: a command, and the line in which it ends, with status 2 and nothing written."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import polars as pl
import pytest
from conftest import ROOT, Command

import aqmlab
from aqmlab.files import system
from aqmlab.vocabulary.errors import InputError

BASE = "compare --rate 2mbit --rtt 20ms --duration 300ms --seeds 1 --jobs 1 --aqm fifo"
TRACE = "compare --link-trace steps:2mbit*1s --rtt 20ms --duration 300ms --seeds 1 --jobs 1 --aqm fifo"
LAN = ROOT / "data" / "captures" / "aqmlab-lan.pcap"
LONG = "x" * 300
# As long as the system allows, and longer.
DEEP, DEEPER = "a/" * 2000, "a/" * 5000
BYTES = os.fsdecode(b"x\xff")
DIGITS = "9" * 30

TABLE = [
    # Names of files and folders.
    (f"{BASE} --out=", "it is empty: name a folder, or . for this one"),
    (f"{BASE} --out {LONG}", "File name too long"),
    (f"{BASE} --out {DEEP}", "cannot be written: File name too long"),
    (f"{BASE} --out {DEEPER}", "File name too long"),
    (f"reproduce s-pie --out {DEEP}", "File name too long"),
    (f"suite rfc7928 --quick --out {DEEP}", "File name too long"),
    (f"tune --aqm 'pie target 5ms..20ms' --minimise qdelay_mean_ms --out {DEEP}", "File name too long"),
    (f"report {DEEPER}", "is not a result folder: manifest.json: File name too long"),
    (f"{BASE} --out /dev/null/x", "cannot be written: Not a directory"),
    (f"{BASE} --out /proc/self/fd", "/proc/self/fd: cannot be written"),
    (f"{BASE} --json .", "--json: '.' is a folder"),
    (f"{BASE} --json {LONG}", "File name too long"),
    (f"{BASE} --json none/x.json", "there is no folder 'none'"),
    (f"{BASE} --capture=", "--capture: "),
    (f"{BASE} --capture .", ".: cannot be read: Is a directory"),
    (f"{BASE} --capture {BYTES}.pcap", r"--capture: 'x\xff.pcap' holds bytes that are not text in UTF-8"),
    (f"{BASE} --topology {BYTES}.toml", r"--topology: 'x\xff.toml' holds bytes that are not text in UTF-8"),
    (f"{BASE} --capture {LONG}", "cannot be read: File name too long"),
    (f"{BASE} --capture /dev/null", "/dev/null: is empty"),
    (f"{BASE} --topology {LONG}.toml", "cannot be read: File name too long"),
    ("run .", ".: cannot be read: Is a directory"),
    (f"run {LONG}.toml", "cannot be read: File name too long"),
    ("run /dev/null", "rate: is missing"),
    ("run /dev/null/x.toml", "cannot be read: Not a directory"),
    ("report /dev/null", "is not a result folder: manifest.json: Not a directory"),
    (f"report {LONG}", "is not a result folder: manifest.json: File name too long"),
    ("plot cdf .", ".: is not a result folder"),
    ("export . --csv", ".: is not a result folder"),
    ("classify .", ".: cannot be read: Is a directory"),
    ("classify /dev/zero", "/dev/zero: is not a capture"),
    ("reproduce ../../etc/passwd", "unknown paper '../../etc/passwd'"),
    ("reproduce s-pie --out /dev/null", "/dev/null: is a file, not a folder"),
    # Numbers that are none, or too large.
    (f"{BASE} --buffer {DIGITS}p", "--buffer: "),
    (f"{BASE} --buffer {DIGITS}gb", "--buffer: "),
    (f"{BASE} --buffer nan", "--buffer: "),
    (f"{BASE} --loss {DIGITS}", "--loss: "),
    (f"{BASE} --loss nan", "--loss: "),
    (f"{BASE} --jitter -1ms", "--jitter: '-1ms' is negative"),
    (f"{BASE} --overhead {DIGITS}b", "--overhead: "),
    (f"{BASE} --access-rate 0bit", "--access-rate: "),
    (f"{BASE} --warmup 1s", "--warmup: "),
    (f"{BASE} --seeds {DIGITS}", "--seeds: "),
    (f"{BASE} --flows 0*cubic", "--flows: '0*cubic': count '0'"),
    (f"{BASE} --flows {DIGITS}*cubic", "--flows: "),
    (f"{BASE} --flows 1*cubic:rtt=1e999s", "--flows: "),
    (f"{BASE} --flows 1*cubic:size=0b", "size: '0b' is out of range"),
    (f"{BASE} --measure nowhere", "--measure: "),
    (f"{BASE} --topology star:hosts={DIGITS}", "--topology: "),
    (f"{BASE} --topology star:hosts=-1", "--topology: "),
    # Simulates nothing useful, or more than there is.
    (f"{BASE} --flows 1*telnet:gap=1ns", "it must be 4us at least, in which 2mbit sends a byte"),
    ("compare --rate 1000gbit --rtt 1s --aqm fifo", "only with --no-size-check"),
    ("compare --rate 1gbit --rtt 1ms --aqm fifo --duration 100000s", "only with --no-size-check"),
    ("run first-comparison --seeds 9999", "only with --no-size-check"),
    # What the simulator refuses is in the words and units of options, too.
    (
        f"{BASE} --topology star --flows 1*cubic:rtt=7ms",
        "--flows: 'cubic': rtt is 7ms: it must be 20ms at least, which",
    ),
    (f"{BASE} --flows 1*cubic:stop=1ms", "--flows: 'cubic': stop is 1ms: it must not be before the latest start, 1s"),
    (f"{BASE} --flows 1*dcqcn:stop=2s", "--flows: 'dcqcn': stop: rate-based senders do not stop at a time"),
    (f"{BASE} --flows 1*vbr:size=1kb:packet=28b", "--flows: 'vbr': packet is 28b: it must leave room for messages"),
    (
        f"{BASE} --flows 1*workload:size=1b:load=90% --duration 1s --no-size-check",
        "--flows: 'workload': a load of 0.9 would bring",
    ),
    (f"{BASE} --flows 1*workload:size=pareto(1kb,1):load=90%", "--flows: 'workload': size has no mean, which a load"),
    (f"{BASE} --flows 100000*web --no-size-check", "--flows: 1200000 connections: at most 1000000 can be simulated"),
    (
        f"{BASE} --topology star:hosts=2 --flows 1*cubic:from=h0:to=h0",
        "--flows: 'cubic': flow 0 begins and ends at 'h0'",
    ),
    (
        f"{BASE} --topology star:hosts=2:buffer=1kb:reserve=1kb",
        "--topology: switch 'switch': reserve is 1024b: 16 queues",
    ),
    (
        f"{TRACE} --topology star:hosts=2:xoff=9kb",
        "--topology: switch 'switch': xoff cannot pause switch->h0: it has a link",
    ),
    (
        f"{TRACE} --topology bus",
        "--topology: link 0 (client0->channel): 'turns until arrival' has no rate, and the scenario"
        " has a recorded link",
    ),
    (f"{BASE} --until-ci 5% --shard 1/2", "--shard: contradicts --until-ci, which needs every run"),
    (f"{BASE} --shard 3", "--shard: '3' is not K/N"),
    (f"{BASE} --seeds 2 --until-ci 5%", "--seeds: '2' is no pilot"),
    (
        "advise --down steps:24kbit*10s --up 1mbit",
        "--down: 'steps:24kbit*10s' (24kbit on average) is out of range: allowed is",
    ),
    ("tune --rate 1mbit --rtt 9ms --aqm pie --minimise fct", "--aqm: 'pie' has no range"),
    (f"classify {LAN} --udp 1000gbit", "allowed are 10000000"),
    (f"classify {LAN} --heavy 101%", "is more than all bytes"),
    (f"classify {LAN} --with m_lru,m_lru", "'m_lru' is given twice"),
    (f"classify {LAN} --with l_lru,x", "unknown classifier 'x'"),
    # Commands and their options.
    ("aqm thresholds --delay 0ms --buffer 200p --horizon 1s", "delay: 0 ms is out of range"),
    ("aqm thresholds --delay 50ms --buffer 20kb --horizon 1s", "is not a number of packets"),
    ("aqm thresholds --delay 50ms --buffer 200p --horizon 1s --hops 0", "hops: 0 is not a whole number"),
    ("sweep --rate 1mbit --rtt 1ms --aqm fifo --sweep seeds=1,2", "every scenario is run with all seeds"),
    ("sweep --rate 1mbit --rtt 1ms --aqm fifo --sweep aqm=fifo,pie", "list every AQM under aqm"),
    ("sweep --rate 1mbit --aqm fifo --sweep rtt", "'rtt' is not NAME=VALUES"),
    ("reproduce daqm --preset nothing", "unknown preset of daqm 'nothing'"),
    ("schema nothing", "unknown schema 'nothing'"),
]


@pytest.mark.parametrize(("command", "says"), TABLE, ids=[f"{number}" for number in range(len(TABLE))])
def it_ends_in_one_line_with_status_2(aqmlab: Command, tmp_path: Path, command: str, says: str) -> None:
    ended = aqmlab(*shlex.split(command))
    assert says in ended.line
    assert (ended.status, ended.out) == (2, "")
    assert list(tmp_path.iterdir()) == []


def what_polars_asserts_of_a_file_is_damage() -> None:
    with pytest.raises(InputError, match=r"runs\.parquet: is damaged"), system.reading("runs.parquet"):
        raise pl.exceptions.PanicException("assertion failed")


def a_time_series_of_which_nothing_was_measured_is_drawn(aqmlab: Command) -> None:
    # Flows start within the first second.
    assert aqmlab(*BASE.split(), "--seeds", "2", "--no-report", "--out", "out").status == 0
    assert aqmlab("plot", "timeseries", "out", "--out", "figures").status == 0


def a_folder_may_be_in_a_thousand_others(aqmlab: Command) -> None:
    place = "a/" * 1000
    for seeds in (1, 2):
        ended = aqmlab(*f"{BASE} --seeds {seeds} --no-report --quiet --out {place}".split())
        assert (ended.status, ended.err) == (0, "")
    assert aqmlab("export", place, "--csv").status == 0
    # What pytest removes folders with calls itself for each.
    subprocess.run(["rm", "-r", "a"], check=True)


def an_experiment_and_its_folder_may_be_named_by_any_bytes(aqmlab: Command, tmp_path: Path) -> None:
    (tmp_path / BYTES).mkdir()
    path = tmp_path / BYTES / f"{BYTES}.toml"
    path.write_text('aqm = "fifo"\nrate = "2mbit"\nrtt = "20ms"\nduration = "300ms"\nwarmup = "0s"\n')
    for seeds in (1, 2):
        ended = aqmlab("run", path, "--seeds", seeds, "--out", "out", "--quiet")
        assert (ended.status, ended.err) == (0, "")
    assert "<title>x?" in (tmp_path / "out" / "report.html").read_text()
    assert aqmlab("export", "out", "--pcapng").status == 0


def an_error_has_fields_for_programs() -> None:
    with pytest.raises(aqmlab.InputError) as raised:
        aqmlab.compare(rate="10mbit", rtt="40ms", flows="2*cubic:iw=0", aqm="pie")
    error = raised.value
    assert (error.option, error.problem) == ("flows", "'2*cubic:iw=0': iw: '0' is out of range: allowed is 1 to 10000")
    with pytest.raises(aqmlab.InputError) as raised:
        aqmlab.compare(rate="10mbit", rtt="40ms", aqm="piee")
    error = raised.value
    assert (error.option, error.value, error.nearest) == ("aqm", "piee", "pie")
    assert "pie" in error.allowed
    with pytest.raises(aqmlab.InputError) as raised:
        aqmlab.compare(rate="10mbit", rtt="40ms", aqm="pie target 5x")
    error = raised.value
    assert (error.option, error.path, error.value) == ("aqm", ("pie", "parameter 'target'"), "5x")
