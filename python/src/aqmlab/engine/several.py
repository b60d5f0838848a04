"""Several engines in one experiment: each run goes to the one that its contestant names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aqmlab.engine.protocol import Monitor, Report, SingleEngine, Task


class Several:
    """Engines as one: `of` says which of them a run is for."""

    def __init__(self, engines: Mapping[str, SingleEngine]) -> None:
        self._engines = engines

    @property
    def name(self) -> str:
        """Their names, as the user gives them."""
        return ",".join(self._engines)

    @property
    def about(self) -> str:
        """What they are."""
        return "; ".join(engine.about for engine in self._engines.values())

    @property
    def version(self) -> str:
        """Their versions."""
        return ",".join(engine.version for engine in self._engines.values())

    def of(self, name: str) -> SingleEngine:
        """Return the engine of this name; the first without one."""
        return self._engines[name] if name else next(iter(self._engines.values()))

    def prepare(self, tasks: Sequence[Task]) -> None:
        """Prepare what the tasks of each share."""
        for name, engine in self._engines.items():
            engine.prepare([task for task in tasks if self.of(task.engine).name == name])

    def monitor(self, task: Task) -> Monitor:
        """Return a monitor for one run."""
        return self.of(task.engine).monitor(task)

    def run(self, task: Task, monitor: Monitor) -> Report:
        """Run a task where it belongs."""
        return self.of(task.engine).run(task, monitor)
