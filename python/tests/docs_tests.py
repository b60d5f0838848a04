from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import aqmlab

MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(aqmlab.__path__, "aqmlab.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("module", [aqmlab, *MODULES], ids=lambda module: module.__name__)
def examples_in_docstrings_do_what_they_say(module: ModuleType) -> None:
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def everything_public_is_documented() -> None:
    for name in aqmlab.__all__:
        if name != "__version__":
            assert getattr(aqmlab, name).__doc__
