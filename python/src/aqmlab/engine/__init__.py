"""Engines run scenarios. All share one protocol; the simulator is the only one so far."""

from __future__ import annotations

from aqmlab.engine.native import Native
from aqmlab.engine.protocol import Capabilities, Engine, Monitor, Report, Run, Table, Task
from aqmlab.vocabulary.errors import unknown

__all__ = ["DEFAULT", "ENGINES", "Capabilities", "Engine", "Monitor", "Report", "Run", "Table", "Task", "find"]

DEFAULT = "native"

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Native(),)}


def find(name: str) -> Engine:
    """Return the engine of this name.

    Raises:
        InputError: for an unknown name, with the nearest engine.

    >>> find("native").name
    'native'

    """
    if name not in ENGINES:
        raise unknown("engine", name, ENGINES)
    return ENGINES[name]
