"""Where runs are made: in threads of this process, or by an executor in other processes and on other machines.

A worker elsewhere needs the same version of aqmlab, and the captures and link traces of the experiment under the same
absolute paths. Both are checked with each run.
"""

from __future__ import annotations

import functools
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from aqmlab import _native
from aqmlab import engine as engines
from aqmlab._native import Inputs
from aqmlab.engine import Engine, Monitor, Report, Run, Task
from aqmlab.own import python_aqm
from aqmlab.scenario import inputs
from aqmlab.scenario.model import Scenario, Trace
from aqmlab.vocabulary.errors import Cancelled, CheckError, InputError, MachineError, defect

# Runs queued for each thread, so that none is idle while the others are kept.
AHEAD = 2
# Runs given to an executor at a time: more than any cluster has cores, and few enough to be forgotten soon.
AHEAD_ELSEWHERE = 2000
# Runs that are stopped end within milliseconds; a discipline in Python may sleep, or refuse to be interrupted.
PATIENCE_S = 1.0
ASK_AGAIN_S = 0.05
# What the names of our threads begin with.
THREADS = "aqmlab"

T = TypeVar("T")


class Workers(Protocol):
    """Makes runs."""

    @property
    def ahead(self) -> int:
        """How many runs it is given at a time."""

    def submit(self, engine: Engine, task: Task) -> Future[Report]:
        """Start a run, or queue it."""

    def reached_ns(self) -> int:
        """Simulated time reached by the runs in progress, nanoseconds; 0 if nobody can tell."""

    def stop(self) -> None:
        """Stop the runs in progress, if possible, and forget queued ones."""

    def error(self, raised: BaseException) -> BaseException:
        """Return the error that says what a run's exception means to the user."""


class Threads:
    """Threads of this process: the simulator does not hold Python's global lock."""

    def __init__(self, jobs: int) -> None:
        self.ahead = jobs * AHEAD
        self._pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix=THREADS)
        self._monitors: dict[Future[Any], Monitor] = {}

    def submit(self, engine: Engine, task: Task) -> Future[Report]:
        """Start a run, or queue it."""
        return self.start(lambda monitor: engine.run(task, monitor), engine.monitor(task))

    def start(self, work: Callable[[Monitor], T], monitor: Monitor) -> Future[T]:
        """Start some work that a monitor can stop, or queue it."""
        future = self._pool.submit(self._here, work, monitor)
        self._monitors[future] = monitor
        future.add_done_callback(self._monitors.pop)
        return future

    def _here(self, work: Callable[[Monitor], T], monitor: Monitor) -> T:
        home = os.getpid()
        try:
            return work(monitor)
        finally:
            if os.getpid() != home:
                # A discipline in Python has forked: the copy of this thread is all there is of a second process.
                os._exit(0)

    def reached_ns(self) -> int:
        """Simulated time reached by the runs in progress, nanoseconds."""
        return sum(monitor.reached_ns for monitor in list(self._monitors.values()))

    def stop(self) -> None:
        """Stop the runs in progress and wait until they have stopped; one that does not is left behind."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        end = time.monotonic() + PATIENCE_S
        while (running := dict(self._monitors)) and time.monotonic() < end:
            # Again: code that swallows one interrupt gets the next.
            for monitor in running.values():
                monitor.cancel()
            wait(running, ASK_AGAIN_S)
        if not self._monitors:
            self._pool.shutdown(wait=True)

    def error(self, raised: BaseException) -> BaseException:
        """Return the exception itself."""
        return raised


def apart(work: Callable[[_native.Monitor], T]) -> T:
    """Do some work of the simulator in a thread of its own, where an interrupt ends the user's Python as in a run."""
    threads = Threads(1)
    monitor = _native.Monitor()
    try:
        return threads.start(lambda _: work(monitor), monitor).result()
    finally:
        threads.stop()


def left_behind() -> bool:
    """Whether a run that was stopped has not ended: it would keep this process."""
    return any(one.name.startswith(f"{THREADS}_") for one in threading.enumerate())


