"""Random cases over all surfaces: each step must do what it says or be refused in one line.

    python tests/soak/surfaces.py [--runs 2000] [--seed 1] [--jobs N] [--only NUMBER] [--log FILE]

A case is a few files and steps (`cases.py`): commands and environments, in a process that says what is next, each case
in a folder of its own. A step ends well if its status is 0 and its results stand, or if it is refused: status 2, one
line. Found is all else: a traceback, an abort, a hang, status 0 with nothing done, a ratio that is none, parts of a
sweep that are not the whole. The status is 1 if anything was found; `--only` repeats a case and shows its folder.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import queue
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from cases import Case, Grammar
from commands import MOST_BYTES, finding, tried
from soak import SHARES, examples

import aqmlab
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.metrics import split

# Cases of a worker before another takes its place.
CHUNK = 50
# Nothing that a case does takes so long, even on a busy machine: after it, the worker is stopped.
MOST_SECONDS = 300.0
# What is answered with status 1: a discipline that fails conformance tests or its own traits, and parts that are not
# the whole.
ANSWERS = ("conformance tests failed", "is not complete; the whole command", "declares reorders_within_flow")
RESULTS = ("compare", "sweep", "run", "merge")
SHARE_ENDINGS = (*SHARES, "jain_index", "accuracy", "precision", "recall", "_f1", "_ppv", "_tnr", "_npv")


def cases(count: int, seed: int, folder: Path) -> Iterator[Case]:
    """Return so many cases; the same for the same seed."""
    scenarios = list(examples(max(count, 20), seed, folder))
    grammar = Grammar(random.Random(seed), [{**one, "seeds": "1"} for one in scenarios])
    return (grammar.case() for _ in range(count))


def outcome(case: Case) -> tuple[str, str]:
    """Take the steps of a case in the working directory; answer what came of it, and the message."""
    for name, text in case.files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    taken: list[list[str]] = []
    for words in case.steps:
        kind, message = (
            _environment(json.loads(words[1])) if words[0] == "environment" else _step(words, words in taken)
        )
        if kind != "done":
            return kind, f"{words}: {message}"
        taken.append(words)
    return ("done", "") if case.surface != "merge" else _merged()


def _step(words: list[str], again: bool) -> tuple[str, str]:
    """Run a command and look at what it made."""
    before = _files()
    ended = tried(words)
    if ended.status == 2 and not finding(ended):
        return "refused", ended.errors.strip()
    if ended.status == 1 and any(answer in ended.errors for answer in ANSWERS):
        return "refused", ended.errors.strip()
    if problem := finding(ended) or (f"status {ended.status}" if ended.status else ""):
        return problem, ended.errors[-3000:]
    after = _files()
    if not again and after == before and not ended.output.strip():
        return "nothing done", ended.errors
    if words[0] in RESULTS:
        for place in sorted({Path(name).parent for name in after if Path(name).name == "manifest.json"}):
            if problem := _not_a_result(place):
                return "not a result", f"{place}: {problem}"
    for name in {name for name in after if name.endswith(".json") and after[name] != before.get(name)}:
        json.loads(Path(name).read_text(), parse_constant=_no_number)
    return "done", ""


def _files() -> dict[str, tuple[int, int]]:
    """Return the files here, with what tells that one was written."""
    found = {}
    for path in Path().rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            if path.is_file():
                found[str(path)] = (path.stat().st_mtime_ns, path.stat().st_size)
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} in JSON")


def _not_a_result(folder: Path) -> str:
    """Return what is wrong with a result folder; nothing if it is as it should be."""
    result = aqmlab.load(folder)
    # A part of few runs may have none.
    if result.runs.is_empty() and not folder.name.startswith("part"):
        return "no runs"
    for frame in (result.runs, result.flows, result.queues):
        for name, column in frame.to_dict().items():
            metric = split(name)[1]
            # FlowMonitor's reader counts each drop twice.
            is_share = metric.endswith(SHARE_ENDINGS) and not metric.startswith("flowmon") and column.dtype.is_float()
            if is_share and not column.drop_nulls().is_between(-1e-9, 1 + 1e-9).all():
                return f"{name} is {column.max()}"
            if column.dtype == pl.Float64 and column.is_nan().any():
                return f"{name} is not a number"
    return ""


def _merged() -> tuple[str, str]:
    """Look whether the parts of a sweep are the whole."""
    merged, whole = aqmlab.load("merged"), aqmlab.load("out")
    for name in ("runs", "flows", "queues"):
        # What a run cost differs.
        parts, one = (getattr(of, name).drop("cpu_s", strict=False) for of in (merged, whole))
        if not parts.equals(one):
            return "merged differs", name
    return "done", ""


def _environment(settings: dict[str, Any]) -> tuple[str, str]:
    """Let an agent act by chance."""
    from aqmlab.environments import DropsEnv, ParametersEnv

    chance, wrong = np.random.default_rng(settings["seed"]), "".join(settings["wrong"])
    try:
        if settings["kind"] == "parameters":
            env: Any = ParametersEnv(settings["aqm"], interval=settings["interval"], **settings["options"])
        else:
            env = DropsEnv(settings["interval"], **settings["options"])
        if wrong == "early":
            env.step(env.action_space.sample())
            return "not refused", "a step before reset"
        env.action_space.seed(settings["seed"])
        env.reset(seed=settings["seed"])
        for number in range(settings["steps"]):
            action = env.action_space.sample()
            if wrong and number == settings["steps"] // 2:
                shape = getattr(env.action_space, "shape", None) or ()
                bad = {
                    "nan": np.full(shape, np.nan),
                    "shape": np.zeros((7, 3)),
                    "text": "text",
                    "outside": np.full(shape, 2.0),
                }
                action = bad.get(wrong, action)
            seen, pay, _, over, _ = env.step(action)
            if not env.observation_space.contains(seen) or not np.isfinite(pay):
                return "not seen", f"{seen} {pay}"
            if wrong in ("nan", "shape", "text", "outside") and number == settings["steps"] // 2:
                return "not refused", f"action {action}"
            if over and wrong == "late":
                env.step(env.action_space.sample())
                return "not refused", "a step after the end"
            if over or chance.random() < 0.01:
                env.reset()
    except InputError as error:
        text = str(error)
        return ("refused", text) if text and "\n" not in text else ("more than one line", text)
    return "done", ""


def work(count: int, seed: int, only: int | None) -> None:
    """Take cases; what is next and what came of it are lines of JSON on standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    with tempfile.TemporaryDirectory() if only is None else contextlib.nullcontext(tempfile.mkdtemp()) as folder:
        os.chdir(folder)
        for number, case in enumerate(cases(count, seed, Path(folder))):
            if only is not None and number != only:
                continue
            print(json.dumps({"next": case.as_json(), "place": [seed, number]}), flush=True)
            here = Path(folder) / str(number)
            here.mkdir()
            os.chdir(here)
            started = time.process_time()
            try:
                kind, message = outcome(case)
            except BaseException:
                kind, message = "traceback", traceback.format_exc()
            took = time.process_time() - started
            event = {"kind": kind, "message": message, "seconds": round(took, 2), "surface": case.surface}
            print(json.dumps(event), flush=True)
            os.chdir(folder)
            if only is None:
                subprocess.run(["rm", "-rf", str(here)], check=True)
            else:
                print(here, file=sys.stderr)


