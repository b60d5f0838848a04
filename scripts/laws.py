#!/usr/bin/env python3
"""Check the transports against published formulas, and draw docs/laws.

    scripts/laws.py [LAW ...] [--jobs N]

Every law is an experiment in `experiments/laws`, a formula, and an allowed range for the measurements. Figures are
written to `docs/laws`, each with its numbers as CSV. The status is 1 if a measurement is outside its range.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.ticker import LogLocator

import aqmlab
from aqmlab.plots import style
from aqmlab.plots.label_styles import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
MSS_BITS = 1448 * 8
PACKET_BITS = 1514 * 8


@dataclass(frozen=True)
class Check:
    """A measurement and the range in which it is expected."""

    what: str
    measured: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether it is within the range."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True)
class Outcome:
    """The results for a law: the numbers, their figure, and the expectations."""

    table: pl.DataFrame
    figure: Figure
    checks: list[Check]


def square_root(result: aqmlab.Result) -> Outcome:
    """Ott, Kemperman and Mathis 1996: W = 1.31 / sqrt(p) for independent losses, as long as no timeout interferes."""
    table = _windows(result, flows=10).with_columns(
        (1.31 / pl.col("loss").sqrt()).alias("expected_segments"),
        (pl.col("window_segments") * pl.col("loss").sqrt()).alias("constant"),
    )
    figure, (axes,) = style.below()
    _curve(axes, table["loss"], table["expected_segments"], "1.31 / sqrt(p)", 1, dashed=True)
    _points(axes, table["loss"], table["window_segments"], "Reno, measured", 0)
    _both_logarithmic(axes, "Loss probability p", "Mean window (segments)")
    style.legend(figure, [axes])
    checks = [
        Check(f"W sqrt(p) at p = {p:g}", c, 1.18, 1.44) for p, c in _pairs(table, "loss", "constant") if p <= 0.01
    ]
    return Outcome(table, figure, checks)


def cubic_response(result: aqmlab.Result) -> Outcome:
    """RFC 9438 section 5.1: W = 1.054 (RTT / p)^(3/4); section 4.3: no less than Reno's sqrt(3 / 2p)."""
    table = _windows(result, flows=5).with_columns(
        pl.max_horizontal(1.054 * (pl.col("rtt_s") / pl.col("loss")) ** 0.75, (1.5 / pl.col("loss")).sqrt()).alias(
            "expected_segments"
        )
    )
    table = table.with_columns((pl.col("window_segments") / pl.col("expected_segments")).alias("ratio"))
    figure, (axes,) = style.below()
    for place, rtt in enumerate(table["rtt_s"].unique(maintain_order=True)):
        rows = table.filter(pl.col("rtt_s") == rtt)
        p = np.geomspace(rows["loss"].min(), rows["loss"].max(), 100)
        expected = np.maximum(1.054 * (rtt / p) ** 0.75, np.sqrt(1.5 / p))
        _curve(axes, p, expected, f"expected at {rtt * 1e3:g} ms", place, dashed=True)
        _points(axes, rows["loss"], rows["window_segments"], f"CUBIC at {rtt * 1e3:g} ms", place)
    _both_logarithmic(axes, "Loss probability p", "Mean window (segments)")
    style.legend(figure, [axes])
    checks = [
        Check(f"measured / expected at {row['rtt_s'] * 1e3:g} ms, p = {row['loss']:g}", row["ratio"], 0.95, 1.25)
        for row in table.iter_rows(named=True)
    ]
    return Outcome(table, figure, checks)


