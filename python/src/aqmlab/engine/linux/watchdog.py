"""A guest's own time: on a busy machine, one that waits for a processor is not to blame for getting no further."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SAMPLES = 3


@dataclass(frozen=True)
class Use:
    """Processor time that processes have had, and whether one of them runs, or would if it got a processor."""

    cpu_s: float
    is_runnable: bool


class OwnTime:
    """The time for which a guest has got no further: while it could run, what it got of a processor; else all of it.

    >>> own = OwnTime()
    >>> own.since(0, 10.0, Use(cpu_s=5.0, is_runnable=True))
    0.0
    >>> own.since(0, 500.0, Use(cpu_s=6.0, is_runnable=True)), own.since(0, 510.0, Use(cpu_s=6.0, is_runnable=False))
    (1.0, 11.0)
    >>> own.since(1, 511.0, Use(cpu_s=7.0, is_runnable=True))
    0.0

    """

    def __init__(self) -> None:
        self._own_s = 0.0
        self._before: tuple[int, float, Use] | None = None

    def since(self, reached_ns: int, now_s: float, use: Use) -> float:
        """Take in how far the guest is, the time, and what its processes use; return its own time since it advanced."""
        before, self._before = self._before, (reached_ns, now_s, use)
        if before is None or before[0] != reached_ns:
            self._own_s = 0.0
        else:
            self._own_s += use.cpu_s - before[2].cpu_s if use.is_runnable else now_s - before[1]
        return self._own_s


def use_of(session: int) -> Use:
    """Return what the processes of a session use."""
    # Between two samples one may hand over to another, and both be seen asleep: so several samples are taken.
    samples = [_read(session) for _ in range(SAMPLES)]
    return Use(samples[-1].cpu_s, any(sample.is_runnable for sample in samples))


def _read(session: int) -> Use:
    ticks, is_runnable = 0, False
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if os.getsid(int(name)) != session:
                continue
            # As in proc_pid_stat(5), after the program's name: the state, and times of itself and its ended children.
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
            # Who waits for a disk is not to blame either.
            is_runnable |= fields[0] in "RD"
    return Use(ticks / os.sysconf("SC_CLK_TCK"), is_runnable)
