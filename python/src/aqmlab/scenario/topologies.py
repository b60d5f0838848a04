"""Topologies as data: generators by name, as in ``parking_lot:hops=3``, and files with a list of links."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab import toml
from aqmlab.errors import InputError, unknown
from aqmlab.scenario import switches
from aqmlab.units import format_rate, parse_rate, parse_span

PLAIN = "plain"
TESTED = "under_test"
LARGEST_HOSTS = 10_000
# Hosts' links are this much faster than the bottleneck where they shall not be one.
ACCESS_FACTOR = 10
CLIENTS_OF_ROUTER, CLIENTS_OF_SITE, SERVERS_OF_SITE = 4, 16, 4


@dataclass
class Layout:
    """Links as the simulator takes them, which is the bottleneck, the usual ends of flows, and the measured ports.

    No ports stand for the bottleneck's.
    """

    links: list[dict[str, Any]] = field(default_factory=list)
    measured: int = 0
    measure: tuple[str, ...] = ()
    sources: list[str] = field(default_factory=list)
    sinks: list[str] = field(default_factory=list)
    switches: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes, in the order of their appearance."""
        return list(dict.fromkeys(link[end] for link in self.links for end in ("from", "to")))

    @property
    def ports(self) -> list[str]:
        """The names of the ports, one in front of each link."""
        return [link.get("name") or f"{link['from']}->{link['to']}" for link in self.links]

    def link(
        self,
        start: str,
        end: str,
        rate_bps: int | None,
        delay_ns: int,
        queue: object = PLAIN,
        medium: str = "",
        name: str = "",
    ) -> None:
        """Add a one-way link; its port is called ``start->end`` unless it has a name."""
        link = {"from": start, "to": end, "rate_bps": rate_bps, "delay_ns": delay_ns, "queue": queue}
        optional = {"medium": medium, "name": name}
        self.links.append({**link, **{key: value for key, value in optional.items() if value}})

    def both(self, start: str, end: str, rate_bps: int | None, delay_ns: int, there: object, back: object) -> None:
        """Add a link each way, with the queues in front of them."""
        self.link(start, end, rate_bps, delay_ns, there)
        self.link(end, start, rate_bps, delay_ns, back)

    def engine(self) -> dict[str, Any]:
        """Return the topology as the simulator takes it."""
        switches = {"switches": self.switches} if self.switches else {}
        return {"links": self.links, "measured": self.measured, **switches}

    def equip(self, options: dict[str, Any] | None, pattern: str = "") -> None:
        """Give switches their options: the nodes that a pattern names, or all with more than one neighbour.

        Raises:
            InputError: if the pattern names nothing.

        """
        if options is None:
            return
        neighbours: dict[str, set[str]] = {node: set() for node in self.nodes}
        for link in self.links:
            neighbours[link["from"]].add(link["to"])
            neighbours[link["to"]].add(link["from"])
        between = [node for node, others in neighbours.items() if len(others) > 1]
        self.switches = dict.fromkeys(self.choose(pattern) if pattern else between, options)

    def choose(self, pattern: str) -> list[str]:
        """Return the nodes that a pattern names: names and globs, separated by ``|``.

        Raises:
            InputError: if a part names nothing.

        """
        nodes = self.nodes
        chosen: list[str] = []
        for part in pattern.split("|"):
            found = [node for node in nodes if fnmatch.fnmatchcase(node, part)]
            if not found:
                raise InputError(unknown("node", part, nodes[:30]))
            chosen += found
        return chosen


@dataclass(frozen=True)
class Kind:
    """A generator: what it takes beside rate and round-trip time, with defaults, and what it makes of them."""

    name: str
    help: str
    keys: dict[str, str]
    build: Callable[[int, int, dict[str, int]], Layout]
    has_switches: bool = False


