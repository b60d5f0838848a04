"""Captures and link traces: each file is read, hashed and parsed once, for all points and runs.

The hash is that of the parsed content: changing a file later does not affect experiments in progress.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from aqmlab import system
from aqmlab._native import Capture, LinkTrace

T = TypeVar("T", bound=Capture | LinkTrace)


@dataclass(frozen=True, eq=False)
class InputFile(Generic[T]):
    """A parsed file, the name given by the user, and the hash of its content."""

    name: str
    parsed: T
    digest: str

    def summary(self) -> dict[str, Any]:
        """Return statistics of the content."""
        return dict(json.loads(self.parsed.summary()))


def capture(path: str) -> InputFile[Capture]:
    """Read a capture (pcap, pcapng).

    Raises:
        InputError: naming the file and what is wrong with it.

    """
    return _read(path, Capture, Capture.LARGEST_FILE_BYTES)


def link_trace(path: str) -> InputFile[LinkTrace]:
    """Read a link trace in mahimahi's format.

    Raises:
        InputError: naming the file and what is wrong with it.

    """
    return _read(path, LinkTrace, LinkTrace.LARGEST_FILE_BYTES)


# Cached while in use. A file that was written again is read again.
_FILES: WeakValueDictionary[tuple[object, ...], InputFile[Any]] = WeakValueDictionary()


def _read(path: str, parse: Callable[[str, bytes], T], largest_bytes: int) -> InputFile[T]:
    # Once polars is loaded, its handler of SIGINT lets the system wait on: for a pipe's writer, for ever.
    signal.siginterrupt(signal.SIGINT, True)
    with system.reading(path), open(path, "rb") as file:
        key = (parse, path, *_state(file.fileno()))
        known = _FILES.get(key)
        if known is not None:
            return known
        # One byte more than allowed, so that the parser refuses it.
        content = file.read(largest_bytes + 1)
    found = InputFile(path, parse(path, content), hashlib.sha256(content).hexdigest())
    _FILES[key] = found
    return found


def _state(file: int) -> tuple[int, ...]:
    """Return what identifies the state of a file."""
    status = os.fstat(file)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
