"""What the operating system and libraries raise, in one line: here and nowhere else."""

from __future__ import annotations

import errno
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aqmlab.vocabulary.errors import InputError, MachineError
from aqmlab.vocabulary.units import format_bytes

# Not the given name is at fault: a full disk, a broken one, too few file handles or too little memory.
_MACHINE = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
}  # fmt: skip


@contextmanager
def reading(place: Path | str) -> Iterator[None]:
    """Read and parse a file.

    Raises:
        InputError: naming the file, if it cannot be read, or is damaged.
        MachineError: if the machine is at fault.

    """
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        raise failed(f"{place}: cannot be read", error) from None
    except BaseException as error:
        if damage := _damage(error):
            raise InputError(f"{place}: {damage}") from None
        raise


def content(path: Path, largest_bytes: int) -> bytes:
    """Return what a file holds, which may be a pipe or a device.

    Raises:
        InputError: if it cannot be read, or is larger than allowed.
        MachineError: if the machine is at fault.

    """
    with reading(path), path.open("rb") as file:
        found = file.read(largest_bytes + 1)
        if len(found) > largest_bytes:
            raise InputError(f"{path}: is larger than {format_bytes(largest_bytes)}")
        return found


@contextmanager
def writing(place: Path | str) -> Iterator[None]:
    """Write into a file or a folder.

    Raises:
        InputError: naming it, if it cannot be written.
        MachineError: if the machine is at fault, such as a full disk.

    """
    try:
        yield
    except OSError as error:
        raise failed(f"{place}: cannot be written", error) from None


def failed(what: str, error: OSError) -> InputError | MachineError:
    """Return the error that says what failed and why, by whose fault it is."""
    kind = MachineError if error.errno in _MACHINE else InputError
    return kind(f"{what}: {error.strerror or error}")


def unforeseen(error: OSError | MemoryError) -> InputError | MachineError:
    """Return the error of one line for what no command has named a file for."""
    if isinstance(error, MemoryError):
        return MachineError("there is not enough memory")
    if error.filename is None:
        # Files are opened by name: what has none is the stream that all commands write to.
        return MachineError(f"standard output: {error.strerror or error}")
    return failed(str(error.filename), error)


def _damage(error: BaseException) -> str | None:
    """Return what is wrong with the content of a file, if a parser complains about that."""
    if isinstance(error, UnicodeDecodeError):
        return "is not text in UTF-8"
    if isinstance(error, tomllib.TOMLDecodeError):
        return f"is not TOML: {error}"
    if isinstance(error, RecursionError):
        return "is nested too deep"
    if isinstance(error, ValueError) and "integer string conversion" in str(error):
        return "holds a number of too many digits"
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(error, polars.exceptions.PolarsError):
        return f"cannot be read: {str(error).splitlines()[0]}"
    # What polars' reader of Parquet asserts, it has also written to standard error.
    if polars is not None and isinstance(error, polars.exceptions.PanicException):
        return "is damaged"
    return None
