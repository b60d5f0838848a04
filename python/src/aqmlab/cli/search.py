"""A search, formatted for a terminal."""

from __future__ import annotations

from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table

from aqmlab.cli.terminal import Text
from aqmlab.search import Outcome
from aqmlab.search.frames import short_names
from aqmlab.search.settings_table import closest, conclusion, ratio


def shown(outcome: Outcome) -> RenderableType:
    """Return a search for a terminal of 100 columns."""
    own = outcome.search.own
    count = len(outcome.sample)
    return Group(
        Text("Search for values that the paper leaves open", style="bold"),
        *(Text(line) for line in conclusion(outcome)),
        "",
        _closest(outcome),
        "",
        Text.assemble(("Effect of each factor", "bold"), f" ({own}'s value, % of the paper's)"),
        Text(f"Largest less smallest mean of a level, over {count} settings; dim: within chance", style="dim"),
        _effects(outcome),
        "",
        Text.assemble(
            ("Levels", "bold"), " (typical ratio to the paper's numbers; % of settings in which a claim holds)"
        ),
        _levels(outcome),
        "",
    )


def _closest(outcome: Outcome) -> Table:
    found = closest(outcome)
    table = _table("", *found.columns)
    for name, cells in found.rows:
        table.add_row(name, *cells)
    return table


def _effects(outcome: Outcome) -> Table:
    claims = list(dict.fromkeys(one.claim for one in outcome.effects))
    table = _table("Claim", *short_names(claims), padding=1)
    for factor in outcome.search.factors:
        own = [one for one in outcome.effects if one.factor == factor.name]
        table.add_row(factor.name, *(Text(_percent(one.size), style="" if one.is_seen else "dim") for one in own))
    noise = [Text(_percent(outcome.seed_noise[claim]), style="dim") for claim in claims]
    table.add_row(Text("error of one setting", style="dim"), *noise)
    return table


def _levels(outcome: Outcome) -> Table:
    claims = [target.name for target in outcome.targets]
    table = _table("Factor", "level", "all", outcome.search.own, *short_names(claims), padding=1)
    table.columns[1].justify = "left"
    for factor, group in groupby(outcome.levels, lambda one: one.factor):
        for number, one in enumerate(group):
            shares = [_percent(one.holding[claim]) for claim in claims]
            table.add_row("" if number else factor, one.level, ratio(one.distance), ratio(one.own), *shares)
    return table


def _table(first: str, *others: str, padding: int = 2) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, padding, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _percent(share: float) -> str:
    return f"{share * 100:.0f}"


__all__ = ["shown"]
