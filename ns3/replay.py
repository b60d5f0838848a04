#!/usr/bin/env python3
"""Make the calls of an AqmlabQueueDisc's log again, on the same discipline here, and compare every decision.

    ns3/replay.py LOG --discipline "pie target 15ms" --rate 50mbit [--overhead 2] [--seed 1]

The log is that of the attribute `Log`; the options are what the other attributes were. Exit status 1 if a decision
differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from aqmlab import _native
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.units import parse_rate


def replay(log: Path, discipline: str, rate_bps: int, overhead: int = 0, seed: int = 1) -> tuple[int, int | None]:
    """Return how many calls were made again, and the first row that was not repeated."""
    line = {"aqm": discipline, "rate_bps": rate_bps, "trace": None, "overhead": overhead}
    line |= {"classes": [], "delay_ns": 0, "log": None}
    # A live link has the same rows: what it needs besides its queue does not matter here.
    link = {"down": line, "up": line, "seed": seed, "capture": None, "congestion_control": None, "ecn": False}
    link |= {"measure": "", "samples": "", "sample_ns": 1, "resolver": None}
    return _native.replay_link(json.dumps(link), "bottleneck", log)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("--discipline", required=True, help="as after aqmlab's --aqm")
    parser.add_argument("--rate", required=True, help="as 50mbit")
    parser.add_argument("--overhead", type=int, default=0, help="bytes that the link adds to an IP packet")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    try:
        calls, parts_at = replay(given.log, given.discipline, parse_rate(given.rate), given.overhead, given.seed)
    except (InputError, OSError) as error:
        print(f"replay.py: {error}", file=sys.stderr)
        return 2
    if parts_at is not None:
        print(f"row {parts_at} of the log is not repeated; {calls} calls were made")
        return 1
    print(f"{calls} calls were made again, with the same decisions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
