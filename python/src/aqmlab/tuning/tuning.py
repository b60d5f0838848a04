"""Parameters by search: the best settings of an AQM on some scenarios, judged against its defaults on others."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import experiment, scenario, store
from aqmlab.files import disk, lock, machine, system
from aqmlab.runs.watcher import Watcher
from aqmlab.scenario import Experiment, cost
from aqmlab.tuning import scenarios, sensitivity, tuning_page
from aqmlab.tuning.goal import Goal
from aqmlab.tuning.outcome import FILE, UNSEEN, Tuning
from aqmlab.tuning.scenarios import Split, under
from aqmlab.tuning.search import front, optuna, search, spread_over
from aqmlab.tuning.space import Space
from aqmlab.tuning.trials import Trials
from aqmlab.tuning.verdict import bound_checks, judge, judged
from aqmlab.vocabulary.errors import CheckError, InputError, about
from aqmlab.vocabulary.units import check_whole

FRONT = 4
TRIALS = 50
SENSITIVITY = 32
TRAINING_SEEDS = 2


def tune(
    aqm: str,
    training: Sequence[str | os.PathLike[str]] = (),
    validate: Sequence[str | os.PathLike[str]] = (),
    *,
    minimise: str | Sequence[str],
    keep: str | Sequence[str] = (),
    sweep: Mapping[str, Any] | None = None,
    design: str = scenarios.USUAL_DESIGN,
    trials: int = TRIALS,
    sensitivity: int = SENSITIVITY,
    training_seeds: int = TRAINING_SEEDS,
    pareto: int = FRONT,
    seed: int = 1,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    allow_unequal_buffers: bool = False,
    no_size_check: bool = False,
    **options: Any,
) -> Tuning:
    """Search an AQM's parameters, and validate them against its defaults on held-out scenarios and seeds.

    Args:
        aqm: a discipline with ranges in place of values, as ``"pie target 5ms..40ms ecn"``; ``on|off`` is a choice, and
            ``auto|5..500`` one between off and a range.
        training: experiment files whose AQM is replaced by what is tried; a sweep of options unless given.
        validate: held-out experiment files; half of the other scenarios unless given.
        minimise: metrics whose mean over the training scenarios is to be small; several give a Pareto front.
        keep: bounds on the mean in each scenario, as ``"goodput_mbit >= 0.95*fifo"`` or ``"qdelay_p95_ms <= 20"``.
        sweep: what varies over the scenarios, as for `sweep`. Rate, round-trip time and load do unless given.
        design: how scenarios are chosen from what varies: ``grid``, ``latin*N`` or ``sobol*N``.
        trials: settings that optuna proposes, after those of the sensitivity.
        sensitivity: base size N of the sample for Sobol indices, N (parameters + 2) settings: a power of two, or 0.
        training_seeds: runs of each setting in each training scenario; all settings have the same.
        pareto: settings of the Pareto front to validate, spread over it, both ends included.
        seed: of the search, and of the choice of the held-out scenarios.
        jobs: runs in parallel; one per core unless given. The result does not depend on it.
        out: folder for the result. The same tuning, started again in it, makes only the missing runs.
        allow_unequal_buffers: compare although the AQMs' limits differ.
        no_size_check: skip the check of runs, events and memory before the first run.
        options: those of `compare` except ``aqm``; ``seeds`` are the held-out ones.

    Raises:
        InputError: naming what is wrong and what is allowed, or what to install.
        CheckError: if a run broke one of its own checks.

    """
    space, goal = Space.parse(aqm), Goal.parse(_several(minimise), _several(keep))
    split = choose(training, validate, options, sweep, design, seed, allow_unequal_buffers=allow_unequal_buffers)
    asked = Asked(space, goal, split, trials, sensitivity, training_seeds, pareto, seed)
    return run_tuning(asked, None if out is None else Path(out), jobs, no_size_check=no_size_check)


@dataclass(frozen=True)
class Asked:
    """A tuning that is to be made; see `tune`."""

    space: Space
    goal: Goal
    split: Split
    trials: int = TRIALS
    sensitivity: int = SENSITIVITY
    training_seeds: int = TRAINING_SEEDS
    front: int = FRONT
    seed: int = 1

    @property
    def question(self) -> dict[str, Any]:
        """What is asked, as plain data: the same question gives the same answer."""
        return {
            "aqm": self.space.text,
            "minimise": list(self.goal.minimise),
            "keep": [one.text for one in self.goal.bounds],
            "training": [_plain(one) for one in self.split.training],
            "judging": [_plain(one) for one in self.split.judging],
            "trials": self.trials,
            "sensitivity": self.sensitivity,
            "training_seeds": self.training_seeds,
            "front": self.front,
            "seed": self.seed,
        }


def choose(
    training: Sequence[str | os.PathLike[str]],
    judging: Sequence[str | os.PathLike[str]],
    options: Mapping[str, Any],
    sweep: Mapping[str, Any] | None,
    design: str,
    seed: int,
    place: str = "",
    *,
    allow_unequal_buffers: bool = False,
) -> Split:
    """Return the scenarios that choose and those that judge; see `tune`.

    Raises:
        InputError: if one is wrong.

    """
    if training:
        if sweep:
            raise InputError(f"{place}sweep: an experiment file has a sweep of its own: give one of them")
        return scenarios.from_files(training, judging, options, seed)
    if judging:
        raise InputError(f"{place}validate: name experiments to tune on, too")
    unequal = allow_unequal_buffers
    return scenarios.from_options(options, sweep or {}, design, seed, place, allow_unequal_buffers=unequal)


def run_tuning(
    asked: Asked,
    folder: Path | None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
    *,
    no_size_check: bool = False,
) -> Tuning:
    """Make a tuning; see `tune`.

    Raises:
        InputError: as `tune`, or if the folder holds something else.
        CheckError: if a run broke one of its own checks.
        MachineError: if another process writes into the folder, or the disk is full.
        KeyboardInterrupt: if the user interrupted; finished runs are kept in the folder.

    """
    optuna()
    watcher, jobs = watcher or Watcher(), machine.cores() if jobs is None else jobs
    whole = {
        "trials": (asked.trials, 0),
        "sensitivity": (asked.sensitivity, 0),
        "pareto": (asked.front, 1),
        "jobs": (jobs, 1),
    }
    for name, (value, least) in whole.items():
        check_whole(name, value, least)
    scenarios.check_seeds(asked.training_seeds)
    if not asked.trials and not asked.sensitivity:
        raise about("trials", "'0' leaves nothing to try without a sensitivity")
    if not no_size_check:
        # Before the sample takes memory.
        settings = sensitivity.count(asked.space, asked.sensitivity) + asked.trials
        cost.check_runs(settings * asked.training_seeds * len(asked.split.training))
    sample = sensitivity.sample(asked.space, asked.sensitivity, asked.seed)
    with _opened(folder, asked.question):
        return _conduct(asked, sample, folder, jobs, watcher, no_size_check=no_size_check)


def _conduct(
    asked: Asked,
    sample: Sequence[Sequence[float]],
    folder: Path | None,
    jobs: int,
    watcher: Watcher,
    *,
    no_size_check: bool,
) -> Tuning:
    space, goal, split = asked.space, asked.goal, asked.split
    trials = Trials(goal, space.default, split.training, asked.training_seeds, folder, jobs, watcher)
    settings = len(sample) + asked.trials
    trials.check(settings, jobs, no_size_check=no_size_check)
    # What judges is resolved first, so that nothing is found wrong with it after hours.
    plans = [scenario.resolve(under(point, [space.default, *goal.references])) for point in split.judging]
    if not no_size_check:
        most = 1 + asked.front + len(goal.references)
        cost.check([(most * len(plan.seeds), plan.costs[0][1]) for plan in plans], jobs)
    trials.expect(settings)
    tried = search(space, goal, sample, asked.trials, asked.seed, trials.measure)
    (default,) = trials.measure([space.default])
    assert default is not None
    best = front(goal, tried)
    chosen = [one.aqm for one in spread_over(best, asked.front) if one.aqm != space.default]
    indices = sensitivity.indices(space, goal.minimise, trials.measure([space.at(one) for one in sample]), asked.seed)
    aqms = list(dict.fromkeys([space.default, *chosen, *goal.references]))
    watcher.on_begin("judging")
    points = tuple(under(point, aqms) for point in split.judging)
    unseen = experiment.run_experiment(
        Experiment(f"{space.default} by default and tuned", points),
        "tune",
        jobs,
        None if folder is None else folder / UNSEEN,
        watcher,
        no_size_check=no_size_check,
    )
    if unseen.manifest["failures"]:
        raise CheckError("; ".join(unseen.manifest["failures"]))
    if unseen.is_partial:
        raise KeyboardInterrupt
    found = Tuning(
        asked.question,
        default,
        tried,
        best,
        indices,
        unseen,
        judged(unseen, goal, [space.default, *chosen]),
        judge(unseen, goal, space.default, chosen),
        bound_checks(unseen, goal, space.default, chosen),
        split.words,
    )
    if folder is not None:
        disk.put_all(folder, {FILE: found.to_json().encode()})
        tuning_page.write(found, folder)
    return found


@contextmanager
def _opened(folder: Path | None, question: Mapping[str, Any]) -> Iterator[None]:
    """Lock a folder for a tuning: a new or empty one, or that of the same question."""
    if folder is None:
        yield
        return
    store.check_writable(folder)
    try:
        there = json.loads((folder / FILE).read_text(encoding="utf-8"))["question"]
    except (OSError, ValueError, KeyError, TypeError):
        store.check_new(folder)
        there = None
    # More trials go on from those that there are, and more of the front may be judged.
    differing = [
        name for name in question if name not in ("trials", "front") and there and there.get(name) != question[name]
    ]
    if differing:
        raise InputError(f"{folder}: holds another tuning (its {differing[0]} differs): name another folder")
    is_new = not folder.exists()
    with system.writing(folder):
        disk.make(folder)
    try:
        with lock.held(folder):
            if there is None:
                disk.put_all(folder, {FILE: (json.dumps({"question": question}) + "\n").encode()})
            try:
                yield
            except InputError:
                if {path.name for path in folder.iterdir()} <= {FILE, lock.NAME}:
                    # Nothing was run: leave no trace.
                    disk.remove(folder / FILE)
                raise
    finally:
        if is_new:
            disk.discard_if_empty(folder)


def _plain(point: Any) -> dict[str, Any]:
    return {**{name: list(texts) for name, texts in point.given.items() if name != "aqm"}, **point.named}


def _several(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
