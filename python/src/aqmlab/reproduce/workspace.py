"""The folder of a reproduction: told from any other by the claims that it holds as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aqmlab import __version__
from aqmlab.errors import InputError
from aqmlab.results import store

CLAIMS = "claims.json"
FORMAT_VERSION = 1


def check(folder: Path) -> None:
    """Make sure that a folder can be written, and is new or a reproduction's.

    Raises:
        InputError: saying what is in the way.

    """
    store.check_writable(folder)
    if not (folder / CLAIMS).is_file():
        store.check_new(folder)


def begin(folder: Path) -> None:
    """Make the folder what it will be, so that an interrupted reproduction goes on in it."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / CLAIMS).is_file():
        write(folder, [])


def write(folder: Path, claims: list[dict[str, Any]]) -> None:
    """Write the claims with their verdicts, whole or not at all."""
    document = {"format_version": FORMAT_VERSION, "command": "reproduce", "aqmlab": __version__, "claims": claims}
    temporary = folder / f".{CLAIMS}.tmp"
    try:
        temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")
        temporary.replace(folder / CLAIMS)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from None
