"""Figures of a search: the effect of each factor, and the results at each level."""

from __future__ import annotations

import math

from aqmlab.plots import Axis, Figure, Panel
from aqmlab.search.frames import FIXED, effects, levels, short_names
from aqmlab.search.outcome import Outcome
from aqmlab.search.settings_table import seeds

ROW_IN = 0.27


def draw(outcome: Outcome) -> list[Figure]:
    """Return the figures of a search."""
    return [_effects(outcome), _levels(outcome)]


def _effects(outcome: Outcome) -> Figure:
    table = effects(outcome)
    titles = {"all": "(a) Over all combinations", "around": "(b) One at a time"}
    claims = {claim: float(place) for place, claim in enumerate(table["claim"].unique(maintain_order=True))}
    return Figure(
        name="search-effects",
        title=f"Effect of each factor on {outcome.search.own}'s value in each claim",
        caption=(
            f"Largest less smallest mean over a factor's levels, as % of the printed value (of the mean if none is "
            f"printed); pale: within chance (95 %). (a): over {len(outcome.sample)} settings "
            f"drawn from all combinations; (b): one factor at a time, all others as in the scenario files"
        ),
        table=table,
        panels=[
            Panel(
                "heat",
                "claim",
                "factor",
                Axis("Claim", ticks=claims),
                Axis(),
                title=title,
                rows={"kind": kind},
                value="size",
                strong="seen",
                has_names=kind == "all",
            )
            for kind, title in titles.items()
        ],
        height_in=1.1 + ROW_IN * len(outcome.search.factors),
        columns=len(titles),
    )


def _levels(outcome: Outcome) -> Figure:
    table = levels(outcome)
    own = outcome.search.own
    claims = tuple(name for name in table.columns if name not in FIXED)
    names = {name: float(place) for place, name in enumerate(short_names(claims))}
    closest, closest_own = (outcome.fresh[one[0].setting] for one in (outcome.closest, outcome.closest_own))
    nearest = {"all AQMs": closest.distance, own: closest_own.own}
    return Figure(
        name="search-levels",
        title="Claims and distance by level",
        caption=(
            f"(a): % of the settings with this level in which the claim's direction holds; (b): mean distance from the "
            f"printed numbers as a factor (1: equal), all AQMs and {own} only; dashed: the closest setting, "
            f"with fresh seeds. {len(outcome.sample)} settings drawn from all combinations, "
            f"{seeds(outcome)} each"
        ),
        table=table,
        panels=[
            Panel(
                "heat",
                "",
                "level",
                Axis("Claim", ticks=names),
                Axis(),
                title="(a) Share of settings in which the claim holds",
                columns=claims,
                group="factor",
            ),
            Panel(
                "dots",
                "",
                "level",
                Axis("Typical ratio, measured to printed or back", 1.0),
                Axis(),
                title="(b) Distance from the printed numbers",
                columns=("ratio", "own_ratio"),
                labels=tuple(nearest),
                numbers={label: math.exp(distance) for label, distance in nearest.items()},
                group="factor",
                has_names=False,
            ),
        ],
        height_in=1.3 + ROW_IN * len(table),
        columns=2,
    )
