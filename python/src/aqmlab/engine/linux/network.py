"""A scenario's topology in the guest: a box for each node, a wire between neighbours, and the paths of flows.

Packets take no time on wires: all propagation of a path, and what its links need to send a packet, is on the reverse
path.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aqmlab.engine.linux import netem, tc
from aqmlab.scenario.model import PLAIN, UNDER_TEST, Discipline, Flows, Link, Rate, Scenario, Topology
from aqmlab.scenario.registry import Spec
from aqmlab.vocabulary.errors import InputError, about

ACK_BYTES = 66
IP_HEADERS = 52
# Bands of `prio` at a receiver, but for the last: each has the delay of a path (also in guest/guest.h).
MOST_PATHS = 15
SENDER, ROUTER, RECEIVER, LOSSY = "snd", "left", "right", "lossy"
BOTTLENECK = "bottleneck"


@dataclass(frozen=True)
class FlowPath:
    """Where flows of a group that begin and end at the same nodes run."""

    group: int
    nodes: tuple[str, ...]
    rtt_ns: int

    @property
    def hops(self) -> list[tuple[str, str]]:
        """The pairs of neighbours on the forward path."""
        return list(itertools.pairwise(self.nodes))

    @property
    def hops_back(self) -> list[tuple[str, str]]:
        """The pairs of neighbours on the reverse path."""
        return list(itertools.pairwise(self.nodes[::-1]))


@dataclass(frozen=True)
class Port:
    """A measured port: its link, its interface, and by which interfaces packets of which paths come to it."""

    name: str
    link: str
    rate_bps: int
    box: str
    interface: str
    entries: Mapping[str, frozenset[int]]


class Network:
    """The boxes of a scenario. What netem delays all packets by, ``delay_ns``, comes to its propagation delay.

    Raises:
        InputError: naming what the guest cannot do.

    """

    def __init__(self, scenario: Scenario, rate_bps: int, delay_ns: int = 0) -> None:
        self._scenario = scenario
        # Of the measured link; the mean rate if it is recorded.
        self._rate_bps = rate_bps
        self._topology = scenario.topology or _dumbbell(scenario, rate_bps)
        _check(self._topology)
        self._netem = netem.words(scenario.settings, delay_ns)
        links = _with_netem(self._topology) if self._netem else self._topology.links
        self._links = {(link.source, link.target): link for link in links}
        self._shapers = {hop: self._shaper(link) for hop, link in self._links.items() if link.queue != PLAIN}
        self._nodes = list(dict.fromkeys(end for pair in self._links for end in pair))
        wires = dict.fromkeys(tuple(sorted(pair, key=self._nodes.index)) for pair in self._links)
        if len(wires) != len(self._nodes) - 1:
            raise about("topology", "engine linux has one route only between two nodes")
        # The interface of the first node, and the number of the wire.
        self._interfaces: dict[tuple[str, str], str] = {}
        for number, (near, far) in enumerate(wires):
            self._interfaces |= {(near, far): f"e{2 * number}", (far, near): f"e{2 * number + 1}"}
        self.paths: list[FlowPath] = []
        # The path of each flow, by its group and its place in it.
        self.chosen: dict[tuple[int, int], int] = {}
        for number, group in enumerate(scenario.flows):
            self._choose(number, group)
        if len(self.paths) > MOST_PATHS:
            raise about("flows", f"engine linux has at most {MOST_PATHS} groups, or pairs of nodes")
        self.senders = tuple(dict.fromkeys(path.nodes[0] for path in self.paths))
        self.receivers = tuple(dict.fromkeys(path.nodes[-1] for path in self.paths))
        self.ports = tuple(
            self._port(name) for name in scenario.measure or (self._topology.links[self._measured].port,)
        )

    @property
    def _measured(self) -> int:
        return self._topology.measured

    def _rate(self, link: Link) -> int:
        return self._rate_bps if link.rate_bps is None else link.rate_bps

    @property
    def recorded(self) -> tuple[str, str] | None:
        """The box and the interface of the recorded link, if it is one."""
        if isinstance(self._scenario.capacity, Rate):
            return None
        hop = next(hop for hop, link in self._links.items() if link.rate_bps is None)
        return hop[0], self._interfaces[hop]

    def _sending_ns(self, hop: tuple[str, str], length: int) -> float:
        """The time that a link needs to send a packet; on a recorded one it leaves in an instant."""
        link = self._links[hop]
        is_recorded = link.rate_bps is None and not isinstance(self._scenario.capacity, Rate)
        return 0.0 if is_recorded else length * 8e9 / self._rate(link)

    def _choose(self, number: int, group: Flows) -> None:
        """Find the paths of a group: its flows begin and end at its nodes in turn."""
        known: dict[tuple[str, str], int] = {}
        for place in range(group.count):
            ends = (SENDER, RECEIVER)
            if self._scenario.topology:
                ends = (group.sources[place % len(group.sources)], group.sinks[place % len(group.sinks)])
            if ends not in known:
                known[ends] = len(self.paths)
                self.paths.append(self._path(number, group, *ends))
            self.chosen[number, place] = known[ends]

    def _path(self, number: int, group: Flows, source: str, sink: str) -> FlowPath:
        def refuse(what: str) -> InputError:
            return about("flows", f"'{group.name}': {what}")

        nodes = self._route(source, sink)
        if len(nodes) < 2:
            raise refuse(f"no route leads from '{source}' to '{sink}'")
        path = FlowPath(number, nodes, 0)
        if self._scenario.topology is None:
            usual = self._scenario.settings["rtt_ns"]
            return replace(path, rtt_ns=usual if group.rtt_ns is None else group.rtt_ns)
        there = [self._links[hop] for hop in path.hops]
        for end, link in ((source, there[0]), (sink, self._links[path.hops_back[0]])):
            if len([hop for hop in self._links if hop[0] == end]) > 1 or link.queue != PLAIN:
                raise refuse(f"engine linux has flows between hosts, which '{end}' is not")
        shaped = [self._rate(link) for link in there if link.queue != PLAIN]
        slow = [link.port for link in there if link.queue == PLAIN and self._rate(link) <= min(shaped, default=0)]
        if slow or not shaped:
            raise refuse("engine linux has limits only where a discipline is, and this path has none")
        rtt_ns = sum(self._links[hop].delay_ns for hop in (*path.hops, *path.hops_back))
        if group.rtt_ns is not None and group.rtt_ns < rtt_ns:
            raise refuse(f"rtt is {group.rtt_ns / 1e6:g} ms: its links alone take {rtt_ns / 1e6:g} ms")
        return replace(path, rtt_ns=rtt_ns if group.rtt_ns is None else group.rtt_ns)

    def _route(self, source: str, sink: str) -> tuple[str, ...]:
        paths: list[tuple[str, ...]] = [(source,)]
        for path in paths:
            if path[-1] == sink:
                return path
            paths += [(*path, far) for near, far in self._links if near == path[-1] and far not in path]
        return ()

    def _port(self, name: str) -> Port:
        link = next((link for link in self._topology.links if link.port == name), None)
        if link is None or link.queue == PLAIN:
            raise about("measure", f"engine linux measures ports with a discipline only, which '{name}' has not")
        hop = next(hop for hop, one in self._links.items() if one.port == name)
        entries: dict[str, set[int]] = {}
        for number, path in enumerate(self.paths):
            for hops in (path.hops, path.hops_back):
                if hop in hops:
                    before, _ = hops[hops.index(hop) - 1]
                    entries.setdefault(self._interfaces[hop[0], before], set()).add(number)
        if not entries:
            raise about("measure", f"no flow passes '{name}'")
        return Port(
            name=name,
            link=f"{link.source}->{link.target}",
            rate_bps=self._rate(link),
            box=hop[0],
            interface=self._interfaces[hop],
            entries={interface: frozenset(paths) for interface, paths in entries.items()},
        )

    def delay(self, number: int) -> str:
        """Return what a path takes beside queues, in tc's notation."""
        path = self.paths[number]
        if self._scenario.flows[path.group].transport[0] == "udp":
            return f"{path.rtt_ns / 1000:g}us"
        there = sum(self._sending_ns(hop, tc.FULL_BYTES) for hop in path.hops)
        back = sum(self._sending_ns(hop, ACK_BYTES) for hop in path.hops_back)
        return f"{(path.rtt_ns + round(there + back)) / 1000:g}us"

    def lines(self) -> list[str]:
        """What init.sh builds, a line for each thing."""
        lines = [f"box {node}" for node in self._nodes]
        for (near, far), interface in self._interfaces.items():
            if int(interface[1:]) % 2 == 0:
                lines.append(f"wire {near} {interface} {far} {self._interfaces[far, near]}")
        lines += [f"host {node}" for node in dict.fromkeys(self.senders + self.receivers)]
        sources = {node: f"10.9.1.{1 + number}" for number, node in enumerate(self.senders)}
        lines += [f"address {node} {address}" for node, address in sources.items()]
        lines += [f"address {path.nodes[-1]} {_address(number)}" for number, path in enumerate(self.paths)]
        for number, path in enumerate(self.paths):
            first, last = sources[path.nodes[0]], _address(number)
            route = [f" src {first}{_route_words(self._scenario.flows[path.group])}", *[""] * len(path.hops)]
            lines += [
                f"route {hop[0]} {last} dev {self._interfaces[hop]}{words}"
                for hop, words in zip(path.hops, route, strict=False)
            ]
            lines += [f"route {hop[0]} {first} dev {self._interfaces[hop]}" for hop in path.hops_back]
        lines += dict.fromkeys(f"delays {self._entry(path)}" for path in self.paths)
        lines += [
            f"delay {self._entry(path)} {number + 1:x} {self.delay(number)}" for number, path in enumerate(self.paths)
        ]
        lines += [f"port {hop[0]} {self._interfaces[hop]} {words}" for hop, words in self._shapers.items()]
        if self._netem:
            lines.append(f"netem {LOSSY} {self.wire} {self._netem}")
        return list(dict.fromkeys(lines))

    @property
    def wire(self) -> str:
        """The interface behind which netem stands for the measured link's wire; empty without netem."""
        hops = (hop for hop, link in self._links.items() if hop[0] == LOSSY and link.wire)
        return next((self._interfaces[hop] for hop in hops), "")

    def _entry(self, path: FlowPath) -> str:
        """The interface by which a receiver answers."""
        return f"{path.nodes[-1]} {self._interfaces[path.hops_back[0]]}"

    def _shaper(self, link: Link) -> str:
        """How a port is shaped, and its discipline."""
        text = link.queue.discipline if isinstance(link.queue, Discipline) else self._scenario.aqm
        words = tc.qdisc(Spec.parse(text), self._rate(link))
        if tc.shapes(words) and link.rate_bps is None and not isinstance(self._scenario.capacity, Rate):
            raise about("link_trace", "engine linux has no recorded link for a discipline with a shaper of its own")
        return f"{'own' if tc.shapes(words) else 'htb'} {self._rate(link)} {words}"


