"""The live link: real packets, in network namespaces of the tests' own; nothing is sent elsewhere."""

from __future__ import annotations

import errno
import fcntl
import itertools
import json
import os
import pty
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import CHROMIUM, needs_browser
from conftest import Command
from links import link_of

from aqmlab import experiment, scenario
from aqmlab._native import Capture
from aqmlab.live import checkup, comparing, scenarios
from aqmlab.live.carrying import PATHS, Carried, Link, carry
from aqmlab.live.link_json import warnings
from aqmlab.results import Result
from aqmlab.vocabulary.errors import InputError, MachineError

# Sends on request: so many datagrams of so many bytes, with this traffic class.
SERVER = """
import socket
family = socket.AF_INET6
server = socket.socket(family, socket.SOCK_DGRAM)
server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
server.bind(("::", 7000))
while True:
    asked, sender = server.recvfrom(100)
    count, size, traffic_class = map(int, asked.split())
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, traffic_class)
    server.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, traffic_class)
    for number in range(count):
        server.sendto(number.to_bytes(4, "big") + bytes(size - 4), sender)
"""
# Asks, and tells the time between the question and each answer in ms, and the ECN field of each.
CLIENT = """
import json, os, socket, sys, time
far, family, level, option = {
    "4": (os.environ["AQMLAB_FAR"], socket.AF_INET, socket.IPPROTO_IP, socket.IP_RECVTOS),
    "6": (os.environ["AQMLAB_FAR6"], socket.AF_INET6, socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS),
}[sys.argv[1]]
client = socket.socket(family, socket.SOCK_DGRAM)
client.setsockopt(level, option, 1)
client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
found = []
while not found:
    # A question can be lost; one that is only late is not asked twice.
    client.settimeout(4.0)
    start = time.monotonic()
    client.sendto(" ".join(sys.argv[2:]).encode(), (far, 7000))
    try:
        while len(found) < int(sys.argv[2]):
            data, ancillary, _, _ = client.recvmsg(2000, 100)
            found.append([1e3 * (time.monotonic() - start), ancillary[0][2][0] & 3])
            client.settimeout(0.8)
    except TimeoutError:
        pass
print(json.dumps(found))
"""


def _permitted(path: str = "") -> None:
    """Skip where no link can be made."""
    try:
        carry(link_of("fifo", path=path), ["true"])
    except MachineError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", autouse=True)
def permitted() -> None:
    _permitted()


@pytest.fixture(scope="module", params=PATHS)
def path(request: pytest.FixtureRequest) -> str:
    """Each data path that there is."""
    name = str(request.param)
    _permitted(name)
    return name


def _asked(link: Link, *question: object, log: Path | None = None) -> tuple[list[list[float]], Carried]:
    """Ask the server through a link; return its answers, and the run."""
    read, write = os.pipe()
    command = [sys.executable, "-c", CLIENT, *map(str, question)]
    carried = carry(link, command, [[sys.executable, "-c", SERVER]], log, stdout=write)
    os.close(write)
    with open(read) as answers:
        return json.load(answers), carried


def _metrics(carried: Carried, name: str) -> dict[str, float]:
    return dict(carried.report[name]["metrics"])


@pytest.mark.parametrize("version", [4, 6])
def packets_take_the_delay_and_their_time_on_the_link(path: str, version: int) -> None:
    answers, carried = _asked(link_of("fifo limit 1000p", path=path), version, 200, 972, 0)
    times = [time for time, _ in answers]
    assert len(times) == 200
    assert times[0] > 20
    # A packet has 972 bytes, 8 of UDP, the header of IP and 14 more; the machine may be late, and never early.
    packet_ms = (972 + 8 + (20 if version == 4 else 40) + 14) * 8 / 10e6 * 1e3
    assert times[-1] > 20 + 200 * packet_ms
    down = _metrics(carried, "down")
    assert down["packets_delivered"] >= 200
    # How fast they are sent is the machine's.
    assert packet_ms < down["qdelay_p99_ms"] < 200 * packet_ms
    assert down["owd_mean_ms"] > 10 + down["qdelay_mean_ms"]
    assert carried.report["path"] == path


