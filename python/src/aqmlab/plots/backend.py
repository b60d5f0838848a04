"""Imports matplotlib wherever ``MPLBACKEND`` points.

Matplotlib cannot be imported where that names a backend that is not installed: a notebook sets it for its
subprocesses, which may have another environment. Figures here are files and need no backend.
"""

import contextlib
import os

_chosen = os.environ.pop("MPLBACKEND", None)
import matplotlib as mpl  # noqa: E402

if _chosen is not None:
    os.environ["MPLBACKEND"] = _chosen
    # Whoever shows figures in this process keeps the backend that was asked for.
    with contextlib.suppress(ValueError):
        mpl.rcParams["backend"] = _chosen
