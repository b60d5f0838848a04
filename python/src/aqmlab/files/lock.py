"""One writer per folder: an advisory lock that is released when its process ends, however that happens.

Not by filelock: it does not say who holds a lock, and has nothing for ``is_abandoned``.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aqmlab.vocabulary.errors import MachineError

NAME = ".lock"


@contextmanager
def held(folder: Path, name: str = NAME) -> Iterator[None]:
    """Hold the lock of a folder.

    Raises:
        MachineError: if another process holds it, saying which.

    """
    path = folder / name
    number = _acquire(path, folder)
    try:
        os.ftruncate(number, 0)
        os.pwrite(number, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        yield
    finally:
        # Removed while it is held: whoever waits for it then sees that the file has changed.
        with suppress(OSError):
            path.unlink()
        os.close(number)


def is_abandoned(folder: Path, name: str) -> bool:
    """Whether a folder has a lock that nobody holds: its process was killed."""
    try:
        number = os.open(folder / name, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(number)


def _acquire(path: Path, folder: Path) -> int:
    while True:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(number, 200, 0).decode(errors="replace") or "another process"
            os.close(number)
            raise MachineError(f"{folder}: {holder} is writing into it: wait, or name another folder") from None
        except BaseException:
            os.close(number)
            raise
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(number), path.stat()):
                return number
        os.close(number)
