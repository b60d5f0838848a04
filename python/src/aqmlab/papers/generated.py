"""What a paper's folder keeps of its full form: `generated/`, written by `scripts/paper_results.py`, never by hand.

- `verdicts.csv`: the verdict on each claim in each preset, with the reason;
- `parts.csv`: each part of a claim at each point: its verdict, and the difference of both sides as a share of the right
  one, beside the paper's;
- `measured.csv`: the means over the seeds that claims compare;
- `robustness.json`: how often each claim holds in sampled configurations, and what it is sensitive to;
- `statements.md`: all of it as one table to read.

The page, the README and the quick form read them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab.files import disk
from aqmlab.papers.findings import Finding, Part
from aqmlab.papers.verdicts import Verdict
from aqmlab.vocabulary.errors import InputError, unknown

FOLDER = "generated"
VERDICTS, PARTS, MEASURED, ROBUSTNESS = "verdicts.csv", "parts.csv", "measured.csv", "robustness.json"
COLUMNS = {
    VERDICTS: ("preset", "claim", "verdict", "why"),
    PARTS: ("preset", "claim", "part", "at", "verdict", "holds", "paper", "value", "low", "high"),
    MEASURED: ("preset", "claim", "of", "point", "mean"),
}


@dataclass(frozen=True)
class Generated:
    """All that is stored of a paper: verdicts by preset and claim, and the robustness of each claim."""

    verdicts: Mapping[str, Mapping[str, Finding]] = field(default_factory=dict)
    robustness: Mapping[str, Any] = field(default_factory=dict)


def read(folder: Path, claims: Iterable[str], presets: Iterable[str]) -> Generated:
    """Return what is stored in a paper's folder; nothing where there is nothing.

    Raises:
        InputError: naming the file, and the claim, preset or verdict that is unknown.

    """
    place = folder / FOLDER
    known = {"claim": tuple(claims), "preset": tuple(presets), "verdict": tuple(Verdict)}
    parts: dict[tuple[str, str], list[Part]] = {}
    for row in _rows(place / PARTS, known):
        parts.setdefault((row["preset"], row["claim"]), []).append(_part(row))
    means = _means(_read(place / MEASURED))
    found: dict[str, dict[str, Finding]] = {preset: {} for preset in known["preset"]}
    for row in _rows(place / VERDICTS, known):
        place_of = (row["preset"], row["claim"])
        of = tuple(parts.get(place_of, ()))
        found[row["preset"]][row["claim"]] = Finding(
            Verdict(row["verdict"]), row.get("why") or "", of, means.get(place_of, {})
        )
    file = place / ROBUSTNESS
    robustness = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return Generated(found, robustness)


def write(folder: Path, claims: Sequence[Mapping[str, Any]], robustness: Mapping[str, Any] | None = None) -> None:
    """Keep judged claims, as `aqmlab reproduce --json` has them, in a paper's folder.

    What they do not hold stays: other presets, and claims that only ``--beyond`` or ``--live`` judge.
    """
    place = folder / FOLDER
    new = {(one["preset"], one["id"]) for one in claims}
    rows: dict[str, list[dict[str, Any]]] = {
        VERDICTS: [
            {"preset": one["preset"], "claim": one["id"], "verdict": one["verdict"], "why": one["why"]}
            for one in claims
        ],
        PARTS: [
            {
                "preset": one["preset"],
                "claim": one["id"],
                "part": check["expected"],
                "at": check["at"],
                "verdict": check["verdict"],
                "holds": check["holds"],
                **{key: _digits(check[key]) for key in ("paper", "value", "low", "high")},
            }
            for one in claims
            for check in one["checks"]
        ],
        MEASURED: [
            {"preset": one["preset"], "claim": one["id"], "of": name, "point": point, "mean": _digits(mean["mean"])}
            for one in claims
            for name, means in one["measured"].items()
            for point, mean in enumerate(means if isinstance(means, list) else [means])
            if mean is not None
        ],
    }
    contents = {}
    for file, own in rows.items():
        before = _read(place / file)
        stays = [row for row in before if (row["preset"], row["claim"]) not in new]
        # Rows keep their places, so that a difference shows what is different.
        order = {
            key: number for number, key in enumerate(dict.fromkeys((row["preset"], row["claim"]) for row in before))
        }
        written = sorted([*stays, *own], key=lambda row: order.get((row["preset"], row["claim"]), len(order)))
        contents[file] = _csv(COLUMNS[file], written).encode()
    if robustness is not None:
        contents[ROBUSTNESS] = (json.dumps(robustness, indent=1, ensure_ascii=False) + "\n").encode()
    place.mkdir(exist_ok=True)
    disk.put_all(place, contents)


def _part(row: Mapping[str, str]) -> Part:
    paper, value, low, high = (float(row[key]) if row[key] else None for key in ("paper", "value", "low", "high"))
    return Part(row["part"], row["at"], Verdict(row["verdict"]), row["holds"] == "True", paper, value, low, high)


def _means(rows: Iterable[Mapping[str, str]]) -> dict[tuple[str, str], dict[str, float]]:
    """Return the means by preset and claim, of operands that have one point."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        own = found.setdefault((row["preset"], row["claim"]), {})
        own.setdefault(row["of"], []).append(float(row["mean"]))
    return {place: {name: one[0] for name, one in own.items() if len(one) == 1} for place, own in found.items()}


def _rows(file: Path, known: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    found = _read(file)
    for row in found:
        for what, names in known.items():
            if row.get(what) not in names:
                raise InputError(f"{file}: {unknown(what, str(row.get(what)), list(names))}")
    return found


def _read(file: Path) -> list[dict[str, str]]:
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


__all__ = ["FOLDER", "Generated", "read", "write"]
