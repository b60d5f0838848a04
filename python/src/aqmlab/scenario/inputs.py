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

from aqmlab._native import Capture, LinkTrace, PathTrace
from aqmlab.files import system
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.printable import is_utf_8
from aqmlab.vocabulary.units import parse_rate, parse_span

# Starts a link trace that is written here instead of a file's name, as `steps:100mbit*20s,10mbit*20s`.
STEPS = "steps:"
MILLISECOND_NS = 1_000_000
OPPORTUNITY_BITS = 12_000
MOST_OPPORTUNITIES = 10_000_000

T = TypeVar("T", bound=Capture | LinkTrace | PathTrace)


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
    return _read(path, Capture, Capture.LARGEST_FILE_BYTES, Capture.check_beginning)


def path_trace(path: str) -> InputFile[PathTrace]:
    """Read a capture with what TCP's headers say about the path.

    Raises:
        InputError: naming the file and what is wrong with it.

    """
    return _read(path, PathTrace, Capture.LARGEST_FILE_BYTES, Capture.check_beginning)


def link_trace(path: str) -> InputFile[LinkTrace]:
    """Read a link trace in mahimahi's format, or make one of rates in turn: `steps:100mbit*20s,10mbit*20s`.

    Raises:
        InputError: naming the file, or the step, and what is wrong with it.

    """
    if not path.startswith(STEPS):
        return _read(path, LinkTrace, LinkTrace.LARGEST_FILE_BYTES)
    content = steps(path)
    return InputFile(path, LinkTrace(path, content), hashlib.sha256(content).hexdigest())


def steps(text: str) -> bytes:
    """Return the link trace of rates in turn, which repeat: opportunities of 1500 bytes at whole milliseconds.

    Raises:
        InputError: naming the step and what is allowed.

    >>> steps("steps:12mbit*2ms,24mbit*1ms").split()
    [b'1', b'2', b'3', b'3']

    """
    now_ms, owed, lines = 0, 0, bytearray()
    for step in text.removeprefix(STEPS).split(","):
        rate, times, span = step.partition("*")
        if not times:
            raise InputError(f"'{step}' is not RATE*TIME, as 100mbit*20s")
        rate_bps, span_ns = parse_rate(rate.strip()), parse_span(span.strip())
        if rate_bps == 0 or span_ns == 0 or span_ns % MILLISECOND_NS:
            raise InputError(f"'{step}': allowed is a rate above zero for whole milliseconds")
        if (rate_bps * span_ns) // (OPPORTUNITY_BITS * 10**9) > MOST_OPPORTUNITIES:
            raise InputError(f"'{step}': allowed are at most {MOST_OPPORTUNITIES} packets of 1500 bytes in a step")
        for _ in range(span_ns // MILLISECOND_NS):
            now_ms += 1
            owed += rate_bps
            due, owed = divmod(owed, OPPORTUNITY_BITS * 1000)
            lines += b"%d\n" % now_ms * due
    return bytes(lines)


# More than any format needs to be recognised.
_BEGINNING_BYTES = 4096
# Cached while in use. A file that was written again is read again.
_FILES: WeakValueDictionary[tuple[object, ...], InputFile[Any]] = WeakValueDictionary()


def _read(
    path: str,
    parse: Callable[[str, bytes], T],
    largest_bytes: int,
    check: Callable[[str, bytes], None] | None = None,
) -> InputFile[T]:
    if not is_utf_8(path):
        raise InputError(f"{path}: its name has bytes that are not text in UTF-8: give the file another")
    # Once polars is loaded, its handler of SIGINT lets the system wait on: for a pipe's writer, for ever.
    signal.siginterrupt(signal.SIGINT, True)
    with system.reading(path), open(path, "rb") as file:
        key = (parse, path, *_state(file.fileno()))
        known = _FILES.get(key)
        if known is not None:
            return known
        content = file.read(_BEGINNING_BYTES)
        if check:
            # A device without an end would fill gigabytes of memory first.
            check(path, content)
        # One byte more than allowed, so that the parser refuses it.
        content += file.read(largest_bytes + 1 - len(content))
    found = InputFile(path, parse(path, content), hashlib.sha256(content).hexdigest())
    _FILES[key] = found
    return found


def _state(file: int) -> tuple[int, ...]:
    """Return what identifies the state of a file."""
    status = os.fstat(file)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
