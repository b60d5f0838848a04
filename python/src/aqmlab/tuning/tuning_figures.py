"""Figures of a tuning: what was tried with its front, and which parameters matter."""

from __future__ import annotations

import polars as pl

from aqmlab.plots import Axis, Figure, Panel
from aqmlab.tuning.outcome import Tuning
from aqmlab.tuning.sensitivity import KINDS
from aqmlab.vocabulary import metrics

KINDS_OF_TRIALS = ("tried", "front", "default")
KINDS_OF_JUDGED = ("chosen", "judged", "default, judged")


def draw(tuning: Tuning) -> list[Figure]:
    """Return the figures of a tuning."""
    judged = [_judged(tuning)] if len(tuning.goal.minimise) > 1 else []
    return [_front(tuning), *judged, *([_sensitivity(tuning)] if tuning.indices else [])]


def trials(tuning: Tuning) -> pl.DataFrame:
    """Return everything that was tried, and the default: one row each."""
    best = {one.aqm for one in tuning.front}
    kinds = [("front" if one.aqm in best else "tried", one) for one in tuning.tried]
    return pl.DataFrame(
        [
            {"trial": number, "kind": kind, "aqm": one.aqm, **one.values, "missed": one.missed}
            for number, (kind, one) in enumerate([*kinds, ("default", tuning.default)], 1)
        ]
    )


def _front(tuning: Tuning) -> Figure:
    names = tuning.goal.metrics
    first, second = ("trial", names[0]) if len(names) == 1 else (names[1], names[0])
    labels = {name: metrics.find(name).title for name in names} | {"trial": "Trial"}
    bounds = f"; bounds: {', '.join(one.text for one in tuning.goal.bounds)}" if tuning.goal.bounds else ""
    return Figure(
        name="front",
        title="What was tried, and the front",
        caption=(
            f"{tuning.question['aqm']}: means over {len(tuning.question['training'])} training scenarios and "
            f"{tuning.question['training_seeds']} seeds; the front is what no other setting is better than{bounds}"
        ),
        table=trials(tuning),
        panels=[
            Panel("points", first, second, Axis(labels[first]), Axis(labels[second]), by="kind", labels=KINDS_OF_TRIALS)
        ],
        height_in=4.2,
    )


def _judged(tuning: Tuning) -> Figure:
    """The judged settings where they were chosen and where nothing was: how much of the front is left."""
    second, first = tuning.goal.minimise[:2]
    default, *tuned = tuning.judged
    chosen = {one.aqm: one for one in tuning.front}
    rows = [
        *(("chosen", one.aqm, chosen[one.aqm].values, True) for one in tuned),
        *(("judged", one.aqm, one.values, one.is_front) for one in tuned),
        ("default, judged", default.aqm, default.values, default.is_front),
    ]
    return Figure(
        name="judged",
        title="The front where nothing was chosen",
        caption=(
            f"The settings that were judged: means over the {len(tuning.question['training'])} scenarios that chose "
            f"them, and over the {len(tuning.question['judging'])} that chose nothing"
        ),
        table=pl.DataFrame(
            [{"kind": kind, "aqm": aqm, **values, "is_front": is_front} for kind, aqm, values, is_front in rows]
        ),
        panels=[
            Panel(
                "points",
                first,
                second,
                Axis(metrics.find(first).title),
                Axis(metrics.find(second).title),
                by="kind",
                labels=KINDS_OF_JUDGED,
            )
        ],
        height_in=4.2,
    )


def _sensitivity(tuning: Tuning) -> Figure:
    table = pl.DataFrame(
        [
            {
                "metric": one.metric,
                "kind": one.kind,
                "parameter": one.parameter,
                "share": one.share,
                "ci95_low": one.low,
                "ci95_high": one.high,
            }
            for one in tuning.indices
        ]
    )
    parameters = tuple(table["parameter"].unique(maintain_order=True))
    positions = {name: float(place) for place, name in enumerate(parameters)}
    return Figure(
        name="sensitivity",
        title="Which parameters matter",
        caption=(
            "Share of the variance over the space: alone (first-order Sobol index) and with interactions (total "
            f"index), with 95 % intervals by bootstrap; base {tuning.question['sensitivity']}"
            "; what is below 0 or above 1 is noise of the estimate"
        ),
        table=table,
        panels=[
            Panel(
                "bars",
                "parameter",
                "share",
                Axis(ticks=positions),
                Axis("Share of variance", 0.0),
                title=f"{metric}, {kind}",
                rows={"metric": metric, "kind": kind},
                by="parameter",
                labels=parameters,
            )
            for kind in KINDS.values()
            for metric in table["metric"].unique(maintain_order=True)
        ],
        height_in=3.9 if table["metric"].n_unique() == 1 else 6.5,
        columns=2 if table["metric"].n_unique() == 1 else table["metric"].n_unique(),
    )
