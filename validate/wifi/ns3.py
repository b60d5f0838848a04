"""ns-3's side of the points: builds `wifi.cc` against the wheel of ns-3, runs it, and keeps what it gave.

The wheel is `ns3==3.44.post0`, installed without what it depends on (its Python bindings are not needed):

    python3 -m venv /tmp/ns3 && /tmp/ns3/bin/pip install --no-deps ns3==3.44.post0
    NS3_WHEEL=/tmp/ns3/lib/python3.11/site-packages/ns3 validate/wifi/compare.py --ns3 10
"""

import csv
import importlib.util
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from points import DSCP, HERE, Point

VERSION = "3.44"
RESULTS = HERE / "results/ns3.csv"
HEADER = ("point", "seed", "metric", "value", "version")
LIBRARIES = ("core", "network", "internet", "applications", "mobility", "point-to-point", "traffic-control", "wifi")

# By point, seed and metric.
Stored = dict[str, dict[int, dict[str, float]]]


def stored() -> Stored:
    """Return what was stored."""
    found: Stored = {}
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                seeds = found.setdefault(row["point"], {})
                seeds.setdefault(int(row["seed"]), {})[row["metric"]] = float(row["value"])
    return found


def wheel() -> Path | str:
    """Return the folder of the wheel, or why there is none."""
    named = os.environ.get("NS3_WHEEL")
    if named is None:
        spec = importlib.util.find_spec("ns3")
        if spec is None or not spec.submodule_search_locations:
            return "ns-3 is not installed: pip install --no-deps ns3==3.44.post0, or set NS3_WHEEL"
        named = next(iter(spec.submodule_search_locations))
    folder = Path(named)
    if not (folder / f"lib64/libns{VERSION}-wifi.so").exists():
        return f"{folder} has no ns-{VERSION} with Wi-Fi"
    return folder


def build(folder: Path, into: Path) -> Path:
    """Compile `wifi.cc`.

    Raises:
        RuntimeError: with what the compiler says.

    """
    program = into / "wifi"
    libraries = folder / "lib64"
    command = ["g++", "-std=c++20", "-O2", f"-I{folder / 'include'}", str(HERE / "wifi.cc"), "-o", str(program)]
    command += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", *(f"-lns{VERSION}-{name}" for name in LIBRARIES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"wifi.cc does not build\n{done.stderr}")
    return program


def arguments(point: Point, seed: int) -> list[str]:
    """Return the options of `wifi.cc` that make a point."""
    flows = []
    for flow in point.flows:
        offered = [] if flow.mbit is None else [f"{flow.mbit:g}"]
        flows.append(
            ":".join([f"{flow.kind}/{_tos(flow.category)}", flow.direction, *offered, *map(str, flow.stations)])
        )
    line_mbit = {"1gbit": "1000"}[point.line]
    return [
        *(f"--modes={','.join(point.stations)}", f"--flows={','.join(flows)}", f"--queue={point.queue}"),
        *(
            f"--line={line_mbit}",
            f"--rtt={point.rtt_ms:g}",
            f"--fifo={point.fifo_packets}",
            f"--mac={point.mac_packets}",
        ),
        *(f"--warmup={point.warmup_s:g}", f"--duration={point.duration_s:g}"),
        *(f"--ping={int(point.ping)}", f"--pingtos={_tos(point.ping_category)}"),
        *(f"--sack={int(point.sack)}", f"--agreed={int(point.agreed)}", f"--seed={seed}"),
    ]


def _tos(category: str) -> int:
    """Return the octet of IPv4's header that has the code point."""
    return DSCP[category] << 2


def missing(points: list[Point], seeds: int) -> Iterator[tuple[Point, int]]:
    """Return what has not been run yet, seed by seed."""
    known = stored()
    for seed in range(1, seeds + 1):
        yield from ((point, seed) for point in points if seed not in known.get(point.id, {}))


def run(folder: Path, points: list[Point], seeds: int) -> None:
    """Run what is missing, and store each run as soon as it has ended.

    Raises:
        RuntimeError: if it does not build or run.

    """
    RESULTS.parent.mkdir(exist_ok=True)
    if not RESULTS.exists():
        RESULTS.write_text(",".join(HEADER) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as into:
        program = build(folder, Path(into))
        for point, seed in missing(points, seeds):
            done = subprocess.run([str(program), *arguments(point, seed)], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{point.id}, seed {seed}: {done.stderr.strip()}")
            with RESULTS.open("a", encoding="utf-8", newline="") as stream:
                rows = (
                    (point.id, seed, name, f"{value:.6g}", VERSION) for name, value in json.loads(done.stdout).items()
                )
                csv.writer(stream, lineterminator="\n").writerows(rows)
            print(f"ns-3: {point.id}, seed {seed}", flush=True)
