"""A capture as columns: its packets, what TCP's headers say of the path, and which of its ways is towards the home."""

from __future__ import annotations

import ipaddress
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from aqmlab.scenario import inputs
from aqmlab.vocabulary.errors import InputError

SYN, ACK, ECE, CWR = 2, 16, 64, 128
TCP = 6
Whole: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Columns: TypeAlias = dict[str, Whole]


@dataclass(frozen=True)
class Recording:
    """A capture.

    Attributes:
        name: its file.
        flows: columns of its flows, as `_native.Capture.flows`.
        peers: of each flow, that in the opposite direction, or -1.
        packets: columns as `_native.PathTrace.packets`; times are nanoseconds from the first packet.
        round_trips: columns as `_native.PathTrace.round_trips`.
        deliveries: columns as `_native.PathTrace.deliveries`.
        losses: columns as `_native.PathTrace.losses`.
        home: addresses of the home's side.
        is_guessed: whether the home's side is a guess from who opens connections, or from less.
        warnings: what to know before trusting it.

    """

    name: str
    flows: dict[str, list[Any]]
    peers: Whole
    packets: Columns
    round_trips: Columns
    deliveries: Columns
    losses: Columns
    home: frozenset[str]
    is_guessed: bool
    warnings: tuple[str, ...]

    @property
    def duration_s(self) -> float:
        """Time from the first packet to the last."""
        return float(self.packets["time"][-1]) / 1e9

    def going(self, down: bool) -> Whole:
        """Return the numbers of the flows towards the home, or from it."""
        to, source = self.flows["destination"], self.flows["source"]
        towards, away = (to, source) if down else (source, to)
        found = [
            place
            for place, (near, far) in enumerate(zip(towards, away, strict=True))
            if near in self.home and far not in self.home
        ]
        return np.array(found, np.int64)


def read(path: str, home: str = "") -> Recording:
    """Read a capture; ``home`` is an address of the home's side, where it is known.

    Raises:
        InputError: naming the file or the address, and what is wrong with it.

    """
    file = inputs.path_trace(path)
    trace = file.parsed
    capture = trace.capture()
    flows = capture.flows()
    packets, round_trips, deliveries, losses = (
        {name: np.frombuffer(column, "<i8") for name, column in columns.items()}
        for columns in (trace.packets(), trace.round_trips(), trace.deliveries(), trace.losses())
    )
    known = {flow: place for place, flow in enumerate(_tuples(flows))}
    peers = [known.get((to, to_port, source, port, proto), -1) for source, port, to, to_port, proto in known]
    side, is_guessed = _home(flows, packets, peers, home)
    return Recording(
        name=path,
        flows=flows,
        peers=np.array(peers, np.int64),
        packets=packets,
        round_trips=round_trips,
        deliveries=deliveries,
        losses=losses,
        home=side,
        is_guessed=is_guessed,
        warnings=tuple(json.loads(capture.summary())["warnings"]),
    )


def _tuples(flows: dict[str, list[Any]]) -> Sequence[tuple[Any, ...]]:
    names = ("source", "source_port", "destination", "destination_port", "protocol")
    return list(zip(*(flows[name] for name in names), strict=True))


def _home(
    flows: dict[str, list[Any]], packets: Columns, peers: Sequence[int], given: str
) -> tuple[frozenset[str], bool]:
    """Return the addresses of the home's side: those given, else private ones, else who opens connections."""
    addresses = {*flows["source"], *flows["destination"]}
    if given:
        try:
            wanted = str(ipaddress.ip_address(given))
        except ValueError:
            raise InputError(f"home: '{given}' is no IP address") from None
        if wanted not in addresses:
            raise InputError(f"home: no packet is from or to {given}")
        return frozenset({wanted}), False
    private = {one for one in addresses if ipaddress.ip_address(one).is_private}
    if private and len(private) < len(addresses):
        return frozenset(private), False
    is_opening = (packets["flags"] >= 0) & (packets["flags"] & (SYN | ACK) == SYN)
    openers = {flows["source"][flow] for flow in np.unique(packets["flow"][is_opening])}
    if openers and len(openers) < len(addresses):
        return frozenset(openers), True
    # Who is heard first, if the ends are told apart by that.
    pairs = list(zip(flows["source"], flows["destination"], peers, strict=True))
    first = {source for place, (source, _, peer) in enumerate(pairs) if peer < 0 or peer > place}
    last = {to for place, (_, to, peer) in enumerate(pairs) if peer < 0 or peer > place}
    if not first & last:
        return frozenset(first), True
    count: Counter[str] = Counter()
    for source, to, number in zip(flows["source"], flows["destination"], flows["packets"], strict=True):
        count.update({source: number, to: number})
    return frozenset({count.most_common(1)[0][0]}), True


__all__ = ["ACK", "CWR", "ECE", "SYN", "TCP", "Columns", "Recording", "Whole", "read"]
