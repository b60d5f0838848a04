"""The search: settings spread over the space, then those that optuna's TPE proposes, all from one seed.

Nothing but the seed and the measured values decides what is tried next, and finished runs are kept. So a search that
was killed repeats its steps, without making its runs again, and ends like one that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.tuning.space import Space
from aqmlab.tuning.trials import Trial
from aqmlab.vocabulary.errors import about
from aqmlab.vocabulary.extras import missing

if TYPE_CHECKING:
    from aqmlab.tuning.goal import Goal

Measure = Callable[[Sequence[str]], list[Trial | None]]


def optuna() -> Any:
    """Return optuna.

    Raises:
        InputError: if it is not installed, with how to install it.

    """
    try:
        import optuna
    except ImportError:
        raise missing("tuning needs optuna", "tune") from None
    return optuna


def search(
    space: Space, goal: Goal, sample: Sequence[Sequence[float]], count: int, seed: int, measure: Measure
) -> list[Trial]:
    """Return the settings that were tried, each once, in order.

    Args:
        space: where to search.
        goal: what for.
        sample: points of the space that are tried first.
        count: how many more are proposed.
        seed: of the proposals.
        measure: measures settings.

    """
    library = optuna()
    library.logging.set_verbosity(library.logging.WARNING)
    # All at once: they run in parallel.
    measure([space.at(shares) for shares in sample])
    sampler = library.samplers.TPESampler(seed=seed)
    study = library.create_study(directions=["minimize"] * len(goal.minimise), sampler=sampler)
    names = [one.name for one in space.dimensions]
    for shares in sample:
        study.enqueue_trial(dict(zip(names, map(float, shares), strict=True)))
    tried: dict[str, Trial] = {}
    for _ in range(len(sample) + count):
        trial = study.ask()
        (found,) = measure([space.at([trial.suggest_float(name, 0.0, 1.0) for name in names])])
        if found is None:
            study.tell(trial, state=library.trial.TrialState.FAIL)
            continue
        tried[found.aqm] = found
        # Up to zero a trial keeps its bounds.
        trial.set_constraint("missed", found.missed)
        study.tell(trial, [found.values[name] for name in goal.minimise])
    if not tried:
        raise about("aqm", f"'{space.text}': the parameters of every setting tried contradict each other")
    return list(tried.values())


def front(goal: Goal, tried: Sequence[Trial]) -> list[Trial]:
    """Return the settings that no other is better than, the least of the first metric first.

    Only those count that keep all bounds; if none does, only those that miss them least.
    """
    least = min(one.missed for one in tried)
    kept = [one for one in tried if one.missed <= least]
    points = {one.aqm: tuple(one.values[name] for name in goal.minimise) for one in kept}
    unbeaten = {*best_of(points)}
    best = [one for one in kept if one.aqm in unbeaten]
    # Settings with the same results differ in parameters that do not matter here: the first stands for them.
    alike = {points[one.aqm]: one for one in reversed(best)}
    return [alike[values] for values in sorted(alike)]


def best_of(points: Mapping[str, tuple[float, ...]]) -> list[str]:
    """Return the names of the points than which no other is as small in everything and smaller in something."""

    def is_beaten(own: tuple[float, ...]) -> bool:
        return any(all(a <= b for a, b in zip(other, own, strict=True)) and other != own for other in points.values())

    return [name for name, own in points.items() if not is_beaten(own)]


def spread_over(found: Sequence[Trial], most: int) -> list[Trial]:
    """Return at most so many of a front, both ends included."""
    if len(found) <= most:
        return list(found)
    places = {round(place * (len(found) - 1) / (most - 1)) for place in range(most)} if most > 1 else {0}
    return [found[place] for place in sorted(places)]
