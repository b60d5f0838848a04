"""The paper's network (figure 6) and scenario 1: three senders, two switches with their control planes, two receivers.

h1, h2, h3 send classes A, B, C over s1 and s2 to h5; hosts are raw sockets, senders are the simulator's own (algorithm
3, by `aqmlab._native.RateSender`). Rates are those of table 3 times ``SERVICE`` / 1250, since software does not forward
10 Mbit/s on any machine: a link sends ``SERVICE`` packets of 1000 bytes per second.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab import _native
from bmv2 import frames, network
from bmv2.decisions import QUEUES
from bmv2.frames import ECT_1, Frame
from bmv2.thrift import Switch
from bmv2.trials import FIRST_SESSION

# Packets of 1000 bytes per second; each of the three bands sends a third (README.md: rates).
SERVICE = 300
PACKET = 1000
CLASSES = "ABC"
S1, S2 = 9101, 9102
HOSTS = {name: frames.address(f"10.0.0.{number}") for number, name in enumerate(("h1", "h2", "h3", "h4", "h5"), 1)}
MACS = {name: frames.mac(number) for number, name in enumerate(HOSTS, 1)} | {
    "s1": frames.mac(0x51),
    "s2": frames.mac(0x52),
}
# By switch: interfaces by port, and the neighbour behind each.
PORTS = {
    "s1": {0: ("s1h1", "h1"), 1: ("s1h2", "h2"), 2: ("s1h3", "h3"), 3: ("s1s2", "s2")},
    "s2": {0: ("s2s1", "s1"), 1: ("s2h4", "h4"), 2: ("s2h5", "h5")},
}
LINKS = (("h1s1", "s1h1"), ("h2s1", "s1h2"), ("h3s1", "s1h3"), ("s1s2", "s2s1"), ("h4s2", "s2h4"), ("h5s2", "s2h5"))
# Equation 16 as printed, and the sender of the simulator's preset `consistent`.
CONTROLS = ("pmqecn", "pmqecn_bounded")
# Ports that control planes divide: towards the receivers.
DIVIDED = {"s1": (3,), "s2": (1, 2)}
# The port by which h5 is reached.
ON_THE_WAY = {"s1": 3, "s2": 2}


@dataclass
class Sender:
    """A host that sends one class."""

    name: str
    control: _native.RateSender
    port: network.Port
    sent: int = 0
    messages: int = 0
    last: float = -1.0
    rate: float = 0.0


@dataclass
class Result:
    """What a run brought; lists by class."""

    seconds: float
    control: str
    sent: list[int] = field(default_factory=lambda: [0] * 3)
    received: list[int] = field(default_factory=lambda: [0] * 3)
    messages: list[int] = field(default_factory=lambda: [0] * 3)
    came: dict[str, list[int]] = field(default_factory=dict)
    """What each switch counted on the way to h5; less than the one before did, and that one or the link lost it."""
    queues: list[list[int]] = field(default_factory=lambda: [[], []])
    """Packets that waited in s1's and in s2's port behind each packet that h5 received."""
    decisions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """What the control plane of each switch decided, in its periods."""


def configure(switch: Switch, name: str) -> None:
    """Write a switch's tables, clone sessions and rates."""
    for port, (_, neighbour) in PORTS[name].items():
        switch.mirror(FIRST_SESSION + port, port)
        for host in HOSTS if neighbour.startswith("s") else (neighbour,):
            if neighbour.startswith("s") and any(host == other for _, other in PORTS[name].values()):
                continue
            switch.add_route(HOSTS[host], 32, MACS[neighbour], port)
    for queue, host in enumerate(("h1", "h2")):
        switch.add_class((HOSTS[host], b"\xff" * 4), (bytes(4), bytes(4)), queue)
    for port in DIVIDED[name]:
        switch.set_rate(port, SERVICE // 3)


def run(program: Path, folder: Path, seconds: float, control: str) -> Result:
    """Run scenario 1 for so long, with a kind of sender; the links are there."""
    result = Result(seconds, control)
    switches: dict[str, Switch] = {}
    with ExitStack() as stack:
        for name, thrift in (("s1", S1), ("s2", S2)):
            interfaces = {port: interface for port, (interface, _) in PORTS[name].items()}
            switch = stack.enter_context(network.switch(program, interfaces, thrift, folder / f"{name}.log"))
            configure(switch, name)
            switches[name] = switch
        lines = {name: folder / f"{name}.decisions" for name in PORTS}
        for name, thrift in (("s1", S1), ("s2", S2)):
            stack.enter_context(_control_plane(thrift, DIVIDED[name], len(PORTS[name]), lines[name]))
        _send(result, seconds)
        for name, switch in switches.items():
            place = ON_THE_WAY[name] * QUEUES
            result.came[name] = [switch.read("arrivals", place + queue) for queue in range(len(CLASSES))]
    result.decisions = {
        name: [json.loads(line) for line in path.read_text().splitlines()] for name, path in lines.items()
    }
    return result


@contextmanager
def _control_plane(thrift: int, ports: tuple[int, ...], links: int, lines: Path) -> Iterator[None]:
    """Run a control plane as a process."""
    words = [sys.executable, "-m", "bmv2.control_plane", "--thrift", str(thrift), "--service", str(SERVICE)]
    words += ["--links", str(links), "--port", *map(str, ports)]
    with lines.open("w") as file, subprocess.Popen(words, stdout=file, cwd=Path(__file__).parents[1]) as process:
        try:
            yield
        finally:
            process.terminate()


def sender(host: str, control: str, scale: float) -> _native.RateSender:
    """Return a sender with table 3's rates times ``scale``."""
    control = f"{control} first {round(1e6 * scale)}bit additive {round(5e6 * scale)}bit"
    return _native.RateSender(control, 8.0 * PACKET * SERVICE, int(host[1:]))


def _send(result: Result, seconds: float) -> None:
    scale = SERVICE / 1250
    senders = [
        Sender(name, sender(name, result.control, scale), network.Port(f"{name}s1"), rate=1e6 * scale)
        for name in ("h1", "h2", "h3")
    ]
    receiver = network.Port("h5s2")
    begin = time.monotonic()
    while (now := time.monotonic() - begin) < seconds + 2:
        for queue, one in enumerate(senders):
            while (data := one.port.receive()) is not None:
                _hear(one, data, now)
            if (due := one.control.deadline) is not None and due <= now * 1e9:
                one.rate, _ = one.control.after(round(now * 1e9), "wait", 0.0, 0.0)
            # What is late by more than a tenth of a second is not made up for.
            due_at = max(one.last, now - 0.1) + 8 * PACKET / one.rate if one.sent else 0.0
            if due_at <= now < seconds:
                one.port.send(_frame(one, queue))
                one.sent += 1
                one.rate, _ = one.control.after(round(now * 1e9), "sent", float(PACKET), 0.0)
                one.last = due_at
        while (data := receiver.receive()) is not None:
            if (frame := frames.parse(data)) is not None and frame.hops is not None and len(frame.hops) == 2:
                result.received[frame.data[4]] += 1
                for hop, queues in zip(reversed(frame.hops), result.queues, strict=True):
                    queues.append(hop.queue)
        time.sleep(0.001)
    result.sent = [one.sent for one in senders]
    result.messages = [one.messages for one in senders]


def _hear(one: Sender, data: bytes, now: float) -> None:
    """Let a sender act on a message; one without rates, before the control plane's first period, says nothing."""
    message = frames.parse(data)
    if message is None or message.ecn != frames.CE or not message.hops:
        return
    one.messages += 1
    if hop := message.hops[0] if message.hops[0].rate else None:
        one.rate, _ = one.control.after(round(now * 1e9), "rates", float(hop.rate), float(hop.best_rate))


def _frame(one: Sender, queue: int) -> bytes:
    head = frames.ETHERNET + frames.HEADER + 4 + frames.UDP_HEADER
    return frames.build(
        Frame(
            source_mac=MACS[one.name],
            destination_mac=MACS["s1"],
            source=HOSTS[one.name],
            destination=HOSTS["h5"],
            ecn=ECT_1,
            hops=(),
            data=(one.sent.to_bytes(4) + bytes([queue])).ljust(PACKET - head, b"\0"),
        )
    )
