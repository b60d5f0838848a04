"""Random scenarios, one after another: none may fail its own checks, panic, abort or hang.

    python tests/soak/soak.py [--runs 8000] [--seed 1] [--jobs N] [--seconds 20] [--flows KIND,...] [--log FILE]

Each worker is a process that gets a place to begin; it reports each run before it starts, so that an abort names its
scenario. Invalid scenarios count apart: they must be refused in one line. The status is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from scenarios import CAPTURE, LINK_TRACE, scenarios

from aqmlab import _native
from aqmlab.scenario import inputs
from aqmlab.scenario.kinds import KINDS
from aqmlab.scenario.options import from_values
from aqmlab.scenario.resolve import resolve
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.metrics import METRICS

# Link traces that are harder than recorded ones: rare, all at once, at every millisecond, one alone.
TRACES = {
    "rare": "500\n2000\n",
    "bursts": "\n".join(["10"] * 50 + ["300"] * 5 + ["1000"]) + "\n",
    "steady": "\n".join(str(ms) for ms in range(1, 101)) + "\n",
    "alone": "1\n",
}
# Runs of a worker before another takes its place: what one leaves in memory does not matter.
CHUNK = 250
# Metrics that are parts of a whole.
SHARES = {metric.name for metric in METRICS if metric.is_share}


def outcome(options: dict[str, Any], seconds: float) -> tuple[str, str]:
    """Run one scenario; answer `passed`, `refused` or what was found, and the message."""
    try:
        plan = resolve(from_values(options))
    except InputError as error:
        text = str(error)
        return ("refused", text) if text and "\n" not in text else ("more than one line", text)
    (scenario,) = plan.scenarios.values()
    monitor = _native.Monitor()
    ended = threading.Event()
    threading.Thread(target=_stop_after, args=(seconds, monitor, ended), daemon=True).start()
    try:
        run = _native.run(scenario.json, plan.inputs, plan.seeds[0], monitor)
    except _native.CheckError as error:
        return "false alarm", str(error)
    except (InputError, ValueError) as error:
        return "refused", str(error)
    except _native.Cancelled:
        return "hang", f"{seconds:g} s of work were not enough"
    finally:
        ended.set()
    shares = {name: value for name, value in run.metrics.items() if name.rpartition(".")[2] in SHARES}
    wrong = {name: value for name, value in shares.items() if not -1e-9 <= value <= 1.0 + 1e-9}
    return ("share", str(wrong)) if wrong else ("passed", "")


def _stop_after(seconds: float, monitor: _native.Monitor, ended: threading.Event) -> None:
    """Cancel a run after so many seconds of work, whatever else the machine does meanwhile."""
    before = time.process_time()
    while not ended.wait(0.2):
        if time.process_time() - before > seconds:
            monitor.cancel()
            return


def examples(
    count: int, seed: int, folder: Path, kinds: tuple[str, ...] = tuple(sorted(KINDS))
) -> Iterator[dict[str, Any]]:
    """Return so many scenarios; the same for the same seed."""
    for name, text in TRACES.items():
        (folder / f"{name}.trace").write_text(text)
    traces = tuple(str(folder / f"{name}.trace") for name in TRACES)
    found: list[dict[str, Any]] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(scenarios(traces, kinds))
    def collect(options: dict[str, Any]) -> None:
        found.append(options)

    collect()
    return iter(found)


def work(count: int, seed: int, seconds: float, kinds: tuple[str, ...]) -> None:
    """Run scenarios; what is to be run and what came of it are lines of JSON on standard output."""
    kept = (inputs.capture(CAPTURE), inputs.link_trace(LINK_TRACE))
    with tempfile.TemporaryDirectory() as folder:
        for options in examples(count, seed, Path(folder), kinds):
            print(json.dumps({"next": options}), flush=True)
            started = time.monotonic()
            try:
                kind, message = outcome(options, seconds)
            except Exception as error:
                kind, message = "traceback", f"{type(error).__name__}: {error}"
            took = time.monotonic() - started
            print(json.dumps({"kind": kind, "message": message, "seconds": round(took, 3)}), flush=True)
    del kept


def supervise(count: int, seed: int, seconds: float, kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    """Run a worker to its end, and answer its output, an abort included."""
    command = [sys.executable, __file__, "--work", str(count), "--seed", str(seed), "--seconds", str(seconds)]
    command += ["--flows", ",".join(kinds)]
    # A run that cannot even be cancelled is stopped from outside.
    limit = count * 10.0 + 10 * seconds
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        output, status, complaint = done.stdout, done.returncode, done.stderr[-2000:]
    except subprocess.TimeoutExpired as error:
        output = error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ""
        status, complaint = -1, f"stopped after {limit:g} s"
    found: list[dict[str, Any]] = []
    options = None
    for line in output.splitlines():
        event = json.loads(line)
        if "next" in event:
            options = event["next"]
        else:
            found.append({**event, "options": options})
            options = None
    if status != 0 or options is not None:
        kind = "hang" if "stopped after" in complaint else "abort"
        found.append({"kind": kind, "message": complaint, "seconds": 0.0, "options": options})
    return found


def main() -> int:
    """Supervise workers and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=20.0, help="processor time that a run may take")
    parser.add_argument("--flows", default=",".join(sorted(KINDS)), help="kinds of flow to choose from")
    parser.add_argument("--log", type=Path, help="every scenario and what came of it, as lines of JSON")
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    kinds = tuple(options.flows.split(","))
    if options.work is not None:
        work(options.work, options.seed, options.seconds, kinds)
        return 0
    chunks = [min(CHUNK, options.runs - start) for start in range(0, options.runs, CHUNK)]
    counts: collections.Counter[str] = collections.Counter()
    started = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        tasks = [
            pool.submit(supervise, size, options.seed * 100_000 + number, options.seconds, kinds)
            for number, size in enumerate(chunks)
        ]
        for task in tasks:
            for one in task.result():
                counts[one["kind"]] += 1
                if options.log:
                    with options.log.open("a") as log:
                        log.write(json.dumps(one) + "\n")
                if one["kind"] not in ("passed", "refused"):
                    print(f"{one['kind']}: {one['message']}\n  {json.dumps(one['options'])}", flush=True)
    total = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
    print(f"{sum(counts.values())} scenarios in {time.monotonic() - started:.0f} s: {total}")
    return 0 if set(counts) <= {"passed", "refused"} else 1


if __name__ == "__main__":
    sys.exit(main())
