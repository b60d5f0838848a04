"""Flow specs: ``COUNT*KIND[:key=value]...``, as in ``10*newreno:rtt=20ms:start=2s``."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aqmlab.scenario import values as notation
from aqmlab.scenario.kinds import (
    ALIASES,
    COMMON,
    KINDS,
    STACKS,
    TRANSPORTS,
    Key,
    SourceKind,
    Transport,
    take_in_declared,
)
from aqmlab.scenario.model import Flows
from aqmlab.vocabulary.errors import about, did_you_mean, unknown
from aqmlab.vocabulary.units import Size, format_bytes, format_span, parse_whole

LARGEST_COUNT = 100_000
# The default stack.
RFC = "rfc"
# What a scenario calls the control of a transport that reacts.
CONTROLS = {"tcp": "congestion_control", "rate": "rate_control", "stack": "stack"}


@dataclass(frozen=True)
class Group:
    """Flows with the same settings, every key resolved."""

    count: int
    kind: str
    values: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the group in metrics."""
        return str(self.values["name"])

    @property
    def transport(self) -> Transport:
        """The transport."""
        return TRANSPORTS[self.values["transport"]]

    @property
    def reacts(self) -> bool:
        """Whether the flows react to the network."""
        return self.transport.reacts

    @property
    def ecn_capable(self) -> bool:
        """Whether its packets may be marked."""
        return str(self.values["ecn"]) != "off"

    @property
    def rtt_ns(self) -> int | None:
        """The base round-trip time of these flows; ``None`` means the scenario's."""
        rtt = self.values["rtt"]
        return None if rtt is None else int(rtt)

    @property
    def latest_start_ns(self) -> int:
        """When the last of the flows has started."""
        return int(self.values["start"][1]) + (self.count - 1) * int(self.values["apart"])

    def __str__(self) -> str:
        """Write the group with every key that applies, defaults included; parsing it gives the same group."""
        keys = keys_of(KINDS[self.kind], self.transport.name).values()
        told = [key for key in keys if self.values[key.name] is not None and not _is_usual_stack(key, self.values)]
        return ":".join([f"{self.count}*{self.kind}", *(_pair(key, self.values[key.name]) for key in told)])

    def resolved(self) -> Flows:
        """Return the group in base units; the topology adds where its flows begin and end."""
        kind, transport = KINDS[self.kind], self.transport
        common = {key.field: value for key, value in self._fields(COMMON).items()}
        settings = {key.field: value for key, value in self._fields(transport.keys).items()}
        source = {key.field: value for key, value in self._fields(kind.keys).items()} | kind.constants
        control = {CONTROLS[transport.form]: transport.name} if transport.reacts else {}
        earliest, latest = common["start_ns"]
        return Flows(
            name=common["name"],
            count=self.count,
            start_ns=(earliest, latest),
            apart_ns=common["apart_ns"],
            rtt_ns=common["rtt_ns"],
            traffic_class=common["class"],
            dscp=common["dscp"],
            transport=(transport.form, {**control, **settings}),
            source=(kind.form, source),
        )

    def _fields(self, keys: tuple[Key, ...]) -> dict[Key, Any]:
        segment = self.values.get("mss", 0)
        return {key: notation.resolved(key, self.values[key.name], segment) for key in keys}


def parse(text: str, folder: Path | None = None) -> Group:
    """Parse a flow spec; its files are looked for in `folder`.

    Raises:
        InputError: naming the key, the value, what is allowed and the nearest known name.

    >>> parse("2*cbr:rate=3mbit:packet=1000b").values["rate"]
    3000000

    """
    head, *pairs = (part.strip() for part in text.strip().split(":"))
    count, kind = _head(text, head)
    given = _given(text, kind, pairs)
    transport = TRANSPORTS[_choose(text, "transport", given.get("transport", kind.transport), kind.transports)]
    applicable = keys_of(kind, transport.name)
    over = "" if kind.form == "bulk" else f" over {transport.name}"
    for name in given:
        if name not in applicable and name != "transport":
            raise about("flows", f"'{text}': '{name}' means nothing for {kind.name}{over}")
    stack = _choose(text, "stack", given.get("stack", RFC), tuple(STACKS))
    written = {**defaults_of(kind, transport.name, stack), **given, "transport": transport.name}
    values = {name: _read(text, key, written.get(name), folder) for name, key in applicable.items()}
    values["transport"] = transport.name
    for name in kind.must:
        if values[name] is None:
            raise about("flows", f"'{text}': {kind.name} needs {name}=, {notation.takes(applicable[name])}")
    _check(text, transport, applicable, values, given)
    return Group(count=count, kind=kind.name, values=values)


def keys_of(kind: SourceKind, transport: str | None = None) -> Mapping[str, Key]:
    """Return the keys of a kind of flow, over one transport or over any."""
    return _keys_of(kind.name, transport)


@functools.cache
def _keys_of(name: str, transport: str | None) -> Mapping[str, Key]:
    kind = KINDS[name]
    transports = [TRANSPORTS[name] for name in ((transport,) if transport else kind.transports)]
    keys = [*COMMON, *([_transport_key(kind)] if len(kind.transports) > 1 else []), *kind.keys]
    if any(one.form == "tcp" for one in transports):
        keys.append(_STACK)
    keys += [key for one in transports for key in one.keys]
    found: dict[str, Key] = {}
    for key in keys:
        found.setdefault(key.name, key)
    return MappingProxyType(found)


