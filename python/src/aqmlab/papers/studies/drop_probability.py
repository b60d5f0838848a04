"""The share of arriving packets that a discipline drops, against the queue that they find."""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab import _native
from aqmlab.papers.studies.study import Row, Study
from aqmlab.results import Result
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.units import parse_rate, parse_whole

# RED's average of weight 0.002 has settled after so many, and a share of 1 % is known to 5 %.
PACKETS = 40_000
SEED = 1


def measure(result: Result, aqms: Sequence[str], labels: Sequence[str], of: str, at: Sequence[str]) -> list[Row]:
    """Return the share of drops of a scenario's disciplines behind standing queues of so many packets.

    Raises:
        InputError: for an unknown measure, or an invalid number of packets.

    """
    if of != "drop_share":
        raise unknown("measure of the law", of, ["drop_share"])
    scenario = result.scenarios[0]
    specs = {entry["label"]: entry["spec"] for entry in scenario["aqm"]}
    rows = []
    for aqm, label in zip(aqms, labels, strict=True):
        for queue in (parse_whole(text, 0) for text in at):
            share = _native.drop_share(specs[label], parse_rate(scenario["rate"]), queue, PACKETS, SEED)
            rows.append((aqm, float(queue), str(queue), share, share, share))
    return rows


def _rows(result: Result | None, aqms: Sequence[str], labels: Sequence[str], of: str, at: Sequence[str]) -> list[Row]:
    if result is None:
        raise InputError("drop_probability: needs a scenario, whose disciplines are measured")
    return measure(result, aqms, labels, of, at)


STUDY = Study("drop_probability", "Packets in the queue", _rows, is_numeric=True, is_beyond=False)
