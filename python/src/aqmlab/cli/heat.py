"""A sweep on a terminal: a heat map of settings and AQMs, and the settings in which AQMs change places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding

from aqmlab.cli import columns
from aqmlab.cli.terminal import Text
from aqmlab.results import Result
from aqmlab.results.heat import HeatCell, heat_maps, heat_notes
from aqmlab.results.notes import few_seeds
from aqmlab.results.over_settings import flips

# From the best to the worst of all, without colours.
SHADES = " ░▒▓█"
# A larger sweep has a letter for each setting instead of a line.
MOST_LINES = 24
MOST_FLIPS = 6


def heat(shown: Result, names: Mapping[str, str], width: int) -> list[RenderableType]:
    """Return the heat maps of a sweep, for a terminal of this width."""
    if len(shown.points) <= MOST_LINES:
        notes = [Text(one, "dim") for one in heat_notes(shown, heat_maps(shown))]
        return [*_lines(shown, names, width), *notes]
    # Shades have neither values nor marks.
    few = few_seeds(shown)
    return [*_maps(shown, names, width), *([Text(few, "dim")] if few else [])]


def flipped(shown: Result) -> list[RenderableType]:
    """Return in words where AQMs change places."""
    if len(shown.aqms) < 2 or len(shown.seeds) < 2:
        return []
    found = flips(shown)
    if not found:
        return [Text("No flips: no two AQMs change places beyond chance.")]
    more = [Text(f"  and {len(found) - MOST_FLIPS} more", "dim")] if len(found) > MOST_FLIPS else []
    lines = [Padding(Text(one.words(shown.points)), (0, 0, 0, 2)) for one in found[:MOST_FLIPS]]
    return [Text("Flips, both beyond chance (in how many settings):", "bold"), *lines, *more]


def _lines(shown: Result, names: Mapping[str, str], width: int) -> list[RenderableType]:
    """Return a line for each setting: shade and value of every AQM, metric beside metric as far as there is room."""
    maps = heat_maps(shown)
    parts: list[RenderableType] = []
    settings = [" ".join(f"{key} {value}" for key, value in point.items()) for point in shown.points]
    left = min(max(map(len, settings), default=0), columns.LONGEST_NAME)
    cell = max((len(names[aqm]) for aqm in shown.aqms), default=0)
    needed = len(shown.aqms) * (max(cell, 8) + columns.GAP)
    beside = max(1, (width - left) // needed)
    for start in range(0, len(maps), beside):
        some = maps[start : start + beside]
        heads = [(f"{one.column.title}, {one.column.unit}", names[aqm]) for one in some for aqm in shown.aqms]
        lines = [
            (setting, [_cell(one.rows[place][aqm]) for one in some for aqm in shown.aqms])
            for place, setting in enumerate(settings)
        ]
        parts += ["", columns.table(heads, lines)] if parts else [columns.table(heads, lines)]
    return parts


def _cell(cell: HeatCell) -> Text:
    return columns.marked(f"{_shade(cell.heat)} {cell.text}", cell.mark)


def _shade(heat: float) -> str:
    return SHADES[min(int(heat * len(SHADES)), len(SHADES) - 1)]


def _maps(shown: Result, names: Mapping[str, str], width: int) -> list[RenderableType]:
    """Return a map for each metric: a line for each setting but for the last name, whose values stand side by side."""
    *_, last = shown.points[0]
    values = list(dict.fromkeys(point[last] for point in shown.points))
    rows = list(dict.fromkeys(tuple(value for key, value in point.items() if key != last) for point in shown.points))
    if len(rows) > MOST_LINES or len(rows) * len(values) != len(shown.points):
        return [Text("A sample of settings, or too many for a map: the page has their chart.", "dim")]
    places = {tuple(point.values()): place for place, point in enumerate(shown.points)}
    order = list(shown.points[0])
    left = max(len(" ".join(row)) for row in rows)
    room = max(1, (width - left) // (max(len(values), 8) + columns.GAP))
    parts: list[RenderableType] = []
    for one in heat_maps(shown):
        aqms = shown.aqms[:room]
        scale = f"   blank to {SHADES[-1]}: {one.scale}"
        parts.append(Text.assemble((f"{one.column.title}, {one.column.unit}", "bold"), (scale, "dim")))
        wide = [max(len(values), len(names[aqm])) + columns.GAP for aqm in aqms]
        head = "".join(f"{names[aqm]:>{size}}" for aqm, size in zip(aqms, wide, strict=True))
        parts.append(Text(" " * left + head))
        for row in rows:
            line = Text(f"{' '.join(row):<{left}}")
            for aqm, size in zip(aqms, wide, strict=True):
                shades = "".join(_shade(one.rows[places[_key(order, last, row, value)]][aqm].heat) for value in values)
                line.append(f"{shades:>{size}}")
            parts.append(line)
        if len(aqms) < len(shown.aqms):
            parts.append(Text(f"{len(shown.aqms) - len(aqms)} more AQMs: in the page", "dim"))
        parts.append("")
    parts.append(Text(f"Side by side: {last} {values[0]} to {values[-1]}.", "dim"))
    return parts


def _key(order: Sequence[str], last: str, row: tuple[str, ...], value: str) -> tuple[str, ...]:
    rest = iter(row)
    return tuple(value if name == last else next(rest) for name in order)


__all__ = ["flipped", "heat"]
