"""Result folders that somebody has changed, and their checksums with them, or whose writer was killed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aqmlab.files import disk
from aqmlab.store import seal


def manifest(folder: Path) -> dict[str, Any]:
    """Return a folder's manifest without its checksum."""
    entries = json.loads((folder / "manifest.json").read_text())
    return {name: value for name, value in entries.items() if name != seal.KEY}


def forge(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest as somebody can who knows how it is made."""
    entries = manifest(folder)
    change(entries)
    (folder / "manifest.json").write_text(json.dumps(seal.sealed(entries)))


def forge_frame(folder: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change a frame as somebody can who knows how a manifest is made."""
    path = folder / f"{name}.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    forge(folder, lambda entries: entries["digests"].update({name: seal.digest(path.read_bytes())}))


class Killed(BaseException):
    """The writer was killed."""


@contextmanager
def killed_at(place: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kill the writer before it renames a file for the ``place``-th time, or halfway if it appends a record then.

    Nothing is cleaned up after a kill.
    """
    rename, append, done = Path.replace, disk.append, []

    def replace(path: Path, target: Path) -> Path:
        if len(done) == place:
            raise Killed
        done.append(target)
        return rename(path, target)

    def torn(file: int, content: bytes, *, durable: bool) -> None:
        if len(done) == place:
            append(file, content[: len(content) // 2], durable=durable)
            raise Killed
        done.append(Path())
        append(file, content, durable=durable)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        patch.setattr(disk, "append", torn)
        patch.setattr(disk, "remove", lambda path: None)
        patch.setattr(Path, "unlink", lambda path, missing_ok=False: None)
        yield
