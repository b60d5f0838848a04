"""The live link beside a plain forwarding loop: packets a second and their cost, the error of a rate, punctuality.

    .venv/bin/python benches/live.py [--seconds N] [--rounds N] [--path tun] [--out results/bench/live.json]

The same kind of interface between the same namespaces, and the same flood of UDP from one process: once through a loop
that receives, copies and sends (`crates/aqm-link/examples/plain.rs`), then through the link at a rate that never holds
a packet back, with each discipline; then through a link of 100 Mbit/s that drops nearly everything. They take turns, in
one run. What none of them took, because it came too fast, is printed: where that is nothing, only the cost compares.

Then the rate that a receiver at the far end sees by its own clock, and how late packets left the link, beside timers:
under a fifth more than the link carries, and under all that one core can send.
The machine decides the figures, and their ratios hardly. It should be idle: the load is printed with them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from aqmlab import _native
from aqmlab.live.carrying import PATHS, Link, carry, configuration
from aqmlab.live.directions import lines
from aqmlab.live.link_json import lateness_ms

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples"
# More than any interface of this machine carries.
UNLIMITED, FLOODED = "100gbit", "100mbit"
LARGEST = 1500
SIZES, FLOWS = (64, LARGEST), 16
RATES = ("10mbit", "100mbit", "500mbit")
# At the fastest of them a tenth as many packets are gone in 2.4 ms, and at times run out before the sender goes on: the
# link is idle then, which is no error of its rate.
LONG = "fifo limit 1000p"
# What is offered, in rates of the link.
OFFERED = {"1.2 times": 1.2, "all": math.inf}
# At the far end: packets that its interface has received, thirty times a second by its own clock.
SINK = """
import socket, sys, time
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sink.bind(("", 9))
with open(sys.argv[1], "w", buffering=1) as file:
    while True:
        table = open("/proc/self/net/dev").read()
        now = time.monotonic()
        file.write(f"{now} {table.split('eth0:')[1].split()[1]}\\n")
        time.sleep(0.03)
"""
# Not measured at the start and at the end, in seconds.
SETTLED = 0.5
LOOP, FIFO, FQ_CODEL, CAKE = "plain loop", "fifo limit 1000p", "fq_codel limit 1000p", "cake"


def main() -> None:
    """Print and write all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--path", choices=PATHS, default=PATHS[0])
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench" / "live.json")
    arguments = parser.parse_args()
    build = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "aqm-link", "--examples"]
    subprocess.run(build, check=True, cwd=ROOT)
    load = os.getloadavg()[0]
    print(
        f"{arguments.path}; load {load:.1f} on {os.cpu_count()} cores, "
        f"{arguments.rounds} rounds of {arguments.seconds:g} s, median\n"
    )
    found = {"path": arguments.path, "load": load, "forwarding": forwarding(arguments), "rates": rates(arguments)}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(found, indent=1) + "\n")
    print(f"\nwritten to {arguments.out}")


