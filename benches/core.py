"""Speed of the disciplines: time and instructions per packet, printed and written to a file.

    python benches/core.py [--quick] [--check] [--out results/bench/core.json]

Times depend on the machine, so each is given beside that of a push and a pop of the same record on a plain ring,
measured in the same run. Instructions per packet are counted by callgrind, as the difference of two runs; they do not
depend on other load of the machine. `--check` fails if a discipline takes more than its allowed multiple of the ring.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
RING = "plain_ring"
# Time per packet as a multiple of the ring's, with an uncongested queue. A discipline not named here may take as much
# as the slowest. There is no bound for a congested queue: dropped packets cost time as well.
ALLOWED = {
    "fifo": 3.0,
    "red": 6.0,
    "ared": 6.0,
    "feng_ared": 6.0,
    "nlred": 6.0,
    "wred": 6.0,
    "choke": 6.0,
    "blue": 6.0,
    "rem": 6.0,
    "pi": 6.0,
    "dctcp_step": 6.0,
    "ecn_ramp": 6.0,
    "codel": 6.0,
    "cobalt": 6.0,
    "pie": 6.0,
    "docsis_pie": 6.0,
    "pi2": 6.0,
    "dualpi2": 16.0,
    "tcn": 6.0,
    "pfifo_fast": 6.0,
    "fq_codel": 14.0,
    "fq_cobalt": 16.0,
    "fq_pie": 16.0,
    "cake": 32.0,
    "sfb": 16.0,
    "afd": 6.0,
    "sfq": 14.0,
    "pifo": 14.0,
    "sp_pifo": 14.0,
    "aifo": 14.0,
    "s-pie": 14.0,
    "sp": 14.0,
    "prio": 14.0,
    "ets": 14.0,
    "rr": 14.0,
    "wrr": 14.0,
    "drr": 14.0,
    "wfq": 14.0,
    "qfq": 14.0,
    "mq_ecn": 14.0,
}
FEW, MANY = 2_000, 12_000
# An update and a query of a sketch of this many counters are separate: no packet, no ring.
SKETCH = "1024x4"

Figures = dict[str, dict[str, dict[str, float]]]


def run(*words: str | Path) -> str:
    """Return the standard output of a command that must succeed."""
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, words))}")
    return done.stdout


def measure_time(quick: bool) -> dict[tuple[str, str], float]:
    """Nanoseconds per packet of each discipline under each load: criterion's median."""
    shutil.rmtree(TARGET / "criterion", ignore_errors=True)
    options = ["--quick"] if quick else []
    run(
        "cargo",
        "bench",
        "--quiet",
        "--locked",
        "--package",
        "aqm-bench",
        "--bench",
        "disciplines",
        "--",
        *options,
    )
    times = {}
    for path in sorted((TARGET / "criterion").glob("**/new/benchmark.json")):
        name, _, load = json.loads(path.read_text())["full_id"].split("/")
        estimates = json.loads((path.parent / "estimates.json").read_text())
        times[name, load] = estimates["median"]["point_estimate"]
    if not times:
        sys.exit(f"the benchmark left no figures in {TARGET / 'criterion'}")
    return times


def count_instructions(name: str, load: str) -> tuple[float, dict[str, int]]:
    """Instructions per packet, and the sizes that the program prints."""
    program = TARGET / "release" / "examples" / "steady"
    counts, sizes = [], {}
    for steps in (FEW, MANY):
        with tempfile.NamedTemporaryFile() as out:
            tool = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out.name}"]
            words = run(*tool, program, name, load, str(steps)).split()
            sizes = dict(zip(words[::2], map(int, words[1::2]), strict=True))
            total = re.search(r"^(?:summary|totals): (\d+)", Path(out.name).read_text(), re.MULTILINE)
            if total is None:
                sys.exit("callgrind counted nothing")
            counts.append(int(total.group(1)))
    return (counts[1] - counts[0]) / (MANY - FEW), sizes


def gather(times: dict[tuple[str, str], float]) -> Figures:
    """Every figure, by discipline and load."""
    figures: Figures = {}
    counts = shutil.which("valgrind") is not None
    if counts:
        run(
            "cargo",
            "build",
            "--quiet",
            "--locked",
            "--release",
            "--package",
            "aqm-core",
            "--example",
            "steady",
        )
    else:
        print("valgrind is not installed: instructions are not counted", file=sys.stderr)
    for (name, load), ns in times.items():
        figure = {"ns": round(ns, 2), "multiple": round(ns / times[RING, load], 2)}
        if name != RING and load != "congested":
            figure["allowed_multiple"] = ALLOWED.get(name, max(ALLOWED.values()))
        if counts:
            instructions, sizes = count_instructions(name, load)
            figure |= {"instructions": round(instructions, 1), **sizes}
        figures.setdefault(name, {})[load] = figure
    return figures


def table(figures: Figures) -> str:
    """Align the figures."""
    head = ["discipline", "load", "ns", "x ring", "allowed", "instructions", "state bytes", "per flow"]
    rows = [head]
    for name in sorted(figures, key=lambda name: (name != RING, figures[name]["1_flow"]["multiple"])):
        for load, figure in figures[name].items():
            row = [name, load, f"{figure['ns']:.1f}", f"{figure['multiple']:.1f}"]
            row.append(f"{figure['allowed_multiple']:.0f}" if "allowed_multiple" in figure else "")
            row.append(f"{figure['instructions']:.0f}" if "instructions" in figure else "")
            row += [str(figure.get(key, "")) for key in ("state_bytes", "flow_state_bytes")]
            rows.append(row)
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = []
    for row in rows:
        words = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        numbers = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join(words + numbers).rstrip())
    return "\n".join(lines)


def slow(figures: Figures) -> list[str]:
    """Disciplines that exceed their bounds, in words."""
    return [
        f"{name}, {load}: {figure['multiple']} times the ring, allowed are {figure['allowed_multiple']:.0f}"
        for name, loads in figures.items()
        for load, figure in loads.items()
        if figure["multiple"] > figure.get("allowed_multiple", float("inf"))
    ]


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--check", action="store_true", help="fail if a discipline is slower than allowed")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench" / "core.json")
    options = parser.parse_args()
    times = measure_time(options.quick)
    sketches = {kind: round(times.pop((kind, size)), 2) for kind, size in list(times) if size == SKETCH}
    figures = gather(times)
    print(table(figures))
    for kind, ns in sketches.items():
        print(f"{kind}: an update and a query of {SKETCH} counters take {ns:.1f} ns")
    too_slow = slow(figures)
    for line in too_slow:
        print(line, file=sys.stderr)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    written = {
        "format_version": 1,
        "machine": f"{platform.machine()} {platform.system()}",
        "disciplines": figures,
        "sketches": sketches,
    }
    partial = options.out.with_suffix(".partial")
    partial.write_text(json.dumps(written, indent=1) + "\n")
    partial.replace(options.out)
    print(f"written to {options.out}")
    return 1 if options.check and too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
