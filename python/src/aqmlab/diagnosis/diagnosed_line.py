"""The line that a diagnosis found, for an advice."""

from __future__ import annotations

from aqmlab.advice import Layer, Line
from aqmlab.diagnosis.diagnosis import Diagnosis
from aqmlab.diagnosis.direction import Direction
from aqmlab.vocabulary.errors import InputError

# Round trips and buffers in which an advice means something.
SHORTEST_RTT_MS, LONGEST_RTT_MS = 1.0, 2000.0
SMALLEST_BUFFER = 3000


def line(diagnosis: Diagnosis, layer: Layer, down_bps: int | None = None, up_bps: int | None = None) -> Line:
    """Return the line for `advice.advise`; rates that are given are those of the modem.

    Raises:
        InputError: naming the direction whose rate is neither given nor found.

    """
    rates = [
        given if given is not None else _rate(direction, layer)
        for direction, given in zip(diagnosis.directions, (down_bps, up_bps), strict=True)
    ]
    missing = [direction.name for direction, rate in zip(diagnosis.directions, rates, strict=True) if rate is None]
    if missing:
        options = " and ".join(f"--{name} R" for name in missing)
        raise InputError(f"the capture does not tell the rate {' and '.join(missing)}: {options} says it")
    base = [direction.base_rtt_ms.value for direction in diagnosis.directions if direction.base_rtt_ms.value]
    buffers = [direction.buffer_bytes.value or direction.buffer_bytes.at_least for direction in diagnosis.directions]
    largest = max((one for one in buffers if one), default=0.0)
    rtt_ms = min(max(min(base), SHORTEST_RTT_MS), LONGEST_RTT_MS) if base else None
    return Line(
        down_bps=rates[0] or 0,
        up_bps=rates[1] or 0,
        layer=layer,
        rtt=f"{rtt_ms * 1e3:.0f}us" if rtt_ms else Line.rtt,
        modem_buffer=f"{max(int(largest), SMALLEST_BUFFER)}b" if largest else "",
    )


def _rate(direction: Direction, layer: Layer) -> int | None:
    """The rate that a modem reports: with what the link layer adds to the packets that were seen."""
    if direction.rate_bps.value is None:
        return None
    kept, of = layer.payload
    return int(direction.rate_bps.value * (1.0 + layer.overhead / direction.load.packet_bytes) * of / kept)


__all__ = ["line"]
