#!/usr/bin/env python3
"""Compare aqmlab with the Linux kernel: the same experiment files in both engines, one table and one figure.

    validate/linux/compare.py [FILE ...] [--seeds N] [--jobs N] [--out NAME]

Without a FILE the core set is run: 24 cells of core/*.toml. `full/*.toml` is the whole matrix. Results are kept and
reused. Exit status 1 if a difference is larger than allowed. Random numbers differ between the two, so only means over
seeds can agree: if two standard errors of both could explain a larger difference, the table says "scatter" and it does
not count.
"""

import argparse
import json
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aqmlab
from aqmlab.plots import style
from aqmlab.plots.label_styles import label_styles
from aqmlab.vocabulary.errors import InputError

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "results/validate-linux"
# Allowed differences, relative to the kernel.
ALLOWED = {"goodput_mbit": 0.05, "qdelay_mean_ms": 0.15, "loss_ratio": 0.25}
# Smaller differences do not count: one loss in ten thousand packets.
NEGLIGIBLE = {"loss_ratio": 1e-4}
SHORT = {"goodput_mbit": "goodput Mbit/s", "qdelay_mean_ms": "queue delay ms", "loss_ratio": "loss %"}
SCALE = {"loss_ratio": 100.0}
TITLES = {"goodput_mbit": "goodput", "qdelay_mean_ms": "mean queue delay", "loss_ratio": "loss ratio"}

Values = dict[str, list[float]]


@dataclass(frozen=True)
class Cell:
    """One qdisc under one load: metric to values, one per seed."""

    aqm: str
    flows: str
    link: str
    kernel: Values
    simulator: Values

    @property
    def name(self) -> str:
        return f"{self.aqm} {self.flows} {self.link}"


def collect(files: Sequence[Path], seeds: int, jobs: int) -> list[Cell]:
    """Run all files in both engines."""
    cells = []
    for file in files:
        documents = {}
        for engine, count in (("linux", seeds), ("native", 2 * seeds)):
            out = RESULTS / f"{file.stem}.{engine}"
            documents[engine] = aqmlab.run(file, seeds=count, jobs=jobs, engine=engine, out=out).document()
        kernel, own = (_by_cell(document) for document in documents.values())
        echoes = _scenarios(documents["native"])
        for (point, label), values in own.items():
            echo = echoes[point]
            flows = " + ".join(text.split()[0] for text in echo["flows"])
            link = f"{echo['rate'].removesuffix('bit')} {echo['rtt']}"
            cells.append(Cell(label.split(":")[0].split()[0], flows, link, kernel[point, label], values))
    return cells


def _scenarios(document: dict[str, Any]) -> dict[str, Any]:
    sweep = document["scenario"].get("sweep") or [{"point": {}, "scenario": document["scenario"]}]
    return {json.dumps(one["point"]): one["scenario"] for one in sweep}


def _by_cell(document: dict[str, Any]) -> dict[tuple[str, str], Values]:
    cells: dict[tuple[str, str], Values] = {}
    for one in document["runs"]:
        values = cells.setdefault((json.dumps(one.get("point", {})), one["aqm"]), {name: [] for name in ALLOWED})
        for name in ALLOWED:
            values[name].append(one["metrics"][name])
    return cells


def error(values: Sequence[float]) -> float:
    """Two standard errors of the mean."""
    return 2 * statistics.stdev(values) / math.sqrt(len(values))


def difference(theirs: Sequence[float], own: Sequence[float]) -> float:
    """Relative to the kernel's mean."""
    reference = statistics.fmean(theirs)
    return (statistics.fmean(own) - reference) / reference if reference else math.nan


def percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:+.1f} %"


def verdict(name: str, theirs: Sequence[float], own: Sequence[float]) -> str:
    """Compare two means: '', 'scatter' or 'DIFFERS'."""
    gap = abs(statistics.fmean(own) - statistics.fmean(theirs))
    allowed = ALLOWED[name] * statistics.fmean(theirs)
    if gap <= max(allowed, NEGLIGIBLE.get(name, 0)):
        return ""
    return "scatter" if gap - math.hypot(error(theirs), error(own)) <= allowed else "DIFFERS"


