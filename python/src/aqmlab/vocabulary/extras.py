"""Packages that only some features need: how to install those that are missing, from a checkout as from a wheel."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import metadata

from aqmlab.vocabulary.errors import InputError, about

_EXTRA = re.compile(r"(?P<package>[^;]+?) *; *extra == '(?P<extra>\w+)'")


def missing(what: str, extra: str) -> InputError:
    """Return the error for what needs an extra that is not installed, with the command that installs it.

    >>> str(missing("tuning needs optuna", "tune")).partition(" -m ")[2]
    "pip install 'optuna>=5,<6' 'salib>=1.6,<2'"

    """
    found = map(_EXTRA.fullmatch, metadata.requires("aqmlab") or ())
    packages = [match["package"] for match in found if match and match["extra"] == extra]
    return about(what, f"{shlex.join([sys.executable, '-m', 'pip', 'install', *packages])}")
