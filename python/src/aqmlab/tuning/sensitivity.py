"""Which parameters matter: Sobol indices of each metric over the space, by SALib.

The first-order index is the share of the variance that a parameter explains alone, the total index the share that it
has a part in (Sobol 2001; Saltelli et al. 2010). They need a sample of their own, whose settings the search starts
from. The main effects of `aqmlab.search.sensitivity` are for other questions: levels without order, given in a paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab.tuning.space import Space
from aqmlab.tuning.trials import Trial
from aqmlab.vocabulary.errors import about
from aqmlab.vocabulary.extras import missing
from aqmlab.vocabulary.units import check_whole

KINDS = {"S1": "alone", "ST": "in all"}


@dataclass(frozen=True)
class Index:
    """The share of a metric's variance that a parameter explains ``alone`` or ``in all``, with its 95 % interval."""

    metric: str
    parameter: str
    kind: str
    share: float
    low: float
    high: float


def count(space: Space, base: int) -> int:
    """Return how many settings the sample of a base size has."""
    return base * (len(space.dimensions) + 2)


def sample(space: Space, base: int, seed: int) -> list[list[float]]:
    """Return the places of Saltelli's sample: `count` of them.

    Raises:
        InputError: if SALib is not installed, or the base is no power of two.

    """
    if check_whole("sensitivity", base) == 0:
        return []
    if base < 2 or base & (base - 1):
        raise about("sensitivity", f"'{base}' is not 0 or a power of two from 2")
    try:
        from SALib.sample import sobol
    except ImportError:
        raise missing("the sensitivity of a tuning needs SALib", "tune") from None
    places: list[list[float]] = sobol.sample(_problem(space), base, calc_second_order=False, seed=seed).tolist()
    return places


def indices(space: Space, names: Sequence[str], found: Sequence[Trial | None], seed: int) -> list[Index]:
    """Return the indices of each metric, from the sample's settings in its order.

    None if some settings are not allowed: the space is then no cube.
    """
    if not found or any(one is None for one in found):
        return []
    import numpy as np
    from SALib.analyze import sobol

    shown: list[Index] = []
    for metric in names:
        values = np.array([one.values[metric] for one in found if one])
        if np.ptp(values) == 0.0:
            continue
        result = sobol.analyze(_problem(space), values, calc_second_order=False, seed=seed)
        for kind, name in KINDS.items():
            for place, one in enumerate(space.dimensions):
                share, half = float(result[kind][place]), float(result[f"{kind}_conf"][place])
                shown.append(Index(metric, one.name, name, share, share - half, share + half))
    return shown


# Estimators of Sobol indices are differences of means, which few settings leave with noise (Saltelli et al. 2010).
BEYOND = "A share is from 0 to 100 %: what lies outside is noise of the estimate, less with a larger --sensitivity."


def words(found: Sequence[Index]) -> list[str]:
    """Say for each metric which share of its variance each parameter has a part in; and what is noise."""
    lines = []
    for metric in dict.fromkeys(one.metric for one in found):
        own = sorted((one for one in found if (one.metric, one.kind) == (metric, "in all")), key=lambda one: -one.share)
        shares = ", ".join(f"{one.parameter} {one.share:.0%} [{one.low:.0%}, {one.high:.0%}]" for one in own)
        lines.append(f"{metric}: {shares} of the variance over the space")
    if any(not 0.0 <= end <= 1.0 for one in found for end in (one.share, one.low, one.high)):
        lines.append(BEYOND)
    return lines


def _problem(space: Space) -> dict[str, Any]:
    names = [one.name for one in space.dimensions]
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
