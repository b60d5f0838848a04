"""The diagnosis of a line by a capture of it."""

from __future__ import annotations

from dataclasses import dataclass

from aqmlab.diagnosis import clocks, direction
from aqmlab.diagnosis import recording as recordings
from aqmlab.diagnosis.direction import Direction
from aqmlab.diagnosis.home import Home


@dataclass(frozen=True)
class Diagnosis:
    """Estimates about a line from a capture.

    Attributes:
        capture: the file.
        duration_s: time from the first packet to the last.
        packets: how many IP packets it has.
        home: the home's side.
        down: the direction towards the home.
        up: the direction from the home.
        warnings: what to know before trusting it.

    """

    capture: str
    duration_s: float
    packets: int
    home: Home
    down: Direction
    up: Direction
    warnings: tuple[str, ...]

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """Both directions."""
        return self.down, self.up


def diagnose(capture: str, home: str = "") -> Diagnosis:
    """Estimate what a line is like from a capture (pcap, pcapng); ``home`` is an address of the home's side, if known.

    >>> found = diagnose("data/captures/aqmlab-lan.pcap")
    >>> found.down.rate_bps.confidence
    'cannot tell'

    Raises:
        InputError: naming the file or the address, and what is wrong with it.

    """
    recording = recordings.read(capture, home)
    known = clocks.clocks(recording)
    return Diagnosis(
        capture=recording.name,
        duration_s=recording.duration_s,
        packets=len(recording.packets["time"]),
        home=recording.home,
        down=direction.measure(recording, "down", known),
        up=direction.measure(recording, "up", known),
        warnings=recording.warnings,
    )


__all__ = ["Diagnosis", "diagnose"]
