"""The command line: ``aqmlab``."""

import os

# Its matrices are small: threads of their own would only wait for each other, and for the runs. Before NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
from aqmlab.cli.main import main

__all__ = ["main"]
