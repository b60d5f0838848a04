#!/usr/bin/env python3
"""Are derivatives worth it? Tune dAQM with and without them for loss and delay, and PIE with and without its slope.

    scripts/daqm_derivatives.py FOLDER [--trials N] [--searches N] [--jobs N]

Two metrics are minimised, loss and 95 % of queue delay, with 80 % of the link used, on the scenarios `train-*` of
`experiments/daqm/tune`; the front is judged on `judge-*`. Every feature may be off. Every search is made several times,
with seeds 1, 2, ...: what differs between them is chance. Forms are compared by their loss at equal delay: the loss of
a search is read off its judged front at given delays, between two settings on the line that joins them.

Each search is a folder in FOLDER, and goes on where it was. Writes FOLDER/derivatives.csv (the judged settings),
FOLDER/derivatives.json (the comparisons), their table in FOLDER/derivatives.md and FOLDER/derivatives.svg. Needs optuna
(`pip install 'aqmlab[tune]'`).
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl

from aqmlab.stats import statistics
from aqmlab.tuning import tune
from aqmlab.tuning.search import best_of

SCENARIOS = Path(__file__).resolve().parents[1] / "experiments" / "daqm" / "tune"
DELAY, LOSS = GOAL = ("qdelay_p95_ms", "loss_ratio")
KEEP = "utilization >= 0.8"
FRONT = 6
# Delays at which losses are compared (ms): nearly all fronts reach them.
AT = (30.0, 50.0, 100.0)
LEVELS = "s auto|1ms..200ms b auto|5..500"
DERIVATIVES = (
    "s1 auto|0.01..1.0 b1 auto|0.1..50.0 s2 auto|0.001..10.0 b2 auto|0.1..50.0 s3 auto|0.001..10.0 b3 auto|0.1..50.0"
)
DROPS = "drop_rate 0.01..1.0 drop_duration 5ms..500ms gate_s 1ms..50ms gate_b 1..50"
PIE = "pie target 1ms..100ms tupdate 5ms..50ms alpha 0.01hz..1.0hz"

SPACES = {
    "dAQM, levels": f"daqm_artifact method clean {LEVELS} s1 auto b1 auto s2 auto b2 auto s3 auto b3 auto {DROPS}",
    "dAQM, derivatives": f"daqm_artifact method clean {LEVELS} {DERIVATIVES} {DROPS}",
    "dAQM, smoothed": f"daqm_artifact method clean {LEVELS} {DERIVATIVES} {DROPS} smoothing 1ms..500ms",
    "PIE, no slope": f"{PIE} beta 0hz",
    "PIE": f"{PIE} beta 0hz|0.1hz..5.0hz",
    "CoDel": "codel target 1ms..100ms interval 10ms..500ms",
}
# Each form beside the one without what it adds.
WITHOUT = {
    "dAQM, derivatives": "dAQM, levels",
    "dAQM, smoothed": "dAQM, levels",
    "PIE": "PIE, no slope",
}


def at_equal_delay(front: Sequence[tuple[float, float]], delay: float) -> float | None:
    """Return the loss of a front (delay and loss of each setting) at a delay; nothing beyond its ends.

    >>> at_equal_delay([(10.0, 0.06), (20.0, 0.04), (20.0, 0.05)], 15.0)
    0.05

    """
    left = best_of({str(place): point for place, point in enumerate(front)})
    delays, losses = zip(*sorted({front[int(place)] for place in left}), strict=True)
    return float(np.interp(delay, delays, losses)) if delays[0] <= delay <= delays[-1] else None


def compared(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the difference in loss of each form from the one without what it adds, at equal delays, over searches."""
    losses: dict[tuple[str, int], list[float | None]] = {}
    for (name, search), own in rows.group_by("form", "search"):
        points = list(own.select(DELAY, LOSS).iter_rows())
        losses[str(name), int(str(search))] = [at_equal_delay(points, delay) for delay in AT]
    searches = sorted({search for _, search in losses})
    found = []
    for form, without in WITHOUT.items():
        for place, delay in enumerate(AT):
            pairs = [(losses[form, one][place], losses[without, one][place]) for one in searches]
            known = [(a, b) for a, b in pairs if a is not None and b is not None]
            if len(known) < 2:
                continue
            a, b = ([pair[side] for pair in known] for side in (0, 1))
            one = statistics.paired(a, b).estimate
            means = {"loss": float(np.mean(a)), "loss_without": float(np.mean(b))}
            entry = {"form": form, "without": without, "delay_ms": delay, "searches": len(known), **means}
            found.append({**entry, "difference": one.value, "ci95_low": one.low, "ci95_high": one.high})
    return found