def ecn_is_honoured_and_a_mark_arrives_with_a_right_checksum(path: str) -> None:
    answers, carried = _asked(link_of("dctcp_step limit 500p", path=path), 4, 120, 1200, 2)
    marks = sum(field == 3 for _, field in answers)
    assert len(answers) == 120
    assert 0 < marks < 120
    assert marks == _metrics(carried, "down")["marks"]
    unable, carried = _asked(link_of("dctcp_step limit 500p", path=path), 6, 120, 1200, 0)
    assert {field for _, field in unable} == {0}
    assert _metrics(carried, "down")["marks"] == 0


def a_log_of_kernel_packets_is_replayed_with_the_same_decisions(path: str, tmp_path: Path) -> None:
    log = tmp_path / "packets.parquet"
    link = link_of("fq_codel target 1ms interval 5ms limit 100p noecn", path=path)
    answers, carried = _asked(link, 4, 300, 1000, 0, log=log)
    assert carried.replayed is not None
    assert carried.replayed["parts_at"] == {}
    rows = pl.read_parquet(log).filter(pl.col("direction") == "down")
    counts = dict(rows["kind"].value_counts().iter_rows())
    down = _metrics(carried, "down")
    assert counts["arrive"] == down["packets_arrived"]
    assert counts["drop"] == down["drops_early"] + down["drops_overflow"] > 100
    # The last may still be on the wire when the command ends.
    assert 0 <= counts["depart"] - down["packets_delivered"] <= 2
    assert down["packets_delivered"] >= len(answers)
    assert set(rows.filter(kind="drop")["reason"]) <= {"overlimit", "congestion"}
    assert rows.filter(kind="arrive", protocol=17)["length_bytes"].max() == 1042
    assert rows.filter(kind="depart")["flow"].null_count() == counts["depart"]


def random_loss_and_jitter_are_those_of_the_seed() -> None:
    answers, carried = _asked(link_of("fifo limit 1000p", loss="20%", jitter="10ms"), 4, 300, 200, 0)
    assert 180 < len(answers) < 280
    assert carried.report["down"]["lost"] > 20


def netems_words_for_a_wire_do_what_they_say() -> None:
    words: dict[str, Any] = {"loss": "gemodel 10% 30%", "duplicate": "10%", "slot": "5ms packets 20"}
    answers, carried = _asked(link_of("fifo limit 1000p", **words), 4, 300, 200, 0)
    down = carried.report["down"]
    # A share of 1/4 is lost, in bursts; of what is not, a tenth comes twice.
    sent = down["lost"] + down["metrics"]["packets_delivered"] - down["duplicated"]
    assert 0.1 < down["lost"] / sent < 0.45
    assert down["duplicated"] > 5
    # Packets leave in fours and more: 5 ms are the time of 26.
    gaps = [later - sooner for (sooner, _), (later, _) in itertools.pairwise(answers)]
    assert sum(gap > 2.5 for gap in gaps) < len(gaps) / 4


def what_is_beyond_a_link_that_has_no_route_outside_is_unreachable_at_once() -> None:
    ask = """
import os, socket, time
for address in ("198.51.100.7", "2001:db8::7"):
    start = time.monotonic()
    try:
        socket.create_connection((address, 80), 10)
    except OSError as error:
        print(error.errno, time.monotonic() - start)
"""
    read, write = os.pipe()
    carry(link_of("fifo"), [sys.executable, "-c", ask], stdout=write)
    os.close(write)
    with open(read) as pipe:
        found = [line.split() for line in pipe]
    assert {int(number) for number, _ in found} <= {errno.EHOSTUNREACH, errno.ENETUNREACH}
    assert all(float(took) < 5 for _, took in found)


def links_nest(aqmlab: Command) -> None:
    line = ["link", "--self-contained", "--down", "5mbit", "--up", "5mbit", "--rtt", "20ms", "--aqm", "fifo"]
    inner = [sys.executable, "-m", "aqmlab", *line, "--quiet", "--", "sh", "-c", "exit 9"]
    assert aqmlab(*line, "--quiet", "--", *inner).status == 9


