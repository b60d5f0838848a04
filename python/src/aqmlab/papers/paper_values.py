"""The paper's own numbers in a figure: lines across a panel, or marks at a time or at a point of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aqmlab.papers.claims import Claim
from aqmlab.papers.figure_specs import Panel
from aqmlab.results.measures import Measure
from aqmlab.vocabulary.names import plain


@dataclass(frozen=True)
class Printed:
    """A claim's numbers in the unit of a panel: values of AQMs as such, and values at places of the horizontal axis."""

    lines: Mapping[str, float] = field(default_factory=dict)
    marks: Mapping[str, Sequence[tuple[str | float, float]]] = field(default_factory=dict)


def printed(panel: Panel, claim: Claim | None, aqms: Sequence[str]) -> Printed:
    """Return the numbers of a claim that belong into a panel: of its AQMs, and, if it has several, of its measure."""
    lines: dict[str, float] = {}
    marks: dict[str, list[tuple[str | float, float]]] = {}
    if claim is None:
        return Printed()
    named = {plain(aqm): aqm for aqm in aqms}
    for side in claim.operands:
        measure = claim.measures[side.measure]
        is_shown = len(claim.measures) == 1 or _shows(panel, measure)
        aqm = named.get(plain(side.aqm))
        if side.text not in claim.paper or aqm is None or not is_shown:
            continue
        value = claim.paper[side.text] / claim.scale * panel.scale
        place = _place(panel, measure)
        if place is None:
            lines[aqm] = value
        else:
            marks.setdefault(aqm, []).append((place, value))
    return Printed(lines, marks)


def _shows(panel: Panel, measure: Measure) -> bool:
    """Whether a panel shows what is measured; over time, a series is shown that others reduce to a number."""
    reduced = panel.how or "mean"
    alike = panel.kind in ("time", "periods") or measure.how == reduced
    return measure.scenario == panel.scenario and measure.of == panel.of and alike


def _place(panel: Panel, measure: Measure) -> str | float | None:
    """Return where on the axis of a panel a measure is taken; nowhere if it is of the whole run."""
    if panel.kind in ("time", "periods"):
        is_end = measure.how == "last" or panel.kind == "periods"
        return measure.until_s if is_end else None
    if panel.kind in ("sweep", "groups"):
        return ", ".join(value for key, value in measure.point if key != panel.lines) or None
    return None


__all__ = ["Printed", "printed"]
