"""The disciplines, as the registry declares them."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

from aqmlab import _native
from aqmlab.own import python_aqm
from aqmlab.own.python_aqm import PYTHON
from aqmlab.vocabulary.units import Size


@dataclass(frozen=True)
class Parameter:
    """The declaration of one parameter; values are in tc's notation."""

    name: str
    unit: str
    default: str
    allowed: str
    words: tuple[str, ...]
    auto: str
    help: str
    reference: str


@dataclass(frozen=True)
class Preset:
    """A named set of values and their source; ``values`` holds those that differ from the defaults."""

    name: str
    source: str
    values: dict[str, str]


@dataclass(frozen=True)
class Probe:
    """A variable that a discipline reports while running."""

    name: str
    unit: str
    help: str


@dataclass(frozen=True)
class Discipline:
    """A queue discipline; ``extension`` is the room that has it (``papers``), empty for those of the field."""

    name: str
    extension: str
    group: str
    summary: str
    reference: str
    deviations: str
    params: tuple[Parameter, ...]
    presets: tuple[Preset, ...]
    probes: tuple[Probe, ...]
    traits: dict[str, bool | int]
    state_bytes: int

    @property
    def has_limit(self) -> bool:
        """Whether the discipline has a limit of its own."""
        return any(param.name == "limit" for param in self.params)


@dataclass(frozen=True)
class Spec:
    """A discipline with its parameters, parsed from tc's notation; ``source`` is the hash of one written in Python."""

    name: str
    preset: str
    canonical: str
    params: dict[str, str]
    given: frozenset[str]
    source: str = ""

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Parse ``NAME[:PRESET] [PARAM VALUE | FLAG | noFLAG]...``.

        Raises:
            InputError: for an unknown name, preset or parameter, or a value that is not allowed.

        >>> Spec.parse("fifo limit 64kb").params["limit"]
        '64kb'

        """
        source = cls._loaded(text)
        return cls._of(json.loads(_native.parse_spec(text)), source)

    @classmethod
    def resolve(cls, text: str, buffer: Size, rate_bps: int) -> tuple[Spec, str]:
        """Return a discipline for a link, with a buffer where it has a limit and none is given, and the most it holds.

        Raises:
            InputError: as `parse`; and if its parameters exclude each other.

        >>> spec, total = Spec.resolve("codel", Size.parse("50p"), 10_000_000)
        >>> spec.canonical, total
        ('codel:rfc8289 limit 50p', '50p')

        """
        source = cls._loaded(text)
        parsed, total = _native.resolve_aqm(text, (buffer.count, buffer.in_packets), rate_bps)
        return cls._of(json.loads(parsed), source), total

    @staticmethod
    def _loaded(text: str) -> str:
        """Load the code that a text names; return the hash of its source."""
        return python_aqm.load(text) if text.lstrip().startswith(PYTHON) else ""

    @classmethod
    def _of(cls, parsed: dict[str, Any], source: str) -> Spec:
        params: dict[str, dict[str, Any]] = parsed["params"]
        return cls(
            name=parsed["name"],
            preset=parsed["preset"],
            canonical=parsed["canonical"],
            params={name: param["value"] for name, param in params.items()},
            given=frozenset(name for name, param in params.items() if param["given"]),
            source=source,
        )


def disciplines() -> tuple[Discipline, ...]:
    """Return every discipline, in the order of the listing; those of papers' programs are apart (`of_papers`)."""
    return tuple(one for one in _all() if not one.extension)


def of_papers() -> tuple[Discipline, ...]:
    """Return the disciplines that only papers' programs have."""
    return tuple(one for one in _all() if one.extension)


@functools.cache
def _all() -> tuple[Discipline, ...]:
    return tuple(_discipline(info) for info in json.loads(_native.disciplines()))


def find(name: str) -> Discipline:
    """Return the discipline of this name; hyphens, underscores and case do not matter.

    Raises:
        InputError: for an unknown name, with the nearest known one.

    """
    return _one(_native.discipline_of(Spec.parse(name).name))


@functools.cache
def _one(text: str) -> Discipline:
    """Return a discipline as it is declared; one in Python may be declared anew."""
    return _discipline(json.loads(text))


def marks(spec: Spec) -> bool:
    """Whether the discipline as given may mark; one with children may, since they may."""
    discipline = find(spec.name)
    if any(param.unit.startswith("discipline") for param in discipline.params):
        return True
    return bool(discipline.traits["ecn"]) and spec.params.get("ecn", "on") == "on"


def marking(text: str) -> str:
    """Return a discipline in tc's notation with ECN switched on, if it has such a switch.

    >>> marking("pie target 5ms"), marking("fifo"), marking("codel noecn")
    ('pie target 5ms ecn', 'fifo', 'codel noecn')

    """
    spec = Spec.parse(text)
    switch = any(param.name == "ecn" for param in find(spec.name).params)
    return f"{text} ecn" if switch and "ecn" not in spec.given else text


def listing(*, papers: bool = False) -> list[dict[str, Any]]:
    """Return everything about every discipline as plain data (``aqmlab aqm list --json``); of papers, about theirs."""
    plain: list[dict[str, Any]] = json.loads(_native.disciplines())
    return [one for one in plain if bool(one["extension"]) == papers]


def _discipline(info: dict[str, Any]) -> Discipline:
    params = (Parameter(**{**param, "words": tuple(param["words"])}) for param in info["params"])
    return Discipline(
        **{
            **info,
            "params": tuple(params),
            "presets": tuple(Preset(**preset) for preset in info["presets"]),
            "probes": tuple(Probe(**probe) for probe in info["probes"]),
        }
    )
