"""A growing network: the cost of building and running it by size.

    .venv/bin/python benches/scale.py [--seconds N] [--instructions] [--out results/bench/scale.json]

The case: the large-network evaluation's sites (`campus`), 15 to 10 001 nodes, the same load on every bottleneck; each
size in a process of its own, for its peak memory. Building is a run of a millisecond; its time includes writing and
reading the scenario. Events and packets do not depend on the machine; nor do instructions, counted by callgrind as the
difference of two run lengths (some minutes).

Then a data centre: 1000 hosts on a leaf-spine network of 10 Gbit/s, web search at a load of 30 %, and the CPU time of a
simulated millisecond, the first not counted.
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
from typing import Any

from aqmlab import _native, scenario

ROOT = Path(__file__).resolve().parents[1]
CLIENTS = (8, 64, 640, 6400)
SOURCE = "onoff:rate=1500kbit:on=0s..1s:off=0s..1s:transport=newreno:mss=512b:iw=1:start=0..100ms"
SHORT_MS, LONG_MS = 400, 800


def simulate(clients: int, milliseconds: int) -> dict[str, float]:
    """Build and run a campus of so many clients, in this process."""
    return measured(
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


def measured(values: dict[str, Any]) -> dict[str, float]:
    """Build and run a scenario, in this process."""
    before = time.process_time()
    options = scenario.from_values(values)
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


# Both lose nothing, but by other means.
HOSTS = {
    "DCTCP": ("dctcp_step threshold 30000b limit 10mb", "dctcp:minrto=1ms", "buffer=4mb"),
    "DCQCN, PFC": (
        "ecn_ramp kmin 40000b kmax 160000b pmax 20% limit 10mb",
        "dcqcn:timeout=1ms:class=3",
        "buffer=4mb:xoff=96kb:priorities=3",
    ),
}
DATA_CENTER_MS = 5


def data_center(control: str, milliseconds: int) -> dict[str, float]:
    """Build and run 1000 hosts, in this process; 500 of them receive."""
    aqm, transport, switch = HOSTS[control]
    return measured(
        {
            "aqm": aqm,
            "rate": "10gbit",
            "rtt": "16us",
            "topology": f"leaf_spine:leaves=20:spines=10:hosts=50:{switch}",
            # A load is a share of the rate of one port, and 1000 % at most: fifteen groups for the 500 ports at 30 %.
            "flows": [
                f"500*workload:name=w{n}:load=1000%:transport={transport}:start=0s:from=h1?.*:to=h?.*"
                for n in range(15)
            ],
            "duration": f"{milliseconds}ms",
            "warmup": "0s",
            "series": "groups",
        }
    )


def alone(clients: int | str, milliseconds: int, *tool: str) -> tuple[dict[str, float], str]:
    """Return the measurements of a separate process, and the output of the tool around it."""
    command = [*tool, sys.executable, __file__, "--one", str(clients), str(milliseconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), done.stderr


def instructions_per_event(clients: int) -> float:
    """Instructions for each event once the network is built."""
    counts, events = [], []
    for milliseconds in (SHORT_MS, LONG_MS):
        tool = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
        measured, output = alone(clients, milliseconds, *tool)
        collected = next(line for line in output.splitlines() if "refs:" in line)
        counts.append(int(collected.rsplit(maxsplit=1)[1].replace(",", "")))
        events.append(measured["events"])
    return (counts[1] - counts[0]) / (events[1] - events[0])


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5, help="simulated time")
    parser.add_argument("--instructions", action="store_true", help="count instructions too")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench" / "scale.json")
    parser.add_argument("--one", nargs=2, metavar=("CLIENTS", "MS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        what, milliseconds = options.one[0], int(options.one[1])
        run = data_center(what, milliseconds) if what in HOSTS else simulate(int(what), milliseconds)
        print(json.dumps(run))
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
    print("\n1000 hosts on a leaf-spine network")
    head = ("control", "build s", "CPU ms/ms", "events/ms", "ns/event", "peak MB")
    print("  ".join(f"{text:>16}" for text in head))
    hosts = []
    for control in HOSTS:
        # The workload of the whole run is drawn while building.
        built, _ = alone(control, 1)
        ran, _ = alone(control, 1 + DATA_CENTER_MS)
        running_s, events = ran["cpu_s"] - built["cpu_s"], ran["events"] - built["events"]
        numbers = {
            "build_s": built["cpu_s"],
            "cpu_ms_per_ms": running_s * 1e3 / DATA_CENTER_MS,
            "events_per_ms": events / DATA_CENTER_MS,
            "ns_per_event": running_s * 1e9 / events,
            "peak_mb": ran["peak_mb"],
        }
        hosts.append({"control": control, **numbers})
        cells = (control, *(format(value, ".4g") for value in numbers.values()))
        print("  ".join(f"{cell:>16}" for cell in cells), flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps({"machine": platform.processor() or platform.machine(), "rows": rows, "hosts": hosts}, indent=1)
    )
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
