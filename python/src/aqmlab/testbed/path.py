"""The path that is tested on: options of a comparison for one discipline, checked before anything runs."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aqmlab import facade, scenario
from aqmlab.scenario import split_texts
from aqmlab.scenario.options import BY_NAME
from aqmlab.scenario.python_transport import Transport, register_transport
from aqmlab.testbed.outcome import Outcome
from aqmlab.vocabulary.errors import about
from aqmlab.vocabulary.units import parse_whole

if TYPE_CHECKING:
    from aqmlab.own.python_aqm import AQM


@dataclass(frozen=True)
class Path:
    """A bottleneck with what goes through it; `run` simulates it with one seed."""

    aqm: str
    options: Mapping[str, Any] = field(repr=False)
    #: Where figure and capture of a failed assertion go; a new one unless given, made when it is needed.
    folder: pathlib.Path | None

    def run(self, seed: int) -> Outcome:
        """Run it once."""
        return Outcome(facade.compare(aqm=self.aqm, jobs=1, **self._with(seed)), self.folder)

    def groups(self) -> list[str]:
        """Return the names of its groups of flows in order, or raise what makes the path impossible."""
        values = {name: value for name, value in self._with(1).items() if name in BY_NAME}
        plan = scenario.resolve(scenario.from_values({"aqm": self.aqm, **values}))
        return [group.name for group in plan.groups]

    def within(self, name: str) -> Path:
        """Return the same with its files in a folder within its own, if it has one."""
        return replace(self, folder=self.folder and self.folder / name)

    def behind(self, aqm: str, flows: str) -> Path:
        """Return the same with this discipline, and with these flows beside its own."""
        own = self.options.get("flows", ())
        own = [own] if isinstance(own, (str, os.PathLike)) else list(own or ())
        return replace(self, aqm=aqm, options={**self.options, "flows": [*own, flows]})

    def _with(self, seed: int) -> dict[str, Any]:
        return {**self.options, "seeds": 1, "first_seed": seed}


def path(
    aqm: str | type[AQM],
    transports: Sequence[type[Transport]],
    folder: str | os.PathLike[str] | None,
    options: Mapping[str, Any],
) -> Path:
    """Return a path of options, as `testbed.run` takes them.

    Raises:
        InputError: naming the option, its value and what is allowed.

    """
    for name in ("seeds", "first_seed"):
        if name in options:
            raise about(name, "a run has one seed: give testbed.run a seed, or testbed.over several")
    if isinstance(transports, (str, type)):
        raise about("transports", f"{transports!r} is no list: give classes of aqmlab.Transport in one")
    for transport in transports:
        register_transport(transport)
    if not isinstance(folder, (str, os.PathLike, type(None))):
        raise about("folder", f"{folder!r} is no path")
    place = None if folder is None else pathlib.Path(folder)
    if place is not None and place.exists() and not place.is_dir():
        raise about("folder", f"'{folder}' is a file: the figure and capture of a failed assertion need a folder")
    return Path(discipline(aqm), options, place)


def discipline(aqm: object) -> str:
    """Return the text of one discipline; a class is registered under its name."""
    if isinstance(aqm, type):
        from aqmlab.own.python_aqm import register_aqm

        return register_aqm(aqm)
    if not (isinstance(aqm, str) and len(split_texts(aqm)) == 1):
        raise about("aqm", f"'{aqm}' is not one discipline: a path has one")
    return aqm


def checked_seeds(name: str, seeds: Iterable[object]) -> tuple[int, ...]:
    """Return seeds as numbers from 1."""
    if isinstance(seeds, (str, bytes)) or not isinstance(seeds, Iterable):
        raise about(name, f"{seeds!r} is no list of seeds: give one, as range(1, 6)")
    found = []
    for seed in seeds:
        try:
            found.append(parse_whole(str(seed), 1))
        except ValueError as error:
            raise about(name, f"{error}") from None
    return tuple(found)
