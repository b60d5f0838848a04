"""Links with a route outside, on a made-up machine with a made-up internet: namespaces of the tests' own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aqmlab.live import outside
from aqmlab.vocabulary.errors import MachineError

# A host that answers TCP with the address that it sees; the machine lays the interface to it.
INTERNET = """
import socket, subprocess, sys
print("made", flush=True)
sys.stdin.readline()
for line in ("link set lo up", "addr add 203.0.113.1/24 dev eth0", "link set eth0 up", "addr add 198.51.100.7 dev lo"):
    subprocess.run(["ip", *line.split()], check=True)
server = socket.create_server(("198.51.100.7", 80))
print("up", flush=True)
while True:
    connection, (address, _) = server.accept()
    connection.sendall(address.encode())
    connection.close()
"""
# Runs in namespaces of its own; tells what was seen, and what is left of it.
MACHINE = """
import json, os, signal, socket, subprocess, sys, threading, time
internet_program, command, before, killed = sys.argv[1:]
def run(line):
    return subprocess.run(line, shell=True, check=True, capture_output=True, text=True).stdout
# What killed links leave is recorded here.
run("mount -t tmpfs none /run")
open("resolv.conf", "w").write("nameserver 127.0.0.1\\n")
run("mount --bind resolv.conf /etc/resolv.conf")
run(before)
internet = subprocess.Popen(
    ["unshare", "--net", sys.executable, "-c", internet_program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
internet.stdout.readline()
run(f"ip link add eth0 type veth peer name eth0 netns {internet.pid}")
for line in ("link set lo up", "addr add 203.0.113.2/24 dev eth0", "link set eth0 up"):
    run(f"ip {line}")
run("ip route add default via 203.0.113.1")
internet.stdin.write(b"go\\n"); internet.stdin.flush()
internet.stdout.readline()
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 53))
def answer():
    while True:
        asked, sender = names.recvfrom(100)
        names.sendto(b"answer to " + asked, sender)
threading.Thread(target=answer, daemon=True).start()
forwarding = "/proc/sys/net/ipv4/conf/eth0/forwarding"
line = "--down 10mbit --up 10mbit --rtt 30ms --aqm fifo --json run.json".split()
link = subprocess.Popen([sys.executable, "-m", "aqmlab", "link", *line, "--", sys.executable, "-c", command],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
first_line = link.stdout.readline()
during = open(forwarding).read().strip()
def state():
    links = [one["ifname"] for one in json.loads(run("ip -json link")) if one["ifname"] not in ("lo", "eth0")]
    chains = run("! which nft >/dev/null || nft list tables; ! which iptables >/dev/null || iptables -S")
    return [open(forwarding).read().strip(), [one for one in links if not one.startswith("ifb")], chains]
guardian = run(f"pgrep -P {link.pid} -f flock").split()
if killed in ("killed", "killed with its guardian"):
    link.kill()
if killed in ("killed with its guardian", "without its guardian"):
    os.kill(int(guardian[0]), signal.SIGKILL)
    subprocess.run(["pkill", "-KILL", "-P", guardian[0]])
if killed == "without its guardian":
    link.stdin.close()
err = link.stderr.read()
link.wait()
left = None
if killed == "killed with its guardian":
    # The interfaces go with their namespaces; what else was changed stays.
    while [one for one in state()[1]]:
        time.sleep(0.02)
    left = state()
    subprocess.run([sys.executable, "-m", "aqmlab", "doctor", "--json", "doctor.json"], capture_output=True)
deadline = time.monotonic() + 10
while (state()[0] != "0" or state()[1] or "aqmlab" in state()[2]) and time.monotonic() < deadline:
    time.sleep(0.02)
after = state()
internet.kill()
print(json.dumps({"first_line": first_line, "during": during, "left": left, "after": after, "err": err, "status":
link.returncode}))
"""
GET = """
import json, socket, time
server = open("/etc/resolv.conf").read().split()[1]
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.settimeout(5)
names.sendto(b"a name", (server, 53))
found = names.recv(100).decode()
start = time.monotonic()
connection = socket.create_connection(("198.51.100.7", 80), 5)
seen = connection.recv(100).decode()
print(json.dumps([found, seen, 1e3 * (time.monotonic() - start)]), flush=True)
"""
STAY = "import sys; print('begun', flush=True); sys.stdin.read()"
# Stands before a firewall: writes down whether the machine forwards packets while rules are put in or taken out.
WATCHED = """#!/bin/sh
if ip addr show dev eth0 | grep -q 203.0.113.2; then
    case "$*" in *aqmlab*|*"-f -"*) cat /proc/sys/net/ipv4/conf/eth0/forwarding >>{order};; esac
