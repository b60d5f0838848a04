"""A capture as columns: its packets, what TCP's headers say of the path, and which direction is towards the home."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from aqmlab.diagnosis import home as homes
from aqmlab.diagnosis.home import Home
from aqmlab.scenario import inputs
from aqmlab.vocabulary.errors import about

SYN, ACK, ECE, CWR = 2, 16, 64, 128
TCP = 6
# Share of TCP packets without their header from which on a capture is refused.
MOST_CUT = 0.5
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
        home: the home's side.
        warnings: what to know before trusting it.

    """

    name: str
    flows: dict[str, list[Any]]
    peers: Whole
    packets: Columns
    round_trips: Columns
    deliveries: Columns
    losses: Columns
    home: Home
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
            if near in self.home.addresses and far not in self.home.addresses
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
    _check_headers(path, flows, packets)
    is_opening = (packets["flags"] >= 0) & (packets["flags"] & (SYN | ACK) == SYN)
    return Recording(
        name=path,
        flows=flows,
        peers=np.array(peers, np.int64),
        packets=packets,
        round_trips=round_trips,
        deliveries=deliveries,
        losses=losses,
        home=homes.home(flows, np.unique(packets["flow"][is_opening]).tolist(), home),
        warnings=tuple(json.loads(capture.summary())["warnings"]),
    )


def _tuples(flows: dict[str, list[Any]]) -> Sequence[tuple[Any, ...]]:
    names = ("source", "source_port", "destination", "destination_port", "protocol")
    return list(zip(*(flows[name] for name in names), strict=True))


def _check_headers(name: str, flows: dict[str, list[Any]], packets: Columns) -> None:
    """Refuse a capture whose headers of TCP are cut off: nothing else says what arrived."""
    of_tcp = np.array(flows["protocol"])[packets["flow"]] == TCP
    cut = of_tcp & (packets["flags"] < 0)
    if cut.sum() > MOST_CUT * of_tcp.sum():
        raise about(
            name,
            f"the TCP headers of {cut.sum()} of {of_tcp.sum()} packets are cut off (snap length): "
            "record 128 bytes of each packet or more (tcpdump -s 128)",
        )


__all__ = ["ACK", "CWR", "ECE", "SYN", "TCP", "Columns", "Recording", "Whole", "read"]
