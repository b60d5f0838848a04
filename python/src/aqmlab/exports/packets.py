"""The packets of runs as pcapng.

A result does not hold them: the run is made once more, which gives the same packets, and these are recorded.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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
    from aqmlab.scenario.model import Scenario

TAPS = ("senders", "receivers", "queue")


def pcapng(
    result: Result,
    aqm: str | None = None,
    seed: int | None = None,
    point: int | None = None,
    tap: str = "senders",
) -> dict[str, bytes]:
    """Return a capture for each run with this AQM, seed and number of the scenario.

    Args:
        result: of the simulator, by this version of aqmlab.
        aqm: a label of the result; all of them unless given.
        seed: all of them unless given.
        point: number of the scenario in a sweep; all of them unless given.
        tap: ``senders`` (round-trip times), ``receivers`` (where CE marks arrive), or ``queue`` (interfaces ``before``,
            ``behind`` and ``dropped`` of every discipline's queue, each drop with its reason).

    Raises:
        InputError: naming what the result does not have, or why the run cannot be made again.
        CheckError: if the run made again is another.

    """
    if tap not in TAPS:
        raise unknown("place", tap, TAPS)
    engine = engines.find(engines.DEFAULT)
    if result.manifest["engine"] != engine.name or result.manifest["code"] != engine.version:
        made = f"{result.manifest['engine']}, {result.manifest['code']}"
        raise InputError(f"packets are those of a run made again, which takes the engine that made it ({made})")
    chosen = list(names.runs(result, aqm, seed, point))
    # The folder may come from somebody else.
    for name in sorted(python_aqm.named(json.dumps(result.manifest["points"])) - python_aqm.named(aqm or "")):
        raise InputError(f"packets: the result has runs of {name}, which is code: name it as the aqm")
    plans, scenarios = {}, {}
    for number in {one.point for one in chosen}:
        held = result.manifest["points"][number]
        if "options" not in held:
            raise InputError("packets: the result does not hold the options that it was made with")
        plans[number] = scenario.resolve(growth.options(held, Options(given={})))
        if plans[number].files != held["files"]:
            raise InputError("packets: a recording that the scenario names has changed since the run")
        # Labels keep the names of what is swept, which one point alone does not know.
        labels = (entry["label"] for entry in held["scenario"]["aqm"])
        scenarios[number] = dict(zip(labels, plans[number].scenarios.values(), strict=True))
    for one in chosen:
        if one.aqm not in scenarios[one.point]:
            known = scenarios[one.point]
            raise InputError(f"packets: {unknown('aqm', one.aqm, known)}, by the options of the result")
    return {
        f"{one.file}.pcapng": _recorded(result, one, scenarios[one.point][one.aqm], plans[one.point].inputs, tap)
        for one in chosen
    }


def _recorded(result: Result, one: names.Chosen, what: Scenario, inputs: _native.Inputs, tap: str) -> bytes:
    recorded = {**what.data(), "record": tap}
    run = _native.run(json.dumps(recorded), inputs, one.seed, _native.Monitor())
    (before,) = result.runs.filter(**dict(zip(RUN, one[:3], strict=True))).iter_rows(named=True)
    changed = [name for name in result.frames.metrics if before[name] != run.metrics.get(name)]
    if changed:
        raise CheckError(f"packets: the run made again is another: {changed[0]} differs")
    return run.packets


__all__ = ["TAPS", "pcapng"]
