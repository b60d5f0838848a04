"""The memory of this machine, a stop before it is used up, and limits that libraries would not survive."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from aqmlab.vocabulary.errors import InputError, MachineError
from aqmlab.vocabulary.units import parse_whole

# A run is stopped when less than this share of the memory is free ...
LEAST_FREE = 0.04
# ... and this process holds at least this share: otherwise others are to blame.
LEAST_OWN = 0.25
# Address space of the libraries, and of each thread of polars: most of it is never used.
ADDRESSES_BYTES = 1_300_000_000
ADDRESSES_PER_THREAD_BYTES = 64_000_000
# How many threads polars starts; by default one for each core.
THREADS = "POLARS_MAX_THREADS"
MOST_THREADS = 1024


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_bytes() -> int:
    """Return the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_limits() -> None:
    """Refuse limits of the surroundings with which polars would abort the process, or never begin.

    Raises:
        InputError: naming the variable of the environment and what is allowed.
        MachineError: saying how much address space is needed.

    """
    threads = os.environ.get(THREADS)
    try:
        count = cores() if threads is None else parse_whole(threads, 1, MOST_THREADS)
    except InputError as error:
        raise InputError(f"{THREADS}: {error}") from None
    limit, needed = _limit_bytes(), ADDRESSES_BYTES + count * ADDRESSES_PER_THREAD_BYTES
    if limit is not None and limit < needed:
        raise MachineError(
            f"the address space is limited to {limit / 1e6:.0f} MB (ulimit -v), and {needed / 1e6:.0f} MB are needed: "
            f"the library of the tables has {count} threads, as many as {THREADS} says or there are cores"
        )


def check_memory() -> None:
    """Stop before the memory is used up: the system would kill some process without a word.

    Systems without ``/proc`` are not checked.

    Raises:
        MachineError: saying how much this process holds.

    """
    total, free, own = memory_bytes(), _free_bytes(), _own_bytes()
    if free is not None and own is not None and free < LEAST_FREE * total and own > LEAST_OWN * total:
        raise MachineError(
            f"the memory is used up: this process holds {own / 2**30:.3g} GB, and {free / 2**30:.2g} GB are free; "
            "runs were stopped, and finished ones are kept"
        )


def _limit_bytes() -> int | None:
    """Return how much address space this process may have; nothing if there is no limit."""
    try:
        import resource
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _free_bytes() -> int | None:
    with suppress(OSError, StopIteration, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]) * 1024
    return None


def _own_bytes() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None