def a_recorded_link_carries_what_it_recorded(tmp_path: Path) -> None:
    trace = tmp_path / "slow.down"
    trace.write_text("\n".join(str(ms) for ms in range(4, 101, 4)))
    rates = {"down": {"link_trace": str(trace)}, "up": {"rate": "10mbit"}}
    answers, _ = _asked(link_of("fifo limit 1000p", rates), 4, 50, 1472, 0)
    times = [time for time, _ in answers]
    # 49 opportunities after the first, and both directions; the machine may be late with any, and is never early.
    assert times[-1] > 20 + 49 * 4
    rates["down"] = {"link_trace": "steps:3mbit*1s,4mbit*1s"}
    _, carried = _asked(link_of("fifo limit 1000p", rates), 4, 50, 1472, 0)
    assert 0.1 < _metrics(carried, "down")["utilization"] <= 1


def a_capture_of_the_near_end_has_what_passed_it(path: str, tmp_path: Path) -> None:
    file = tmp_path / "near.pcapng"
    began = time.time()
    command = [sys.executable, "-c", CLIENT, "4", "50", "1000", "0"]
    carried = carry(link_of("fifo", path=path), command, [[sys.executable, "-c", SERVER]], capture=file, stdout=2)
    capture = json.loads(Capture(str(file), file.read_bytes()).summary())
    # What the full queue dropped is not in it; that is IP alone.
    passed = _metrics(carried, "down")["packets_delivered"] + _metrics(carried, "up")["packets_arrived"]
    assert 20 < capture["packets"] <= passed
    assert capture["flows"]["UDP"] == 2
    # The first packet's block is the third; its time is in two halves, in nanoseconds since 1970.
    data, at = file.read_bytes(), 0
    for _ in range(2):
        at += int.from_bytes(data[at + 4 : at + 8], "little")
    high, low = struct.unpack_from("<II", data, at + 12)
    assert began < (high << 32 | low) / 1e9 < time.time()


@pytest.mark.parametrize(("command", "status"), [("exit 7", 7), ("kill -SEGV $$", 139), ("exit 130", 130), ("true", 0)])
def the_status_is_that_of_the_command(aqmlab: Command, command: str, status: int) -> None:
    line = ["link", "--self-contained", "--down", "20mbit", "--up", "5mbit", "--rtt", "40ms", "--aqm", "fq_codel", "--"]
    ended = aqmlab(*line, "sh", "-c", command)
    assert ended.status == status, ended.err
    assert "fq_codel  fq_codel" in ended.err
    assert "interrupted" not in ended.err
    assert "no packet passed" in ended.err


def a_capture_that_cannot_be_written_takes_no_result_with_it(aqmlab: Command, tmp_path: Path) -> None:
    line = [
        "link",
        "--self-contained",
        "--down",
        "1mbit",
        "--up",
        "1mbit",
        "--rtt",
        "1ms",
        "--aqm",
        "fifo",
        "--pcap",
        "/dev/full",
    ]
    message = "/dev/full: cannot be written: No space left on device"
    ended = aqmlab(*line, "--quiet", "--json", tmp_path / "run.json", "--", "true")
    assert (ended.status, ended.line) == (1, message)
    warned = json.loads((tmp_path / "run.json").read_text())["warnings"]
    # Whether it could keep time is the machine's.
    assert [one for one in warned if "could not keep time" not in one] == [message]
    ended = aqmlab(*line, "--", "sh", "-c", "exit 7")
    assert ended.status == 7
    assert "Throughput" in ended.err
    assert Path("/dev/full").is_char_device()


def an_interface_that_disappears_is_reported_and_ends_nothing(path: str) -> None:
    carried = carry(
        link_of("fifo", path=path), ["sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; ip link del eth0; sleep 0.1; exit 3"]
    )
    assert carried.status == 3
    assert any("the near end disappeared" in fault for fault in carried.report["faults"])
    assert any("disappeared" in warning for warning in warnings(carried))