def dctcp_oscillation(result: aqmlab.Result) -> Outcome:
    """Alizadeh et al. 2010 section 3.3: A = sqrt(2 N (C RTT + K)) / 2 below K + N; section 3.4: K > C RTT / 7."""
    path = 100e6 * 0.04 / PACKET_BITS
    rows: list[dict[str, Any]] = []
    for row in result.runs.filter(pl.col("seed") == 1).iter_rows(named=True):
        n = int(result.points[row["point"]]["flows"].split("*")[0])
        k = int(row["aqm"].split("threshold ")[1].split("p")[0])
        queue = _series(result, row["point"], row["aqm"], "queue_packets")["value"]
        rows.append({
            "flows": n,
            "threshold_packets": k,
            "lowest_packets": queue.min(),
            "highest_packets": row["queue_max_packets"],
            "expected_highest_packets": k + n,
            "amplitude_packets": row["queue_max_packets"] - queue.min(),
            "expected_amplitude_packets": math.sqrt(2 * n * (path + k)) / 2,
            "utilization": row["utilization"],
        })  # fmt: skip
    table = pl.DataFrame(rows).sort("flows", "threshold_packets")
    figure, (above, below) = style.below(2, 5.2)
    for place, n in enumerate((1, 2, 8, 40)):
        own = table.filter(pl.col("flows") == n)
        high = own["expected_highest_packets"].to_numpy()
        low = np.maximum(0.0, high - own["expected_amplitude_packets"].to_numpy())
        colour = COLOURS[place]
        k = own["threshold_packets"].to_numpy()
        above.fill_between(k, low, high, color=colour, alpha=0.12, linewidth=0)
        above.vlines(k + place - 1.5, own["lowest_packets"], own["highest_packets"], color=colour, linewidth=3)
        _points(below, k, 100 * own["utilization"].to_numpy(), f"N = {n}", place, joined=True)
    below.axvline(path / 7, color=style.FAINT, linestyle="dotted")
    below.text(path / 7 + 1, 94.5, "C RTT / 7", color=style.FAINT)
    above.set_ylabel("Queue (packets)")
    below.set_ylabel("Utilization (%)")
    below.set_xlabel("Threshold K (packets)")
    style.legend(figure, [below])
    style.caption(figure, "Bars: lowest to highest backlog. Shaded: the formula, from K + N down by its amplitude A.")
    checks = []
    for row in table.iter_rows(named=True):
        label = f"N = {row['flows']}, K = {row['threshold_packets']}"
        expected = row["expected_highest_packets"]
        # Forty flows are not quite synchronised.
        low = expected - 2 if row["flows"] <= 8 else 0.85 * expected
        checks.append(Check(f"maximum of the queue, {label}", row["highest_packets"], low, expected + 2))
        # The full oscillation is visible if the queue does not empty.
        if row["lowest_packets"] > 0 and row["flows"] <= 8:
            ratio = row["amplitude_packets"] / row["expected_amplitude_packets"]
            checks.append(Check(f"amplitude / formula, {label}", ratio, 0.85, 1.15))
        if row["threshold_packets"] > path / 7:
            checks.append(Check(f"utilization, {label}", row["utilization"], 0.999, 1.001))
    worst = table.filter((pl.col("flows") == 40) & (pl.col("threshold_packets") == 8))["utilization"][0]
    return Outcome(table, figure, [*checks, Check("utilization, N = 40, K = 8", worst, 0.0, 0.96)])


def rtt_fairness(result: aqmlab.Result) -> Outcome:
    """With the same loss probability Reno's rate goes as 1 / RTT; CUBIC's as RTT^(-1/4) where it exceeds Reno's."""
    rows: list[dict[str, Any]] = []
    for place, point in enumerate(result.points):
        for aqm in result.aqms:
            runs = result.runs.filter((pl.col("point") == place) & (pl.col("aqm") == aqm))
            means = {name: runs[name].mean() for name in runs.columns if name.startswith("class.")}
            share = means["class.near.goodput_mbit"] / means["class.far.goodput_mbit"]
            rtts = means["class.far.rtt_mean_ms"] / means["class.near.rtt_mean_ms"]
            rows.append({
                "control": point["flows"].split("*")[1].split(":")[0],
                "rate": point["rate"],
                "aqm": aqm,
                "base_rtt_ratio": int(point["flows"].split("rtt=")[1].removesuffix("ms")) / 20,
                "rtt_ratio": rtts,
                "share_ratio": share,
                "exponent": math.log(share) / math.log(rtts),
            })  # fmt: skip
    table = pl.DataFrame(rows).sort("aqm", "control", "rate", "base_rtt_ratio")
    figure, panels = style.below(2, 6.0)
    for axes, aqm in zip(panels, ("pie", "fifo"), strict=True):
        for place, (control, rate) in enumerate((c, r) for c in ("newreno", "cubic") for r in ("100mbit", "400mbit")):
            own = table.filter((pl.col("aqm") == aqm) & (pl.col("control") == control) & (pl.col("rate") == rate))
            _points(axes, own["rtt_ratio"], own["share_ratio"], f"{control}, {rate}", place, joined=True)
        ratios = np.array([1.0, 5.5])
        _curve(axes, ratios, ratios, "RTT ratio ^ 1", 6, dashed=True)
        _curve(axes, ratios, ratios**0.25, "RTT ratio ^ 1/4", 7, dashed=True)
        _both_logarithmic(axes, "", f"Share ratio, {aqm}")
        axes.set_xlim(1, 6)
    panels[-1].set_xlabel("Ratio of the measured round-trip times")
    style.legend(figure, panels)
    checks = []
    under_pie = table.filter(pl.col("aqm") == "pie")
    for row in under_pie.iter_rows(named=True):
        label = f"exponent of {row['control']} at {row['rate']}, {row['base_rtt_ratio']:g} times the base RTT, pie"
        low, high = (0.85, 1.2) if row["control"] == "newreno" else (0.1, 1.1)
        checks.append(Check(label, row["exponent"], low, high))
    means = dict(under_pie.group_by("control", "rate").agg(pl.col("exponent").mean()).select(
        pl.concat_str("control", "rate", separator=" "), "exponent").iter_rows())  # fmt: skip
    for rate in ("100mbit", "400mbit"):
        ratio = means[f"cubic {rate}"] / means[f"newreno {rate}"]
        checks.append(Check(f"CUBIC's exponent / Reno's at {rate}, pie", ratio, 0.1, 0.99))
    checks.append(
        Check(
            "CUBIC's exponent at 400mbit / at 100mbit, pie", means["cubic 400mbit"] / means["cubic 100mbit"], 0.1, 0.9
        )
    )
    return Outcome(table, figure, checks)


