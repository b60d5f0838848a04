"""The JSON of `tc -s -j qdisc`: counters of each queue discipline since it was made; CAKE also has its delays."""

from __future__ import annotations

import math
from typing import Any

from aqmlab.measured.builder import FormatError, Measured, Measurement, number, part_of


def measurement(parsed: list[dict[str, Any]]) -> Measurement:
    """Return the disciplines that packets went through.

    Raises:
        FormatError: saying what is wrong.

    """
    parts = [_measured(one) for one in parsed if number(one.get("packets"), "'packets' of a qdisc") > 0.0]
    if not parts:
        raise FormatError("has no qdisc that packets went through: tc needs -s, and traffic")
    return Measurement(parts, "any traffic", 0.0, ("counters since the qdisc was made, of any traffic",))


def _measured(qdisc: dict[str, Any]) -> Measured:
    kind = str(qdisc["kind"])
    tins = [one for one in part_of(qdisc, "tins", list, kind) if isinstance(one, dict)]
    sent, dropped = (number(qdisc.get(name), f"'{name}' of {kind}") for name in ("packets", "drops"))
    # sch_cake counts a filtered acknowledgment among the drops of the qdisc, and apart in its tin.
    filtered = [number(one.get("ack_drops", 0), f"'ack_drops' of {kind}") for one in tins]
    ack_drops = min(sum(one for one in filtered if math.isfinite(one)), dropped)
    metrics = {"loss_ratio": (dropped - ack_drops) / (sent + dropped) if sent + dropped else math.nan}
    if ack_drops:
        metrics["ack_drops"] = ack_drops
    marks = [number(one.get("ecn_mark"), f"'ecn_mark' of {kind}") for one in (tins or [qdisc])]
    metrics["marks"] = sum(one for one in marks if math.isfinite(one)) if marks else math.nan
    # tc-cake(8): the delays are moving averages of each tin, in microseconds.
    weights = [number(one.get("sent_packets"), f"'sent_packets' of {kind}") for one in tins]
    delays = [number(one.get("avg_delay_us"), f"'avg_delay_us' of {kind}") for one in tins]
    total = sum(one for one in weights if math.isfinite(one))
    if total:
        products = (weight * delay for weight, delay in zip(weights, delays, strict=True))
        metrics["qdelay_mean_ms"] = sum(one for one in products if math.isfinite(one)) / total / 1e3
    return Measured(kind, metrics=metrics)


__all__ = ["measurement"]