def a_link_that_could_not_keep_time_says_so() -> None:
    # The command stops the process that carries packets, its own parent outside, for a while.
    send = """
import os, socket, sys, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
# Until the address of the far end is known (ARP), packets wait in the kernel.
out.sendto(b"", (os.environ["AQMLAB_FAR"], 9))
time.sleep(0.1)
print("sending", flush=True)
for number in range(60):
    for _ in range(5):
        out.sendto(bytes(1000), (os.environ["AQMLAB_FAR"], 9))
    time.sleep(0.01)
"""
    read, write = os.pipe()
    with open(read) as pipe, ThreadPoolExecutor(1) as beside:

        def stop() -> None:
            pipe.readline()
            workers = [path.parent for path in Path("/proc").glob("[0-9]*/cmdline") if _is_worker(path)]
            for number in workers:
                os.kill(int(number.name), signal.SIGSTOP)
            time.sleep(0.15)
            for number in workers:
                os.kill(int(number.name), signal.SIGCONT)

        stopped = beside.submit(stop)
        carried = carry(link_of("fifo"), [sys.executable, "-c", send], stdout=write)
        os.close(write)
        stopped.result()
    late = carried.report["up"]["lateness_ms"]
    assert late[3] > 50
    assert any("up: the machine could not keep time" in one for one in warnings(carried))
    # Decisions and sojourn times are those of a link that is never late.
    assert _metrics(carried, "up")["qdelay_p99_ms"] < 20 * 1.1


def _is_worker(path: Path) -> bool:
    """Whether it is a process that carries packets for this one."""
    try:
        words = path.read_bytes().split(b"\0")
    except OSError:
        return False
    return b"aqmlab.live.worker" in words and str(os.getpid()).encode() in words


def a_flood_of_tiny_packets_is_survived_and_counted(path: str) -> None:
    flood = """
import os, socket
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(20000):
    out.sendto(b"", (os.environ["AQMLAB_FAR"], 9))
"""
    rates = {"down": {"rate": "10mbit"}, "up": {"rate": "1mbit"}}
    carried = carry(link_of("codel", rates, path=path), [sys.executable, "-c", flood])
    up, report = _metrics(carried, "up"), carried.report["up"]
    assert up["packets_arrived"] + report["missed"] >= 20000
    assert up["drops_early"] + up["drops_overflow"] > 10000
    assert carried.report["faults"] == []


