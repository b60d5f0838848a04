"""Draws a search: what each factor moves, and how each level fares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from aqmlab.plots import style
from aqmlab.plots.model import Figure
from aqmlab.search.frames import effects, levels, short_names
from aqmlab.search.outcome import Outcome
from aqmlab.search.table import seeds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ROW_IN = 0.27
# Effects from here on look alike: the whole printed value.
FULL = 1.0


def draw(outcome: Outcome) -> list[Figure]:
    """Return the figures of a search."""
    count = len(outcome.sample)
    own = outcome.search.own
    nearest = (outcome.closest[0].distance, outcome.closest_own[0].own)
    return [
        Figure(
            name="search-effects",
            title=f"What each unknown moves: {own}'s value in each claim",
            caption=(
                f"Largest less smallest mean over a factor's levels, as % of the printed value (of the mean, where "
                f"none is printed); pale: no more than chance gives 95 times of 100. (a): over {count} settings drawn "
                f"from all combinations; (b): one factor at a time, all others as in the scenario files"
            ),
            table=effects(outcome),
            painter=_paint_effects,
        ),
        Figure(
            name="search-levels",
            title="Claims and distance by level",
            caption=(
                f"(a): % of the settings with this level in which the claim's direction holds; (b): mean distance from "
                f"the printed numbers as a factor (1: equal), all AQMs and {own} alone; dashed: the closest setting. "
                f"{count} settings drawn from all combinations, {seeds(outcome)} each"
            ),
            table=levels(outcome),
            painter=lambda table: _paint_levels(table, own, nearest),
        ),
    ]


def _paint_effects(table: pl.DataFrame) -> Canvas:
    factors = table["factor"].unique(maintain_order=True).to_list()
    canvas, axes = style.panels(2, height_in=1.1 + ROW_IN * len(factors))
    titles = {"all": "(a) Over all combinations", "around": "(b) One at a time"}
    for panel, (kind, title) in zip(axes, titles.items(), strict=True):
        rows = table.filter(pl.col("kind") == kind)
        claims = rows["claim"].unique(maintain_order=True).to_list()
        sizes = rows["size"].to_numpy().reshape(len(factors), len(claims))
        seen = rows["seen"].to_numpy().reshape(sizes.shape)
        shown = np.where(seen, np.minimum(sizes, FULL), 0.0)
        labels = [[_percent(size) for size in row] for row in sizes]
        _heat(panel, np.sqrt(shown), "Blues", labels, seen)
        _name(panel, factors if panel is axes[0] else [""] * len(factors), claims, title)
    return canvas


def _paint_levels(table: pl.DataFrame, own: str, nearest: tuple[float, float]) -> Canvas:
    claims = [name for name in table.columns if name not in ("factor", "level", "settings", "distance", "own_distance")]
    names = table["level"].to_list()
    canvas, (left, right) = style.panels(2, height_in=1.3 + ROW_IN * len(names))
    shares = table.select(claims).to_numpy()
    labels = [[_percent(share) for share in row] for row in shares]
    _heat(left, shares, "Greens", labels, np.ones(shares.shape, bool))
    _name(left, names, short_names(claims), "(a) Share of settings in which the claim holds")
    _group(left, table["factor"].to_list())
    places = np.arange(len(names))
    for column, label, colour, least in (
        ("distance", "all AQMs", style.PALETTE[0], nearest[0]),
        ("own_distance", own, style.PALETTE[1], nearest[1]),
    ):
        right.plot(np.exp(table[column].to_numpy()), places, "o", color=colour, markersize=5, label=label)
        right.axvline(np.exp(least), color=colour, linestyle=(0, (5, 2)), linewidth=1.0)
    right.set_ylim(len(names) - 0.5, -0.5)
    right.set_yticks(places, [""] * len(names))
    right.set_xlim(left=1.0)
    right.set_title("(b) Distance from the printed numbers", fontsize=10, loc="left")
    right.set_xlabel("Typical ratio, measured to printed or back", fontsize=9)
    _divide(right, table["factor"].to_list())
    right.legend(loc="lower right", frameon=True, framealpha=0.9, edgecolor="none")
    return canvas


def _heat(axes: Axes, values: Any, colours: str, labels: Sequence[Sequence[str]], strong: Any) -> None:
    axes.imshow(values, cmap=colours, vmin=0.0, vmax=1.25, aspect="auto", interpolation="nearest")
    for row, texts in enumerate(labels):
        for column, text in enumerate(texts):
            dark = strong[row][column] and values[row][column] > 0.75
            colour = "white" if dark else style.INK if strong[row][column] else "#a0a8b0"
            axes.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _name(axes: Axes, rows: Sequence[str], columns: Sequence[str], title: str) -> None:
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_xticks(range(len(columns)), columns, fontsize=8)
    axes.set_xlabel("Claim", fontsize=9)
    axes.set_title(title, fontsize=10, loc="left")


def _group(axes: Axes, factors: Sequence[str]) -> None:
    """Write each factor's name beside its levels."""
    for factor in dict.fromkeys(factors):
        first = factors.index(factor)
        last = first + factors.count(factor) - 1
        place = (-0.3, (first + last) / 2)
        axes.text(*place, factor, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=8)
    _divide(axes, factors)


def _divide(axes: Axes, factors: Sequence[str]) -> None:
    for place in range(1, len(factors)):
        if factors[place] != factors[place - 1]:
            axes.axhline(place - 0.5, color="#8c959f", linewidth=0.7)


def _percent(share: float) -> str:
    return f"{share * 100:.0f}" if share < 9.995 else f"{share:.0f}x"
