"""aqmlab's disciplines in tc's words: the same parameters on both sides."""

import math
from collections.abc import Callable

from aqmlab.errors import InputError
from aqmlab.registry import Spec
from aqmlab.units import Size, format_rate, parse_bytes

# A full packet on the link: 1448 payload, 52 headers, 14 of Ethernet.
FULL_BYTES = 1514
# PIE's parameters are sixteenths to tc (tc-pie(8)).
SIXTEENTHS = 16

Params = dict[str, str]


def packets(text: str) -> int:
    size = Size.parse(text)
    if not size.in_packets:
        raise InputError(f"'{text}': Linux counts packets here")
    return size.count


def in_bytes(text: str) -> int:
    """Bytes of a limit; every packet that counts is a full one."""
    size = Size.parse(text)
    return size.count * (FULL_BYTES if size.in_packets else 1)


def flag(params: Params, name: str) -> str:
    return f" {name}" if params[name] == "on" else ""


def sixteenths(text: str) -> int:
    return round(float(text) * SIXTEENTHS)


def fifo(p: Params, _: int) -> str:
    return f"pfifo limit {packets(p['limit'])}"


def codel(p: Params, _: int) -> str:
    return f"codel limit {packets(p['limit'])} target {p['target']} interval {p['interval']}{flag(p, 'ecn')}"


def pie(p: Params, _: int) -> str:
    law = f"target {p['target']} tupdate {p['tupdate']} alpha {sixteenths(p['alpha'])} beta {sixteenths(p['beta'])}"
    return f"pie limit {packets(p['limit'])} {law}{flag(p, 'ecn')}{flag(p, 'bytemode')}"


def fq_codel(p: Params, _: int) -> str:
    queues = f"limit {packets(p['limit'])} flows {p['flows']} quantum {parse_bytes(p['quantum'])}"
    ecn = "ecn" if p["ecn"] == "on" else "noecn"
    return f"fq_codel {queues} target {p['target']} interval {p['interval']} {ecn}"


def burst(weight: float, smallest: int, average: int) -> int:
    """tc finds RED's weight from `burst`: the largest 2^-n with (1 - (1 - W)^burst) / W >= burst + 1 - min / avpkt."""

    def found(packets: int) -> float:
        wanted = packets + 1 - smallest / average
        for power in range(1, 32):
            if wanted <= (1 - (1 - 0.5**power) ** packets) * 2**power:
                return 0.5**power
        return 0.0

    if not math.log2(weight).is_integer():
        raise InputError(f"w {weight} is not a power of 2, as Linux needs it; 0.03125 is 2^-5")
    for packets in range(1, 100_000):
        if found(packets) == weight:
            return packets
    raise InputError(f"no burst gives tc the weight {weight}")


def red(p: Params, rate_bps: int) -> str:
    """Linux compares bytes. Its probability is not scaled by a packet's length, so aqmlab's thresholds are packets."""
    if not Size.parse(p["min"]).in_packets or p["gentle"] == "on":
        raise InputError("red: Linux has no gentle mode, and its probability does not depend on a packet's length")
    low, high = in_bytes(p["min"]), in_bytes(p["max"])
    average = f"avpkt {FULL_BYTES} burst {burst(float(p['w']), low, FULL_BYTES)} bandwidth {format_rate(rate_bps)}"
    return f"red limit {in_bytes(p['limit'])} min {low} max {high} {average} probability {p['probability']}"


WORDS: dict[str, Callable[[Params, int], str]] = {
    "fifo": fifo,
    "codel": codel,
    "pie": pie,
    "fq_codel": fq_codel,
    "red": red,
}


def qdisc(spec: Spec, rate_bps: int) -> str:
    """Return what follows ``tc qdisc add dev DEV``.

    Raises:
        InputError: if Linux has no such qdisc, or not with these parameters.

    """
    if spec.name not in WORDS:
        raise InputError(f"aqm '{spec.name}': validate/linux runs {', '.join(WORDS)}")
    return WORDS[spec.name](spec.params, rate_bps)
