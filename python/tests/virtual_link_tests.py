"""`aqmlab link` itself in a kernel in virtual time: exact delays, whatever the machine does, and the same bytes twice.

A kernel has to be there (`aqmlab engine build linux`); `make link-virtual` runs these tests alone.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from itertools import zip_longest
from math import sqrt
from pathlib import Path

import polars as pl
import pytest
from kernel import needs_kernel

from aqmlab.engine.linux import guest, kernel_image
from aqmlab.engine.linux.guest import Watch

pytestmark = needs_kernel

INIT = Path(__file__).with_name("virtual_link.sh")
# The guest's clock counts in such steps, and each look at it by a program takes one.
TICK_NS = 256
# From its time to its sending the link reads the clock ten times, and nothing else takes time.
LATE_NS = 10 * TICK_NS
# Frames of 1280 bytes at 10 Mbit/s take 1.024 ms: all times here are whole numbers of steps.
RATE, RTT = "10mbit", "20.48ms"
FRAME_BYTES, SERVICE_NS = 1280, 1_024_000
HEADERS = 14 + 20 + 8
# At the far end: so many datagrams, one at each expiry of a timer that repeats, which is never late here.
SENDER = """
import signal, socket, sys
count, period_us = map(int, sys.argv[1:])
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("", 7000))
_, client = server.recvfrom(100)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
signal.setitimer(signal.ITIMER_REAL, period_us * 1e-6, period_us * 1e-6)
for number in range(count):
    signal.sigwait([signal.SIGALRM])
    server.sendto(number.to_bytes(4, "big") + bytes(PAYLOAD - 4), client)
signal.pause()
"""
# At the near end: the number of each datagram, and when the kernel received it.
RECEIVER = """
import json, os, socket, struct
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.setsockopt(socket.SOL_SOCKET, 35, 1)
client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
client.sendto(b"go", (os.environ["AQMLAB_FAR"], 7000))
found = []
try:
    while True:
        data, ancillary, _, _ = client.recvmsg(2000, 100)
        seconds, nanos = struct.unpack("qq", ancillary[0][2])
        found.append([int.from_bytes(data[:4], "big"), seconds * 10**9 + nanos])
        client.settimeout(1)
except TimeoutError:
    json.dump(found, open("received.json", "w"))
"""


def _run(folder: Path, aqm: str, server: list[str], client: list[str], seed: int = 1) -> Path:
    """Run a command behind a link in a guest; return the folder with what it wrote."""
    job = folder / "job"
    job.mkdir(parents=True)
    link = ["link", "--self-contained", "--down", RATE, "--up", RATE, "--rtt", RTT, "--aqm", aqm, "--seed", str(seed)]
    link += ["--log", "log.csv", "--pcap", "near.pcapng", "--json", "link.json", "--server", shlex.join(server)]
    (job / "command").write_text(shlex.join([sys.executable, "-P", "-m", "aqmlab", *link, "--", *client]))
    built = kernel_image.found().folder
    (job / "guest").write_text(f"{built / kernel_image.ROOT / 'guest'}\n")
    # Without IPv6, which asks about neighbours and groups when it likes: nothing travels but what is sent.
    command = [*guest.kernel(str(built / kernel_image.KERNEL)), "rootflags=/", f"init={INIT}", "ipv6.disable=1"]
    guest.ended(command, folder, seed, "aqmlab link", Watch())
    if not (job / "done").exists():
        pytest.fail((job / "said").read_text() if (job / "said").exists() else (folder / "console").read_text())
    return job


def _paced(folder: Path, aqm: str, count: int, period_us: int) -> Path:
    sender = SENDER.replace("PAYLOAD", str(FRAME_BYTES - HEADERS))
    server = [sys.executable, "-c", sender, str(count), str(period_us)]
    return _run(folder, aqm, server, [sys.executable, "-c", RECEIVER])


def _left(job: Path) -> dict[int, int]:
    """When each datagram left the queue, since the first arrived there, by the log; all arrived at equal times."""
    rows = pl.read_csv(job / "log.csv", infer_schema_length=None).filter(direction="down")
    came = rows.filter(kind="arrive", length_bytes=FRAME_BYTES)
    first, began_ns = came["packet"][0], came["time_ns"][0]
    assert len(set(came["time_ns"].diff().drop_nulls())) == 1
    assert came["packet"].to_list() == list(range(first, first + len(came)))
    gone = rows.filter((pl.col("kind") == "depart") & (pl.col("packet") >= first))
    return dict(zip((gone["packet"] - first).to_list(), (gone["time_ns"] - began_ns).to_list(), strict=True))


def _late(job: Path) -> list[int]:
    """By how much later or earlier than the first each datagram has arrived, beside what the log says; nanoseconds."""
    left, received = _left(job), json.loads((job / "received.json").read_text())
    assert [number for number, _ in received] == list(left)
    (first, began_ns), found = received[0], []
    for number, at_ns in received:
        found.append(at_ns - began_ns - (left[number] - left[first]))
    return found


def _codel(count: int, period_ns: int) -> Iterator[tuple[int, int]]:
    """RFC 8289's pseudocode (section 5), for packets at equal times: which packet leaves the queue when."""
    target_ns, interval_ns = 5_000_000, 100_000_000
    waiting, now = iter(range(count)), 0
    first_above = drop_next = drops = last_drops = 0
    dropping = False

    def ahead() -> tuple[int | None, bool]:
        nonlocal first_above
        number = next(waiting, None)
        # The queue is down to one packet when the next has not arrived.
        is_last = number is None or number == count - 1 or (number + 1) * period_ns > now
        if number is None or now - number * period_ns < target_ns or is_last:
            first_above = 0
            return number, False
        if first_above == 0:
            first_above = now + interval_ns
            return number, False
        return number, now >= first_above

    def control(at_ns: int) -> int:
        return at_ns + round(interval_ns / sqrt(drops))

    while True:
        number, may_drop = ahead()
        if number is None:
            return
        if dropping and not may_drop:
            dropping = False
        elif dropping:
            while now >= drop_next and dropping:
                drops += 1
                number, may_drop = ahead()
                if may_drop:
                    drop_next = control(drop_next)
                else:
                    dropping = False
        elif may_drop:
            number, may_drop = ahead()
            dropping = True
            delta = drops - last_drops
            drops = delta if delta > 1 and now - drop_next < 16 * interval_ns else 1
            drop_next, last_drops = control(now), drops
        assert number is not None
        now = max(now, number * period_ns)
        yield number, now
        now += SERVICE_NS


