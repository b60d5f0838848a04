"""Names of files for single runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from aqmlab.vocabulary.errors import InputError, unknown

if TYPE_CHECKING:
    from aqmlab.results import Result


# Of a label, so many letters are in the name of a file.
_LONGEST = 80


class RunName(NamedTuple):
    """A run of a result, and the name of its file without an ending."""

    point: int
    aqm: str
    seed: int
    file: str


def runs(
    result: Result, aqm: str | None = None, seed: int | None = None, point: int | None = None
) -> Iterator[RunName]:
    """Return the finished runs with this AQM, seed and number of the scenario; all of what is not given.

    Raises:
        InputError: naming what the result does not have.

    """
    if aqm is not None and aqm not in result.aqms:
        raise unknown("aqm", aqm, result.aqms)
    for name, value in (("seed", seed), ("point", point)):
        known = sorted(set(result.runs[name].to_list()))
        if value is not None and value not in known:
            raise InputError(f"{name} {value}: the result has no such run; it has {_listed(known)}")
    found = []
    for number, label, one in result.runs.select("point", "aqm", "seed").iter_rows():
        if (aqm in (None, label)) and (seed in (None, one)) and (point in (None, number)):
            place = f"{number}-" if len(result.points) > 1 else ""
            brief = short(label)
            # Labels that differ by other letters alone. No short one has two dashes in a row.
            alike = [other for other in result.aqms if short(other) == brief]
            twin = f"--{alike.index(label) + 1}" if len(alike) > 1 else ""
            found.append(RunName(number, label, one, f"{place}{brief}{twin}-{one}"))
    if not found:
        asked = (("aqm", aqm), ("seed", seed), ("point", point))
        wanted = ", ".join(f"{name} {value}" for name, value in asked if value is not None)
        raise InputError(f"{wanted}: no run of the result has all of these")
    yield from found


def _listed(numbers: list[int]) -> str:
    """Name the first and the last where all between are there, or each."""
    first, last = numbers[0], numbers[-1]
    whole = len(numbers) > 2 and last - first == len(numbers) - 1
    return f"{first} to {last}" if whole else ", ".join(map(str, numbers))


def short(label: str) -> str:
    """Return what of a label may be in the name of a file."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", label)[:_LONGEST].strip("-")


__all__ = ["RunName", "runs", "short"]