class Elsewhere:
    """Any `concurrent.futures.Executor`; it belongs to the caller, who closes it."""

    ahead = AHEAD_ELSEWHERE

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._futures: set[Future[Report]] = set()

    def submit(self, engine: Engine, task: Task) -> Future[Report]:
        """Send a run to the executor."""
        try:
            future = self._executor.submit(make, _order(engine, task))
        except Exception as error:
            raise self.error(error) from error
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def reached_ns(self) -> int:
        """Nothing: only finished runs are known."""
        return 0

    def stop(self) -> None:
        """Forget queued runs; those in progress end where they are, and nobody waits for them."""
        for future in list(self._futures):
            future.cancel()

    def error(self, raised: BaseException) -> BaseException:
        """Return an error of the input, of the run or of the machine; anything else is the executor's."""
        if panic := defect(raised):
            return panic
        if isinstance(raised, Cancelled | CheckError | InputError | MachineError) or not isinstance(raised, Exception):
            return raised
        if isinstance(raised, ImportError):
            return MachineError(f"a worker cannot load aqmlab: {raised}: install the same version on every worker")
        why = str(raised).strip().split("\n")[0]
        return MachineError(
            f"a worker failed: {type(raised).__name__}{': ' if why else ''}{why}; "
            "finished runs are kept, and the same command continues"
        )


@dataclass(frozen=True)
class Order:
    """A run as it travels to a worker: with the names, absolute paths and hashes of its files, not their content."""

    engine: str
    version: str
    run: Run
    scenario: Scenario
    files: Mapping[str, tuple[str, str]]
    # Of a discipline that is written in Python: the hash of its source, and where its path begins.
    law: str = ""
    folder: str = ""


def _order(engine: Engine, task: Task) -> Order:
    run = Run(task.point, task.aqm, task.seed, task.key)
    files = {name: (os.path.abspath(name), digest) for name, digest in task.files.items()}
    law = python_aqm.declared(task.scenario.aqm)
    engine = engine.of(task.engine)
    return Order(engine.name, engine.version, run, task.scenario, files, law, os.getcwd() if law else "")


def make(order: Order) -> Report:
    """Make a run: on a worker.

    Raises:
        MachineError: if this is not the version of aqmlab that ordered it.
        InputError: naming the capture, the link trace or the discipline in Python that is missing here or has another
            content.
        CheckError: if the run broke one of its own checks.

    """
    engine = engines.find(order.engine)
    if engine.version != order.version:
        raise MachineError(
            f"worker {socket.gethostname()} has aqmlab {engine.version}, and the experiment was started by "
            f"{order.version}: install the same version on every worker"
        )
    # A worker lives longer than an experiment: what it has of a file may be of an earlier one.
    if order.law and python_aqm.load(order.scenario.aqm, Path(order.folder)) != order.law:
        name = order.scenario.aqm.split()[0].removesuffix(":class")
        raise InputError(
            f"worker {socket.gethostname()}: {name}: has another content than where the experiment was started"
        )
    capacity = order.scenario.capacity
    traces = {capacity.trace} if isinstance(capacity, Trace) else set()
    parsed = {name: _parsed(name in traces, *place) for name, place in order.files.items()}
    ours = Inputs(
        {name: one for name, one in parsed.items() if name not in traces},
        {name: one for name, one in parsed.items() if name in traces},
    )
    run = order.run
    task = Task(run.point, run.aqm, run.seed, run.key, order.scenario, ours)
    engine.prepare([task])
    return engine.run(task, engine.monitor(task))


@functools.lru_cache(maxsize=8)
def _parsed(is_trace: bool, path: str, digest: str) -> Any:
    host = socket.gethostname()
    try:
        file = inputs.link_trace(path) if is_trace else inputs.capture(path)
    except InputError as error:
        raise InputError(f"worker {host}: {error}; every worker reads captures and link traces by itself") from None
    if file.digest != digest:
        raise InputError(f"worker {host}: {path}: has another content than where the experiment was started")
    return file.parsed
