#!/usr/bin/env python3
"""Compare the live link with the simulator and with a Linux kernel in virtual time: the same cells in all three.

    validate/live/compare.py [--cells N] [--seeds 3] [--duration 10s] [--warmup 3s] [--only live,simulated,kernel]
                             [--flows 1,4] [--rates 10mbit] [--rtts 20ms] [--cc reno] [--dry] [--write]

1, 4 and 16 Reno and CUBIC transfers and fifty pings a second, 10 and 50 Mbit/s, 20 and 80 ms, under five disciplines;
the kernel has no S-PIE. `live.csv`, `simulated.csv` and `kernel.csv` have a line for each run: what is there is not run
again, but for runs of another build of the simulator; an interrupt loses the run that it meets. `--cells N` runs N
cells (with all seeds) that are not finished; `--dry` says how long that takes. What has no place here is left out with
a reason: no namespaces, no kernel, no such congestion control. `--write` draws `live.svg` and puts what was computed
into README.md; alone it takes seconds.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import os
import platform
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any

import aqmlab
from aqmlab import engine
from aqmlab.engine.linux import kernel_image
from aqmlab.files import disk
from aqmlab.live import comparing
from aqmlab.live.directions import lines
from aqmlab.live.link_json import lateness_ms
from aqmlab.plots import style
from aqmlab.plots.label_styles import label_styles
from aqmlab.stats import statistics as stats
from aqmlab.vocabulary.errors import InputError, MachineError
from aqmlab.vocabulary.units import parse_span

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import splice_tables

HERE = Path(__file__).resolve().parent
README, FIGURE = HERE / "README.md", HERE / "live.svg"
SIDES = ("live", "simulated", "kernel")
CONTROLS = {"reno": "newreno", "cubic": "cubic"}
# Each as the kernel has it, where it has it.
AQMS = ("fifo", "codel:linux", "pie:linux", "fq_codel:linux", "s-pie")
OURS_ALONE = "s-pie"
# As `comparing.PING_S` has them: 8 bytes in UDP and IP, fifty a second.
PINGS = "1*cbr:name=pings:rate=14400bit:packet=36b"
# Processor time or waiting of a live run beside what it measures, and of a packet in the kernel (engine linux).
LIVE_S, START_S, PACKET_S = 1.5, 0.6, 0.00016


@dataclass(frozen=True)
class Measure:
    """What is compared: how much means may differ, relative to the larger, and what nobody would notice."""

    word: str
    unit: str
    allowed: float
    unnoticed: float
    scale: float = 1.0


# Allowed as in validate/linux, and unnoticed as in validate/stacks: chosen before the first run.
MEASURES = {
    "goodput": Measure("goodput", "Mbit/s", 0.05, 0.1),
    "delay": Measure("queue delay", "ms", 0.15, 1.0),
    "loss": Measure("loss", "%", 0.25, 0.001, 100.0),
}


@dataclass(frozen=True)
class Cell:
    """A discipline under a load."""

    cc: str
    flows: int
    rate: str
    rtt: str
    aqm: str

    @property
    def name(self) -> str:
        """What it is called in the figure and in sentences."""
        return f"{self.flows} {self.cc}, {self.rate.removesuffix('bit')}, {self.rtt}, {self.aqm.split(':')[0]}"


@dataclass(frozen=True)
class Row:
    """A run: its cell and seed, what it gave, and where; how late a link's packets left at the 99th percentile."""

    cc: str
    flows: int
    rate: str
    rtt: str
    aqm: str
    seed: int
    warmup: str
    duration: str
    goodput: float
    delay: float
    loss: float
    made_by: str
    late_ms: float
    load: float

    @property
    def cell(self) -> Cell:
        """Its cell."""
        return Cell(self.cc, self.flows, self.rate, self.rtt, self.aqm)


# The largest ratio that the figure shows.
SHOWN = {"goodput": 1.25, "delay": 2.0, "loss": 4.0}
Rows = dict[tuple[Cell, int], Row]
# What a run is comes before what it gave.
MEASURED_FROM = [field.name for field in fields(Row)].index(next(iter(MEASURES)))


