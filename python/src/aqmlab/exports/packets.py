"""The packets of runs as pcapng."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.exports import rerun
from aqmlab.vocabulary.errors import unknown

if TYPE_CHECKING:
    from aqmlab.results import Result

TAPS = ("senders", "receivers", "home", "queue")


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
        tap: ``senders`` (round-trip times), ``receivers`` (where CE marks arrive), ``home`` (the hosts on the home's
            side of the bottleneck, both directions), or ``queue`` (interfaces ``before``, ``behind`` and ``dropped`` of
            every discipline's queue, each drop with its reason, those by a switch and on the wire too).

    Raises:
        InputError: naming what the result does not have, or why the run cannot be made again.
        CheckError: if the run made again is another.

    """
    if tap not in TAPS:
        raise unknown("place", tap, TAPS)
    made = rerun.runs(result, "packets", {"record": tap}, aqm, seed, point)
    return {f"{one.file}.pcapng": run.packets for one, run in made}


__all__ = ["TAPS", "pcapng"]
