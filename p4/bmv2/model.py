"""What pmqecn.p4 makes of a frame's headers, byte by byte: written from RFC 791, RFC 1812 and the README."""

from __future__ import annotations

import struct

from bmv2.frames import CE, ETHERNET, HEADER, HOP, INT_OPTION, IPV4, UDP, UDP_HEADER, Hop, checksum

MESSAGE_HEADER, MESSAGE_DATA, MESSAGE_BYTES = 36, 14, 64
_UDP_BEGINS = HEADER + ETHERNET


def is_sound(data: bytes) -> bool:
    """Whether a frame is IPv4 with a header that a router takes (RFC 1812 section 5.2.2) and time to live left."""
    if len(data) < ETHERNET + HEADER or data[12:14] != IPV4.to_bytes(2):
        return False
    length = 4 * (data[ETHERNET] & 15)
    header = data[ETHERNET : ETHERNET + length]
    if data[ETHERNET] >> 4 != 4 or length < HEADER or len(header) < length:
        return False
    if int.from_bytes(header[2:4]) < length or header[8] <= 1 or checksum(header):
        return False
    # A first UDP fragment has the whole of UDP's header.
    return not _is_udp(header) or len(data) >= ETHERNET + length + UDP_HEADER


def forwarded(data: bytes, next_hop: bytes, hop: Hop) -> bytes | None:
    """Return a frame as it is sent on, with this switch's hop if it asks for one; ``None`` if it is dropped."""
    if not is_sound(data):
        return None
    length = 4 * (data[ETHERNET] & 15)
    header, rest = bytearray(data[ETHERNET : ETHERNET + length]), data[ETHERNET + length :]
    header[8] -= 1
    count = _hops(bytes(header[HEADER:]))
    if count is not None and count < 3 and header[1] & 3 != CE:
        header[0] += 3
        struct.pack_into(">H", header, 2, (int.from_bytes(header[2:4]) + HOP) & 0xFFFF)
        struct.pack_into(">BH", header, HEADER + 1, 4 + HOP * (count + 1), count + 1)
        header[HEADER + 4 : HEADER + 4] = struct.pack(">3I", hop.queue, hop.rate, hop.best_rate)
    return next_hop + data[:6] + data[12:ETHERNET] + _summed(header) + rest


def message(data: bytes, hop: Hop) -> bytes | None:
    """Return the message to the source of a frame; ``None`` if none is sent about such a frame."""
    if not is_sound(data):
        return None
    length = 4 * (data[ETHERNET] & 15)
    header, body = data[ETHERNET : ETHERNET + length], data[ETHERNET + length :]
    if header[1] & 3 in (0, CE) or int.from_bytes(header[6:8]) & 0x1FFF:
        return None
    carried = min(int.from_bytes(header[2:4]) - length, MESSAGE_DATA)
    made = bytearray(header[:HEADER])
    made[0] = 0x49
    made[1] |= CE
    struct.pack_into(">H", made, 2, MESSAGE_HEADER + carried)
    made[6:8] = bytes(2)
    made[8] = 64
    made[12:20] = header[16:20] + header[12:16]
    made += struct.pack(">BBH3I", INT_OPTION, 16, 1, hop.queue, hop.rate, hop.best_rate)
    if _is_udp(header):
        body = body[2:4] + body[:2] + struct.pack(">HH", carried, 0) + body[UDP_HEADER:]
    return (data[6:12] + data[:6] + data[12:ETHERNET] + _summed(made) + body)[:MESSAGE_BYTES]


def _is_udp(header: bytes) -> bool:
    return header[9] == UDP and not int.from_bytes(header[6:8]) & 0x1FFF


def _hops(options: bytes) -> int | None:
    """Return how many hops an INT option carries that fills the options, if there is one."""
    if len(options) < 4 or options[0] & 0x7F != INT_OPTION:
        return None
    count = int.from_bytes(options[2:4])
    return count if count <= 3 and options[1] == len(options) == 4 + HOP * count else None


def _summed(header: bytearray) -> bytes:
    header[10:12] = bytes(2)
    return bytes(header[:10]) + checksum(bytes(header)).to_bytes(2) + bytes(header[12:])
