"""Headers of every shape, right and wrong, through the switch, beside what `model` makes of them."""

from __future__ import annotations

import random
import struct
import time
from pathlib import Path

from bmv2 import frames, model, network
from bmv2.decisions import QUEUES, Comparison, carried
from bmv2.frames import ETHERNET, Frame, Hop, checksum
from bmv2.trials import DESTINATION, FIRST_SESSION, RECEIVER_MAC, SENDER_MAC, SOURCES, SWITCH_MAC

THRIFT = 9091
# Ports far beyond the first few: each has registers of its own.
SENDER, RECEIVER, LAST = 300, 8, 509
RATE, BEST_RATE = 123, 45
_HUGE = 2**31
# The largest batch that a band takes without a drop.
_BATCH = 30


def fixed() -> list[tuple[str, bytes]]:
    """Return frames by what is special about each."""

    def made(**given: object) -> bytes:
        settings: dict[str, object] = {
            "data": bytes(range(40)),
            "source": SOURCES[0],
            "destination": DESTINATION,
            **given,
        }
        return frames.build(
            Frame(SENDER_MAC, SWITCH_MAC, **settings)  # type: ignore[arg-type]
        )

    cases = [("no option", made())]
    cases += [(f"{hops} hops", made(hops=carried(hops))) for hops in range(4)]
    cases += [(f"{hops} hops, CE", made(hops=carried(hops), ecn=frames.CE)) for hops in range(4)]
    four = struct.pack(">BBH", frames.INT_OPTION, 4, 0)
    three_hops = struct.pack(">BBH", frames.INT_OPTION, 40, 4) + bytes(36)
    options = {
        "NOPs": b"\x01" * 4,
        "router alert": bytes.fromhex("94040000"),
        "record route": bytes([7, 39, 4]) + bytes(36) + b"\0",
        "NOPs before INT": b"\x01" * 4 + four,
        "INT before NOPs": four + b"\x01" * 4,
        "INT that says 1 hop, with none": struct.pack(">BBH", frames.INT_OPTION, 4, 1),
        "INT that says none, with 1 hop": struct.pack(">BBH", frames.INT_OPTION, 16, 0) + bytes(12),
        "INT that says 4 hops, with 3": three_hops,
        "INT that says 65535 hops": struct.pack(">BBH", frames.INT_OPTION, 4, 65_535),
        "INT, copied": struct.pack(">BBH", frames.INT_OPTION | 0x80, 4, 0),
    }
    cases += [(name, made(options=bytes_)) for name, bytes_ in options.items()]
    cases += [(f"ttl {ttl}", made(ttl=ttl)) for ttl in (0, 1, 2, 255)]
    cases += [("TCP", made(protocol=6)), ("ICMP", made(protocol=1)), ("UDP without data", made(data=b""))]
    plain = made()
    cases += [
        ("wrong sum", plain[:24] + bytes([plain[24] ^ 1]) + plain[25:]),
        ("not IPv4", plain[:12] + b"\x86\xdd" + plain[14:]),
        ("version 6", _with(plain, 0, b"\x65")),
        ("ihl 4", _with(plain, 0, b"\x44")),
        ("ihl beyond the frame", _with(plain[:40], 0, b"\x4f")),
        ("total length below the header", _with(plain, 2, b"\x00\x13")),
        ("second fragment", _with(plain, 6, b"\x00\x07")),
        ("first fragment", _with(plain, 6, b"\x20\x00")),
        ("no route", made(destination=frames.address("192.0.2.1"))),
        ("to the last port", made(destination=frames.address("10.0.2.1"))),
    ]
    return cases


def mutated(count: int, seed: int) -> list[tuple[str, bytes]]:
    """Return frames with up to four bytes of their headers changed, half of them with a right sum all the same."""
    source = random.Random(seed)
    bases = [data for _, data in fixed()]
    cases = []
    for number in range(count):
        data = bytearray(source.choice(bases))
        for _ in range(source.randint(1, 4)):
            # Not the addresses: most of the space has no route.
            place = source.choice([*range(12, ETHERNET + 12), *range(ETHERNET + 20, min(len(data), 78))])
            data[place] = source.choice((0, 1, 4, 5, 6, 0x1F, 0x45, 0x46, 0x49, 0x4C, 0x4F, 255, source.randrange(256)))
        frame = bytes(data)
        cases.append((f"mutation {number}", _with(frame, 0, b"") if source.random() < 0.5 else frame))
    return cases


def _with(data: bytes, place: int, value: bytes) -> bytes:
    """Return a frame with bytes of its IP header replaced, and a sum that is right for the length that it then has."""
    packet = bytearray(data[ETHERNET:])
    packet[place : place + len(value)] = value
    length = min(max(4 * (packet[0] & 15), 20), len(packet))
    packet[10:12] = bytes(2)
    packet[10:12] = checksum(bytes(packet[: length - length % 2])).to_bytes(2)
    return data[:ETHERNET] + bytes(packet)


