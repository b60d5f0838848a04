"""A result folder: a record per run while runs are made, then five frames.

The manifest commits. Frames are written under names with an id, the manifest with this id replaces the earlier one, and
then the frames are renamed. A process killed in between leaves either state complete. Records are removed only after
the frames with their runs are committed.
"""

from __future__ import annotations

import io
import json
import stat
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab import system
from aqmlab.engine import Task
from aqmlab.errors import InputError
from aqmlab.results import swept
from aqmlab.results.columns import units
from aqmlab.results.frames import FRAMES, RUN, SCHEMAS, Frames, from_runs
from aqmlab.runner import Done
from aqmlab.store import files, lock, manifest, record

RECORDS = "records"
# A run that took this long is worth waiting for the disk.
DURABLE_S = 0.5
# A reader retries while a writer is active.
ATTEMPTS = 20


@dataclass(frozen=True)
class Kept:
    """The contents of a folder: its manifest and the numbers of all finished runs."""

    manifest: dict[str, Any]
    frames: Frames
    # How many of the runs are still records.
    records: int = 0


def is_result(folder: Path) -> bool:
    """Whether a folder is that of a result."""
    return (folder / manifest.NAME).exists()


def read(folder: Path) -> Kept:
    """Read a folder; it may be one that is being written, or whose writer was killed.

    Raises:
        InputError: if it is not a result folder, is damaged, or was written by a newer version.

    """
    for _ in range(ATTEMPTS):
        text = _manifest_text(folder)
        try:
            kept = _read(folder, manifest.parse(folder, text))
        except InputError:
            if _manifest_text(folder) == text:
                raise
            continue
        if _manifest_text(folder) == text:
            return kept
    raise InputError(f"{folder}: is being written: try again")


@contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """Open a folder for writing: a new or empty one, or a result folder.

    Raises:
        InputError: if it is something else, saying what.
        MachineError: if another process writes into it, or the disk is full.

    """
    if is_result(path):
        files.check_writable(path)
    else:
        files.check_new(path)
    is_made = not path.exists()
    try:
        with system.writing(path):
            path.mkdir(parents=True, exist_ok=True)
            with lock.held(path):
                files.sweep(path)
                _recover(path)
                yield Folder(path)
    finally:
        if is_made:
            files.discard_if_empty(path)


class Folder:
    """A folder that this process writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kept: Kept | None = read(path) if is_result(path) else None
        if self.kept is not None and self.kept.records == 0:
            # Left by a writer that was killed after it had written their frames.
            _remove_records(path)

    def begin(self, head: dict[str, Any], frames: Frames | None) -> None:
        """Write the head of a new or growing folder; ``frames`` are the finished runs that belong to it."""
        if frames is None:
            self._write_manifest({**head, "frames": ""})
        else:
            self.commit(head, frames)
        (self.path / RECORDS).mkdir(exist_ok=True)

    def keep(self, done: Done) -> None:
        """Keep a finished run.

        Raises:
            InputError: if it cannot be written.
            MachineError: if the disk is full.

        """
        aqm = zlib.crc32(done.run.aqm.encode())
        # Equivalent AQMs have runs with the same key, and so have points that do not affect an AQM.
        name = f"{done.run.key}-{done.run.point}-{aqm:08x}.run"
        with system.writing(self.path):
            files.write(self.path / RECORDS / name, record.encode(done), durable=done.report.cpu_s > DURABLE_S)

    def commit(self, head: dict[str, Any], frames: Frames) -> dict[str, Any]:
        """Write manifest and frames, which replace all records; return the manifest as written."""
        number = uuid.uuid4().hex[:12]
        try:
            for name in FRAMES:
                files.write(self.path / _hidden(name, number), _parquet(getattr(frames, name)))
            written = {**head, "frames": number, "rows": {name: len(getattr(frames, name)) for name in FRAMES}}
            self._write_manifest(written)
        except OSError:
            for name in FRAMES:
                files.remove(self.path / _hidden(name, number))
            raise
        _settle(self.path, number)
        _remove_records(self.path)
        return written

    def update(self, head: dict[str, Any]) -> None:
        """Write the manifest alone."""
        self._write_manifest(head)

    def abandon(self) -> None:
        """Restore the folder, since nothing was kept in it; other people's files stay."""
        if self.kept is not None:
            self.commit(self.kept.manifest, self.kept.frames)
            return
        _remove_records(self.path)
        files.remove(self.path / manifest.NAME)

    def _write_manifest(self, head: dict[str, Any]) -> None:
        files.write(self.path / manifest.NAME, manifest.render(head))


def reused(kept: Kept, tasks: Sequence[Task], aqms: Sequence[str]) -> Frames:
    """Return the finished runs that the tasks ask for, by their keys, as runs of these tasks."""
    wanted = pl.DataFrame(
        {
            **{name: pl.Series([getattr(task, name) for task in tasks], dtype=RUN[name]) for name in RUN},
            "key": pl.Series([task.key for task in tasks], dtype=pl.String),
        }
    )
    there = kept.frames.runs.select(*RUN, "key")
    both = wanted.join(there, on=[*RUN, "key"], how="semi", maintain_order="left")
    if len(both) == len(there):
        return kept.frames
    moved = there.unique("key", keep="first").join(wanted, on="key", suffix="_new").drop("key")

    def move(frame: pl.DataFrame) -> pl.DataFrame:
        joined = frame.join(moved, on=list(RUN), how="inner", maintain_order="left")
        return joined.select(*(pl.col(f"{name}_new").alias(name) for name in RUN), *frame.columns[len(RUN) :])

    return Frames(**{name: move(getattr(kept.frames, name)) for name in FRAMES}).sorted(aqms)


