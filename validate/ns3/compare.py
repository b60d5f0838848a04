#!/usr/bin/env python3
"""Compare aqmlab with ns-3: TCP flows, bulk or ON/OFF, through a dumbbell, the same parameters on both sides.

    validate/ns3/compare.py [--seeds N] [--flows 2,8,30,onoff,nosack] [--aqm fifo,codel,...] [--cc newreno|cubic]

Builds `dumbbell.cc` against Debian's libns3-dev, runs both simulators over several seeds, prints both sets of
parameters and one table of means over the seeds. Exit status 1 if a difference is larger than allowed.
Random numbers differ between the two, so only means can agree, and only as closely as the seeds scatter: if two
standard errors could explain a larger difference, the table says "scatter" and it does not count (more seeds can
decide).
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
AQMLAB = HERE.parents[1] / ".venv/bin/aqmlab"
NS3_LIBRARIES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")
# ns-3's point-to-point header has 2 bytes; its device holds the packet being sent and one more.
DEVICE = ("--overhead", "2b", "--device-ring", "2")
OVERHEAD_BYTES = 2
# As dumbbell.cc sets them. ns-3's PIE works from the start; its FQ-CoDel's quantum is the MTU, in IP bytes.
SPECS = {
    "fifo": "fifo",
    "codel": "codel:rfc8289",
    "pie": "pie:rfc8033",
    "red": "red min 100p max 300p probability 0.1",
    "fq_codel": f"fq_codel quantum {1500 + OVERHEAD_BYTES}b",
}
ON_OFF_SPECS = {"red:ns3": "red:ns3", "codel": "codel:rfc8289", "pie:ns3.27": "pie:ns3.27"}


@dataclass(frozen=True)
class Case:
    """One network: the options of dumbbell and of aqmlab that make it, disciplines on both sides, what is compared."""

    ns3: tuple[str, ...]
    aqmlab: tuple[str, ...]
    specs: dict[str, str]
    metrics: tuple[str, ...]


def bulk(flows: int, cc: str, *, sack: bool = True) -> Case:
    """Bulk flows, with SACK or without.

    The warm-up is long: with a FIFO, repairing the losses of the first slow start takes up to six seconds.
    """
    flow = f"{flows}*{cc}:sack={'on' if sack else 'off'}"
    return Case(
        (
            *(f"--cc={cc}", f"--flows={flows}", "--limit=500", "--rate=20", "--rtt=40", "--warmup=10", "--duration=30"),
            f"--ns3::TcpSocketBase::Sack={str(sack).lower()}",
        ),
        (
            *("--flows", flow, "--buffer", "500p", "--rate", "20mbit", "--rtt", "40ms"),
            *("--warmup", "10s", "--duration", "30s"),
        ),
        SPECS,
        ("goodput_mbit", "qdelay_mean_ms", "loss_ratio", "jain_index"),
    )


def on_off() -> Case:
    """ON/OFF flows as in the first scenario of the S-PIE paper, over ns-3's own NewReno."""
    flow = "50*onoff:name={}:rate={}:on=0..1s:off=0..1s:transport=newreno:abc=off:recovery.ssthresh=pipe"
    flow += ":mss=1000b:delack=200ms:minrto=1s:iw=1"
    return Case(
        (
            *("--flows=100", "--onoff=1,50", "--limit=50", "--rate=50", "--rtt=60", "--access=100", "--leaf=5"),
            *("--warmup=0", "--duration=20", "--ns3::TcpL4Protocol::SocketType=ns3::TcpNewReno"),
            *("--ns3::TcpSocket::SegmentSize=1000", "--ns3::TcpSocket::InitialCwnd=1"),
            *("--ns3::TcpSocket::DelAckTimeout=200ms", "--ns3::TcpSocketBase::MinRto=1s"),
            *("--ns3::TcpSocket::SndBufSize=131072", "--ns3::TcpSocket::RcvBufSize=131072"),
        ),
        (
            *("--flows", flow.format("small", "1mbit"), "--flows", flow.format("large", "50mbit")),
            *("--buffer", "50p", "--rate", "50mbit", "--rtt", "60ms", "--access-rate", "100mbit"),
            *("--warmup", "0s", "--duration", "20s"),
        ),
        ON_OFF_SPECS,
        ("goodput_mbit", "qdelay_mean_ms", "queue_mean_packets", "loss_ratio", "jain_index", "rtt_mean_ms"),
    )


def case_of(name: str, cc: str) -> Case:
    """Return the case of this name."""
    if name == "onoff":
        return on_off()
    return bulk(8, cc, sack=False) if name == "nosack" else bulk(int(name), cc)


