"""Runs of a result made once more: what a result does not hold is had from the same run again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from aqmlab import _native, scenario
from aqmlab import engine as engines
from aqmlab.exports import names
from aqmlab.own import python_aqm
from aqmlab.results.frames import RUN
from aqmlab.scenario.options import Options
from aqmlab.store import growth
from aqmlab.vocabulary.errors import CheckError, InputError, unknown

if TYPE_CHECKING:
    from aqmlab.results import Result


def runs(
    result: Result, what: str, more: Mapping[str, Any], aqm: str | None, seed: int | None, point: int | None
) -> Iterator[tuple[names.RunName, _native.Run]]:
    """Make the runs with this AQM, seed and number of the scenario once more, and check that they are the same.

    Args:
        result: of the simulator, by this version of aqmlab.
        what: is wanted of them, for messages.
        more: fields of the scenario for it.
        aqm: a label of the result; all of them if none is given.
        seed: all of them if none is given.
        point: number of the scenario in a sweep; all of them if none is given.

    Raises:
        InputError: naming what the result does not have, or why a run cannot be made again.
        CheckError: if a run made again is another.

    """
    engine = engines.find(engines.DEFAULT)
    if result.manifest["engine"] != engine.name or result.manifest["code"] != engine.version:
        made = f"{result.manifest['engine']}, {result.manifest['code']}"
        raise InputError(f"{what} are those of a run made again, which takes the engine that made it ({made})")
    chosen = list(names.runs(result, aqm, seed, point))
    # The folder may come from somebody else.
    for name in sorted(python_aqm.named(json.dumps(result.manifest["points"])) - python_aqm.named(aqm or "")):
        raise InputError(f"{what}: the result has runs of {name}, which is code: name it as the aqm")
    plans, scenarios = {}, {}
    for number in {one.point for one in chosen}:
        held = result.manifest["points"][number]
        if "options" not in held:
            raise InputError(f"{what}: the result does not hold the options that it was made with")
        plans[number] = scenario.resolve(growth.options(held, Options(given={})))
        if plans[number].files != held["files"]:
            raise InputError(f"{what}: a recording that the scenario names has changed since the run")
        # Labels keep the names of what is swept, which one point alone does not know.
        labels = [entry["label"] for entry in held["scenario"]["aqm"]]
        found = plans[number].scenarios
        if len(labels) != len(found):
            raise InputError(
                f"{what}: the options of the result name {len(found)} AQMs, and it has runs of {len(labels)}"
            )
        scenarios[number] = dict(zip(labels, found.values(), strict=True))
    for one in chosen:
        if one.aqm not in scenarios[one.point]:
            known = scenarios[one.point]
            raise InputError(f"{what}: {unknown('aqm', one.aqm, known)}, by the options of the result")
    for one in chosen:
        plan = plans[one.point]
        yield one, _made(result, what, one, {**scenarios[one.point][one.aqm].data(), **more}, plan.inputs)


def _made(
    result: Result, what: str, one: names.RunName, data: Mapping[str, Any], inputs: _native.Inputs
) -> _native.Run:
    run = _native.run(json.dumps(data), inputs, one.seed, _native.Monitor())
    (before,) = result.runs.filter(**dict(zip(RUN, one[:3], strict=True))).iter_rows(named=True)
    changed = [name for name in result.frames.metrics if before[name] != run.metrics.get(name)]
    if changed:
        raise CheckError(f"{what}: the run made again is another: {changed[0]} differs")
    return run


__all__ = ["runs"]
