"""Folders for temporary files. Where their process was killed, the next that makes such a folder removes them."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aqmlab.files import lock

# Not that of a result, which lies in a folder of any name and outlives its process.
LOCK = ".temporary.lock"
# What a folder is called until it is locked, which takes a moment; who has not done it after so long was killed.
NEW, MOST_NEW_S = "aqmlab-new-", 3600.0


@contextmanager
def folder(prefix: str) -> Iterator[Path]:
    """Make a folder whose name begins with a prefix, and remove it at the end.

    Those of processes that have ended without doing so are removed before: the lock of such a folder is held by nobody.
    """
    place = Path(tempfile.gettempdir())
    left = [one for one in place.glob(f"{prefix}*") if _is_ours(one) and lock.is_abandoned(one, LOCK)]
    left += [one for one in place.glob(f"{NEW}*") if _is_ours(one) and _age_s(one) > MOST_NEW_S]
    for one in left:
        shutil.rmtree(one, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=NEW))
    with lock.held(made, LOCK):
        try:
            # It has its name only now that it is locked: else another process could take it for one that was left.
            made = made.rename(made.with_name(made.name.replace(NEW, prefix, 1)))
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    """Whether it is a folder of this user's, and no link to one."""
    with suppress(OSError):
        found = path.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return False


def _age_s(path: Path) -> float:
    """How long ago something in a folder changed; none if it is gone."""
    with suppress(OSError):
        return time.time() - path.lstat().st_mtime
    return 0.0


__all__ = ["LOCK", "folder"]
