#!/usr/bin/env python3
"""Compare aqmlab with the Linux kernel: the same points in both engines, one table and one figure.

    validate/linux/compare.py [POINT|SET ...] [--profiles rfc,linux] [--seeds N] [--kernel N] [--write]

`points.csv` has the points and their sets; without a name all are compared. `kernel.csv` has what the kernel gave at
each of them, so that no kernel is needed; `--kernel N` runs those that have fewer than N seeds there, and adds them.
Each profile of aqmlab is a column. Random numbers differ between the two engines, so only means over seeds can agree.
`--write` puts the table into README.md. Exit status 1 if the last profile differs by more than is allowed somewhere.
"""

import argparse
import csv
import math
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aqmlab
from aqmlab.engine.linux import kernel_image
from aqmlab.plots import style
from aqmlab.plots.label_styles import label_styles
from aqmlab.vocabulary.errors import InputError

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import splice_tables

HERE = Path(__file__).resolve().parent
POINTS, KERNEL, README = HERE / "points.csv", HERE / "kernel.csv", HERE / "README.md"
FIGURE = HERE.parents[1] / "results/validate-linux.svg"
# Flows begin one second into a run: by then the timers of disciplines are not in step with it. The kernel's senders are
# not held back by a wire of their own.
COMMON = {"duration": "31s", "warmup": "6s", "access_rate": "10gbit", "buffer": "1000p"}
START = "start=1s..2s"
# With ECN the loss is that of connections that lost their SYN (one in hundreds), or of a start: many runs have none.
MORE_SEEDS = 5


@dataclass(frozen=True)
class Metric:
    """What is compared: how much it may differ, relative to the kernel's, and what is too small to count."""

    word: str
    unit: str
    allowed: float
    negligible: float = 0.0
    scale: float = 1.0


# Smaller differences do not count: one loss or mark in ten thousand packets.
METRICS = {
    "goodput": Metric("goodput", "Mbit/s", 0.05),
    "delay": Metric("queue delay", "ms", 0.15),
    "loss": Metric("loss", "%", 0.25, 1e-4, 100.0),
    "marks": Metric("marks", "%", 0.25, 1e-4, 100.0),
}

Values = dict[str, list[float]]


@dataclass(frozen=True)
class Point:
    """One discipline under one load."""

    id: str
    set: str
    aqm: str
    flows: str
    rate: str
    rtt: str

    @property
    def metrics(self) -> list[str]:
        """Those that are compared: marks only where there may be some."""
        return [name for name in METRICS if name != "marks" or "ecn=" in self.flows]

    @property
    def link(self) -> str:
        """The rate that limits, and the round-trip time."""
        words = self.aqm.split()
        rate = words[words.index("bandwidth") + 1] if "bandwidth" in words else self.rate
        return f"{rate.removesuffix('bit')} {self.rtt}"

    def profiles(self, profiles: Sequence[str], seeds: int, jobs: int) -> dict[str, Values]:
        """Run it with each profile."""
        needed = seeds * (MORE_SEEDS if "marks" in self.metrics else 1)
        return {profile: self.run(profile, needed, jobs, "native") for profile in profiles}

    def run(self, profile: str, seeds: int, jobs: int, engine: str) -> Values:
        """Run it: metric to values, one for each seed."""
        flows = ":".join([self.flows, *([f"profile={profile}"] if profile else []), START])
        options: dict[str, Any] = {"aqm": self.aqm, "flows": [flows], "rate": self.rate, "rtt": self.rtt, **COMMON}
        runs = aqmlab.compare(**options, seeds=seeds, jobs=jobs, engine=engine).runs
        return {
            "goodput": runs["goodput_mbit"].to_list(),
            "delay": runs["qdelay_mean_ms"].to_list(),
            "loss": runs["loss_ratio"].to_list(),
            "marks": (runs["marks"] / runs["packets_arrived"]).to_list(),
        }


