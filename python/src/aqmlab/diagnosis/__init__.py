"""A line's estimates from a capture: rate, round trip, queue, buffer, losses, marks, each with how sure it is."""

from __future__ import annotations

from aqmlab.diagnosis.diagnosis import Diagnosis, diagnose
from aqmlab.diagnosis.direction import Direction
from aqmlab.diagnosis.finding import Finding

__all__ = ["Diagnosis", "Direction", "Finding", "diagnose"]