def ledbat(result: aqmlab.Result) -> Outcome:
    """RFC 6817: alone it fills the link at a queueing delay of 100 ms; beside others it nearly stops."""
    table = result.runs.group_by("point", maintain_order=True).agg(
        pl.col("class.ledbat.goodput_mbit").mean(), pl.col("goodput_mbit", "qdelay_mean_ms", "utilization").mean()
    )
    names = [point["flows"].replace("1*", "") for point in result.points]
    table = table.sort("point").with_columns(pl.Series("flows", names)).drop("point")
    figure, (above, below) = style.below(2, 5.0)
    for place, name in enumerate(names):
        share = _series(result, place, "fifo", "class.ledbat.goodput_mbit")
        above.plot(share["time_s"], share["value"], color=COLOURS[place], label=name)
        delay = _series(result, place, "fifo", "qdelay_ms")
        below.plot(delay["time_s"], delay["value"], color=COLOURS[place])
    below.axhline(100, color=style.FAINT, linestyle="dotted")
    above.set_ylabel("LEDBAT's goodput (Mbit/s)")
    below.set_ylabel("Queue delay (ms)")
    below.set_xlabel("Time (s)")
    style.legend(figure, [above])
    alone, beside_reno, beside_cubic = table.iter_rows(named=True)
    return Outcome(table, figure, [
        Check("queue delay alone (ms)", alone["qdelay_mean_ms"], 90, 105),
        Check("utilization alone", alone["utilization"], 0.99, 1.001),
        Check("share beside Reno", beside_reno["class.ledbat.goodput_mbit"] / beside_reno["goodput_mbit"], 0, 0.05),
        Check("share beside CUBIC", beside_cubic["class.ledbat.goodput_mbit"] / beside_cubic["goodput_mbit"], 0, 0.05),
    ])  # fmt: skip


def l4s_coexistence(result: aqmlab.Result) -> Outcome:
    """RFC 9332 section 2: about equal rates by a coupling of 2, and each queue at its own delay."""
    names = {
        "class.prague.goodput_mbit": "prague_mbit",
        "class.cubic.goodput_mbit": "cubic_mbit",
        "class.prague.qdelay_p99_ms": "prague_qdelay_p99_ms",
        "class.cubic.qdelay_mean_ms": "cubic_qdelay_mean_ms",
    }
    table = result.runs.group_by("point", maintain_order=True).agg(pl.col(list(names)).mean()).sort("point")
    rates = [float(point["rate"].removesuffix("mbit")) for point in result.points]
    table = table.rename(names).with_columns(pl.Series("rate_mbit", rates)).drop("point")
    figure, (above, below) = style.below(2, 5.0)
    for place, name in enumerate(("prague", "cubic")):
        _points(above, rates, table[f"{name}_mbit"] / table["rate_mbit"], name, place, joined=True)
    _points(below, rates, table["prague_qdelay_p99_ms"], "", 0, joined=True)
    _points(below, rates, table["cubic_qdelay_mean_ms"], "", 1, joined=True)
    _both_logarithmic(below, "Rate (Mbit/s)", "Queue delay (ms)")
    above.set_ylim(0, 1)
    above.set_ylabel("Goodput / rate")
    style.legend(figure, [above])
    style.caption(figure, "Queue delay: 99th percentile of Prague's packets, mean of CUBIC's.")
    checks = []
    for row in table.iter_rows(named=True):
        at = f"at {row['rate_mbit']:g} Mbit/s"
        checks += [
            Check(f"Prague's rate / CUBIC's {at}", row["prague_mbit"] / row["cubic_mbit"], 0.5, 2.0),
            Check(f"Prague's queue delay, p99 (ms) {at}", row["prague_qdelay_p99_ms"], 0.0, 2.0),
            Check(f"CUBIC's queue delay, mean (ms) {at}", row["cubic_qdelay_mean_ms"], 7.5, 22.5),
        ]
    return Outcome(table, figure, checks)


