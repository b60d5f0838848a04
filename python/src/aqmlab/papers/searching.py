"""Searches of papers: settings are compared with the numbers and claims of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aqmlab import scenario, search
from aqmlab.papers import preflight
from aqmlab.papers.claims import Claim, Operand
from aqmlab.papers.paper import FILE, Paper
from aqmlab.papers.verdicts import Verdict, judge
from aqmlab.runs.watcher import Watcher
from aqmlab.search import Deviations, Grade, Quantity, Search, Space, Target, plan
from aqmlab.vocabulary.errors import InputError, unknown
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
    levels = {name: preset.levels for name, preset in paper.presets.items()}
    found = plan.search(paper.sampling, paper.factors, levels, paper.sampled, f"{path}: ", quick=quick)
    aqms = list(dict.fromkeys(side.aqm for claim in paper.statements for side in claim.operands))
    if found.own not in aqms:
        raise InputError(f"{path}: space: own: {unknown('AQM', found.own, aqms)}")
    return found


def made(paper: Paper) -> tuple[str, ...]:
    """Return the searches that were made, each with its date and what it chose."""
    return paper.sampling.made if paper.sampling else ()


def targets(paper: Paper, searched: Search) -> list[Target]:
    """Return the claims whose AQMs and measures are all part of the search."""
    first = {name: scenario.load(path).points[0] for name, path in searched.scenarios.items()}
    named = {name: preflight.names(scenario.resolve(point)) for name, point in first.items()}
    return [_target(claim, sizes=searched.sizes) for claim in paper.statements if _is_within(claim, named)]


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

    `aqmlab.search.conduct` continues from there.

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


def grade(claim: Claim, values: Mapping[str, Mapping[int, float]], noise: Deviations | None = None) -> Grade:
    """Judge the values of operands by seed as the claim is judged; with ``noise``, their means and its deviations."""

    def measured(side: Operand, point: int) -> Mapping[int, float]:
        del point
        found = values.get(side.text, {})
        return {0: math.fsum(found.values()) / len(found)} if found and noise else found

    one = judge(claim, measured, [0], noise)
    is_decided = one.holds or one.verdict != Verdict.INCONCLUSIVE
    is_judged = one.verdict != Verdict.NOT_TESTABLE
    return Grade(str(one.verdict), one.holds, one.verdict == Verdict.REPRODUCED, is_judged, is_decided)


def _is_within(claim: Claim, named: Mapping[str, set[str]]) -> bool:
    """Whether the scenarios, of which the AQMs' names are given, have all that a claim needs."""
    wanted = [(claim.measure(side).scenario, plain(claim.aqm(side))) for side in claim.operands]
    there = all(place in named and (not aqm or aqm in named[place]) for place, aqm in wanted)
    return not claim.unjudged and not claim.each and there


def _target(claim: Claim, *, sizes: bool) -> Target:
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


def _quantity(claim: Claim, side: Operand) -> Quantity:
    return Quantity(side.text, side.aqm, claim.aqm(side), claim.measure(side), claim.scale)
