"""Classifiers of heavy flows on recorded packets, held against exact byte counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from aqmlab import _native
from aqmlab.scenario import inputs
from aqmlab.vocabulary.errors import InputError, about
from aqmlab.vocabulary.units import parse_rate

CLASSIFIERS = ("lru", "l_lru", "m_lru")
# A flow with at least this share of all bytes is heavy, by default.
HEAVY = 0.01
UDP = 17
PROTOCOLS = {1: "ICMP", 6: "TCP", UDP: "UDP", 58: "ICMPv6"}
_PACKET_BYTES = 1000
# More packets of an added flow would fill the memory.
_MOST_ADDED = 10_000_000

Whole: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]


@dataclass(frozen=True)
class Flow:
    """A flow of recorded packets, one direction of a conversation."""

    name: str
    hash: int
    packets: int
    bytes: int


@dataclass(frozen=True)
class Traffic:
    """Packets in the order of their times, and the flows that they belong to, heaviest first.

    Attributes:
        flows: the flows; two of one hash are one, as a classifier sees them.
        hashes: the flow id of each packet.
        lengths: the IP bytes of each packet.
        warnings: what is wrong with the files.

    """

    flows: tuple[Flow, ...]
    hashes: Whole
    lengths: Whole
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Classification:
    """What a classifier made of traffic.

    Attributes:
        classifier: its notation in full.
        reported: the flows of which it reported a packet, heaviest first.
        precision: the share of them that are heavy.
        recall: the share of the heavy flows that are among them.
        packets: the share of all packets that it reported.
        caught_bytes: the share of the heavy flows' bytes that were in reported packets.
        state_bytes: the bytes of its tables.

    """

    classifier: str
    reported: tuple[Flow, ...]
    precision: float | None
    recall: float | None
    packets: float
    caught_bytes: float | None
    state_bytes: int


def read(captures: Sequence[str], udp: str = "", duration_s: float | None = None) -> Traffic:
    """Read captures and merge them, each from its own first packet on.

    Args:
        captures: files in pcap or pcapng format.
        udp: the rate of a UDP flow that is added to the end.
        duration_s: what comes later is left out.

    Raises:
        InputError: naming the file or value and what is wrong with it.

    """
    if not captures:
        raise InputError("there is no capture: nothing to classify")
    parts: list[tuple[Whole, Whole, Whole]] = []
    names: dict[int, str] = {}
    warnings: list[str] = []
    for path in captures:
        file = inputs.capture(path)
        capture = file.parsed
        warnings += file.summary()["warnings"]
        flows = capture.flows()
        times, lengths, numbers = (np.frombuffer(column, "<u8") for column in capture.packets())
        kept = slice(None) if duration_s is None else times <= duration_s * 1e9
        hashes = np.array(flows["hash"], dtype=np.uint64)[numbers.astype(np.int64)]
        parts.append((times[kept], lengths[kept], hashes[kept]))
        names |= {one: _name(flows, place) for place, one in enumerate(flows["hash"])}
    if udp:
        parts.append(_constant(udp, max(int(times[-1]) for times, _, _ in parts)))
        names[int(parts[-1][2][0])] = f"UDP, {udp} added"
    times, lengths, hashes = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(times, kind="stable")
    return Traffic(_flows(names, hashes, lengths), hashes[order], lengths[order], tuple(warnings))


def heavy(traffic: Traffic, share: float = HEAVY) -> tuple[Flow, ...]:
    """Return the flows with at least this share of all bytes."""
    least = share * float(traffic.lengths.sum())
    return tuple(flow for flow in traffic.flows if flow.bytes >= least)


def classify(traffic: Traffic, classifier: str, share: float = HEAVY, seed: int = 1) -> Classification:
    """Show the packets to a classifier, such as ``m_lru sq 100``, and compare what it reports with the heavy flows.

    >>> traffic = read(["data/captures/aqmlab-lan.pcap"], udp="10mbit")
    >>> found = classify(traffic, "m_lru")
    >>> [flow.name for flow in found.reported][:1], found.state_bytes
    (['UDP, 10mbit added'], 9880)

    Raises:
        InputError: if there is no such classifier, or one of its parameters is refused.

    """
    reported, state_bytes, full = _native.classify(classifier, traffic.hashes.astype("<u8").tobytes(), seed)
    is_reported = np.frombuffer(reported, np.uint8).astype(bool)
    named = set(np.unique(traffic.hashes[is_reported]).tolist())
    wanted = {flow.hash for flow in heavy(traffic, share)}
    hits = len(named & wanted)
    of_heavy = np.isin(traffic.hashes, np.array(sorted(wanted), dtype=np.uint64))
    bytes_of_heavy = int(traffic.lengths[of_heavy].sum())
    caught = int(traffic.lengths[of_heavy & is_reported].sum())
    return Classification(
        classifier=full,
        reported=tuple(flow for flow in traffic.flows if flow.hash in named),
        precision=hits / len(named) if named else None,
        recall=hits / len(wanted) if wanted else None,
        packets=float(is_reported.mean()),
        caught_bytes=caught / bytes_of_heavy if bytes_of_heavy else None,
        state_bytes=state_bytes,
    )


def _name(flows: dict[str, list[Any]], place: int) -> str:
    protocol = flows["protocol"][place]
    ends = (f"{_address(flows[end][place])}:{flows[f'{end}_port'][place]}" for end in ("source", "destination"))
    return f"{PROTOCOLS.get(protocol, f'protocol {protocol}')} {' > '.join(ends)}"


def _address(text: str) -> str:
    return f"[{text}]" if ":" in text else text


def _constant(rate: str, until_ns: int) -> tuple[Whole, Whole, Whole]:
    """Return the packets of a flow of constant rate."""
    try:
        bit_per_s = parse_rate(rate)
    except ValueError as error:
        raise about("udp", f"{error}") from None
    if bit_per_s == 0:
        raise about("udp", f"'{rate}' is a flow without packets: give a rate above 0")
    gap_ns = _PACKET_BYTES * 8 * 10**9 / bit_per_s
    if until_ns / gap_ns > _MOST_ADDED:
        raise about(
            "udp", f"'{rate}' is {until_ns / gap_ns:.0f} packets in {until_ns / 1e9:.3g} s: allowed are {_MOST_ADDED}"
        )
    times = np.arange(0.0, until_ns + 1.0, gap_ns).astype(np.uint64)
    # Any number that no hash of the captures is likely to be.
    return times, np.full(len(times), _PACKET_BYTES, np.uint64), np.full(len(times), 0x5EED, np.uint64)


def _flows(names: dict[int, str], hashes: Whole, lengths: Whole) -> tuple[Flow, ...]:
    known, places, packets = np.unique(hashes, return_inverse=True, return_counts=True)
    totals = np.bincount(places, weights=lengths).astype(int)
    flows = [
        Flow(names[int(one)], int(one), int(count), int(total))
        for one, count, total in zip(known, packets, totals, strict=True)
    ]
    return tuple(sorted(flows, key=lambda flow: (-flow.bytes, flow.hash)))