# Allowed differences: relative, or absolute where noted.
ALLOWED = {
    "goodput_mbit": 0.05,
    "qdelay_mean_ms": 0.20,
    "queue_mean_packets": 0.20,
    "loss_ratio": 0.25,
    "jain_index": 0.05,
    "rtt_mean_ms": 0.02,
}
ABSOLUTE = {"jain_index"}
# Smaller differences do not count: one loss in ten thousand packets.
NEGLIGIBLE = {"loss_ratio": 1e-4}
HEADING = "aqm        flows metric                  ns-3               aqmlab             difference allowed"

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


def run_ns3(program: Path, case: Case, aqm: str, seed: int) -> dict[str, Any]:
    """Run ns-3 once."""
    command = [str(program), f"--aqm={aqm}", f"--seed={seed}", *case.ns3]
    result: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return result


def run_aqmlab(case: Case, aqms: list[str], seeds: int) -> dict[str, Any]:
    """Run aqmlab over all disciplines and seeds."""
    command = [str(AQMLAB), "compare", *case.aqmlab, *DEVICE]
    command += ["--seeds", str(seeds), "--jobs", "2", "--quiet", "--json", "-"]
    for aqm in aqms:
        command += ["--aqm", case.specs[aqm]]
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
    """Compare two means: '', 'scatter' or 'DIFFERS'."""
    difference = abs(mean(own, name) - mean(theirs, name))
    allowed = ALLOWED[name] * (1 if name in ABSOLUTE else mean(theirs, name))
    if difference <= max(allowed, NEGLIGIBLE.get(name, 0)):
        return ""
    could_be = math.hypot(scatter(theirs, name), scatter(own, name))
    return "scatter" if difference - could_be <= allowed else "DIFFERS"


def row(aqm: str, flows: str, name: str, theirs: list[Metrics], own: list[Metrics]) -> str:
    """One line of the table."""
    a, b = mean(theirs, name), mean(own, name)
    if name in ABSOLUTE:
        difference, allowed = f"{b - a:+.3f}", f"{ALLOWED[name]:.2f}"
    else:
        difference, allowed = f"{100 * (b - a) / a:+.1f}%" if a else "-", f"{100 * ALLOWED[name]:.0f}%"
    cells = f"{a:9.4g} ±{scatter(theirs, name):<8.2g} {b:9.4g} ±{scatter(own, name):<8.2g}"
    return f"{aqm:10} {flows:5} {name:18} {cells} {difference:>10} {allowed:>7}  {verdict(name, theirs, own)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--flows", default="2,8,30,onoff", help="numbers of bulk flows; onoff; nosack (8 bulk)")
    parser.add_argument("--aqm", default=",".join({**SPECS, **ON_OFF_SPECS}))
    parser.add_argument("--cc", choices=("newreno", "cubic"), default="newreno", help="of the bulk flows")
    arguments = parser.parse_args()
    known = {**SPECS, **ON_OFF_SPECS}
    wanted = arguments.aqm.split(",")
    if unknown := [aqm for aqm in wanted if aqm not in known]:
        parser.error(f"unknown --aqm {unknown[0]}: choose from {', '.join(known)}")
    if arguments.seeds < 2:
        parser.error("--seeds must be at least 2: one run has no scatter")
    if not AQMLAB.exists():
        sys.exit(f"compare.py: {AQMLAB} is missing: make setup")
    outside = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=2) as pool:
        program = build(Path(folder))
        for flows in arguments.flows.split(","):
            case = case_of(flows, arguments.cc)
            aqms = [aqm for aqm in wanted if aqm in case.specs]
            if not aqms:
                continue
            ours = run_aqmlab(case, aqms, arguments.seeds)
            runs = {
                aqm: [pool.submit(run_ns3, program, case, aqm, seed) for seed in range(1, arguments.seeds + 1)]
                for aqm in aqms
            }
            print("ns-3:   ", json.dumps(runs[aqms[0]][0].result()["parameters"]))
            print("aqmlab: ", json.dumps(ours["scenario"]))
            print("\nmeans over", arguments.seeds, "seeds, ± two standard errors")
            print(HEADING)
            own_by_aqm: dict[str, list[Metrics]] = {}
            for run in ours["runs"]:
                own_by_aqm.setdefault(run["aqm"], []).append(run["metrics"])
            # aqmlab answers in the order of its --aqm options.
            for aqm, own in zip(aqms, own_by_aqm.values(), strict=True):
                theirs = [future.result()["metrics"] for future in runs[aqm]]
                for name in case.metrics:
                    print(row(aqm, flows, name, theirs, own), flush=True)
                    outside += verdict(name, theirs, own) == "DIFFERS"
    print(f"\n{outside} differences are larger than allowed" if outside else "\nall differences are allowed")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