@dataclass(frozen=True)
class Cell:
    """A point with what the kernel gave, and each profile."""

    point: Point
    kernel: Values
    profiles: dict[str, Values]

    def difference(self, profile: str, name: str) -> float:
        """Relative to the kernel's mean; infinite if only the kernel has nothing."""
        theirs, own = (statistics.fmean(values[name]) for values in (self.kernel, self.profiles[profile]))
        if theirs == own:
            return 0.0
        return own / theirs - 1 if theirs else math.inf

    def fits(self, profile: str, name: str) -> bool:
        """Whether a mean differs by no more than is allowed."""
        theirs, own = (statistics.fmean(values[name]) for values in (self.kernel, self.profiles[profile]))
        return abs(own - theirs) <= max(METRICS[name].allowed * theirs, METRICS[name].negligible)

    def outside(self, profile: str) -> list[str]:
        """The metrics that do not fit."""
        return [name for name in self.point.metrics if not self.fits(profile, name)]


def read_points(names: Sequence[str]) -> list[Point]:
    """Read the points with these names, or in these sets; all without names."""
    with POINTS.open(newline="") as file:
        points = [Point(**row) for row in csv.DictReader(file)]
    known = {name for point in points for name in (point.id, point.set)}
    if unknown := set(names) - known:
        raise InputError(f"{sorted(unknown)[0]}: no point and no set of {POINTS.name}")
    return [point for point in points if not names or point.id in names or point.set in names]


def read_kernel() -> dict[str, Values]:
    """Read what the kernel gave: point to values."""
    found: dict[str, Values] = {}
    if KERNEL.exists():
        with KERNEL.open(newline="") as file:
            for row in csv.DictReader(file):
                values = found.setdefault(row["point"], {name: [] for name in METRICS})
                for name in METRICS:
                    values[name].append(float(row[name]))
    return found


def run_kernel(points: Sequence[Point], seeds: int, jobs: int) -> None:
    """Run the points that have fewer seeds; what is finished is kept if it is interrupted."""
    known = read_kernel()
    if not KERNEL.exists():
        KERNEL.write_text(",".join(["point", "seed", *METRICS, "kernel"]) + "\n")
    release = kernel_image.found().release
    for point in points:
        since = len(known[point.id]["loss"]) if point.id in known else 0
        if since >= seeds:
            continue
        values = point.run("", seeds, jobs, "linux")
        with KERNEL.open("a") as file:
            for seed in range(since, seeds):
                numbers = [f"{values[name][seed]:.6g}" for name in METRICS]
                file.write(",".join([point.id, str(seed + 1), *numbers, release]) + "\n")
        print(f"{point.id}: run in the kernel", file=sys.stderr, flush=True)


