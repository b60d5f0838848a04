#!/usr/bin/env python3
"""Make many small runs in one process, and say how its memory grows.

    scripts/many_runs.py [--runs N]

Every discipline, topology and kind of flow in turn, some milliseconds of simulated time each, with another seed every
time. Each runs once before any is counted. The memory of the process (resident set) is read after each tenth of the
runs; the least of the second half is compared with the least of the first, as the allocator gives memory back when it
likes. The status is 1 if it has grown by more than 2 MiB: in half of the runs.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aqmlab import engine as engines
from aqmlab import scenario
from aqmlab.engine import Task
from aqmlab.scenario import registry

MOST_GROWTH = 2 << 20
FLOWS = (
    "2*newreno",
    "2*cubic:ecn=classic",
    "1*bbr3",
    "1*dctcp",
    "1*prague",
    "1*web",
    "1*video",
    "2*voip",
    "1*workload:load=0.5",
)
TOPOLOGIES = ("parking_lot:hops=2", "star", "leaf_spine", "shared_medium", "asymmetric", "campus")


def main() -> None:
    """Run, and print a line for every tenth of the runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000)
    runs: int = parser.parse_args().runs
    begin, found = time.monotonic(), []
    for number, resident in enumerate(tenths(runs), 1):
        found.append(resident)
        seconds = time.monotonic() - begin
        print(f"{number * runs // 10} runs, {seconds:.0f} s: {resident / 2**20:.1f} MiB", flush=True)
    half = len(found) // 2
    growth = min(found[half:]) - min(found[:half])
    sys.exit(f"memory has grown by {growth} bytes" if growth > MOST_GROWTH else 0)


def tenths(runs: int) -> Iterator[int]:
    """Make so many runs; yield the resident bytes after each tenth."""
    engine = engines.find(engines.DEFAULT)
    plans = list(_plans())
    # What each needs once is no growth.
    before = len(plans)
    for seed in range(1, before + runs + 1):
        plan, number = plans[seed % len(plans)], seed - before
        label = plan.contestants[0].label
        task = Task(0, label, seed, "", plan.scenarios[label], plan.inputs)
        engine.run(task, engine.monitor(task))
        if number > 0 and number % (runs // 10) == 0:
            gc.collect()
            yield _resident()


def _plans() -> Iterator[scenario.Plan]:
    """Every discipline, with flows and topologies in turn."""
    common: dict[str, Any] = {"rate": "5mbit", "rtt": "5ms", "duration": "200ms", "warmup": "20ms", "seeds": 1}
    topologies = itertools.cycle((None, *TOPOLOGIES))
    for aqm, flows in zip([one.name for one in registry.disciplines()], itertools.cycle(FLOWS)):
        topology = next(topologies)
        values = {**common, "aqm": aqm, "flows": [f"{flows}:start=0ms..5ms"]}
        if topology:
            values["topology"] = topology
        yield scenario.resolve(scenario.from_values(values, allow_unequal_buffers=False))


def _resident() -> int:
    """Resident bytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
