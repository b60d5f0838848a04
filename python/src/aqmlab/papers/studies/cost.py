"""The cost of a packet in a discipline: time, and bytes of state."""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab import _native
from aqmlab.papers.studies.study import Row, Study
from aqmlab.results import Result
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.units import parse_rate, parse_size, parse_whole

COSTS = ("ns_per_packet", "state_bytes")
PACKETS = 200_000


def measure(result: Result, aqms: Sequence[str], labels: Sequence[str], of: str, at: Sequence[str]) -> list[Row]:
    """Return the cost of a packet in the disciplines of a scenario, in nanoseconds or bytes of state, by flows.

    Raises:
        InputError: for an unknown cost, or an invalid number of flows.

    """
    if of not in COSTS:
        raise unknown("cost", of, COSTS)
    scenario = result.scenarios[0]
    specs = {entry["label"]: entry["spec"] for entry in scenario["aqm"]}
    standing, in_packets = parse_size(scenario["buffer"])
    waiting = standing if in_packets else standing // 1500
    rows = []
    for aqm, label in zip(aqms, labels, strict=True):
        for flows in (parse_whole(text, 1) for text in at):
            ns, _, held = _native.cost(specs[label], parse_rate(scenario["rate"]), flows, waiting, PACKETS)
            value = ns if of == "ns_per_packet" else float(held)
            rows.append((aqm, float(flows), str(flows), value, value, value))
    return rows


def _rows(result: Result | None, aqms: Sequence[str], labels: Sequence[str], of: str, at: Sequence[str]) -> list[Row]:
    if result is None:
        raise InputError("cost: needs a scenario, whose disciplines are measured")
    return measure(result, aqms, labels, of, at)


STUDY = Study("cost", "Flows", _rows, is_timed=True)
