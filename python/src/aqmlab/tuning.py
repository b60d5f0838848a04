"""Parameters by search: the best of an AQM on some scenarios, judged on others.

A space is a discipline with ranges in place of values: ``pie target 1ms..50ms alpha 0.01..1``; ``on|off`` is a
choice.
Trials are drawn by optuna's TPE from a seed, and kept in a journal: a search that was interrupted goes on where it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab import experiment, scenario
from aqmlab.errors import InputError
from aqmlab.registry import Spec

_RANGE = re.compile(r"(?P<low>\d+(?:\.\d+)?)(?P<unit>[a-z%]*)\.\.(?P<high>\d+(?:\.\d+)?)(?P<unit2>[a-z%]*)")
_KEEP = re.compile(r"(?P<metric>[a-z_][a-z0-9_.]*) *(?P<relation><=|>=) *(?P<bound>\d+(?:\.\d+)?)")
# A range over more than a decade is searched by its logarithm.
DECADE = 10.0


@dataclass(frozen=True)
class Keep:
    """A bound that a tuned AQM keeps: ``qdelay_p95_ms <= 20``."""

    metric: str
    at_most: bool
    bound: float

    @classmethod
    def parse(cls, text: str) -> Keep:
        """Read a bound.

        Raises:
            InputError: if it is none.

        """
        match = _KEEP.fullmatch(text.strip())
        if match is None:
            raise InputError(f"keep: '{text}' is not a bound, as 'qdelay_p95_ms <= 20'")
        return cls(match["metric"], match["relation"] == "<=", float(match["bound"]))

    def missed(self, value: float) -> float:
        """Return by which share of the bound a value misses it; zero if it keeps it."""
        difference = value - self.bound if self.at_most else self.bound - value
        return max(0.0, difference / self.bound if self.bound else difference)


@dataclass(frozen=True)
class Space:
    """A discipline with ranges, cut where values go."""

    parts: tuple[str, ...]
    ranges: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Space:
        """Read a space; words without a range stay as they are.

        >>> Space.parse("pie target 1ms..50ms ecn").ranges
        ('1ms..50ms',)

        """
        words = text.split()
        ranged = [place for place, word in enumerate(words) if _RANGE.fullmatch(word) or "|" in word]
        parts, start = [], 0
        for place in ranged:
            parts.append(" ".join(words[start:place]))
            start = place + 1
        space = cls((*parts, " ".join(words[start:])), tuple(words[place] for place in ranged))
        Spec.parse(space.at([_ends(one)[0] for one in space.ranges]))
        return space

    def at(self, values: Sequence[str]) -> str:
        """Return the spec with these values."""
        return " ".join(word for pair in zip(self.parts, (*values, ""), strict=True) for word in pair if word)

    def draw(self, trial: Any) -> str:
        """Return the spec that a trial of optuna draws."""
        return self.at([_draw(trial, f"{place} {one}", one) for place, one in enumerate(self.ranges)])


def _ends(text: str) -> tuple[str, ...]:
    match = _RANGE.fullmatch(text)
    if match is None:
        return tuple(text.split("|"))
    unit = match["unit2"] or match["unit"]
    if match["unit"] not in ("", unit) or float(match["low"]) > float(match["high"]):
        raise InputError(f"aqm: '{text}' is not a range, as 1ms..50ms")
    return match["low"] + unit, match["high"] + unit


def _draw(trial: Any, name: str, text: str) -> str:
    match = _RANGE.fullmatch(text)
    if match is None:
        return str(trial.suggest_categorical(name, text.split("|")))
    low, high, unit = float(match["low"]), float(match["high"]), match["unit2"] or match["unit"]
    wide = low > 0 and high / low > DECADE
    if "." not in match["low"] + match["high"]:
        return f"{trial.suggest_int(name, int(low), int(high), log=wide)}{unit}"
    return f"{trial.suggest_float(name, low, high, log=wide):.6g}{unit}"


@dataclass(frozen=True)
class Tuned:
    """What a search found: the spec, and its metrics on the training scenarios and on those that judge."""

    spec: str
    score: float
    training: dict[str, float]
    judged: dict[str, float]
    trials: int


def tune(
    aqm: str,
    training: Sequence[str | os.PathLike[str]],
    judging: Sequence[str | os.PathLike[str]] = (),
    *,
    minimise: str = "loss_ratio",
    keep: Sequence[str] = (),
    trials: int = 50,
    seed: int = 1,
    journal: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    overrides: Mapping[str, str] | None = None,
) -> Tuned:
    """Search a space for the spec with the least mean of a metric on training scenarios.

    Args:
        aqm: the space.
        training: experiment files whose AQM is replaced by what is tried.
        judging: experiment files that choose nothing: they tell what the choice is worth.
        minimise: metric; its mean over scenarios, points and seeds is what counts, plus the shares by which bounds are
            missed.
        keep: bounds as ``qdelay_p95_ms <= 20``, each on the mean of a scenario.
        trials: how many settings are tried, those in the journal included.
        seed: of the search; the scenarios have their own seeds.
        journal: file that keeps the trials.
        jobs: threads.
        overrides: replace options of the experiments.

    Raises:
        InputError: if the space, a bound or an experiment is wrong, or optuna is not installed.

    """
    try:
        import optuna
        from optuna.storages import InMemoryStorage, JournalStorage
        from optuna.storages.journal import JournalFileBackend
    except ImportError:
        raise InputError("tuning needs optuna: pip install 'aqmlab[tune]'") from None
    space, bounds = Space.parse(aqm), [Keep.parse(text) for text in keep]
    wanted = [minimise, *(one.metric for one in bounds)]

    def measured(spec: str, files: Sequence[str | os.PathLike[str]]) -> list[dict[str, float]]:
        found = []
        for path in files:
            loaded = scenario.load(Path(path), {**(overrides or {}), "aqm": spec})
            runs = experiment.conduct(loaded, "tune", jobs, None, None, with_report=False).runs
            missing = [name for name in wanted if name not in runs.columns]
            if missing:
                raise InputError(f"{path}: no run has the metric '{missing[0]}'")
            found += runs.group_by("point").agg(pl.col(wanted).mean()).select(wanted).to_dicts()
        return found

    def score(found: Sequence[Mapping[str, float]]) -> float:
        missed = sum(one.missed(row[one.metric]) for one in bounds for row in found)
        return (sum(row[minimise] for row in found) + missed) / len(found)

    def objective(trial: Any) -> float:
        spec = space.draw(trial)
        trial.set_user_attr("spec", spec)
        return score(measured(spec, training))

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = JournalStorage(JournalFileBackend(os.fspath(journal))) if journal else InMemoryStorage()
    study = optuna.create_study(storage=storage, study_name=aqm, load_if_exists=True, direction="minimize")
    done = len(study.trials)
    # What goes on after an interruption draws from a stream of its own.
    study.sampler = optuna.samplers.TPESampler(seed=seed * 1_000_003 + done)
    study.optimize(objective, n_trials=max(0, trials - done))
    spec = str(study.best_trial.user_attrs["spec"])
    return Tuned(
        spec, study.best_value, _means(measured(spec, training)), _means(measured(spec, judging)), len(study.trials)
    )


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = rows[0] if rows else {}
    return {name: sum(row[name] for row in rows) / len(rows) for name in names}
