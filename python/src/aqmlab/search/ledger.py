"""Runs that are made once, of which only some values are stored: a line of JSON for each, written when it ends.

A run is identified by the hash of everything that decides it. What was interrupted, or killed, makes only the missing
runs when it is asked again. A line holds its own digest: one that was cut off, damaged or changed by hand does not
count, and its run is made again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from aqmlab.engine import Task
from aqmlab.files import disk, system
from aqmlab.runs import runner
from aqmlab.runs.runner import FinishedRun, Progress
from aqmlab.runs.watcher import Watcher
from aqmlab.runs.workers import Threads
from aqmlab.store import seal, shape
from aqmlab.vocabulary.errors import CheckError

FILE = "runs.jsonl"
# Most complete runs held in memory before they are forgotten.
BATCH = 48

Values: TypeAlias = Mapping[str, float | None]
_LINE = {"key": str, "values": {"*": (float, int, None)}}


class Ledger:
    """The stored values of runs, by the runs' keys; in a file of a folder, or without one only in memory.

    Raises:
        InputError: if the file cannot be read or written.
        MachineError: if the disk is full.

    """

    def __init__(self, folder: Path | None, watcher: Watcher) -> None:
        self._file = None if folder is None else folder / FILE
        self._values: dict[str, Values] = {} if self._file is None else _read(self._file, watcher)

    def has(self, key: str, names: Collection[str]) -> bool:
        """Whether all these values of a run are stored."""
        return key in self._values and all(name in self._values[key] for name in names)

    def values(self, key: str) -> Values:
        """Return the stored values of a run."""
        return self._values[key]

    def make(
        self,
        tasks: Sequence[Task],
        read: Callable[[FinishedRun], Values],
        jobs: int,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        """Make runs and keep what ``read`` takes from each.

        Raises:
            InputError: if a scenario is wrong.
            CheckError: if a run broke one of its own checks.
            KeyboardInterrupt: if the user interrupted; finished runs are kept.

        """
        total_s = sum(task.scenario.duration_ns for task in tasks) / 1e9
        before_s = 0.0
        for start in range(0, len(tasks), BATCH):
            batch = tasks[start : start + BATCH]

            def moved(one: Progress, start: int = start, before_s: float = before_s) -> None:
                on_progress(Progress(start + one.finished, len(tasks), before_s + one.simulated_s, total_s))

            outcome = runner.execute(batch, Threads(jobs), moved, lambda done: self._keep(done.run.key, read(done)))
            if outcome.interrupted:
                raise KeyboardInterrupt
            if outcome.failures:
                raise CheckError("; ".join(outcome.failures))
            before_s += sum(task.scenario.duration_ns for task in batch) / 1e9

    def _keep(self, key: str, values: Values) -> None:
        self._values[key] = values
        if self._file is not None:
            disk.make(self._file.parent)
            with self._file.open("ab") as file:
                # The previous line may be incomplete after a crash.
                file.write(b"\n" + _line(key, values))


def _entry(line: bytes) -> dict[str, Any] | None:
    """Return the key and the values of a line that is as it was written."""
    try:
        entry = seal.unsealed(json.loads(line))
    except (AttributeError, RecursionError, ValueError):
        return None
    return entry if shape.fits(entry, _LINE) else None


def _line(key: str, values: Values) -> bytes:
    return json.dumps(seal.sealed({"key": key, "values": values})).encode()


def _read(path: Path, watcher: Watcher) -> dict[str, Values]:
    """Return the values of all lines that are as they were written; the others are taken out of the file."""
    if not path.is_file():
        return {}
    with system.reading(path):
        lines = path.read_bytes().split(b"\n")
    found: dict[str, Values] = {}
    damaged = []
    for number, line in enumerate(lines, 1):
        # A line begins with its end.
        if entry := _entry(line):
            found[entry["key"]] = entry["values"]
        elif line:
            damaged.append(number)
    if damaged:
        with system.writing(path):
            disk.write(path, b"".join(b"\n" + _line(key, values) for key, values in found.items()))
        which = f"line {damaged[0]} does" if len(damaged) == 1 else f"{len(damaged)} lines, from {damaged[0]} on, do"
        watcher.on_notice(f"{path}: {which} not match the checksum: what was measured there is made again")
    return found
