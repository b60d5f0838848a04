"""A growing network: the cost of building and running it by size.

    .venv/bin/python benches/scale.py [--seconds N] [--instructions] [--out results/bench/scale.json]

The case: the large-network evaluation's sites (`campus`), 15 to 10 001 nodes, the same load on every bottleneck; each
size in a process of its own, for its peak memory. Building is a run of a millisecond; its time includes writing and
reading the scenario. Events and packets do not depend on the machine; nor do instructions, counted by callgrind as the
difference of two run lengths (some minutes).
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

from aqmlab import _native, scenario

ROOT = Path(__file__).resolve().parents[1]
CLIENTS = (8, 64, 640, 6400)
SOURCE = "onoff:rate=1500kbit:on=0s..1s:off=0s..1s:transport=newreno:mss=512b:iw=1:start=0..100ms"
SHORT_MS, LONG_MS = 400, 800


def simulate(clients: int, milliseconds: int) -> dict[str, float]:
    """Build and run a campus of so many clients, in this process."""
    before = time.process_time()
    options = scenario.from_values(
        {
            "aqm": "codel",
            "rate": "1500kbit",
            "rtt": "120ms",
            "topology": f"campus:clients={clients}",
            "flows": f"{clients}*{SOURCE}",
            "buffer": "1000p",
            "duration": f"{milliseconds}ms",
            "warmup": "0s",
            "series": "groups",
        }
    )
    plan = scenario.resolve(options)
    run = _native.run(plan.scenarios[plan.contestants[0].label].json, plan.inputs, 1, _native.Monitor())
    links = plan.base.topology.links
    return {
        "nodes": len({link.source for link in links}),
        "links": len(links),
        "events": run.events,
        "queued_packets": run.bottleneck_packets,
        "cpu_s": time.process_time() - before,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def alone(clients: int, milliseconds: int, *tool: str) -> tuple[dict[str, float], str]:
    """Return the measurements of a separate process, and the output of the tool around it."""
    command = [*tool, sys.executable, __file__, "--one", str(clients), str(milliseconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), done.stderr


def instructions_per_event(clients: int) -> float:
    """Instructions for each event once the network is built."""
    counts, events = [], []
    for milliseconds in (SHORT_MS, LONG_MS):
        tool = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
        measured, said = alone(clients, milliseconds, *tool)
        collected = next(line for line in said.splitlines() if "refs:" in line)
        counts.append(int(collected.rsplit(maxsplit=1)[1].replace(",", "")))
        events.append(measured["events"])
    return (counts[1] - counts[0]) / (events[1] - events[0])


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5, help="simulated time")
    parser.add_argument("--instructions", action="store_true", help="count instructions too")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench" / "scale.json")
    parser.add_argument("--one", type=int, nargs=2, metavar=("CLIENTS", "MS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(simulate(*options.one)))
        return
    head = ("nodes", "build ms", "events/s", "queued packets/s", "CPU s/s", "ns/event", "peak MB", "instructions/event")
    print("  ".join(f"{text:>16}" for text in head))
    rows = []
    for clients in CLIENTS:
        built, _ = alone(clients, 1)
        ran, _ = alone(clients, options.seconds * 1000)
        running_s = ran["cpu_s"] - built["cpu_s"]
        row = {
            "nodes": ran["nodes"],
            "build_ms": built["cpu_s"] * 1e3,
            "events_per_s": ran["events"] / options.seconds,
            "queued_packets_per_s": ran["queued_packets"] / options.seconds,
            "cpu_s_per_s": running_s / options.seconds,
            "ns_per_event": running_s * 1e9 / ran["events"],
            "peak_mb": ran["peak_mb"],
            "instructions_per_event": instructions_per_event(clients) if options.instructions else None,
        }
        rows.append(row)
        print("  ".join(f"{'-' if value is None else format(value, '.4g'):>16}" for value in row.values()), flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"machine": platform.processor() or platform.machine(), "rows": rows}, indent=1))
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