def frames_that_are_no_packets_pass_as_they_are(path: str) -> None:
    malformed = """
import os, socket
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
for number in range(300):
    kind = (b"\\x08\\x00", b"\\x86\\xdd", b"\\x88\\x47", b"\\x81\\x00")[number % 4]
    out.send(bytes(12) + kind + os.urandom(number))
"""
    carried = carry(link_of("cake", path=path), [sys.executable, "-c", malformed])
    assert carried.status == 0
    assert carried.report["faults"] == []
    assert _metrics(carried, "up")["packets_arrived"] >= 299


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def nothing_is_left_behind_even_after_a_kill(end: signal.Signals, tmp_path: Path) -> None:
    # A time to sleep that no other test has.
    long = f"9876.{os.getpid()}"

    def ours() -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            # It may end meanwhile.
            with suppress(OSError):
                found += [path.parent.name] if long.encode() in path.read_bytes() else []
        return found

    interfaces = sorted(os.listdir("/sys/class/net"))
    line = ["--down", "1mbit", "--up", "1mbit", "--rtt", "1ms", "--aqm", "fifo", "--", "sh", "-c"]
    command = [
        sys.executable,
        "-m",
        "aqmlab",
        "link",
        "--self-contained",
        *line,
        f"sleep {long} & touch {tmp_path}/begun; sleep {long}",
    ]
    folders, environment = tmp_path / "temporary", {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    folders.mkdir()
    started = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(ours()) > 3
    started.send_signal(end)
    started.wait()
    while ours() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ours() == []
    assert sorted(os.listdir("/sys/class/net")) == interfaces
    # What a kill leaves, the next link takes away.
    assert len(os.listdir(folders)) == (end == signal.SIGKILL)
    subprocess.run([*command[:-3], "true"], check=True, stderr=subprocess.DEVNULL, env=environment)
    assert os.listdir(folders) == []


def json_on_standard_output_is_alone_there(aqmlab: Command) -> None:
    line = ["--down", "1mbit", "--up", "2mbit", "--rtt", "30ms", "--aqm-down", "pie", "--aqm-up", "codel"]
    ended = aqmlab("link", "--self-contained", *line, "--json", "-", "--", "echo", "hello")
    document = json.loads(ended.out)
    assert document["command"] == "link"
    assert document["runs"][0]["aqm"] == "pie down, codel up"
    assert document["runs"][0]["metrics"]["rtt_base_ms"] == 30
    assert document["scenario"]["down"]["buffer"] == "20p"
    assert document["scenario"]["tcp"]["tcp_rmem"] == "4096 131072 6291456"
    assert document["scenario"]["tcp"]["tcp_ecn"] == "0"
    assert document["link"]["status"] == 0


def a_run_of_a_link_is_a_result_that_is_reported_and_plotted(aqmlab: Command, tmp_path: Path) -> None:
    send = "import os, socket, time; out = socket.socket(type=socket.SOCK_DGRAM); "
    send += "[(out.sendto(bytes(1000), (os.environ['AQMLAB_FAR'], 9)), time.sleep(0.005)) for _ in range(60)]"
    line = ["--down", "10mbit", "--up", "1mbit", "--rtt", "10ms", "--aqm-down", "fifo", "--aqm-up", "codel"]
    folder = tmp_path / "result"
    ended = aqmlab("link", "--self-contained", *line, "--quiet", "--out", folder, "--", sys.executable, "-c", send)
    assert ended.status == 0, ended.err
    found = experiment.load(folder)
    # It is about the direction that carried more.
    assert found.scenarios[0]["live"]["direction"] == "up"
    assert (found.scenarios[0]["rate"], found.aqms) == ("1mbit", ["fifo down, codel up"])
    carried = found.series.filter(name="throughput_mbit")["value"]
    assert 0.5 < float(carried.max() or 0) <= 1.05
    # Whether it could keep time is the machine's.
    assert [one for one in found.warnings if "could not keep time" not in one] == []
    assert (folder / "figures" / "timeseries.svg").exists()
    assert "Queue delay" in (folder / "report.html").read_text()


def a_dashboard_has_the_last_lines_of_the_terminal_and_leaves_them_at_the_end() -> None:
    line = [
        "link",
        "--self-contained",
        "--down",
        "10mbit",
        "--up",
        "10mbit",
        "--rtt",
        "10ms",
        "--aqm",
        "fifo",
        "--dashboard",
        "--quiet",
    ]
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 110, 0, 0))
    command = [sys.executable, "-m", "aqmlab", *line, "--", sys.executable, "-c", "import time; time.sleep(0.7)"]
    with subprocess.Popen(command, stderr=terminal, env={**os.environ, "PYTHONIOENCODING": "utf-8"}) as ended:
        ended.wait()
    os.close(terminal)
    written = os.read(controller, 1 << 16).decode()
    os.close(controller)
    assert ended.returncode == 0, written
    # All lines but three scroll; these are written; all scroll again, and the three are empty.
    places = [written.index(code) for code in ("\x1b[1;21r", "\x1b[22;1H", "\x1b[24;1H\x1b[2Kup", "\x1b[r", "\x1b[J")]
    assert places == sorted(places)
    assert "0 packets" in written


def a_command_or_server_that_cannot_run_is_reported_in_one_line() -> None:
    with pytest.raises(InputError, match="'no-such-command --x' cannot be run: No such file"):
        carry(link_of("fifo"), ["no-such-command", "--x"])
    with pytest.raises(MachineError, match="the server 'false' ended before it listened: exit status: 1"):
        carry(link_of("fifo"), ["true"], [["false"]])


