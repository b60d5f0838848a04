"""Runs tasks in parallel; the results have the same order with any number of jobs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from aqmlab import machine
from aqmlab.engine import DEFAULT, Engine, Monitor, Report, Run, Task, find
from aqmlab.errors import Cancelled, CheckError

POLL_S = 0.1
# Tasks queued for each thread, so that none is idle while this one is busy.
AHEAD = 2


@dataclass(frozen=True)
class Done:
    """A finished run."""

    run: Run
    report: Report


@dataclass
class Outcome:
    """The finished runs in the order of the tasks, failed checks, and whether all tasks are done."""

    done: list[Done] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False


@dataclass(frozen=True)
class Progress:
    """The progress of the runs."""

    finished: int
    total: int
    simulated_s: float
    total_s: float


def default_jobs() -> int:
    """Return the default number of parallel runs: one per core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def execute(
    tasks: Sequence[Task],
    jobs: int,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    on_done: Callable[[Done], None] = lambda done: None,
    engine: Engine | None = None,
) -> Outcome:
    """Run the tasks. An interrupt (Ctrl-C) stops current runs and keeps finished ones.

    A run that breaks one of its own checks is recorded, and the others continue.

    Args:
        tasks: the runs to make.
        jobs: number of parallel runs.
        on_progress: is called now and then with the progress.
        on_done: is called with each run as soon as it is finished, in the thread that ran it.
        engine: the engine; the simulator unless given.

    Raises:
        InputError: if an engine refuses its input.
        MachineError: if the memory is nearly used up.
        Exception: what ``on_done`` raises; all other runs are then stopped.

    """
    batch = _Batch(tasks, on_done, engine or find(DEFAULT))
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="aqmlab") as pool:
        try:
            batch.run(pool, jobs * AHEAD, on_progress)
        except KeyboardInterrupt:
            batch.stop(pool)
            return batch.outcome(interrupted=True)
        except BaseException:
            batch.stop(pool)
            raise
    return batch.outcome()


class _Batch:
    """The tasks in progress. The cost per task does not depend on how many there are."""

    def __init__(self, tasks: Sequence[Task], on_done: Callable[[Done], None], engine: Engine) -> None:
        self._tasks = tasks
        self._on_done = on_done
        self._engine = engine
        self._done: dict[int, Done] = {}
        self._failures: dict[int, str] = {}
        self._running: dict[Future[None], tuple[int, Monitor]] = {}
        self._finished_ns = 0

    def run(self, pool: ThreadPoolExecutor, most: int, on_progress: Callable[[Progress], None]) -> None:
        self._engine.prepare(self._tasks)
        total_s = sum(task.scenario.duration_ns for task in self._tasks) / 1e9
        waiting = iter(enumerate(self._tasks))
        told = time.monotonic()
        while True:
            while len(self._running) < most and (following := next(waiting, None)) is not None:
                monitor = self._engine.monitor()
                future = pool.submit(self._one, *following, monitor)
                self._running[future] = (following[0], monitor)
            if not self._running:
                return
            finished, _ = wait(self._running, timeout=POLL_S, return_when=FIRST_COMPLETED)
            for future in finished:
                place, _ = self._running.pop(future)
                self._finished_ns += self._tasks[place].scenario.duration_ns
                future.result()
            machine.check_memory()
            if not self._running or time.monotonic() - told >= POLL_S:
                told = time.monotonic()
                reached_ns = self._finished_ns + sum(monitor.reached_ns for _, monitor in self._running.values())
                count = len(self._done) + len(self._failures)
                on_progress(Progress(count, len(self._tasks), reached_ns / 1e9, total_s))

    def stop(self, pool: ThreadPoolExecutor) -> None:
        for _, monitor in self._running.values():
            monitor.cancel()
        pool.shutdown(wait=True, cancel_futures=True)

    def outcome(self, *, interrupted: bool = False) -> Outcome:
        done = [self._done[place] for place in sorted(self._done)]
        return Outcome(done, [self._failures[place] for place in sorted(self._failures)], interrupted)

    def _one(self, place: int, task: Task, monitor: Monitor) -> None:
        try:
            done = Done(task, self._engine.run(task, monitor))
        except Cancelled:
            return
        except CheckError as error:
            self._failures[place] = f"{task.aqm}, seed {task.seed}: {error}"
            return
        self._on_done(done)
        self._done[place] = done
