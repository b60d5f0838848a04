"""TOML files, with one error for each thing that can be wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError
from aqmlab.units import format_bytes

# A topology of ten thousand links takes one megabyte.
LARGEST_BYTES = 16 << 20


def read(path: Path) -> dict[str, Any]:
    """Return the table that a file holds.

    Raises:
        InputError: if it cannot be read, is too large, is not text, or is not TOML.

    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            raise InputError(f"{path}: is larger than {format_bytes(LARGEST_BYTES)}")
        return tomllib.loads(content.decode())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deep") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        # Python refuses to convert numbers of thousands of digits.
        raise InputError(f"{path}: holds a number of too many digits") from None
