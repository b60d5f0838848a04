"""Runs the scenarios of a suite one after another: each is an experiment with a folder of its own."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aqmlab import engine as engines
from aqmlab import experiment, scenario
from aqmlab.results import Result
from aqmlab.runs.watcher import Watcher
from aqmlab.scenario import Experiment, registry
from aqmlab.suites import controls as of_controls
from aqmlab.suites.plan import OVER, Entry, Suite
from aqmlab.vocabulary.errors import InputError, about
from aqmlab.vocabulary.names import engine_of, on

TAIL_DROP = "fifo"


@dataclass(frozen=True)
class Part:
    """A scenario of a suite, its result, and what is compared in it: the same, or regrouped by its controls."""

    entry: Entry
    result: Result
    shown: Result


@dataclass(frozen=True)
class Outcome:
    """The results of a suite, in its order.

    ``aqms`` are empty where each scenario names its own. ``skipped`` says why a scenario was not run; ``engines`` names
    them if there are several.
    """

    suite: Suite
    aqms: tuple[str, ...]
    quick: bool
    parts: tuple[Part, ...]
    skipped: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()

    @property
    def contestants(self) -> tuple[str, ...]:
        """The controls; or the disciplines, in each of several engines."""
        if self.controls:
            return self.controls
        return tuple(on(aqm, name) for aqm in self.aqms for name in self.engines) if self.engines else self.aqms

    @property
    def failures(self) -> list[str]:
        """The runs that failed their own checks."""
        return [f"{part.entry.name}: {one}" for part in self.parts for one in part.result.manifest["failures"]]


def run_suite(
    suite: Suite,
    aqms: Sequence[str],
    *,
    folder: Path,
    controls: Sequence[str] = (),
    quick: bool = False,
    only: Sequence[str] = (),
    seeds: int | None = None,
    jobs: int | None = None,
    allow_unequal_buffers: bool = False,
    engine: str = engines.DEFAULT,
    watcher: Watcher | None = None,
) -> Outcome:
    """Run a suite for some disciplines, or for some congestion controls, with the same seeds for all.

    Args:
        suite: what to run.
        aqms: the disciplines; those of the suite, or of each of its scenarios, if empty.
        folder: where each scenario gets a folder.
        controls: the flows that a suite of controls compares; its own if empty.
        quick: shorter runs with fewer seeds and points, as ``[quick]`` of each file says.
        only: sections or names of files; everything if empty. ``8`` stands for all of section 8.
        seeds: instead of those of the files.
        jobs: runs in parallel; one per core unless given.
        allow_unequal_buffers: compare although the disciplines' limits differ.
        engine: who runs it; scenarios that it refuses are skipped, and the others run.
        watcher: receives the progress.

    Raises:
        InputError: naming what is wrong, before anything is run.

    """
    if controls and not suite.controls:
        raise about("flows", f"{suite.name} compares disciplines; its scenarios say which flows there are")
    chosen = tuple(aqms) or suite.aqms
    compared = tuple(dict.fromkeys(map(of_controls.parse, controls))) or suite.controls
    entries = [entry for entry in suite.entries if not only or any(_is_in(entry, one) for one in only)]
    for one in only:
        if not any(_is_in(entry, one) for entry in suite.entries):
            known = ", ".join(dict.fromkeys(entry.section for entry in suite.entries))
            raise about("only", f"'{one}' is no section or scenario of {suite.name}; known are {known}")
    planned = []
    skipped = []
    # Controls that some scenario takes, and what is wrong with others.
    fit: set[str] = set()
    unfit: dict[str, InputError] = {}
    for entry in entries:
        mine = _aqms(entry, chosen)
        if not mine and not compared:
            skipped.append(f"section {entry.section}, {entry.title}: no discipline here can mark")
            continue
        overrides: dict[str, Any] = {
            **({"aqm": list(mine)} if mine else {}),
            **({} if seeds is None else {"seeds": str(seeds)}),
        }
        read = functools.partial(_read, entry, overrides, quick=quick, allow_unequal_buffers=allow_unequal_buffers)
        loaded = read(compared)
        if compared:
            loaded, refused, wrong = _carried(loaded, compared, engine)
            if len(wrong) == len(compared):
                _check(read(suite.controls), suite.controls, engine)
            fit.update(set(compared) - set(refused) - set(wrong))
            unfit = {**wrong, **unfit}
            for control, reason in {**refused, **{control: _plain(error) for control, error in wrong.items()}}.items():
                skipped.append(f"section {entry.section}, {entry.title}, {control}: {reason}")
        elif why := experiment.refused(loaded, engine):
            skipped.append(f"section {entry.section}, {entry.title}: {why}")
            continue
        if loaded.points:
            planned.append((entry, loaded))
    for control, problem in unfit.items():
        # The suite's own may fit none of the scenarios that were chosen.
        if controls and control not in fit:
            raise problem
    if not planned:
        raise about("suite", f"nothing is left to run: {'; '.join(skipped)}")
    parts = []
    for number, (entry, loaded) in enumerate(planned):
        if watcher:
            watcher.on_begin(f"{number + 1}/{len(planned)} {entry.section} {entry.title}")
        place = folder / entry.name
        result = experiment.run_experiment(loaded, "suite", jobs, place, watcher, with_report=False, engine=engine)
        matters = tuple(column for column in entry.matters if OVER not in column)
        result = replace(result, compared=(*result.compared, *matters))
        parts.append(Part(entry, result, of_controls.by_control(result, entry.flows) if compared else result))
        if result.is_partial and not result.manifest["failures"]:
            raise KeyboardInterrupt
    made = tuple(engines.names(engine))
    several = made if len(made) > 1 and not compared else ()
    return Outcome(suite, chosen, quick, tuple(parts), tuple(skipped), several, compared)


def as_run(entry: Entry, aqm: str) -> str:
    """Return a discipline as a scenario runs it: with ECN switched on, if it asks for that."""
    if not entry.ecn:
        return aqm
    discipline, engine = engine_of(aqm)
    marking = registry.marking(discipline)
    return on(marking, engine) if engine else marking


def _read(
    entry: Entry, overrides: dict[str, Any], controls: Sequence[str], *, quick: bool, allow_unequal_buffers: bool
) -> Experiment:
    sweep = {of_controls.SWEPT: controls} if controls else None
    loaded = scenario.load(entry.file, overrides, sweep=sweep, quick=quick)
    if not allow_unequal_buffers:
        return loaded
    return replace(loaded, points=tuple(replace(one, allow_unequal_buffers=True) for one in loaded.points))


def _check(loaded: Experiment, controls: Sequence[str], engine: str) -> None:
    """Make sure that a scenario fits one of the suite's own controls: what fits none is wrong itself."""
    *_, wrong = _carried(loaded, controls, engine)
    if len(wrong) == len(controls):
        raise wrong[controls[0]]