def supervise(count: int, seed: int) -> list[dict[str, Any]]:
    """Run workers to the end of a chunk, and answer their output, aborts and hangs included."""
    found: list[dict[str, Any]] = []
    command = [sys.executable, __file__, "--work", str(count), "--seed", str(seed)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as worker,
    ):
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_listen, args=(worker.stdout, lines), daemon=True).start()
        case, place, kind = "", None, "abort"
        while True:
            try:
                line = lines.get(timeout=MOST_SECONDS)
            except queue.Empty:
                kind = "hang"
                worker.kill()
                break
            if not line:
                break
            one = json.loads(line)
            if "next" in one:
                case, place = one["next"], one["place"]
            else:
                found.append({**one, "case": case, "place": place})
                case = ""
        worker.wait()
        if case or worker.returncode:
            errors.seek(0)
            surface = json.loads(case)["surface"] if case else "none"
            found.append(
                {"kind": kind, "message": errors.read()[-3000:], "case": case, "place": place, "surface": surface}
            )
    return found


def _listen(stream: Any, lines: queue.Queue[str]) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")


def main() -> int:
    """Supervise workers and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--log", type=Path, help="every case and what came of it, as lines of JSON")
    parser.add_argument(
        "--only", type=int, metavar="NUMBER", help="the one case of this number of the chunk of the seed"
    )
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None or options.only is not None:
        work(options.work or CHUNK, options.seed, options.only)
        return 0
    chunks = [min(CHUNK, options.runs - start) for start in range(0, options.runs, CHUNK)]
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    started = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        tasks = [pool.submit(supervise, size, options.seed * 100_000 + number) for number, size in enumerate(chunks)]
        for task in tasks:
            for one in task.result():
                counts[one["surface"], one["kind"]] += 1
                if options.log:
                    with options.log.open("a") as log:
                        log.write(json.dumps(one) + "\n")
                if one["kind"] not in ("done", "refused"):
                    print(f"{one['kind']} at {one['place']}: {one['message']}\n  {one['case']}", flush=True)
    for surface in sorted({surface for surface, _ in counts}):
        kinds = {kind: number for (of, kind), number in sorted(counts.items()) if of == surface}
        print(f"{surface}: " + ", ".join(f"{number} {kind}" for kind, number in kinds.items()))
    kinds = collections.Counter[str]()
    for (_, kind), number in counts.items():
        kinds[kind] += number
    total = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    print(f"{sum(kinds.values())} cases in {time.monotonic() - started:.0f} s: {total}")
    return 0 if set(kinds) <= {"done", "refused"} else 1


if __name__ == "__main__":
    sys.exit(main())