def traffic_of_the_kernel_is_compared_with_its_goodput_and_pings(path: str) -> None:
    traffic = comparing.Traffic(down=2, up=1, duration_s=0.5, warmup_s=0.4)
    link = link_of("fq_codel", rtt="10ms")
    compared = comparing.compare({"fq_codel": (link.down, link.up)}, traffic, [1], path=path)
    found = compared.estimates["fq_codel"]
    report, measured = compared.runs[0].carried.report, compared.runs[0].measured
    # The traffic says when the link is to measure, and ends soon after both have.
    assert report["warmup_s"] >= traffic.warmup_s
    assert report["duration_s"] >= measured["seconds"] >= traffic.duration_s
    # Goodput is 1448 of 1514 bytes, and what a retransmission releases is delivered at once; what the machine's load
    # takes is not ours to test.
    assert 2 < found["goodput_mbit"].value < 12
    assert 0 < found["port.up.goodput_mbit"].value < 12
    assert 10 < found["ping_mean_ms"].value < 200
    assert 0.5 < found["jain_index"].value <= 1
    assert found["qdelay_p50_ms"].value <= found["qdelay_p99_ms"].value
    assert found["goodput_mbit"].low is None


def packets_have_the_class_of_their_code_point(tmp_path: Path) -> None:
    # CS5 (40) is the second class; what has no code point of these is of the third.
    for traffic_class, expected in ((40 << 2, 1), (0, 2)):
        _asked(link_of("sp classes 3", classes="46,40"), 4, 20, 200, traffic_class, log=tmp_path / "log.parquet")
        log = pl.read_parquet(tmp_path / "log.parquet").filter(direction="down", kind="arrive", length_bytes=242)
        assert set(log["class"]) == {expected}


def rate_based_senders_slow_down_where_their_packets_are_marked() -> None:
    rated = comparing.Rated(2, "dcqcn cnp 5ms timer 20ms alphatime 20ms")
    traffic = comparing.Traffic(down=0, duration_s=0.4, warmup_s=0.4, rated=rated)
    link = link_of("dctcp_step limit 100p", rtt="10ms")
    found = comparing.compare({"dctcp_step": (link.down, link.up)}, traffic, [1])
    # Each begins at the rate of the link, and none asks for its rate back within a second.
    goodput = found.estimates["dctcp_step"]["goodput_mbit"].value
    assert 0 < goodput < 8
    flows = found.runs[0].measured["flows"]
    assert [flow["group"] for flow in flows] == ["rated", "rated"]
    assert sum(flow["goodput_mbit"] for flow in flows) == pytest.approx(goodput)


@needs_browser
def a_page_in_a_browser_is_loaded_beside_the_traffic() -> None:
    traffic = comparing.Traffic(down=0, up=1, duration_s=0.1, warmup_s=0.1, browser=CHROMIUM)
    link = link_of("fq_codel", {"down": {"rate": "50mbit"}, "up": {"rate": "10mbit"}}, rtt="2ms")
    found = comparing.compare({"fq_codel": (link.down, link.up)}, traffic, [1]).estimates["fq_codel"]
    assert (found["pages_requested"].value, found["pages_completed"].value) == (1, 1)
    # 1.2 MB through 50 Mbit/s; how long the browser takes is the machine's.
    assert 0.19 < found["page_load_mean_s"].value < 60


SCENARIO = """
title = "Two transfers beside datagrams"
aqm = "codel"
rate = "10mbit"
rtt = "10ms"
buffer = "50p"
flows = ["2*newreno:name=all", "2*cbr:rate=3mbit:packet=500b"]
duration = "800ms"
warmup = "300ms"
"""