def read(side: str, options: argparse.Namespace) -> Rows:
    """Read what is kept of a side, of runs as long as is asked for."""
    path = HERE / f"{side}.csv"
    if not path.exists():
        return {}
    kinds = {"flows": int, "seed": int, **dict.fromkeys(("goodput", "delay", "loss", "late_ms", "load"), float)}
    with path.open(newline="") as file:
        rows = [Row(**{name: kinds.get(name, str)(text) for name, text in row.items()}) for row in csv.DictReader(file)]
    asked = (options.warmup, options.duration)
    return {(row.cell, row.seed): row for row in rows if (row.warmup, row.duration) == asked}


def keep(side: str, row: Row) -> None:
    """Add a run to what is kept, in place of the same by another build."""
    path = HERE / f"{side}.csv"
    lines = path.read_text().splitlines() if path.exists() else [",".join(field.name for field in fields(Row))]
    texts = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in astuple(row)]
    same = ",".join([*texts[:MEASURED_FROM], ""])
    lines = [*(line for line in lines if not line.startswith(same)), ",".join(texts)]
    disk.put_all(HERE, {path.name: "".join(f"{line}\n" for line in lines).encode()})


def live(cell: Cell, seed: int, options: argparse.Namespace) -> Row:
    """Run a cell between namespaces."""
    both = lines({"rtt": cell.rtt, "aqm": cell.aqm}, {name: {"rate": cell.rate} for name in ("down", "up")})
    duration, warmup = (parse_span(text) / 1e9 for text in (options.duration, options.warmup))
    traffic = comparing.Traffic(cell.flows, 0, duration, warmup)
    load = os.getloadavg()[0]
    (ran,) = comparing.compare({cell.aqm: both}, traffic, [seed], cell.cc).runs
    metrics, late = ran.done.report.metrics, lateness_ms(ran.carried.report["down"]["lateness_ms"])
    values = [metrics[name] for name in ("goodput_mbit", "qdelay_mean_ms", "loss_ratio")]
    return _row(cell, seed, options, values, platform.release(), late["p99"] if late else math.nan, load)


def simulated(cell: Cell, seed: int, options: argparse.Namespace) -> Row:
    """Run a cell in the simulator."""
    return _compared(cell, seed, options, "native", build())


def build() -> str:
    """Return what the simulator is: its version, and the hash of its sources."""
    return f"aqmlab {engine.find(engine.DEFAULT).version}"


def kernel(cell: Cell, seed: int, options: argparse.Namespace) -> Row:
    """Run a cell in the kernel in virtual time."""
    return _compared(cell, seed, options, "linux", kernel_image.found().release)


def _compared(cell: Cell, seed: int, options: argparse.Namespace, engine: str, made_by: str) -> Row:
    whole_ns = parse_span(options.duration) + parse_span(options.warmup)
    runs = aqmlab.compare(
        rate=cell.rate,
        rtt=cell.rtt,
        aqm=cell.aqm,
        flows=flows(cell),
        duration=f"{whole_ns}ns",
        warmup=options.warmup,
        first_seed=seed,
        seeds=1,
        engine=engine,
    ).runs
    names = ("class.transfers.goodput_mbit", "qdelay_mean_ms", "loss_ratio")
    return _row(cell, seed, options, [float(runs[name][0]) for name in names], made_by)


def _row(
    cell: Cell,
    seed: int,
    options: argparse.Namespace,
    values: Sequence[float],
    made_by: str,
    late_ms: float = math.nan,
    load: float = math.nan,
) -> Row:
    own: dict[str, Any] = {"seed": seed, "warmup": options.warmup, "duration": options.duration, "made_by": made_by}
    return Row(**asdict(cell), **own, **dict[str, Any](zip(MEASURES, values, strict=True)), late_ms=late_ms, load=load)


def flows(cell: Cell) -> list[str]:
    """Return what a cell's flows are for `compare`."""
    return [f"{cell.flows}*{CONTROLS[cell.cc]}:name=transfers:profile=linux:start=0s..100ms", PINGS]


