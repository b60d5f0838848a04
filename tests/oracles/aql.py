"""Airtime queue limits, written from what mac80211 does (Linux 6.1), packet by packet.

`ieee80211_txq_airtime_check()`: a station gets another packet in an access category while the device holds less than
the low limit for it in that category, or while the device holds less than its threshold for all and the station less
than the high limit. `ieee80211_tx_dequeue()` charges a packet with the airtime that is expected of it at the
station's rate, and `ieee80211_sta_update_pending_airtime()` takes the same off when it has been acknowledged.

`ieee80211_calc_expected_tx_airtime()`: 38 octets are added; the time at the rate of the station; and a preamble of 36
us and 4 for each stream, or of 20 us for rates before 802.11n. As aggregates share a preamble, it is shifted right by
1 if 1024 octets take more than 400 us, by 2 above 250, by 3 above 150, by 4 above 70, and else by 5, but for 802.11ax
up to 20 us by 6. Voice and the old rates are not aggregated: there it counts in full. The result is kept in units of
4 us, from 4 us to 16 ms (`ieee80211_info_set_tx_time_est()`).
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from dataclasses import dataclass

VOICE = 3
EXTRA, AVERAGE = 38, 1024
# Data bits of a symbol by MCS: bits of a subcarrier, and the share of them that is data (IEEE 802.11).
BITS = [(1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6), (8, 3, 4), (8, 5, 6)]
BITS += [(10, 3, 4), (10, 5, 6)]
# Data subcarriers by width in MHz.
SUBCARRIERS = {"ht": {20: 52, 40: 108}, "vht": {20: 52, 40: 108, 80: 234}, "he": {20: 234, 40: 468, 80: 980}}


@dataclass(frozen=True)
class Mode:
    """A rate as it is sent: ``ht-mcs15-400ns``."""

    form: str
    mcs: int = 0
    streams: int = 1
    width: int = 20
    guard_ns: int = 800
    mbit: int = 0

    def __str__(self) -> str:
        if self.form == "ofdm":
            return f"ofdm-{self.mbit}"
        number = self.mcs + 8 * (self.streams - 1) if self.form == "ht" else self.mcs
        streams = f"-{self.streams}ss" if self.form != "ht" else ""
        return f"{self.form}-mcs{number}{streams}-{self.width}mhz-{self.guard_ns}ns"

    @property
    def rate(self) -> int:
        """Bits a second."""
        if self.form == "ofdm":
            return self.mbit * 1_000_000
        bits, data, of = BITS[self.mcs]
        a_symbol = SUBCARRIERS[self.form][self.width] * bits * data // of * self.streams
        symbol_ns = (12_800 if self.form == "he" else 3_200) + self.guard_ns
        return a_symbol * 1_000_000_000 // symbol_ns

    def expected_us(self, octets: int, category: int) -> int:
        """What a packet is charged with, microseconds."""

        def time(length: int) -> int:
            return length * 8 * 1_000_000 // self.rate

        overhead = 20 if self.form == "ofdm" else 36 + 4 * self.streams
        steps = [shift for shift, above in ((1, 400), (2, 250), (3, 150), (4, 70)) if time(AVERAGE) > above]
        shift = steps[0] if steps else 6 if self.form == "he" and time(AVERAGE) <= 20 else 5
        if self.form == "ofdm" or category == VOICE:
            shift = 0
        return min(max(time(octets + EXTRA) + (overhead >> shift), 4), 16_383) // 4 * 4


class Device:
    """What a device holds for each station and category."""

    def __init__(self, low: int, high: int, threshold: int, modes: list[list[tuple[int, Mode]]]) -> None:
        self.low, self.high, self.threshold, self.modes = low, high, threshold, modes
        self.pending: dict[tuple[int, int], deque[int]] = defaultdict(deque)

    def may(self, category: int, station: int) -> bool:
        own = sum(self.pending[category, station])
        total = sum(sum(packets) for packets in self.pending.values())
        return own < self.low or (total < self.threshold and own < self.high)

    def take(self, category: int, station: int, octets: int, now_us: int) -> None:
        mode = [mode for since, mode in self.modes[station] if since <= now_us][-1]
        self.pending[category, station].append(mode.expected_us(octets, category))

    def sent(self, category: int, station: int, packets: int) -> None:
        for _ in range(packets):
            self.pending[category, station].popleft()


@dataclass
class Workload:
    """Stations whose rates may change, packets for them and from them, and limits."""

    limits: tuple[int, int, int]
    modes: list[list[tuple[int, Mode]]]
    arrivals: list[tuple[int, int, str, str, int]]

    def text(self) -> str:
        lines = ["limits " + " ".join(map(str, self.limits))]
        for (_, first), *later in self.modes:
            lines.append(f"station {first}" + "".join(f" {since} {mode}" for since, mode in later))
        lines += [f"arrival {' '.join(map(str, arrival))}" for arrival in self.arrivals]
        return "\n".join(lines) + "\n"


def any_mode(chance: random.Random) -> Mode:
    form = chance.choice(["ofdm", "ht", "vht", "he"])
    if form == "ofdm":
        return Mode("ofdm", mbit=chance.choice([6, 9, 12, 18, 24, 36, 48, 54]))
    guards = {"ht": [400, 800], "vht": [400, 800], "he": [800, 1600, 3200]}[form]
    most = {"ht": 7, "vht": 7, "he": 11}[form]
    width = chance.choice(list(SUBCARRIERS[form]))
    return Mode(form, chance.randint(0, most), chance.randint(1, 2), width, chance.choice(guards))


def workload(seed: int) -> Workload:
    """A second of random traffic in all categories, down and up."""
    chance = random.Random(seed)
    count = chance.randint(1, 5)
    modes = [[(0, any_mode(chance))] for _ in range(count)]
    for steps in modes:
        if chance.random() < 0.4:
            steps.append((chance.randint(1, 800_000), any_mode(chance)))
    low = chance.choice([5_000, 2_000, 5_000, 12_000, 400])
    limits = (low, low + chance.choice([0, 7_000, 3_000]), chance.choice([24_000, 8_000, 60_000]))
    arrivals = []
    now = 0
    gap = chance.choice([100, 400, 1500])
    while now < 1_000_000:
        now += max(1, round(chance.expovariate(1 / gap)))
        station = str(chance.randrange(count))
        category = chance.choice([0, 1, 1, 1, 2, 3])
        octets = chance.choice([40, 200, 576, 1400, 1500])
        up = chance.random() < 0.2
        ends = (station, "ap") if up else ("ap", station)
        arrivals.append((now, category, *ends, octets))
    return Workload(limits, modes, arrivals)
