"""Changes to this machine that are undone once the process that made them has ended, however it ends.

Commands that undo a change are recorded before it is made. A guardian, a shell of its own, runs them when the process
has ended. Where both were killed, the record remains: its lock is free then, and the next link or `doctor` runs it.
Records are in a folder that a reboot empties, as it undoes the changes; each belongs to one network namespace.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from aqmlab.vocabulary.errors import MachineError

# Only root writes here: what lies in it is run.
RECORDS = Path("/run/aqmlab")
# Held while changes are made or undone: what the last link undoes and what the next one finds made must not overlap.
LOCK = "lock"
SUFFIX = ".undo"
# Signals are for the process that is watched. It has ended once standard input has: nobody can write to it any more.
GUARDIAN = """
trap '' HUP INT QUIT TERM
while read -r _; do :; done
exec flock "$2" sh -c 'sh "$0"; rm -f "$0"' "$1"
"""


@contextmanager
def guarded(environment: Mapping[str, str]) -> Iterator[Callable[[str], None]]:
    """Give a function that records a shell command; recorded commands are run at the end, the first one first.

    Args:
        environment: of the commands.

    Raises:
        MachineError: the folder of the records cannot be made, or is not root's.

    """
    record, number = _open()
    try:
        guardian = subprocess.Popen(
            ["sh", "-c", GUARDIAN, "guardian", str(record), str(record.parent / LOCK)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
            # The record's lock is free when both have ended.
            pass_fds=[number],
        )
    except BaseException:
        record.unlink()
        os.close(number)
        raise

    def undo(command: str) -> None:
        os.write(number, f"{command}\n".encode())

    try:
        yield undo
    finally:
        with suppress(BrokenPipeError):
            guardian.communicate()
        os.close(number)
        # Nothing is there any more, unless somebody killed the guardian.
        recover(environment)


@contextmanager
def alone() -> Iterator[None]:
    """Keep others from making or undoing changes meanwhile."""
    _make_folder()
    with (RECORDS / LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def recover(environment: Mapping[str, str]) -> int:
    """Undo what killed processes have left in this network namespace; return how many they were."""
    count = 0
    for record in sorted(RECORDS.glob(f"{_namespace()}-*{SUFFIX}")):
        with suppress(FileNotFoundError), record.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            with alone():
                # Its guardian may have run it meanwhile.
                if record.exists():
                    subprocess.run(["sh", str(record)], capture_output=True, env=environment)
                    record.unlink()
                    count += 1
    return count


def _open() -> tuple[Path, int]:
    """Return a new record, and its locked descriptor."""
    _make_folder()
    record = RECORDS / f"{_namespace()}-{os.getpid()}{SUFFIX}"
    number = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    fcntl.flock(number, fcntl.LOCK_EX)
    return record, number


def _make_folder() -> None:
    try:
        RECORDS.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise MachineError(f"{RECORDS}: cannot be made: {error.strerror}") from None
    if RECORDS.is_symlink() or RECORDS.stat().st_uid != os.geteuid():
        raise MachineError(f"{RECORDS}: belongs to another user")


def _namespace() -> int:
    """Return the number of this network namespace."""
    return os.stat("/proc/self/ns/net").st_ino


__all__ = ["alone", "guarded", "recover"]
