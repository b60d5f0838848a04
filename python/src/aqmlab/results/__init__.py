"""Results: runs as frames, summaries of them over seeds, comparisons and rankings."""

from aqmlab.results.result import Result

__all__ = ["Result"]
