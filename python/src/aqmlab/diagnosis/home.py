"""Which side of a capture is the home: from addresses, else from who opens connections, ports, or less."""

from __future__ import annotations

import ipaddress
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from aqmlab.vocabulary.errors import about

# RFC 1918, RFC 4193, and link-local addresses. Documentation and benchmarking addresses (RFC 5737, RFC 2544) stand for
# public ones in captures that were made anonymous.
PRIVATE = tuple(
    map(
        ipaddress.ip_network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10"),
    )
)
# Behind a carrier's NAT (RFC 6598).
SHARED = ipaddress.ip_network("100.64.0.0/10")
# Ports from which clients take theirs: 32768 on Linux, 49152 by RFC 6335.
FIRST_EPHEMERAL = 32768
# Share of the bytes of flows that one address must have to be what they have in common.
COMMON = 0.9


@dataclass(frozen=True)
class Home:
    """The home's side.

    Attributes:
        addresses: those of its hosts.
        why: what that rests on.
        is_guessed: whether it may be wrong: only addresses, or the user, are certain.

    """

    addresses: frozenset[str]
    why: str
    is_guessed: bool


@dataclass(frozen=True)
class _Flow:
    """A flow by its ends."""

    source: str
    destination: str
    ports: tuple[int, int]
    size: int
    opens: bool

    @property
    def ends(self) -> tuple[str, str]:
        return self.source, self.destination


def home(flows: dict[str, list[Any]], opening: Iterable[int], given: str = "") -> Home:
    """Return the home's side of flows (columns as `_native.Capture.flows`); ``opening`` are those with a first SYN.

    Raises:
        InputError: ``given`` is no address, or none of the capture's.

    """
    if given:
        return _given(flows, given)
    opens = set(opening)
    columns = ("source", "destination", "source_port", "destination_port", "bytes")
    rows = zip(*(flows[name] for name in columns), strict=True)
    all_flows = [
        _Flow(source, to, (port, to_port), size, place in opens)
        for place, (source, to, port, to_port, size) in enumerate(rows)
        if not _is_group(source) and not _is_group(to)
    ]
    rules = (
        (_by_private, "private addresses", False),
        (_by_shared, "addresses behind a carrier's NAT (100.64.0.0/10)", False),
        (_by_openings, "who opens connections", True),
        (_by_ports, "the ports of servers", True),
        (_by_common, "the address that all connections have in common", True),
        (_by_first, "who sends first", True),
    )
    found = Home(frozenset(), "", True)
    decided: Counter[int] = Counter()
    for place, (rule, _, _) in enumerate(rules):
        # What earlier rules have decided stays: IPv6 has no private addresses beside those of IPv4.
        left = [one for one in all_flows if not any(end in found.addresses for end in one.ends)]
        found = replace(found, addresses=found.addresses | rule(left))
        decided[place] = sum(one.size for one in left if sum(end in found.addresses for end in one.ends) == 1)
    [(place, size)] = decided.most_common(1)
    if size:
        _, why, is_guessed = rules[place]
        return Home(found.addresses, why, is_guessed)
    busiest = _busiest(all_flows)
    return Home(frozenset(busiest), "the address that carries the most", True)


def _given(flows: dict[str, list[Any]], given: str) -> Home:
    try:
        wanted = str(ipaddress.ip_address(given))
    except ValueError:
        raise about("home", f"'{given}' is no IP address") from None
    if wanted not in {*flows["source"], *flows["destination"]}:
        raise about("home", f"no packet is from or to {given}")
    return Home(frozenset({wanted}), "--home", False)


@cache
def _is_group(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    return parsed.is_multicast or parsed.is_unspecified or address == "255.255.255.255"


@cache
def _is_private(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    return any(parsed in network for network in PRIVATE)


@cache
def _is_shared(address: str) -> bool:
    return ipaddress.ip_address(address) in SHARED


def _by_private(flows: Sequence[_Flow]) -> set[str]:
    pairs = ((_is_private(one.source), one) for one in flows if _is_private(one.source) != _is_private(one.destination))
    return {one.source if is_source else one.destination for is_source, one in pairs}


def _by_shared(flows: Sequence[_Flow]) -> set[str]:
    pairs = ((_is_shared(one.source), one) for one in flows if _is_shared(one.source) != _is_shared(one.destination))
    return {one.source if is_source else one.destination for is_source, one in pairs}


def _by_openings(flows: Sequence[_Flow]) -> set[str]:
    return _more_often((one.source, one.destination) for one in flows if one.opens)


def _by_ports(flows: Sequence[_Flow]) -> set[str]:
    """Clients: their port is ephemeral, and the other is not."""
    pairs = []
    for one in flows:
        is_client = tuple(port >= FIRST_EPHEMERAL for port in one.ports)
        if is_client == (True, False) and one.ports[1]:
            pairs.append((one.source, one.destination))
        elif is_client == (False, True) and one.ports[0]:
            pairs.append((one.destination, one.source))
    return _more_often(pairs)


def _more_often(pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Return the addresses that come first in more pairs than second."""
    votes: Counter[str] = Counter()
    for first, second in pairs:
        votes[first] += 1
        votes[second] -= 1
    return {address for address, count in votes.items() if count > 0}


def _by_common(flows: Sequence[_Flow]) -> set[str]:
    """The one address that has several peers and nearly all bytes."""
    peers, sizes = defaultdict(set), Counter[str]()
    for one in flows:
        for own, peer in (one.ends, one.ends[::-1]):
            peers[own].add(peer)
            sizes[own] += one.size
    total = sum(one.size for one in flows)
    found = {address for address, size in sizes.items() if size >= COMMON * total and len(peers[address]) > 1}
    return found if len(found) == 1 else set()


def _by_first(flows: Sequence[_Flow]) -> set[str]:
    """Who is heard first of each pair, if that separates the ends."""
    seen: set[tuple[str, str]] = set()
    first, last = set(), set()
    for one in flows:
        if one.ends[::-1] not in seen:
            first.add(one.source)
            last.add(one.destination)
        seen.add(one.ends)
    return first if not first & last else set()


def _busiest(flows: Sequence[_Flow]) -> set[str]:
    sizes: Counter[str] = Counter()
    for one in flows:
        sizes.update({one.source: one.size, one.destination: one.size})
    return {address for address, _ in sizes.most_common(1)}


__all__ = ["Home", "home"]
