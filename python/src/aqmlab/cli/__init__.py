"""The command line: ``aqmlab``."""

import gc
import os

# Nearly all that a command makes lives until it ends: looking for cycles all the time was a tenth of a short one. More
# objects than there are before the first run.
gc.set_threshold(300_000)
# Its matrices are small: threads of their own would only wait for each other, and for the runs. Before NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
from aqmlab.cli.main import main  # noqa: E402

__all__ = ["main"]