def read(text: str, rate_bps: int, rtt_ns: int, folder: str | os.PathLike[str] = ".") -> Layout:
    """Read a topology: ``NAME[:key=value]...`` or the name of a TOML file.

    Args:
        text: what the user wrote.
        rate_bps: the rate of the links under test.
        rtt_ns: the base round-trip time of the longest way.
        folder: where relative files are looked for.

    Raises:
        InputError: naming key, value, what is allowed and the nearest name.

    >>> read("parking_lot:hops=2", 10_000_000, 40_000_000).choose("r*")
    ['r0', 'r1', 'r2']

    """
    if text.endswith(".toml"):
        return _from_file(Path(folder) / text)
    name, *pairs = (part.strip() for part in text.split(":"))
    known = {kind.name: kind for kind in KINDS}
    name = name.lower().replace("-", "_")
    if name not in known:
        raise InputError(f"{unknown('topology', name, ['dumbbell', *known])}, or a file that ends in .toml")
    kind = known[name]
    values = dict(kind.keys)
    switch: dict[str, str] = {}
    known_keys = {**kind.keys, **(switches.KEYS if kind.has_switches else {})}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or key not in known_keys:
            raise InputError(unknown("key", key, known_keys) if known_keys else f"{name} takes no keys")
        (values if key in kind.keys else switch)[key] = value
    layout = kind.build(rate_bps, rtt_ns, {key: _value(key, value) for key, value in values.items()})
    layout.equip(switches.options(switch))
    return layout


def _value(key: str, text: str) -> int:
    if key == "up":
        rate = parse_rate(text) if text else 0
        if text and rate == 0:
            raise InputError(f"{key}: '{text}' is zero")
        return rate
    if not re.fullmatch("[0-9]+", text) or not 1 <= int(text) <= LARGEST_HOSTS:
        raise InputError(f"{key}: '{text}' is not a whole number from 1 to {LARGEST_HOSTS}")
    return int(text)


def _parking_lot(rate: int, rtt: int, keys: dict[str, int]) -> Layout:
    hops = keys["hops"]
    layout, delay = Layout(sources=["src"], sinks=["dst"]), rtt // (2 * (hops + 2))
    fast = rate * ACCESS_FACTOR
    layout.both("src", "r0", fast, delay, PLAIN, PLAIN)
    for hop in range(hops):
        layout.both(f"r{hop}", f"r{hop + 1}", rate, delay, TESTED, PLAIN)
        layout.both(f"cross{hop}.src", f"r{hop}", fast, delay, PLAIN, PLAIN)
        layout.both(f"r{hop + 1}", f"cross{hop}.dst", fast, delay, PLAIN, PLAIN)
    layout.both(f"r{hops}", "dst", fast, delay, PLAIN, PLAIN)
    layout.measured = 2
    return layout


