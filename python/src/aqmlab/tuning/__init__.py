"""Tuning: parameters by search, judged where they were not chosen."""

from aqmlab.tuning.outcome import Tuning
from aqmlab.tuning.tuning import tune

__all__ = ["Tuning", "tune"]
