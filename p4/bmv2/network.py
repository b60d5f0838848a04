"""A network namespace of its own with veth links, BMv2 switches on them, and raw sockets at the hosts' ends.

The namespace ends with the process that made it, and so do its links: nothing is left behind, whatever happens.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from bmv2.thrift import Switch, SwitchError

PROGRAM = Path(__file__).parents[1] / "pmqecn.p4"
_CLONE_NEWNET = 0x40000000
_ETH_P_ALL = 3
_PACKET_OUTGOING = 4


class MissingError(Exception):
    """Something that the machine must have is not there; one line says what."""


def tool(name: str) -> str:
    """Return the path of a program: in ``P4_PREFIX/bin``, or on ``PATH``. Raises `MissingError`."""
    prefix = os.environ.get("P4_PREFIX")
    found = shutil.which(name, path=str(Path(prefix) / "bin")) if prefix else shutil.which(name)
    if found is None:
        where = f"in {prefix}/bin (P4_PREFIX)" if prefix else "on PATH (or set P4_PREFIX)"
        raise MissingError(f"{name} is not {where}")
    return found


def version(name: str) -> str:
    """Return what a program says of its version. Raises `MissingError`."""
    done = subprocess.run([tool(name), "--version"], capture_output=True, text=True, timeout=60)
    found = re.search(r"\d+\.\d+[\w.-]*", done.stdout + done.stderr)
    return found.group() if found else "unknown"


def compile_program(out: Path, *defines: str) -> list[str]:
    """Compile pmqecn.p4 for BMv2; return the compiler's output. Raises `MissingError`, `SwitchError`."""
    words = [tool("p4c-bm2-ss"), "--std", "p4-16", *(f"-D{name}" for name in defines), "-o", str(out), str(PROGRAM)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SwitchError(f"p4c-bm2-ss: {done.stderr.strip()}")
    return done.stderr.splitlines()


def enter_namespace() -> None:
    """Move this process, and all that it starts, into a network namespace of its own. Raises `MissingError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET):
        raise MissingError(f"a network namespace needs root: {os.strerror(ctypes.get_errno())}")
    for setting in ("all", "default"):
        # No neighbour discovery of the kernel's on these links.
        with contextlib.suppress(OSError):
            Path(f"/proc/sys/net/ipv6/conf/{setting}/disable_ipv6").write_text("1")
    ip("link", "set", "lo", "up")


def ip(*words: str) -> None:
    """Run iproute2. Raises `MissingError`."""
    try:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise MissingError("ip is not on PATH (iproute2)") from None
    except subprocess.CalledProcessError as error:
        raise MissingError(f"ip {' '.join(words)}: {error.stderr.strip()}") from None


def link(one: str, other: str) -> None:
    """Make a link of two interfaces."""
    ip("link", "add", one, "type", "veth", "peer", "name", other)
    for end in (one, other):
        ip("link", "set", end, "mtu", "9000", "up")


class Port:
    """A raw socket on an interface: whole frames, and of those only what others sent."""

    def __init__(self, interface: str) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.bind((interface, 0))
        self.socket.setblocking(False)

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        self.socket.send(frame)

    def receive(self) -> bytes | None:
        """Return the next frame, or ``None`` if none waits."""
        while True:
            try:
                data, (_, _, kind, *_) = self.socket.recvfrom(65_535)
            except BlockingIOError:
                return None
            if kind != _PACKET_OUTGOING:
                return data


@contextlib.contextmanager
def switch(program: Path, interfaces: Mapping[int, str], thrift: int, log: Path) -> Iterator[Switch]:
    """Run a switch with these interfaces by port, and connect to it. Raises `MissingError`, `SwitchError`."""
    ports = [word for number, name in interfaces.items() for word in ("-i", f"{number}@{name}")]
    words = [tool("simple_switch"), "--device-id", str(thrift), "--thrift-port", str(thrift), *ports, str(program)]
    # Priorities 7, 6, 5: without this option the switch has priority 0 alone and drops every packet.
    words += ["--", "--priority-queues", "8"]
    with log.open("wb") as file:
        process = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT)
        try:
            connection = _connected(process, thrift, log)
            try:
                yield connection
            finally:
                connection.close()
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _connected(process: subprocess.Popen[bytes], thrift: int, log: Path) -> Switch:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SwitchError(f"simple_switch ended with {process.returncode}: {log.read_text().strip()[-500:]}")
        try:
            return Switch.connect(thrift)
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise SwitchError(f"simple_switch does not listen on port {thrift}")
