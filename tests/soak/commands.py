"""Mutated command lines and experiment files: each must work or end in one line, none with an error of aqmlab itself.

    python tests/soak/commands.py [--runs 5000] [--seed 1] [--log FILE]


Commands run in this process, one after another, in a folder of their own. The status is 1 if anything was found: a
traceback, status 70, more than one line on standard error, a name that no option has, or more than a few seconds of
work.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import os
import random
import re
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from aqmlab.cli import main

MOST_SECONDS = 10.0
MOST_BYTES = 6 * 2**30

EXPERIMENT = """\
title = "mutated"
rate = "2mbit"
rtt = "20ms"
aqm = ["codel target $target", "pie"]
flows = ["2*$kind:start=0s..10ms", "1*cbr:rate=500kbit"]
duration = "600ms"
seeds = 2
[values]
kind = "cubic"
[sweep]
target = ["5ms", "10ms"]
buffer = ["20p", "1bdp"]
"""
BASE = ["--rate", "2mbit", "--rtt", "20ms", "--duration", "600ms", "--seeds", "1", "--jobs", "1", "--no-report"]
COMMANDS = [
    ["compare", *BASE, "--aqm", "fifo,codel", "--flows", "2*cubic:start=0s", "--out", "a"],
    ["compare", *BASE, "--aqm", "pie target 15ms ecn", "--flows", "3*newreno:rtt=20ms:ecn=classic", "-q"],
    ["compare", *BASE, "--aqm", "fq_codel", "--topology", "asymmetric:up=1mbit", "--measure", "down,up", "--json", "-"],
    ["compare", *BASE, "--aqm", "drr child [codel] limit 100p", "--topology", "leaf_spine:leaves=2:hosts=2"],
    ["compare", *BASE, "--aqm", "red:ns3 min 5p max 15p", "--loss", "1%", "--jitter", "3ms", "--buffer", "64kb"],
    ["compare", *BASE, "--aqm", "fifo", "--flows", "1*web", "--flows", "1*voip", "--flows", "1*video"],
    ["sweep", *BASE, "--sweep", "target=1ms..20ms*3", "--aqm", "codel target $target", "--design", "grid"],
    ["sweep", *BASE, "--sweep", "load=1,2", "--flows", "$load*cubic", "--aqm", "codel", "--design", "sobol*2"],
    ["compare", *BASE, "--aqm", "fifo", "--topology", "star:hosts=3:xoff=9kb", "--flows", "1*cubic:rtt=25ms:stop=2s"],
    [
        "compare",
        *BASE,
        "--aqm",
        "fifo",
        "--flows",
        "2*vbr:gap=20ms:size=1kb:packet=100b",
        "--flows",
        "1*workload:load=10%",
    ],
    ["run", "experiment.toml", "--no-report", "--seeds", "1", "--jobs", "1", "--out", "r"],
    ["report", "a"],
    ["plot", "cdf", "a", "--out", "cdf.svg"],
    ["export", "a", "--csv", "--out", "csv"],
    ["schema", "experiment"],
    ["aqm", "list"],
    ["aqm", "thresholds", "--delay", "50ms", "--buffer", "200p", "--horizon", "1s", "--rate", "10mbit"],
    ["flows", "list"],
    ["flows", "show", "cubic"],
    ["classify", "experiment.toml", "--flows", "3"],
    ["reproduce", "s-pi"],
]
NASTY = [
    "", " ", "-", "--", "0", "-1", "1e999", "nan", "inf", "9" * 40, "0bit", "1bit", "999gbit", "0s", "1ns", "-5ms",
    "%", "101%", "0p", "1p", "$", "$x", "$target", "..", "1..2*3", "1ms..1ms*2", "*", "0*cubic", "1*", ":", "::", "=",
    "a=b", "[", "]", "[[[[", "\u00e9\u4e2d", "\U0001f600", "\n", "\t", "'", '"', "\\", "/", ".", "/dev/null",
    "/proc/self", "x" * 300, "codel target", "pie pie", "fifo limit", "child [", "cubic:rtt", "leaf_spine:leaves=0",
    "sobol*", "latin*1",
]  # fmt: skip


def mutated(words: list[str], chance: random.Random) -> list[str]:
    """Return a command with a few of its words removed, repeated, exchanged or spoilt."""
    words = list(words)
    for _ in range(chance.choice((1, 1, 2, 3))):
        place = chance.randrange(len(words))
        match chance.randrange(7):
            case 0 if len(words) > 1:
                del words[place]
            case 1:
                words.insert(place, words[chance.randrange(len(words))])
            case 2:
                other = chance.randrange(len(words))
                words[place], words[other] = words[other], words[place]
            case 3:
                words[place] = chance.choice(NASTY)
            case 4:
                words.insert(place, chance.choice(NASTY))
            case _:
                words[place] = spoilt(words[place], chance)
    return words


def spoilt(text: str, chance: random.Random) -> str:
    """Return a text with a few characters removed, repeated or replaced, or with other digits."""
    if chance.random() < 0.5:
        return re.sub(r"\d", lambda digit: chance.choice((digit[0], "0", "1", "9")), text)
    letters = list(text)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.randrange(len(letters) + 1)
        match chance.randrange(4):
            case 0:
                del letters[place : place + chance.choice((1, 3, 20))]
            case 1:
                letters[place:place] = letters[place : place + chance.choice((1, 3, 20))]
            case 2:
                letters[place:place] = chance.choice(NASTY)
            case _:
                letters[place : place + 1] = chance.choice("0123456789:=*.,[]$%'\"\n -")
    return "".join(letters)


class Ended(NamedTuple):
    """How a command ended: its status, what it wrote, and its seconds of work."""

    status: int
    output: str
    errors: str
    seconds: float


def tried(words: list[str]) -> Ended:
    """Run a command in this process."""
    errors, before = io.StringIO(), time.process_time()
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with (
        mock.patch.object(sys, "argv", ["aqmlab", *words]),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            main()
            status = 0
        except SystemExit as left:
            status = int(left.code or 0)
    written = output.buffer.getvalue().decode("utf-8", errors="replace")  # type: ignore[attr-defined]
    return Ended(status, written, errors.getvalue(), time.process_time() - before)


def finding(ended: Ended) -> str:
    """Return what is wrong with the end of a command; nothing if it is as it should be."""
    status, _, errors, seconds = ended
    if status == 70 or "Traceback" in errors:
        return "error of aqmlab itself"
    if status not in (0, 1, 2):
        return f"status {status}"
    # A command without arguments shows its help.
    if status and errors.count("\n") != 1 and errors:
        return "not one line"
    if errors and status and not re.match(r"aqmlab: .*\S", errors):
        return "says nothing"
    if re.search(r"\b\w+_(ns|bps|bytes) (is|must)|flow group", re.sub("'[^']*'", "", errors)):
        return "an inner name"
    return f"{seconds:.0f} s of work" if seconds > MOST_SECONDS else ""


def begin(chance: random.Random) -> None:
    """Write the files that commands read; the experiment is spoilt now and then."""
    text = EXPERIMENT
    if chance.random() < 0.7:
        text = spoilt(text, chance)
    Path("experiment.toml").write_text(text, encoding="utf-8", errors="surrogateescape")


def soak(runs: int, seed: int, log: io.TextIOBase) -> collections.Counter[str]:
    """Run so many mutated commands; what is found is written to the log at once."""
    chance, found = random.Random(seed), collections.Counter[str]()
    for number in range(runs):
        begin(chance)
        words = mutated(chance.choice(COMMANDS), chance)
        if {"--install-completion", "--show-completion"} & set(words):
            continue
        ended = tried(words)
        problem = finding(ended)
        found[problem or f"status {ended.status}"] += 1
        if problem:
            print(f"{number}: {problem}: {words}\n{ended.errors[-1500:]}", file=log, flush=True)
    return found


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="file for what is found; standard error unless given")
    return parser.parse_args()


def run() -> int:
    """Run the soak in an empty folder and print what came of it."""
    given = arguments()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    log = given.log.open("w") if given.log else sys.stderr
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tried(COMMANDS[0])
        found = soak(given.runs, given.seed, log)
        os.chdir("/")
    plain = {"status 0", "status 1", "status 2"}
    print(f"{sum(found.values())} commands: " + ", ".join(f"{what} {count}" for what, count in sorted(found.items())))
    return 1 if set(found) - plain else 0


if __name__ == "__main__":
    sys.exit(run())
