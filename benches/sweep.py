"""What a sweep costs beyond its simulation: processor time, memory, figures, and after a kill.

Usage: .venv/bin/python benches/sweep.py [--runs N]. Processor times, so that a busy machine changes little; the
wall time of `jobs` needs a quiet one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import aqmlab
from aqmlab.results.frames import FRAMES, coded
from aqmlab.store import record

# The command, which reports its largest memory (kB) as the last line on standard error: what the system tells of it has
# that of its parent in it.
COMMAND = (
    sys.executable,
    "-c",
    """
import atexit, re, signal, sys

@atexit.register
def peak():
    with open("/proc/self/status") as status:
        print(re.search("VmHWM: *([0-9]+)", status.read().replace(chr(9), " "))[1], file=sys.stderr)

signal.signal(2, signal.default_int_handler)
if sys.argv[1:2] == ["--timed"]:
    del sys.argv[1]
    import functools, time
    from aqmlab.store import seal

    spent, inside = 0.0, 0

    def timed(function):
        @functools.wraps(function)
        def wrapper(*arguments):
            global spent, inside
            started, inside = time.thread_time(), inside + 1
            try:
                return function(*arguments)
            finally:
                inside -= 1
                # One of them uses another.
                spent += 0.0 if inside else time.thread_time() - started
        return wrapper

    for name in ("digest", "sealed", "unsealed"):
        setattr(seal, name, timed(getattr(seal, name)))
    atexit.register(lambda: print(spent, file=sys.stderr))
from aqmlab.cli import main
main()
""",
)
# The same, and how much of its processor time the checksums of the folder take, as the line before.
TIMED = (*COMMAND, "--timed")
SPACE = ("--sweep", "target=1ms..20ms*5", "--sweep", "rtt=10ms,40ms,160ms", "--sweep", "load=1,5,20")
QUESTION = (
    *("sweep", *SPACE, "--rate", "10mbit", "--flows", "$load*cubic", "--duration", "10s", "--seeds", "3"),
    *("--aqm", "codel target $target", "--aqm", "pie target $target"),
)
HUNDRED = (
    *("compare", "--rate", "100mbit", "--rtt", "40ms", "--flows", "10*cubic", "--aqm", "fifo,codel"),
    *("--duration", "20s", "--seeds", "50"),
)


@dataclass(frozen=True)
class Cost:
    """Processor and wall time of a command, seconds, its largest memory, bytes, and what checksums took, if timed."""

    cpu_s: float
    wall_s: float
    peak_bytes: int
    checksums_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description="What a sweep costs beyond its simulation.")
    parser.add_argument("--runs", type=int, default=10_000, help="runs of the large sweep: 800, 1200, ...")
    runs = parser.parse_args().runs
    if runs < 800 or runs % 400:
        parser.error(f"--runs: {runs} is not a multiple of 400 from 800 on")
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        question(place / "question")
        hundred(place / "hundred")
        many(place / "many", runs)


def question(out: Path) -> None:
    cost = run(*QUESTION, "--out", out)
    simulated = simulated_s(out)
    print("45 points x 2 AQMs x 3 seeds of 10 s, figure and page")
    print(f"  simulation {simulated:.2f} CPU-s, whole command {cost.cpu_s:.2f}: {cost.cpu_s / simulated:.2f} times")


def hundred(out: Path) -> None:
    for more in ((), ("--no-report",)):
        shutil.rmtree(out, ignore_errors=True)
        cost = run(*HUNDRED, "--out", out, "--jobs", "2", *more)
        ideal = simulated_s(out) / 2
        own = cost.cpu_s - 2 * ideal
        print(f"100 runs of 20 s at 100 Mbit/s, --jobs 2 {' '.join(more)}")
        print(f"  simulation {2 * ideal:.2f} CPU-s, {ideal:.2f} on each of two cores; all else {own:.2f} CPU-s")
        print(f"  wall time {cost.wall_s:.2f} s: {cost.wall_s / ideal:.2f} times (on a quiet machine)")


def many(out: Path, runs: int) -> None:
    large = (
        *("sweep", "--sweep", f"target=1ms..20ms*{runs // 400}", "--sweep", "rtt=10ms..200ms*20", "--rate", "10mbit"),
        *(
            "--aqm",
            "codel target $target",
            "--aqm",
            "pie target $target",
            "--duration",
            "1s",
            "--seeds",
            "10",
            "--no-size-check",
        ),
        *("--no-report", "--jobs", "2"),
    )
    one = ("compare", "--rate", "10mbit", "--rtt", "10ms", "--aqm", "codel", "--duration", "1s", "--seeds", "1")
    small = run(*one, "--no-report", "--out", out.with_name("one"))
    cost = run(*large, "--out", out, command=TIMED)
    result = aqmlab.load(out)
    count = len(result.runs)
    # As the command has them.
    held = replace(result.frames, series=coded(result.frames.series))
    columns = sum(getattr(held, name).estimated_size() for name in FRAMES)
    simulated = simulated_s(out)
    print(f"{count} runs of 1 s, --no-report")
    more_ms = (cost.cpu_s - simulated) / count * 1e3
    print(f"  simulation {simulated:.2f} CPU-s, whole command {cost.cpu_s:.2f}: {more_ms:.2f} ms more a run")
    print(f"  checksums {cost.checksums_s:.3f} CPU-s: {cost.checksums_s / cost.cpu_s:.2%} of the whole command")
    beyond = (cost.peak_bytes - small.peak_bytes - columns) / count
    print(f"  memory: columns {columns / count / 1e3:.0f} kB a run, beyond them {beyond / 1e3:.0f} kB")
    for how in (signal.SIGINT, signal.SIGKILL):
        again = out.with_name(how.name)
        process = subprocess.Popen(
            [*COMMAND, *large, "--quiet", "--out", str(again)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and finished(again) < count // 2:
            time.sleep(0.2)
        process.send_signal(how)
        process.wait()
        kept = len(aqmlab.load(again).runs)
        rest = run(*large, "--out", again)
        same = all(
            (out / f"{name}.parquet").read_bytes() == (again / f"{name}.parquet").read_bytes() for name in FRAMES[1:]
        )
        ending = "the same bytes" if same else "OTHER BYTES"
        print(f"  {how.name} after {kept} runs: {rest.cpu_s:.2f} CPU-s for the rest, {ending}")


def finished(out: Path) -> int:
    """Return how many runs a folder has that is being written."""
    return sum(path.read_bytes().count(record.MAGIC) for path in out.glob("records/*.run"))


def run(*arguments: object, command: Sequence[str] = COMMAND) -> Cost:
    """Run a command to its end."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*command, *map(str, arguments), "--quiet"], stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        errors.seek(0)
        lines = errors.read().splitlines()
    if status:
        sys.exit("\n".join([*lines, f"{' '.join(map(str, arguments))}: status {status}"]))
    checksums_s = float(lines[-2]) if command is TIMED else 0.0
    return Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - started, int(lines[-1]) * 1024, checksums_s)


def simulated_s(out: Path) -> float:
    """The processor time of the simulation alone; a run that answers several scenarios counts once."""
    return float(aqmlab.load(out).runs.unique("key")["cpu_s"].sum())


if __name__ == "__main__":
    main()
