"""Engines run scenarios. All share one protocol: the simulator, and the Linux kernel in virtual time."""

from __future__ import annotations

from aqmlab.engine.column_tables import Column, Histograms, Table
from aqmlab.engine.linux import Linux
from aqmlab.engine.native import Native
from aqmlab.engine.protocol import FATES, Capabilities, Engine, Monitor, Report, Run, SingleEngine, Task, Trace
from aqmlab.engine.several import Several
from aqmlab.vocabulary.errors import InputError, unknown

__all__ = [
    "DEFAULT",
    "ENGINES",
    "FATES",
    "Capabilities",
    "Column",
    "Engine",
    "Histograms",
    "Monitor",
    "Report",
    "Run",
    "SingleEngine",
    "Table",
    "Task",
    "Trace",
    "find",
    "names",
]

DEFAULT = "native"

ENGINES: dict[str, SingleEngine] = {engine.name: engine for engine in (Native(), Linux())}


def names(text: str) -> list[str]:
    """Return the names of engines in a text, as ``native,linux``.

    Raises:
        InputError: for an unknown name, with the nearest engine, or one that is given twice.

    >>> names("native, linux")
    ['native', 'linux']

    """
    found = [name.strip() for name in text.split(",")]
    for name in found:
        if name not in ENGINES:
            raise unknown("engine", name, ENGINES)
        if found.count(name) > 1:
            raise InputError(f"engine '{name}' is given twice")
    return found


def find(text: str) -> Engine:
    """Return the engine of this name, or several as one.

    Raises:
        InputError: for an unknown name, with the nearest engine.

    >>> find("native").name, find("native,linux").name
    ('native', 'native,linux')

    """
    found = {name: ENGINES[name] for name in names(text)}
    return Several(found) if len(found) > 1 else next(iter(found.values()))