def _parting(one: bytes, other: bytes) -> str:
    """Where two files part: the number of the line, and the line of each; empty if they are the same."""
    lines = zip_longest(one.splitlines(keepends=True), other.splitlines(keepends=True))
    return next((f"line {number}: {a!r} and {b!r}" for number, (a, b) in enumerate(lines, 1) if a != b), "")


def packets_that_find_nobody_waiting_take_their_time_and_the_delay(tmp_path: Path) -> None:
    job = _paced(tmp_path, "codel", 300, 2048)
    assert _left(job) == {number: number * 2_048_000 for number in range(300)}
    assert max(map(abs, _late(job))) <= LATE_NS
    port = json.loads((job / "link.json").read_text())["link"]["down"]
    assert 0 < port["lateness_ms"]["max"] * 1e6 <= LATE_NS


def codel_drops_what_its_law_says_and_the_others_leave_at_the_computed_nanosecond(tmp_path: Path) -> None:
    count, period_us = 3000, 512
    job = _paced(tmp_path, "codel limit 5000p", count, period_us)
    expected = dict(_codel(count, period_us * 1000))
    assert 100 < count - len(expected) < count / 2
    assert _left(job) == expected
    assert max(map(abs, _late(job))) <= LATE_NS


def a_full_queue_is_served_without_a_gap(tmp_path: Path) -> None:
    job = _paced(tmp_path, "fifo limit 100p", 400, 256)
    times = list(_left(job).values())
    assert len(times) < 400
    assert times == [number * SERVICE_NS for number in range(len(times))]
    assert max(map(abs, _late(job))) <= LATE_NS


def two_runs_of_kernel_tcp_write_the_same_bytes(tmp_path: Path) -> None:
    plan = {"down": 2, "up": 0, "ping_s": 0.02, "warmup_s": 0.5, "duration_s": 1.5, "datagrams": {"count": 0}}
    plan |= {"rated": {"count": 0}, "browser": "", "connect_s": 10.0}
    program = [sys.executable, "-P", "-m", "aqmlab.live.workload"]
    jobs = [_run(tmp_path / name, "fq_codel", [*program, "server"], [*program, json.dumps(plan)]) for name in "ab"]
    for name in ("log.csv", "near.pcapng"):
        first, second = ((job / name).read_bytes() for job in jobs)
        assert len(first) > 100_000
        assert not _parting(first, second), name
    rows = pl.read_csv(jobs[0] / "log.csv", infer_schema_length=None)
    assert len(rows.filter(kind="drop")) > 0
    measured = [json.loads((job / "said").read_text().splitlines()[0]) for job in jobs]
    assert measured[0] == measured[1]
