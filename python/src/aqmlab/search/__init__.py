"""Designed experiments: which settings of open factors come closest to given numbers, and which factors matter."""

from aqmlab.search.outcome import Outcome, conduct
from aqmlab.search.plan import Factor, Sampling, Search, Setting
from aqmlab.search.space import Reach, Space, Turn, explore, turned
from aqmlab.search.targets import Deviations, Grade, Quantity, Target

__all__ = [
    "Deviations",
    "Factor",
    "Grade",
    "Outcome",
    "Quantity",
    "Reach",
    "Sampling",
    "Search",
    "Setting",
    "Space",
    "Target",
    "Turn",
    "conduct",
    "explore",
    "turned",
]