RUNNERS: dict[str, Callable[[Cell, int, argparse.Namespace], Row]] = {
    "live": live,
    "simulated": simulated,
    "kernel": kernel,
}


def cells(options: argparse.Namespace) -> list[Cell]:
    """Return the cells that are asked for."""
    chosen = itertools.product(options.cc, map(int, options.flows), options.rates, options.rtts, AQMS)
    return [Cell(*one) for one in chosen]


def is_there(side: str, cell: Cell) -> bool:
    """Whether a side has a cell's discipline."""
    return side != "kernel" or cell.aqm != OURS_ALONE


def missing(cell: Cell, side: str, known: Rows, seeds: int) -> list[int]:
    """Return the seeds of a cell that a side has to run."""
    found = {seed for (one, seed), row in known.items() if one == cell and is_current(side, row)}
    return [seed for seed in range(1, seeds + 1) if is_there(side, cell) and seed not in found]


def is_current(side: str, row: Row) -> bool:
    """Whether a run is not to be made again; those of a kernel are dear, and stay."""
    return side != "simulated" or row.made_by == build()


def cost_s(cell: Cell, side: str, options: argparse.Namespace) -> float:
    """Return about how long a run takes: a live one as long as it lasts."""
    whole_s = (parse_span(options.duration) + parse_span(options.warmup)) / 1e9
    packets = whole_s * float(cell.rate.removesuffix("mbit")) * 1e6 / 8 / 1514
    return {"live": whole_s + LIVE_S, "simulated": 0.1, "kernel": START_S + PACKET_S * packets}[side]


def run(options: argparse.Namespace) -> list[str]:
    """Run what is missing; return what could not be run, with the reason."""
    known = {side: read(side, options) for side in options.only}
    due = [
        (cell, side, seeds)
        for cell in cells(options)
        for side in options.only
        if (seeds := missing(cell, side, known[side], options.seeds))
    ]
    first = list(dict.fromkeys(cell for cell, _, _ in due))[: options.cells]
    due = [one for one in due if one[0] in first]
    seconds = sum(len(seeds) * cost_s(cell, side, options) for cell, side, seeds in due)
    print(
        f"{len(first)} cells, {sum(len(seeds) for _, _, seeds in due)} runs: about {seconds / 60:.0f} minutes",
        flush=True,
    )
    notes: dict[str, None] = {}
    for cell, side, seeds in [] if options.dry else due:
        print(f"{side}: {cell.name}", file=sys.stderr, flush=True)
        try:
            for seed in seeds:
                keep(side, RUNNERS[side](cell, seed, options))
        except (InputError, MachineError) as problem:
            notes[f"not testable here: {side}, {cell.cc}: {problem}"] = None
    return list(notes)