def a_scenario_runs_live_and_what_is_finished_is_not_run_again(tmp_path: Path) -> None:
    file, out, ran = tmp_path / "scenario.toml", tmp_path / "out", []

    def carried(text: str, seeds: int) -> Result:
        file.write_text(f"{text}seeds = {seeds}\n")
        ran.clear()
        return scenarios.run_live(scenario.load(file), out, ran.append)

    carried(SCENARIO, 1)
    assert ran == ["codel, seed 1"]
    found = carried(SCENARIO, 2)
    assert ran == ["codel, seed 2"]
    assert found.runs.select("aqm", "seed").rows() == [("codel", 1), ("codel", 2)]
    again = carried(SCENARIO, 2)
    assert ran == [f"nothing: all 2 runs are in {out}"]
    assert again.runs.equals(found.runs)
    # The datagrams take three fifths of the link. Alone TCP would have .95 of it; half a second varies by a tenth,
    # and more on a busy machine.
    assert max(found.runs["goodput_mbit"] / found.runs["throughput_mbit"]) < 0.8
    with pytest.raises(InputError, match="holds another experiment: rtt is 10ms there and 20ms here"):
        carried(SCENARIO.replace("10ms", "20ms"), 2)
    with pytest.raises(InputError, match="flows: 'all' does not run live: bulk transfers of"):
        carried(SCENARIO.replace("2*newreno", "2*bbr3"), 2)


@pytest.mark.parametrize("ecn", [False, True])
def tcp_has_ecn_where_it_is_asked_for(ecn: bool) -> None:
    link = link_of("codel target 2ms interval 20ms limit 100p ecn", rtt="10ms")
    traffic = comparing.Traffic(down=1, duration_s=0.5, warmup_s=0.5)
    compared = comparing.compare({"codel": (link.down, link.up)}, traffic, [1], ecn=ecn)
    assert compared.runs[0].carried.report["tcp"]["tcp_ecn"] == str(int(ecn))
    assert (compared.estimates["codel"]["marks"].value > 0) == ecn


# From the line that it runs, which comes first: before the namespaces, before the server, and while the traffic runs.
@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3, 3.0])
def an_interrupt_of_a_comparison_is_reported_in_one_line(seconds: float) -> None:
    line = ["--down", "5mbit", "--up", "5mbit", "--rtt", "5ms", "--aqm", "fifo", "--duration", "30s"]
    command = [sys.executable, "-m", "aqmlab", "live-compare", *line]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as started:
        assert started.stderr is not None
        begun = started.stderr.readline()
        # As a terminal does: all processes of its group receive it.
        time.sleep(seconds)
        os.killpg(started.pid, signal.SIGINT)
        message = started.communicate(timeout=60)[1]
    assert begun == "aqmlab: running fifo, seed 1\n"
    assert message == "aqmlab: interrupted; nothing was kept\n"
    assert started.returncode == 130


