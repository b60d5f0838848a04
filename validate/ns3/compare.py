#!/usr/bin/env python3
"""Compare aqmlab with ns-3: bulk TCP flows through a dumbbell, the same parameters on both sides.

    validate/ns3/compare.py [--seeds N] [--flows 2,8,30] [--aqm fifo,codel,...] [--cc newreno|cubic]

Builds `dumbbell.cc` against Debian's libns3-dev, runs both simulators over several seeds, prints both sets of
parameters and one table of means over the seeds. Exit status 1 if a difference is larger than allowed.
Random numbers differ between the two, so only means can agree, and only as closely as the seeds scatter: where
two standard errors could explain that a difference is larger than allowed, the table says "scatter" and it does
not count (more seeds decide it).
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
AQMLAB = HERE.parents[1] / ".venv/bin/aqmlab"
NS3_LIBRARIES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")
RATE_MBIT, RTT_MS, LIMIT, WARMUP_S, DURATION_S = 20, 40, 500, 10, 30
# Ten seconds: with a FIFO the repair of the first slow start's losses takes up to six.
# ns-3's point-to-point header has 2 bytes; its device holds the packet being sent and one more.
OVERHEAD_BYTES, DEVICE_RING = 2, 2
# As dumbbell.cc sets them. ns-3's PIE works from the start; its FQ-CoDel's quantum is the MTU, in IP bytes.
SPECS = {
    "fifo": "fifo",
    "codel": "codel:rfc8289",
    "pie": "pie:rfc8033",
    "red": "red min 100p max 300p probability 0.1",
    "fq_codel": f"fq_codel quantum {1500 + OVERHEAD_BYTES}b",
}
# What may differ: relative, or absolute where it says so.
ALLOWED = {"goodput_mbit": 0.05, "qdelay_mean_ms": 0.20, "loss_ratio": 0.25, "jain_index": 0.05}
ABSOLUTE = {"jain_index"}
# Differences below this do not count: one loss in ten thousand packets.
NEGLIGIBLE = {"loss_ratio": 1e-4}
HEADING = "aqm       flows metric               ns-3              aqmlab           difference allowed"

Metrics = dict[str, float]


def build(folder: Path) -> Path:
    """Compile the ns-3 program."""
    program = folder / "dumbbell"
    libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
    command = ["g++", "-std=c++17", "-O2", "-o", str(program), str(HERE / "dumbbell.cc"), *libraries]
    try:
        built = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("compare.py: g++ is missing: apt-get install g++ libns3-dev")
    if built.returncode != 0:
        hint = ": apt-get install libns3-dev" if "ns3/" in built.stderr or "-lns3" in built.stderr else ""
        sys.exit(f"compare.py: dumbbell.cc does not build{hint}\n{built.stderr}")
    return program


def run_ns3(program: Path, aqm: str, cc: str, flows: int, seed: int) -> dict[str, Any]:
    """Run ns-3 once."""
    arguments = {"aqm": aqm, "cc": cc, "flows": flows, "limit": LIMIT, "rate": RATE_MBIT, "rtt": RTT_MS}
    arguments |= {"warmup": WARMUP_S, "duration": DURATION_S, "seed": seed}
    command = [str(program), *(f"--{name}={value}" for name, value in arguments.items())]
    result: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return result


def run_aqmlab(aqms: list[str], cc: str, flows: int, seeds: int) -> dict[str, Any]:
    """Run aqmlab over all disciplines and seeds."""
    command = [str(AQMLAB), "compare", "--rate", f"{RATE_MBIT}mbit", "--rtt", f"{RTT_MS}ms"]
    command += ["--buffer", f"{LIMIT}p", "--flows", f"{flows}*{cc}", "--overhead", f"{OVERHEAD_BYTES}b"]
    command += ["--device-ring", str(DEVICE_RING), "--duration", f"{DURATION_S}s", "--warmup", f"{WARMUP_S}s"]
    command += ["--seeds", str(seeds), "--jobs", "2", "--quiet", "--json", "-"]
    for aqm in aqms:
        command += ["--aqm", SPECS[aqm]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compare.py: aqmlab failed with status {done.returncode}\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def mean(runs: list[Metrics], name: str) -> float:
    return statistics.fmean(run[name] for run in runs)


def scatter(runs: list[Metrics], name: str) -> float:
    """Two standard errors of the mean."""
    values = [run[name] for run in runs]
    return 2 * statistics.stdev(values) / math.sqrt(len(values))


def verdict(name: str, theirs: list[Metrics], own: list[Metrics]) -> str:
    """Say whether two means are as close as allowed: '', 'scatter' or 'DIFFERS'."""
    difference = abs(mean(own, name) - mean(theirs, name))
    allowed = ALLOWED[name] * (1 if name in ABSOLUTE else mean(theirs, name))
    if difference <= max(allowed, NEGLIGIBLE.get(name, 0)):
        return ""
    could_be = math.hypot(scatter(theirs, name), scatter(own, name))
    return "scatter" if difference - could_be <= allowed else "DIFFERS"


def row(aqm: str, flows: int, name: str, theirs: list[Metrics], own: list[Metrics]) -> str:
    """One line of the table."""
    a, b = mean(theirs, name), mean(own, name)
    if name in ABSOLUTE:
        difference, allowed = f"{b - a:+.3f}", f"{ALLOWED[name]:.2f}"
    else:
        difference, allowed = f"{100 * (b - a) / a:+.1f}%" if a else "-", f"{100 * ALLOWED[name]:.0f}%"
    cells = f"{a:9.4g} ±{scatter(theirs, name):<8.2g} {b:9.4g} ±{scatter(own, name):<8.2g}"
    return f"{aqm:9} {flows:5} {name:15} {cells} {difference:>10} {allowed:>7}  {verdict(name, theirs, own)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--flows", default="2,8,30")
    parser.add_argument("--aqm", default=",".join(SPECS))
    parser.add_argument("--cc", choices=("newreno", "cubic"), default="newreno")
    arguments = parser.parse_args()
    aqms = arguments.aqm.split(",")
    if unknown := [aqm for aqm in aqms if aqm not in SPECS]:
        parser.error(f"unknown --aqm {unknown[0]}: choose from {', '.join(SPECS)}")
    if arguments.seeds < 2:
        parser.error("--seeds must be at least 2: one run has no scatter")
    if not AQMLAB.exists():
        sys.exit(f"compare.py: {AQMLAB} is missing: make setup")
    outside = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=2) as pool:
        program = build(Path(folder))
        for number, flows in enumerate(int(flows) for flows in arguments.flows.split(",")):
            ours = run_aqmlab(aqms, arguments.cc, flows, arguments.seeds)
            runs = {
                aqm: [
                    pool.submit(run_ns3, program, aqm, arguments.cc, flows, seed)
                    for seed in range(1, arguments.seeds + 1)
                ]
                for aqm in aqms
            }
            if number == 0:
                first = runs[aqms[0]][0].result()
                print("ns-3:   ", json.dumps(first["parameters"]))
                print("aqmlab: ", json.dumps(ours["scenario"]))
                print("\nmeans over", arguments.seeds, "seeds, ± two standard errors")
                print(HEADING)
            own_by_aqm: dict[str, list[Metrics]] = {}
            for run in ours["runs"]:
                own_by_aqm.setdefault(run["aqm"], []).append(run["metrics"])
            # aqmlab answers in the order of its --aqm options.
            for aqm, own in zip(aqms, own_by_aqm.values(), strict=True):
                theirs = [future.result()["metrics"] for future in runs[aqm]]
                for name in ALLOWED:
                    print(row(aqm, flows, name, theirs, own), flush=True)
                    outside += verdict(name, theirs, own) == "DIFFERS"
    print(f"\n{outside} differences are larger than allowed" if outside else "\nall differences are allowed")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
