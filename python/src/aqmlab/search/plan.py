"""The plan of a search, as data: factors, number of settings, and named settings.

A factor is a `$name` of scenario files, or several that belong together, with its possible levels. The values in those
files (`[values]`) are the base, around which one factor at a time is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from aqmlab import scenario
from aqmlab.files.documents import Table
from aqmlab.vocabulary.errors import InputError

# Numbers of settings and runs, each with its smallest value.
COUNTS = {"settings": 1, "seeds": 1, "steps": 0}
# Defaults for what is run again.
AGAIN = {"best": 3, "fresh_seeds": 10}

# A level for each factor, in the order of the factors.
Setting: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Factor:
    """An open parameter; ``levels`` holds the values of each level's ``$names``."""

    name: str
    says: str
    levels: Mapping[str, Mapping[str, str]]

    @property
    def shown(self) -> dict[str, str]:
        """The values of each level in words."""
        return {level: self._words(values) for level, values in self.levels.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The ``$names`` that it gives values."""
        return tuple(next(iter(self.levels.values())))

    def _words(self, values: Mapping[str, str]) -> str:
        if self.names == (self.name,):
            return values[self.name]
        return ", ".join(f"{name} {value}" for name, value in values.items())


@dataclass(frozen=True)
class Search:
    """The plan of a search.

    Attributes:
        factors: the factors.
        scenarios: the scenario files by their names.
        own: the AQM of the paper, or what stands for it in its claims.
        sizes: whether the claimed sizes of differences count as printed numbers, too: as ratios of two measures.
        base: the setting in the scenario files.
        presets: named settings.
        settings: how many settings are drawn from all combinations.
        seeds: runs per setting and AQM.
        steps: most steps from the closest setting to a closer neighbour.
        best: how many of the closest are run again.
        fresh_seeds: fresh seeds with which they are run again.
        quick: whether the scenarios are run in their quick form.
        made: the searches that were made, each with its date and what it chose.

    """

    factors: tuple[Factor, ...]
    scenarios: Mapping[str, Path]
    own: str
    sizes: bool
    base: Setting
    presets: Mapping[str, Setting]
    settings: int
    seeds: int
    steps: int
    best: int
    fresh_seeds: int
    quick: bool = False
    made: tuple[str, ...] = ()

    def values(self, setting: Setting) -> dict[str, str]:
        """Return the value of each ``$name`` in a setting."""
        chosen = [factor.levels[level] for factor, level in zip(self.factors, setting, strict=True)]
        return {name: value for values in chosen for name, value in values.items()}

    def words(self, setting: Setting) -> str:
        """Describe how a setting differs from the base."""
        named = zip(self.factors, setting, self.base, strict=True)
        changed = [f"{factor.name} {level}" for factor, level, base in named if level != base]
        return ", ".join(changed) or "as in the scenario files"


def read(path: Path, scenarios: Mapping[str, Path], *, quick: bool = False) -> Search:
    """Read a plan: a file of factors, and the scenario files that hold them as ``$names``.

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
        raise table.error("factor: is missing: give the open parameters, as [[factor]]")
    own, sizes, made = table.text("own"), table.flag("sizes"), table.texts("made")
    base = _base(table, factors, scenarios)
    presets = {name: _preset(one, factors, base) for name, one in table.named("presets").items()}
    table.done()
    return Search(factors, scenarios, own, sizes, base, presets, quick=quick, made=made, **counts)


def _factor(table: Table) -> Factor:
    name = table.text("name")
    factor = Factor(name, table.text("says"), table.named_values("levels", name))
    table.done()
    if len(factor.levels) < 2:
        raise table.error("levels: must hold at least two levels")
    if len({*factor.shown.values()}) < len(factor.levels):
        raise table.error("levels: two of them have the same value")
    for level, values in factor.levels.items():
        if {*values} != {*factor.names}:
            raise table.error(f"levels: '{level}' has other values ({', '.join(values)}) than the first level")
    return factor


def _base(table: Table, factors: Sequence[Factor], scenarios: Mapping[str, Path]) -> Setting:
    """Return the level of each factor in the scenario files, which must agree."""
    if not scenarios:
        raise table.error("there is no scenario to search")
    base: dict[str, str] = {}
    for path in scenarios.values():
        first = scenario.load(path).points[0]
        for factor in factors:
            for name in factor.names:
                if name in first.varied:
                    raise InputError(f"{path}: sweep: {name} is a factor of the search already")
            values = {name: first.named[name] for name in factor.names if name in first.named}
            if not values:
                continue
            words = ", ".join(values.values())
            level = next((level for level, own in factor.levels.items() if own == values), None)
            if level is None:
                raise InputError(f"{path}: values: {factor.name}: '{words}' is not a level of it")
            if base.setdefault(factor.name, level) != level:
                raise InputError(f"{path}: values: {factor.name}: '{words}' differs from the other scenarios'")
    for factor in factors:
        if factor.name not in base:
            raise table.error(f"factor {factor.name}: no searched scenario has it under [values]")
    return tuple(base[factor.name] for factor in factors)


def _preset(table: Table, factors: Sequence[Factor], base: Setting) -> Setting:
    pairs = zip(factors, base, strict=True)
    setting = tuple(table.choice(factor.name, factor.levels, usual) for factor, usual in pairs)
    table.done()
    return setting
