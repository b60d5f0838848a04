"""What an experiment will cost, estimated from its scenarios before anything is simulated.

The simulator estimates a run, within a factor of two on ordinary scenarios. Here runs are added up and compared with
what is done without asking, to notice experiments that would fill the memory or take days.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab import _native
from aqmlab._native import Inputs
from aqmlab.files import machine
from aqmlab.scenario.model import Scenario
from aqmlab.vocabulary.errors import InputError

# What is done without asking. An event takes a tenth to a fifth of a microsecond, so all of them take about ten hours.
MOST_RUNS = 20_000
MOST_EVENTS = 200e9
EVENTS_PER_SECOND = 6e6
# A run of more is nothing that a topology or a list of flows from elsewhere should start unnoticed.
MOST_BYTES_OF_RUN = 2 << 30
MEMORY_SHARE = 0.5
# What skips these checks.
SKIP = "--no-size-check (no_size_check=True)"


@dataclass(frozen=True)
class Cost:
    """Events and largest memory of a run, and the memory of its result."""

    events: float
    memory_bytes: float
    kept_bytes: float


def of_run(scenario: Scenario, inputs: Inputs) -> Cost:
    """Estimate a run: the simulator asks the scenario's sources and network.

    Raises:
        InputError: for a network that cannot be built.

    """
    return Cost(*_native.estimate(scenario.json, inputs))


def check_runs(runs: int) -> None:
    """Refuse more runs than are made without asking.

    Raises:
        InputError: saying how many there are.

    """
    if runs > MOST_RUNS:
        raise InputError(f"{runs} runs are asked for, and more than {MOST_RUNS} are made only with {SKIP}")


def check(costs: Sequence[tuple[int, Cost]], jobs: int) -> None:
    """Refuse what takes too long or too much memory to be run without asking.

    Args:
        costs: numbers of runs, and the cost of each of them.
        jobs: how many run at a time.

    Raises:
        InputError: with the estimate and the limit.

    """
    runs = sum(count for count, _ in costs)
    check_runs(runs)
    events = sum(count * cost.events for count, cost in costs)
    if events > MOST_EVENTS:
        raise InputError(
            f"about {events:.1g} events would be simulated, {_span(events)} on one core, "
            f"and more than {MOST_EVENTS:.1g} are only with {SKIP}"
        )
    together = min(jobs, runs)
    largest = max((cost.memory_bytes for _, cost in costs), default=0.0)
    if largest > MOST_BYTES_OF_RUN:
        raise InputError(
            f"about {_size(largest)} of memory would be needed for one run, "
            f"and more than {_size(MOST_BYTES_OF_RUN)} is used only with {SKIP}"
        )
    needed = largest * together
    needed += sum(count * cost.kept_bytes for count, cost in costs)
    allowed = MEMORY_SHARE * machine.memory_bytes()
    if needed > allowed:
        raise InputError(
            f"about {_size(needed)} of memory would be needed for {together} runs at a time, "
            f"and more than half of the machine's ({_size(allowed)}) is used only with {SKIP}"
        )


def processor_s(costs: Sequence[tuple[int, Cost]]) -> float:
    """Return about how long runs take on one core, s: numbers of runs, each with the cost of one."""
    return sum(count * cost.events for count, cost in costs) / EVENTS_PER_SECOND


def _span(events: float) -> str:
    hours = events / EVENTS_PER_SECOND / 3600
    return f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:.3g} days"


def _size(count: float) -> str:
    return f"{count / (1 << 30):.3g} GB"
