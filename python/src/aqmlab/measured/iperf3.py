"""The JSON of iperf3 (`iperf3 --json`): `start`, `intervals` and `end`; rates in bit/s, round trips in microseconds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aqmlab.measured.made import UNNAMED, FormatError, Measured, Measurement, number, part_of, waited

NOTE = "the queue delay of a measurement is the sender's round trip less its shortest"


def measurement(parsed: dict[str, Any]) -> Measurement:
    """Return what a file holds.

    Raises:
        FormatError: saying what is wrong.

    """
    if isinstance(parsed.get("error"), str) and not parsed.get("intervals"):
        raise FormatError(f"is of a test of iperf3 that failed: {parsed['error']}")
    times, rates, trips, every = [], [], [], []
    for interval in part_of(parsed, "intervals", list, "the file"):
        total = part_of(interval, "sum", dict, "an interval")
        streams = part_of(interval, "streams", list, "an interval")
        times.append(number(total.get("end"), "'end' of an interval"))
        rates.append(number(total.get("bits_per_second"), "'bits_per_second' of an interval") / 1e6)
        # Receivers say zero, or nothing.
        found = [number(one.get("rtt"), "'rtt' of a stream") / 1e3 for one in streams if isinstance(one, dict)]
        found = [one for one in found if one > 0.0]
        trips.append(sum(found) / len(found) if found else math.nan)
        every += found
    if not times:
        raise FormatError("has no intervals")
    series = {"goodput_mbit": np.array(rates)}
    if every:
        series["qdelay_ms"] = waited(np.array(trips))
    test = part_of(part_of(parsed, "start", dict, "the file"), "test_start", dict, "'start'")
    end = part_of(parsed, "end", dict, "the file")
    received = part_of(end, "sum_received", dict, "'end'") or part_of(end, "sum", dict, "'end'")
    metrics = {"goodput_mbit": number(received.get("bits_per_second"), "'bits_per_second' of the end") / 1e6}
    lost = number(part_of(end, "sum", dict, "'end'").get("lost_percent"), "'lost_percent'")
    metrics["loss_ratio"] = lost / 100.0
    streams = number(test.get("num_streams"), "'num_streams'")
    traffic = f"iperf3, {streams:.0f} of {test.get('protocol')}" if math.isfinite(streams) else "iperf3"
    one = Measured(UNNAMED, np.array(times), series, np.array(every), metrics)
    return Measurement(
        [one], traffic, max((one for one in times if math.isfinite(one)), default=0.0), (NOTE,) if every else ()
    )


__all__ = ["measurement"]