def _read(folder: Path, head: dict[str, Any]) -> Kept:
    frames = from_runs([]) if head["frames"] == "" else _frames(folder, head["frames"], head.get("rows", {}))
    frames = _whole(frames)
    known = set(frames.runs.select(*RUN).rows())
    aqms = [aqm["label"] for aqm in head["points"][0]["scenario"]["aqm"]]
    done = [
        one
        for one in _records(folder)
        if (one.run.point, one.run.aqm, one.run.seed) not in known
        and one.run.aqm in aqms
        and one.run.point in range(len(head["points"]))
    ]
    if done:
        frames = frames.joined(from_runs(done)).sorted(aqms)
    frames = replace(frames, runs=swept.tagged(frames.runs, [point["point"] for point in head["points"]]))
    return Kept(manifest.concluded(head, frames, head["failures"]), frames, len(done))


def _frames(folder: Path, number: str, rows: Mapping[str, int]) -> Frames:
    found = {}
    for name in FRAMES:
        file = folder / f"{name}.parquet"
        with system.reading(file):
            found[name] = _either(folder / _hidden(name, number), file)
        if name == "runs" and "engine" not in found[name].columns:
            found[name] = found[name].with_columns(pl.lit("native").alias("engine"))
        for column, dtype in SCHEMAS[name].items():
            if found[name].schema.get(column) != dtype:
                raise InputError(f"{file}: is damaged: there is no column '{column}' of {dtype}")
        # Rows deleted from `runs` or `queues` are runs to be made again; in other frames they would go unnoticed.
        if name in ("flows", "series", "histograms") and len(found[name]) != rows.get(name, len(found[name])):
            raise InputError(f"{file}: is damaged: it holds {len(found[name])} rows, and {rows[name]} were written")
    if found["runs"].select(*RUN).is_duplicated().any():
        raise InputError(f"{folder / 'runs.parquet'}: is damaged: it holds a run twice")
    return Frames(**found)


def _either(hidden: Path, file: Path) -> pl.DataFrame:
    # A writer may rename the frame at any moment.
    try:
        content = _content(hidden)
    except FileNotFoundError:
        content = _content(file)
    # Polars would read a name such as `out[1]` as a pattern, and open the files of `out1`.
    return pl.read_parquet(io.BytesIO(content))


def _whole(frames: Frames) -> Frames:
    """Return the runs that have rows in `runs` and `queues`, and only their rows: each run is complete or absent."""
    runs = (
        frames.runs.join(frames.queues, on=list(RUN), how="semi", maintain_order="left")
        if len(frames.queues)
        else frames.runs
    )
    others = {
        name: getattr(frames, name).join(runs, on=list(RUN), how="semi", maintain_order="left")
        for name in FRAMES
        if name != "runs"
    }
    return Frames(runs=runs, **others)


def _records(folder: Path) -> list[Done]:
    found = []
    for path in sorted((folder / RECORDS).glob("*.run")):
        try:
            # Reading a pipe would block.
            found.append(record.decode(path.read_bytes() if path.is_file() else b""))
        except (OSError, record.DamagedError):
            continue
    return found


def _remove_records(folder: Path) -> None:
    """Remove the records; files that others put beside them, or in their place, stay."""
    place = folder / RECORDS
    for path in place.glob("*.run"):
        files.remove(path)
    files.discard_if_empty(place)


def _recover(folder: Path) -> None:
    """Finish what a killed writer had committed, and remove the rest."""
    if not is_result(folder):
        return
    number = str(manifest.parse(folder, _manifest_text(folder))["frames"])
    if number:
        _settle(folder, number)
    for name in FRAMES:
        for path in folder.glob(_hidden(name, "*")):
            files.remove(path)


def _parquet(frame: pl.DataFrame) -> bytes:
    # In memory first: polars loses the system's message about a full disk.
    content = io.BytesIO()
    frame.rechunk().write_parquet(content, compression="zstd", metadata={"units": json.dumps(units(frame.columns))})
    return content.getvalue()


def _settle(folder: Path, number: str) -> None:
    for name in FRAMES:
        hidden = folder / _hidden(name, number)
        if hidden.exists():
            hidden.replace(folder / f"{name}.parquet")


def _hidden(name: str, number: str) -> str:
    return f".{name}-{number}.parquet"


def _content(path: Path) -> bytes:
    # In somebody else's folder a pipe would block, and a device may have no end. One look: a writer renames files.
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError(f"{path}: is not a file")
    return path.read_bytes()


def _manifest_text(folder: Path) -> bytes:
    try:
        return _content(folder / manifest.NAME)
    except OSError as error:
        raise system.failed(f"{folder}: is not a result folder: {manifest.NAME}", error) from None
