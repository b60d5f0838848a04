"""A result folder: records of runs while they are made, then five frames; the manifest says which of them count.

To commit, a writer puts the frames beside the others under hidden names, replaces the manifest by one that has their
digests and a mark that no other manifest has, and only then renames the frames and removes the records. So while a
manifest is in place each of its frames is there, hidden or renamed, and of records with its mark none goes. A writer
that is killed leaves the state before a commit or after it; the next writer completes what was committed.

A reader reads the manifest, opens each frame (the hidden one, else the renamed one), reads the records with the mark,
and reads the manifest again. If it is the same, then nothing was committed in between, and the reader has one state:
that of this commit, with every run that was stored before it began to read. If not, then a writer has got on, and the
reader starts again. Contents are compared with their digests after that: what does not match is damage, never haste.
"""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab.engine import Task
from aqmlab.files import disk, lock, system
from aqmlab.results.columns import units
from aqmlab.results.frames import FRAMES, RUN, Frames, coded, plain
from aqmlab.runs.runner import FinishedRun
from aqmlab.store import manifest, record, seal
from aqmlab.store.journal import Journal
from aqmlab.store.reading import RECORDS, StoredResult, hidden, is_result, manifest_text, read
from aqmlab.vocabulary.errors import InputError

# A run that took this long is worth waiting for the disk.
DURABLE_S = 0.5


@contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """Open a folder for writing: a new or empty one, or a result folder.

    Raises:
        InputError: if it is something else, saying what.
        MachineError: if another process writes into it, or the disk is full.

    """
    disk.check_writable(path)
    try:
        disk.check_new(path)
    except InputError:
        # Looked at after its files: they may be those that another process has just begun to write.
        if not (is_result(path) or (path / lock.NAME).exists()):
            raise
    is_made = not path.exists()
    try:
        with system.writing(path):
            disk.make(path)
            with lock.held(path):
                disk.sweep(path)
                _recover(path)
                if not is_result(path):
                    disk.check_new(path)
                folder = Folder(path)
                try:
                    yield folder
                finally:
                    folder.close()
    finally:
        if is_made:
            disk.discard_if_empty(path)


class Folder:
    """A folder that this process writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begun: dict[str, Any] = {}
        self._journal: Journal | None = None
        self.stored: StoredResult | None = read(path) if is_result(path) else None
        if self.stored is not None and self.stored.records == 0:
            # Left by a writer that was killed after it had written their frames.
            _remove_records(path)

    def begin(self, head: dict[str, Any], frames: Frames | None) -> None:
        """Write the head of a new or growing folder; ``frames`` are the finished runs that belong to it."""
        self._begun = self._commit(head, {}) if frames is None else self.commit(head, frames)
        (self.path / RECORDS).mkdir(exist_ok=True)
        self._journal = Journal(self.path / RECORDS / f"{self._begun['records']}.run")

    def keep(self, done: FinishedRun) -> None:
        """Keep a finished run.

        Raises:
            InputError: if it cannot be written.
            MachineError: if the disk is full.

        """
        assert self._journal is not None, "runs are stored in a folder that was begun"
        with system.writing(self.path):
            self._journal.append(record.encode(done), durable=done.report.cpu_s > DURABLE_S)

    def commit(self, head: dict[str, Any], frames: Frames) -> dict[str, Any]:
        """Write manifest and frames, which replace all records; return the manifest as written."""
        return self._commit(head, {name: _parquet(name, getattr(frames, name)) for name in FRAMES})

    def update(self, head: dict[str, Any]) -> None:
        """Write the manifest alone."""
        disk.write(self.path / manifest.NAME, manifest.render(head))

    def close(self) -> None:
        """Keep no more runs."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def abandon(self) -> None:
        """Restore the folder, since nothing was stored in it; other people's files stay."""
        if self.stored is not None:
            self.commit(self.stored.manifest, self.stored.frames)
            return
        # While records count none may go. So that none does, there is another mark first.
        self._commit(self._begun, {})
        disk.remove(self.path / manifest.NAME)

    def _commit(self, head: dict[str, Any], contents: Mapping[str, bytes]) -> dict[str, Any]:
        digests = {name: seal.digest(content) for name, content in contents.items()}
        written = {
            **head,
            "frames": seal.digest("".join(digests.values()).encode())[:32] if digests else "",
            "digests": digests,
            "records": secrets.token_hex(6),
        }
        paths = {name: self.path / hidden(name, written["frames"]) for name in contents}
        try:
            for name, content in contents.items():
                disk.write(paths[name], content)
            self.update(written)
        except OSError:
            for path in paths.values():
                disk.remove(path)
            raise
        _settle(self.path, written["frames"])
        self.close()
        _remove_records(self.path)
        return written


def reused(stored: StoredResult, tasks: Sequence[Task], aqms: Sequence[str]) -> Frames:
    """Return the finished runs that the tasks ask for, by their keys, as runs of these tasks."""
    wanted = pl.DataFrame(
        {
            **{name: pl.Series([getattr(task, name) for task in tasks], dtype=RUN[name]) for name in RUN},
            "key": pl.Series([task.key for task in tasks], dtype=pl.String),
        }
    )
    there = stored.frames.runs.select(*RUN, "key")
    both = wanted.join(there, on=[*RUN, "key"], how="semi", maintain_order="left")
    if len(both) == len(there):
        return stored.frames
    moved = there.unique("key", keep="first").join(wanted, on="key", suffix="_new").drop("key")

    def move(frame: pl.DataFrame) -> pl.DataFrame:
        joined = frame.join(moved, on=list(RUN), how="inner", maintain_order="left")
        return joined.select(*(pl.col(f"{name}_new").alias(name) for name in RUN), *frame.columns[len(RUN) :])

    return stored.frames.each(move).sorted(aqms)


def _remove_records(folder: Path) -> None:
    """Remove the records; files that others put beside them, or in their place, stay."""
    place = folder / RECORDS
    for path in place.glob("*.run"):
        disk.remove(path)
    disk.discard_if_empty(place)


def _recover(folder: Path) -> None:
    """Finish what a killed writer had committed, and remove the rest."""
    if not is_result(folder):
        return
    number = str(manifest.parse(folder, manifest_text(folder))["frames"])
    if number:
        _settle(folder, number)
    for name in FRAMES:
        for path in folder.glob(hidden(name, "*")):
            disk.remove(path)


def _parquet(name: str, frame: pl.DataFrame) -> bytes:
    words = {"units": json.dumps(units(frame.columns))}
    if name != "series":
        return _written(frame, words)
    # Texts are numbers in the file anyhow: coded ones take half the time. Metadata mark them as texts.
    metadata = pl.read_parquet_metadata(io.BytesIO(_written(plain(frame.head(0)), {})))
    return _written(coded(frame), {**metadata, **words})


def _written(frame: pl.DataFrame, words: dict[str, str]) -> bytes:
    # In memory first: polars loses the system's message about a full disk.
    content = io.BytesIO()
    # The least and greatest of each column are a quarter of the work, and of no use to those who read all rows.
    frame.rechunk().write_parquet(content, compression="zstd", statistics=False, metadata=words)
    return content.getvalue()


def _settle(folder: Path, number: str) -> None:
    for name in FRAMES:
        path = folder / hidden(name, number)
        if path.exists():
            path.replace(folder / f"{name}.parquet")