def _plain(error: InputError) -> str:
    """Return an error without the file that it is about."""
    return f"{error.option}: {error.problem}" if error.option else str(error)


def _carried(
    loaded: Experiment, controls: Sequence[str], engine: str
) -> tuple[Experiment, dict[str, str], dict[str, InputError]]:
    """Return a scenario with the controls that it can carry, and what the engine, or the scenario, says of others."""
    refused: dict[str, str] = {}
    wrong: dict[str, InputError] = {}
    for control in controls:
        alone = tuple(one for one in loaded.points if one.point[of_controls.SWEPT] == control)
        try:
            if why := experiment.refused(replace(loaded, points=alone), engine):
                refused[control] = why
        except InputError as error:
            wrong[control] = error
    rest = tuple(one for one in loaded.points if one.point[of_controls.SWEPT] not in {**refused, **wrong})
    return replace(loaded, points=rest), refused, wrong


def _is_in(entry: Entry, wanted: str) -> bool:
    return wanted == entry.name or f"{entry.section}.".startswith(f"{wanted.rstrip('.')}.")


def _aqms(entry: Entry, chosen: Sequence[str]) -> list[str]:
    """The disciplines of a scenario: marking, or with tail drop beside them, where it asks for that."""
    if entry.ecn:
        return [as_run(entry, text) for text in chosen if registry.find(text).traits["ecn"]]
    if entry.tail_drop and all(registry.Spec.parse(text).name != TAIL_DROP for text in chosen):
        return [*chosen, TAIL_DROP]
    return list(chosen)