def _star(rate: int, rtt: int, keys: dict[str, int]) -> Layout:
    hosts = [f"h{number}" for number in range(keys["hosts"])]
    layout = Layout(sources=hosts[1:] or hosts, sinks=hosts[:1])
    for host in hosts:
        layout.both("switch", host, rate, rtt // 4, TESTED, PLAIN)
    return layout


def _many_to_one(rate: int, rtt: int, keys: dict[str, int]) -> Layout:
    senders = [f"s{number}" for number in range(keys["senders"])]
    layout = Layout(sources=senders, sinks=["server"])
    layout.both("router", "server", rate, rtt // 4, TESTED, PLAIN)
    for sender in senders:
        layout.both(sender, "router", rate * ACCESS_FACTOR, rtt // 4, PLAIN, PLAIN)
    return layout


def _many_to_many(rate: int, rtt: int, keys: dict[str, int]) -> Layout:
    senders = [f"s{number}" for number in range(keys["senders"])]
    servers = [f"server{number}" for number in range(keys["servers"])]
    layout, delay = Layout(sources=senders, sinks=servers), rtt // 6
    layout.both("router", "switch", rate, delay, TESTED, PLAIN)
    for sender in senders:
        layout.both(sender, "router", rate * ACCESS_FACTOR, delay, PLAIN, PLAIN)
    for server in servers:
        layout.both("switch", server, rate, delay, TESTED, PLAIN)
    return layout


def _campus(rate: int, rtt: int, keys: dict[str, int]) -> Layout:
    """Sites as in the large-network evaluation: four clients to a router, four routers and four servers to a switch."""
    layout = Layout(sources=[f"c{number}" for number in range(keys["clients"])])
    sites = -(-keys["clients"] // CLIENTS_OF_SITE)
    # Client, router, switch (core, switch), server.
    delay, fast = rtt // (6 if sites == 1 else 10), rate * ACCESS_FACTOR
    for number, client in enumerate(layout.sources):
        router, site = number // CLIENTS_OF_ROUTER, number // CLIENTS_OF_SITE
        if number % CLIENTS_OF_ROUTER == 0:
            layout.both(f"r{router}", f"switch{site}", rate, delay, TESTED, PLAIN)
        layout.both(client, f"r{router}", fast, delay, PLAIN, PLAIN)
        # To the servers of the next site in turn: nearly all traffic crosses the core.
        layout.sinks.append(f"server{(site + 1) % sites}.{number % SERVERS_OF_SITE}")
    for site in range(sites):
        for server in range(SERVERS_OF_SITE):
            layout.both(f"switch{site}", f"server{site}.{server}", fast, delay, PLAIN, PLAIN)
        if sites > 1:
            layout.both(f"switch{site}", "core", fast, delay, PLAIN, PLAIN)
    return layout


def _leaf_spine(rate: int, rtt: int, keys: dict[str, int]) -> Layout:
    layout, delay = Layout(), rtt // 8
    for leaf in range(keys["leaves"]):
        hosts = [f"h{leaf}.{number}" for number in range(keys["hosts"])]
        (layout.sinks if leaf == 0 else layout.sources).extend(hosts)
        for host in hosts:
            layout.both(f"leaf{leaf}", host, rate, delay, TESTED, PLAIN)
        for spine in range(keys["spines"]):
            layout.both(f"leaf{leaf}", f"spine{spine}", rate, delay, TESTED, TESTED)
    layout.sources = layout.sources or layout.sinks[1:]
    return layout


def _shared_medium(rate: int, rtt: int, keys: dict[str, int]) -> Layout:
    stations = [f"station{number}" for number in range(keys["stations"])]
    layout, delay = Layout(sources=["server"], sinks=stations), rtt // 4
    for station in stations:
        layout.link("ap", station, rate, delay, TESTED, "air")
        layout.link(station, "ap", rate, delay, TESTED, "air")
    layout.both("server", "ap", rate * ACCESS_FACTOR, delay, PLAIN, PLAIN)
    return layout


def _asymmetric(rate: int, rtt: int, keys: dict[str, int]) -> Layout:
    layout, delay, fast = Layout(sources=["server"], sinks=["home"]), rtt // 6, rate * ACCESS_FACTOR
    layout.link("isp", "modem", rate, delay, TESTED, name="down")
    layout.link("modem", "isp", keys["up"] or max(rate // 10, 1), delay, TESTED, name="up")
    layout.measure = ("down", "up")
    layout.both("server", "isp", fast, delay, PLAIN, PLAIN)
    layout.both("modem", "home", fast, delay, PLAIN, PLAIN)
    return layout


KINDS: tuple[Kind, ...] = (
    Kind(
        "parking_lot",
        "hops in a row, each with the AQM; cross traffic from cross0.src to cross0.dst and so on",
        {"hops": "3"},
        _parking_lot,
    ),
    Kind("star", "hosts around a switch, the AQM on its ports; to h0 unless told", {"hosts": "8"}, _star, True),
    Kind("many_to_one", "senders behind a router, one server", {"senders": "8"}, _many_to_one, True),
    Kind("many_to_many", "senders, router, switch, servers", {"senders": "8", "servers": "4"}, _many_to_many, True),
    Kind(
        "campus",
        "sites of 16 clients, 4 routers, a switch and 4 servers around a core, the AQM on each router's way to its "
        "switch; to the servers of the next site",
        {"clients": "16"},
        _campus,
    ),
    Kind(
        "leaf_spine",
        "leaves and spines with equal routes between them, the AQM on every port of a switch",
        {"leaves": "2", "spines": "2", "hosts": "4"},
        _leaf_spine,
        True,
    ),
    Kind(
        "shared_medium",
        "stations that share the time of one medium with their access point",
        {"stations": "4"},
        _shared_medium,
    ),
    Kind(
        "asymmetric",
        "a slow way up (a tenth unless given) beside the way down, the AQM on both; both are measured",
        {"up": ""},
        _asymmetric,
    ),
)


def _from_file(path: Path) -> Layout:
    place = f"{path}: "
    table = toml.read(path)
    _known(place, table, ("link", "measured", "sources", "sinks", "switch"))
    layout = Layout(sources=_names(place, table, "sources"), sinks=_names(place, table, "sinks"))
    entries = table.get("link")
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{place}has no [[link]]")
    for number, entry in enumerate(entries):
        _add(layout, entry, f"{place}link {number}: ")
    measured = table.get("measured", "")
    names = [f"{link['from']}->{link['to']}" for link in layout.links]
    tested = [name for name, link in zip(names, layout.links, strict=True) if link["queue"] == TESTED]
    if measured and measured not in tested:
        raise InputError(f"{place}measured: {unknown('link under test', str(measured), tested)}")
    if not tested:
        raise InputError(f'{place}no link has queue = "test"')
    layout.measured = names.index(measured or tested[0])
    _equip(layout, table.get("switch", {}), f"{place}switch: ")
    return layout


def _equip(layout: Layout, table: Any, place: str) -> None:
    """Give the switches of a file what its ``[switch]`` says."""
    if not isinstance(table, dict):
        raise InputError(f"{place}is not a table")
    nodes = "|".join(_names(place, table, "nodes"))
    values = {key: value for key, value in table.items() if key != "nodes"}
    try:
        layout.equip(switches.options(switches.from_table(values)), nodes)
    except ValueError as error:
        raise InputError(f"{place}{error}") from None


def _add(layout: Layout, entry: Any, place: str) -> None:
    if not isinstance(entry, dict):
        raise InputError(f"{place}is not a table")
    _known(place, entry, ("from", "to", "rate", "delay", "queue", "back", "both", "medium", "name"))
    for key in ("from", "to", "delay"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise InputError(f"{place}{key} is missing")
    if not isinstance(entry.get("both", True), bool):
        raise InputError(f"{place}both: '{entry['both']}' is neither true nor false")
    try:
        rate = parse_rate(str(entry["rate"])) if "rate" in entry else None
        delay = parse_span(str(entry["delay"]))
    except ValueError as error:
        raise InputError(f"{place}{error}") from None
    if rate == 0:
        raise InputError(f"{place}rate: '{format_rate(0)}' is zero")
    medium = str(entry.get("medium", ""))
    name = str(entry.get("name", ""))
    if name in layout.ports:
        raise InputError(f"{place}name: another link is called '{name}'")
    layout.link(entry["from"], entry["to"], rate, delay, _queue(entry.get("queue", PLAIN)), medium, name)
    if entry.get("both", True):
        layout.link(entry["to"], entry["from"], rate, delay, _queue(entry.get("back", PLAIN)), medium)


def _queue(text: object) -> object:
    if text == PLAIN:
        return PLAIN
    return TESTED if text == "test" else {"discipline": str(text)}


def _known(place: str, table: dict[str, Any], keys: Sequence[str]) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"{place}{unknown('key', key, keys)}")


def _names(place: str, table: dict[str, Any], key: str) -> list[str]:
    names = table.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{place}{key}: is a list of names")
    return list(names)
