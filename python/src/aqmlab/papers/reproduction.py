"""A paper reproduced: its scenarios run, its claims judged."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import experiment, scenario
from aqmlab.live import checkup, scenarios
from aqmlab.papers import preflight, reasons, searching, workspace
from aqmlab.papers.claims import Claim, Operand
from aqmlab.papers.findings import Finding
from aqmlab.papers.paper import BEYOND, LIVE, Paper
from aqmlab.papers.verdicts import Check, Judgement, family, judge
from aqmlab.results import Result, measures
from aqmlab.results.result_json import document as of_result
from aqmlab.runs.watcher import Watcher
from aqmlab.scenario import Experiment, cost
from aqmlab.search import Outcome, Space, run_search
from aqmlab.stats.statistics import Estimate
from aqmlab.vocabulary.errors import InputError, MachineError


@dataclass(frozen=True)
class Reproduction:
    """The outcome for a paper: a result per preset and scenario, and a judgement per preset and claim.

    ``skipped`` says which scenarios beyond the paper were not run, and why.
    """

    paper: Paper
    results: dict[str, dict[str, Result]]
    beyond: dict[str, Result]
    quick: bool = False
    space: Space | None = None
    search: Outcome | None = None
    skipped: tuple[str, ...] = ()

    @property
    def presets(self) -> list[str]:
        """The presets that were run."""
        return list(self.results)

    @property
    def left_out(self) -> list[str]:
        """The presets that a quick form does not run."""
        if not self.quick:
            return []
        return [name for name, one in self.paper.presets.items() if not one.is_quick and name not in self.results]

    @functools.cached_property
    def judgements(self) -> dict[str, list[Judgement]]:
        """The claims judged, by preset; none where only live packets were run."""
        claims = self.paper.claims if any(self.results.values()) else []
        return {preset: self._judged(claims, preset) for preset in self.presets}

    @functools.cached_property
    def mechanisms(self) -> dict[str, list[Judgement]]:
        """The mechanisms judged, by preset, as far as they were run: a family of their own."""
        return self._judged_where_run(self.paper.mechanisms)

    @functools.cached_property
    def live(self) -> dict[str, list[Judgement]]:
        """What is judged on live packets, by preset, if it was run: another family."""
        return self._judged_where_run(self.paper.live)

    @property
    def counted(self) -> dict[str, list[Judgement]]:
        """The judgements whose verdicts are counted: the claims', or the live ones' where only these were run."""
        return self.judgements if any(self.judgements.values()) else self.live

    @property
    def has_beyond(self) -> bool:
        """Whether it includes what goes beyond the paper, apart from live packets."""
        return bool(self.beyond.keys() - {LIVE})

    def result(self, preset: str, name: str) -> Result | None:
        """Return the result of a scenario, of the preset or beyond the paper."""
        return self.results[preset].get(name) or self.beyond.get(name)

    def plain(self, claim: Claim, preset: str) -> str:
        """Return what link and queue were like where a claim was judged, in a sentence; maybe nothing."""
        return self._plain[preset, claim.id]

    def full_form(self, claim: str, preset: str) -> Finding | None:
        """Return what the full form found, as stored with the paper, for a quick one."""
        return self.paper.generated.verdicts.get(preset, {}).get(claim) if self.quick else None

    @property
    def failures(self) -> list[str]:
        """Runs that broke their own checks."""
        return [failure for result in self._all() for failure in result.manifest["failures"]]

    @property
    def is_partial(self) -> bool:
        """Whether runs are missing."""
        return any(result.is_partial for result in self._all())

    @functools.cached_property
    def claims(self) -> list[dict[str, Any]]:
        """All that is judged, with the verdicts, as plain data in the contract's form, each with its preset."""
        return [
            {
                **_claim_entry(judgement, self.paper.name, preset),
                "plain": self.plain(judgement.claim, preset),
                "full_form": full.verdict if (full := self.full_form(judgement.claim.id, preset)) else None,
                "robustness": self.robustness.get(judgement.claim.id),
            }
            for preset in self.presets
            for judgement in (*self.judgements[preset], *self.mechanisms[preset], *self.live[preset])
        ]

    @functools.cached_property
    def robustness(self) -> dict[str, dict[str, Any]]:
        """How often each claim holds in sampled configurations, and what it is sensitive to, as plain data."""
        reaches = self.space.reaches if self.space else {}
        return {name: one.document() for name, one in reaches.items()}

    def document(self) -> dict[str, Any]:
        """Return the reproduction as plain data, as in the contract; every entry names preset and scenario."""
        entries: dict[str, list[dict[str, Any]]] = {"runs": [], "summary": []}
        scenarios = []
        warnings = [*self.skipped]
        for preset, results in self._by_preset():
            for name, result in results.items():
                place = {"paper": self.paper.name, "preset": preset, "scenario": name}
                document = of_result(result)
                scenarios.append({**place, "resolved": document["scenario"]})
                warnings += [f"{preset}, {name}: {warning}" for warning in result.warnings]
                for key, rows in entries.items():
                    rows += [{**place, **row} for row in document[key]]
        searched = [{"paper": self.paper.name, **self.search.document()}] if self.search else []
        assumptions = [{"paper": self.paper.name, **self.space.document()}] if self.space else []
        judged = {"claims": self.claims, "assumptions": assumptions, "search": searched}
        return {"scenario": scenarios, "warnings": warnings, **entries, **judged}

    @functools.cached_property
    def _plain(self) -> dict[tuple[str, str], str]:
        return {
            (preset, claim.id): reasons.plain(claim, functools.partial(self.result, preset))
            for preset in self.presets
            for claim in self.paper.statements
        }

    def _by_preset(self) -> list[tuple[str, Mapping[str, Result]]]:
        return [*self.results.items(), *([(BEYOND, self.beyond)] if self.beyond else [])]

    def _all(self) -> list[Result]:
        return [result for _, results in self._by_preset() for result in results.values()]

    def _judged(self, claims: Sequence[Claim], preset: str) -> list[Judgement]:
        return family([self._judge(claim, preset) for claim in claims])

    def _judged_where_run(self, claims: Sequence[Claim]) -> dict[str, list[Judgement]]:
        run = [one for one in claims if self._is_run(one)]
        return {preset: self._judged(run, preset) for preset in self.presets}

    def _is_run(self, claim: Claim) -> bool:
        names = {measure.scenario for measure in claim.measures.values()}
        return any(self.result(preset, name) for preset in self.presets for name in names)

    def _judge(self, claim: Claim, preset: str) -> Judgement:
        def measured(side: Operand, point: int) -> Mapping[int, float]:
            measure = claim.measure(side)
            result = self.result(preset, measure.scenario)
            if result is None:
                return {}
            places = measures.points_of(result, measure)
            if point >= len(places):
                return {}
            found = measures.values(result, measure, claim.aqm(side), places[point])
            return {seed: value * claim.scale for seed, value in found.items()}

        return judge(claim, measured, self._points(claim, preset), names=self._names(claim, preset))

    def _names(self, claim: Claim, preset: str) -> dict[int, str]:
        """Return what the points of a claim's sweep are called."""
        measure = claim.measure(claim.operands[0]) if claim.operands else None
        result = self.result(preset, measure.scenario) if measure else None
        if measure is None or result is None:
            return {}
        fixed = dict(measure.point)
        called = [
            ", ".join(value for key, value in result.points[place].items() if key not in fixed)
            for place in measures.points_of(result, measure)
        ]
        return dict(enumerate(called))

    def _points(self, claim: Claim, preset: str) -> Sequence[int]:
        if not claim.each:
            return [0]
        measure = claim.measure(claim.operands[0])
        result = self.result(preset, measure.scenario)
        return [] if result is None else range(len(measures.points_of(result, measure)))


