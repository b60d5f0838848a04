"""Sweeps: the points of what is swept, as the resolver in Rust reads them (`aqm_scenario::sweep`).

Values are a list, as ``5ms,20ms``, or a range, as ``1ms..20ms*8`` for eight values at equal distances and
``1ms..100ms*8log`` for equal ratios. A sample (``latin*30``, ``sobol*32``) needs no number of values: each point has a
value of its own from every range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab import _native
from aqmlab._native import Range
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.metrics import METRICS
from aqmlab.vocabulary.units import as_text

# Swept values become columns beside these.
RESERVED = (
    *("point", "aqm", "seed", "engine", "events", "bottleneck_packets", "cpu_s", "warnings", "key", "reference"),
    *(
        "metric",
        "mean",
        "ci95_low",
        "ci95_high",
        "n",
        "method",
        "difference",
        "p",
        "p_holm",
        "distinguishable",
        "equivalent",
        "words",
    ),
    *("scenario", "time_s", "name", "value", "value_ns", "count", "share"),
)
_COLUMNS = [*RESERVED, *(metric.name for metric in METRICS)]


def points(
    sweep: Mapping[str, Any], design: str, table: Mapping[str, Any], named: Mapping[str, str], place: str
) -> list[tuple[dict[str, str], dict[str, Any]]]:
    """Return the points of a sweep of options or values; one empty point if nothing is swept.

    Each point has what its values are called, and the values.

    Args:
        sweep: per name a list of values, a table of names and values, or text; values that belong together are a table
            under each name.
        design: ``grid`` for all combinations, ``latin*N`` or ``sobol*N`` for a sample of N.
        table: the options that are not swept.
        named: the values that are not swept.
        place: start of every message.

    Raises:
        InputError: naming the swept name and what is allowed.

    """
    entries = [(name, _texts(given)) for name, given in sweep.items()]
    try:
        called, rows = _native.sweep_points(entries, design, _draw, [*table, *named], _COLUMNS)
    except InputError as error:
        raise InputError(f"{place}{error}") from None
    values = [_values(names, given) for names, given in zip(called, sweep.values(), strict=True)]
    found = []
    for row in rows:
        point: dict[str, Any] = {}
        for name, label, own in zip(sweep, row, values, strict=True):
            value = own.get(label, label)
            point.update(value if isinstance(value, dict) else {name: value})
        found.append((dict(zip(sweep, row, strict=True)), point))
    return found


def _draw(sampler: str, count: int, dimensions: int) -> list[list[float]]:
    # Not above: they need NumPy, which no command loads at its start.
    from aqmlab.stats import sobol
    from aqmlab.stats.hypercube import even

    try:
        shares = sobol.points(count, dimensions) if sampler == "sobol" else even(count, dimensions)
    except InputError as error:
        raise InputError(f"sweep: {error}") from None
    found: list[list[float]] = shares.tolist()
    return found


def _values(names: Sequence[str] | None, given: Any) -> dict[str, Any]:
    """Return the values of a name by what they are called; of a range and of text each is called what it is."""
    if names is None or isinstance(given, str):
        return {}
    return dict(zip(names, given.values() if isinstance(given, dict) else given, strict=True))


def _texts(given: Any) -> Any:
    """Return values as text, however deep they are."""
    if isinstance(given, Mapping):
        return {str(name): _texts(value) for name, value in given.items()}
    if isinstance(given, list | tuple):
        return [_texts(value) if isinstance(value, dict) else _one(value) for value in given]
    return given if isinstance(given, str) else None


def _one(value: Any) -> Any:
    return [as_text(one) for one in value] if isinstance(value, list) else as_text(value)


__all__ = ["Range", "points"]
