"""The route from a link's far end to the network of this machine: a pair of interfaces, and NAT by its firewall.

Needs root. The machine forwards packets only while the firewall's rules are in place: rules come first and go last.
What is changed on the machine is undone once this process has ended, however it ends (`aqmlab.live.guardian`).
"""

from __future__ import annotations

import ipaddress
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.live import guardian
from aqmlab.vocabulary.errors import MachineError

# Users' paths may lack the folders of the administrator.
PLACES = os.environ.get("PATH", "") + os.pathsep + os.pathsep.join(("/usr/sbin", "/sbin"))
FIREWALLS = ("nft", "iptables")
# Addresses of the pairs: RFC 2544 reserves them for links of benchmarks.
ADDRESSES = ipaddress.ip_network("198.18.0.0/15")
OF_A_PAIR = 4
# The interface at the far end, and what names of those on the machine begin with.
FAR, OURS = "outside", "aqmlab"
# What is written at an interface for whose sake the machine forwards packets.
FORWARDS = "aqmlab let this machine forward packets"
RESOLVER = Path("/etc/resolv.conf")
# The servers behind the one on this machine that systemd-resolved names there.
BEHIND = Path("/run/systemd/resolve/resolv.conf")


@dataclass(frozen=True)
class Pair:
    """The interfaces between the far end and the machine, by the number of that on the machine."""

    name: str
    number: int

    @property
    def here(self) -> str:
        """The address on the machine."""
        return str(self._network[1])

    @property
    def there(self) -> str:
        """The address at the far end."""
        return str(self._network[2])

    @property
    def _network(self) -> ipaddress.IPv4Network:
        first = self.number * OF_A_PAIR % ADDRESSES.num_addresses
        return ipaddress.IPv4Network((int(ADDRESSES[first]), 30))


def missing() -> str:
    """Return what is missing for a route outside; empty if nothing is."""
    if os.geteuid() != 0:
        return "it needs root"
    if _firewall() is None:
        return "it needs nft or iptables (package nftables)"
    if not _uplinks():
        return "this machine has no default route (IPv4)"
    return ""


@contextmanager
def joined(far: int, resolver: Path) -> Iterator[str]:
    """Give the namespace of a process a route outside, and return by which firewall.

    Args:
        far: the number of the process.
        resolver: file for what is `/etc/resolv.conf` behind the link.

    Raises:
        MachineError: the machine lacks something, or does not permit it.

    """
    recover()
    with guardian.guarded(_environment()) as undo:
        try:
            with guardian.alone():
                by = _join(far, resolver, undo)
        except (OSError, MachineError) as error:
            raise MachineError(f"no route outside can be made: {error} (--self-contained needs none)") from None
        yield by


def recover() -> int:
    """Undo what killed links have left on the machine; return how many they were."""
    return guardian.recover(_environment()) if os.geteuid() == 0 else 0


def _join(far: int, resolver: Path, undo: Callable[[str], None]) -> str:
    firewall = _firewall()
    if firewall is None:
        raise MachineError(missing())
    pair = _pair(far, undo)
    inside = ["nsenter", f"--net=/proc/{far}/ns/net"]
    _run(["ip", "-batch", "-"], f"addr add {pair.here}/30 dev {pair.name}\nlink set {pair.name} up\n")
    lines = (f"addr add {pair.there}/30 dev {FAR}", f"link set {FAR} up", f"route replace default via {pair.here}")
    _run([*inside, "ip", "-batch", "-"], "\n".join(lines))
    names, server = _names(pair)
    resolver.write_text(names)
    if server:
        # Only packets of this interface may be for the machine's own loopback addresses.
        _switch(pair.name, "route_localnet").write_text("1")
    switched = _not_forwarding(pair)
    rules = FIREWALL[firewall](pair, switched, server)
    # Undone in this order, too: forwarding ends before the rules do.
    for name in switched:
        last = f"ip link | grep -q ': {OURS}[0-9]*[@:]'"
        undo(f"{last} || echo 0 > {shlex.quote(str(_switch(name, 'forwarding')))}")
    for command, text, reverse in rules:
        undo(reverse)
        _run(command, text)
    _switch(pair.name, "forwarding").write_text("1")
    if switched:
        _run(["ip", "link", "set", "dev", pair.name, "alias", FORWARDS])
    for name in switched:
        _switch(name, "forwarding").write_text("1")
    for command, text in INSIDE[firewall]:
        _run([*inside, *command], text)
    return firewall


def _firewall() -> str | None:
    """The machine's firewall: iptables where that already decides about what is forwarded."""
    found = [name for name in FIREWALLS if shutil.which(name, path=PLACES)]
    if "iptables" in found and os.geteuid() == 0:
        rules = subprocess.run(["iptables", "-S", "FORWARD"], capture_output=True, text=True, env=_environment())
        if rules.returncode == 0 and rules.stdout.strip() != "-P FORWARD ACCEPT":
            return "iptables"
    return found[0] if found else None


def _uplinks() -> list[str]:
    """The interfaces of default routes."""
    return list(dict.fromkeys(one["dev"] for one in _queried(["ip", "-json", "-4", "route", "show", "default"])))


def _pair(far: int, undo: Callable[[str], None]) -> Pair:
    name = f"{OURS}{far}"
    undo(f"ip link del {name}")
    _run(["ip", "link", "add", name, "type", "veth", "peer", "name", FAR, "netns", str(far)])
    return Pair(name, _queried(["ip", "-json", "link", "show", "dev", name])[0]["ifindex"])


def _names(pair: Pair) -> tuple[str, str]:
    """Return the text of `/etc/resolv.conf` behind the link, and the name server that only this machine reaches."""
    text = RESOLVER.read_text() if RESOLVER.exists() else ""
    if _loopback(text) and BEHIND.exists():
        text = BEHIND.read_text()
    return _as_seen_behind(text, pair.here)


