"""A diagnosis in words."""

from __future__ import annotations

from dataclasses import dataclass

from aqmlab.diagnosis.diagnosis import Diagnosis
from aqmlab.diagnosis.direction import Direction
from aqmlab.diagnosis.finding import Finding

TOWARDS = {"down": "towards the home", "up": "from the home"}
WITHOUT = "cannot tell"


@dataclass(frozen=True)
class Line:
    """A line of the table: what it is, its value, how sure it is, and why."""

    name: str
    value: str
    confidence: str
    why: str


def headline(diagnosis: Diagnosis) -> str:
    """Return the worst of what was found, in a sentence.

    >>> from aqmlab.diagnosis import diagnose
    >>> headline(diagnose("data/captures/aqmlab-lan.pcap"))
    'The capture never fills the line, so that it cannot tell what happens then.'

    """
    full = [direction for direction in diagnosis.directions if direction.bloat_p95_ms.value is not None]
    if not full:
        return "The capture never fills the line, so that it cannot tell what happens then."
    worst = max(full, key=lambda direction: direction.bloat_p95_ms.value or 0.0)
    return (
        f"While the {worst.name}link is full, a round trip takes {_ms(worst.bloat_ms.value)} longer at the median, and "
        f"{_ms(worst.bloat_p95_ms.value)} in one of twenty."
    )


def table(direction: Direction) -> list[Line]:
    """Return what is known of one direction."""
    lost = direction.losses
    found = [
        _line("Rate", direction.rate_bps, rate),
        _line("Round trip without a queue", direction.base_rtt_ms, _ms),
        _line("Longer while full, median", direction.bloat_ms, _ms),
        _line("Longer while full, 95 %", direction.bloat_p95_ms, _ms),
        _line("Buffer, time", direction.buffer_ms, _ms),
        _line("Buffer, packets", direction.buffer_packets, count),
        _line("Buffer, bytes", direction.buffer_bytes, size),
    ]
    pattern = direction.pattern if direction.pattern_confidence != WITHOUT else WITHOUT
    found.append(
        Line("Who drops", pattern, direction.pattern_confidence if pattern != WITHOUT else "", direction.pattern_why)
    )
    share = f"{lost.packets} packets ({lost.ratio:.2%})"
    elsewhere = f"; {lost.elsewhere} more on the other side of the capture" if lost.elsewhere else ""
    found.append(Line("Lost", share, "", f"sent again, in {lost.episodes} episodes a round trip apart{elsewhere}"))
    found.append(Line("ECN", *_ecn(direction)))
    return found


def about(diagnosis: Diagnosis) -> list[str]:
    """Return what it rests on, a sentence each."""
    addresses = sorted(diagnosis.home.addresses)
    home = ", ".join(addresses[:3]) + (", ..." if len(addresses) > 3 else "")
    guess = ": a guess, --home ADDRESS replaces it" if diagnosis.home.is_guessed else ""
    return [
        f"{diagnosis.packets} IP packets in {diagnosis.duration_s:.1f} s.",
        f"The home's side is {home}, by {diagnosis.home.why}{guess}.",
        "Rates are those of IP packets: what the link layer adds is not in them.",
        "A round trip is the time from a packet, sent once, to the echo of its timestamp (RFC 7323) or to its "
        "acknowledgment. Where the capture is in the middle, both parts are added. A queue is what it takes longer "
        "than the shortest one of its connection; where both directions carry data, what one direction takes longer.",
        "The line counts as full while nine of ten round trips wait for two packets or more.",
        "The queue at the losses, in time, packets and bytes, shows who drops: always the longest, tail drop; none, "
        "a policer; in between, an AQM. A capture cannot distinguish Wi-Fi from a queue.",
        *(
            f"{direction.name}: TCP only; what QUIC does is encrypted."
            for direction in diagnosis.directions
            if not direction.connections
        ),
    ]


def _line(name: str, found: Finding, shown: object) -> Line:
    assert callable(shown)
    if found.value is None:
        least = f", at least {shown(found.at_least)}" if found.at_least else ""
        return Line(name, f"{WITHOUT}{least}", "", found.why)
    return Line(name, shown(found.value), found.confidence, found.why)


def _ecn(direction: Direction) -> tuple[str, str, str]:
    one = direction.marks
    opened = (
        f"{one.offered} of {one.opened} openings offer it, {one.agreed} agree"
        if one.opened
        else "the capture has no opening"
    )
    if not one.packets:
        return WITHOUT, "", "no packet of this direction is in the capture"
    if not one.is_used and not one.echoed:
        return "not used", "high", f"none of {one.packets} packets can be marked; {opened}"
    kind = "L4S (ECT(1))" if one.ect1 > one.ect0 else "classic"
    marks = f"{one.ce} packets marked (CE), {one.echoed} acknowledgments that report marks"
    return (
        f"{kind}, {marks}",
        "high",
        f"{one.ect0 + one.ect1 + one.ce} of {one.packets} packets can be marked; {opened}",
    )


def _ms(value: float | None) -> str:
    """Return milliseconds in as many digits as mean something.

    >>> _ms(0.34), _ms(12.3), _ms(480.2)
    ('0.3 ms', '12 ms', '480 ms')

    """
    return f"{value:.1f} ms" if value is not None and value < 10 else f"{value:.0f} ms"


def rate(bps: float) -> str:
    """Return a rate to be read.

    >>> rate(19_817_000.0)
    '19.8 Mbit/s'

    """
    return f"{bps / 1e6:.3g} Mbit/s" if bps < 1e9 else f"{bps / 1e9:.3g} Gbit/s"


def count(packets: float) -> str:
    """Return a number of packets to be read.

    >>> count(199.6)
    '200'

    """
    return f"{packets:.0f}"


def size(count: float) -> str:
    """Return bytes to be read.

    >>> size(256_000.0)
    '256 kB'

    """
    return f"{count / 1e3:.3g} kB" if count < 1e6 else f"{count / 1e6:.3g} MB"


__all__ = ["Line", "about", "count", "headline", "rate", "size", "table"]
