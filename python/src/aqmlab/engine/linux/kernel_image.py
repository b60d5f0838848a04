"""Where the built kernel lies, and whether it is the one that this version of aqmlab asks for."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from aqmlab.vocabulary.errors import about

HERE = Path(__file__).parent
# Instead of the cache of the user.
VARIABLE = "AQMLAB_LINUX"
IDENTITY = "identity.json"
# What lies in the folder: the kernel, and the root of the guest.
KERNEL = "linux"
ROOT = "root"


@dataclass(frozen=True)
class Place:
    """A built kernel with its guest."""

    folder: Path
    release: str
    digest: str

    @property
    def version(self) -> str:
        """What identifies its results."""
        return f"{self.release}+{self.digest}"


def folder() -> Path:
    """Return the folder where the kernel is built, once."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "aqmlab" / "linux"


@functools.cache
def sources() -> str:
    """Return the hash of everything here that decides results: this package, and the guest's programs."""
    name = hashlib.sha256()
    for path in sorted(path for path in HERE.rglob("*") if path.suffix in (".py", ".c", ".h", ".sh", ".config")):
        if path.name not in ("build.py", "packages.py"):
            name.update(path.name.encode() + path.read_bytes())
    return name.hexdigest()[:16]


@functools.cache
def guest_sources() -> str:
    """Return the hash of what is built into the guest's root."""
    name = hashlib.sha256()
    for path in sorted((HERE / "guest").iterdir()):
        name.update(path.name.encode() + path.read_bytes())
    return name.hexdigest()[:16]


def found() -> Place:
    """Return the built kernel.

    Raises:
        InputError: if there is none, or its guest is of another version.

    """
    at = folder()
    try:
        identity = json.loads((at / IDENTITY).read_text())
    except (OSError, ValueError):
        raise about("engine linux", "no kernel has been built: aqmlab engine build linux") from None
    if identity["guest"] != guest_sources():
        raise about(
            "engine linux", "the guest is of another version of aqmlab: aqmlab engine build linux (some seconds)"
        )
    digest = hashlib.sha256(f"{identity['kernel']} {sources()}".encode()).hexdigest()[:16]
    return Place(at, identity["release"], digest)