def _address(path: int) -> str:
    # As in guest/send.c.
    return f"10.9.2.{10 + path}"


def _route_words(group: Flows) -> str:
    """The settings of the route of a group's flows."""
    carrier, tcp = group.transport
    if carrier == "udp":
        return ""
    words = f" initcwnd {tcp['iw']} advmss {tcp['mss_bytes'] + IP_HEADERS - 40} rto_min {tcp['minrto_ns'] // 10**6}ms"
    return f"{words}{' features ecn' if tcp['ecn'] == 'classic' else ''}"


def _dumbbell(scenario: Scenario, rate_bps: int) -> Topology:
    """The dumbbell: both access links are one here, which takes as long as both."""
    access = (scenario.settings["access_rate_bps"] or 10 * rate_bps) // 2
    there = (Link(SENDER, ROUTER, access, 0), Link(ROUTER, RECEIVER, None, 0, UNDER_TEST, name=BOTTLENECK))
    back = (Link(RECEIVER, ROUTER, rate_bps, 0), Link(ROUTER, SENDER, access, 0))
    return Topology(there + back, 1)


def _with_netem(topology: Topology) -> list[Link]:
    """Put a box behind the measured link that does to packets what its wire does."""
    measured = topology.links[topology.measured]
    ends, fast = (measured.source, measured.target), 10**15
    found = []
    for link in topology.links:
        if (link.source, link.target) == ends:
            found += [
                replace(link, target=LOSSY, name=link.port),
                Link(LOSSY, link.target, fast, 0, wire={"netem": True}),
            ]
        elif (link.target, link.source) == ends:
            found += [replace(link, target=LOSSY), Link(LOSSY, link.target, fast, 0)]
        else:
            found.append(link)
    return found


def _check(topology: Topology) -> None:
    pairs: Sequence[tuple[str, str]] = [(link.source, link.target) for link in topology.links]
    if topology.switches:
        raise about("topology", "engine linux has no options of switches")
    if any(link.medium for link in topology.links):
        raise about("topology", "engine linux has no shared medium")
    if kind := next((link.kind for link in topology.links if link.kind), ""):
        raise about("topology", f"engine linux has no links of kind '{kind.split()[0]}'")
    if any(link.wire for link in topology.links):
        raise about("topology", "engine linux loses and delays packets behind the measured link only")
    if len(set(pairs)) < len(pairs) or any((far, near) not in pairs for near, far in pairs):
        raise about("topology", "engine linux has one link in each direction between neighbours")
