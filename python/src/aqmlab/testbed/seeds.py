"""One path over several seeds: conditions that must hold in all of them, or in so many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aqmlab.testbed.check import Check, Tally
from aqmlab.testbed.outcome import Outcome
from aqmlab.testbed.path import Path


@dataclass(frozen=True)
class Seeds:
    """The runs of a path, one for each seed. A condition is a function of a run that returns a `Check`.

    An assertion that fails names the seeds in which the condition does not hold, and writes figure and capture of the
    worst of them.
    """

    path: Path
    #: Each seed and its run.
    outcomes: Mapping[int, Outcome]

    def all(self, condition: Callable[[Outcome], Check]) -> None:
        """Assert that a condition holds in every seed."""
        __tracebackhide__ = True
        self.at_least(max(1, len(self.outcomes)), condition)

    def at_least(self, needed: int, condition: Callable[[Outcome], Check]) -> None:
        """Assert that a condition holds in so many of the seeds."""
        __tracebackhide__ = True
        tally = self.tally(needed, condition)
        if tally.holds:
            return
        worst = tally.worst_seed()
        files = [] if worst is None else [write_files(self.path, self.outcomes[worst], worst)]
        raise AssertionError("\n".join([tally.summary(), *files]))

    def tally(self, needed: int, condition: Callable[[Outcome], Check]) -> Tally:
        """Return what the condition found in each seed."""
        return Tally([(seed, condition(outcome)) for seed, outcome in self.outcomes.items()], needed)


def over(path: Path, seeds: tuple[int, ...]) -> Seeds:
    """Run a path once for each seed."""
    return Seeds(path, {seed: path.run(seed) for seed in seeds})


def write_files(path: Path, outcome: Outcome, seed: int) -> str:
    """Write the files of a run into a folder of its seed; return what was run and where they are."""
    within = path.within(f"seed-{seed}")
    return "\n".join([outcome.title, outcome.in_folder(within.folder).write_files()])
