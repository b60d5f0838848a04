"""Reads a capture a second time, apart from the Rust code: one line per IP packet.

    python3 read_capture.py FILE

Covers what the files at hand contain: pcap and pcapng; Ethernet with VLAN tags, raw IP, Linux cooked,
loopback.
"""

import ipaddress
import struct
import sys

NS = 10**9


def frames(data):
    """Yield (link type, nanoseconds or None, bytes, length on the wire)."""
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        yield from pcapng_frames(data)
        return
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    unit = 1 if data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
    link = struct.unpack(order + "I", data[20:24])[0] & 0xFFFF
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, captured, wire = struct.unpack(order + "IIII", data[at : at + 16])
        yield link, seconds * NS + fraction * unit, data[at + 16 : at + 16 + captured], wire
        at += 16 + captured


def pcapng_frames(data):
    at = 0
    order = "<"
    interfaces = []
    while at + 12 <= len(data):
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        kind, length = struct.unpack(order + "II", data[at : at + 8])
        body = data[at + 8 : at + length - 4]
        if kind == 1:
            resolution, options = 6, body[8:]
            while len(options) >= 4:
                code, size = struct.unpack(order + "HH", options[:4])
                if code == 9:
                    resolution = options[4]
                options = options[4 + (size + 3) // 4 * 4 :]
            per_second = 2 ** (resolution & 127) if resolution & 128 else 10**resolution
            interfaces.append((struct.unpack(order + "H", body[:2])[0], per_second))
        elif kind == 6:
            interface, high, low, captured, wire = struct.unpack(order + "IIIII", body[:20])
            link, per_second = interfaces[interface]
            yield link, (high << 32 | low) * NS // per_second, body[20 : 20 + captured], wire
        elif kind == 3:
            wire = struct.unpack(order + "I", body[:4])[0]
            yield interfaces[0][0], None, body[4 : 4 + wire], wire
        at += length


def ip_offset(link, frame):
    """Where IP begins, or None."""
    if link == 101:
        return 0
    if link in (0, 108):
        return 4
    at = {1: 12, 113: 14, 276: 0}[link]
    end = {1: 14, 113: 16, 276: 20}[link]
    while frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at, end = end + 2, end + 4
    return end if frame[at : at + 2] in (b"\x08\x00", b"\x86\xdd") else None


def describe(packet, wire):
    """Length, protocol, addresses, ports, DSCP, ECN and TCP fields, as text."""
    fragment = False
    if packet[0] >> 4 == 4:
        length = struct.unpack("!H", packet[2:4])[0] or wire
        traffic_class, protocol, at = packet[1], packet[9], (packet[0] & 15) * 4
        addresses = packet[12:16], packet[16:20]
        fragment = struct.unpack("!H", packet[6:8])[0] & 0x3FFF != 0
    else:
        payload = struct.unpack("!H", packet[4:6])[0]
        length = 40 + payload if payload or packet[6] == 59 else wire
        traffic_class, protocol, at = (packet[0] & 15) << 4 | packet[1] >> 4, packet[6], 40
        addresses = packet[8:24], packet[24:40]
        while protocol in (0, 43, 44, 60):
            if protocol == 44:
                fragment = fragment or struct.unpack("!H", packet[at + 2 : at + 4])[0] & 0xFFF9 != 0
                protocol, at = packet[at], at + 8
            else:
                protocol, at = packet[at], at + 8 + packet[at + 1] * 8
            if fragment:
                break
    source, destination = (ipaddress.ip_address(address) for address in addresses)
    ports = (0, 0)
    tcp = "-"
    if protocol in (6, 17) and not fragment:
        ports = struct.unpack("!HH", packet[at : at + 4])
        if protocol == 6:
            header = (packet[at + 12] >> 4) * 4
            seq, ack = struct.unpack("!II", packet[at + 4 : at + 12])
            options, sack = packet[at + 20 : at + header], False
            while options and options[0] != 0:
                sack = sack or options[0] == 5
                options = options[1:] if options[0] == 1 else options[max(options[1], 2) :]
            tcp = f"{seq}/{ack}/{packet[at + 13]}/{length - at - header}/{'sack' if sack else '-'}"
    ends = f"{source} {ports[0]} {destination} {ports[1]}"
    return f"{length} {protocol} {ends} {traffic_class >> 2} {traffic_class & 3} {tcp}"


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    result = 0  # time of the packet in front, in the result
    last = None  # the latest recorded time of this recording
    for link, time, frame, wire in frames(data):
        offset = ip_offset(link, frame)
        if offset is None:
            continue
        if time is not None:
            last = time if last is None else last
            step = time - last
            if step < -NS or step > 3600 * NS:
                result, last = result + NS, time
            elif step > 0:
                result, last = result + step, time
        print(result, describe(frame[offset:], wire - offset))


main()
