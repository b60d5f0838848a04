"""How a paper's definition names the AQMs of a result: by discipline, by preset, or by label."""

from __future__ import annotations

from aqmlab.results.result import Result
from aqmlab.vocabulary.names import plain


def labels_by_discipline(result: Result) -> dict[str, str]:
    """Return the AQMs' labels by their names.

    The name is the discipline's; where one is there several times, with its preset, or else the label.
    """
    entries = result.scenarios[0]["aqm"]
    labels = [str(entry["label"]) for entry in entries]
    names = [plain(str(entry["name"])) for entry in entries]
    presets = [plain(label.split()[0]) for label in labels]
    found = {}
    for label, *candidates in zip(labels, names, presets, strict=True):
        unique = (one for one, all_ in zip(candidates, (names, presets), strict=True) if all_.count(one) == 1)
        found[next(unique, label)] = label
    return found
