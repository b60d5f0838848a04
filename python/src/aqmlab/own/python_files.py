"""The file of a discipline in Python: executed, with the modules that it imports from its folder."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import aqmlab
from aqmlab.vocabulary.errors import InputError

# No source is longer; a device has no end.
LARGEST_CHARACTERS = 1 << 24


@dataclass(frozen=True)
class Executed:
    """What a file defines, and the sources that it is made of: its own, and those of its folder that it imports."""

    path: Path
    defined: Mapping[str, Any]
    sources: Mapping[Path, str]

    @property
    def digest(self) -> str:
        """The hash of all its sources; of a file that imports none beside it, that of its text."""
        return hashlib.sha256("".join(self.sources.values()).encode()).hexdigest()

    def is_of(self, path: Path) -> bool:
        """Whether it is what this file, and those that it imports, say now."""
        try:
            return path.absolute() == self.path and all(
                _source(path) == source for path, source in self.sources.items()
            )
        except (OSError, UnicodeDecodeError, InputError):
            return False


def execute(name: str, path: Path) -> Executed:
    """Execute a file, which may import from its folder.

    Its modules are its own: another file beside another module of the same name gets that one, and an edited module is
    read again. Handlers of signals, working directory and standard streams are afterwards what they were.

    Raises:
        InputError: naming the discipline, the file, and the lines where it fails.

    """
    try:
        source = _source(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{name}: {path}: {getattr(error, 'strerror', None) or 'is not text in UTF-8'}") from None
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(f"aqmlab_{path.stem}", None))  # type: ignore[arg-type]
    module.__file__ = str(path)
    # Dataclasses look for the module of a class there.
    sys.modules[module.__name__] = module
    with _imports_from(path.parent.absolute()) as imported:
        with explaining(name, path), _process_kept():
            exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))
        beside = {file: _source(file) for file in imported()}
    return Executed(path.absolute(), vars(module), {path.absolute(): source, **dict(sorted(beside.items()))})


def _source(path: Path) -> str:
    with path.open(encoding="utf-8-sig") as file:
        source = file.read(LARGEST_CHARACTERS + 1)
    if len(source) > LARGEST_CHARACTERS:
        raise InputError(f"{path}: is longer than {LARGEST_CHARACTERS} characters")
    return source


@contextmanager
def explaining(name: str, path: Path) -> Iterator[None]:
    """Run code of a file's author: whatever it raises, an exit of the program too, is an error of its discipline.

    Raises:
        InputError: naming the discipline, the file, and the lines where it fails.

    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"{name}: {_explained(error, path)}") from error


@contextmanager
def _process_kept() -> Iterator[None]:
    """Keep what a script may change and the command relies on."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    held = {number: signal.getsignal(number) for number in numbers}
    streams, here = (sys.stdin, sys.stdout, sys.stderr), os.getcwd()
    try:
        yield
    finally:
        (sys.stdin, sys.stdout, sys.stderr) = streams
        os.chdir(here)
        if threading.current_thread() is threading.main_thread():
            for number, handler in held.items():
                if handler is not None:
                    signal.signal(number, handler)


@contextmanager
def _imports_from(folder: Path) -> Iterator[Any]:
    """Let imports find what is in a folder, afresh; yields what tells the files that were imported from there."""

    def own() -> dict[str, ModuleType]:
        # A copy in one step: collecting garbage runs code, which may import.
        return {key: module for key, module in sys.modules.copy().items() if _file(module, folder, key)}

    held, writes = own(), sys.dont_write_bytecode
    for key in held:
        del sys.modules[key]
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    # Python recognizes stale bytecode by second and size: an edit within a second would be missed.
    sys.dont_write_bytecode = True
    try:
        yield lambda: [file for key, module in own().items() if (file := _file(module, folder, key))]
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(str(folder))
        for key in own():
            del sys.modules[key]
        sys.modules.update(held)


def _file(module: ModuleType, folder: Path, key: str) -> Path | None:
    """Return the file of a module that was found in a folder, or in a package there."""
    file = getattr(module, "__file__", None)
    top = folder / key.partition(".")[0]
    if not file or not str(file).endswith(".py") or top.name == aqmlab.__name__:
        return None
    is_own = Path(file) == top.with_suffix(".py") or Path(file).is_relative_to(top)
    return Path(file) if is_own else None


def _explained(error: BaseException, path: Path) -> str:
    """What went wrong and where, in the file and in those beside it, in one line."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno})"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if Path(one.filename).parent == path.parent]
    lines = list(dict.fromkeys(f"line {one.lineno}" for one in frames))
    shown = lines if len(lines) <= 3 else [*lines[:2], "...", lines[-1]]
    said = str(error)
    why = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return f"{why} ({', '.join([str(path), *shown])})"
