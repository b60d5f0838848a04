"""The ways to run a line: the modem as it is, and what a router or a modem may do instead."""

from __future__ import annotations

from dataclasses import dataclass

from aqmlab.advice.line import Line
from aqmlab.vocabulary.units import parse_span

AS_IT_IS, ACK_FILTER = "as it is", "ack-filter"
# Bytes of the packet that sqm-scripts takes for its targets.
FULL_PACKET_BYTES = 1540
TARGET_US, INTERVAL_US = 5_000, 100_000
# What is usual, and what else a shaper may have of the rate. On faster lines 90 % leaves enough for the modem's queue.
USUAL_SHARE, OTHER_SHARES, OTHER_SHARES_UP_TO_BPS = 0.9, (0.95, 0.8, 0.7), 50_000_000
# A line this much faster down than up spends much of the way up on acknowledgments.
ASYMMETRY = 8
# What a shaper of a mobile line may have of its mean rate, which the line is often below.
MOBILE_SHARES = (0.8, 0.5)
# How well routers support a discipline, by its name: CAKE is the default of OpenWrt's SQM, which has a script for
# FQ-CoDel too (simplest.qos); others are for those who have tc. Nothing to set up is the least work.
SUPPORT = {"as": 0, "cake": 1, "fq_codel": 2}
WITH_TC_ONLY = 3


@dataclass(frozen=True)
class Way:
    """A way to run the line.

    ``down`` and ``up`` are the disciplines of the router's shaper with their arguments as tc has them; without a shaper
    (``share`` 0) they are empty, and ``modem`` may be another discipline for the modem's way up.
    """

    name: str
    about: str
    down: str = ""
    up: str = ""
    share: float = 0.0
    modem: str = ""

    @property
    def is_shaped(self) -> bool:
        """Whether the router shapes."""
        return self.share > 0


def support(name: str) -> int:
    """Return how well a way is supported, by its name: the less, the better.

    >>> [support(name) for name in (AS_IT_IS, "cake at 80%", "fq_codel", "fq_pie")]
    [0, 1, 2, 3]

    """
    return SUPPORT.get(name.partition(" ")[0], WITH_TC_ONLY)


def ways(line: Line, only_usual: bool = False) -> list[Way]:
    """Return the ways for a line, the usual ones first; ``only_usual`` leaves out what few routers come with."""
    found = [Way(AS_IT_IS, "the modem with a plain queue")]
    for share in MOBILE_SHARES if line.trace else (line.share or USUAL_SHARE,):
        note = f" at {share:.0%}" if line.trace else ""
        found += _shaped(line, share, note, only_usual or bool(note))
    if not line.trace and line.share is None and line.down_bps + line.up_bps <= OTHER_SHARES_UP_TO_BPS:
        found += [_cakes(line, share, f" at {share:.0%}")[-1] for share in OTHER_SHARES]
    if line.layer.name == "docsis":
        found.append(
            Way(
                "docsis_pie in the modem", "the way up as DOCSIS 3.1 modems must have it (RFC 8034)", modem="docsis_pie"
            )
        )
    return found


def _shaped(line: Line, share: float, note: str, only_usual: bool) -> list[Way]:
    down_bps, up_bps = line.shaped(share)
    rtt_us = parse_span(line.rtt) // 1000
    down, up = target(down_bps, rtt_us), target(up_bps, rtt_us)
    found = _cakes(line, share, note)
    found.append(Way(f"fq_codel{note}", "SQM simplest.qos", f"fq_codel {down}", f"fq_codel {up}", share))
    if not only_usual:
        found += [
            Way("fq_pie", "HTB with flow queueing and PIE", "fq_pie", "fq_pie", share),
            Way("codel", "HTB with one queue and CoDel", f"codel {down}", f"codel {up}", share),
            Way("pie", "HTB with one queue and PIE", "pie", "pie", share),
        ]
    return found


def _cakes(line: Line, share: float, note: str) -> list[Way]:
    """CAKE, and where the line is far slower up also with its ACK filter."""
    plain = "cake besteffort"
    if parse_span(line.rtt) > INTERVAL_US * 1000:
        plain += f" rtt {line.rtt}"
    found = [Way(f"cake{note}", "SQM piece_of_cake.qos", plain, plain, share)]
    if line.down_bps >= ASYMMETRY * line.up_bps:
        about = "SQM piece_of_cake.qos, without needless acknowledgments on the way up"
        found.append(Way(f"cake {ACK_FILTER}{note}", about, plain, f"{plain} {ACK_FILTER}", share))
    return found


def target(rate_bps: int, rtt_us: int = INTERVAL_US) -> str:
    """CoDel's target and interval as sqm-scripts set them on slow lines: 1.5 packets, and as much more interval.

    With a longer round trip that is the interval, and a twentieth of it the target (RFC 8289, sections 4.2 and 4.3).

    >>> target(950_000), target(15_200_000)
    ('target 19452us interval 114452us', 'target 5ms interval 100ms')

    >>> target(15_200_000, 600_000)
    'target 30000us interval 600000us'

    """
    packet_us = FULL_PACKET_BYTES * 8 * 1_000_000 * 3 // 2 // rate_bps
    interval_us = max(rtt_us, INTERVAL_US)
    target_us = interval_us * TARGET_US // INTERVAL_US
    if (max(packet_us, target_us), interval_us) == (TARGET_US, INTERVAL_US):
        return "target 5ms interval 100ms"
    return f"target {max(packet_us, target_us)}us interval {interval_us + max(packet_us - target_us, 0)}us"
