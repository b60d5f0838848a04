"""Result folders that somebody has changed, and their checksums with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab.store import seal


def manifest(folder: Path) -> dict[str, Any]:
    """Return a folder's manifest without its checksum."""
    entries = json.loads((folder / "manifest.json").read_text())
    return {name: value for name, value in entries.items() if name != seal.KEY}


def forge(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest as somebody can who knows how it is made."""
    entries = manifest(folder)
    change(entries)
    (folder / "manifest.json").write_text(json.dumps(seal.sealed(entries)))


def forge_frame(folder: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change a frame as somebody can who knows how a manifest is made."""
    path = folder / f"{name}.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    forge(folder, lambda entries: entries["digests"].update({name: seal.digest(path.read_bytes())}))
