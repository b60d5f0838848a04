"""Speed of the simulator: packets per CPU-second, events, instructions per packet, memory.

    python benches/simulator.py [--runs N] [--out results/bench/simulator.json]

The case: NewReno flows (SACK, delayed ACKs, full metrics) over a dumbbell of 1 Gbit/s and 20 ms, 1500-byte packets,
10 s, six links on every round trip. Seconds depend on the machine and its other load: the best of several runs
is printed. Instructions do not: they are counted by callgrind as the difference of two run lengths.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from core import ROOT, TARGET, run

CASES = [(100, "fifo limit 1667p"), (1000, "fifo limit 1667p"), (100, "codel"), (100, "fq_codel")]
SECONDS = 10
# Packets per CPU-second that the speed case must reach with 100 flows, and the target.
WANTED, AIM = 3.3e6, 6e6
SHORT, LONG = 4, 6


def simulate(flows: int, aqm: str, seconds: int, *tool: str) -> dict[str, float]:
    """What one run of the speed case prints."""
    program = TARGET / "release" / "examples" / "speed"
    return json.loads(run(*tool, program, str(flows), aqm, str(seconds)))


def instructions_per_packet(flows: int, aqm: str) -> float:
    """Instructions for each packet that leaves the bottleneck, once start-up is over."""
    counts, packets = [], []
    for seconds in (SHORT, LONG):
        words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        program = TARGET / "release" / "examples" / "speed"
        command = [*words, str(program), str(flows), aqm, str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        packets.append(json.loads(done.stdout)["bottleneck_packets"])
        collected = next(line for line in done.stderr.splitlines() if "refs:" in line)
        counts.append(int(collected.rsplit(maxsplit=1)[1].replace(",", "")))
    return (counts[1] - counts[0]) / (packets[1] - packets[0])


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs of each case; the best counts")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench" / "simulator.json")
    options = parser.parse_args()
    build = ["cargo", "build", "--quiet", "--locked", "--release", "--package", "aqm-sim", "--example", "speed"]
    run(*build)
    counts = shutil.which("valgrind") is not None
    head = ["flows", "aqm", "Mpackets/CPU-s", "events/packet", "ns/packet", "instructions/packet", "peak MB"]
    rows, written = [head], []
    for flows, aqm in CASES:
        best = max(
            (simulate(flows, aqm, SECONDS) for _ in range(options.runs)),
            key=lambda figures: figures["packets_per_cpu_s"],
        )
        instructions = instructions_per_packet(flows, aqm) if counts else None
        rate = best["packets_per_cpu_s"]
        rows.append(
            [
                str(flows),
                aqm,
                f"{rate / 1e6:.2f}",
                f"{best['events'] / best['bottleneck_packets']:.2f}",
                f"{1e9 / rate:.0f}",
                f"{instructions:.0f}" if instructions else "",
                f"{best['peak_kib'] / 1024:.1f}",
            ]
        )
        written.append(best | {"instructions_per_packet": instructions})
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    few, many = written[0]["packets_per_cpu_s"], written[1]["packets_per_cpu_s"]
    print(f"100 flows: {few / WANTED:.2f} of the wanted {WANTED / 1e6:.1f} million, {few / AIM:.2f} of the aim")
    print(f"1000 flows: {many / few:.2f} of the speed with 100 (wanted: at least 0.80)")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    partial = options.out.with_suffix(".partial")
    machine = f"{platform.machine()} {platform.system()}"
    partial.write_text(json.dumps({"format_version": 1, "machine": machine, "cases": written}, indent=1) + "\n")
    partial.replace(options.out)
    print(f"written to {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
