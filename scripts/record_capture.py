#!/usr/bin/env python3
"""Record a small capture of real Linux traffic between network namespaces.

    sudo scripts/record_capture.py data/captures/aqmlab-lan.pcap

Needs root, iproute2 and ethtool; nothing else, and no network. The topology:

    server -- router ==(25 Mbit/s, 64 KB)== wire (10 ms in each direction) -- client

`router` shapes towards the client with tc's tbf; `wire` is this script moving frames between two interfaces with a
delay (so netem, which not every kernel has, is not needed). Packets at the server's interface are recorded, in both
directions, with the kernel's nanosecond time stamps. Frames are cut after their last header: the file has no payload,
but keeps their lengths on the wire.

Offloads (TSO, GSO, GRO) are off, so packets are as long as on a wire. Congestion control is set per socket.
The traffic is defined in the tables TRANSFERS and CALL below.
"""

import argparse
import contextlib
import heapq
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SECONDS = 24
DELAY_S = 0.010
RATE, BUFFER = "25mbit", "64kb"
PREFIX = "aqmlab-"
SERVER = {4: "192.0.2.10", 6: "2001:db8:1::10"}
# The client's route to this address asks for ECN.
SERVER_ECN = "192.0.2.11"
CLIENT = {4: "198.51.100.10", 6: "2001:db8:2::10"}
TCP_PORT, VOICE_PORT, DNS_PORT = 8080, 5004, 53


class Transfer(NamedTuple):
    """A TCP download, asked for by the client after a DNS query."""

    start_s: float
    address: str
    congestion_control: str
    size: int
    # Chunks of `size` sent `every_s` apart, `chunks` times, paced at `pacing_mbit`: segmented video.
    chunks: int = 1
    every_s: float = 0.0
    pacing_mbit: float = 0.0


