"""The verdicts of the full form that are kept with the project, to stand beside those of a quick one."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from aqmlab.papers.verdicts import Verdict
from aqmlab.vocabulary.errors import InputError, unknown

FILE = "generated/verdicts.csv"


def read(folder: Path, claims: Iterable[str], presets: Iterable[str]) -> Mapping[str, Mapping[str, Verdict]]:
    """Return the verdict of each claim by preset, from the paper's folder; empty if none are kept there.

    Raises:
        InputError: naming the file, and the claim, preset or verdict that is unknown.

    """
    file = folder / FILE
    if not file.is_file():
        return {}
    known = {"claim": tuple(claims), "preset": tuple(presets), "verdict": tuple(Verdict)}
    found: dict[str, dict[str, Verdict]] = {preset: {} for preset in presets}
    with file.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            for what, names in known.items():
                if row.get(what) not in names:
                    raise InputError(f"{file}: {unknown(what, str(row.get(what)), list(names))}")
            found[row["preset"]][row["claim"]] = Verdict(row["verdict"])
    return found


__all__ = ["FILE", "read"]