@functools.cache
def _known() -> frozenset[str]:
    """Return the names of the keys of all kinds."""
    return frozenset(name for kind in KINDS.values() for name in keys_of(kind))


def renew() -> None:
    """Take in the transports that were declared since."""
    take_in_declared()
    _keys_of.cache_clear()
    _known.cache_clear()


def of_stack(transport: Transport, name: str) -> tuple[dict[str, str], str]:
    """Return the values that a stack sets for keys of a transport, and their source."""
    own = next((one for one in transport.stacks if one.name == name), None)
    sets = {**STACKS[name].values, **(own.values if own else {})}
    taken = {key: value for key, value in sets.items() if value in transport.only.get(key, (value,))}
    return taken, f"{STACKS[name].source}; {own.source}" if own else STACKS[name].source


def defaults_of(kind: SourceKind, transport: str | None = None, stack: str = RFC) -> dict[str, str | None]:
    """Return the default of each key; ``None`` where there is none."""
    carrier = TRANSPORTS[transport or kind.transport]
    sets, _ = of_stack(carrier, stack)
    plain = {name: key.default for name, key in keys_of(kind, transport).items()}
    told = {**sets, **carrier.sets, "stack": stack, "transport": carrier.name, "name": kind.name, **kind.defaults}
    return {name: told.get(name, default) for name, default in plain.items()}


def _choice(name: str, words: tuple[str, ...], default: str, about: str) -> Key:
    return Key(name, name, "one", "choice", words, 0, 0, default, about, "")


_STACK = _choice("stack", tuple(STACKS), RFC, "protocol stack that sets the defaults of TCP's keys")


def _transport_key(kind: SourceKind) -> Key:
    return _choice("transport", kind.transports, kind.transport, "transport of the data")


def of_the_field(key: Key) -> Key:
    """Return a key as lists show it: without the transports that an extension has.

    >>> "pmqecn" in of_the_field(keys_of(KINDS["workload"])["transport"]).words
    False

    """
    if key.name != "transport":
        return key
    return replace(key, words=tuple(word for word in key.words if not TRANSPORTS[word].extension))


def _is_usual_stack(key: Key, values: dict[str, Any]) -> bool:
    return key is _STACK and values["stack"] == RFC


def _pair(key: Key, value: Any) -> str:
    return f"{key.name}={notation.write(key, value)}"


def _head(text: str, head: str) -> tuple[int, SourceKind]:
    match = re.fullmatch(r"(?:([^*]*)\*)?\s*([^*]*)", head)
    if match is None:
        raise about("flows", f"'{text}': write COUNT*KIND[:key=value]..., as in 10*newreno:rtt=20ms")
    count_text, name = match.group(1), match.group(2).strip().lower()
    name = ALIASES.get(name, name)
    if name not in KINDS:
        raise about("flows", f"'{text}': {unknown('kind', name, KINDS)}")
    count_text = "1" if count_text is None else count_text.strip()
    try:
        return parse_whole(count_text, 1, LARGEST_COUNT), KINDS[name]
    except ValueError as error:
        raise about("flows", f"'{text}': count {error}") from None


def _given(text: str, kind: SourceKind, pairs: list[str]) -> dict[str, str]:
    """Return the values that the user gave, by key."""
    given: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not value:
            raise about("flows", f"'{text}': '{pair}' is not key=value")
        if name not in _known():
            raise about("flows", f"'{text}': {unknown('key', name, keys_of(kind))}")
        if name in given:
            raise about("flows", f"'{text}': '{name}' is given twice")
        given[name] = value
    return given


def _choose(text: str, key: str, name: str, known: tuple[str, ...]) -> str:
    name = ALIASES.get(name, name)
    if name not in known:
        raise about("flows", f"'{text}': {key} '{name}' is not one of {', '.join(known)}{did_you_mean(name, known)}")
    return name


def _read(text: str, key: Key, written: str | None, folder: Path | None) -> Any:
    if written is None:
        return None
    try:
        return notation.read(key, written, folder)
    except ValueError as error:
        raise about("flows", f"'{text}': {key.name}: {error}") from None


def _takers(name: str, word: str) -> str:
    takers = [one.name for one in TRANSPORTS.values() if word in one.only.get(name, (word,))]
    return f"; {word} is for {' and '.join(takers)}"


def _check(
    text: str, transport: Transport, keys: Mapping[str, Key], values: dict[str, Any], given: dict[str, str]
) -> None:
    """Refuse values that exclude each other."""

    def is_(name: str, word: str) -> bool:
        return name in keys and values[name] is not None and notation.write(keys[name], values[name]) == word

    for name, only in transport.only.items():
        if not any(is_(name, word) for word in only):
            hint = _takers(name, values[name]) if keys[name].unit == "choice" else ""
            raise about("flows", f"'{text}': {transport.name} takes {name}={' or '.join(only)} only{hint}")
    for relation in transport.relations:
        (name, word), (other, wanted) = relation.given, relation.needs
        if is_(name, word) and not is_(other, wanted):
            what = name if word == "on" else f"{name}={word}"
            raise about("flows", f"'{text}': {what} needs {other}={wanted}")
    if {"buffer", "segment"} <= values.keys() and values["buffer"] < 2 * values["segment"]:
        raise about("flows", f"'{text}': buffer={format_span(values['buffer'])} must hold two segments")
    window: Size | None = values.get("window")
    if window is not None and not window.in_packets and window.count < values["mss"]:
        raise about("flows", f"'{text}': window={given['window']} is below a segment of {format_bytes(values['mss'])}")
