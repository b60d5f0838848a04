"""A topology under construction: links, default ends of flows, measured ports, options of switches."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab.scenario.cost import SKIP
from aqmlab.scenario.model import PLAIN, Link, Queue, Settings, Topology
from aqmlab.vocabulary.errors import InputError, unknown

# Names among which the nearest is looked for.
MOST_SEARCHED = 1000
# Links, both directions together, that are built without asking: twice as many take 0.2 GB and some seconds.
MOST_LINKS = 100_000


def too_many(most: int) -> InputError:
    """Return the error for a topology of more links than are built without asking."""
    return InputError(f"it has more than {most} links, and that many are built only with {SKIP}")


@dataclass
class Layout:
    """Links, the number of the bottleneck, the default ends of flows, and the measured ports.

    Without measured ports the bottleneck's is measured.
    """

    links: list[Link] = field(default_factory=list)
    measured: int = 0
    measure: tuple[str, ...] = ()
    sources: list[str] = field(default_factory=list)
    sinks: list[str] = field(default_factory=list)
    switches: dict[str, Settings] = field(default_factory=dict)
    # Both directions of a link count as one; none is refused.
    most_links: int | None = MOST_LINKS
    # The ports as a set: each link is looked up while a file is read.
    _taken: set[str] = field(default_factory=set)

    def has_port(self, name: str) -> bool:
        """Whether there is a port of this name."""
        return name in self._taken

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes, in order of appearance."""
        return list(dict.fromkeys(end for link in self.links for end in (link.source, link.target)))

    @property
    def ports(self) -> list[str]:
        """The names of the ports, one in front of each link."""
        return [link.port for link in self.links]

    def link(
        self,
        start: str,
        end: str,
        rate_bps: int | None,
        delay_ns: int,
        queue: Queue = PLAIN,
        medium: str = "",
        name: str = "",
        wire: Mapping[str, Any] | None = None,
        kind: str = "",
    ) -> None:
        """Add a one-way link; its port is called ``start->end`` unless it has a name.

        Raises:
            InputError: if there are too many.

        """
        if self.most_links is not None and len(self.links) >= 2 * self.most_links:
            raise too_many(self.most_links)
        link = Link(start, end, rate_bps, delay_ns, queue, medium, name, dict(wire or {}), kind)
        self.links.append(link)
        self._taken.add(link.port)

    def both(self, start: str, end: str, rate_bps: int | None, delay_ns: int, there: Queue, back: Queue) -> None:
        """Add a link in each direction, with their queues."""
        self.link(start, end, rate_bps, delay_ns, there)
        self.link(end, start, rate_bps, delay_ns, back)

    def topology(self) -> Topology:
        """Return the topology; its measured link has the scenario's capacity, recorded or not."""
        links = [*self.links]
        links[self.measured] = replace(links[self.measured], rate_bps=None)
        return Topology(tuple(links), self.measured, self.switches)

    def equip(self, options: Settings | None, pattern: str = "") -> None:
        """Set options of switches: of nodes that match a pattern, or of all with more than one neighbour.

        Raises:
            InputError: if no node matches the pattern.

        """
        if options is None:
            return
        neighbours: dict[str, set[str]] = {node: set() for node in self.nodes}
        for link in self.links:
            neighbours[link.source].add(link.target)
            neighbours[link.target].add(link.source)
        between = [node for node, others in neighbours.items() if len(others) > 1]
        self.switches = dict.fromkeys(self.choose(pattern) if pattern else between, options)

    def choose(self, pattern: str) -> list[str]:
        """Return the nodes that match a pattern: names and globs, separated by ``|``.

        Raises:
            InputError: if a part matches no node.

        """
        nodes = self.nodes
        chosen: list[str] = []
        for part in pattern.split("|"):
            found = [node for node in nodes if fnmatch.fnmatchcase(node, part)]
            if not found:
                raise InputError(unknown("node", part, nodes[:MOST_SEARCHED]))
            chosen += found
        return chosen
