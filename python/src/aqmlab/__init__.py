"""The laboratory for active queue management.

Importing is cheap: frames, statistics and plots are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aqmlab import _native

if TYPE_CHECKING:
    from aqmlab.errors import Cancelled, CheckError, InputError
    from aqmlab.registry import disciplines

__version__: str = _native.version()

_HOME = {
    "Cancelled": "errors",
    "CheckError": "errors",
    "InputError": "errors",
    "disciplines": "registry",
}

__all__ = ["Cancelled", "CheckError", "InputError", "__version__", "disciplines"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'aqmlab' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"aqmlab.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