def table(differences: Sequence[dict[str, Any]]) -> str:
    """Return the comparisons as experiments/daqm/notes.md has them."""
    lines = ["| | 95 % of delay | loss | loss without | difference (95 %) | searches |", "|---|---|---|---|---|---|"]
    for one in differences:
        sizes = [100 * one[name] for name in ("loss", "loss_without", "difference", "ci95_low", "ci95_high")]
        loss, without, difference, low, high = (f"{size:.2f}" for size in sizes)
        verdict = "" if sizes[3] <= 0.0 <= sizes[4] else "**"
        shown = f"{loss} % | {without} % | {verdict}{difference}{verdict} ({low} to {high}) | {one['searches']} |"
        lines.append(f"| {one['form']}; without: {one['without']} | {one['delay_ms']:g} ms | {shown}")
    return "\n".join(lines)


def draw(rows: pl.DataFrame, path: Path) -> None:
    """Draw the judged settings of each form, a dot each, with the front of each search."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "aqmlab"
    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    FigureCanvasSVG(figure)
    axes_of = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, title, beginning in zip(axes_of, ("Triggers: dAQM", "Weighted: PIE"), ("dAQM", "PIE"), strict=True):
        forms = [form for form in SPACES if form.startswith((beginning, "CoDel"))]
        for form, colour in zip(forms, ("#0072b2", "#d55e00", "#e69f00", "#cc79a7", "#999999"), strict=False):
            colour = "#999999" if form == "CoDel" else colour
            for number, (_, own) in enumerate(
                rows.filter(pl.col("form") == form).group_by("search", maintain_order=True)
            ):
                points = {str(place): point for place, point in enumerate(own.select(DELAY, LOSS).iter_rows())}
                front = sorted(points[name] for name in best_of(points))
                delays, losses = zip(*front, strict=True)
                label = form if number == 0 else None
                axes.plot(
                    delays, [100 * one for one in losses], "o-", color=colour, markersize=3, linewidth=0.8, label=label
                )
        axes.set_title(title)
        axes.set_xlabel("95 % of queue delay (ms)")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    axes_of[0].set_xlim(0.0, 50.0)
    axes_of[0].set_ylabel("Loss (%)")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Tune, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--searches", type=int, default=4)
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    training, judging = (sorted(SCENARIOS.glob(f"{kind}-*.toml")) for kind in ("train", "judge"))
    rows = []
    for seed, (number, (form, space)) in itertools.product(range(1, options.searches + 1), enumerate(SPACES.items())):
        found = tune(
            space,
            training,
            judging,
            minimise=GOAL,
            keep=KEEP,
            trials=options.trials,
            sensitivity=0,
            training_seeds=1,
            pareto=FRONT,
            seed=seed,
            seeds=5,
            jobs=options.jobs,
            out=options.folder / f"search-{seed}-{number}",
        )
        chosen = {one.aqm: one.values for one in found.front}
        for one in found.judged[1:]:
            trained = {f"training_{name}": chosen[one.aqm][name] for name in GOAL}
            rows.append({"form": form, "search": seed, "aqm": one.aqm, **trained, **one.values})
        print(form, seed, *found.words[:2], flush=True)
    judged = pl.DataFrame(rows).with_columns(pl.selectors.float().round_sig_figs(6))
    judged.write_csv(options.folder / "derivatives.csv")
    differences = compared(judged)
    (options.folder / "derivatives.json").write_text(json.dumps(differences, indent=1) + "\n", encoding="utf-8")
    (options.folder / "derivatives.md").write_text(table(differences) + "\n", encoding="utf-8")
    print(table(differences))
    draw(judged, options.folder / "derivatives.svg")


if __name__ == "__main__":
    main()
