"""Runs the simulator over AQMs and seeds in parallel, and answers in the same order whatever the number of jobs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from aqmlab._native import Cancelled, CheckError, InputError, Monitor, Run
from aqmlab._native import run as native_run

POLL_S = 0.1


@dataclass(frozen=True)
class Task:
    """One run: which scenario (point), AQM and seed, and what the simulator gets."""

    point: int
    aqm: str
    seed: int
    scenario: str
    duration_ns: int
    key: str


@dataclass(frozen=True)
class Done:
    """A finished run and the processor time that it took."""

    task: Task
    run: Run
    cpu_s: float


@dataclass
class Outcome:
    """What came of the tasks: finished runs in the order of the tasks, failed checks, and whether it is all."""

    done: list[Done] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False


@dataclass(frozen=True)
class Progress:
    """How far the runs are."""

    finished: int
    total: int
    simulated_s: float
    total_s: float


def default_jobs() -> int:
    """Return how many runs go in parallel unless said otherwise: one per core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def execute(
    tasks: Sequence[Task],
    jobs: int,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    on_done: Callable[[Sequence[Done]], None] = lambda done: None,
) -> Outcome:
    """Run the tasks. An interrupt (Ctrl-C) stops what runs and keeps what is finished.

    A run that breaks one of its own checks is recorded and the others go on.

    Raises:
        InputError: if a run refuses its input; nothing else is kept then.

    """
    outcome = Outcome()
    monitors = [Monitor() for _ in tasks]
    total_s = sum(task.duration_ns for task in tasks) / 1e9
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="aqmlab") as pool:
        futures = {pool.submit(_one, task, monitor): task for task, monitor in zip(tasks, monitors, strict=True)}
        try:
            pending = set(futures)
            while pending:
                finished, pending = wait(pending, timeout=POLL_S, return_when=FIRST_COMPLETED)
                simulated_s = sum(monitor.reached_ns for monitor in monitors) / 1e9
                on_progress(Progress(len(tasks) - len(pending), len(tasks), simulated_s, total_s))
                refused = next((f for f in finished if isinstance(f.exception(), InputError)), None)
                if refused is not None:
                    refused.result()
                if finished:
                    on_done(_collect(futures).done)
        except KeyboardInterrupt:
            outcome.interrupted = True
            _stop(monitors, pool)
        except BaseException:
            _stop(monitors, pool)
            raise
    collected = _collect(futures)
    collected.interrupted = outcome.interrupted
    return collected


def _one(task: Task, monitor: Monitor) -> Done:
    before = time.thread_time()
    run = native_run(task.scenario, task.seed, monitor)
    return Done(task, run, time.thread_time() - before)


def _stop(monitors: Sequence[Monitor], pool: ThreadPoolExecutor) -> None:
    for monitor in monitors:
        monitor.cancel()
    pool.shutdown(wait=True, cancel_futures=True)


def _collect(futures: Mapping[Future[Done], Task]) -> Outcome:
    """Sort what is there by the order of the tasks, which is the order of the mapping."""
    outcome = Outcome()
    for future, task in futures.items():
        if not future.done() or future.cancelled():
            continue
        error = future.exception()
        if error is None:
            outcome.done.append(future.result())
        elif isinstance(error, CheckError):
            outcome.failures.append(f"{task.aqm}, seed {task.seed}: {error}")
        elif not isinstance(error, Cancelled):
            raise error
    return outcome
