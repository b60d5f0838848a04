"""Tables of a search."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from aqmlab.search import design
from aqmlab.search.outcome import Outcome

# The columns of the levels other than claims.
FIXED = ("factor", "level", "settings", "distance", "own_distance", "ratio", "own_ratio")


def settings(outcome: Outcome) -> pl.DataFrame:
    """Return every setting, the closest first: levels, distances, verdicts and measurements."""
    search = outcome.search
    names = {setting: name for name, setting in search.presets.items()}
    near = {*design.neighbours(search.factors, search.base)}
    sample = {*outcome.sample}
    rows = []
    for one in outcome.closest:
        chosen = zip(search.factors, one.setting, strict=True)
        again = outcome.fresh.get(one.setting)
        rows.append(
            {
                "name": names.get(one.setting, ""),
                "sampled": one.setting in sample,
                "around_base": one.setting in near,
                **{factor.name: level for factor, level in chosen},
                "distance": one.distance,
                "own_distance": one.own,
                "numbers_within_10_percent": one.near,
                "numbers": one.numbers,
                "fresh_distance": again and again.distance,
                "fresh_own_distance": again and again.own,
                "fresh_numbers_within_10_percent": again and again.near,
                **{name: grade.word for name, grade in one.grades.items()},
                **{f"{claim} {side}": value for (claim, side), value in one.measured.items()},
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def effects(outcome: Outcome) -> pl.DataFrame:
    """Return the effect of each factor: over all combinations, and around the base."""
    claims = dict.fromkeys(one.claim for one in outcome.effects)
    short = dict(zip(claims, short_names([*claims]), strict=True))
    rows = [
        {"kind": kind, "factor": factor, "claim": short[claim], "size": size, "chance": chance, "seen": seen}
        for kind, found in (("all", outcome.effects), ("around", outcome.around))
        for factor in [one.name for one in outcome.search.factors]
        for claim, size, chance, seen in [
            (one.claim, one.size, one.chance, one.is_seen) for one in found if one.factor == factor
        ]
    ]
    return pl.DataFrame(rows)


def levels(outcome: Outcome) -> pl.DataFrame:
    """Return the results at each level of each factor."""
    return pl.DataFrame(
        [
            {
                "factor": one.factor,
                "level": one.level,
                "settings": one.settings,
                "distance": one.distance,
                "own_distance": one.own,
                "ratio": math.exp(one.distance),
                "own_ratio": math.exp(one.own),
                **one.holding,
            }
            for one in outcome.levels
        ]
    )


def short_names(claims: Sequence[str]) -> list[str]:
    """Return the claims' names without their common prefix.

    >>> short_names(["spie-1", "spie-10"])
    ['1', '10']

    """
    heads = {claim.rpartition("-")[0] for claim in claims}
    return [claim.rpartition("-")[2] for claim in claims] if len(heads) == 1 else [*claims]
