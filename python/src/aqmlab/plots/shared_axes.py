"""Axes that panels share: those of results side by side, and those of quantities over the same time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.plots.panel import Panel
from aqmlab.vocabulary import metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Marks of which each result has a vertical axis of its own: goodput of links of other rates, of which a shared axis
# would make lines.
APART_BY_RESULT = ("cloud", "front", "crosses")
# Where rates of results have more than this ratio, the small ones would be flat on a shared axis. Delays and losses
# share theirs always: that one result has hardly any is what a figure of them is to show.
WIDE = 8.0
# A peak so many times as high as all else that was measured is cut off, this much above that.
PEAK, ABOVE_MEASURED = 2.0, 1.25
# So many samples in a row show a rate that lasts.
LASTING = 5

Painted = Sequence[tuple[Panel, "Axes"]]


def join(painted: Painted) -> set[Axes]:
    """Give the panels of a kind the limits of all their data, and so the same axes, scales and units.

    Return those that have a vertical axis of their own all the same.
    """
    facets = len({panel.facet for panel, _ in painted})
    apart: set[Axes] = set()
    for first in range(0, len(painted), facets):
        same = painted[first : first + facets]
        limits = [own.dataLim.frozen() for _, own in same]
        least = [(own.dataLim.minposx, own.dataLim.minposy) for _, own in same]
        corners = [(x, y) for one in limits for x, y in (one.min, one.max) if math.isfinite(x) and math.isfinite(y)]
        corners += [(x, y) for x, y in least if math.isfinite(x) and math.isfinite(y)]
        keeps_y = same[0][0].mark in APART_BY_RESULT or _is_wide(same[0][0], [one.y1 for one in limits])
        for _, own in same:
            own_low = own.dataLim.y0
            own.update_datalim([(x, own_low if keeps_y else y) for x, y in corners])
            own.autoscale_view()
        if keeps_y:
            apart |= {own for _, own in same}
    return apart


def _is_wide(panel: Panel, tops: Sequence[float]) -> bool:
    metric = metrics.find(panel.rows.get("metric", panel.rows.get("name", "")))
    known = [top for top in tops if 0.0 < top < math.inf]
    is_rate = metric.better == "higher" and not panel.y_axis.is_log
    return is_rate and bool(known) and max(known) > WIDE * min(known)


def align_ticks(painted: Painted) -> None:
    """Give ticks over time the horizontal axis of the lines of their result."""
    over_time = {panel.facet: own.get_xlim() for panel, own in painted if panel.mark == "line"}
    for panel, own in painted:
        if panel.mark == "ticks" and panel.facet in over_time:
            own.set_xlim(over_time[panel.facet])


def cut_peaks(painted: Painted) -> None:
    """End the axis of a quantity above what was measured of it, where a peak would flatten all else.

    Such peaks are those of the warm-up, and those of goodput where a retransmission fills a gap: all that waited behind
    it is delivered at once, many times as fast as the link.
    """
    for panel, own in painted:
        if panel.mark != "line" or panel.y_axis.low is None or panel.y_axis.is_log:
            continue
        highest = _measured(panel, own)
        if 0.0 < PEAK * highest < own.dataLim.y1:
            own.dataLim.intervaly = (own.dataLim.y0, ABOVE_MEASURED * highest)


def _measured(panel: Panel, axes: Axes) -> float:
    """Return the highest number behind the warm-up; of what is best high, the highest that lasts."""
    end = 0.0 if panel.shaded is None else panel.shaded[0]
    lines = [np.asarray(line.get_xydata(), float) for line in axes.lines if line.get_label() in panel.labels]
    measured = [np.nan_to_num(line[line[:, 0] >= end, 1]) for line in lines]
    if metrics.find(panel.rows.get("name", "")).better == "higher":
        measured = [_lasting(line) for line in measured]
    return max((float(line.max(initial=0.0)) for line in measured), default=0.0)


def _lasting(values: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    """Return running medians, in which a peak of less than half of their samples is not seen."""
    if len(values) < LASTING:
        return values
    medians: np.ndarray[Any, np.dtype[Any]] = np.median(
        np.lib.stride_tricks.sliding_window_view(values, LASTING), axis=1
    )
    return medians


__all__ = ["Painted", "align_ticks", "cut_peaks", "join"]
