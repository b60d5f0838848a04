"""Designed experiments: which settings of open factors come closest to given numbers, and which factors matter."""

from aqmlab.search.outcome import Outcome, run_search
from aqmlab.search.plan import Factor, Sampling, Search, Setting
from aqmlab.search.space import Flip, Reach, Space, explore, flipped
from aqmlab.search.targets import Deviations, Grade, Quantity, Target

__all__ = [
    "Deviations",
    "Factor",
    "Flip",
    "Grade",
    "Outcome",
    "Quantity",
    "Reach",
    "Sampling",
    "Search",
    "Setting",
    "Space",
    "Target",
    "explore",
    "flipped",
    "run_search",
]
