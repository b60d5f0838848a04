"""Imports matplotlib: wherever ``MPLBACKEND`` points, and without what figures in files do not need.

Matplotlib cannot be imported where that names a backend that is not installed: a notebook sets it for its
subprocesses, which may have another environment. Figures here are files and need no backend.
"""

import contextlib
import os
import sys

_chosen = os.environ.pop("MPLBACKEND", None)
import matplotlib as mpl  # noqa: E402
from matplotlib import artist  # noqa: E402

_kwdoc = artist.kwdoc
if "aqmlab.cli" in sys.modules:
    # No reader of docstrings is there: listing the properties of each kind of artist is a third of importing them.
    artist.kwdoc = lambda artist: ""
import matplotlib.backends.backend_svg  # noqa: E402
import matplotlib.figure  # noqa: E402

artist.kwdoc = _kwdoc
if _chosen is not None:
    os.environ["MPLBACKEND"] = _chosen
    # Whoever shows figures in this process keeps the backend that was asked for.
    with contextlib.suppress(ValueError):
        mpl.rcParams["backend"] = _chosen