def forwarding(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Flood the loop and the links."""
    cases = [(LOOP, UNLIMITED), (FIFO, UNLIMITED), (FQ_CODEL, UNLIMITED), (CAKE, FLOODED)]
    heads = ("packets/s", "of the loop", "CPU us/packet", "of the loop", "not taken")
    print(f"{'bytes':>5}  {'':22} {'rate':8} {' '.join(f'{head:>13}' for head in heads)}")
    rows = []
    for size in SIZES:
        made: dict[str, list[_Flooded]] = {aqm: [] for aqm, _ in cases}
        for _ in range(arguments.rounds):
            for aqm, rate in cases:
                made[aqm].append(_flooded(aqm, rate, size, arguments))
        for aqm, rate in cases:
            # By rounds: what the machine does meanwhile hits both.
            pairs = list(zip(made[aqm], made[LOOP], strict=True))
            row = {
                "packets_per_s": median(one.speed for one in made[aqm]),
                "speed_ratio": median(one.speed / loop.speed for one, loop in pairs),
                "cpu_us_per_packet": median(one.cost for one in made[aqm]),
                "cpu_ratio": median(one.cost / loop.cost for one, loop in pairs),
                "not_taken": median(one.missed for one in made[aqm]),
            }
            rows.append({"bytes": size, "aqm": aqm, "rate": rate, **row})
            speed, faster, cost, dearer, missed = row.values()
            print(
                f"{size:5}  {aqm:22} {rate:8} {speed:13.0f} {faster:13.2f} {cost:13.2f} {dearer:13.2f} {missed:13.1%}"
            )
    return rows


class _Flooded(NamedTuple):
    """Packets a second, microseconds of processor time for each, and the share of those that came which nobody took."""

    speed: float
    cost: float
    missed: float


def _flooded(aqm: str, rate: str, size: int, arguments: argparse.Namespace) -> _Flooded:
    flood = _flood(arguments.seconds, size, FLOWS)
    link = _link("fifo" if aqm == LOOP else aqm, rate, arguments.path)
    if aqm == LOOP:
        with tempfile.TemporaryDirectory() as made:
            loop = [str(EXAMPLES / "plain"), json.dumps(configuration(link, Path(made))), *flood]
            found = json.loads(subprocess.run(loop, check=True, stdout=subprocess.PIPE, text=True).stdout)
    else:
        found = carry(link, flood).report
        ports = [found[name] for name in ("down", "up")]
        # What found the ring full was not in the discipline.
        found["packets"] = sum(port["metrics"].get("packets_arrived", 0) for port in ports)
        found["missed"] = sum(port["missed"] for port in ports)
    taken, missed = found["packets"], found["missed"]
    return _Flooded(taken / found["duration_s"], found["cpu_s"] / taken * 1e6, missed / (taken + missed))


def rates(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Fill links of several rates, and see how much passes and how late."""
    idle = lateness_ms(_native.timer_lateness(arguments.seconds))
    heads = ("a receiver sees", "error", "late, ms: p50", "p99", "most")
    print("\n{:9} {:9} {:>16} {:>8} {:>13} {:>7} {:>7}".format("rate", "offered", *heads))
    print(f"{'timers':36} {'':8} {idle['p50']:13.3f} {idle['p99']:7.3f} {idle['max']:7.3f}")
    rows: list[dict[str, Any]] = [{"rate": "timers", "lateness_ms": idle}]
    for rate, (offered, times) in itertools.product(RATES, OFFERED.items()):
        link = _link(LONG, rate, arguments.path)
        packets = times * link.up.rate_bps / 8 / (LARGEST + link.up.overhead)
        with tempfile.TemporaryDirectory() as made:
            file = Path(made) / "counts"
            sink = [sys.executable, "-c", SINK, str(file)]
            up = carry(link, _flood(arguments.seconds, LARGEST, 1, packets), [sink]).report["up"]
            counts = [tuple(map(float, line.split())) for line in file.read_text().splitlines()]
        first, last = (next(now for now, count in counts if count > edge) for edge in (counts[0][1], counts[-1][1] - 1))
        settled = [(now, count) for now, count in counts if first + SETTLED < now < last - SETTLED]
        (begin, before), (end, after) = settled[0], settled[-1]
        seen = (after - before) * (LARGEST + link.up.overhead) * 8e-6 / (end - begin)
        error, late = seen / (link.up.rate_bps * 1e-6) - 1, lateness_ms(up["lateness_ms"])
        is_full = up["metrics"]["drops_overflow"] > 0
        row = {"rate": rate, "offered": offered, "seen_mbit": seen, "error": error if is_full else None}
        rows.append({**row, "lateness_ms": late})
        shown = f"{error:.3%}" if is_full else "not full"
        times_late = f"{late['p50']:13.3f} {late['p99']:7.3f} {late['max']:7.3f}"
        print(f"{rate:9} {offered:9} {seen:9.3f} Mbit/s {shown:>8} {times_late}")
    return rows


def _flood(seconds: float, size: int, flows: int, packets: float = math.inf) -> list[str]:
    return [str(EXAMPLES / "flood"), str(seconds), str(size), str(flows), str(packets)]


def _link(aqm: str, rate: str, path: str) -> Link:
    both = {name: {"rate": rate} for name in ("down", "up")}
    return Link(*lines({"rtt": "1us", "aqm": aqm}, both), path=path)


if __name__ == "__main__":
    main()
