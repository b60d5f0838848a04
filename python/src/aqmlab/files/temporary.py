"""Folders for temporary files. Where their process was killed, the next that makes such a folder removes them."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aqmlab.files import lock

# Not that of a result, which lies in a folder of any name and outlives its process.
LOCK = ".temporary.lock"


@contextmanager
def folder(prefix: str) -> Iterator[Path]:
    """Make a folder whose name begins with a prefix, and remove it at the end.

    Those of processes that have ended without doing so are removed before: the lock of such a folder is held by nobody.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        if _is_ours(left) and lock.is_abandoned(left, LOCK):
            shutil.rmtree(left, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix="aqmlab-new-"))
    with lock.held(made, LOCK):
        try:
            # It has its name only now that it is locked: else another process could take it for one that was left.
            made = made.rename(made.with_name(made.name.replace("aqmlab-new-", prefix, 1)))
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    """Whether it is a folder of this user's, and no link to one."""
    with suppress(OSError):
        found = path.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return False


__all__ = ["LOCK", "folder"]
