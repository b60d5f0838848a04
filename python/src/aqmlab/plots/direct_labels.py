"""Labels beside what they name, in place of a legend: at the right end of lines, beside curves and points.

All places are shares of the axes, so they hold whatever the layout makes of the figure; only the size of letters
beside that of the axes is estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from aqmlab.plots import style
from aqmlab.plots.label_styles import LabelStyle
from aqmlab.stats.statistics import Reals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From the axes to a label at the end of its line, and of that the part that leads to its height.
_LEAD, _BEND = 0.05, 0.025
# Heights on a curve at which its label is tried: the middle first.
_HEIGHTS = (0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.88, 0.12)
# No other curve is within this distance of a label, on the side of its own.
_CLEAR = 0.03
# Directions in which the label of a point is tried, the right first, and distances in heights of its letters.
_AROUND = ((1, 0), (1, 1), (1, -1), (0, 1), (0, -1), (-1, 0), (-1, 1), (-1, -1))
_FAR = (0.9, 1.7)
# Lines between points are seen as so many points.
_STEPS = 160


@dataclass(frozen=True)
class Size:
    """The size of axes in points, as far as it is known before the layout."""

    wide_pt: float
    tall_pt: float

    def box(self, text: str) -> tuple[float, float]:
        """Return width and height of a label, as shares of the axes."""
        letter = _letter_pt()
        return style.LETTER * letter * len(text) / self.wide_pt, 1.2 * letter / self.tall_pt


def _letter_pt() -> float:
    return float(mpl.rcParams["font.size"]) * 0.9


def at_ends(axes: Axes, names: Mapping[str, str], styles: Mapping[str, LabelStyle], size: Size) -> set[str]:
    """Write the label of each line right of the axes, at the height of its end, joined to it where it had to move.

    Return the labels that are written: all, or none where they have no room one above the other.
    """
    ends = {label: (x[-1], y[-1]) for label, (x, y) in _lines(axes).items() if label in names}
    ranked = sorted(ends, key=lambda label: ends[label][1])
    gap = 1.15 * _letter_pt() / size.tall_pt
    if gap * len(ranked) > 1.1:
        return set()
    for label, height in zip(
        ranked, _apart([min(max(ends[label][1], 0.0), 1.0) for label in ranked], gap), strict=True
    ):
        own: Any = {"color": styles[label].colour, "transform": axes.transAxes, "clip_on": False, "linewidth": 1.2}
        start = min(max(ends[label][1], 0.0), 1.0)
        axes.plot(
            [ends[label][0], _BEND + 1.0, 1.0 + _LEAD], [start, height, height], scalex=False, scaley=False, **own
        )
        _write(axes, names[label], 1.0 + _LEAD + 0.01, height, "left")
    return set(ranked)


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """Return ascending heights moved as little as keeps them apart, and within the axes where all have room.

    >>> [round(one, 2) for one in _apart([0.5, 0.52, 0.9], 0.1)]
    [0.46, 0.56, 0.9]

    """
    groups: list[list[float]] = []
    for height in heights:
        # Of a group its middle, and how many are in it.
        groups.append([height, 1.0])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2:
            middle, count = groups.pop()
            before = groups[-1]
            before[0] = (before[0] * before[1] + middle * count) / (before[1] + count)
            before[1] += count
            _within(before, gap)
    return [middle + gap * (place - (count - 1) / 2) for middle, count in groups for place in range(round(count))]


def _within(group: list[float], gap: float) -> None:
    half = gap * (group[1] - 1) / 2
    group[0] = min(max(group[0], half), max(1.0 - half, half))


def on_curves(axes: Axes, names: Mapping[str, str], size: Size) -> set[str]:
    """Write the label of each curve beside it where no other curve is; return those that have room."""
    lines = {label: line for label, line in _lines(axes).items() if label in names}
    dense = {label: _dense(*line) for label, line in lines.items()}
    filled = _Filled(np.concatenate([*dense.values(), np.empty((0, 2))]))
    done = set()
    for label, (x, y) in lines.items():
        across, up = size.box(names[label])
        others = np.concatenate([*(one for other, one in dense.items() if other != label), np.empty((0, 2))])
        for height in _HEIGHTS:
            inside = np.flatnonzero(np.diff(np.sign(y - height)) != 0)
            for place in inside[:1]:
                at = float(max(x[place], x[place + 1]))
                for left, side in (
                    (at + 0.015, "left"),
                    (float(min(x[place], x[place + 1])) - 0.015 - across, "right"),
                ):
                    # A label that is as near to another curve would name that one as well.
                    between = (left + across, left + across + _CLEAR) if side == "right" else (left - _CLEAR, left)
                    is_near = (others[:, 0] > between[0]) & (others[:, 0] < between[1])
                    is_near &= np.abs(others[:, 1] - height) < up / 2
                    if label in done or is_near.any():
                        continue
                    if filled.take(left, height - up / 2, across, up):
                        _write(axes, names[label], left if side == "left" else left + across, height, side)
                        done.add(label)
    return done


def at_points(axes: Axes, names: Mapping[str, str], styles: Mapping[str, LabelStyle], size: Size) -> set[str]:
    """Write the label of each point beside it, where nothing else is, joined to it; return those that have room."""
    points = {label: line for label, line in _lines(axes).items() if label in names}
    filled = _Filled(np.concatenate([np.column_stack(within_axes(axes, one)) for one in drawn(axes)]))
    done = set()
    for label, (x, y) in points.items():
        across, up = size.box(names[label])
        for far, (right, above) in ((far, one) for far in _FAR for one in _AROUND):
            middle = (
                x[-1] + right * (far * _letter_pt() / size.wide_pt + across / 2),
                y[-1] + above * far * _letter_pt() / size.tall_pt,
            )
            if filled.take(middle[0] - across / 2, middle[1] - up / 2, across, up):
                _write(axes, names[label], *middle, "center")
                near = (middle[0] - right * across / 2, middle[1] - (0 if right else above * up / 2))
                own: Any = {"color": styles[label].colour, "linewidth": 0.8, "zorder": 1.5}
                axes.plot(
                    [x[-1], near[0]], [y[-1], near[1]], transform=axes.transAxes, scalex=False, scaley=False, **own
                )
                done.add(label)
                break
    return done


class _Filled:
    """What of the axes is taken: points, and the boxes of labels."""

    def __init__(self, points: Reals) -> None:
        self._points = points
        self._boxes: list[tuple[float, float, float, float]] = []

    def take(self, left: float, low: float, across: float, up: float) -> bool:
        """Take a box, if it is within the axes and nothing is there."""
        right, high = left + across, low + up
        if left < 0.0 or low < 0.0 or right > 1.0 or high > 1.0:
            return False
        x, y = self._points[:, 0], self._points[:, 1]
        if np.any((x > left) & (x < right) & (y > low) & (y < high)):
            return False
        if any(left < b[2] and b[0] < right and low < b[3] and b[1] < high for b in self._boxes):
            return False
        self._boxes.append((left, low, right, high))
        return True


def _lines(axes: Axes) -> dict[str, tuple[Reals, Reals]]:
    """Return the places of each labelled line that are numbers, as shares of the axes."""
    handles, labels = axes.get_legend_handles_labels()
    found = {}
    for handle, label in zip(handles, labels, strict=True):
        # An error bar holds its line.
        line: Any = handle[0] if isinstance(handle, tuple) else handle
        x, y = within_axes(axes, line.get_xydata())
        if len(x):
            found[label] = (x, y)
    return found


def drawn(axes: Axes) -> list[Reals]:
    """Return points along all that is drawn, in units of the data."""
    dots = [np.asarray(one.get_offsets(), float).reshape(-1, 2) for one in axes.collections]
    ends = [np.asarray(part) for one in axes.collections for part in getattr(one, "get_segments", list)()]
    return [_between(np.asarray(line.get_xydata())) for line in axes.lines] + dots + [_between(one) for one in ends]


def _between(corners: Reals) -> Reals:
    """Return points along a line."""
    at = np.linspace(0.0, max(len(corners) - 1, 0), 20 * len(corners))
    known = np.arange(len(corners))
    return np.column_stack([np.interp(at, known, corners[:, 0]), np.interp(at, known, corners[:, 1])])


def within_axes(axes: Axes, points: Any) -> tuple[Reals, Reals]:
    """Return places in units of the data as shares of the axes, those that are numbers."""
    places = axes.transAxes.inverted().transform(axes.transData.transform(np.asarray(points, float).reshape(-1, 2)))
    places = places[np.isfinite(places).all(axis=1)]
    return places[:, 0], places[:, 1]


def _dense(x: Reals, y: Reals) -> Reals:
    """Return points along a staircase, which goes sideways first."""
    corners_x, corners_y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    far = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(corners_x)) + np.abs(np.diff(corners_y)))])
    at = np.linspace(0.0, far[-1], _STEPS * 2)
    return np.column_stack([np.interp(at, far, corners_x), np.interp(at, far, corners_y)])


def _write(axes: Axes, text: str, x: float, y: float, side: Any) -> None:
    axes.text(
        x, y, text, transform=axes.transAxes, ha=side, va="center", fontsize=_letter_pt(), color=style.INK, zorder=5
    )


__all__ = ["Size", "at_ends", "at_points", "on_curves"]
