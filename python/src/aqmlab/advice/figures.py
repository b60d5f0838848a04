"""The figures of an advice: what each setup brings and costs."""

from __future__ import annotations

import polars as pl

from aqmlab.advice.verdict import PING, TOTAL, Choice
from aqmlab.plots import PAPER, Axis, Figure, Panel

SHOWN = {
    PING: ("Increase of the round trip (ms)", "Waiting while the line is full: less is better"),
    "page_load_s": ("Page load (s)", "Waiting for a page: less is better; at least this where none finished"),
    TOTAL: ("Goodput (Mbit/s)", "What is carried, both directions together: more is better"),
}
HEIGHT_IN = 3.2


def figures(verdict: Choice) -> list[Figure]:
    """Return bars with intervals: what is waited for, and what is carried."""
    names = tuple(one.name for one in verdict.judged)
    positions = {name: float(place) for place, name in enumerate(names)}
    reals = dict.fromkeys(("mean", "ci95_low", "ci95_high"), pl.Float64)
    found = []
    for metric, (label, caption) in SHOWN.items():
        values = [one.values[metric] for one in verdict.judged]
        rows = [
            (name, value.value, *(value.value if end is None else end for end in (value.low, value.high)))
            for name, value in zip(names, values, strict=True)
        ]
        table = pl.DataFrame(rows, {"aqm": pl.String, **reals}, orient="row")
        panel = Panel("bars", "aqm", "mean", Axis(ticks=positions), Axis(label, 0.0), labels=names)
        found.append(Figure(metric, label, caption, table, [panel], HEIGHT_IN))
    return found


def drawn(figure: Figure) -> str:
    """Return a figure as SVG, so narrow that a phone shows it at its size."""
    return figure.content("svg", PAPER).decode()
