"""What a capture shows of each direction of a line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from aqmlab.diagnosis import backlog as backlogs
from aqmlab.diagnosis import delay as delays
from aqmlab.diagnosis import load as loads
from aqmlab.diagnosis import losses, marks, who_drops
from aqmlab.diagnosis.backlog import Backlog
from aqmlab.diagnosis.clocks import Clocks
from aqmlab.diagnosis.delay import Delay
from aqmlab.diagnosis.finding import Confidence, Finding, unknown
from aqmlab.diagnosis.load import Load
from aqmlab.diagnosis.losses import Losses, Pattern
from aqmlab.diagnosis.marks import Marks
from aqmlab.diagnosis.recording import TCP, Recording, Whole
from aqmlab.diagnosis.who_drops import MANY_SMALL, Verdict

Name: TypeAlias = Literal["down", "up"]
# Payload from which on a connection is worth following.
LEAST_PAYLOAD = 20_000
SURE_SAMPLES = 100
# Bytes that wait, and those that pass while a packet waits, are the same but for this factor.
NEARLY = 1.5
# So many round trips about as short as the shortest show that it is no chance.
SUPPORTS = 10
# A base of which a packet takes a larger share on the bottleneck is not known well.
LARGE_PACKET = 0.1
MIXED = "round trips hold the queues of both directions, and no timestamps (RFC 7323) separate them"


@dataclass(frozen=True)
class Direction:
    """One direction of the line.

    Attributes:
        name: ``down`` is towards the home.
        payload_bytes: payload of TCP that it carried.
        connections: how many carried enough of it.
        base_rtt_ms: round trip without a queue.
        rate_bps: rate of the bottleneck, in IP packets.
        bloat_ms: how much longer the round trip is at the median while the bottleneck is full.
        bloat_p95_ms: the same, exceeded by one in twenty.
        buffer_ms: time for which the longest queue waits.
        buffer_packets: packets of it.
        buffer_bytes: bytes of it.
        pattern: who seems to drop or mark.
        pattern_why: what that rests on.
        pattern_confidence: how sure it is.
        losses: what was lost.
        marks: the use of ECN.
        delay: the delays behind it.
        load: what was carried.

    """

    name: Name
    payload_bytes: int
    connections: int
    base_rtt_ms: Finding
    rate_bps: Finding
    bloat_ms: Finding
    bloat_p95_ms: Finding
    buffer_ms: Finding
    buffer_packets: Finding
    buffer_bytes: Finding
    pattern: Pattern
    pattern_why: str
    pattern_confidence: Confidence
    losses: Losses
    marks: Marks
    delay: Delay | None
    load: Load


def measure(recording: Recording, name: Name, clocks: Clocks) -> Direction:
    """Return what a capture shows of one direction."""
    going, coming = recording.going(down=name == "down"), recording.going(down=name != "down")
    carriers, payload_bytes, connections = _carriers(recording, going, coming)
    others = _carriers(recording, coming, going)[0]
    delay = delays.measure(recording, carriers, clocks, others)
    load = loads.measure(recording, carriers, going, coming, delay, clocks)
    backlog = backlogs.measure(recording, going, delay) if delay is not None else None
    lost = losses.measure(recording, carriers, delay, backlog)
    used = marks.measure(recording, carriers, going)
    is_mixed = delay is not None and not delay.is_one_way and len(others) > 0
    verdict = who_drops.who_drops(lost, delay, load, backlog, used.seen, is_mixed=is_mixed)
    rate = load.rate
    if verdict.pattern == "policer":
        why = f"{load.seconds.why} while packets are dropped though nothing waits; a policer's bucket lets more pass"
        rate = replace(load.seconds, why=why)
    elif is_mixed:
        rate = unknown(MIXED, at_least=load.peak_bps)
    elif rate.confidence == "high" and delay is not None and delay.is_beyond and backlog and backlog.small > MANY_SMALL:
        rate = replace(rate, confidence="medium", why=f"{rate.why}; many acknowledgments, of which some may be lost")
    bloat, bloat_p95 = (unknown(MIXED), unknown(MIXED)) if is_mixed else _bloat(delay, load)
    full = _buffer(delay, load, backlog, lost, verdict)
    return Direction(
        name=name,
        payload_bytes=payload_bytes,
        connections=connections,
        base_rtt_ms=_base(delay, load, is_mixed=is_mixed or _opens_late(recording, carriers, others)),
        rate_bps=rate,
        bloat_ms=bloat,
        bloat_p95_ms=bloat_p95,
        buffer_ms=full["ms"],
        buffer_packets=full["packets"],
        buffer_bytes=full["bytes"],
        pattern=verdict.pattern,
        pattern_why=verdict.why,
        pattern_confidence=verdict.confidence,
        losses=lost,
        marks=used,
        delay=delay,
        load=load,
    )


def _carriers(recording: Recording, going: Whole, coming: Whole) -> tuple[Whole, int, int]:
    """Return the flows of TCP that carry much, the payload of all, and how many connections carry much.

    Where the capture lacks the data, connections are known by their acknowledgments.
    """
    packets, count = recording.packets, len(recording.peers)
    sent = np.bincount(packets["flow"], weights=np.maximum(packets["payload"], 0), minlength=count)
    reported = np.bincount(recording.deliveries["flow"], weights=recording.deliveries["bytes"], minlength=count)
    of_tcp = np.array(recording.flows["protocol"]) == TCP
    own = np.zeros(count, bool)
    own[going] = True
    own &= of_tcp
    unseen = coming[(recording.peers[coming] < 0) & of_tcp[coming]]
    total = sent[own].sum() + reported[unseen].sum()
    largest = max(sent[own].max(initial=0.0), reported[unseen].max(initial=0.0))
    least = max(delays.LEAST_SHARE * largest, LEAST_PAYLOAD)
    carriers = np.flatnonzero(own & (sent >= least))
    return carriers, int(total), len(carriers) + int((reported[unseen] >= least).sum())


def _opens_late(recording: Recording, carriers: Whole, others: Whole) -> bool:
    """Whether the other direction carried much before the first of these connections began."""
    packets = recording.packets
    own = np.isin(packets["flow"], carriers)
    # Where both directions lead to the same host, the first connection of either counts.
    if not own.any() or len(delays.same_hosts(recording, carriers, others)):
        return False
    before = np.isin(packets["flow"], others) & (packets["payload"] > 0)
    before &= packets["time"] < packets["time"][np.argmax(own)]
    return bool(packets["payload"][before].sum() >= LEAST_PAYLOAD)


def _base(delay: Delay | None, load: Load, *, is_mixed: bool) -> Finding:
    if delay is None:
        return unknown("no packet of data has an answer in the capture")
    if delay.base_ms is None:
        if delay.is_beyond:
            why = "the part from the capture to the receiver alone: nothing answers acknowledgments"
            return Finding("low", why, delay.far_ms)
        return unknown("only one part of the round trip is seen", at_least=delay.far_ms)
    if (load.rate.is_known or load.busy_s > 0) and load.packet_ms > delay.base_ms * LARGE_PACKET:
        why = "the shortest round trip, of which a packet's own transmission is a large part"
        return Finding("low", why, delay.base_ms)
    if delay.is_held:
        why = "each direction at its shortest, by timestamps: every round trip held a queue"
        return Finding("medium" if len(delay.at) >= SURE_SAMPLES else "low", why, delay.base_ms)
    if is_mixed:
        why = "the shortest round trip; the queue of the other direction may be in it"
        return Finding("low", why, delay.base_ms)
    if delay.openings and delay.supports < SUPPORTS:
        why = f"the shortest round trip, but only {delay.supports} were about as short: their times vary"
        return Finding("low", why, delay.base_ms)
    if delay.openings:
        return Finding("high", "the shortest round trip, with connections that open", delay.base_ms)
    # The shortest is that of a whole packet, which takes its time on the bottleneck.
    packet_ms = load.packet_ms if load.rate.is_known else 0.0
    why = "the shortest round trip; the capture begins while the connections run, so that it may hold a queue"
    return Finding("medium" if len(delay.at) >= SURE_SAMPLES else "low", why, delay.base_ms - packet_ms)


def _bloat(delay: Delay | None, load: Load) -> tuple[Finding, Finding]:
    if delay is None:
        none = unknown("no packet of data has an answer in the capture")
        return none, none
    place = np.clip(delay.answered // load.window_ns, 0, len(load.is_busy) - 1)
    under_load = delay.queue_ms[load.is_busy[place]]
    if not load.rate.is_known or not len(under_load):
        none = unknown("the line was hardly ever full", at_least=float(np.quantile(delay.queue_ms, 0.95)))
        return none, none
    low, middle, p95, high = (float(value) for value in np.quantile(under_load, [0.1, 0.5, 0.95, 0.9]))
    side = "beyond" if delay.is_beyond else "in front of"
    why = f"{len(under_load)} round trips while the line was full; the queue is {side} the capture"
    sure: Confidence = "high" if len(under_load) >= SURE_SAMPLES else "medium"
    return Finding(sure, why, middle, (low, high)), Finding(sure, why, p95)


def _buffer(
    delay: Delay | None, load: Load, backlog: Backlog | None, lost: Losses, verdict: Verdict
) -> dict[str, Finding]:
    """Return what the buffer holds, in each unit: exact in the one in which it is always full."""
    units = ("ms", "packets", "bytes")
    if delay is None or backlog is None or not len(delay.queue_ms):
        return dict.fromkeys(units, unknown("nothing tells how long packets waited"))
    if verdict.pattern != "tail drop":
        reasons = {
            "AQM": "an AQM keeps the queue short, so that the buffer behind it never fills",
            "none": "the queue was never full: nothing was dropped",
            "policer": "nothing waits: a policer has no buffer",
        }
        why = reasons.get(verdict.pattern, "no losses tell when it was full")
        top = who_drops.longest_ms(delay)
        least = top * load.rate.value / 8e3 if load.rate.value is not None else None
        return {"ms": unknown(why, top), "packets": unknown(why), "bytes": unknown(why, least)}
    found = {unit: _full(delay, load, backlog, lost, verdict, unit) for unit in units}
    waiting, size = found["ms"].value, found["bytes"].value
    passes = waiting * load.rate.value / 8e3 if waiting and load.rate.value else size
    if size and passes and not 1 / NEARLY <= passes / size <= NEARLY:
        why = "the queue is not what passes in the time that packets wait: flows have queues of their own"
        return dict.fromkeys(units, unknown(why))
    # Where the queue is full at one time, packets were alike, and what it holds is what passes in that time.
    return {**found, "bytes": _in_bytes(found["ms"], load.rate)} if "ms" in verdict.full else found


def _in_bytes(buffer_ms: Finding, rate: Finding) -> Finding:
    if rate.value is None or buffer_ms.value is None:
        return unknown("the rate is not known")
    scale = rate.value / 8e3
    sure: Confidence = "high" if buffer_ms.confidence == rate.confidence == "high" else "medium"
    low, high = buffer_ms.spread or (buffer_ms.value, buffer_ms.value)
    return Finding(sure, "time times rate", buffer_ms.value * scale, (low * scale, high * scale))


def _full(delay: Delay, load: Load, backlog: Backlog, lost: Losses, verdict: Verdict, unit: str) -> Finding:
    # What a queue holds that is full at one number of packets is not one number of milliseconds.
    is_exact = unit in verdict.full
    known = unit if is_exact else verdict.full[0]
    full = getattr(lost, f"queue_{unit}")[who_drops.at_the_top(lost, delay, load, backlog, known)]
    value = float(np.median(full))
    if unit == "ms" and delay.openings and not delay.is_one_way:
        # A packet takes its own transmission too, which small packets that open a connection do not have.
        value = max(value - load.packet_ms, 0.0)
    low, high = (float(one) for one in np.quantile(full, [0.1, 0.9]))
    why = f"the queue at {len(full)} episodes of loss, which come when it is full"
    # Without an opening, the shortest that is known may hold a queue, which is then missing.
    is_sure = (
        is_exact and delay.openings and verdict.confidence == "high" and lost.episodes >= 2 * who_drops.FEW_EPISODES
    )
    if not is_exact:
        why = f"{why}: full in {verdict.full[0]}, not in {unit}"
    return Finding("high" if is_sure else "medium", why, value, (low, high))


__all__ = ["Direction", "Name", "measure"]