fi
exec {firewall} "$@"
"""


def _machine(firewall: str, folder: Path, command: str, killed: str = "") -> dict[str, Any]:
    """Run a command behind a link on a machine with one firewall."""
    if shutil.which(firewall, path=outside.PLACES) is None:
        pytest.skip(f"no {firewall} here: .ci/run installs it")
    # As Docker leaves it: what iptables refuses, no other firewall allows.
    before = "iptables -P FORWARD DROP" if firewall == "iptables" else ""
    become = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    made = ["unshare", *become, "--net", "--mount", sys.executable, "-c", MACHINE, INTERNET, command, before, killed]
    (folder / "bin").mkdir()
    watched = folder / "bin" / firewall
    found = shutil.which(firewall, path=outside.PLACES)
    watched.write_text(WATCHED.format(order=folder / "order", firewall=found))
    watched.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{outside.PLACES}"}
    ended = subprocess.run(made, capture_output=True, text=True, cwd=folder, env=environment)
    if "unshare" in ended.stderr:
        pytest.skip(ended.stderr.strip())
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(ended.stdout))


@pytest.mark.parametrize("firewall", outside.FIREWALLS)
def a_command_of_root_reaches_what_the_machine_reaches_and_nothing_is_left(firewall: str, tmp_path: Path) -> None:
    found = _machine(firewall, tmp_path, GET)
    assert found["status"] == 0, found["err"]
    named, seen, connected_ms = json.loads(found["first_line"])
    # A name server on the machine's loopback answers, the internet sees the machine, and the link is in between.
    assert (named, seen) == ("answer to a name", "203.0.113.2")
    assert connected_ms > 30
    assert found["during"] == "1"
    _check_nothing_left(found)
    document = json.loads((tmp_path / "run.json").read_text())
    assert document["link"]["outside"] == firewall
    assert document["runs"][0]["metrics"]["port.up.packets_delivered"] > 3


@pytest.mark.parametrize("killed", ["", "killed"])
@pytest.mark.parametrize("firewall", outside.FIREWALLS)
def the_machine_forwards_only_while_rules_are_in_place(firewall: str, killed: str, tmp_path: Path) -> None:
    found = _machine(firewall, tmp_path, STAY if killed else GET, killed)
    assert found["during"] == "1"
    _check_nothing_left(found)
    seen = (tmp_path / "order").read_text().split()
    # Each rule of iptables is put in and taken out by itself, nft's table at once.
    assert len(seen) >= (16 if firewall == "iptables" else 2)
    assert set(seen) == {"0"}


@pytest.mark.parametrize("killed", ["killed", "without its guardian"])
@pytest.mark.parametrize("firewall", outside.FIREWALLS)
def nothing_is_left_on_the_machine_after_a_kill(firewall: str, killed: str, tmp_path: Path) -> None:
    found = _machine(firewall, tmp_path, STAY, killed)
    status = 0 if killed == "without its guardian" else -9
    assert (found["first_line"], found["during"], found["status"]) == ("begun\n", "1", status)
    _check_nothing_left(found)


@pytest.mark.parametrize("firewall", outside.FIREWALLS)
def what_a_link_killed_with_its_guardian_leaves_is_undone_by_doctor(firewall: str, tmp_path: Path) -> None:
    found = _machine(firewall, tmp_path, STAY, "killed with its guardian")
    forwarding, _, rules = found["left"]
    assert forwarding == "1"
    assert "aqmlab" in rules
    _check_nothing_left(found)
    findings = json.loads((tmp_path / "doctor.json").read_text())["findings"]
    first_line = next(one["finding"] for one in findings if one["name"] == "outside")
    assert first_line.endswith("; undid what 1 killed link had left")


def _check_nothing_left(found: dict[str, Any]) -> None:
    forwarding, interfaces, rules = found["after"]
    assert (forwarding, interfaces) == ("0", [])
    assert "aqmlab" not in rules


@pytest.mark.parametrize(
    ("given", "is_root", "firewall", "uplinks", "why"),
    [
        ("a user", False, "nft", ["eth0"], "it needs root"),
        ("no firewall", True, None, ["eth0"], "it needs nft or iptables (package nftables)"),
        ("no route", True, "nft", [], "this machine has no default route (IPv4)"),
        ("all", True, "iptables", ["eth0"], ""),
    ],
)
def what_is_missing_is_reported(
    monkeypatch: pytest.MonkeyPatch, given: str, is_root: bool, firewall: str | None, uplinks: list[str], why: str
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0 if is_root else 1000)
    monkeypatch.setattr(outside, "_firewall", lambda: firewall)
    monkeypatch.setattr(outside, "_uplinks", lambda: uplinks)
    assert outside.missing() == why, given


def what_the_machine_refuses_is_reported_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(*_: object) -> str:
        raise OSError(30, "Read-only file system", "/proc/sys/net/ipv4/conf/eth0/forwarding")

    monkeypatch.setattr(outside, "_join", refused)
    first_line = r"no route outside can be made: .*Read-only.*--self-contained needs none"
    with pytest.raises(MachineError, match=first_line), outside.joined(1, tmp_path / "resolv.conf"):
        pass


@pytest.mark.parametrize(
    ("text", "behind", "server"),
    [
        ("nameserver\t127.0.0.53\n", "nameserver 198.18.0.1\n", "127.0.0.53"),
        ("nameserver 127.0.0.1\nnameserver 127.0.0.11\n", "nameserver 198.18.0.1\n", "127.0.0.1"),
        ("nameserver 127.0.0.11\nnameserver 127.0.0.1", "nameserver 198.18.0.1\n", "127.0.0.11"),
        (
            "search 127.0.0.1.example\nnameserver  127.0.0.1",
            "search 127.0.0.1.example\nnameserver 198.18.0.1\n",
            "127.0.0.1",
        ),
        ("# nameserver 127.0.0.1\nnameserver\nnameserver 9.9.9.9\n", None, ""),
        (" nameserver 127.0.0.1\n", None, ""),
        ("", None, ""),
    ],
)
def names_are_asked_of_the_first_server_on_loopback(text: str, behind: str | None, server: str) -> None:
    assert outside._as_seen_behind(text, "198.18.0.1") == (text if behind is None else behind, server)
