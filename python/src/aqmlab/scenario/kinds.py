"""The kinds of flow and their transports, as the simulator declares them: names, keys, defaults, presets, sources."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from aqmlab import _native

# The extension that has what only the programs of papers' authors do.
PAPERS = "papers"

Takes = Literal["one", "drawn", "ascending", "range", "name", "nodes", "capture"]


@dataclass(frozen=True)
class Key:
    """The declaration of a key of a flow spec.

    It takes one value in its ``unit``, or one drawn from a distribution, or several; ``low`` and ``high`` are in base
    units. ``field`` is its name in the resolved scenario, ``allowed`` its notation in words. A default of ``None``
    means that there is none.
    """

    name: str
    field: str
    takes: Takes
    unit: str
    words: tuple[str, ...]
    low: float
    high: float
    default: str | None
    allowed: str
    help: str
    reference: str

    @classmethod
    def declared(cls, plain: dict[str, Any]) -> Key:
        """Return a key from its declaration as JSON."""
        return cls(**{**plain, "words": tuple(plain["words"])})

    def of_words(self, words: Iterable[str]) -> Key:
        """Return it with other words."""
        kept = tuple(words)
        *rest, last = kept
        return replace(self, words=kept, allowed=f"{', '.join(rest)} or {last}" if rest else last)

    @property
    def group(self) -> Group | None:
        """The group of rules that it belongs to."""
        return GROUPS.get(self.name.partition(".")[0]) if "." in self.name else None

    @property
    def names_files(self) -> bool:
        """Whether its value may name a file."""
        return self.takes in ("drawn", "capture")


@dataclass(frozen=True)
class Group:
    """A group of TCP's rules: its keys are called ``name.rule``. One that no profile sets is of one paper's senders."""

    name: str
    summary: str
    of_profiles: bool


@dataclass(frozen=True)
class Renamed:
    """A key before 0.3, its name now, and values that are written otherwise, as pairs of before and now."""

    old: str
    new: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Relation:
    """A value of one key that needs a value of another: ``recovery.rack=on`` needs ``sack=on``."""

    given: tuple[str, str]
    needs: tuple[str, str]


@dataclass(frozen=True)
class Profile:
    """How an implementation sets the keys of TCP, and the source."""

    name: str
    source: str
    values: dict[str, str]


@dataclass(frozen=True)
class Transport:
    """A transport: ``udp``, ``tcp``, ``rate`` (a rate-based sender) or ``stack`` (a real one).

    ``sets`` differs from the keys' defaults; ``only`` limits keys to some values. ``extension`` is the room that has it
    (``papers``), empty for those of the simulator.
    """

    name: str
    form: Literal["udp", "tcp", "rate", "stack"]
    extension: str
    alias: str
    summary: str
    reference: str
    carries: bool
    keys: tuple[Key, ...]
    sets: dict[str, str]
    only: dict[str, tuple[str, ...]]
    must: tuple[str, ...]
    relations: tuple[Relation, ...]
    profiles: tuple[Profile, ...]
    # The values that each profile sets.
    by_profile: dict[str, dict[str, str]]

    @property
    def reacts(self) -> bool:
        """Whether it reacts to the network."""
        return self.form != "udp"


@dataclass(frozen=True)
class SourceKind:
    """A kind of flow: what it sends, and its default transport.

    ``defaults`` replace those of the keys; ``must`` are required keys. In the resolved scenario its source is called
    ``form``, with ``constants`` beside the values of the keys.
    """

    name: str
    summary: str
    reference: str
    transport: str
    transports: tuple[str, ...]
    keys: tuple[Key, ...]
    defaults: dict[str, str]
    must: tuple[str, ...]
    form: str
    constants: dict[str, Any]
    extension: str = ""

    @property
    def help(self) -> str:
        """What it is, and the keys that it sets by default."""
        usual = TRANSPORTS[self.transport].sets if self.form == "bulk" else {}
        sets = ":".join(f"{key}={value}" for key, value in usual.items())
        return f"{self.summary}; {sets} by default" if sets else self.summary


def _keys(plain: list[dict[str, Any]]) -> tuple[Key, ...]:
    return tuple(map(Key.declared, plain))


def _transport(plain: dict[str, Any]) -> Transport:
    return Transport(
        **{
            **plain,
            "keys": _keys(plain["keys"]),
            "only": {key: tuple(values) for key, values in plain["only"].items()},
            "must": tuple(plain["must"]),
            "relations": tuple(Relation(tuple(one["given"]), tuple(one["needs"])) for one in plain["relations"]),
            "profiles": tuple(Profile(**one) for one in plain["profiles"]),
        }
    )


def _kind(plain: dict[str, Any]) -> SourceKind:
    lists = {name: tuple(plain[name]) for name in ("transports", "must")}
    return SourceKind(**{**plain, **lists, "keys": _keys(plain["keys"])})


def _bulk(transport: Transport, keys: tuple[Key, ...]) -> SourceKind:
    """A flow of a transport that always has data to send."""
    name, about = transport.name, (transport.summary, transport.reference)
    return SourceKind(name, *about, name, (name,), keys, {}, transport.must, "bulk", {}, transport.extension)


def take_in_declared() -> None:
    """Add the transports that were declared since this module was read."""
    declared = json.loads(_native.flows())
    for plain in declared["transports"]:
        if plain["form"] == "stack":
            TRANSPORTS[plain["name"]] = one = _transport(plain)
            KINDS[one.name] = _bulk(one, _keys(declared["bulk"]))
    KINDS.update({plain["name"]: _kind(plain) for plain in declared["kinds"]})


_DECLARED = json.loads(_native.flows())

# Keys of every flow, and of a flow that always has data to send.
COMMON = _keys(_DECLARED["common"])
GROUPS: dict[str, Group] = {one["name"]: Group(**one) for one in _DECLARED["groups"]}
RENAMED = tuple(Renamed(one["old"], one["new"], tuple(map(tuple, one["values"]))) for one in _DECLARED["renamed"])
PROFILES: dict[str, Profile] = {one["name"]: Profile(**one) for one in _DECLARED["profiles"]}
TRANSPORTS: dict[str, Transport] = {one["name"]: _transport(one) for one in _DECLARED["transports"]}
KINDS: dict[str, SourceKind] = {
    kind.name: kind
    for kind in (
        *(_bulk(one, _keys(_DECLARED["bulk"])) for one in TRANSPORTS.values() if one.reacts),
        *(_kind(kind) for kind in _DECLARED["kinds"]),
    )
}
ALIASES = {one.alias: one.name for one in TRANSPORTS.values() if one.alias}
