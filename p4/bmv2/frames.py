"""Ethernet frames with IPv4, the INT option and UDP: built, and parsed without trust."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

IPV4 = 0x0800
UDP = 17
INT_OPTION = 0x1F
NOT_ECT, ECT_1, ECT_0, CE = range(4)
ETHERNET, HEADER, UDP_HEADER, HOP, TRACE = 14, 20, 8, 12, 20


@dataclass(frozen=True)
class Hop:
    """What a switch writes into the INT option: packets behind this one, and packets per second."""

    queue: int
    rate: int
    best_rate: int


@dataclass(frozen=True)
class Trace:
    """What the validation's build writes into UDP data (``trace_t`` in pmqecn.p4)."""

    number: int
    admitted: int = 0
    left: int = 0
    band: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class Frame:
    """A frame of IPv4; ``hops`` is ``None`` without an INT option, the newest hop first."""

    source_mac: bytes
    destination_mac: bytes
    source: bytes
    destination: bytes
    ecn: int = ECT_1
    dscp: int = 0
    ttl: int = 64
    hops: tuple[Hop, ...] | None = None
    options: bytes = b""
    protocol: int = UDP
    ports: tuple[int, int] = (5000, 5000)
    data: bytes = field(default=b"", repr=False)

    @property
    def number(self) -> int | None:
        """The packet's number, in the first four bytes of its data."""
        return int.from_bytes(self.data[:4]) if len(self.data) >= 4 else None

    @property
    def trace(self) -> Trace | None:
        """What the validation's build has written, if there is room for it."""
        return Trace(*struct.unpack(">5I", self.data[:TRACE])) if len(self.data) >= TRACE else None


def mac(number: int) -> bytes:
    """Return a locally administered address (IEEE 802: second bit of the first octet)."""
    return bytes([2, 0, 0, 0]) + number.to_bytes(2)


def address(text: str) -> bytes:
    """Return the four bytes of a dotted address."""
    octets = bytes(int(octet) for octet in text.split("."))
    if len(octets) != 4:
        raise ValueError(f"address: {text} (needed: four octets)")
    return octets


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071): 0 over a header that carries its own."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(~total & 0xFFFF)


def build(frame: Frame) -> bytes:
    """Return the bytes of a frame."""
    options = frame.options
    if frame.hops is not None:
        hops = b"".join(struct.pack(">3I", hop.queue, hop.rate, hop.best_rate) for hop in frame.hops)
        options = struct.pack(">BBH", INT_OPTION, 4 + len(hops), len(frame.hops)) + hops
    if len(options) % 4 or len(options) > 40:
        raise ValueError(f"options: {len(options)} bytes (allowed: 0 to 40, in words of four)")
    transport = frame.data
    if frame.protocol == UDP:
        transport = struct.pack(">4H", *frame.ports, UDP_HEADER + len(frame.data), 0) + frame.data
    length = HEADER + len(options)
    head = struct.pack(
        ">BBHHHBBH4s4s",
        0x40 | length // 4,
        frame.dscp << 2 | frame.ecn,
        length + len(transport),
        0,
        0,
        frame.ttl,
        frame.protocol,
        0,
        frame.source,
        frame.destination,
    )
    head += options
    head = head[:10] + checksum(head).to_bytes(2) + head[12:]
    return frame.destination_mac + frame.source_mac + IPV4.to_bytes(2) + head + transport


def parse(data: bytes) -> Frame | None:
    """Return the frame in these bytes; ``None`` if they are none of IPv4, or its header or its sum is wrong.

    Hops are read only where the option's length, its count and the header's length agree, as in pmqecn.p4.
    """
    if len(data) < ETHERNET + HEADER or data[12:14] != IPV4.to_bytes(2):
        return None
    packet = data[ETHERNET:]
    length, total = 4 * (packet[0] & 15), int.from_bytes(packet[2:4])
    if packet[0] >> 4 != 4 or not HEADER <= length <= total <= len(packet) or checksum(packet[:length]):
        return None
    options, body = packet[HEADER:length], packet[length:total]
    hops = _hops(options)
    ports = (0, 0)
    if packet[9] == UDP and not int.from_bytes(packet[6:8]) & 0x1FFF:
        if len(body) < UDP_HEADER:
            return None
        ports = (int.from_bytes(body[:2]), int.from_bytes(body[2:4]))
        body = body[UDP_HEADER:]
    return Frame(
        source_mac=data[6:12],
        destination_mac=data[:6],
        source=packet[12:16],
        destination=packet[16:20],
        ecn=packet[1] & 3,
        dscp=packet[1] >> 2,
        ttl=packet[8],
        hops=hops,
        options=b"" if hops is not None else options,
        protocol=packet[9],
        ports=ports,
        data=body,
    )


def _hops(options: bytes) -> tuple[Hop, ...] | None:
    if len(options) < 4 or options[0] & 0x7F != INT_OPTION:
        return None
    count = int.from_bytes(options[2:4])
    if count > 3 or not options[1] == len(options) == 4 + HOP * count:
        return None
    return tuple(Hop(*struct.unpack_from(">3I", options, 4 + HOP * number)) for number in range(count))