def page(start_s: float) -> list[Transfer]:
    """A web page: six connections at about the same time."""
    ccs = ("cubic", "reno")
    return [Transfer(start_s + 0.03 * i, SERVER[6 if i % 2 else 4], ccs[i // 3], 45_000) for i in range(6)]


TRANSFERS = sorted(
    [
        Transfer(0.5, SERVER[4], "cubic", 650_000),
        Transfer(0.7, SERVER[4], "reno", 350_000),
        Transfer(4.0, SERVER[6], "cubic", 450_000),
        Transfer(4.2, SERVER_ECN, "reno", 350_000),
        Transfer(6.0, SERVER[4], "cubic", 200_000, chunks=4, every_s=3.0, pacing_mbit=16),
        *page(8.5),
        Transfer(12.5, SERVER[6], "reno", 450_000),
        Transfer(12.6, SERVER[4], "cubic", 450_000),
        *page(17.0),
        Transfer(20.0, SERVER[4], "cubic", 500_000),
        Transfer(20.1, SERVER[6], "reno", 250_000),
    ]
)


class Call(NamedTuple):
    """A voice call over UDP, in both directions: G.711, 20 ms of speech per packet, expedited forwarding."""

    start_s: float = 9.5
    length_s: float = 5.0
    every_s: float = 0.020
    payload: int = 12 + 160
    tos: int = 46 << 2


CALL = Call()


# --- Roles: each runs in its namespace as `record_capture.py --role NAME`. ---


def serve() -> None:
    """The server: TCP downloads, voice, and a resolver that knows one answer."""
    for family, wildcard in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        listener = socket.create_server((wildcard, TCP_PORT), family=family, backlog=64)
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        resolver = socket.socket(family, socket.SOCK_DGRAM)
        if family == socket.AF_INET6:
            resolver.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        resolver.bind((wildcard, DNS_PORT))
        threading.Thread(target=resolve, args=(resolver,), daemon=True).start()
    voice = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    voice.bind((SERVER[4], VOICE_PORT))
    _, caller = voice.recvfrom(2048)
    talk(voice, caller)
    signal.pause()


def accept(listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def answer(connection: socket.socket) -> None:
    """Sends what the request line asks for."""
    with connection:
        request = connection.makefile("rb").readline().decode().split()
        congestion_control, size, chunks, every_s, pacing_mbit = request
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
        if float(pacing_mbit) > 0:
            so_max_pacing_rate = 47
            connection.setsockopt(socket.SOL_SOCKET, so_max_pacing_rate, int(float(pacing_mbit) * 1e6 / 8))
        for chunk in range(int(chunks)):
            started = time.monotonic()
            connection.sendall(bytes(int(size)))
            if chunk + 1 < int(chunks):
                time.sleep(max(0.0, started + float(every_s) - time.monotonic()))


def resolve(resolver: socket.socket) -> None:
    """Answers every query with one record (RFC 1035 section 4), A or AAAA as asked."""
    while True:
        query, client = resolver.recvfrom(512)
        question = query[12:]
        asked = struct.unpack("!H", question[-4:-2])[0]
        address = socket.inet_pton(socket.AF_INET6, SERVER[6]) if asked == 28 else socket.inet_aton(SERVER[4])
        head = query[:2] + struct.pack("!HHHHH", 0x8580, 1, 1, 0, 0)
        record = struct.pack("!HHHIH", 0xC00C, asked, 1, 60, len(address)) + address
        resolver.sendto(head + question + record, client)


def ask(server: str, number: int) -> None:
    """A DNS query to `server`, for an address of its family."""
    six = ":" in server
    name = b"".join(bytes([len(label)]) + label for label in (b"host%d" % number, b"example", b"org")) + b"\0"
    asked = 28 if six else 1
    query = struct.pack("!HHHHHH", number, 0x0100, 1, 0, 0, 0) + name + struct.pack("!HH", asked, 1)
    with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.settimeout(2)
        resolver.sendto(query, (server, DNS_PORT))
        resolver.recv(512)


def download(number: int, transfer: Transfer) -> None:
    """The client's side of a transfer."""
    ask(SERVER[6 if ":" in transfer.address else 4], number)
    with socket.create_connection((transfer.address, TCP_PORT)) as connection:
        _, _, congestion_control, size, chunks, every_s, pacing_mbit = transfer
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
        connection.sendall(f"{congestion_control} {size} {chunks} {every_s} {pacing_mbit}\n".encode())
        while connection.recv(1 << 16):
            pass


def talk(voice: socket.socket, peer: tuple[str, int]) -> None:
    voice.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, CALL.tos)
    started = time.monotonic()
    for number in range(int(CALL.length_s / CALL.every_s)):
        time.sleep(max(0.0, started + number * CALL.every_s - time.monotonic()))
        voice.sendto(bytes(CALL.payload), peer)


def call() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as voice:
        voice.bind((CLIENT[4], VOICE_PORT))
        talk(voice, (SERVER[4], VOICE_PORT))


def use() -> None:
    """The client: downloads and the call, at their times."""
    started = time.monotonic()
    plan = [(t.start_s, threading.Thread(target=download, args=(i + 1, t))) for i, t in enumerate(TRANSFERS)]
    plan.append((CALL.start_s, threading.Thread(target=call)))
    for start_s, thread in sorted(plan, key=lambda item: item[0]):
        time.sleep(max(0.0, started + start_s - time.monotonic()))
        thread.start()
    for _, thread in plan:
        thread.join()


def warm() -> None:
    """Makes every node resolve its neighbours, so that the recording is free of it."""
    for address in (SERVER[4], SERVER_ECN, SERVER[6]):
        ask(address, 0)


def relay() -> None:
    """The wire: frames of either side come out of the other after DELAY_S."""
    sides = [packet_socket(name) for name in ("wire-r", "wire-c")]
    waiting: list[deque[tuple[float, bytes]]] = [deque(), deque()]
    while True:
        due = [queue[0][0] for queue in waiting if queue]
        timeout = max(0.0, min(due) - time.monotonic()) if due else None
        readable, _, _ = select.select(sides, [], [], timeout)
        for side in readable:
            frame, address = side.recvfrom(65535)
            if address[2] != socket.PACKET_OUTGOING:
                waiting[1 - sides.index(side)].append((time.monotonic() + DELAY_S, frame))
        for side, queue in zip(sides, waiting, strict=True):
            while queue and queue[0][0] <= time.monotonic():
                side.send(queue.popleft()[1])


def packet_socket(interface: str) -> socket.socket:
    eth_p_all = 0x0003
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(eth_p_all))
    packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    packets.bind((interface, eth_p_all))
    return packets


def record(path: str) -> None:
    """Records packets at the server's interface, until SIGTERM: pcap with nanoseconds, little-endian."""
    so_timestampns = 35
    stamp = (socket.SOL_SOCKET, so_timestampns)
    packets = packet_socket("server0")
    packets.setsockopt(*stamp, 1)
    found: list[tuple[int, int, bytes]] = []
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    print("ready", flush=True)
    while not stop.is_set():
        if not select.select([packets], [], [], 0.1)[0]:
            continue
        frame, ancillary, _, _ = packets.recvmsg(65535, 64)
        times = [data for level, kind, data in ancillary if (level, kind) == stamp]
        seconds, nanos = struct.unpack("qq", times[0])
        heapq.heappush(found, (seconds * 1_000_000_000 + nanos, len(frame), frame[: headers(frame)]))
    with Path(path).open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        while found:
            at, length, kept = heapq.heappop(found)
            seconds, nanos = divmod(at, 1_000_000_000)
            file.write(struct.pack("<IIII", seconds, nanos, len(kept), length) + kept)


def headers(frame: bytes) -> int:
    """Bytes of `frame` up to the end of its transport header."""
    ether_type = struct.unpack("!H", frame[12:14])[0]
    if ether_type == 0x0800:
        transport, protocol = 14 + (frame[14] & 15) * 4, frame[23]
    elif ether_type == 0x86DD:
        transport, protocol = 14 + 40, frame[20]
    else:
        return len(frame)
    if protocol == socket.IPPROTO_TCP:
        return transport + (frame[transport + 12] >> 4) * 4
    return transport + 8


# --- The network. ---


def run(command: str, *, check: bool = True) -> None:
    errors = None if check else subprocess.DEVNULL
    subprocess.run(command.split(), check=check, stdout=subprocess.DEVNULL, stderr=errors)


def inside(namespace: str, command: str) -> None:
    run(f"ip netns exec {PREFIX}{namespace} {command}")


@contextlib.contextmanager
def stage() -> Iterator[None]:
    """Builds the namespaces, and removes them again."""
    names = ("server", "router", "wire", "client")
    links = (("server", "server0", "router", "to-server"), ("router", "to-client", "wire", "wire-r"),
             ("wire", "wire-c", "client", "client0"))  # fmt: skip
    addresses = (
        ("server", "server0", [f"{SERVER[4]}/24", f"{SERVER_ECN}/24", f"{SERVER[6]}/64"]),
        ("router", "to-server", ["192.0.2.1/24", "2001:db8:1::1/64"]),
        ("router", "to-client", ["198.51.100.1/24", "2001:db8:2::1/64"]),
        ("client", "client0", [f"{CLIENT[4]}/24", f"{CLIENT[6]}/64"]),
    )
    try:
        for name in names:
            run(f"ip netns add {PREFIX}{name}")
            inside(name, "ip link set lo up")
        for left, left_name, right, right_name in links:
            right_end = f"{right_name} netns {PREFIX}{right}"
            run(f"ip link add {left_name} netns {PREFIX}{left} type veth peer {right_end}")
            for name, interface in ((left, left_name), (right, right_name)):
                inside(name, f"ethtool -K {interface} tso off gso off gro off sg off tx off rx off")
                inside(name, f"ip link set {interface} up")
        for name, interface, given in addresses:
            for address in given:
                nodad = " nodad" if ":" in address else ""
                inside(name, f"ip address add {address} dev {interface}{nodad}")
        inside("router", "sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")
        inside("router", f"tc qdisc add dev to-client root tbf rate {RATE} burst 5kb limit {BUFFER}")
        for name, gateway4, gateway6 in (
            ("server", "192.0.2.1", "2001:db8:1::1"),
            ("client", "198.51.100.1", "2001:db8:2::1"),
        ):
            inside(name, f"ip route add default via {gateway4}")
            inside(name, f"ip -6 route add default via {gateway6}")
        inside("client", f"ip route add {SERVER_ECN} via 198.51.100.1 features ecn")
        # No memory of earlier connections: every transfer starts from the defaults.
        inside("server", "sysctl -q -w net.ipv4.tcp_no_metrics_save=1")
        yield
    finally:
        for name in names:
            run(f"ip netns delete {PREFIX}{name}", check=False)


def start(namespace: str, role: str, *extra: str) -> "subprocess.Popen[bytes]":
    command = ["ip", "netns", "exec", PREFIX + namespace, sys.executable, __file__, "--role", role, *extra]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def direct(path: Path) -> None:
    with stage():
        running = [start("wire", "relay"), start("server", "serve")]
        try:
            time.sleep(1)
            if start("client", "warm").wait() != 0:
                sys.exit("the server does not answer")
            recorder = start("server", "record", str(path))
            running.append(recorder)
            assert recorder.stdout is not None
            recorder.stdout.readline()
            started = time.monotonic()
            client = start("client", "use")
            running.append(client)
            if client.wait(timeout=3 * SECONDS) != 0:
                sys.exit("the client failed")
            time.sleep(max(0.2, started + SECONDS - time.monotonic()))
            recorder.send_signal(signal.SIGTERM)
            recorder.wait()
        finally:
            for process in running:
                process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, nargs="?", help="the pcap file to write")
    parser.add_argument("--role", choices=("serve", "use", "warm", "relay", "record"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.role == "record":
        record(str(arguments.path))
    elif arguments.role:
        {"serve": serve, "use": use, "warm": warm, "relay": relay}[arguments.role]()
    elif arguments.path is None:
        parser.error("give the pcap file to write")
    elif os.geteuid() != 0:
        sys.exit("recording needs root: network namespaces and packet sockets")
    else:
        direct(arguments.path.resolve())
        print(f"{arguments.path}: {arguments.path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
