#!/usr/bin/env python3
"""Compare the Wi-Fi link with ns-3.44 at the points of `points.toml`: one table, and what lies outside.

    validate/wifi/compare.py [POINT ...] [--seeds N] [--ns3 N] [--jobs N] [--write]

`results/ns3.csv` has what ns-3 gave, so that it is not needed; `--ns3 N` first runs what has fewer than N seeds there
(`ns3.py` says how to install it). Random numbers differ between the two, so only means over seeds can agree. `--write`
stores our side in `results/aqmlab.csv` and puts the table into README.md. Exit status 1 if something lies outside:
further away than is allowed, and than two standard errors of both means could explain.
"""

import argparse
import csv
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import ns3
import ours
from points import HERE, Point, allowed, points

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import splice_tables

README, OWN = HERE / "README.md", HERE / "results/aqmlab.csv"
BEGIN, END = "<!-- computed -->", "<!-- end -->"
# Below this many answers a median says nothing.
LEAST_ANSWERED = 0.5

# Values of a metric, one for each seed.
Values = dict[str, list[float]]


@dataclass(frozen=True)
class Row:
    """One value that is compared: what it is of, both means with two standard errors, and how far they may be apart."""

    point: str
    what: str
    theirs: float
    their_error: float
    own: float
    own_error: float
    allowed: float
    is_share: bool

    @property
    def difference(self) -> float:
        """As a share of ns-3's, or in points."""
        return self.own - self.theirs if self.is_share else self.own / self.theirs - 1

    @property
    def fits(self) -> bool:
        """Whether it is within what is allowed."""
        return abs(self.difference) <= self.allowed

    @property
    def verdict(self) -> str:
        """What the table says: within, scatter (two standard errors may explain what is beyond), or outside."""
        if self.fits:
            return "within"
        could_be = math.hypot(self.their_error, self.own_error) / (1 if self.is_share else self.theirs)
        return "scatter" if abs(self.difference) - could_be <= self.allowed else "outside"


def compared(point: Point, theirs: Values, own: Values) -> list[Row]:
    """Return what is compared at a point.

    These are the total, the mean aggregate to each kind of station that receives data, the median ping of each kind
    of station and the share of collided PPDUs, each a mean over the stations of a kind; and what each access category
    has of the total, if there are several.
    """
    bounds = allowed()
    found = [("total, Mbit/s", ["total_mbit"], bounds["udp_total" if point.udp else "tcp_total"], False)]
    receivers = {station for flow in point.flows if flow.direction == "down" for station in flow.stations}
    for mode in dict.fromkeys(point.stations):
        stations = [number for number, one in enumerate(point.stations) if one == mode]
        label = "" if len(set(point.stations)) == 1 else f" ({mode.split('-')[1]})"
        down = [number for number in stations if number in receivers]
        if down and not mode.startswith("ofdm"):
            found.append((f"aggregate{label}", _names("aggregate_down", down), bounds["aggregate"], False))
        if point.ping and _answered(theirs, stations) >= LEAST_ANSWERED:
            found.append((f"ping, ms{label}", _names("ping_ms", stations), bounds["ping"], False))
    every = list(range(len(point.stations)))
    for category in point.categories if len(point.categories) > 1 else ():
        for side in (theirs, own):
            pairs = zip(side[f"category_mbit.{category}"], side["total_mbit"], strict=True)
            side[f"category_share.{category}"] = [mbit / total for mbit, total in pairs]
        found.append((f"share of {category}", [f"category_share.{category}"], bounds["category"], True))
    found.append(("collisions", _names("collision", every), bounds["collision"], True))
    rows = []
    for what, names, bound, is_share in found:
        sides = [_over_stations(values, names) for values in (theirs, own)]
        means = [statistics.fmean(side) for side in sides]
        errors = [2 * statistics.stdev(side) / math.sqrt(len(side)) if len(side) > 1 else math.nan for side in sides]
        rows.append(Row(point.id, what, means[0], errors[0], means[1], errors[1], bound, is_share))
    return rows


def _names(metric: str, stations: Sequence[int]) -> list[str]:
    return [f"{metric}.sta{station}" for station in stations]


def _answered(theirs: Values, stations: Sequence[int]) -> float:
    return min(statistics.fmean(theirs[name]) for name in _names("answered", stations))


def _over_stations(values: Values, names: Sequence[str]) -> list[float]:
    """Return the mean over these metrics for each seed."""
    there = [values[name] for name in names if name in values]
    return [statistics.fmean(seed) for seed in zip(*there, strict=True)]


