"""The journal of a writer: the records of its finished runs, one after the other, each behind its length.

A file for each record would cost as much as half of the work around a short run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from aqmlab.files import disk
from aqmlab.runs.runner import FinishedRun
from aqmlab.store import record

_LENGTH = 8


class Journal:
    """A file that grows by a record at a time; it is made with the first one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def append(self, content: bytes, *, durable: bool) -> None:
        """Add a record, whole or not at all; ``durable`` waits until it is on disk."""
        if self._file is None:
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        disk.append(self._file, _framed(content), durable=durable)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def runs(content: bytes) -> Iterator[FinishedRun | None]:
    """Yield the runs in a journal, and nothing at all for each place that is damaged.

    A record at the end that is not complete is no damage: its writer is still at it, or was killed.
    """
    if content.startswith(record.MAGIC):
        # Earlier versions had a file for each record, without its length.
        content = _framed(content)
    at = 0
    while at < len(content):
        start = at + _LENGTH
        end = start + int.from_bytes(content[at:start], "little")
        # No record has the beginning of another in it. So nothing is looked at twice, whoever made the lengths up.
        following = content.find(record.MAGIC, start + 1)
        if following < 0 and end > len(content):
            return
        beyond = following - _LENGTH if following >= 0 else len(content)
        done = _decoded(content[start:end]) if end <= beyond else None
        yield done
        at = end if done else beyond


def _decoded(content: bytes) -> FinishedRun | None:
    try:
        return record.decode(content)
    except record.DamagedError:
        return None


def _framed(content: bytes) -> bytes:
    return len(content).to_bytes(_LENGTH, "little") + content
