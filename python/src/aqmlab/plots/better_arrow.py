"""An arrow that says where points are better, in a corner that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.plots import direct_labels, style
from aqmlab.vocabulary import metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Middles of the corners, as shares of the axes: that where the worst points would be is tried last but one.
_CORNERS = ((0.88, 0.14), (0.12, 0.14), (0.88, 0.86), (0.12, 0.86))
# Half of the room that it takes, and half of its length.
_ROOM = (0.13, 0.12)
_HALF = (0.05, 0.05)


def paint(axes: Axes, x: str, y: str) -> None:
    """Paint an arrow towards better values of both metrics; none where one has no better side, or no corner is free."""
    directions = [{"higher": 1, "lower": -1}.get(metrics.find(name).better, 0) for name in (x, y)]
    if 0 in directions:
        return
    taken = [np.column_stack(direct_labels.within_axes(axes, one)) for one in direct_labels.drawn(axes)]
    taken += [np.array([text.get_position()]) for text in axes.texts]
    filled = np.concatenate(taken) if taken else np.empty((0, 2))
    for corner in _CORNERS:
        if not np.any(np.all(np.abs(filled - corner) <= _ROOM, axis=1)):
            tail = (corner[0] - directions[0] * _HALF[0], corner[1] - directions[1] * _HALF[1])
            head = (corner[0] + directions[0] * _HALF[0], corner[1] + directions[1] * _HALF[1])
            arrow = {"arrowstyle": "-|>", "color": style.INK, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", head, tail, "axes fraction", "axes fraction", arrowprops=arrow)
            axes.text(
                corner[0],
                corner[1] - _HALF[1] - 0.02,
                "better",
                transform=axes.transAxes,
                ha="center",
                va="top",
                fontsize="small",
                color=style.INK,
            )
            return


__all__ = ["paint"]
