"""A Dask cluster as the executor of an experiment (`aqmlab.runs.workers.Elsewhere`)."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from aqmlab.vocabulary.errors import InputError, MachineError
from aqmlab.vocabulary.extras import missing

PLACE = re.compile(r"[^\s/]+:[0-9]{1,5}")
CONNECT_S, WORKERS_S = 10.0, 60.0
# How often the workers are counted during a run, and how many counts in a row must find none before it is reported: a
# worker that restarts is away for a moment.
COUNT_S, COUNTS = 2.0, 3
# Dask gives each a level of its own.
LOGGERS = ("distributed.client", "distributed.comm", "distributed.core", "tornado.application")


@contextmanager
def connected(address: str, notice: Callable[[str], None] = lambda text: None) -> Iterator[Executor]:
    """Connect to the scheduler at an address, ``HOST:PORT``, as Dask prints it or after ``dask://``.

    Args:
        address: of the scheduler.
        notice: is called with a sentence while there is something to wait for.

    Raises:
        InputError: if the address is of another form, or the package for it is not installed.
        MachineError: if no Dask scheduler answers, or no worker joins it.

    """
    place = address.removeprefix("dask://")
    if not PLACE.fullmatch(place):
        raise InputError(f"--dask: '{address}' is not HOST:PORT")
    try:
        from distributed import Client
    except ImportError:
        raise missing("--dask: Dask is not installed", "dask") from None
    # What ends a run is an error of ours, in one line; Dask logs the traceback of a scheduler that is gone.
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    client: Any = _within(
        CONNECT_S,
        lambda: Client(f"tcp://{place}", timeout=CONNECT_S),  # type: ignore[no-untyped-call]
        f"--dask: {place} is no Dask scheduler: it gave no answer within {CONNECT_S:g} s",
        f"--dask: there is no Dask scheduler at {place}",
    )
    with client:
        if not client.scheduler_info()["workers"]:
            notice(f"--dask: the Dask scheduler at {place} has no workers: waiting {WORKERS_S:g} s for one")
            try:
                client.wait_for_workers(1, timeout=WORKERS_S)
            except TimeoutError:
                advice = f"start one with 'dask worker {place}'"
                raise MachineError(f"--dask: the Dask scheduler at {place} has no workers: {advice}") from None
        with _counted(client, place, notice):
            yield client.get_executor()


@contextmanager
def _counted(client: Any, place: str, notice: Callable[[str], None]) -> Iterator[None]:
    """Report when a cluster has lost all workers, for which Dask waits in silence, and when it has some again."""
    ended = threading.Event()

    def count() -> None:
        without = 0
        while not ended.wait(COUNT_S):
            try:
                workers = len(client.scheduler_info()["workers"])
            except Exception:
                # The scheduler is gone: the runs themselves fail, and say so.
                return
            if workers and without >= COUNTS:
                notice(f"--dask: the Dask scheduler at {place} has {workers} worker{'s' * (workers > 1)} again")
            without = 0 if workers else without + 1
            if without == COUNTS:
                notice(
                    f"--dask: the Dask scheduler at {place} has lost all of its workers: waiting for one "
                    f"(dask worker {place}); finished runs are kept if you interrupt"
                )

    counter = threading.Thread(target=count, name="aqmlab-dask", daemon=True)
    counter.start()
    try:
        yield
    finally:
        ended.set()
        counter.join(COUNT_S)


def _within(seconds: float, connect: Callable[[], Any], silent: str, absent: str) -> Any:
    """Return what connecting returns; Dask's own time limit does not end the wait for a peer that says nothing."""
    found: Future[Any] = Future()

    def run() -> None:
        try:
            found.set_result(connect())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        # A little later than Dask's, which tells more.
        return found.result(seconds + 1)
    except TimeoutError:
        raise MachineError(silent) from None
    except (OSError, ValueError) as error:
        why = str(error).strip().split("\n")[0]
        raise MachineError(f"{absent}: {why}") from None


__all__ = ["connected"]
