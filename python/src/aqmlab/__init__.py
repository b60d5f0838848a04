"""The laboratory for active queue management.

    >>> import aqmlab
    >>> r = aqmlab.compare(rate="10mbit", rtt="40ms", aqm=["fifo", "codel"], duration="2s", seeds=2)
    >>> sorted(r.summary["aqm"].unique())
    ['codel', 'fifo']

Importing is cheap: frames, statistics and figures are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aqmlab import _native

if TYPE_CHECKING:
    from aqmlab.facade import Result, compare, load, merge, run, sweep
    from aqmlab.own.python_aqm import AQM, register_aqm
    from aqmlab.scenario.python_transport import Transport, register_transport
    from aqmlab.scenario.registry import disciplines
    from aqmlab.tuning import tune
    from aqmlab.vocabulary.errors import Cancelled, CheckError, InputError, MachineError

__version__: str = _native.version()
# The version with the commit that it was built from, where that is known.
FULL_VERSION = f"{__version__} (commit {_native.commit()})" if _native.commit() else __version__

_HOME = {
    "AQM": "own.python_aqm",
    "Cancelled": "vocabulary.errors",
    "CheckError": "vocabulary.errors",
    "InputError": "vocabulary.errors",
    "MachineError": "vocabulary.errors",
    "Result": "facade",
    "Transport": "scenario.python_transport",
    "compare": "facade",
    "disciplines": "scenario.registry",
    "load": "facade",
    "merge": "facade",
    "register_aqm": "own.python_aqm",
    "register_transport": "scenario.python_transport",
    "run": "facade",
    "sweep": "facade",
    "tune": "tuning",
}

# Modules of before, and where they are.
_MOVED = {"pmqecn": "papers.pmqecn"}

__all__ = [
    "AQM",
    "Cancelled",
    "CheckError",
    "InputError",
    "MachineError",
    "Result",
    "Transport",
    "__version__",
    "compare",
    "disciplines",
    "load",
    "merge",
    "register_aqm",
    "register_transport",
    "run",
    "sweep",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        raise AttributeError(f"'aqmlab.{name}' is now 'aqmlab.{_MOVED[name]}'")
    if name not in _HOME:
        raise AttributeError(f"module 'aqmlab' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"aqmlab.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
