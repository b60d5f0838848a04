"""Spots: settings that are named in the figure of a sweep, such as a rule's threshold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from aqmlab.plots.figure import Figure
from aqmlab.plots.panel import Annotation, Axis, Panel
from aqmlab.vocabulary import quantities
from aqmlab.vocabulary.errors import InputError, unknown


def with_annotations(figure: Figure, texts: Sequence[str]) -> Figure:
    """Return the figure of a sweep with annotations, each as ``NAME: SWEPT=VALUE ...``.

    Raises:
        InputError: if a text is not of this form, or its values are not within those that were swept.

    """
    return replace(figure, panels=[_with(panel, texts) for panel in figure.panels]) if texts else figure


def _with(panel: Panel, texts: Sequence[str]) -> Panel:
    return replace(panel, annotations=tuple(_annotation(panel, text) for text in texts))


def _annotation(panel: Panel, text: str) -> Annotation:
    read = re.fullmatch(r"([^:]+):\s*(\S+=\S+(?:\s+\S+=\S+)*)\s*", text)
    if read is None:
        raise InputError(
            f"--mark: '{text}' is not of the form 'NAME: SWEPT=VALUE ...', as 'rule: kmin=400kb kmax=1600kb'"
        )
    values = dict(pair.split("=", 1) for pair in read[2].split())
    axes = {panel.x: panel.x_axis, panel.y: panel.y_axis} if panel.mark == "map" else {panel.x: panel.x_axis}
    if panel.mark not in ("map", "line"):
        raise InputError("--mark: this sweep is drawn without an axis for each swept name")
    for name in values.keys() - axes.keys():
        raise unknown("swept name of --mark", name, list(axes))
    for name in axes.keys() - values.keys():
        raise InputError(f"--mark: '{text}' has no value of '{name}'")
    across, *up = (_place(name, values[name], axis) for name, axis in axes.items())
    return Annotation(read[1].strip(), across, up[0] if up else None)


def _place(name: str, value: str, axis: Axis) -> float:
    """Return where a value is on an axis, between the swept ones by its ratio to them."""
    found = quantities.read([value, *axis.ticks])
    if found is None or min(found[1]) <= 0.0:
        raise InputError(f"--mark: {name}={value} has no place between {', '.join(axis.ticks)}")
    (size, *sizes), positions = found[1], list(axis.ticks.values())
    if not min(sizes) <= size <= max(sizes):
        raise InputError(f"--mark: {name}={value} is outside of what was swept: {', '.join(axis.ticks)}")
    if positions == sizes:
        return size
    order = np.argsort(sizes)
    return float(np.interp(np.log(size), np.log(np.array(sizes)[order]), np.array(positions)[order]))
