"""Results: frames, summaries, folders."""

from aqmlab.results.model import Result

__all__ = ["Result"]
