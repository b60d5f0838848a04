#!/usr/bin/env python3
"""Are derivatives worth it? Tune dAQM with more and more features, and CoDel and PIE by the same search.

    scripts/daqm_derivatives.py FOLDER [--trials N] [--searches N] [--jobs N]

The least loss with 95 % of packets within 30 ms and 80 % of the link used, on the scenarios `train-*` of
`experiments/daqm/tune`; judged on `judge-*`. Every search is made several times, with seeds 1, 2, ...: what differs
between them is chance. Each search is a folder in FOLDER, and goes on where it was. Writes FOLDER/derivatives.csv and
FOLDER/derivatives.svg. Needs optuna (`pip install 'aqmlab[tune]'`).
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import matplotlib as mpl
import polars as pl

from aqmlab.tuning import tune

SCENARIOS = Path(__file__).resolve().parents[1] / "experiments" / "daqm" / "tune"
KEEP = ("qdelay_p95_ms <= 30", "utilization >= 0.8")
METRICS = ("loss_ratio", "qdelay_p95_ms", "utilization")
DROPS = "drop_rate 0.01..1.0 drop_duration 5ms..500ms gate_s 1ms..50ms gate_b 1..50"
LEVELS, FIRST = "s 1ms..200ms b {b}", "s1 0.01..1.0 b1 0.1..50.0"
SECOND, THIRD = "s2 0.001..10.0 b2 0.1..50.0", "s3 0.001..10.0 b3 0.1..50.0"


def daqm(b: str, first: str, second: str, third: str, more: str = "") -> str:
    """Return dAQM with these features; those without a range are off."""
    features = (LEVELS.format(b=b), first or "s1 auto b1 auto", second or "s2 auto b2 auto", third or "s3 auto b3 auto")
    return " ".join(("daqm", *features, DROPS, more)).strip()


SPACES = {
    "dAQM: sojourn": daqm("auto", "", "", ""),
    "and buffer": daqm("5..500", "", "", ""),
    "and 1st derivatives": daqm("5..500", FIRST, "", ""),
    "and 2nd": daqm("5..500", FIRST, SECOND, ""),
    "and 3rd": daqm("5..500", FIRST, SECOND, THIRD),
    "all, smoothed": daqm("5..500", FIRST, SECOND, THIRD, "smoothing 1ms..500ms"),
    "CoDel": "codel target 1ms..100ms interval 10ms..500ms",
    "PIE": "pie target 1ms..100ms tupdate 5ms..50ms alpha 0.01..1.0 beta 0.1..5.0",
}


def draw(rows: pl.DataFrame, path: Path) -> None:
    """Draw loss and delay of each tuned AQM, on the scenarios that chose and on those that judge; a dot per search."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "aqmlab"
    figure = Figure(figsize=(10.0, 3.8), layout="constrained")
    FigureCanvasSVG(figure)
    names = rows["aqm"].unique(maintain_order=True).to_list()
    for axes, metric, label, scale in zip(
        figure.subplots(1, 3, sharey=True),
        METRICS,
        ("Loss (%)", "95 % of queue delay (ms)", "Link used (%)"),
        (100, 1, 100),
        strict=True,
    ):
        for side, shift, colour in (("training", -0.18, "#bbbbbb"), ("judged", 0.18, "#0072b2")):
            found = [rows.filter(pl.col("aqm") == name)[f"{side}_{metric}"] * scale for name in names]
            places = [place + shift for place in range(len(names))]
            axes.barh(places, [float(values.sum()) / len(values) for values in found], 0.36, color=colour, label=side)
            for place, values in zip(places, found, strict=True):
                axes.plot(values.to_list(), [place] * len(values), "o", color="black", markersize=2.5)
        axes.set_xlabel(label)
        axes.set_yticks(range(len(names)), names)
        axes.spines[["top", "right"]].set_visible(False)
        if metric == "qdelay_p95_ms":
            axes.axvline(30.0, color="#d55e00", linewidth=1, linestyle="--")
    figure.axes[0].invert_yaxis()
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Tune, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--searches", type=int, default=3)
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    training, judging = (sorted(SCENARIOS.glob(f"{kind}-*.toml")) for kind in ("train", "judge"))
    rows = []
    for seed, (number, (name, space)) in itertools.product(range(1, options.searches + 1), enumerate(SPACES.items())):
        found = tune(
            space,
            training,
            judging,
            minimise="loss_ratio",
            keep=KEEP,
            trials=options.trials,
            sensitivity=0,
            seed=seed,
            seeds=5,
            jobs=options.jobs,
            out=options.folder / f"search-{seed}-{number}",
        )
        best = found.front[0]
        judged = found.unseen.runs.filter(pl.col("aqm") == best.aqm)
        values = {f"training_{metric}": best.values[metric] for metric in METRICS}
        values |= {f"judged_{metric}": judged[metric].mean() for metric in METRICS}
        rows.append({"aqm": name, "search": seed, "spec": best.aqm, **values})
        print(name, seed, best.aqm, {key: round(value, 4) for key, value in values.items()}, flush=True)
    table = pl.DataFrame(rows)
    table.write_csv(options.folder / "derivatives.csv")
    draw(table, options.folder / "derivatives.svg")


if __name__ == "__main__":
    main()
