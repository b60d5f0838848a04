"""The manifest of a folder: the experiment, the version, and the outcome."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab.results import groups, idle_ports, small_buffers
from aqmlab.results.frames import Frames
from aqmlab.results.precision import SMALLEST_PILOT
from aqmlab.store import seal, shape
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.printable import escaped

NAME = "manifest.json"
FORMAT_VERSION = 5


def _from_1(manifest: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had one engine, no records, no ids in names of frames, and warnings of the plan among others."""
    notices = [text for text in manifest["warnings"] if not text.startswith("partial result")]
    pages: dict[str, Any] = {"of": "", "files": [], "warnings": []}
    return {"engine": "native", **manifest, "frames": "1", "plan_warnings": notices, "pages": pages}


def _from_2(manifest: dict[str, Any]) -> dict[str, Any]:
    """Version 2 had counts of rows in place of digests, and records without a mark."""
    return {**{name: value for name, value in manifest.items() if name != "rows"}, "digests": {}, "records": ""}


def _from_3(manifest: dict[str, Any]) -> dict[str, Any]:
    """Version 3 had a file for each record."""
    return manifest


def _from_4(manifest: dict[str, Any]) -> dict[str, Any]:
    """Version 4 had every key of the flows in their text."""
    for point in manifest["points"]:
        scenario = point["scenario"]
        scenario[groups.KEY] = groups.of_texts(scenario["flows"])
        # Which of the keys were at their defaults it did not say.
        scenario["flows"] = groups.heads(scenario)
    return manifest


# From each older format version to the next.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1, 2: _from_2, 3: _from_3, 4: _from_4}
# The first version with a digest of the manifest.
_SEALED = 3


def parse(folder: Path, text: bytes) -> dict[str, Any]:
    """Parse a manifest of this version or an older one.

    Raises:
        InputError: if it is damaged, was altered, or was written by a newer version.

    """
    file = folder / NAME
    try:
        manifest: dict[str, Any] = json.loads(text)
        version = int(manifest["format_version"])
        if version > FORMAT_VERSION:
            raise InputError(
                f"{file}: has format version {version}, and this aqmlab reads up to {FORMAT_VERSION}: use a newer one"
            )
        if version >= _SEALED or seal.KEY in manifest:
            manifest = _unsealed(file, manifest)
        while version < FORMAT_VERSION:
            manifest = UPGRADES[version](manifest)
            version += 1
        if not _is_whole(manifest):
            raise KeyError
    except InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise InputError(f"{file}: is damaged: it is not the manifest of a result") from None
    return manifest


def _unsealed(file: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    try:
        return seal.unsealed(manifest)
    except ValueError:
        raise InputError(
            f"{file}: is damaged, or was altered: it does not match its checksum; results are never changed by hand"
        ) from None


def _is_whole(manifest: dict[str, Any]) -> bool:
    """Whether every entry that is read exists and is as it should be, whoever wrote the file."""
    if not shape.fits(manifest, shape.MANIFEST):
        return False
    points = manifest["points"]
    swept = [list(one["point"]) for one in points]
    stop = manifest.get("stop")
    return (
        len(points) > 0
        and all(names == swept[0] for names in swept)
        and all(one["scenario"]["seeds"] and one["scenario"]["aqm"] for one in points)
        and (stop is None or SMALLEST_PILOT <= stop["pilot"] <= stop["seeds"])
    )


def render(manifest: dict[str, Any]) -> bytes:
    """Return a manifest in the form of its file: a line for each entry, and for each item of a list."""
    whole = seal.sealed({**manifest, "format_version": FORMAT_VERSION})
    entries = ",\n".join(f"  {_json(name)}: {_listed(value)}" for name, value in whole.items())
    return escaped(f"{{\n{entries}\n}}\n").encode()


def _listed(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return _json(value)
    items = ",\n".join(f"    {_json(item)}" for item in value)
    return f"[\n{items}\n  ]"


def _json(value: Any) -> str:
    # Indented JSON is written by Python's own encoder, a value at a time.
    return json.dumps(value, ensure_ascii=False)


def concluded(manifest: dict[str, Any], frames: Frames, failures: Sequence[str]) -> dict[str, Any]:
    """Return a manifest with the outcome of the runs and every warning."""
    finished, expected = len(frames.runs), manifest["runs_expected"]
    aqms = [aqm["label"] for aqm in manifest["points"][0]["scenario"]["aqm"]]
    warnings = [
        *manifest["plan_warnings"],
        *_of_runs(frames, aqms),
        *_same_runs(frames),
        *small_buffers.warnings(manifest, frames),
        *idle_ports.warnings(manifest, frames),
        *manifest["pages"]["warnings"],
    ]
    if finished < expected:
        warnings.insert(0, f"partial result: {finished} of {expected} runs are finished")
    return {
        **manifest,
        "partial": finished < expected,
        "runs_finished": finished,
        "failures": list(failures),
        "warnings": list(dict.fromkeys(warnings)),
    }


def _of_runs(frames: Frames, aqms: Sequence[str]) -> list[str]:
    """Return each text once, with its AQMs unless it applies to all."""
    about: dict[str, list[str]] = {}
    for aqm, texts in frames.runs.select("aqm", "warnings").iter_rows():
        for text in texts or ():
            if aqm not in about.setdefault(text, []):
                about[text].append(aqm)
    return [text if set(names) == set(aqms) else f"{', '.join(names)}: {text}" for text, names in about.items()]


def _same_runs(frames: Frames) -> list[str]:
    """Return a warning if the seeds change nothing: an interval of zero would look like certainty."""
    names = frames.metrics
    if not names:
        return []
    per_aqm = frames.runs.group_by("point", "aqm").agg(pl.len().alias("n"), pl.col(names).n_unique())
    same = per_aqm.filter((pl.col("n") > 1) & pl.all_horizontal(pl.col(names) == 1))
    if same.is_empty():
        return []
    aqms = [aqm for aqm in frames.runs["aqm"].unique(maintain_order=True) if aqm in same["aqm"]]
    return [f"{', '.join(aqms)}: every seed gave the same run, since nothing is random; intervals of zero mean nothing"]
