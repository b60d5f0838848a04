"""Rate-based senders on a link (DCQCN): ``python -m aqmlab.live.rated`` is where they send; the near end receives.

They have a UDP port of their own. A notification goes to the port that the marked packet came from, and says nothing to
any other flow.
"""

from __future__ import annotations

import json
import os
import select
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any

from aqmlab import _native

PORT = 5080
IP_UDP_HEADERS = 28
CE = 3
# The opcode of a CNP of RoCEv2 (InfiniBand annex 17).
NOTIFICATION = b"\x81"
# Packets that are later than this are not sent at once, all of them: the machine stood still.
MOST_BEHIND_S = 0.01


class Sender:
    """One flow; times are seconds since it began. A packet has ``overhead`` bytes more on the link than IP says."""

    def __init__(self, control: str, line_bps: int, overhead: int, seed: int) -> None:
        self.control = _native.RateSender(control, line_bps, seed)
        self.data = bytes(self.control.packet_bytes - IP_UDP_HEADERS)
        self.bits = 8 * (self.control.packet_bytes + overhead)
        self.rate = float(line_bps)
        self.last_s = -self.bits / self.rate
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, self.control.ecn)
        self.socket.setblocking(False)

    @property
    def due_s(self) -> float:
        """When the next packet is due: as in the simulator, by the rate of now, not that of when the last was sent."""
        return self.last_s + self.bits / self.rate

    @property
    def next_s(self) -> float:
        """When there is something to do next."""
        deadline = self.control.deadline
        return self.due_s if deadline is None else min(self.due_s, deadline / 1e9)

    def proceed(self, to: Any, now_s: float) -> None:
        """Do what is due, first the timers."""
        self.rate, _ = self.control.after(round(1e9 * now_s), "wait", 0.0, 0.0)
        if now_s >= self.due_s:
            self.send(to, now_s)

    def send(self, to: Any, now_s: float) -> None:
        """Send a packet."""
        # Its buffer is full only where the machine stands still.
        with suppress(OSError):
            self.socket.sendto(self.data, to)
        self.last_s = max(self.due_s, now_s - MOST_BEHIND_S)
        self.rate, _ = self.control.after(round(1e9 * now_s), "sent", self.control.packet_bytes, 0.0)

    def listen(self, now_s: float) -> None:
        """Read what came back."""
        with suppress(BlockingIOError):
            while True:
                if self.socket.recv(100) == NOTIFICATION:
                    self.rate, _ = self.control.after(round(1e9 * now_s), "notified", 0.0, 0.0)


def _be_punctual() -> None:
    """Have real-time priority in this thread, where that is permitted.

    Elsewhere a network card does this. What a loaded machine keeps waiting for more than `MOST_BEHIND_S` sends less.
    """
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def send() -> None:
    """Send what the near end asks for, without end."""
    _be_punctual()
    asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    asked.bind(("", PORT))
    text, to = asked.recvfrom(2000)
    plan = json.loads(text)
    own = (plan["control"], plan["line_bps"], plan["overhead"])
    flows = [Sender(*own, plan["seed"] + number) for number in range(plan["count"])]
    by_socket = {flow.socket: flow for flow in flows}
    begin = time.monotonic()
    while True:
        first = min(flows, key=lambda flow: flow.next_s)
        early_s = begin + first.next_s - time.monotonic()
        for ready in select.select(list(by_socket), [], [], max(early_s, 0.0))[0]:
            by_socket[ready].listen(time.monotonic() - begin)
        if (now_s := time.monotonic() - begin) >= first.next_s:
            first.proceed(to, now_s)


class Receivers:
    """The near end of all flows, on the socket that they come to."""

    def __init__(self, sink: socket.socket, control: str) -> None:
        self.bytes: Counter[Any] = Counter()
        self.notified = 0
        sink.settimeout(None)
        threading.Thread(target=self._listen, args=(sink, control), daemon=True).start()

    def _listen(self, sink: socket.socket, control: str) -> None:
        _be_punctual()
        receivers: dict[Any, _native.RateReceiver] = {}
        while True:
            data, ancillary, _, sender = sink.recvmsg(2000, 100)
            self.bytes[sender] += len(data)
            if sender not in receivers:
                receivers[sender] = _native.RateReceiver(control)
            is_marked = bool(ancillary) and ancillary[0][2][0] & CE == CE
            if receivers[sender].on_packet(is_marked, time.monotonic_ns()):
                self.notified += 1
                sink.sendto(NOTIFICATION, sender)

    def delivered(self) -> list[int]:
        """Return the bytes that have arrived of each flow, in the order in which the first came."""
        return list(self.bytes.values())


if __name__ == "__main__":
    send()
