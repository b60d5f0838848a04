"""The manifest of a folder: the experiment, the version, and the outcome."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab.errors import InputError
from aqmlab.printable import escaped
from aqmlab.results.frames import Frames, metric_names

NAME = "manifest.json"
FORMAT_VERSION = 2
_NEEDED = {
    *("command", "title", "aqmlab", "code", "created", "points", "runs_expected", "failures"),
    *("plan_warnings", "pages", "frames", "platform", "python"),
}


def _from_1(manifest: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had no records and no ids in names of frames, and mixed warnings of the plan with others."""
    said = [text for text in manifest["warnings"] if not text.startswith("partial result")]
    return {**manifest, "frames": "1", "plan_warnings": said, "pages": {"of": "", "files": [], "warnings": []}}


# From each older format version to the next.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1}


def parse(folder: Path, text: bytes) -> dict[str, Any]:
    """Parse a manifest of this version or an older one.

    Raises:
        InputError: if it is damaged, or was written by a newer version.

    """
    file = folder / NAME
    try:
        manifest: dict[str, Any] = json.loads(text)
        version = int(manifest["format_version"])
        if version > FORMAT_VERSION:
            raise InputError(
                f"{file}: has format version {version}, and this aqmlab reads up to {FORMAT_VERSION}: use a newer one"
            )
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


def _is_whole(manifest: dict[str, Any]) -> bool:
    """Whether every entry that is read exists and has the right type, whoever edited the file."""
    points, pages = manifest["points"], manifest["pages"]
    scenarios = [point["scenario"] for point in points]
    texts = [manifest["frames"], pages["of"], *(aqm["label"] for one in scenarios for aqm in one["aqm"])]
    lists = [points, manifest["failures"], manifest["plan_warnings"], pages["files"], pages["warnings"]]
    words = [word for one in lists[1:] for word in one]
    return (
        manifest.keys() >= _NEEDED
        and len(points) > 0
        and all(isinstance(one, list) for one in lists)
        and all(isinstance(text, str) for text in [*texts, *words])
        and re.fullmatch("[0-9a-f]*", manifest["frames"]) is not None
        and isinstance(manifest["runs_expected"], int)
        and all(isinstance(count, int) for count in manifest.get("rows", {}).values())
        and all(isinstance(point["files"], dict) for point in points)
        and all(isinstance(value, str) for point in points for value in point["point"].values())
        and all(list(point["point"]) == list(points[0]["point"]) for point in points)
        and all(isinstance(one["rules"], dict) and isinstance(one["defaults"], list) for one in scenarios)
        and all(isinstance(one["seeds"], list) and len(one["seeds"]) > 0 and len(one["aqm"]) > 0 for one in scenarios)
    )


def render(manifest: dict[str, Any]) -> bytes:
    """Return a manifest in the form of its file."""
    text = json.dumps({**manifest, "format_version": FORMAT_VERSION}, indent=2, ensure_ascii=False)
    return f"{escaped(text)}\n".encode()


def concluded(manifest: dict[str, Any], frames: Frames, failures: Sequence[str]) -> dict[str, Any]:
    """Return a manifest with the outcome of the runs and every warning."""
    finished, expected = len(frames.runs), manifest["runs_expected"]
    aqms = [aqm["label"] for aqm in manifest["points"][0]["scenario"]["aqm"]]
    warnings = [
        *manifest["plan_warnings"],
        *_of_runs(frames, aqms),
        *_same_runs(frames),
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
    names = metric_names(frames.runs)
    if not names:
        return []
    per_aqm = frames.runs.group_by("point", "aqm").agg(pl.len().alias("n"), pl.col(names).n_unique())
    same = per_aqm.filter((pl.col("n") > 1) & pl.all_horizontal(pl.col(names) == 1))
    if same.is_empty():
        return []
    aqms = [aqm for aqm in frames.runs["aqm"].unique(maintain_order=True) if aqm in same["aqm"]]
    return [f"{', '.join(aqms)}: every seed gave the same run, since nothing is random; intervals of zero mean nothing"]
