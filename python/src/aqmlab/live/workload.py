"""Traffic for a link: ``python -m aqmlab.live.workload``, with a server's name at the far end and a plan at the near.

Bulk transfers by the kernel's TCP in both directions and pings (UDP), by ``server``; UDP at a constant rate by
``datagrams``; a page (`aqmlab.live.web_page`) is loaded beside them. The near end prints as JSON, the form of its plan,
what they received.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

PORT, DATAGRAMS_PORT = 5077, 5078
CHUNK = 1 << 18
IP_UDP_HEADERS = 28
SAMPLE_S = 0.05
ALL_BEGIN_S = 1.0
# Longer than most queues are.
ASK_AGAIN_S, MOST_QUESTIONS = 1.0, 30
# Offsets in the kernel's `struct tcp_info` (linux/tcp.h), which only grows at its end.
BYTES_ACKED, BYTES_RECEIVED = 120, 128
TCP_INFO_BYTES = 136
# With the first byte a client says what it wants: to be sent data, or to send.
DOWN, UP = b"d", b"u"


def serve() -> None:
    """Serve transfers and answer pings without end."""
    # IPv6 may be switched off.
    listener = socket.create_server(("", PORT), backlog=1024)
    echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    echo.bind(("", PORT))
    threading.Thread(target=_echo, args=(echo,), daemon=True).start()
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve, args=(connection,), daemon=True).start()


def _echo(echo: socket.socket) -> None:
    while True:
        data, sender = echo.recvfrom(2000)
        echo.sendto(data, sender)


def send_datagrams() -> None:
    """Send what the near end asks for, without end: from a port for each flow."""
    asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    asked.bind(("", DATAGRAMS_PORT))
    text, to = asked.recvfrom(2000)
    plan = json.loads(text)
    flows = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(plan["count"])]
    data = bytes(plan["packet_bytes"] - IP_UDP_HEADERS)
    apart_s, begin = plan["packet_bytes"] * 8 / plan["rate_bps"] / len(flows), time.monotonic()
    for flow, at_s in turns(len(flows), apart_s):
        if (early_s := begin + at_s - time.monotonic()) > 0:
            time.sleep(early_s)
        # Its buffer is full only where the machine stands still.
        with suppress(OSError):
            flows[flow].sendto(data, to)


def turns(flows: int, apart_s: float) -> Iterator[tuple[int, float]]:
    """Yield which flow sends when, in seconds: in turn, and as in scenarios all have begun within a second.

    Who begins together with all others may never be seen twice by a short memory of flows (SQM-LRU's).

    >>> [flow for flow, _ in itertools.islice(turns(2, 0.2), 6)]
    [0, 0, 1, 0, 1, 0]

    """
    for turn in itertools.count():
        flow, at_s = turn % flows, turn * apart_s
        if at_s >= ALL_BEGIN_S * flow / flows:
            yield flow, at_s


def _serve(connection: socket.socket) -> None:
    try:
        _transfer(connection, sends=connection.recv(1) == DOWN)
    except OSError:
        # The client has ended.
        connection.close()


def _transfer(connection: socket.socket, *, sends: bool) -> None:
    data = bytes(CHUNK)
    if sends:
        while True:
            connection.sendall(data)
    # TCP throws away what is read with MSG_TRUNC: nothing is copied.
    while connection.recv(CHUNK, socket.MSG_TRUNC):
        pass


class Unreachable(Exception):  # noqa: N818 (its text is the whole of it)
    """Nothing came back from the far end."""


class Flow:
    """A bulk transfer; ``wanted`` says in which direction."""

    def __init__(self, far: str, wanted: bytes, connect_s: float) -> None:
        self.wanted = wanted
        try:
            self.connection = socket.create_connection((far, PORT), connect_s)
        except TimeoutError:
            raise Unreachable(f"no transfer was accepted within {connect_s:g} s: all packets were lost") from None
        self.connection.settimeout(None)
        self.connection.sendall(wanted)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            _transfer(self.connection, sends=self.wanted == UP)
        except OSError:
            return

    def delivered(self) -> int:
        """Return the bytes that have arrived at their receiver."""
        info = self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
        (count,) = struct.unpack_from("=Q", info, BYTES_ACKED if self.wanted == UP else BYTES_RECEIVED)
        return int(count)


class Pings:
    """Pings at regular times, each answered or not."""

    def __init__(self, far: str, interval_s: float) -> None:
        self.count = 0
        self.sent: dict[int, float] = {}
        self.round_trips_ms: dict[int, float] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect((far, PORT))
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=self._send, args=(interval_s,), daemon=True).start()

    def _send(self, interval_s: float) -> None:
        due = time.monotonic()
        while True:
            self.sent[self.count] = time.monotonic()
            # One is lost while nobody listens yet.
            with suppress(ConnectionRefusedError):
                self._socket.send(self.count.to_bytes(8, "big"))
            self.count += 1
            due += interval_s
            time.sleep(max(due - time.monotonic(), 0.0))

    def _listen(self) -> None:
        while True:
            number = int.from_bytes(self._socket.recv(100), "big")
            self.round_trips_ms[number] = 1e3 * (time.monotonic() - self.sent[number])

    def since(self, first: int) -> tuple[list[float], int]:
        """Return the round trips of the pings from a number on, and how many were given up.

        Those that wait for an answer no longer than the longest took may still be answered.
        """
        now, numbers = time.monotonic(), range(first, self.count)
        answered = dict(self.round_trips_ms)
        found = [answered[number] for number in numbers if number in answered]
        longest_ms = max(found, default=0.0)
        waiting = [1e3 * (now - self.sent[number]) for number in numbers if number not in answered]
        return found, sum(ms > longest_ms for ms in waiting)


def ask_for_datagrams(far: str, port: int, plan: dict[str, Any]) -> socket.socket:
    """Ask until the first has arrived: questions are lost, too. Return the socket that they come to."""
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    sink.settimeout(ASK_AGAIN_S)
    for _ in range(MOST_QUESTIONS):
        sink.sendto(json.dumps(plan).encode(), (far, port))
        with suppress(TimeoutError):
            sink.recv(1)
            return sink
    sink.close()
    raise Unreachable(f"no datagram has arrived within {MOST_QUESTIONS * ASK_AGAIN_S:g} s")


def run(plan: dict[str, Any]) -> dict[str, Any]:
    """Make the plan's transfers and pings, and return what was measured after its warm-up."""
    far = os.environ["AQMLAB_FAR"]
    wanted = [DOWN] * plan["down"] + [UP] * plan["up"]
    # At once: where queues are full a SYN is lost, and sent again after a second.
    with ThreadPoolExecutor(max(len(wanted), 1)) as pool:
        flows = list(pool.map(lambda one: Flow(far, one, plan["connect_s"]), wanted))
    pings = Pings(far, plan["ping_s"])
    if plan["datagrams"]["count"]:
        # Nobody reads them: what does not fit into its buffer is thrown away.
        sink = ask_for_datagrams(far, DATAGRAMS_PORT, plan["datagrams"])  # noqa: F841
    receivers = None
    if plan["rated"]["count"]:
        # What is not asked for need not be read in.
        from aqmlab.live import rated

        receivers = rated.Receivers(ask_for_datagrams(far, rated.PORT, plan["rated"]), plan["rated"]["control"])
    time.sleep(plan["warmup_s"])
    # The link measures from here on, too.
    with open(os.environ["AQMLAB_MEASURE"], "wb") as measure:
        measure.write(b".")
    first, before, since = pings.count, [flow.delivered() for flow in flows], time.monotonic()
    rated_before = receivers.delivered() if receivers else []
    pages = None
    if plan["browser"]:
        from aqmlab.live import web_page

        pages = ThreadPoolExecutor(1).submit(web_page.load_until, since + plan["duration_s"], plan["browser"], far)
    loaded = [flow for flow in flows if flow.wanted == (DOWN if plan["down"] or receivers else UP)]
    delivered, passed = [], 0.0
    while passed < plan["duration_s"]:
        total = sum(flow.delivered() for flow in loaded) + sum(receivers.delivered() if receivers else [])
        delivered.append([passed, total])
        time.sleep(min(SAMPLE_S, plan["duration_s"] - passed))
        passed = time.monotonic() - since
    after = [flow.delivered() for flow in flows]
    rated_after = receivers.delivered() if receivers else []
    round_trips_ms, unanswered = pings.since(first)
    # What has begun since then is behind the others.
    rated_before += [0] * (len(rated_after) - len(rated_before))
    rates = [
        8e-6 * (late - early) / passed for early, late in zip(before + rated_before, after + rated_after, strict=True)
    ]
    return {
        "flows": [
            {"direction": "down" if flow.wanted == DOWN else "up", "goodput_mbit": rate}
            for flow, rate in zip(flows, rates, strict=False)
        ]
        + [{"direction": "down", "group": "rated", "goodput_mbit": rate} for rate in rates[len(flows) :]],
        "round_trips_ms": round_trips_ms,
        "pings_unanswered": unanswered,
        # Seconds of each that was asked for; nothing where it failed.
        "pages_s": pages.result() if pages else [],
        # Of the direction that is loaded: seconds since measuring began, and bytes.
        "delivered": delivered,
        "seconds": passed,
    }


def main() -> None:
    """Be a server, or run a plan and print what it got."""
    if sys.argv[1] == "server":
        serve()
    if sys.argv[1] == "datagrams":
        send_datagrams()
    try:
        measured = run(json.loads(sys.argv[1]))
    except (Unreachable, OSError) as error:
        # An interface may go while it runs.
        measured = {"failed": str(error)}
    print(json.dumps(measured), flush=True)
    # Threads that wait for packets are left as they are.
    os._exit(0)


if __name__ == "__main__":
    main()
