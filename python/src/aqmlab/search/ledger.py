"""Runs that are made once, of which only some values are kept: a line of JSON for each, written when it ends.

A run is identified by the hash of everything that decides it. What was interrupted, or killed, makes only the missing
runs when it is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from aqmlab import runner
from aqmlab.engine import Task
from aqmlab.errors import CheckError
from aqmlab.runner import Done, Progress
from aqmlab.workers import Threads

FILE = "runs.jsonl"
# Most complete runs held in memory before they are forgotten.
BATCH = 48

Values: TypeAlias = Mapping[str, float | None]


class Ledger:
    """The kept values of runs, by the runs' keys; in a file of a folder, or without one only in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / FILE
        self._values: dict[str, Values] = {} if self._file is None else _read(self._file)

    def has(self, key: str, names: Collection[str]) -> bool:
        """Whether all these values of a run are kept."""
        return key in self._values and all(name in self._values[key] for name in names)

    def values(self, key: str) -> Values:
        """Return the kept values of a run."""
        return self._values[key]

    def make(
        self,
        tasks: Sequence[Task],
        read: Callable[[Done], Values],
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
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                # The previous line may be incomplete after a crash.
                file.write("\n" + json.dumps({"key": key, "values": values}))


def _read(path: Path) -> dict[str, Values]:
    if not path.is_file():
        return {}
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            # Empty, or incomplete.
            continue
        found[entry["key"]] = entry["values"]
    return found
