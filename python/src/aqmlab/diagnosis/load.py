"""The bottleneck of one direction: when it was full, and what it carried then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab.diagnosis.clocks import Clocks
from aqmlab.diagnosis.delay import Delay
from aqmlab.diagnosis.finding import Finding, unknown
from aqmlab.diagnosis.recording import TCP, Recording, Whole

# So many packets pass in a window at the highest rate, so that bursts matter little.
WINDOW_PACKETS = 30
SHORTEST_WINDOW_NS, LONGEST_WINDOW_NS = 10_000_000, 1_000_000_000
# What waits for fewer packets may have met others by chance; below a millisecond it is the hosts.
BUSY_PACKETS, BUSY_MS, BUSY_TICKS = 2.0, 1.0, 2.0
FINE_TICK_MS = 1.0
# Time for which the bottleneck must have been full.
ENOUGH_S, MUCH_S = 0.5, 2.0
# Packets that must have passed then, and the share of the highest rate that it must have carried.
ENOUGH_PACKETS, LEAST_OF_PEAK = 100, 0.5
# The middle half of the windows' rates, as a share of their mean: a link of one rate, and one that varies.
STEADY, VARYING = 0.1, 0.25
FEW_SECONDS = 5
USUAL_PACKET = 1500
IP_TCP_HEADERS = 52

Reals = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Load:
    """Windows of time: what was carried in each, and whether the bottleneck had a queue throughout.

    Attributes:
        window_ns: how long one is.
        carried: IP bytes in each.
        is_busy: whether packets waited.
        rate: bit/s of IP packets.
        packet_bytes: the mean packet of data.
        peak_bps: the highest rate in a second.

    """

    window_ns: int
    carried: Reals
    is_busy: np.ndarray[Any, np.dtype[np.bool_]]
    rate: Finding
    packet_bytes: float
    peak_bps: float

    @property
    def seconds(self) -> Finding:
        """The rate by what was carried in each second with traffic, whether or not anything waited."""
        windows = max(int(1e9 / self.window_ns), 1)
        whole = len(self.carried) // windows * windows
        per_second = self.carried[:whole].reshape(-1, windows).sum(axis=1) * 8e9 / (windows * self.window_ns)
        per_second = per_second[per_second > 0.1 * per_second.max(initial=0.0)]
        if len(per_second) < FEW_SECONDS:
            return unknown("there are too few seconds with traffic")
        low, middle, high = (float(one) for one in np.quantile(per_second, [0.1, 0.5, 0.9]))
        is_steady = high - low <= VARYING * middle
        return Finding("medium" if is_steady else "low", "what passes in a second", middle, (low, high))

    @property
    def busy_s(self) -> float:
        """How long the bottleneck had a queue."""
        return float(self.is_busy.sum()) * self.window_ns / 1e9

    @property
    def packet_ms(self) -> float:
        """How long the bottleneck takes for a packet, by its rate or by the highest that was seen."""
        return self.packet_bytes * 8e3 / max(self.rate.value or self.peak_bps, 1.0)


def measure(
    recording: Recording, carriers: Whole, going: Whole, coming: Whole, delay: Delay | None, clocks: Clocks
) -> Load:
    """Return what one direction carried; ``carriers`` are its flows of data, ``going`` all that it has.

    ``coming`` are those of the other direction, which report what has arrived.
    """
    at, carried, packet_bytes, source = _carried(recording, carriers, going, coming, delay, clocks)
    end = int(recording.packets["time"][-1]) + 1
    seconds = np.bincount(at // 1_000_000_000, weights=carried) if len(at) else np.zeros(1)
    peak_bps = float(seconds.max()) * 8 / max(min(end / 1e9, 1.0), 1e-3)
    window_ns = int(
        np.clip(WINDOW_PACKETS * packet_bytes * 8e9 / max(peak_bps, 1.0), SHORTEST_WINDOW_NS, LONGEST_WINDOW_NS)
    )
    count = end // window_ns + 1
    windows: Reals = np.bincount(at // window_ns, weights=carried, minlength=count)[:count].astype(np.float64)
    busy = np.zeros(count, bool)
    if delay is not None:
        waits = max(BUSY_MS, BUSY_TICKS * delay.tick_ms, BUSY_PACKETS * packet_bytes * 8e3 / max(peak_bps, 1.0))
        place = np.clip(delay.answered // window_ns, 0, count - 1)
        has = np.bincount(place, minlength=count)
        waiting = np.bincount(place, weights=delay.queue_ms >= waits, minlength=count)
        busy = (has > 0) & (waiting >= 0.9 * has)
    rate = _rate(windows, busy, window_ns, peak_bps, source, delay)
    return Load(window_ns, windows, busy, rate, packet_bytes, peak_bps)


def _carried(
    recording: Recording, carriers: Whole, going: Whole, coming: Whole, delay: Delay | None, clocks: Clocks
) -> tuple[Whole, Reals, float, str]:
    """What the bottleneck let pass: when and how many IP bytes, the mean packet, and how it was found."""
    packets = recording.packets
    of_data = np.isin(packets["flow"], carriers) & (packets["payload"] > 0)
    lengths, payload = packets["length"][of_data].sum(), packets["payload"][of_data].sum()
    reports = np.isin(recording.deliveries["flow"], coming)
    mean = float(packets["length"][of_data].mean()) if of_data.any() else float(USUAL_PACKET)
    # Offloads hand over segments that are cut later, into such packets.
    mean = min(mean, float(USUAL_PACKET))
    if delay is not None and not delay.is_beyond:
        passed = np.isin(packets["flow"], going)
        return packets["time"][passed], packets["length"][passed].astype(float), mean, "what arrived"
    if reports.any():
        scale = lengths / payload if payload else USUAL_PACKET / (USUAL_PACKET - IP_TCP_HEADERS)
        # When the acknowledgment was sent: it may wait in the queue of the other direction.
        # Coarse clocks would put what is reported at some times into one.
        is_fine = delay is not None and delay.is_one_way and delay.tick_ms <= FINE_TICK_MS
        at = clocks.sent[recording.deliveries["packet"][reports]] if is_fine else recording.deliveries["at"][reports]
        carried = recording.deliveries["bytes"][reports] * scale
        # What is not acknowledged is taken to pass: acknowledgments of the other direction.
        rest = np.isin(packets["flow"], going) & ~of_data & ~_is_datagram(recording)
        at, carried = np.concatenate([at, packets["time"][rest]]), np.concatenate([carried, packets["length"][rest]])
        return at, carried, mean, "what acknowledgments report"
    passed = np.isin(packets["flow"], going)
    return packets["time"][passed], packets["length"][passed].astype(float), mean, "what passed the capture"


def _is_datagram(recording: Recording) -> np.ndarray[Any, np.dtype[np.bool_]]:
    protocols = np.array(recording.flows["protocol"])
    return np.asarray(protocols[recording.packets["flow"]] != TCP)


def _rate(
    windows: Reals,
    busy: np.ndarray[Any, np.dtype[np.bool_]],
    window_ns: int,
    peak_bps: float,
    source: str,
    delay: Delay | None,
) -> Finding:
    if delay is None:
        return unknown("nothing tells when packets waited, so that it may not have been full", at_least=peak_bps)
    # A queue that is there in a window and in both beside it was there throughout.
    busy = busy & np.append(busy[1:], False) & np.append(False, busy[:-1])
    busy_s = float(busy.sum()) * window_ns / 1e9
    if busy_s < ENOUGH_S:
        return unknown(f"packets waited for {busy_s:.1f} s only: it was hardly ever full", at_least=peak_bps)
    rates = windows[busy] * 8e9 / window_ns
    if windows[busy].sum() < ENOUGH_PACKETS * USUAL_PACKET:
        return unknown(f"only {windows[busy].sum() / 1e3:.0f} kB passed while packets waited", at_least=peak_bps)
    low, lower, upper, high = np.quantile(rates, [0.1, 0.25, 0.75, 0.9])
    # Windows in which the queue ran empty, and those with a burst of acknowledgments, are left out.
    mean = float(rates[(rates >= lower) & (rates <= upper)].mean())
    if mean < LEAST_OF_PEAK * peak_bps:
        why = "less passed while packets waited than at other times: they waited for something else"
        return unknown(why, at_least=peak_bps)
    variation = (upper - lower) / max(mean, 1.0)
    why = f"{source} in the {busy_s:.1f} s in which packets waited"
    if variation > VARYING:
        return Finding(
            "low", f"{why}; it varies: a link of changing rate, or a queue elsewhere", mean, (float(low), float(high))
        )
    sure = variation <= STEADY and busy_s >= MUCH_S
    return Finding("high" if sure else "medium", why, mean, (float(low), float(high)))


__all__ = ["Load", "Reals", "measure"]
