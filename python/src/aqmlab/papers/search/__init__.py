"""Which of the values that a paper leaves open come closest to its numbers, and which of them matter."""

from aqmlab.papers.search.outcome import Outcome, conduct

__all__ = ["Outcome", "conduct"]
