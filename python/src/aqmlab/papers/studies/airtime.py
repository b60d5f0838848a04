"""The analytical model of "Ending the Anomaly" (section 2.2): what stations get by the length of their aggregates.

Nothing collides or is lost, only the access point sends, and its stations take turns: without fairness each turn is one
aggregate, with it each has the same airtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.papers.studies.study import Row, Study
from aqmlab.results import Result
from aqmlab.vocabulary.errors import unknown

# Of an MPDU beside its packet: delimiter, MAC header, FCS; then it is padded to a multiple of this.
MPDU_OVERHEAD = 4 + 34 + 4
PADDED = 4
PACKET = 1500
# Microseconds: preamble, DIFS, SIFS, and the mean backoff, 15/2 slots of 9 us.
PREAMBLE, DIFS, SIFS, BACKOFF = 32.0, 34.0, 16.0, 9.0 * 15 / 2
# Octets of a block acknowledgment, which is sent at the rate of the data.
BLOCK_ACK = 58
# Mbit/s of MCS 15 and MCS 0 at 20 MHz with the short guard interval.
FAST, SLOW = 520 / 3.6, 26 / 3.6


@dataclass(frozen=True)
class Station:
    """A station: the mean length of its A-MPDUs in bytes, with all that surrounds the packets in them, and its rate.

    >>> fast = Station(28434, FAST)
    >>> round(fast.packets, 1), round(fast.data_us), round(fast.base_rate, 1)
    (18.4, 1607, 126.7)

    """

    aggregate: float
    mbit: float

    @property
    def packets(self) -> float:
        """Packets of a mean aggregate."""
        return self.aggregate / mpdu(PACKET)

    @property
    def data_us(self) -> float:
        """The time of a mean aggregate."""
        return PREAMBLE + 8 * self.aggregate / self.mbit

    @property
    def overhead_us(self) -> float:
        """The time that passes beside it: gaps, acknowledgment, backoff."""
        return DIFS + SIFS + (SIFS + 8 * BLOCK_ACK / self.mbit) + BACKOFF

    @property
    def base_rate(self) -> float:
        """What it gets alone, in Mbit/s."""
        return 8 * self.packets * PACKET / (self.data_us + self.overhead_us)


# Table 1: without fairness (FIFO) and with it, fast stations and a slow one.
TABLE = {
    "FIFO": (Station(6892, FAST), Station(7833, FAST), Station(2914, SLOW)),
    "Airtime fair": (Station(28434, FAST), Station(28557, FAST), Station(2914, SLOW)),
}
STATIONS = ("fast 1", "fast 2", "slow")
MEASURES = ("base_rate", "airtime_share", "rate")


def mpdu(packet: int) -> int:
    """Return the bytes of a packet within an A-MPDU.

    >>> mpdu(1500)
    1544

    """
    return -(-(packet + MPDU_OVERHEAD) // PADDED) * PADDED


def shares(stations: Sequence[Station], *, fair: bool) -> list[float]:
    """Return the shares of airtime: equal ones, or those of one aggregate each.

    >>> [round(share, 3) for share in shares(TABLE["FIFO"], fair=False)]
    [0.1, 0.113, 0.788]

    """
    if fair:
        return [1 / len(stations)] * len(stations)
    every = sum(station.data_us for station in stations)
    return [station.data_us / every for station in stations]


def measure(of: str, at: Sequence[str]) -> list[Row]:
    """Return a measure of the stations of Table 1: `base_rate` or `rate` in Mbit/s, or `airtime_share`.

    >>> [round(row[3], 1) for row in measure("base_rate", STATIONS)]
    [97.3, 101.0, 6.6, 126.7, 126.8, 6.6]

    Raises:
        InputError: for a measure or a station that there is not.

    """
    if of not in MEASURES:
        raise unknown("measure of the model", of, MEASURES)
    for name in at:
        if name not in STATIONS:
            raise unknown("station", name, STATIONS)
    rows: list[Row] = []
    for case, stations in TABLE.items():
        parts = shares(stations, fair=case != "FIFO")
        for place, name in enumerate(at):
            number = STATIONS.index(name)
            station, share = stations[number], parts[number]
            values = {"base_rate": station.base_rate, "airtime_share": share, "rate": share * station.base_rate}
            rows.append((case, float(place), name, values[of], values[of], values[of]))
    return rows


def _rows(result: Result | None, aqms: Sequence[str], labels: Sequence[str], of: str, at: Sequence[str]) -> list[Row]:
    del result, aqms, labels
    return measure(of, at)


STUDY = Study("airtime", "Station", _rows, lambda of: list(TABLE), is_beyond=False)