def run(program: Path, folder: Path, count: int) -> Comparison:
    """Send all shapes through a switch; return how many were compared and what differs."""
    found = Comparison(beside="the model")
    ports = {SENDER: "sw0", RECEIVER: "sw1", LAST: "sw2"}
    with network.switch(program, ports, THRIFT, folder / "shapes.log") as switch:
        switch.add_route(DESTINATION, 32, RECEIVER_MAC, RECEIVER)
        switch.add_route(frames.address("10.0.2.0"), 24, frames.mac(3), LAST)
        switch.mirror(FIRST_SESSION + SENDER, SENDER)
        for place in (
            *range(RECEIVER * QUEUES, RECEIVER * QUEUES + QUEUES),
            *range(LAST * QUEUES, LAST * QUEUES + QUEUES),
        ):
            for register, value in (("weight", _HUGE), ("threshold", _HUGE), ("rate", RATE), ("best_rate", BEST_RATE)):
                switch.write(register, place, value)
        hosts = [network.Port(name) for name in ("host0", "host1", "host2")]
        cases = fixed() + mutated(count, 1)
        for begin in range(0, len(cases), _BATCH):
            _batch(hosts, cases[begin : begin + _BATCH], found)
        # Messages: each shape eight times at ten packets per second and band, so that some have others behind them.
        for queue in range(QUEUES):
            switch.write("threshold", RECEIVER * QUEUES + queue, 1)
        switch.set_rate(RECEIVER, 100)
        for name, data in fixed():
            _messages(hosts, name, data, found)
        for host in hosts:
            host.socket.close()
    return found


def _batch(hosts: list[network.Port], cases: list[tuple[str, bytes]], found: Comparison) -> None:
    expected: dict[int, list[tuple[str, bytes]]] = {1: [], 2: []}
    for name, data in cases:
        to, next_hop = (2, frames.mac(3)) if data[30:33] == bytes((10, 0, 2)) else (1, RECEIVER_MAC)
        is_routed = data[30:34] == DESTINATION or to == 2
        sent = model.forwarded(data, next_hop, Hop(0, RATE, BEST_RATE)) if is_routed else None
        if sent is not None:
            expected[to].append((name, sent))
        hosts[0].send(data)
    came = {to: _received(hosts[to], len(expected[to])) for to in expected}
    for to, frames_ in expected.items():
        for (name, sent), data in zip(frames_, came[to], strict=False):
            found.check("shape", name, _masked(data).hex(), _masked(sent).hex())
    names = f"{cases[0][0]} to {cases[-1][0]}"
    found.check("frames of a batch", names, [len(came[to]) for to in came], [len(expected[to]) for to in expected])
    dropped = len(cases) - sum(map(len, expected.values()))
    found.compared["dropped, as it should be"] += dropped


def _messages(hosts: list[network.Port], name: str, data: bytes, found: Comparison) -> None:
    expected = model.message(data, Hop(0, RATE, BEST_RATE))
    is_routed = data[30:34] == DESTINATION
    count = 8
    for _ in range(count):
        hosts[0].send(data)
    _received(hosts[1], count if is_routed and model.is_sound(data) else 0)
    messages = _received(hosts[0], 1 if expected and is_routed else 0)
    found.check("messages", name, bool(messages), expected is not None and is_routed)
    for received in messages:
        if expected is None:
            break
        # The queue behind the packet, which time decides here, is compared in the trials.
        found.check("message", name, _masked(received).hex(), _masked(expected).hex())


def _received(host: network.Port, count: int) -> list[bytes]:
    """Return what arrives until so many frames have and nothing more comes."""
    came: list[bytes] = []
    end, quiet = time.monotonic() + 10, time.monotonic()
    while time.monotonic() < end and (len(came) < count or time.monotonic() - quiet < 0.15):
        if (data := host.receive()) is None:
            time.sleep(0.005)
            continue
        came.append(data)
        quiet = time.monotonic()
    return came


def _masked(data: bytes) -> bytes:
    """Return a frame without the queue in the switch's hop, and without the sum, if that is right."""
    length = 4 * (data[ETHERNET] & 15)
    header = data[ETHERNET : ETHERNET + length]
    if header[20:21] not in (b"\x1f", b"\x9f") or header[28:32] != RATE.to_bytes(4) or checksum(header):
        return data
    return data[: ETHERNET + 10] + bytes(2) + data[ETHERNET + 12 : ETHERNET + 24] + bytes(4) + data[ETHERNET + 28 :]
