"""Measurements of papers that need no simulation: a file for each study, and its name in this list."""

from aqmlab.papers.studies import airtime, attacks, conservation, cost, drop_probability, sketch, steps
from aqmlab.papers.studies.study import Row, Study

__all__ = ["STUDIES", "Row", "Study"]

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        airtime.STUDY,
        attacks.STUDY,
        conservation.STUDY,
        cost.STUDY,
        drop_probability.STUDY,
        sketch.STUDY,
        steps.STUDY,
    )
}
