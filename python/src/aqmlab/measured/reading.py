"""From a file to a result: its content shows the format."""

from __future__ import annotations

import bz2
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.files import system
from aqmlab.measured import flent, iperf3, lenient_json, tc
from aqmlab.measured.builder import FormatError, result
from aqmlab.vocabulary.errors import InputError

if TYPE_CHECKING:
    from aqmlab.results import Result

# Hours of measurements are far smaller; a compressed file could be of any size.
MOST_BYTES = 256 << 20
KNOWN = "flent's data (.flent.gz), iperf3 --json or --json-stream, tc -s -j qdisc"


def read(path: Path) -> Result:
    """Read a measurement.

    Raises:
        InputError: naming the file and what is wrong with it.

    """
    content = _content(path)
    try:
        parsed = _parsed(content)
        return result(path, _format(parsed)(parsed))
    except FormatError as problem:
        raise InputError(f"{path}: {problem}") from None


def _parsed(content: bytes) -> Any:
    try:
        return lenient_json.parse(content)
    except FormatError:
        raise
    except (ValueError, RecursionError):
        raise FormatError(f"is neither a result folder nor JSON of {KNOWN}") from None


def _content(path: Path) -> bytes:
    with system.reading(str(path)), open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    # flent writes gzip, or bzip2 if the name ends in `.bz2`.
    if content[:2] == b"\x1f\x8b":
        opened = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            content = opened.decompress(content, MOST_BYTES + 1)
        except zlib.error:
            raise InputError(f"{path}: is damaged: it begins as gzip, and cannot be decompressed") from None
    elif content[:3] == b"BZh":
        try:
            content = bz2.BZ2Decompressor().decompress(content, MOST_BYTES + 1)
        except OSError:
            raise InputError(f"{path}: is damaged: it begins as bzip2, and cannot be decompressed") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"{path}: is larger than {MOST_BYTES >> 20} MiB, the most for a measurement")
    return content


def _format(parsed: Any) -> Any:
    if isinstance(parsed, dict) and {"x_values", "results"} <= set(parsed):
        return flent.measurement
    if isinstance(parsed, dict) and {"start", "intervals"} <= set(parsed):
        return iperf3.measurement
    if isinstance(parsed, list) and parsed and all(isinstance(one, dict) and "kind" in one for one in parsed):
        return tc.measurement
    raise FormatError(f"is JSON, but none of {KNOWN}")


__all__ = ["read"]
