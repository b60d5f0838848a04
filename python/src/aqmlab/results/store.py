"""Result folders: written whole, never overwritten, read back whatever the version that wrote them.

A folder holds `manifest.json`, one Parquet file per frame, `figures/` (each figure with its CSV), `report.html`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab.errors import InputError
from aqmlab.results.frames import FRAMES, Frames
from aqmlab.results.model import FORMAT_VERSION, Result

MANIFEST = "manifest.json"
REPORT = "report.html"

# From each older format version to the next.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def dated(command: str, parent: Path = Path("results")) -> Path:
    """Return a new folder's name that says when it was made, as `results/compare-20261121-142501`."""
    stem = f"{command}-{datetime.now():%Y%m%d-%H%M%S}"
    names = [stem, *(f"{stem}-{number}" for number in range(2, 1000))]
    return next(parent / name for name in names if not (parent / name).exists())


def save(result: Result, folder: Path) -> Path:
    """Write a result with its figures and its report into a new folder.

    Raises:
        InputError: if the folder holds something, or cannot be written.

    """
    check_new(folder)
    return write(result, folder)


def check_new(folder: Path) -> None:
    """Make sure that a folder can be written and that nothing is in it yet.

    Raises:
        InputError: saying what is in the way.

    """
    check_writable(folder)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: holds files already, and results are never overwritten: name another folder")


def check_writable(folder: Path) -> None:
    """Make sure that a folder can be made where it is wanted, leaving no trace.

    Raises:
        InputError: saying why it cannot.

    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, not a folder")
    parent = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    probe = parent / f".aqmlab-{os.getpid()}"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from None


def write(result: Result, folder: Path, with_report: bool = True) -> Path:
    """Write a result under a temporary name, then give it its own, in place of an earlier state of the same runs."""
    temporary = folder.with_name(f".{folder.name}.tmp-{os.getpid()}")
    earlier = folder.with_name(f".{folder.name}.old-{os.getpid()}")
    try:
        temporary.mkdir(parents=True)
        _fill(replace(result, folder=folder), temporary, with_report)
        if folder.exists():
            folder.rename(earlier)
        temporary.rename(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(earlier, ignore_errors=True)
    return folder


def load(folder: str | os.PathLike[str]) -> Result:
    """Read a result folder.

    Raises:
        InputError: if it is not one, is damaged, or was written by a newer version.

    """
    path = Path(folder)
    manifest = _manifest(path)
    frames = {}
    for name in FRAMES:
        file = path / f"{name}.parquet"
        try:
            frames[name] = pl.read_parquet(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{file}: cannot be read: {str(error).splitlines()[0]}") from None
    return Result(manifest=manifest, frames=Frames(**frames), folder=path)


def resume(folder: Path, digest: str) -> Result | None:
    """Return what a folder already holds of an experiment; nothing if the folder is new.

    Raises:
        InputError: if the folder holds anything else.

    """
    check_writable(folder)
    if not (folder / MANIFEST).exists():
        check_new(folder)
        return None
    found = load(folder)
    if found.manifest["digest"] != digest:
        raise InputError(
            f"{folder}: holds another experiment, or one by another version of aqmlab, "
            "and results are never overwritten: name another folder"
        )
    return found


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        version = int(manifest["format_version"])
    except OSError as error:
        raise InputError(f"{folder}: is not a result folder: {MANIFEST}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{file}: is damaged: it is not the manifest of a result") from None
    if version > FORMAT_VERSION:
        raise InputError(
            f"{file}: has format version {version}, and this aqmlab reads up to {FORMAT_VERSION}: use a newer one"
        )
    while version < FORMAT_VERSION:
        manifest = UPGRADES[version](manifest)
        version += 1
    return manifest


def _fill(result: Result, folder: Path, with_report: bool) -> None:
    for name in FRAMES:
        getattr(result.frames, name).write_parquet(folder / f"{name}.parquet", compression="zstd")
    if with_report:
        from aqmlab import plots, report

        figures = plots.standard(result)
        plots.write(figures, folder / "figures")
        (folder / REPORT).write_text(report.render(result, figures), encoding="utf-8")
    # The manifest comes last: a folder without one is not a result.
    text = json.dumps(result.manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