def run_paper(
    paper: Paper,
    presets: Sequence[str],
    *,
    folder: Path,
    seeds: str | None = None,
    jobs: int | None = None,
    quick: bool = False,
    beyond: bool = False,
    live: bool = False,
    robustness: bool = True,
    search: bool = False,
    watcher: Watcher | None = None,
) -> Reproduction:
    """Run a paper's scenarios and keep their results in a folder; finished runs are reused.

    ``seeds`` are those of its scenarios; sampled configurations have the number that `paper.toml` gives them.
    With ``live`` nothing is run but what is beyond the paper on live packets.

    Raises:
        InputError: if a scenario is wrong, the folder holds something else, or there is nothing that runs live.
        MachineError: if only live packets are asked for, and no link can be made.

    """
    overrides = {} if seeds is None else {"seeds": seeds}
    if live and not paper.runs_live:
        raise InputError(f"paper '{paper.name}' has nothing that runs live: there is no {BEYOND}/{LIVE}.toml")
    planned = {
        preset: {
            name: loaded
            for name, loaded in paper.experiments(preset, overrides, quick=quick).items()
            if not live or (preset, name) == (BEYOND, LIVE)
        }
        for preset in (*presets, *((BEYOND,) if beyond or live else ()))
    }
    lost = {
        name: f"there is no {', no '.join(one.absent)}" for name, one in planned.get(BEYOND, {}).items() if one.absent
    }
    if LIVE in planned.get(BEYOND, {}) and (why := checkup.refusal()):
        lost[LIVE] = why
    if live and LIVE in lost:
        raise MachineError(f"{paper.name}, {LIVE}: {lost[LIVE]}")
    for name in lost:
        del planned[BEYOND][name]
    skipped = tuple(f"{BEYOND}, {name}: skipped: {why}" for name, why in lost.items())
    # Find every error before the first run.
    for preset in presets:
        preflight.check(paper, {**planned.get(BEYOND, {}), **planned[preset]}, quick=quick)
    if extra := planned.get(BEYOND):
        length = _length(extra)
        if watcher:
            watcher.on_notice(f"{paper.name} {BEYOND}: {length}, if nothing of it is finished")
    has_live = LIVE in planned.get(BEYOND, {})
    workspace.begin(folder, paper.name, [*([] if live else presets), *([LIVE] if has_live else [])])

    def run(preset: str) -> dict[str, Result]:
        found = {}
        for name, loaded in planned[preset].items():
            place = folder / paper.name / preset / name
            if watcher:
                watcher.on_begin(f"{paper.name} {preset} {name}")
            if (preset, name) == (BEYOND, LIVE):
                result = scenarios.run_live(loaded, place, (watcher or Watcher()).on_begin)
            else:
                result = experiment.run_experiment(
                    loaded, "reproduce", jobs, place, watcher, with_report=False, no_size_check=True
                )
            found[name] = result
            if result.is_partial and not result.manifest["failures"]:
                raise KeyboardInterrupt
        return found

    results = {preset: run(preset) for preset in presets}
    further = run(BEYOND) if BEYOND in planned else {}
    space, outcome = None, None
    if search or (robustness and searching.is_there(paper)):
        space = searching.explore(paper, folder, jobs=jobs, quick=quick, watcher=watcher)
        outcome = run_search(space, jobs=jobs, watcher=watcher) if search else None
    return Reproduction(paper, results, further, quick, space if robustness else None, outcome, skipped)


