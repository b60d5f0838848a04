"""Topologies by name, as in ``parking_lot:hops=3``, with their keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aqmlab.scenario.model import PLAIN, UNDER_TEST
from aqmlab.scenario.topologies.layout import Layout
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.units import parse_rate, parse_whole

LARGEST_COUNT = 10_000
# Links of hosts are this much faster than the bottleneck where they are not meant to be one.
ACCESS_FACTOR = 10
# Kinds of links that share a medium.
ACCESS = ("turns", "backoff")
CLIENTS_OF_ROUTER, CLIENTS_OF_SITE, SERVERS_OF_SITE = 4, 16, 4


@dataclass(frozen=True)
class Count:
    """A key that takes a whole number from 1 to 10 000."""

    name: str
    default: str
    help: str
    takes: str = f"a whole number from 1 to {LARGEST_COUNT}"

    def read(self, text: str) -> int:
        """Read its value.

        Raises:
            InputError: naming key, value and what is allowed.

        """
        try:
            return parse_whole(text, 1, LARGEST_COUNT)
        except ValueError as error:
            raise InputError(f"{self.name}: {error}") from None


@dataclass(frozen=True)
class Rate:
    """A key that takes a rate; without one it is zero."""

    name: str
    help: str
    default: str = ""
    takes: str = "a rate such as 1mbit"

    def read(self, text: str) -> int:
        """Read its value, in bit/s.

        Raises:
            InputError: naming key, value and what is allowed.

        """
        rate = parse_rate(text) if text else 0
        if text and rate == 0:
            raise InputError(f"{self.name}: '{text}' is zero")
        return rate


@dataclass(frozen=True)
class Choice:
    """A key that takes one of some words; its value is the number of the word."""

    name: str
    words: tuple[str, ...]
    help: str

    @property
    def default(self) -> str:
        """The first."""
        return self.words[0]

    @property
    def takes(self) -> str:
        """What is allowed."""
        return " or ".join(self.words)

    def read(self, text: str) -> int:
        """Read its value.

        Raises:
            InputError: naming key, value and what is allowed.

        """
        if text not in self.words:
            raise unknown(self.name, text, self.words)
        return self.words.index(text)


@dataclass(frozen=True)
class TopologyKind:
    """A topology by name: its description, its keys, and what adds its links for a rate, a round trip and values."""

    name: str
    help: str
    keys: tuple[Count | Rate | Choice, ...]
    build: Callable[[Layout, int, int, Mapping[str, int]], None]
    has_switches: bool = False


def _parking_lot(layout: Layout, rate: int, rtt: int, keys: Mapping[str, int]) -> None:
    hops = keys["hops"]
    layout.sources, layout.sinks = ["src"], ["dst"]
    delay = rtt // (2 * (hops + 2))
    fast = rate * ACCESS_FACTOR
    layout.both("src", "r0", fast, delay, PLAIN, PLAIN)
    for hop in range(hops):
        layout.both(f"r{hop}", f"r{hop + 1}", rate, delay, UNDER_TEST, PLAIN)
        layout.both(f"cross{hop}.src", f"r{hop}", fast, delay, PLAIN, PLAIN)
        layout.both(f"r{hop + 1}", f"cross{hop}.dst", fast, delay, PLAIN, PLAIN)
    layout.both(f"r{hops}", "dst", fast, delay, PLAIN, PLAIN)
    layout.measured = 2


def _star(layout: Layout, rate: int, rtt: int, keys: Mapping[str, int]) -> None:
    hosts = [f"h{number}" for number in range(keys["hosts"])]
    layout.sources, layout.sinks = hosts[1:] or hosts, hosts[:1]
    for host in hosts:
        layout.both("switch", host, rate, rtt // 4, UNDER_TEST, PLAIN)


def _many_to_one(layout: Layout, rate: int, rtt: int, keys: Mapping[str, int]) -> None:
    senders = [f"s{number}" for number in range(keys["senders"])]
    layout.sources, layout.sinks = senders, ["server"]
    layout.both("router", "server", rate, rtt // 4, UNDER_TEST, PLAIN)
    for sender in senders:
        layout.both(sender, "router", rate * ACCESS_FACTOR, rtt // 4, PLAIN, PLAIN)


def _many_to_many(layout: Layout, rate: int, rtt: int, keys: Mapping[str, int]) -> None:
    senders = [f"s{number}" for number in range(keys["senders"])]
    servers = [f"server{number}" for number in range(keys["servers"])]
    layout.sources, layout.sinks = senders, servers
    delay = rtt // 6
    layout.both("router", "switch", rate, delay, UNDER_TEST, PLAIN)
    for sender in senders:
        layout.both(sender, "router", rate * ACCESS_FACTOR, delay, PLAIN, PLAIN)
    for server in servers:
        layout.both("switch", server, rate, delay, UNDER_TEST, PLAIN)


def _campus(layout: Layout, rate: int, rtt: int, keys: Mapping[str, int]) -> None:
    """Sites of the large-network evaluation: four clients per router, four routers and four servers per switch."""
    layout.sources = [f"c{number}" for number in range(keys["clients"])]
    sites = -(-keys["clients"] // CLIENTS_OF_SITE)
    # Client, router, switch (core, switch), server.
    delay, fast = rtt // (6 if sites == 1 else 10), rate * ACCESS_FACTOR
    for number, client in enumerate(layout.sources):
        router, site = number // CLIENTS_OF_ROUTER, number // CLIENTS_OF_SITE
        if number % CLIENTS_OF_ROUTER == 0:
            layout.both(f"r{router}", f"switch{site}", rate, delay, UNDER_TEST, PLAIN)
        layout.both(client, f"r{router}", fast, delay, PLAIN, PLAIN)
        # To the servers of the next site: nearly all traffic crosses the core.
        layout.sinks.append(f"server{(site + 1) % sites}.{number % SERVERS_OF_SITE}")
    for site in range(sites):
        for server in range(SERVERS_OF_SITE):
            layout.both(f"switch{site}", f"server{site}.{server}", fast, delay, PLAIN, PLAIN)
        if sites > 1:
            layout.both(f"switch{site}", "core", fast, delay, PLAIN, PLAIN)


def _leaf_spine(layout: Layout, rate: int, rtt: int, keys: Mapping[str, int]) -> None:
    delay = rtt // 8
    for leaf in range(keys["leaves"]):
        hosts = [f"h{leaf}.{number}" for number in range(keys["hosts"])]
        (layout.sinks if leaf == 0 else layout.sources).extend(hosts)
        for host in hosts:
            layout.both(f"leaf{leaf}", host, rate, delay, UNDER_TEST, PLAIN)
        for spine in range(keys["spines"]):
            layout.both(f"leaf{leaf}", f"spine{spine}", rate, delay, UNDER_TEST, UNDER_TEST)
    layout.sources = layout.sources or layout.sinks[1:]


def _shared_medium(layout: Layout, rate: int, rtt: int, keys: Mapping[str, int]) -> None:
    stations = [f"station{number}" for number in range(keys["stations"])]
    layout.sources, layout.sinks = ["server"], stations
    delay = rtt // 4
    for station in stations:
        layout.link("ap", station, rate, delay, UNDER_TEST, "air")
        layout.link(station, "ap", rate, delay, UNDER_TEST, "air")
    layout.both("server", "ap", rate * ACCESS_FACTOR, delay, PLAIN, PLAIN)


def _bus(layout: Layout, rate: int, rtt: int, keys: Mapping[str, int]) -> None:
    clients = [f"client{number}" for number in range(keys["clients"])]
    servers = [f"server{number}" for number in range(keys["servers"])]
    layout.sources, layout.sinks = clients, servers
    for host in (*clients, *servers):
        kind = f"{ACCESS[keys['access']]} until arrival"
        layout.link(host, "channel", rate, rtt // 2, UNDER_TEST, "channel", kind=kind)
        layout.link("channel", host, rate * ACCESS_FACTOR, 0)


def _asymmetric(layout: Layout, rate: int, rtt: int, keys: Mapping[str, int]) -> None:
    layout.sources, layout.sinks = ["server"], ["home"]
    delay, fast = rtt // 6, rate * ACCESS_FACTOR
    layout.link("isp", "modem", rate, delay, UNDER_TEST, name="down")
    layout.link("modem", "isp", keys["up"] or max(rate // 10, 1), delay, UNDER_TEST, name="up")
    layout.measure = ("down", "up")
    layout.both("server", "isp", fast, delay, PLAIN, PLAIN)
    layout.both("modem", "home", fast, delay, PLAIN, PLAIN)


KINDS: tuple[TopologyKind, ...] = (
    TopologyKind(
        "parking_lot",
        "hops in a row, each with the AQM; cross traffic from cross0.src to cross0.dst and so on",
        (Count("hops", "3", "bottlenecks in a row"),),
        _parking_lot,
    ),
    TopologyKind(
        "star",
        "hosts around a switch, the AQM on its ports; to h0 by default",
        (Count("hosts", "8", "hosts around the switch"),),
        _star,
        has_switches=True,
    ),
    TopologyKind(
        "many_to_one",
        "senders behind a router, one server",
        (Count("senders", "8", "senders"),),
        _many_to_one,
        has_switches=True,
    ),
    TopologyKind(
        "many_to_many",
        "senders, router, switch, servers",
        (Count("senders", "8", "senders"), Count("servers", "4", "servers")),
        _many_to_many,
        has_switches=True,
    ),
    TopologyKind(
        "campus",
        "sites of 16 clients, 4 routers, a switch and 4 servers around a core, the AQM on each router's path to its "
        "switch; to the servers of the next site",
        (Count("clients", "16", "clients in all"),),
        _campus,
    ),
    TopologyKind(
        "leaf_spine",
        "leaves and spines with equal routes between them, the AQM on every port of a switch",
        (
            Count("leaves", "2", "leaf switches"),
            Count("spines", "2", "spine switches"),
            Count("hosts", "4", "hosts of each leaf"),
        ),
        _leaf_spine,
        has_switches=True,
    ),
    TopologyKind(
        "shared_medium",
        "stations that share the time of one medium with their access point",
        (Count("stations", "4", "stations"),),
        _shared_medium,
    ),
    TopologyKind(
        "bus",
        "hosts on one CSMA channel, the AQM in each; a packet takes the channel until it has arrived",
        (
            Count("clients", "8", "clients"),
            Count("servers", "2", "servers"),
            Choice(
                "access",
                ACCESS,
                "in turns, or as on Ethernet: who finds it busy looks again after a random time",
            ),
        ),
        _bus,
    ),
    TopologyKind(
        "asymmetric",
        "a downlink and a slower uplink, the AQM on both; both are measured",
        (Rate("up", "rate of the uplink; by default a tenth of the downlink"),),
        _asymmetric,
    ),
)
