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
from aqmlab.scenario import Experiment
from aqmlab.vocabulary.errors import InputError, unknown

# Numbers of settings and runs, each with its smallest value.
COUNTS = {"settings": 1, "seeds": 1, "steps": 0}
# Defaults for what is run again.
AGAIN = {"best": 3, "fresh_seeds": 10}

# A level for each factor, in the order of the factors.
Setting: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Factor:
    """An open parameter; ``levels`` holds the values of each level's ``$names``.

    One that is not sampled is chosen by presets alone.
    """

    name: str
    says: str
    levels: Mapping[str, Mapping[str, str]]
    is_sampled: bool = True

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
class Sampling:
    """How the configurations of a search are drawn, in full and quickly, and from which scenarios."""

    own: str
    sizes: bool
    made: tuple[str, ...]
    scenarios: tuple[str, ...]
    around: tuple[str, ...]
    full: Mapping[str, int]
    quick: Mapping[str, int]


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
        around: the settings whose neighbours, which differ in one factor, are tried too.
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
    around: tuple[Setting, ...]
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

    def experiment(self, setting: Setting, name: str, overrides: Mapping[str, str] | None = None) -> Experiment:
        """Return a scenario as a setting has it: its levels replace the values that the file names.

        Raises:
            InputError: naming file, key and value.

        """
        path = self.scenarios[name]
        named = scenario.load(path).points[0].named
        values = {key: value for key, value in self.values(setting).items() if key in named}
        return scenario.load(path, overrides, values=values, quick=self.quick)

    def words(self, setting: Setting) -> str:
        """Describe how a setting differs from the base."""
        named = zip(self.factors, setting, self.base, strict=True)
        changed = [f"{factor.name} {level}" for factor, level, base in named if level != base]
        return ", ".join(changed) or "as in the scenario files"


def sampling(table: Table) -> Sampling:
    """Read how configurations are drawn: their numbers, and which scenarios are run in each.

    Raises:
        InputError: naming file, key and value.

    """
    counts = {key: table.count(key, least=least) for key, least in COUNTS.items()}
    counts |= {key: table.count(key, usual, 1) for key, usual in AGAIN.items()}
    fewer = table.table("quick")
    quick = counts
    if fewer is not None:
        quick = {key: fewer.count(key, usual, COUNTS.get(key, 1)) for key, usual in counts.items()}
        fewer.done()
    found = Sampling(
        table.text("own"),
        table.flag("sizes"),
        table.texts("made"),
        table.texts("scenarios"),
        table.texts("around"),
        counts,
        quick,
    )
    table.done()
    return found


def factors(table: Table) -> tuple[Factor, ...]:
    """Read the factors of a file: its `[[factor]]` tables.

    Raises:
        InputError: naming file, factor, key and value.

    """
    return tuple(_factor(one) for one in table.tables("factor", "name"))


def levels(table: Table, known: Sequence[Factor]) -> dict[str, str]:
    """Read the levels of a preset: factors in their order, those that it leaves at the base left out.

    Raises:
        InputError: naming the preset, the factor and the level.

    """
    own = table.table("levels")
    if own is None:
        return {}
    chosen = {factor.name: own.choice(factor.name, ("", *factor.levels), "") for factor in known}
    own.done()
    return {name: level for name, level in chosen.items() if level}


def search(
    sampled: Sampling,
    known: Sequence[Factor],
    presets: Mapping[str, Mapping[str, str]],
    scenarios: Mapping[str, Path],
    place: str,
    *,
    quick: bool = False,
) -> Search:
    """Return the plan of a search over scenario files, in which the factors' values stand as ``$names``.

    Args:
        sampled: how many configurations, and of what.
        known: the factors.
        presets: levels by preset.
        scenarios: the scenario files by name.
        place: start of every message: the file of the plan.
        quick: fewer configurations and seeds.

    Raises:
        InputError: naming file, key and value.

    """
    if not known:
        raise InputError(f"{place}factor: is missing: give the open parameters, as [[factor]]")
    known, base = _base(place, known, scenarios)
    named = {
        name: tuple(own.get(factor.name, usual) for factor, usual in zip(known, base, strict=True))
        for name, own in presets.items()
    }
    for name in sampled.around:
        if name not in named:
            raise InputError(f"{place}space: around: {unknown('preset', name, named)}")
    around = tuple(named[name] for name in sampled.around) or (base, *named.values())
    counts = sampled.quick if quick else sampled.full
    return Search(
        tuple(known),
        scenarios,
        sampled.own,
        sampled.sizes,
        base,
        named,
        around,
        quick=quick,
        made=sampled.made,
        **counts,
    )


def _factor(table: Table) -> Factor:
    name = table.text("name")
    is_sampled = table.choice("sampled", ("yes", "no"), "yes") == "yes"
    factor = Factor(name, table.text("says"), table.named_values("levels", name), is_sampled)
    table.done()
    if len(factor.levels) < 2:
        raise table.error("levels: must hold at least two levels")
    if len({*factor.shown.values()}) < len(factor.levels):
        raise table.error("levels: two of them have the same value")
    for level, values in factor.levels.items():
        if {*values} != {*factor.names}:
            raise table.error(f"levels: '{level}' has other values ({', '.join(values)}) than the first level")
    return factor


def _base(place: str, factors: Sequence[Factor], scenarios: Mapping[str, Path]) -> tuple[tuple[Factor, ...], Setting]:
    """Return the factors of the searched scenarios, and the level of each in these files, which must agree."""
    if not scenarios:
        raise InputError(f"{place}there is no scenario to search")
    fits: dict[str, list[str]] = {}
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
            # A scenario need not have all names of a factor.
            fitting = [level for level, own in factor.levels.items() if values.items() <= own.items()]
            if not fitting:
                raise InputError(f"{path}: values: {factor.name}: '{words}' is not a level of it")
            fits[factor.name] = [level for level in fits.get(factor.name, fitting) if level in fitting]
            if not fits[factor.name]:
                raise InputError(f"{path}: values: {factor.name}: '{words}' differs from the other scenarios'")
    base = {name: fitting[0] for name, fitting in fits.items()}
    for factor in factors:
        if factor.is_sampled and factor.name not in base:
            raise InputError(f"{place}factor {factor.name}: no searched scenario has it under [values]")
    found = tuple(factor for factor in factors if factor.name in base)
    return found, tuple(base[factor.name] for factor in found)
