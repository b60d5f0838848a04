"""What is in a result folder, read as one state: see `folder` for why it is one."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from aqmlab.files import system
from aqmlab.results import swept
from aqmlab.results.frames import FRAMES, RUN, SCHEMAS, Frames, from_runs
from aqmlab.store import journal, manifest, seal
from aqmlab.vocabulary.errors import InputError

RECORDS = "records"
# How often a reader starts again: each time a writer has committed within the fraction of a millisecond in which the
# frames are opened, or while records were read, which only the last commit of a command removes.
ATTEMPTS = 100
# Beyond all that a run measures; squares and sums of it are numbers still.
LARGEST = 1e100
# Frames of which each column is a number but for these.
_ROWS = ("flows", "queues")
_TEXTS = ("group", "kind", "link", "discipline")


@dataclass(frozen=True)
class StoredResult:
    """The contents of a folder: its manifest and the numbers of all finished runs."""

    manifest: dict[str, Any]
    frames: Frames
    # How many of the runs are still records.
    records: int = 0
    # What was altered, or cannot be checked; the manifest's warnings have it too.
    notices: tuple[str, ...] = ()


def is_result(folder: Path) -> bool:
    """Whether a folder is that of a result."""
    with system.reading(folder):
        return (folder / manifest.NAME).exists()


def read(folder: Path) -> StoredResult:
    """Read a folder; it may be one that is being written, or whose writer was killed.

    Raises:
        InputError: if it is not a result folder, is damaged, or was written by a newer version.

    """
    for _ in range(ATTEMPTS):
        text = manifest_text(folder)
        head = manifest.parse(folder, text)
        with ExitStack() as stack:
            try:
                frames = _open_frames(folder, head["frames"], stack)
                records = _records(folder, head["records"])
            except InputError:
                if manifest_text(folder) == text:
                    raise
                continue
            if manifest_text(folder) == text:
                return _stored(folder, head, frames, records)
    raise InputError(f"{folder}: is being written: try again")


def hidden(name: str, number: str) -> str:
    """Return the name that a frame has until it is committed, and a moment longer."""
    return f".{name}-{number}.parquet"


def manifest_text(folder: Path) -> bytes:
    """Return the manifest as it stands.

    Raises:
        InputError: if there is none.

    """
    try:
        return _content(folder / manifest.NAME)
    except OSError as error:
        raise system.failed(f"{folder}: is not a result folder: {manifest.NAME}", error) from None


def _open_frames(folder: Path, number: str, stack: ExitStack) -> dict[str, BinaryIO]:
    """Open the frames of a manifest: what is opened stays what it is, whatever takes its name."""
    found = {}
    for name in FRAMES if number else ():
        file = folder / f"{name}.parquet"
        with system.reading(file):
            try:
                found[name] = stack.enter_context(_open(folder / hidden(name, number)))
            except FileNotFoundError:
                found[name] = stack.enter_context(_open(file))
    return found


def _records(folder: Path, mark: str) -> dict[str, bytes | None]:
    """Return the contents of the journals with a mark, by name; nothing for what is no file."""
    place = folder / RECORDS
    found: dict[str, bytes | None] = {}
    with system.reading(place), suppress(FileNotFoundError, NotADirectoryError):
        for name in sorted(os.listdir(place)):
            if name.startswith(mark) and name.endswith(".run"):
                try:
                    found[name] = _content(place / name)
                except FileNotFoundError:
                    continue
                except InputError:
                    found[name] = None
    return found


def _stored(
    folder: Path, head: dict[str, Any], opened: Mapping[str, BinaryIO], records: Mapping[str, bytes | None]
) -> StoredResult:
    labels = [aqm["label"] for aqm in head["points"][0]["scenario"]["aqm"]]
    places = range(len(head["points"]))
    frames, notices = from_runs([]), []
    if opened:
        whole: dict[str, Any] = {name: _frame(folder, head, name, file) for name, file in opened.items()}
        frames = Frames(**whole)
        _check_runs(folder, frames, labels, places)
        _check_numbers(folder, frames)
        if not head["digests"]:
            notices.append(
                "the folder is by an earlier version, without checksums: whether it was altered is not known"
            )
    known = set(frames.runs.select(*RUN).rows())
    done = []
    for name, content in records.items():
        for one in [None] if content is None else journal.runs(content):
            if one is None:
                notices.append(f"a record in {RECORDS}/{name} did not match its checksum: its run is made again")
                continue
            run = (one.run.point, one.run.aqm, one.run.seed)
            if run not in known and one.run.aqm in labels and one.run.point in places:
                # A writer that was interrupted between keeping a run and noting so has stored it twice.
                known.add(run)
                done.append(one)
    if done:
        frames = frames.joined(from_runs(done)).sorted(labels)
    frames = swept.tagged(frames, [point["point"] for point in head["points"]])
    head = {**head, "plan_warnings": list(dict.fromkeys([*head["plan_warnings"], *notices]))}
    return StoredResult(manifest.concluded(head, frames, head["failures"]), frames, len(done), tuple(notices))


def _frame(folder: Path, head: Mapping[str, Any], name: str, file: BinaryIO) -> pl.DataFrame:
    path = folder / f"{name}.parquet"
    with system.reading(path):
        content = file.read()
        if head["digests"] and seal.digest(content) != head["digests"][name]:
            raise InputError(f"{path}: is damaged, or was altered: it does not match its checksum in {manifest.NAME}")
        # Polars would read a name such as `out[1]` as a pattern, and open the files of `out1`.
        frame = pl.read_parquet(io.BytesIO(content))
    if name == "runs" and "engine" not in frame.columns:
        frame = frame.with_columns(pl.lit("native").alias("engine"))
    for column, dtype in SCHEMAS[name].items():
        if frame.schema.get(column) != dtype:
            raise InputError(f"{path}: is damaged: there is no column '{column}' of {dtype}")
    for column, dtype in frame.schema.items():
        if dtype.is_nested() and dtype != pl.List(pl.String):
            raise InputError(f"{path}: is damaged: column '{column}' is of {dtype}")
    return frame


def _check_runs(folder: Path, frames: Frames, labels: Sequence[str], places: range) -> None:
    """Refuse runs that the manifest does not name, and rows of runs that are not there, whoever wrote them."""
    runs = frames.runs.select(*RUN)
    if not runs["aqm"].is_in(labels).all() or not (runs["point"] < len(places)).all():
        raise InputError(f"{folder / 'runs.parquet'}: is damaged: it holds runs that {manifest.NAME} does not name")
    if runs.is_duplicated().any():
        raise InputError(f"{folder / 'runs.parquet'}: is damaged: it holds a run twice")
    for name in FRAMES[1:]:
        if not getattr(frames, name).join(runs, on=list(RUN), how="anti").is_empty():
            raise InputError(f"{folder / f'{name}.parquet'}: is damaged: it holds rows of runs that runs.parquet lacks")


def _check_numbers(folder: Path, frames: Frames) -> None:
    """Refuse what no run measures where a number is expected: figures and exports count on one, or on none."""
    for name, columns in (
        ("runs", frames.metrics),
        *((name, [one for one in getattr(frames, name).columns if one not in (*RUN, *_TEXTS)]) for name in _ROWS),
    ):
        for column in columns:
            values: pl.Series = getattr(frames, name)[column]
            is_number = values.dtype.is_numeric() or values.dtype == pl.Null
            if not is_number or not values.cast(pl.Float64).is_between(-LARGEST, LARGEST).all():
                path = folder / f"{name}.parquet"
                raise InputError(f"{path}: is damaged: column '{column}' holds what is no number of a run")


def _open(path: Path) -> BinaryIO:
    # In somebody else's folder a pipe would block, and a device may have no end.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise InputError(f"{path}: is not a file")
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def _content(path: Path) -> bytes:
    with _open(path) as file:
        return file.read()
