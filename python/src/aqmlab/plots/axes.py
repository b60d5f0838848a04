"""Axes of metrics in figures that compare points: where they begin, so that a small difference is drawn small."""

from __future__ import annotations

from aqmlab.plots.panel import Axis
from aqmlab.vocabulary import metrics

# What is best at zero (delay, loss, stalls) begins there: its ratios are seen, and a delay cut by half is half as far.
# What is best high (goodput, utilization, fairness) lies near a bound that all come close to: from zero all points
# would be in one corner, and cut to the data 0.3 % would look like a cliff. A tenth of the largest number shows a loss
# of 2 % clearly, and one of 0.3 % hardly, as it is.
SPAN = 0.1


def of_metric(name: str, *, with_aim: bool = False) -> Axis:
    """Return the axis of a metric, with the better direction if wanted.

    >>> of_metric("qdelay_mean_ms").low, of_metric("goodput_mbit").low, of_metric("goodput_mbit").span
    (0.0, None, 0.1)

    """
    metric = metrics.find(name)
    label = metric.aim if with_aim else metric.title
    return Axis(label, 0.0) if metric.better == "lower" else Axis(label, span=SPAN)


__all__ = ["SPAN", "of_metric"]
