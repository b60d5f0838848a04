"""Whether live links work on this machine, what is missing and how to get it, and how punctual they are here."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _native
from aqmlab.live import outside
from aqmlab.live.carrying import PATHS, Carried, Link, carry
from aqmlab.live.directions import lines
from aqmlab.live.link_json import lateness_ms
from aqmlab.vocabulary.errors import MachineError

# Above it, a machine's own timers are too late to tell anything of a link.
MEASURABLE_MS = 0.3
# Of the self-test: a link that has something to send all the time, and time for a thousand packets and more.
RATE = "20mbit"
SECONDS, SHORT_SECONDS = 3.0, 0.5
SERVER = """
import socket
server = socket.create_server(("", 7000))
while True:
    connection, _ = server.accept()
    try:
        while True:
            connection.sendall(bytes(1 << 16))
    except OSError:
        pass
"""
CLIENT = """
import os, socket, sys, time
connection = socket.create_connection((os.environ["AQMLAB_FAR"], 7000))
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    connection.recv(1 << 16)
"""


@dataclass(frozen=True)
class Finding:
    """Something that a link needs, or that decides how good it is: what was found, and what to do about it."""

    name: str
    is_well: bool
    finding: str
    advice: str = ""


def findings() -> list[Finding]:
    """Look at what a link needs, and try one."""
    return [_program(), _namespaces(), *_limits(), *map(_path, PATHS), _outside(), *_clock(), _load(), _link()]


def is_able(found: list[Finding]) -> bool:
    """Whether a link could be made: the last finding is that of a try."""
    return found[-1].is_well


def _program() -> Finding:
    places = os.environ.get("PATH", "") + os.pathsep + os.pathsep.join(("/usr/sbin", "/sbin"))
    path = shutil.which("ip", path=places)
    return Finding("ip", path is not None, path or "not found", "install the package iproute2")


def _namespaces() -> Finding:
    if os.geteuid() == 0:
        return Finding("namespaces", True, "as root")
    most = _read("/proc/sys/user/max_user_namespaces") or "0"
    return Finding(
        "namespaces",
        most != "0",
        f"as a user, at most {most}",
        "sysctl user.max_user_namespaces=10000, or run it as root",
    )


def _limits() -> list[Finding]:
    """What some distributions keep users from."""
    switches = {"kernel.unprivileged_userns_clone": "1", "kernel.apparmor_restrict_unprivileged_userns": "0"}
    found = []
    for name, wanted in switches.items():
        value = _read(f"/proc/sys/{name.replace('.', '/')}")
        if value is not None and os.geteuid() != 0:
            found.append(Finding(name, value == wanted, value, f"sysctl {name}={wanted}, or run it as root"))
    return found


def _path(name: str) -> Finding:
    """Whether packets can pass by one of the data paths."""
    advice = {
        "veth": "packets pass by tun instead; veth needs the kernel's module, and for root CAP_NET_RAW",
        "tun": "modprobe tun, and let this user open /dev/net/tun; only where there is no veth it is needed",
    }
    try:
        carry(_made("1mbit", name), ["true"])
    except MachineError as error:
        return Finding(name, False, str(error), advice[name])
    return Finding(name, True, "carries packets")


def _outside() -> Finding:
    undone = outside.recover()
    left = f"; undid what {undone} killed link{'s' if undone > 1 else ''} had left" if undone else ""
    why = outside.missing()
    return Finding(
        "outside",
        not why,
        (why or "links reach what this machine does, by NAT") + left,
        "links are self-contained: apt install nftables, and run aqmlab as root, to reach what this machine does",
    )


def _clock() -> list[Finding]:
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if source is None:
        return []
    is_well = source not in ("hpet", "acpi_pm")
    return [Finding("clock", is_well, source, "each look at this clock takes a microsecond: boot with a better one")]


def _load() -> Finding:
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return Finding(
        "load",
        load < cores,
        f"{load:.1f} on {cores} cores",
        "packets leave late where others run: end what is not needed",
    )


def refusal() -> str:
    """Return in words why no link can be made here; empty if one can."""
    found = _link()
    return "" if found.is_well else found.finding


def _link() -> Finding:
    try:
        carried = carry(_made("1mbit"), ["true"])
    except MachineError as error:
        return Finding("link", False, str(error))
    priority = "with real-time priority" if carried.report["real_time"] else "without real-time priority (root has it)"
    tcp = carried.report["tcp"]["congestion_control"]
    path = carried.report["path"]
    return Finding("link", True, f"one was made, by {path}, {priority}; TCP's congestion control is {tcp}")


def _made(rate: str, path: str = "") -> Link:
    both = {name: {"rate": rate} for name in ("down", "up")}
    return Link(*lines({"rtt": "20ms", "aqm": "fifo"}, both), path=path)


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


@dataclass(frozen=True)
class SelfTest:
    """How late the machine's timers were, and at the same time a link's packets, in ms by percentile."""

    timers: Mapping[str, float]
    link: Mapping[str, float]
    missed: int

    @property
    def finding(self) -> str:
        """What that means, in a sentence."""
        added = self.link["p99"] - self.timers["p99"]
        if self.timers["p99"] > MEASURABLE_MS:
            return (
                f"not measurable here: 1 % of an idle timer's calls are more than {self.timers['p99']:.2f} ms late, "
                f"where {MEASURABLE_MS} ms is the most"
            )
        return f"the link's 99th percentile is {added:+.2f} ms from that of an idle timer"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "timers_ms": dict(self.timers),
            "link_ms": dict(self.link),
            "missed": self.missed,
            "finding": self.finding,
        }


def self_test(seconds: float = SECONDS) -> SelfTest:
    """Fill a link, and measure how late its packets leave beside an idle timer.

    Raises:
        MachineError: no link can be made.

    """
    command = [sys.executable, "-c", CLIENT, str(seconds)]
    with ThreadPoolExecutor(1) as beside:
        measuring = beside.submit(_native.timer_lateness, seconds)
        carried: Carried = carry(_made(RATE), command, [[sys.executable, "-c", SERVER]])
        idle = measuring.result()
    down = carried.report["down"]
    timers, link = map(lateness_ms, (idle, down["lateness_ms"]))
    if timers is None or link is None:
        raise MachineError("the self-test has ended before it began")
    return SelfTest(timers, link, down["missed"])


def accuracy() -> dict[str, Any]:
    """Return how punctual links are now, for a result: a short self-test, and the machine's load."""
    load = os.getloadavg()[0]
    return self_test(SHORT_SECONDS).data() | {"load": load}


def document(found: list[Finding], tested: SelfTest | None) -> dict[str, Any]:
    """Return both as plain data (JSON)."""
    findings = [{"name": one.name, "ok": one.is_well, "finding": one.finding} for one in found]
    data: dict[str, Any] = {"format_version": 1, "command": "doctor", "findings": findings}
    return data | ({"selftest": tested.data()} if tested else {})


__all__ = ["Finding", "SelfTest", "accuracy", "document", "findings", "is_able", "self_test"]