def _length(experiments: Mapping[str, Experiment]) -> str:
    """Return how long scenarios beyond the paper take.

    Raises:
        InputError: naming what a link has not that a live one needs.

    """
    plans = [scenario.resolve(point) for name, one in experiments.items() if name != LIVE for point in one.points]
    simulated = cost.processor_s([entry for plan in plans for entry in plan.costs])
    parts = [f"simulations take about {simulated:.0f} s of processor time"] if plans else []
    if live := experiments.get(LIVE):
        parts.append(f"live runs {scenarios.planned(live).seconds:.0f} s and a moment each, in real time")
    return ", ".join(parts)


def _claim_entry(judgement: Judgement, paper: str, preset: str) -> dict[str, Any]:
    claim = judgement.claim
    numbers: dict[str, Any] = dict(claim.paper)
    if claim.doubt:
        numbers["doubt"] = claim.doubt
    return {
        "id": claim.id,
        "verdict": str(judgement.verdict),
        "finding": str(Finding.of(judgement).word),
        "paper": {"says": claim.says, "where": claim.where, "unit": claim.unit, **numbers},
        "measured": {name: _estimates(means) for name, means in judgement.measured.items()},
        "why": judgement.why,
        "from": paper,
        "preset": preset,
        "checks": [_check_entry(check, judgement.names) for check in judgement.checks],
        "explains": list(claim.explains),
    }


def _check_entry(check: Check, names: Mapping[int, str]) -> dict[str, Any]:
    return {
        "expected": check.expectation,
        "point": check.point,
        "at": names.get(check.point, ""),
        "verdict": str(check.verdict),
        "holds": check.holds,
        "words": check.words,
        "p_holds": check.p_holds,
        "p_fails": check.p_fails,
        **check.effect,
    }


def _estimates(means: Sequence[Estimate | None]) -> Any:
    entries = [None if one is None else _estimate(one) for one in means]
    return entries[0] if len(entries) == 1 else entries


def _estimate(one: Estimate) -> dict[str, Any]:
    ends = {} if one.low is None else {"ci95_low": one.low, "ci95_high": one.high}
    return {"mean": one.value, **ends, "n": one.n}