def by_metric(seeds: dict[int, dict[str, float]]) -> Values:
    """Return the values of each metric by seed, of metrics that every seed has."""
    names = set.intersection(*(set(metrics) for metrics in seeds.values()))
    return {name: [seeds[seed][name] for seed in sorted(seeds)] for name in sorted(names)}


def table(rows: Sequence[Row]) -> str:
    """Return the comparison as a Markdown table."""
    lines = ["| point | value | ns-3 | aqmlab | difference | allowed | |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        scale = 100 if row.is_share else 1
        unit = " %" if row.is_share else ""
        sides = [
            f"{mean * scale:.3g} ± {error * scale:.2g}{unit}"
            for mean, error in ((row.theirs, row.their_error), (row.own, row.own_error))
        ]
        word = "points" if row.is_share else "%"
        difference = f"{row.difference * 100:+.1f} {word}"
        shown = f"**{difference}**" if row.verdict == "outside" else difference
        bound = f"{row.allowed * 100:.0f} {word}"
        cells = [row.point, row.what, *sides, shown, bound, row.verdict]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """Return how many values fit, by what they are."""
    kinds = ["total", "ping", "aggregate", "share", "collisions"]
    lines = ["| value | compared | within | scatter | outside |", "|---|---|---|---|---|"]
    for kind in kinds:
        verdicts = [row.verdict for row in rows if row.what.startswith(kind)]
        counts = [verdicts.count(word) for word in ("within", "scatter", "outside")]
        lines.append(f"| {kind} | {len(verdicts)} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


def stored() -> dict[str, Values]:
    """Return our side as it was stored."""
    seeds: dict[str, dict[int, dict[str, float]]] = {}
    if OWN.exists():
        with OWN.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                seeds.setdefault(row["point"], {}).setdefault(int(row["seed"]), {})[row["metric"]] = float(row["value"])
    return {point: by_metric(values) for point, values in seeds.items()}


def store(sides: dict[str, Values]) -> None:
    """Store our side."""
    with OWN.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("point", "seed", "metric", "value"))
        for point, values in sides.items():
            for name, numbers in values.items():
                writer.writerows((point, seed, name, f"{value:.6g}") for seed, value in enumerate(numbers, 1))


def tables(sides: dict[str, Values]) -> list[str]:
    """Return the two tables of what both sides have."""
    theirs = {point: by_metric(seeds) for point, seeds in ns3.stored().items()}
    rows = [
        row
        for point in points()
        if point.id in theirs and point.id in sides
        for row in compared(point, theirs[point.id], sides[point.id])
    ]
    return [summary(rows), table(rows)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("points", nargs="*", metavar="POINT")
    parser.add_argument("--seeds", type=int, default=None, help="of aqmlab; as points.toml says unless given")
    parser.add_argument("--ns3", type=int, default=0, metavar="N", help="run points with fewer seeds in ns-3 first")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="store our side and put the tables into README.md")
    arguments = parser.parse_args()
    known = {point.id: point for point in points()}
    if unknown := [name for name in arguments.points if name not in known]:
        parser.error(f"unknown point {unknown[0]}: known are {', '.join(known)}")
    wanted = [known[name] for name in arguments.points or known]
    if arguments.ns3:
        folder = ns3.wheel()
        if isinstance(folder, str):
            print(f"skipped what ns-3 has not run yet: {folder}", file=sys.stderr)
        else:
            ns3.run(folder, wanted, arguments.ns3)
    theirs = {point: by_metric(seeds) for point, seeds in ns3.stored().items()}
    sides: dict[str, Values] = {}
    rows: list[Row] = []
    for point in wanted:
        if point.id not in theirs:
            print(f"{point.id}: not yet run in ns-3", file=sys.stderr)
            continue
        sides[point.id] = ours.run(point, arguments.seeds or point.seeds, arguments.jobs)
        rows += compared(point, theirs[point.id], sides[point.id])
        print(f"{point.id}: run", file=sys.stderr, flush=True)
    print(table(rows))
    if arguments.write:
        store({**stored(), **sides})
        text = "\n\n".join(tables(stored()))
        page = README.read_text(encoding="utf-8")
        README.write_text(splice_tables.replaced(page, BEGIN, END, f"\n{text}\n"), encoding="utf-8")
    outside = [f"{row.point} {row.what}" for row in rows if row.verdict == "outside"]
    print(f"outside: {', '.join(outside) or 'none'}")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
