"""TOML files, with one error for each thing that can be wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from aqmlab import system

# A topology of ten thousand links takes one megabyte.
LARGEST_BYTES = 16 << 20


def read(path: Path) -> dict[str, Any]:
    """Return the table that a file holds.

    Raises:
        InputError: if it cannot be read, is too large, is not text, or is not TOML.

    """
    with system.reading(path):
        return tomllib.loads(system.content(path, LARGEST_BYTES).decode())
