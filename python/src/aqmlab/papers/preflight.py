"""Checks of a reproduction before its first run."""

from __future__ import annotations

from collections.abc import Mapping

from aqmlab import scenario
from aqmlab.papers.claims import Claim, Operand
from aqmlab.papers.paper import FILE, Paper
from aqmlab.scenario import Experiment, Plan
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.names import plain


def check(paper: Paper, experiments: Mapping[str, Experiment], *, quick: bool) -> None:
    """Make sure that every claim finds its AQMs and sweep points in the resolved scenarios.

    A quick run may leave points out.

    Raises:
        InputError: naming the claim, the missing name, and the known ones.

    """
    named, several = {}, {}
    for name, one in experiments.items():
        plans = [scenario.resolve(point) for point in one.points]
        several[name] = len(plans[0].contestants) > 1
        named[name] = names(plans[0])
    for claim in paper.statements:
        for side in claim.operands:
            measure = claim.measure(side)
            place = f"{paper.folder / FILE}: claim {claim.id}: '{side.text}'"
            if measure.scenario not in experiments:
                continue
            aqms = named[measure.scenario]
            if claim.contestants and several[measure.scenario]:
                raise InputError(f"{place}: contestants: the scenario compares AQMs already")
            if not claim.contestants and plain(side.aqm) not in aqms:
                raise InputError(f"{place}: {unknown('AQM', side.aqm, sorted(aqms))}")
            _check_point(claim, side, experiments[measure.scenario], place, quick=quick)


def names(plan: Plan) -> set[str]:
    """Return the names by which claims may call the AQMs of a scenario."""
    return {
        plain(text)
        for contestant in plan.contestants
        for text in (contestant.spec.name, contestant.label, contestant.label.split()[0])
    }


def _check_point(claim: Claim, side: Operand, experiment: Experiment, place: str, *, quick: bool) -> None:
    swept, wanted = experiment.points[0].point, dict(claim.measure(side).point)
    for key in wanted:
        if key not in swept:
            raise InputError(f"{place}: point: {unknown('key', key, swept) if swept else 'nothing is swept'}")
    found = sum(all(one.point[key] == value for key, value in wanted.items()) for one in experiment.points)
    if found == 0 and not quick:
        raise InputError(f"{place}: point: no point has {wanted}")
    if found > 1 and not claim.each:
        raise InputError(f"{place}: point: {found} points of the sweep match: name one")
