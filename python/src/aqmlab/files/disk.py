"""Files of a folder: written completely or not at all, and kept apart from other people's files."""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from aqmlab.files import lock, system
from aqmlab.vocabulary.errors import InputError

# No name in a folder is longer: that of a record while it is written comes next.
_LONGEST_NAME = 120
_TEMPORARY = re.compile(r"\..*\.(?:tmp|old)-(?P<pid>[0-9]+)")


def write(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file under a temporary name, then rename it; ``durable`` waits until it is on disk."""
    fill(path, lambda temporary: temporary.write_bytes(content), durable=durable)


def fill(path: Path, writer: Callable[[Path], object], *, durable: bool = True) -> None:
    """Let ``writer`` write a file under a temporary name, then rename it."""
    temporary = _temporary(path)
    try:
        writer(temporary)
        if durable:
            sync(temporary)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def append(file: int, content: bytes, *, durable: bool) -> None:
    """Write at the end of an open file, until it is on disk if it is ``durable``; what fails is taken back."""
    size = os.fstat(file).st_size
    written = 0
    try:
        while written < len(content):
            written += os.write(file, content[written:])
        if durable:
            os.fsync(file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.ftruncate(file, size)
        raise


def put(path: Path, content: bytes) -> None:
    """Write to a path given by the user: through symbolic links, and into devices and pipes without replacing them."""
    place(path, lambda target: target.write_bytes(content))


def place(path: Path, writer: Callable[[Path], object]) -> None:
    """Let ``writer`` write what `put` would, without holding all of it."""
    with _staging() as stage:
        stage(path, writer)


def put_all(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder, as `put_parts` does; return their paths."""
    return put_parts(folder, [contents])


def put_parts(folder: Path, parts: Iterable[Mapping[str, bytes]]) -> list[Path]:
    """Write files into a folder, which is made if necessary, part by part; return their paths.

    All of them or none: until the last part is written, whatever fails, files have temporary names. Only what goes into
    devices and pipes cannot be taken back.

    Raises:
        InputError: naming the file that cannot be written.
        MachineError: if the disk is full.

    """
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    paths: list[Path] = []
    try:
        with _staging() as stage:
            for contents in parts:
                for name, content in contents.items():
                    paths.append(folder / name)
                    with system.writing(paths[-1]):
                        make(folder)
                        stage(paths[-1], partial(Path.write_bytes, data=content))
    except BaseException:
        discard_if_empty(*made)
        raise
    return paths


@contextlib.contextmanager
def _staging() -> Iterator[Callable[[Path, Callable[[Path], object]], None]]:
    """Write files under temporary names, which they change for their own together, or not at all.

    Through symbolic links, and into devices and pipes at once; a file that is replaced hands on its permissions.
    """
    staged: list[tuple[Path, Path]] = []

    def stage(path: Path, writer: Callable[[Path], object]) -> None:
        target = path.resolve()
        if target.exists() and not target.is_file():
            writer(target)
            return
        temporary = _temporary(target)
        staged.append((temporary, target))
        writer(temporary)
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)

    try:
        yield stage
        for temporary, target in staged:
            with system.writing(target):
                temporary.replace(target)
    except BaseException:
        for temporary, _ in staged:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.tmp-{os.getpid()}")


def make(folder: Path) -> None:
    """Make a folder, and those that it is in, however many they are."""
    # `Path.mkdir` would call itself for each.
    for one in reversed((folder, *folder.parents)):
        one.mkdir(exist_ok=True)


def sync(path: Path) -> None:
    """Wait until a file is on disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sweep(folder: Path) -> None:
    """Remove temporary files of killed writers, in a folder and beside it."""
    beside = [path for path in folder.absolute().parent.glob(f".{glob.escape(folder.name)}.*") if folder.name]
    within = [path for place in ("", "figures", "records") for path in (folder / place).glob(".*")]
    for path in [*within, *beside]:
        match = _TEMPORARY.fullmatch(path.name)
        if match and not _is_alive(int(match["pid"])):
            remove(path)


def remove(path: Path) -> None:
    """Remove a file or a folder with all its contents, if possible."""
    import shutil

    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def dated(command: str, parent: Path = Path("results")) -> Path:
    """Make a new folder named after the time, as `results/compare-20261121-142501`.

    Raises:
        InputError: saying why it cannot be made.

    """
    stem = f"{command}-{datetime.now():%Y%m%d-%H%M%S}"
    with system.writing(parent / stem):
        make(parent)
        for name in (stem, *(f"{stem}-{number}" for number in range(2, 1000))):
            with contextlib.suppress(FileExistsError):
                (parent / name).mkdir()
                return parent / name
    raise InputError(f"{parent / stem}: there are a thousand folders of this second: name another with --out")


def discard_if_empty(*folders: Path) -> None:
    """Remove folders that stayed empty."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def check_new(folder: Path) -> None:
    """Make sure that a folder is writable and empty.

    Raises:
        InputError: if it is not, saying why.

    """
    check_writable(folder)
    if folder.exists() and any(path.name != lock.NAME for path in folder.iterdir()):
        raise InputError(f"{folder}: holds files already, and results are never overwritten: name another folder")


def check_free(paths: Iterable[Path], *, force: bool) -> None:
    """Make sure that no file would be replaced, unless the user wants it; devices and pipes are written into.

    Raises:
        InputError: naming a file that is there already.

    """
    for path in paths:
        if not force and path.is_file():
            raise InputError(f"{path}: is there already: name another place, or replace it with --force")


def check_place(option: str, path: Path, *, force: bool) -> None:
    """Make sure that a file, a device or a pipe given by the user can be written, leaving no trace.

    Raises:
        InputError: naming the option, and saying why it cannot.
        MachineError: if the disk is full.

    """
    if path.is_dir():
        raise InputError(f"{option}: '{path}' is a folder")
    if not path.parent.is_dir():
        raise InputError(f"{option}: '{path}' cannot be written: there is no folder '{path.parent}'")
    check_free([path], force=force)
    target = path.resolve()
    if not target.exists() or target.is_file():
        check_writable(target.parent)
    elif not os.access(target, os.W_OK):
        raise InputError(f"{option}: '{path}' cannot be written: Permission denied")


def check_writable(folder: Path) -> None:
    """Make sure that a folder can be made, leaving no trace.

    Raises:
        InputError: saying why it cannot.
        MachineError: if the disk is full.

    """
    with system.writing(folder):
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: is a file, not a folder")
        with contextlib.suppress(FileNotFoundError):
            (folder / ("x" * _LONGEST_NAME)).lstat()
        parent = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
        probe = parent / f".aqmlab.tmp-{os.getpid()}"
        probe.write_bytes(b"probe")
        probe.unlink()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return pid != os.getpid()
