"""Edits of recorded captures: what a snap length, a one-sided capture, a host's clock, a NAT or Wi-Fi make of them.

The captures are those that the simulator records: pcapng, raw IPv4 with TCP, one interface, nanoseconds.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

ENHANCED = 6
SNAP = 72
# TCP options: no operation, timestamps.
NOOP, STAMPS = 1, 8
IP_HEADER, TCP_HEADER = 20, 20
# The first byte of the addresses that the simulator gives to hosts which are not at home: 198.18.0.0/15.
OTHERS = 198


@dataclass(frozen=True)
class Packet:
    """A packet of a capture: time in nanoseconds, the bytes that were captured, and how many it had."""

    time: int
    data: bytes
    length: int

    @property
    def ends(self) -> tuple[bytes, bytes]:
        """Source and destination, each an address and a port."""
        return self.data[12:16] + self.data[20:22], self.data[16:20] + self.data[22:24]

    @property
    def dscp(self) -> int:
        """The DiffServ code point."""
        return self.data[1] >> 2


def split(capture: bytes) -> tuple[bytes, list[Packet]]:
    """Return what comes before the packets, and these."""
    head, packets, place = bytearray(), [], 0
    while place < len(capture):
        kind, length = struct.unpack_from("<II", capture, place)
        if kind == ENHANCED:
            _, high, low, captured, wire = struct.unpack_from("<IIIII", capture, place + 8)
            packets.append(Packet(high << 32 | low, capture[place + 28 : place + 28 + captured], wire))
        else:
            head += capture[place : place + length]
        place += length
    return bytes(head), packets


def joined(head: bytes, packets: Iterable[Packet]) -> bytes:
    """Return a capture of packets, in the order of their times."""
    blocks = [head]
    for one in sorted(packets, key=lambda one: one.time):
        padded = one.data + bytes(-len(one.data) % 4)
        length = 32 + len(padded)
        blocks.append(
            struct.pack(
                "<IIIIIII", ENHANCED, length, 0, one.time >> 32, one.time & 0xFFFFFFFF, len(one.data), one.length
            )
            + padded
            + struct.pack("<I", length)
        )
    return b"".join(blocks)


def seen(capture: bytes, view: str) -> bytes:
    """Return a capture as it is, with a snap length of 72 bytes, or with data or acknowledgments alone."""
    if view == "whole":
        return capture
    head, packets = split(capture)
    if view == "cut":
        return joined(head, (replace(one, data=one.data[:SNAP]) for one in packets))
    # Senders are at home, receivers in 198.18.0.0/15: what comes from there are acknowledgments.
    return joined(head, (one for one in packets if (one.data[12] == OTHERS) != (view == "data")))


def readdressed(packets: Iterable[Packet], home: bytes, far: bytes) -> Iterator[Packet]:
    """Give the home and the other hosts other addresses, and leave out the code points by which flows were known."""
    for one in packets:
        data = bytearray(one.data)
        for place in (12, 16):
            data[place : place + 4] = far if data[place] == OTHERS else home
        data[1] &= 3
        yield replace(one, data=bytes(data))


def clocked(packets: Iterable[Packet], chance: random.Random, ticks: int) -> Iterator[Packet]:
    """Let timestamps count ``ticks`` in a second from a random offset for each flow and direction, as hosts do.

    The simulator's count microseconds, and both hosts have one clock. Without ``ticks`` there are no timestamps.
    """
    offsets: dict[tuple[bytes, bytes], int] = {}
    for one in packets:
        data = bytearray(one.data)
        place = _stamps(data)
        if place is not None:
            if ticks:
                for ends, at in ((one.ends, place + 2), (one.ends[::-1], place + 6)):
                    if ends not in offsets:
                        offsets[ends] = chance.getrandbits(31)
                    micros = struct.unpack_from("!I", data, at)[0]
                    struct.pack_into("!I", data, at, (micros * ticks // 1_000_000 + offsets[ends]) & 0xFFFFFFFF)
            else:
                data[place : place + 10] = bytes([NOOP]) * 10
        yield replace(one, data=bytes(data))


def _stamps(data: bytearray) -> int | None:
    """Return where the timestamps option begins."""
    place, end = IP_HEADER + TCP_HEADER, min(IP_HEADER + (data[IP_HEADER + 12] >> 4) * 4, len(data))
    while place < end:
        if data[place] == NOOP:
            place += 1
        elif data[place] == STAMPS:
            return place if place + 10 <= end else None
        else:
            place += max(data[place + 1], 2)
    return None


def jittered(packets: Iterable[Packet], chance: random.Random, mean_ms: float, home: bytes) -> Iterator[Packet]:
    """Let Wi-Fi lie between the line and the capture: waits for the medium, in which packets gather in their order.

    Packets to ``home`` are captured later, those from there were captured earlier.
    """
    ordered = sorted(packets, key=lambda one: one.time)
    down = [one for one in ordered if one.data[16:20] == home]
    up = [one for one in ordered if one.data[12:16] == home]
    latest = 0
    for one in down:
        latest = max(latest, one.time + int(chance.expovariate(1 / mean_ms) * 1e6))
        yield replace(one, time=latest)
    earliest, earlier = 1 << 62, []
    for one in reversed(up):
        earliest = max(min(earliest, one.time - int(chance.expovariate(1 / mean_ms) * 1e6)), 0)
        earlier.append(replace(one, time=earliest))
    yield from reversed(earlier)


__all__ = ["Packet", "clocked", "jittered", "joined", "readdressed", "seen", "split"]