def an_interrupt_before_a_server_listens_ends_the_link_and_is_reported_in_one_line(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    server = shlex.join(["sh", "-c", f"echo $$ >{begun}; exec sleep 60"])
    line = ["--down", "1mbit", "--up", "1mbit", "--rtt", "1ms", "--aqm", "fifo", "--server", server, "--", "true"]
    command = [sys.executable, "-m", "aqmlab", "link", "--self-contained", *line]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as started:
        while not begun.exists():
            time.sleep(0.01)
        os.killpg(started.pid, signal.SIGINT)
        message = started.communicate(timeout=30)[1]
    assert (message, started.returncode) == ("aqmlab: interrupted; nothing was kept\n", 130)


def an_interrupt_is_for_the_command_and_for_no_server(tmp_path: Path) -> None:
    interrupted = tmp_path / "interrupted"
    serve = "import socket; s = socket.create_server(('', 7000)); c, _ = s.accept(); c.send(c.recv(1))"
    ask = f"""
import os, signal, socket
signal.signal(signal.SIGINT, lambda *_: open({str(interrupted)!r}, "w").close())
os.killpg(0, signal.SIGINT)
far = socket.create_connection((os.environ["AQMLAB_FAR"], 7000))
far.send(b"x")
assert far.recv(1) == b"x"
"""
    line = ["--down", "1mbit", "--up", "1mbit", "--rtt", "1ms", "--aqm", "fifo", "--quiet"]
    line += ["--server", shlex.join([sys.executable, "-c", serve]), "--", sys.executable, "-c", ask]
    command = [sys.executable, "-m", "aqmlab", "link", "--self-contained", *line]
    assert subprocess.run(command, start_new_session=True).returncode == 0
    assert interrupted.exists()


def a_server_is_waited_for_though_an_earlier_one_opens_sockets_meanwhile() -> None:
    first = "a = socket.create_server(('', 7000)); time.sleep(0.3); b = socket.create_server(('', 7001))"
    second = "time.sleep(1); a = socket.create_server(('', 7002))"
    servers = [[sys.executable, "-c", f"import socket, time; {one}; time.sleep(60)"] for one in (first, second)]
    ask = "import os, socket; socket.create_connection((os.environ['AQMLAB_FAR'], 7002))"
    assert carry(link_of("fifo", rtt="1ms"), [sys.executable, "-c", ask], servers).status == 0


def the_self_test_measures_a_link_beside_an_idle_timer() -> None:
    tested = checkup.self_test(0.3)
    assert 0 < tested.timers["p50"] <= tested.timers["p99"] <= tested.timers["max"]
    assert 0 < tested.link["p50"] <= tested.link["p99"] <= tested.link["max"]


def where_sockets_of_af_packet_are_not_permitted_packets_pass_by_tun(tmp_path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("it needs root, and setpriv")
    without = ["setpriv", "--bounding-set", "-net_raw", sys.executable, "-m", "aqmlab"]
    line = ["link", "--self-contained", "--down", "1mbit", "--up", "1mbit", "--rtt", "1ms", "--aqm", "fifo", "--quiet"]
    document = tmp_path / "run.json"
    subprocess.run([*without, *line, "--json", document, "--", "true"], check=True)
    assert json.loads(document.read_text())["scenario"]["path"] == "tun"
    refused = subprocess.run([*without, *line, "--path", "veth", "--", "true"], capture_output=True, text=True)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1), refused.stderr
    assert "AF_PACKET, far: Operation not permitted" in refused.stderr


def packets_of_all_kinds_have_the_same_sizes_by_each_path(tmp_path: Path) -> None:
    found = {}
    for name in PATHS:
        _permitted(name)
        log = tmp_path / f"{name}.parquet"
        for version, size in itertools.product((4, 6), (12, 100, 1452)):
            _asked(link_of("fifo limit 1000p", path=name), version, 3, size, 0, log=log)
            packets = pl.read_parquet(log).filter(kind="arrive", protocol=17)
            sizes = packets.select("direction", "length_bytes", "ecn").unique().sort(pl.all())
            found.setdefault(name, []).append(sizes)
    assert all(veth.equals(tun) for veth, tun in zip(*found.values(), strict=True))


def the_doctor_tries_a_link(aqmlab: Command) -> None:
    ended = aqmlab("doctor", "--json", "-")
    assert ended.status == 0
    findings = {one["name"]: one for one in json.loads(ended.out)["findings"]}
    assert list(findings)[-1] == "link"
    assert findings["link"]["finding"].startswith("one was made, by ")
    assert findings["veth"]["ok"] or findings["tun"]["ok"]


def a_congestion_control_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    link = replace(link_of("fifo"), congestion_control="nono")
    with pytest.raises(InputError, match=r"no congestion control 'nono'; it has .*reno"):
        carry(link, ["true"])


# What a socket has that neither end has asked for one.
ASKING = """
import os, socket
print(socket.create_connection((os.environ["AQMLAB_FAR"], 5077)).getsockopt(socket.IPPROTO_TCP, 13, 16).decode())
"""


def each_congestion_control_of_the_kernel_is_that_of_both_ends() -> None:
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    for name in available:
        read, write = os.pipe()
        link = replace(link_of("fifo"), congestion_control=name)
        carried = carry(link, [sys.executable, "-c", ASKING], [[*comparing.WORKLOAD, "server"]], stdout=write)
        os.close(write)
        with open(read) as pipe:
            assert pipe.read().strip("\0\n") == name
        assert carried.report["tcp"]["congestion_control"] == name
