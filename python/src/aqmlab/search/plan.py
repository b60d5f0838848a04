"""What is open, as data: factors, how much is tried, and settings that have a name.

A factor is a `$name` of scenario files, with the levels that it might have. What those files say by themselves (their
`[values]`) is the base, around which one factor at a time is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from aqmlab import scenario
from aqmlab.documents import Table
from aqmlab.errors import InputError

# How much is tried, each with its smallest value.
COUNTS = {"settings": 1, "seeds": 1, "steps": 0}
# What is run again, where the file does not say.
AGAIN = {"best": 3, "fresh_seeds": 10}

# A level for each factor, in the order of the factors.
Setting: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Factor:
    """Something that is open; ``levels`` holds what each level's name stands for."""

    name: str
    says: str
    levels: Mapping[str, str]


@dataclass(frozen=True)
class Search:
    """What is searched.

    Attributes:
        factors: what is open.
        scenarios: the scenario files by their names.
        own: the AQM that it is about.
        base: the setting that the scenario files have by themselves.
        presets: settings with a name.
        settings: how many settings are drawn from all combinations.
        seeds: runs of each setting and AQM.
        steps: how often a closer neighbour of the closest setting is looked for, at most.
        best: how many of the closest are run again,
        fresh_seeds: with so many seeds that chose nothing.

    """

    factors: tuple[Factor, ...]
    scenarios: Mapping[str, Path]
    own: str
    base: Setting
    presets: Mapping[str, Setting]
    settings: int
    seeds: int
    steps: int
    best: int
    fresh_seeds: int

    def values(self, setting: Setting) -> dict[str, str]:
        """Return what a setting puts in place of each ``$name``."""
        return {factor.name: factor.levels[level] for factor, level in zip(self.factors, setting, strict=True)}

    def words(self, setting: Setting) -> str:
        """Say in which factors a setting differs from the base."""
        named = zip(self.factors, setting, self.base, strict=True)
        changed = [f"{factor.name} {level}" for factor, level, base in named if level != base]
        return ", ".join(changed) or "as in the scenario files"


def read(path: Path, scenarios: Mapping[str, Path], *, quick: bool = False) -> Search:
    """Read what is searched: a file of factors, and the scenario files that hold them as ``$names``.

    Raises:
        InputError: naming file, key and value.

    """
    table = Table.read(path)
    counts = {key: table.count(key, least=least) for key, least in COUNTS.items()}
    counts |= {key: table.count(key, usual, 1) for key, usual in AGAIN.items()}
    fewer = table.table("quick")
    if fewer is not None:
        shorter = {key: fewer.count(key, usual, COUNTS.get(key, 1)) for key, usual in counts.items()}
        fewer.done()
        counts = shorter if quick else counts
    factors = tuple(_factor(one) for one in table.tables("factor", "name"))
    if not factors:
        raise table.error("factor: is missing: say what is open, as [[factor]]")
    own = table.text("own")
    base = _base(table, factors, scenarios)
    presets = {name: _preset(one, factors, base) for name, one in table.named("presets").items()}
    table.done()
    return Search(factors, scenarios, own, base, presets, **counts)


def _factor(table: Table) -> Factor:
    levels = table.named_texts("levels")
    factor = Factor(table.text("name"), table.text("says"), levels)
    table.done()
    if len(levels) < 2:
        raise table.error("levels: has to hold two levels at least")
    if len({*levels.values()}) < len(levels):
        raise table.error("levels: two of them stand for the same")
    return factor


def _base(table: Table, factors: Sequence[Factor], scenarios: Mapping[str, Path]) -> Setting:
    """Return the level of each factor that the scenario files have, which must agree."""
    if not scenarios:
        raise table.error("there is no scenario to be searched")
    base: dict[str, str] = {}
    for path in scenarios.values():
        first = scenario.load(path).points[0]
        for factor in factors:
            if factor.name in first.point:
                raise InputError(f"{path}: sweep: {factor.name} is a factor of the search already")
            value = first.named.get(factor.name)
            if value is None:
                continue
            level = next((name for name, own in factor.levels.items() if own == value), None)
            if level is None:
                raise InputError(f"{path}: values: {factor.name}: '{value}' is not a level of it")
            if base.setdefault(factor.name, level) != level:
                raise InputError(f"{path}: values: {factor.name}: '{value}' differs from the other scenarios'")
    for factor in factors:
        if factor.name not in base:
            raise table.error(f"factor {factor.name}: no scenario that is searched has it under [values]")
    return tuple(base[factor.name] for factor in factors)


def _preset(table: Table, factors: Sequence[Factor], base: Setting) -> Setting:
    pairs = zip(factors, base, strict=True)
    setting = tuple(table.choice(factor.name, factor.levels, usual) for factor, usual in pairs)
    table.done()
    return setting