@dataclass(frozen=True)
class Side:
    """What a side gave in a cell: a measure's values over the seeds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Their mean."""
        return statistics.fmean(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean; without bounds where there is one value."""
        found = stats.mean(self.values)
        return (-math.inf, math.inf) if found.low is None or found.high is None else (found.low, found.high)


Table = dict[Cell, dict[str, dict[str, Side]]]


def table(known: dict[str, Rows]) -> Table:
    """Return cells that have been run live, with each side's measures."""
    found: Table = {}
    for cell in dict.fromkeys(cell for cell, _ in known["live"]):
        for side, rows in known.items():
            own = [row for (other, _), row in sorted(rows.items(), key=lambda one: one[0][1]) if other == cell]
            if own:
                measures = {name: Side(tuple(getattr(row, name) for row in own)) for name in MEASURES}
                found.setdefault(cell, {})[side] = measures
    return found


def fits(name: str, one: Side, other: Side) -> bool:
    """Whether two means differ by no more than is allowed, or by what nobody would notice."""
    measure = MEASURES[name]
    return abs(one.mean - other.mean) <= max(measure.allowed * max(one.mean, other.mean), measure.unnoticed)


def overlap(one: Side, other: Side) -> bool:
    """Whether the intervals of two means overlap."""
    (low, high), (least, most) = one.interval, other.interval
    return low <= most and least <= high


PAIRS = (("live", "simulated"), ("live", "kernel"), ("simulated", "kernel"))


def counts(found: Table) -> str:
    """Return a table of how many values agree: by pair and measure."""
    head = "| | " + " | ".join(f"{metric.word}, {metric.allowed:.0%}" for metric in MEASURES.values()) + " |"
    rows = [head, "|---|" + "---|" * len(MEASURES)]
    for one, other in PAIRS:
        shared = [sides for sides in found.values() if one in sides and other in sides]
        texts = []
        for name in MEASURES:
            both = [(sides[one][name], sides[other][name]) for sides in shared]
            within, meet = sum(fits(name, *pair) for pair in both), sum(overlap(*pair) for pair in both)
            texts.append(f"{within} of {len(both)} (intervals of {meet} overlap)")
        rows.append(f"| {one} and {other} | " + " | ".join(texts) + " |")
    return "\n".join(rows)


def sentences(found: Table, known: dict[str, Rows]) -> str:
    """Return what the numbers say in words."""
    own = list(known["live"].values())
    late, loads = [row.late_ms for row in own], [row.load for row in own]
    whole = math.prod(map(len, (CONTROLS, FLOWS, RATES, RTTS, AQMS)))
    made = ", ".join(dict.fromkeys(row.made_by for rows in known.values() for row in rows.values()))
    rows = [
        f"{len(found)} of {whole} cells, {len(own)} live runs of {own[0].duration} after {own[0].warmup} ({made}). 1 % "
        f"of a live run's packets left more than {statistics.median(late):.2f} ms late in the median of the runs, "
        f"{max(late):.2f} ms in the worst; the machine's load was {min(loads):.1f} to {max(loads):.1f}."
    ]
    for (one, other), name in itertools.product(PAIRS, MEASURES):
        ratios = [
            sides[one][name].mean / sides[other][name].mean
            for sides in found.values()
            if one in sides and other in sides and sides[other][name].mean > 0
        ]
        if ratios:
            rows.append(
                f"- {MEASURES[name].word} {one} over {other}: {statistics.median(ratios):.3f} in the median of "
                f"{len(ratios)} cells, {min(ratios):.2f} to {max(ratios):.2f}."
            )
    return "\n".join([rows[0], "", *rows[1:]])


def differences(found: Table) -> str:
    """Return a table of what differs by more than is allowed between the live link and another side."""
    rows = ["| cell | measure | live | simulated | kernel |", "|---|---|---|---|---|"]
    for cell, sides in found.items():
        for name, metric in MEASURES.items():
            others = [side for side in SIDES[1:] if side in sides]
            if all(fits(name, sides["live"][name], sides[side][name]) for side in others):
                continue
            texts = [f"{sides[side][name].mean * metric.scale:.3g}" if side in sides else "" for side in SIDES]
            rows.append(f"| {cell.name} | {metric.word}, {metric.unit} | " + " | ".join(texts) + " |")
    return "\n".join(rows) if len(rows) > 2 else "No value differs by more than is allowed."


def figure(found: Table) -> str:
    """Return the figure as SVG: what live and kernel give over what is simulated, a column for each discipline."""
    canvas, axes = style.grid(len(MEASURES), len(AQMS), 7.0, share="row")
    known = label_styles(list(SIDES))
    loads = list(itertools.product(RATES, RTTS, FLOWS, CONTROLS))
    inside = len(FLOWS) * len(CONTROLS)
    groups = [f"{rate.removesuffix('bit')} {rtt}" for rate, rtt in itertools.product(RATES, RTTS)]
    for axis, ((name, metric), aqm) in zip(axes, itertools.product(MEASURES.items(), AQMS), strict=True):
        axis.axhspan(1 - metric.allowed, 1 / (1 - metric.allowed), color=style.FAINT, alpha=0.12, linewidth=0)
        for side in (one for one in SIDES if one != "simulated"):
            look = known[side]
            # A difference that nobody would notice is hollow, and what lies outside is at the edge.
            points: dict[str, list[tuple[int, float]]] = {look.colour: [], "none": []}
            for at, (rate, rtt, flows, cc) in enumerate(loads):
                sides = found.get(Cell(cc, int(flows), rate, rtt, aqm), {})
                if side in sides and "simulated" in sides:
                    one, other = sides[side][name].mean, sides["simulated"][name].mean
                    ratio = min(max((one or 1e-9) / (other or 1e-9), 1 / SHOWN[name]), SHOWN[name])
                    points["none" if abs(one - other) <= metric.unnoticed else look.colour].append((at, ratio))
            for inner, own in points.items():
                style_of = {"linestyle": "", "marker": look.marker, "markersize": 4, "markerfacecolor": inner}
                axis.plot(
                    *zip(*own, strict=True) if own else ([], []),
                    color=look.colour,
                    label=f"{side} over simulated",
                    **style_of,
                )
        axis.set_yscale("log")
        axis.set_ylim(0.97 / SHOWN[name], 1.03 * SHOWN[name])
        ticks = [1 / SHOWN[name], 1 - metric.allowed, 1, 1 / (1 - metric.allowed), SHOWN[name]]
        axis.set_yticks(ticks, [f"{tick:.3g}" for tick in ticks])
        axis.set_yticks([], minor=True)
        axis.set_xlim(-1, len(loads))
        axis.set_xticks([inside * group - 0.5 for group in range(1, len(groups))], [""] * (len(groups) - 1))
        axis.set_xticks([inside * (group + 0.5) - 0.5 for group in range(len(groups))], groups, minor=True, rotation=90)
        axis.tick_params(axis="x", which="minor", length=0, labelsize=8)
        if name == next(iter(MEASURES)):
            axis.set_title(aqm.split(":")[0])
        if aqm == AQMS[0]:
            axis.set_ylabel(metric.word)
    style.legend(canvas, axes)
    style.caption(
        canvas,
        f"Ratios of means over the seeds; in each group {', '.join(FLOWS)} flows, each of Reno, then CUBIC; shaded: "
        "what may differ; hollow: nobody would notice it; at the edge: outside. The kernel has no S-PIE.",
    )
    return style.svg(canvas, "validate-live")


def write(parts: Iterable[str]) -> None:
    """Put what was computed into README.md, between its two marks."""
    lines = "\n\n".join(parts)
    README.write_text(splice_tables.replaced(README.read_text(), "<!-- computed -->", "<!-- end -->", f"\n{lines}\n"))


FLOWS, RATES, RTTS = ("1", "4", "16"), ("10mbit", "50mbit"), ("20ms", "80ms")


def _options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def several(text: str) -> list[str]:
        return text.split(",")

    for name, values in (("cc", tuple(CONTROLS)), ("flows", FLOWS), ("rates", RATES), ("rtts", RTTS), ("only", SIDES)):
        parser.add_argument(f"--{name}", type=several, default=list(values), metavar="LIST")
    parser.add_argument("--cells", type=int, default=0, metavar="N", help="run so many that are not finished")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--duration", default="10s", help="measured time of a run")
    parser.add_argument("--warmup", default="3s")
    parser.add_argument("--dry", action="store_true", help="say how long it takes, and run nothing")
    parser.add_argument("--write", action="store_true", help="put figure and tables into the README")
    return parser.parse_args(arguments)


def main() -> int:
    """Run what is missing, and say what there is."""
    options = _options()
    lacking = run(options) if options.cells else []
    known = {side: read(side, options) for side in SIDES}
    found = table(known)
    print("\n".join(lacking), end="\n" if lacking else "")
    if not found or options.dry:
        return 0
    parts = [sentences(found, known), counts(found), differences(found)]
    print("\n\n".join(parts))
    if options.write:
        FIGURE.write_text(figure(found))
        write([*parts, *(f"{text}." for text in lacking)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