def _as_seen_behind(text: str, here: str) -> tuple[str, str]:
    r"""Return a resolv.conf(5) in which ``here`` stands for the first server on loopback, and that server.

    Other servers on loopback are left out: only one has the port of ``here``.

    >>> _as_seen_behind("nameserver\t127.0.0.1\nnameserver 127.0.0.11\nnameserver 9.9.9.9\n", "198.18.0.1")
    ('nameserver 198.18.0.1\nnameserver 9.9.9.9\n', '127.0.0.1')

    """
    first, lines = _loopback(text), []
    for line in text.splitlines(keepends=True):
        server = _server(line)
        if server == first and server and f"nameserver {here}\n" not in lines:
            lines.append(f"nameserver {here}\n")
        elif not server.startswith("127."):
            lines.append(line)
    return "".join(lines), first


def _loopback(text: str) -> str:
    """The first name server at a loopback address of IPv4; empty if there is none."""
    return next((server for server in map(_server, text.splitlines()) if server.startswith("127.")), "")


def _server(line: str) -> str:
    """The name server of a line of resolv.conf(5): the keyword begins the line, white space of any kind follows."""
    keyword, *values = line.split() or [""]
    return values[0] if keyword == "nameserver" and values and line.startswith(keyword) else ""


def _not_forwarding(pair: Pair) -> list[str]:
    """The interfaces of default routes whose packets the machine does not forward, or does so for links alone."""
    others = [one for one in _queried(["ip", "-json", "link"]) if one["ifname"].startswith(OURS)]
    # Another link has switched it on, and waits for the last to switch it off.
    is_lent = any(one.get("ifalias") == FORWARDS for one in others if one["ifname"] != pair.name)
    return [name for name in _uplinks() if is_lent or _switch(name, "forwarding").read_text().strip() == "0"]


def _switch(interface: str, name: str) -> Path:
    return Path("/proc/sys/net/ipv4/conf", interface, name)


# A command of a firewall, its input, and how it is undone.
Rule = tuple[Sequence[str], str, str]


def _nft(pair: Pair, switched: Sequence[str], server: str) -> list[Rule]:
    ours = f'"{pair.name}"'
    closed = "\n".join(f'iifname "{name}" oifname != "{OURS}*" drop' for name in switched)
    dns = f"iifname {ours} ip daddr {pair.here} meta l4proto {{ tcp, udp }} th dport 53 dnat to {server}"
    text = f"""
    table ip {pair.name} {{
      chain names {{
        type nat hook prerouting priority dstnat;
        {dns if server else ""}
      }}
      chain leaving {{
        type nat hook postrouting priority srcnat;
        ip saddr {pair.there} oifname != {ours} masquerade
      }}
      chain passing {{
        type filter hook forward priority filter;
        iifname {ours} tcp flags syn tcp option maxseg size set rt mtu
        oifname {ours} ct state established,related accept
        oifname {ours} drop
        {closed}
      }}
    }}
    """
    return [(("nft", "-f", "-"), text, f"nft delete table ip {pair.name}")]


def _iptables(pair: Pair, switched: Sequence[str], server: str) -> list[Rule]:
    ours, answers = pair.name, "-m conntrack --ctstate ESTABLISHED,RELATED"
    rules = [
        ("nat", f"POSTROUTING -s {pair.there} ! -o {ours} -j MASQUERADE"),
        ("mangle", f"FORWARD -i {ours} -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"),
        # Each is put before those that are there.
        *(("filter", f"FORWARD -i {name} ! -o {OURS}+ -j DROP") for name in switched),
        ("filter", f"FORWARD -o {ours} -j DROP"),
        ("filter", f"FORWARD -o {ours} {answers} -j ACCEPT"),
        ("filter", f"FORWARD -i {ours} -j ACCEPT"),
    ]
    if server:
        for protocol in ("tcp", "udp"):
            dns = f"-i {ours} -d {pair.here} -p {protocol} --dport 53 -j DNAT --to-destination {server}"
            rules.append(("nat", f"PREROUTING {dns}"))
    return [
        (("iptables", "-w", "-t", table, "-I", *rule.split()), "", f"iptables -w -t {table} -D {rule}")
        for table, rule in rules
    ]


FIREWALL: dict[str, Callable[[Pair, Sequence[str], str], list[Rule]]] = {"nft": _nft, "iptables": _iptables}
# At the far end, whose namespace ends with the link.
INSIDE: dict[str, list[tuple[Sequence[str], str]]] = {
    "nft": [
        (
            ("nft", "-f", "-"),
            "table ip aqmlab { chain leaving { type nat hook postrouting priority srcnat; "
            f'oifname "{FAR}" masquerade; }}; }}',
        )
    ],
    "iptables": [(("iptables", "-w", "-t", "nat", "-A", "POSTROUTING", "-o", FAR, "-j", "MASQUERADE"), "")],
}


def _queried(command: Sequence[str]) -> list[dict[str, Any]]:
    return [one for one in json.loads(_run(command) or "[]") if one]


def _run(command: Sequence[str], text: str = "") -> str:
    try:
        ended = subprocess.run(command, input=text, capture_output=True, text=True, env=_environment())
    except OSError as error:
        raise MachineError(f"{command[0]}: cannot be run: {error.strerror}") from None
    if ended.returncode:
        reason = (ended.stderr.strip().splitlines() or ["failed"])[0]
        raise MachineError(f"{shlex.join(command[:6])}: {reason}")
    return ended.stdout


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": PLACES}


__all__ = ["joined", "missing", "recover"]