def table(cells: Sequence[Cell]) -> str:
    """Return the comparison as a Markdown table, which is readable as text."""
    header = ["qdisc", "flows", "link", "metric", "Linux", "aqmlab", "difference", "verdict"]
    lines = [header]
    for cell in cells:
        for place, name in enumerate(ALLOWED):
            scale = SCALE.get(name, 1.0)

            def text(values: Sequence[float], scale: float = scale) -> str:
                return f"{statistics.fmean(values) * scale:.4g} ± {error(values) * scale:.2g}"

            theirs, own = cell.kernel[name], cell.simulator[name]
            front = [cell.aqm, cell.flows, cell.link] if place == 0 else ["", "", ""]
            gap = percent(difference(theirs, own))
            lines.append([*front, SHORT[name], text(theirs), text(own), gap, verdict(name, theirs, own)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    rows = [
        "| " + " | ".join(f"{text:{width}}" for text, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    rows.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(rows)


def figure(cells: Sequence[Cell]) -> str:
    """Return the figure as SVG: simulator over kernel per cell, with the allowed range as a band."""
    canvas, axes = style.below(len(ALLOWED), 8.0)
    known = label_styles(list(dict.fromkeys(cell.aqm for cell in cells)))
    for axis, (name, allowed) in zip(axes, ALLOWED.items(), strict=True):
        axis.axhspan(1 - allowed, 1 + allowed, color="#d8dee4", linewidth=0)
        axis.axhline(1, color=style.FAINT, linewidth=0.8)
        seen = set()
        for x, cell in enumerate(cells):
            theirs, own = cell.kernel[name], cell.simulator[name]
            reference = statistics.fmean(theirs)
            if reference == 0:
                continue
            label = None if cell.aqm in seen else cell.aqm
            seen.add(cell.aqm)
            axis.errorbar(
                x,
                statistics.fmean(own) / reference,
                yerr=math.hypot(error(theirs), error(own)) / reference,
                fmt=known[cell.aqm].marker,
                markersize=4,
                color=known[cell.aqm].colour,
                elinewidth=0.9,
                label=label,
            )
        axis.set_ylabel(f"{TITLES[name]}\naqmlab / Linux")
    axes[-1].set_xticks(range(len(cells)), [cell.name for cell in cells], rotation=90, fontsize=6.5)
    style.legend(canvas, axes)
    style.caption(canvas, "Bars: two standard errors of both. Band: what may differ.")
    return style.svg(canvas, "validate-linux")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=sorted(HERE.glob("core/*.toml")))
    parser.add_argument("--seeds", type=int, default=5, help="of the kernel; the simulator has twice as many")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="core", help="name of the table and the figure in results/validate-linux")
    arguments = parser.parse_args()
    if arguments.seeds < 2:
        parser.error("--seeds must be at least 2: one run has no scatter")
    try:
        cells = collect(arguments.files, arguments.seeds, arguments.jobs)
    except InputError as problem:
        print(f"compare.py: {problem}", file=sys.stderr)
        return 2
    text = table(cells)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{arguments.out}.md").write_text(text + "\n")
    (RESULTS / f"{arguments.out}.svg").write_text(figure(cells))
    print(
        f"means over {arguments.seeds} seeds of the kernel and {2 * arguments.seeds} of aqmlab, ± two standard errors"
    )
    print(f"\n{text}\n")
    pairs = [verdict(name, cell.kernel[name], cell.simulator[name]) for cell in cells for name in ALLOWED]
    outside = pairs.count("DIFFERS")
    scatter = pairs.count("scatter")
    print(f"{len(cells)} cells, {len(pairs)} values: {outside} differ by more than allowed; {scatter} maybe by scatter")
    print(f"figure: {RESULTS / arguments.out}.svg")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
