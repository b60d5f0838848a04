"""Flow specs, ``COUNT*KIND[:key=value]...``, as the resolver in Rust reads them (`aqm_scenario::flows`)."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _native
from aqmlab.files import system
from aqmlab.scenario.kinds import PROFILES, TRANSPORTS, Key, SourceKind, Transport, take_in_declared
from aqmlab.scenario.model import Flows

# The default profile.
RFC = "rfc"
# What a scenario calls the control of a transport that reacts.
CONTROLS = {"tcp": "congestion_control", "rate": "rate_control", "stack": "stack"}


@dataclass(frozen=True)
class Group:
    """Flows with the same settings, every key resolved.

    ``texts`` holds the keys that have a value, as they are written; ``written`` is the group with all of them, and
    ``short`` with those that differ from the default of kind, transport and profile. Reading either gives the same.
    """

    count: int
    kind: str
    carrier: str
    texts: Mapping[str, str]
    written: str
    short: str
    flows: Flows

    @property
    def name(self) -> str:
        """The name of the group in metrics."""
        return self.flows.name

    @property
    def transport(self) -> Transport:
        """The transport."""
        return TRANSPORTS[self.carrier]

    @property
    def reacts(self) -> bool:
        """Whether the flows react to the network."""
        return self.transport.reacts

    @property
    def ecn_capable(self) -> bool:
        """Whether its packets may be marked."""
        return self.texts["ecn"] != "off"

    @property
    def rtt_ns(self) -> int | None:
        """The base round-trip time of these flows; ``None`` means the scenario's."""
        return self.flows.rtt_ns

    @property
    def latest_start_ns(self) -> int:
        """When the last of the flows has started."""
        return self.flows.start_ns[1] + (self.count - 1) * self.flows.spacing_ns

    def data(self) -> dict[str, Any]:
        """Return it for a manifest, with every key."""
        return {"name": self.name, "kind": self.kind, "count": self.count, "keys": dict(self.texts)}

    def __str__(self) -> str:
        """Write the group with every key that applies, defaults included."""
        return self.written


class Files:
    """The files that options name, looked for in a folder; ``fill`` replaces the ``$names`` in those of topologies."""

    def __init__(self, folder: Path | None, fill: Callable[[str], str] = str) -> None:
        self._folder = folder or Path()
        self.fill = fill

    def place(self, name: str) -> str:
        """Return the path of a file."""
        return str(self._folder / name)

    def read(self, place: str, most: int) -> str:
        """Return the text of a file of so many bytes at most."""
        path = Path(place)
        with system.reading(path):
            return system.content(path, most).decode()


def parse(text: str, folder: Path | None = None) -> Group:
    """Parse a flow spec; its files are looked for in `folder`.

    Raises:
        InputError: naming the key, the value, what is allowed and the nearest known name.

    >>> parse("2*cbr:rate=3mbit:packet=1000b:dscp=0").short
    '2*cbr:rate=3mbit:packet=1000b'

    """
    return parse_all([text], folder)[0]


def parse_all(texts: Sequence[str], folder: Path | None = None) -> tuple[Group, ...]:
    """Parse the flow specs of a scenario: its groups have different names.

    Raises:
        InputError: as `parse`; and if a name is given twice.

    >>> [group.name for group in parse_all(["1*cubic", "2*cubic:rtt=20ms"])]
    ['cubic', 'cubic-2']

    """
    return tuple(map(group, json.loads(_native.parse_flows(list(texts), Files(folder)))))


def group(found: dict[str, Any]) -> Group:
    """Return a group as the resolver describes it."""
    ((carrier, carried),) = json.loads(found["transport"]).items()
    source = json.loads(found["source"])
    ((form, keys),) = source.items() if isinstance(source, dict) else ((source, {}),)
    earliest, latest = found["start_ns"]
    flows = Flows(
        name=found["name"],
        count=found["count"],
        start_ns=(earliest, latest),
        spacing_ns=found["spacing_ns"],
        rtt_ns=found["rtt_ns"],
        traffic_class=found["class"],
        dscp=found["dscp"],
        transport=(carrier, carried),
        source=(form, keys),
        socket=json.loads(found["socket"]) if found["socket"] else None,
    )
    kept = {name: found[name] for name in ("count", "kind", "carrier", "written", "short")}
    return Group(**kept, texts=dict(found["texts"]), flows=flows)


def keys_of(kind: SourceKind, transport: str | None = None) -> Mapping[str, Key]:
    """Return the keys of a kind of flow, over one transport or over any."""
    return {key.name: key for key, _ in _declared(kind.name, transport, RFC)}


def defaults_of(kind: SourceKind, transport: str | None = None, profile: str = RFC) -> dict[str, str | None]:
    """Return the default of each key; ``None`` where there is none."""
    return {key.name: default for key, default in _declared(kind.name, transport, profile)}


@functools.cache
def _declared(kind: str, transport: str | None, profile: str) -> tuple[tuple[Key, str | None], ...]:
    found = json.loads(_native.flow_keys(kind, transport, profile))
    return tuple((Key.declared(key), default) for key, default in found)


def renew() -> None:
    """Take in the transports that were declared since."""
    take_in_declared()
    _declared.cache_clear()


def of_profile(transport: Transport, name: str) -> tuple[dict[str, str], str]:
    """Return the values that a profile sets for keys of a transport, and their source."""
    own = next((one for one in transport.profiles if one.name == name), None)
    sources = [PROFILES[name].source, *([own.source] if own else [])]
    return transport.by_profile[name], "; ".join(sources)


def of_the_field(key: Key) -> Key:
    """Return a key as lists show it: without the transports that an extension has.

    >>> from aqmlab.scenario.kinds import KINDS
    >>> "pmqecn" in of_the_field(keys_of(KINDS["workload"])["transport"]).words
    False

    """
    return (
        key.of_words(word for word in key.words if not TRANSPORTS[word].extension) if key.name == "transport" else key
    )
