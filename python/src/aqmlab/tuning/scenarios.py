"""The scenarios of a tuning: those that choose, and those that judge what was chosen.

Judges see nothing of the choice: other scenarios, and other seeds. Training seeds begin where no comparison's can be.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aqmlab import scenario
from aqmlab.scenario import Options
from aqmlab.scenario.resolve import LARGEST_SEEDS
from aqmlab.vocabulary.errors import about
from aqmlab.vocabulary.units import check_whole

FIRST_TRAINING_SEED = LARGEST_SEEDS + 1
# What varies by default: access links, distances and loads of the Internet's edge.
USUAL = {"rate": "5mbit..50mbit*2log", "rtt": "10ms..160ms*2log", "load": "1..16*2log"}
USUAL_FLOWS = "$load*cubic"
USUAL_DURATION = "15s"
USUAL_DESIGN = "latin*16"


@dataclass(frozen=True)
class Split:
    """Scenarios that choose and scenarios that judge, and in words how they were chosen."""

    training: tuple[Options, ...]
    judging: tuple[Options, ...]
    words: str


def from_files(
    training: Sequence[str | os.PathLike[str]],
    judging: Sequence[str | os.PathLike[str]],
    options: Mapping[str, Any],
    seed: int,
) -> Split:
    """Return the scenarios of experiment files; without files that judge, half of the others' scenarios do.

    Raises:
        InputError: if a file is wrong, or a scenario would judge what it chose.

    """

    def points(paths: Sequence[str | os.PathLike[str]]) -> tuple[Options, ...]:
        given = {name: value for name, value in options.items() if value is not None}
        loaded = {os.fspath(path): scenario.load(Path(path), {**given, "aqm": "fifo"}) for path in paths}
        if len(loaded) == 1:
            return next(iter(loaded.values())).points
        # Several files have points of the same name, or of none.
        return tuple(
            replace(point, point={"file": path, **point.point}) for path, one in loaded.items() for point in one.points
        )

    if not judging:
        return _halved(points(training), seed)
    named = ", ".join(os.fspath(path) for path in judging)
    chosen, unseen = points(training), points(judging)
    if any(_asked(one) == _asked(other) for one in unseen for other in chosen):
        raise about("judge", f"{named} has a scenario that is tuned on, too: name others")
    return Split(chosen, unseen, f"the scenarios of {named} judge, and chose nothing")


def from_options(
    options: Mapping[str, Any], sweep: Mapping[str, Any], design: str, seed: int, place: str, **rest: Any
) -> Split:
    """Return the points of a sweep, half of which judge. What is not given varies as `USUAL` says.

    Raises:
        InputError: naming the option and what is allowed.

    """
    given = {name: value for name, value in options.items() if value is not None}
    swept = dict(sweep)
    if not {"rate", "link_trace"} & {*given, *swept}:
        swept["rate"] = USUAL["rate"]
    if "rtt" not in {*given, *swept}:
        swept["rtt"] = USUAL["rtt"]
    if not {"flows", "capture"} & {*given, *swept}:
        given["flows"] = USUAL_FLOWS
        swept.setdefault("load", USUAL["load"])
    given.setdefault("duration", USUAL_DURATION)
    experiment = scenario.swept({**given, "aqm": "fifo"}, swept, design, place, **rest)
    return _halved(experiment.points, seed)


def _halved(points: tuple[Options, ...], seed: int) -> Split:
    if len(points) == 1:
        return Split(points, points, "the only scenario judges with seeds that chose nothing: say more with --sweep")
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(points)).tolist()
    half = len(points) // 2
    judging, training = sorted(order[:half]), sorted(order[half:])
    words = f"{half} of {len(points)} scenarios, drawn with seed {seed}, judge, and chose nothing"
    return Split(tuple(points[one] for one in training), tuple(points[one] for one in judging), words)


def _asked(point: Options) -> dict[str, Any]:
    free = ("aqm", "seeds", "first_seed")
    return {name: value for name, value in {**point.given, **point.named}.items() if name not in free}


def under(point: Options, aqms: Sequence[str], seeds: int | None = None) -> Options:
    """Return a scenario with these AQMs (and number of seeds)."""
    given = {**point.given, "aqm": tuple(aqms)}
    if seeds is not None:
        given["seeds"] = (str(seeds),)
    return replace(point, given=given)


def check_seeds(training_seeds: int) -> None:
    """Make sure that there are training seeds, and not too many."""
    check_whole("training_seeds", training_seeds, 1, LARGEST_SEEDS)
