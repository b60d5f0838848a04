"""What a capture of one's own line tells: rate, round trip, queue, buffer, losses, marks, each with how sure it is."""

from __future__ import annotations

from aqmlab.diagnosis.diagnosis import Diagnosis, diagnose
from aqmlab.diagnosis.finding import Finding
from aqmlab.diagnosis.ways import Way

__all__ = ["Diagnosis", "Finding", "Way", "diagnose"]