LAWS: dict[str, Callable[[aqmlab.Result], Outcome]] = {
    "square-root": square_root,
    "cubic-response": cubic_response,
    "dctcp-oscillation": dctcp_oscillation,
    "rtt-fairness": rtt_fairness,
    "ledbat": ledbat,
    "l4s-coexistence": l4s_coexistence,
}


def _windows(result: aqmlab.Result, flows: int) -> pl.DataFrame:
    """Return the mean window of a flow for each loss probability, from its goodput."""
    rows = []
    for place, point in enumerate(result.points):
        goodput = result.runs.filter(pl.col("point") == place)["goodput_mbit"].mean()
        rtt_s = float(result.scenarios[place]["rtt"].removesuffix("ms")) / 1e3
        window = goodput * 1e6 / flows * rtt_s / MSS_BITS
        rows.append({
            "rtt_s": rtt_s,
            "loss": float(point["loss"].removesuffix("%")) / 100,
            "window_segments": window,
        })  # fmt: skip
    return pl.DataFrame(rows)


def _series(result: aqmlab.Result, point: int, aqm: str, name: str) -> pl.DataFrame:
    """Return a time series of the first seed, after the warm-up."""
    return result.series.filter(
        (pl.col("point") == point) & (pl.col("aqm") == aqm) & (pl.col("seed") == 1) & (pl.col("name") == name)
    ).filter(pl.col("time_s") > result.warmup_s(point))


def _pairs(table: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return list(table.select(columns).iter_rows())


def _points(axes: Any, x: Any, y: Any, label: str, place: int, *, joined: bool = False) -> None:
    line = "solid" if joined else "none"
    axes.plot(x, y, color=COLOURS[place], marker="o", markersize=5, linestyle=line, linewidth=1.2, label=label)


def _curve(axes: Any, x: Any, y: Any, label: str, place: int, *, dashed: bool) -> None:
    axes.plot(x, y, color=COLOURS[place], linestyle="dashed" if dashed else "solid", linewidth=1.2, label=label)


def _both_logarithmic(axes: Any, x: str, y: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(lambda value, position: f"{value:g}")
        axis.set_minor_formatter(lambda value, position: "")
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the given laws, or all, and report measurements outside their range."""
    parser = argparse.ArgumentParser(description="Check the transports against published formulas; draw docs/laws.")
    parser.add_argument("laws", nargs="*", metavar="LAW", help=f"one of {', '.join(LAWS)}; all unless given")
    parser.add_argument("--jobs", type=int, help="runs in parallel; one per core unless given")
    options = parser.parse_args(arguments)
    unknown = set(options.laws) - set(LAWS)
    if unknown:
        parser.error(f"unknown law '{min(unknown)}'; known are {', '.join(LAWS)}")
    outside = 0
    for name in options.laws or LAWS:
        result = aqmlab.run(ROOT / "experiments" / "laws" / f"{name}.toml", jobs=options.jobs)
        outcome = LAWS[name](result)
        folder = ROOT / "docs" / "laws"
        (folder / f"{name}.svg").write_text(style.svg(outcome.figure, name), encoding="utf-8")
        outcome.table.write_csv(folder / f"{name}.csv", float_precision=4)
        for check in outcome.checks:
            verdict = "" if check.holds else "   OUTSIDE"
            print(f"{name}: {check.what}: {check.measured:.3f}, expected {check.low:g} to {check.high:g}{verdict}")
            outside += not check.holds
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
