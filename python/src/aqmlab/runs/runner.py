"""Runs tasks in parallel; the results have the same order with any workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from aqmlab.engine import DEFAULT, Engine, Report, Run, Task, find
from aqmlab.files import machine
from aqmlab.runs.workers import Workers
from aqmlab.vocabulary.errors import Cancelled, CheckError, MachineError

POLL_S = 0.1


@dataclass(frozen=True)
class FinishedRun:
    """A finished run."""

    run: Run
    report: Report


@dataclass
class Outcome:
    """The finished runs in the order of the tasks, failed checks, and whether all tasks are done."""

    done: list[FinishedRun] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False


@dataclass(frozen=True)
class Progress:
    """The progress of the runs."""

    finished: int
    total: int
    simulated_s: float
    total_s: float


def execute(
    tasks: Sequence[Task],
    workers: Workers,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    on_done: Callable[[FinishedRun], None] = lambda done: None,
    engine: Engine | None = None,
) -> Outcome:
    """Run the tasks. An interrupt (Ctrl-C) stops current runs and keeps finished ones.

    A run that breaks one of its own checks is recorded, and the others continue.

    Args:
        tasks: the runs to make.
        workers: who makes them; stopped at the end.
        on_progress: is called now and then with the progress.
        on_done: is called with each run as soon as it is finished.
        engine: the engine; the simulator unless given.

    Raises:
        InputError: if an engine refuses its input.
        MachineError: if the memory is nearly used up, or a worker elsewhere failed.
        Exception: what ``on_done`` raises; all other runs are then stopped.

    """
    batch = _Batch(tasks, workers, on_done, engine or find(DEFAULT))
    try:
        batch.run(on_progress)
    except KeyboardInterrupt:
        workers.stop()
        batch.keep_finished()
        return batch.outcome(interrupted=True)
    except MachineError:
        workers.stop()
        batch.keep_finished()
        raise
    finally:
        workers.stop()
    return batch.outcome()


class _Batch:
    """The tasks in progress. The cost per task does not depend on how many there are."""

    def __init__(
        self, tasks: Sequence[Task], workers: Workers, on_done: Callable[[FinishedRun], None], engine: Engine
    ) -> None:
        self._tasks = tasks
        self._workers = workers
        self._on_done = on_done
        self._engine = engine
        self._done: dict[int, FinishedRun] = {}
        self._failures: dict[int, str] = {}
        self._running: dict[Future[Report], int] = {}
        self._finished: SimpleQueue[Future[Report]] = SimpleQueue()
        self._finished_ns = 0

    def run(self, on_progress: Callable[[Progress], None]) -> None:
        self._engine.prepare(self._tasks)
        total_s = sum(task.scenario.duration_ns for task in self._tasks) / 1e9
        waiting = iter(enumerate(self._tasks))
        polled = time.monotonic()
        while True:
            while len(self._running) < self._workers.ahead and (following := next(waiting, None)) is not None:
                place, task = following
                future = self._workers.submit(self._engine, task)
                self._running[future] = place
                future.add_done_callback(self._finished.put)
            if not self._running:
                return
            with suppress(Empty):
                self._take(self._finished.get(timeout=POLL_S))
            if not self._running or time.monotonic() - polled >= POLL_S:
                polled = time.monotonic()
                machine.check_memory()
                reached_ns = self._finished_ns + self._workers.reached_ns()
                count = len(self._done) + len(self._failures)
                on_progress(Progress(count, len(self._tasks), reached_ns / 1e9, total_s))

    def keep_finished(self) -> None:
        """Keep the runs that were finished, though nobody has looked at them yet."""
        for future in list(self._running):
            if future.done() and not future.cancelled() and future.exception() is None:
                self._take(future)

    def outcome(self, *, interrupted: bool = False) -> Outcome:
        done = [self._done[place] for place in sorted(self._done)]
        return Outcome(done, [self._failures[place] for place in sorted(self._failures)], interrupted)

    def _take(self, future: Future[Report]) -> None:
        place = self._running[future]
        task = self._tasks[place]
        if future.cancelled():
            raise MachineError("a worker dropped its runs; finished runs are kept, and the same command continues")
        raised = future.exception()
        if raised is None:
            done = FinishedRun(task, future.result())
            # Forgotten after it was kept: an interrupt between the two makes no difference.
            self._on_done(done)
            self._done[place] = done
        elif isinstance(raised, CheckError):
            self._failures[place] = f"{task.aqm}, seed {task.seed}: {raised}"
        elif not isinstance(raised, Cancelled):
            raise self._workers.error(raised)
        del self._running[future]
        self._finished_ns += task.scenario.duration_ns
