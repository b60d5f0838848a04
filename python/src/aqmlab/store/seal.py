"""JSON objects that hold the digest of their other entries: what was damaged, or changed by hand, is detected.

It is no protection against forgery: whoever can write an object can seal it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

KEY = "sha256"


def digest(content: bytes) -> str:
    """Return the SHA-256 of bytes, as `sha256sum` prints it."""
    return hashlib.sha256(content).hexdigest()


def sealed(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return entries with their digest.

    >>> unsealed(sealed({"goodput_mbit": 9.5}))
    {'goodput_mbit': 9.5}

    """
    return {**entries, KEY: _of(entries)}


def unsealed(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return entries without their digest.

    Raises:
        ValueError: if they have none, or another.

    """
    others = {name: value for name, value in entries.items() if name != KEY}
    if entries.get(KEY) != _of(others):
        raise ValueError("the entries are not those that were sealed")
    return others


def _of(entries: Mapping[str, Any]) -> str:
    return digest(json.dumps(entries).encode())