def error(values: Sequence[float]) -> float:
    """Two standard errors of the mean."""
    return 2 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def table(cells: Sequence[Cell], profiles: Sequence[str]) -> str:
    """Return the comparison as a Markdown table, which is readable as text: a line for each point."""
    units = [f"{metric.word} {metric.unit}" for metric in METRICS.values()]
    lines = [["point", "qdisc", "flows", "link", *units, *(f"`profile={profile}`" for profile in profiles)]]
    for cell in cells:
        point = cell.point
        kernel = [
            f"{statistics.fmean(cell.kernel[name]) * metric.scale:.3g} ± {error(cell.kernel[name]) * metric.scale:.1g}"
            if name in point.metrics
            else ""
            for name, metric in METRICS.items()
        ]
        flows = point.flows.replace(":ecn=classic", " ecn")
        lines.append([point.id, point.aqm.split()[0].split(":")[0], flows, point.link, *kernel])
        lines[-1] += [", ".join(_difference(cell, profile, name) for name in point.metrics) for profile in profiles]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rows = [
        "| " + " | ".join(f"{text:{width}}" for text, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    rows.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(rows)


def _difference(cell: Cell, profile: str, name: str) -> str:
    share = cell.difference(profile, name)
    text = "from 0" if math.isinf(share) else f"{100 * share:+.0f}"
    return text if cell.fits(profile, name) else f"**{text}**"


def counts(cells: Sequence[Cell], profiles: Sequence[str]) -> str:
    """Return how many values fit, by set and profile."""
    sets = list(dict.fromkeys(cell.point.set for cell in cells))
    lines = ["| set | points |" + "".join(f" `profile={profile}` |" for profile in profiles)]
    lines.append("|---|---|" + "---|" * len(profiles))
    for name in [*sets, *(["all"] if len(sets) > 1 else [])]:
        members = [cell for cell in cells if name in (cell.point.set, "all")]
        values = sum(len(cell.point.metrics) for cell in members)
        row = f"| {name} | {len(members)} |"
        for profile in profiles:
            fit = values - sum(len(cell.outside(profile)) for cell in members)
            row += f" {fit} of {values} ({100 * fit // values} %) |"
        lines.append(row)
    return "\n".join(lines)


def seeds(points: Sequence[Point], kernel: Mapping[str, Values]) -> str:
    """Return how many seeds of the kernel which points have."""
    by_count: dict[int, list[str]] = {}
    for point in points:
        by_count.setdefault(len(kernel[point.id]["loss"]), []).append(point.id)
    lines = ["| seeds of the kernel | points |", "|---|---|"]
    usual = max(by_count, key=lambda count: len(by_count[count]))
    for count, names in sorted(by_count.items()):
        lines.append(f"| {count} | {'the others' if count == usual else ', '.join(names)} |")
    return "\n".join(lines)


def figure(cells: Sequence[Cell], profiles: Sequence[str]) -> str:
    """Return the figure as SVG: each profile over the kernel at each point, with the allowed range as a band."""
    canvas, axes = style.below(len(METRICS), 9.0)
    known = label_styles(list(profiles))
    for axis, (name, metric) in zip(axes, METRICS.items(), strict=True):
        axis.axhspan(1 - metric.allowed, 1 + metric.allowed, color="#d8dee4", linewidth=0)
        axis.axhline(1, color=style.FAINT, linewidth=0.8)
        for profile in profiles:
            ratios = [
                1 + cell.difference(profile, name)
                if name in cell.point.metrics and any(cell.kernel[name])
                else math.nan
                for cell in cells
            ]
            look = known[profile]
            axis.plot(
                ratios, linestyle="", marker=look.marker, markersize=4, color=look.colour, label=f"profile={profile}"
            )
        axis.set_ylabel(f"{metric.word}\naqmlab / Linux")
    axes[-1].set_xticks(range(len(cells)), [cell.point.id for cell in cells], rotation=90, fontsize=6.5)
    style.legend(canvas, axes)
    style.caption(canvas, "Band: what may differ.")
    return style.svg(canvas, "validate-linux")


SEEDS = ("<!-- seeds: written by validate/linux/compare.py --write -->", "<!-- end of seeds -->")


def write(parts: Iterable[str], of_seeds: str = "") -> None:
    """Put what was computed into README.md, between its marks."""
    lines = "\n\n".join(parts)
    page = splice_tables.replaced(README.read_text(), "<!-- computed -->", "<!-- end -->", f"\n{lines}\n")
    README.write_text(splice_tables.replaced(page, *SEEDS, of_seeds) if of_seeds else page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="POINT|SET")
    parser.add_argument("--profiles", default="rfc,linux")
    parser.add_argument("--seeds", type=int, default=32, help=f"of aqmlab; {MORE_SEEDS} times as many with ECN")
    parser.add_argument("--kernel", type=int, default=0, metavar="N", help="run points with fewer seeds in the kernel")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    arguments = parser.parse_args()
    profiles = arguments.profiles.split(",")
    try:
        points = read_points(arguments.names)
        if arguments.kernel:
            run_kernel(points, arguments.kernel, arguments.jobs)
        kernel = read_kernel()
        known = [one for one in points if one.id in kernel]
        cells = [Cell(one, kernel[one.id], one.profiles(profiles, arguments.seeds, arguments.jobs)) for one in known]
    except InputError as problem:
        print(f"compare.py: {problem}", file=sys.stderr)
        return 2
    if len(cells) < len(points):
        print(f"not yet run in the kernel: {', '.join(one.id for one in points if one.id not in kernel)}")
    if not cells:
        return 2
    parts = [counts(cells, profiles), table(cells, profiles)]
    if arguments.write:
        write(parts, seeds(read_points([]), kernel))
    print("\n\n".join(reversed(parts)) + "\n")
    for profile in profiles:
        names = [f"{cell.point.id} {' and '.join(bad)}" for cell in cells if (bad := cell.outside(profile))]
        print(f"profile={profile} outside: {', '.join(names) or 'none'}")
    FIGURE.parent.mkdir(exist_ok=True)
    FIGURE.write_text(figure(cells, profiles))
    print(f"figure: {FIGURE}")
    return 1 if any(cell.outside(profiles[-1]) for cell in cells) else 0


if __name__ == "__main__":
    sys.exit(main())
