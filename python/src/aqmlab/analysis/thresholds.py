"""dAQM's thresholds from what is asked of a queue: equations 1 to 19 of Saleh, Shu and Koldehofe 2024.

Where the derivation breaks (tests and `experiments/daqm` show it):

- Equations 9 and 16 bound a slope, and the slope of sojourn time is at most 1 in a queue that keeps order: with a
  limit that is not below the horizon, the first derivative never speaks.
- Equations 11 and 12 bound what an integral of a higher derivative adds to the slope, whatever the slope already is:
  all three at their thresholds together reach the limit before the horizon.
- A threshold finds, it does not hold: how much is dropped is the drop rate's business, and a packet that has waited
  longer than the limit leaves late. The equations bound a mean slope over the horizon; that of single packets differs
  far more.
- A horizon that has passed says nothing of the next one.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from aqmlab.results import Result
from aqmlab.vocabulary.errors import about

# From a nanosecond to more than a week: beyond, a time has no meaning here. What `b` of dAQM takes.
LEAST_MS, MOST_MS, MOST_COUNT = 1e-6, 1e9, 1_000_000_000


@dataclass(frozen=True)
class Thresholds:
    """What each feature may be at most; milliseconds, packets, and samples of the buffer."""

    s: float
    s1: float
    s2: float
    s3: float
    b: int
    b1: float
    b2: float
    b3: float

    @property
    def spec(self) -> str:
        """Them as a discipline: ``daqm features [s 50ms, b 200, s1 0.05, ...]``."""
        numbers = {"s1": self.s1, "s2": self.s2, "s3": self.s3, "b1": self.b1, "b2": self.b2, "b3": self.b3}
        rest = ", ".join(f"{name} {value:.6g}" for name, value in numbers.items())
        return f"daqm features [s {round(self.s * 1e6)}ns, b {self.b}, {rest}]"


def thresholds(
    delay_ms: float,
    buffer_packets: int,
    horizon_ms: float,
    *,
    hops: int = 1,
    packet_ms: float | None = None,
    sample_ms: float = 10.0,
    waited_ms: float = 0.0,
    waiting_packets: int = 0,
) -> Thresholds:
    """Return the thresholds that equations 1 to 19 give.

    Args:
        delay_ms: delay that the flows allow from end to end (d_flow).
        buffer_packets: room in the queue (b_max).
        horizon_ms: how long the queue is to be able to go on at its present slope (t_max - t_in).
        hops: queues on the path, among which the delay is divided (n).
        packet_ms: how long a packet takes to be sent (T_proc); with it the buffer holds what passes within the limit.
        sample_ms: time between two samples of the buffer (t_b).
        waited_ms: how long the first packet had waited when the horizon began (s_in).
        waiting_packets: packets that waited then (b_in).

    Raises:
        InputError: naming the value that is out of range.

    """
    times = {"delay": delay_ms, "horizon": horizon_ms, "sample": sample_ms}
    if packet_ms is not None:
        times["packet"] = packet_ms
    for name, value in times.items():
        if not LEAST_MS <= value <= MOST_MS:
            raise about(name, f"{value:g} ms is out of range: allowed is {LEAST_MS:g} to {MOST_MS:g} ms")
    for name, count in {"buffer": buffer_packets, "hops": hops}.items():
        if not 1 <= count <= MOST_COUNT or count != int(count):
            raise about(name, f"{count:.10g} is not a whole number from 1 to {MOST_COUNT}")
    limit_ms = delay_ms / hops  # eq. 2
    # Eqs. 3 and 4; packets that take exactly the limit have room, whatever the last digits of the quotient are.
    room = buffer_packets if packet_ms is None else min(buffer_packets, int(limit_ms / packet_ms + 1e-9))
    if not 0 <= waited_ms < limit_ms:
        raise about("waited", f"{waited_ms:g} ms must be below the limit of {limit_ms:g} ms")
    if not 0 <= waiting_packets < room:
        raise about("waiting", f"{waiting_packets} packets must be fewer than the {room} that may wait")
    slope = (limit_ms - waited_ms) / horizon_ms  # L_s, eq. 10
    samples = horizon_ms / sample_ms
    rise = (room - waiting_packets) / samples  # L_b, eq. 19, per sample
    return Thresholds(
        s=limit_ms,  # eq. 1
        s1=slope,  # eq. 9
        s2=slope / horizon_ms,  # eq. 11: a steady s'' over the horizon
        s3=2.0 * slope / horizon_ms**2,  # eq. 12: a steady s''' over the horizon, twice integrated
        b=room,
        b1=rise,  # eq. 16
        b2=rise / samples,  # eq. 17
        b3=2.0 * rise / samples**2,  # eq. 18
    )


def held(result: Result, limit_ms: float) -> dict[str, float]:
    """Return the share of packets that waited no longer than a limit, by AQM, over all seeds.

    The histograms' buckets are one part in 64 wide: packets within that of the limit count by the middle of theirs.
    """
    rows = result.histograms.filter(pl.col("name") == "qdelay")
    within = pl.when(pl.col("value_ns") <= limit_ms * 1e6).then(pl.col("count")).otherwise(0).sum()
    shares = rows.group_by("aqm", maintain_order=True).agg((within / pl.col("count").sum()).alias("share"))
    return dict(shares.iter_rows())
