"""Measurements of papers that need no simulation: a file for each study, and its name in this list."""

from aqmlab.papers.studies import cost, sketch
from aqmlab.papers.studies.model import Row, Study

__all__ = ["STUDIES", "Row", "Study"]

STUDIES: dict[str, Study] = {study.name: study for study in (cost.STUDY, sketch.STUDY)}
