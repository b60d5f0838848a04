"""Searches of papers: settings are compared with the numbers and claims of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aqmlab import scenario, search
from aqmlab.papers import preflight
from aqmlab.papers.claims import Claim, Operand
from aqmlab.papers.findings import Finding
from aqmlab.papers.paper import FILE, Paper
from aqmlab.papers.verdicts import Verdict, judge
from aqmlab.runs.watcher import Watcher
from aqmlab.search import Deviations, Grade, Quantity, Search, Space, Target, plan
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.names import plain

FOLDER = "search"


def is_there(paper: Paper) -> bool:
    """Whether a paper has a search."""
    return paper.sampling is not None


def load(paper: Paper, *, quick: bool = False) -> Search:
    """Read the search of a paper.

    Raises:
        InputError: naming file, key and value.

    """
    path = paper.folder / FILE
    if paper.sampling is None:
        raise InputError(f"paper '{paper.name}' has no search: there is no [space] in {path}")
    levels = {name: preset.levels for name, preset in paper.run_presets(quick=quick).items()}
    return plan.search(paper.sampling, paper.factors, levels, paper.sampled, f"{path}: ", quick=quick)


def made(paper: Paper) -> tuple[str, ...]:
    """Return the searches that were made, each with its date and what it chose."""
    return paper.sampling.made if paper.sampling else ()


def targets(paper: Paper, searched: Search) -> list[Target]:
    """Return the claims whose AQMs and measures are all part of the search."""
    points = {name: scenario.load(path, quick=searched.quick).points for name, path in searched.scenarios.items()}
    named = {name: preflight.names(scenario.resolve(found[0])) for name, found in points.items()}
    swept = {name: [one.point for one in found] for name, found in points.items()}
    return [_target(claim, swept, sizes=searched.sizes) for claim in paper.statements if _is_within(claim, named)]


def explore(
    paper: Paper,
    folder: Path,
    *,
    seeds: str | None = None,
    jobs: int | None = None,
    quick: bool = False,
    watcher: Watcher | None = None,
) -> Space:
    """Judge the claims in a sample of the values that the paper leaves open; runs are kept in the folder and reused.

    `aqmlab.search.run_search` continues from there.

    Raises:
        InputError: if `paper.toml` or a scenario is wrong.
        CheckError: if a run broke one of its own checks.
        KeyboardInterrupt: if the user interrupted.

    """
    searched = load(paper, quick=quick)
    place = folder / paper.name / FOLDER
    return search.explore(
        searched, targets(paper, searched), place, around=not quick, seeds=seeds, jobs=jobs, watcher=watcher
    )


def grade(
    claim: Claim, values: Mapping[str, Mapping[int, float]], noise: Deviations | None = None, points: int = 1
) -> Grade:
    """Judge the values of operands by seed as the claim is judged, at so many points of its sweep.

    With ``noise``, their means and its deviations are judged.
    """

    def measured(side: Operand, point: int) -> Mapping[int, float]:
        found = values.get(claim.quantity(side, point), {})
        return {0: math.fsum(found.values()) / len(found)} if found and noise else found

    one = judge(claim, measured, range(points), noise)
    is_decided = one.holds or one.verdict != Verdict.INCONCLUSIVE
    is_judged = one.verdict != Verdict.NOT_TESTABLE
    shown = str(Finding.of(one).word)
    return Grade(str(one.verdict), one.holds, one.verdict == Verdict.REPRODUCED, is_judged, is_decided, shown)


def _is_within(claim: Claim, named: Mapping[str, set[str]]) -> bool:
    """Whether the scenarios, of which the AQMs' names are given, have all that a claim needs."""
    wanted = [(claim.measure(side).scenario, plain(claim.aqm(side))) for side in claim.operands]
    there = all(place in named and (not aqm or aqm in named[place]) for place, aqm in wanted)
    return not claim.unjudged and there


def _target(claim: Claim, swept: Mapping[str, Sequence[Mapping[str, str]]], *, sizes: bool) -> Target:
    if claim.each:
        return _target_at_each(claim, swept)
    # Doubtful numbers and zeros have no ratio.
    numbers = {name: number for name, number in claim.paper.items() if number > 0.0 and name not in claim.doubt}
    quantities = [_quantity(claim, side) for side in claim.operands]
    for one in claim.expectations if sizes else ():
        if one.by is not None and one.left.number is None and one.right.number is None:
            name = f"{one.left.text} / {one.right.text}"
            over = _quantity(claim, one.right)
            quantities.append(replace(_quantity(claim, one.left), name=name, over=over))
            numbers[name] = 1.0 - one.by if one.relation == "<" else 1.0 + one.by
    return Target(claim.id, tuple(quantities), numbers, lambda values, noise: grade(claim, values, noise))


def _target_at_each(claim: Claim, swept: Mapping[str, Sequence[Mapping[str, str]]]) -> Target:
    """Return the target of a claim that is judged at each point of a sweep: every operand once at every point."""
    quantities = []
    counts = []
    for side in claim.operands:
        one = _quantity(claim, side)
        fixed = dict(one.measure.point)
        places = [point for point in swept[one.measure.scenario] if fixed.items() <= point.items()]
        quantities += [
            replace(one, name=claim.quantity(side, place), measure=replace(one.measure, point=tuple(point.items())))
            for place, point in enumerate(places)
        ]
        counts.append(len(places))
    return Target(claim.id, tuple(quantities), {}, lambda values, noise: grade(claim, values, noise, min(counts)))


def _quantity(claim: Claim, side: Operand) -> Quantity:
    return Quantity(side.text, side.aqm, claim.aqm(side), claim.measure(side), claim.scale)
