"""From options to a result: resolve, run what is missing, keep what is finished."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab import _native, engine, runner, scenario, shipped
from aqmlab.engine import Task
from aqmlab.errors import InputError
from aqmlab.results import store
from aqmlab.results.frames import Frames, from_runs, metric_names
from aqmlab.results.model import FORMAT_VERSION, Result
from aqmlab.runner import Done, Progress
from aqmlab.scenario import Experiment, Plan


class Watcher:
    """Is told how an experiment goes; does nothing by itself."""

    def on_begin(self, what: str) -> None:
        """One of several experiments begins."""

    def on_plan(self, tasks: int, found: int) -> None:
        """Everything is resolved; so many runs are to be made, so many were found finished."""

    def on_progress(self, progress: Progress) -> None:
        """Some time has passed or a run has finished."""


def compare(
    *,
    aqm: str | Sequence[str],
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    allow_unequal_buffers: bool = False,
    title: str = "",
    **options: Any,
) -> Result:
    """Compare queue disciplines on one bottleneck, over seeds.

    Quantities are text with their unit in tc's notation; times may be `datetime.timedelta`.

    Args:
        aqm: one discipline or several, as ``"pie target 15ms ecn"``; the first is what the others are compared with.
        jobs: runs in parallel; one per core unless given. The result does not depend on it.
        out: folder to write the result into, with figures and report; nothing is written unless given.
        allow_unequal_buffers: compare although the AQMs' limits differ.
        title: what the report is called; it names the AQMs unless given.
        options: ``rate``, ``rtt``, ``buffer``, ``flows``, ``link_trace``, ``capture``, ``overhead``,
            ``device_ring``, ``access_rate``, ``loss``, ``jitter``, ``duration``, ``warmup``, ``seeds``.

    Raises:
        InputError: naming the option, its value and what is allowed.
        CheckError: if a run broke one of its own checks.

    >>> r = compare(rate="10mbit", rtt="40ms", aqm=["fifo", "codel"], duration="2s", seeds=2)
    >>> r.aqms, len(r.runs)
    (['fifo', 'codel'], 4)

    """
    values = {"aqm": aqm, **options}
    chosen = scenario.from_values(values, allow_unequal_buffers=allow_unequal_buffers)
    experiment = Experiment(title, (chosen,))
    return _checked(conduct(experiment, "compare", jobs, None if out is None else Path(out)))


def run(
    path: str | os.PathLike[str],
    *,
    seeds: int | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Result:
    """Run an experiment file, or one that comes with aqmlab by its name; the arguments replace what it says.

    Raises:
        InputError: naming file, key, value and what is allowed.
        CheckError: if a run broke one of its own checks.

    """
    experiment = scenario.load(shipped.find(path), {} if seeds is None else {"seeds": str(seeds)})
    return _checked(conduct(experiment, "run", jobs, None if out is None else Path(out)))


def load(folder: str | os.PathLike[str]) -> Result:
    """Read a result folder.

    Raises:
        InputError: if it is not one, is damaged, or was written by a newer version.

    """
    return store.load(folder)


def conduct(
    experiment: Experiment,
    command: str,
    jobs: int | None = None,
    folder: Path | None = None,
    watcher: Watcher | None = None,
    *,
    with_report: bool = True,
) -> Result:
    """Run an experiment. Finished runs that the folder holds are not repeated; figures and report take seconds.

    The result is partial if the user interrupted or a run failed its checks; its manifest says which.
    """
    watcher = watcher or Watcher()
    jobs = runner.default_jobs() if jobs is None else jobs
    if jobs < 1:
        raise InputError(f"jobs: '{jobs}' is out of range: allowed is 1 or more")
    plans = [scenario.resolve(options) for options in experiment.points]
    manifest = _manifest(experiment, command, plans)
    earlier = store.resume(folder, manifest["digest"]) if folder else None
    finished = set(earlier.runs["key"]) if earlier else set()
    everything = _tasks(plans)
    tasks = [task for task in everything if task.key not in finished]
    watcher.on_plan(len(tasks), len(everything) - len(tasks))
    if earlier and not tasks and not earlier.is_partial:
        return earlier

    def result_of(done: Sequence[Done], failures: Sequence[str]) -> Result:
        frames = from_runs(done)
        if earlier:
            frames = earlier.frames.joined(frames)
        frames = frames.sorted([contestant.label for contestant in plans[0].contestants])
        return Result(_concluded(manifest, plans, frames, len(everything), failures), frames, folder)

    outcome = runner.execute(tasks, jobs, watcher.on_progress)
    if not outcome.done and not earlier:
        if outcome.interrupted:
            raise KeyboardInterrupt
        raise _native.CheckError("; ".join(outcome.failures))
    result = result_of(outcome.done, outcome.failures)
    if folder:
        store.write(result, folder, with_report)
    return result


def _tasks(plans: Sequence[Plan]) -> list[Task]:
    return [
        Task(
            point=point,
            aqm=contestant.label,
            seed=seed,
            scenario=plan.engine(contestant),
            duration_ns=plan.base["duration_ns"],
            key=plan.key(contestant, seed, code_version()),
            inputs=plan.inputs,
        )
        for point, plan in enumerate(plans)
        for contestant in plan.contestants
        for seed in plan.seeds
    ]


def code_version() -> str:
    """Return what decides results besides the input."""
    return engine.find(engine.DEFAULT).version


def _manifest(experiment: Experiment, command: str, plans: Sequence[Plan]) -> dict[str, Any]:
    keys = [task.key for task in _tasks(plans)]
    return {
        "format_version": FORMAT_VERSION,
        "command": command,
        "title": experiment.title or _title([contestant.label for contestant in plans[0].contestants]),
        "aqmlab": _native.version(),
        "code": code_version(),
        "build": json.loads(_native.build_info()),
        "created": datetime.now().astimezone().isoformat(timespec="seconds"),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "digest": hashlib.sha256("\0".join(keys).encode()).hexdigest(),
        "points": [
            {"point": dict(options.point), "scenario": plan.echo, "files": plan.files}
            for options, plan in zip(experiment.points, plans, strict=True)
        ],
    }


def _title(aqms: Sequence[str]) -> str:
    return aqms[0] if len(aqms) == 1 else f"{', '.join(aqms[:-1])} and {aqms[-1]} compared"


def _concluded(
    manifest: dict[str, Any], plans: Sequence[Plan], frames: Frames, expected: int, failures: Sequence[str]
) -> dict[str, Any]:
    finished = len(frames.runs)
    warnings = [warning for plan in plans for warning in plan.warnings]
    warnings += _run_warnings(frames, [contestant.label for contestant in plans[0].contestants])
    warnings += _same_runs(frames)
    if finished < expected:
        warnings.insert(0, f"partial result: {finished} of {expected} runs are finished")
    return {
        **manifest,
        "partial": finished < expected,
        "runs_expected": expected,
        "runs_finished": finished,
        "failures": list(failures),
        "warnings": list(dict.fromkeys(warnings)),
    }


def _run_warnings(frames: Frames, aqms: Sequence[str]) -> list[str]:
    """Each text once, with the AQMs that it is about unless it is about all."""
    about: dict[str, list[str]] = {}
    for aqm, texts in frames.runs.select("aqm", "warnings").iter_rows():
        for text in texts or ():
            if aqm not in about.setdefault(text, []):
                about[text].append(aqm)
    return [text if set(names) == set(aqms) else f"{', '.join(names)}: {text}" for text, names in about.items()]


def _same_runs(frames: Frames) -> list[str]:
    """Say so where the seeds change nothing: an interval of zero would look like certainty."""
    names = metric_names(frames.runs)
    per_aqm = frames.runs.group_by("point", "aqm").agg(pl.len().alias("n"), pl.col(names).n_unique())
    same = per_aqm.filter((pl.col("n") > 1) & pl.all_horizontal(pl.col(names) == 1))
    if same.is_empty():
        return []
    aqms = [aqm for aqm in frames.runs["aqm"].unique(maintain_order=True) if aqm in same["aqm"]]
    return [f"{', '.join(aqms)}: every seed gave the same run, since nothing is random; intervals of zero say nothing"]


def _checked(result: Result) -> Result:
    failures = result.manifest["failures"]
    if failures:
        raise _native.CheckError("; ".join(failures))
    return result


__all__ = ["Watcher", "compare", "conduct", "load", "run"]
