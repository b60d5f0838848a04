"""TOML files, with one error for each thing that can be wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aqmlab.files import system
from aqmlab.vocabulary.errors import InputError

# A topology of ten thousand links takes one megabyte.
LARGEST_BYTES = 16 << 20
# The parser's work for a key grows with the square of its parts. No file of aqmlab has a key of more than three.
MOST_PARTS = 16
# TOML has integers of 64 bits; of more digits than Python converts to text, an error cannot even name them.
_WHOLE = range(-(2**63), 2**63)

_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\[^\n])*+"?+|'[^'\n]*+'?+)"""
_DOT = r"[ \t]*+\.[ \t]*+"
# Dots count in keys only: what is read over are texts of several lines, comments, and keys or values of fewer parts. Up
# to the first error of a file that is none, the parser reads it alike.
_TOKEN = re.compile(
    rf'''
    """(?:[^"\\]|\\.|"(?!""))*+(?:"{{3,5}}|\Z)
    | \'\'\'(?:[^']|'(?!\'\'))*+(?:'{{3,5}}|\Z)
    | \#[^\n]*+
    | (?P<long>{_PART}(?:{_DOT}{_PART}){{{MOST_PARTS}}})
    | {_PART}(?:{_DOT}{_PART})*+
    ''',
    re.DOTALL | re.VERBOSE,
)


def read(path: Path, check: Callable[[str], None] | None = None) -> dict[str, Any]:
    """Return the table that a file holds; ``check`` sees its text before it is parsed, which takes longer.

    Raises:
        InputError: if it cannot be read, is too large, is not text, or is not TOML.

    """
    with system.reading(path):
        text = system.content(path, LARGEST_BYTES).decode()
        if check is not None:
            check(text)
        _check_keys(path, text)
        table = tomllib.loads(text)
    _check_numbers(path, table)
    return table


def _check_keys(path: Path, text: str) -> None:
    for found in _TOKEN.finditer(text):
        if found["long"]:
            line = text.count("\n", 0, found.start()) + 1
            raise InputError(f"{path}: line {line}: the key '{found['long']}...' has more than {MOST_PARTS} parts")


def _check_numbers(path: Path, table: dict[str, Any]) -> None:
    left: list[Any] = [table]
    while left:
        match left.pop():
            case dict() as inner:
                left.extend(inner.values())
            case list() as inner:
                left.extend(inner)
            case int() as number if number not in _WHOLE:
                raise InputError(f"{path}: holds a number of too many digits")
