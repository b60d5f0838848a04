"""TOML files, with one error for each thing that can be wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError


def read(path: Path) -> dict[str, Any]:
    """Return the table that a file holds.

    Raises:
        InputError: if it cannot be read, is not text, or is not TOML.

    """
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}") from None
