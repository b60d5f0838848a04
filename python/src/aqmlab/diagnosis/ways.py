"""What a capture tells of each way of a line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from aqmlab.diagnosis import delay as delays
from aqmlab.diagnosis import load as loads
from aqmlab.diagnosis import losses, marks
from aqmlab.diagnosis.delay import Delay
from aqmlab.diagnosis.finding import Confidence, Finding, unknown
from aqmlab.diagnosis.load import Load
from aqmlab.diagnosis.losses import Losses, Pattern
from aqmlab.diagnosis.marks import Marks
from aqmlab.diagnosis.recording import TCP, Recording, Whole

Name: TypeAlias = Literal["down", "up"]
# Payload from which on a connection is worth following.
LEAST_PAYLOAD = 20_000
SURE_SAMPLES = 100
# A base of which a packet takes a larger share on the bottleneck is not known well.
LARGE_PACKET = 0.1


@dataclass(frozen=True)
class Way:
    """One way of the line.

    Attributes:
        name: ``down`` is towards the home.
        payload_bytes: payload of TCP that it carried.
        connections: how many carried enough of it.
        base_rtt_ms: round trip without a queue.
        rate_bps: rate of the bottleneck, in IP packets.
        bloat_ms: how much longer the round trip is at the median while the bottleneck is full.
        bloat_p95_ms: the same, exceeded by one in twenty.
        buffer_ms: time for which the longest queue waits.
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
    buffer_bytes: Finding
    pattern: Pattern
    pattern_why: str
    pattern_confidence: Confidence
    losses: Losses
    marks: Marks
    delay: Delay | None
    load: Load


def measure(recording: Recording, name: Name) -> Way:
    """Return what a capture tells of one way."""
    going, coming = recording.going(down=name == "down"), recording.going(down=name != "down")
    carriers, payload_bytes, connections = _carriers(recording, going, coming)
    delay = delays.measure(recording, carriers)
    load = loads.measure(recording, carriers, going, coming, delay)
    lost = losses.measure(recording, carriers, delay)
    used = marks.measure(recording, carriers, going)
    kind, why = losses.pattern(lost, delay, load, used.seen)
    rate = load.rate
    if kind == "policer":
        why = f"{load.seconds.why} while packets are dropped though nothing waits; a policer's bucket lets more pass"
        rate = replace(load.seconds, why=why)
    bloat, bloat_p95 = _bloat(delay, load)
    buffer_ms = _buffer(delay, load, kind, lost)
    return Way(
        name=name,
        payload_bytes=payload_bytes,
        connections=connections,
        base_rtt_ms=_base(delay, load),
        rate_bps=rate,
        bloat_ms=bloat,
        bloat_p95_ms=bloat_p95,
        buffer_ms=buffer_ms,
        buffer_bytes=_in_bytes(buffer_ms, rate),
        pattern=kind,
        pattern_why=why,
        pattern_confidence=_sureness(kind, lost, used),
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


def _base(delay: Delay | None, load: Load) -> Finding:
    if delay is None:
        return unknown("no packet of data has an answer in the capture")
    if delay.base_ms is None:
        if delay.is_beyond:
            why = "the part from the capture to the receiver alone: nothing answers acknowledgments"
            return Finding("low", why, delay.far_ms)
        return unknown("only one part of the round trip is seen", at_least=delay.far_ms)
    if load.rate.is_told and load.packet_ms > delay.base_ms * LARGE_PACKET:
        why = "the shortest round trip, of which a packet's own transmission is a large part"
        return Finding("low", why, delay.base_ms)
    if delay.openings:
        return Finding("high", "the shortest round trip, with connections that open", delay.base_ms)
    # The shortest is that of a whole packet, which takes its time on the bottleneck.
    packet_ms = load.packet_ms if load.rate.is_told else 0.0
    why = "the shortest round trip; the capture begins while the connections run, so that it may hold a queue"
    return Finding("medium" if len(delay.at) >= SURE_SAMPLES else "low", why, delay.base_ms - packet_ms)


def _bloat(delay: Delay | None, load: Load) -> tuple[Finding, Finding]:
    if delay is None:
        none = unknown("no packet of data has an answer in the capture")
        return none, none
    place = np.clip(delay.answered // load.window_ns, 0, len(load.is_busy) - 1)
    under_load = delay.queue_ms[load.is_busy[place]]
    if not load.rate.is_told or not len(under_load):
        none = unknown("the line was hardly ever full", at_least=float(np.quantile(delay.queue_ms, 0.95)))
        return none, none
    low, middle, p95, high = (float(value) for value in np.quantile(under_load, [0.1, 0.5, 0.95, 0.9]))
    side = "beyond" if delay.is_beyond else "in front of"
    why = f"{len(under_load)} round trips while the line was full; the queue is {side} the capture"
    sure: Confidence = "high" if len(under_load) >= SURE_SAMPLES else "medium"
    return Finding(sure, why, middle, (low, high)), Finding(sure, why, p95)


def _buffer(delay: Delay | None, load: Load, kind: Pattern, lost: Losses) -> Finding:
    if delay is None or not len(delay.queue_ms):
        return unknown("nothing tells how long packets waited")
    top = losses.longest_ms(delay)
    if kind == "tail drop":
        full = losses.at_the_top(lost, load)
        # A packet takes its own transmission too, which small packets that open a connection do not have.
        value = max(float(np.median(full)) - (load.packet_ms if delay.openings else 0.0), 0.0)
        why = f"the queue at {len(full)} episodes of loss, which come when it is full"
        spread = tuple(float(one) for one in np.quantile(full, [0.1, 0.9]))
        return Finding(
            "high" if lost.episodes >= 2 * losses.FEW_EPISODES else "medium", why, value, (spread[0], spread[1])
        )
    reasons = {
        "AQM": "an AQM keeps the queue short, so that the buffer behind it never fills",
        "none": "the queue was never full: nothing was dropped",
        "policer": "nothing waits: a policer has no buffer",
    }
    return unknown(reasons.get(kind, "no losses tell when it was full"), at_least=top)


def _in_bytes(buffer_ms: Finding, rate: Finding) -> Finding:
    if rate.value is None:
        return unknown("the rate is not known")
    scale = rate.value / 8e3
    if buffer_ms.value is None:
        least = buffer_ms.at_least
        return unknown(buffer_ms.why, at_least=None if least is None else least * scale)
    sure: Confidence = "high" if buffer_ms.confidence == rate.confidence == "high" else "medium"
    low, high = buffer_ms.spread or (buffer_ms.value, buffer_ms.value)
    return Finding(sure, "time times rate", buffer_ms.value * scale, (low * scale, high * scale))


def _sureness(kind: Pattern, lost: Losses, used: Marks) -> Confidence:
    if kind == "cannot tell":
        return "cannot tell"
    if kind == "none":
        return "medium"
    many = used.ce >= 2 * losses.FEW or lost.episodes >= 3 * losses.FEW_EPISODES
    return "high" if many else "medium"


__all__ = ["Name", "Way", "measure"]
