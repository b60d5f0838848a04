"""The memory of this machine, and a stop before it is used up."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from aqmlab.errors import MachineError

# A run is stopped when less than this share of the memory is free ...
LEAST_FREE = 0.04
# ... and this process holds at least this share: otherwise others are to blame.
LEAST_OWN = 0.25


def memory_bytes() -> int:
    """Return the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


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


def _free_bytes() -> int | None:
    with suppress(OSError, StopIteration, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]) * 1024
    return None


def _own_bytes() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None
