"""aqmlab's disciplines in tc's notation: the same parameters on both sides."""

import math
from collections.abc import Callable, Mapping

from aqmlab.scenario.registry import Spec
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.units import Size, format_rate, parse_bytes

# A full packet on the link: 1448 payload, 52 headers, 14 of Ethernet.
FULL_BYTES = 1514
# PIE's parameters are sixteenths to tc (tc-pie(8)).
SIXTEENTHS = 16


class Params(dict[str, str]):
    """Parameters that record which of them tc was given."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.told: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.told.add(name)
        return super().__getitem__(name)


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


def threshold(params: Params) -> str:
    return "" if params["ce_threshold"] == "auto" else f" ce_threshold {params['ce_threshold']}"


def sixteenths(text: str) -> int:
    return round(float(text) * SIXTEENTHS)


def fifo(p: Params, _: int) -> str:
    return f"pfifo limit {packets(p['limit'])}"


def codel(p: Params, _: int) -> str:
    return (
        f"codel limit {packets(p['limit'])} target {p['target']} interval {p['interval']}{flag(p, 'ecn')}{threshold(p)}"
    )


def pie(p: Params, _: int) -> str:
    law = f"target {p['target']} tupdate {p['tupdate']} alpha {sixteenths(p['alpha'])} beta {sixteenths(p['beta'])}"
    return f"pie limit {packets(p['limit'])} {law}{flag(p, 'ecn')}{flag(p, 'bytemode')}"


def fq_codel(p: Params, _: int) -> str:
    queues = f"limit {packets(p['limit'])} flows {p['flows']} quantum {parse_bytes(p['quantum'])}"
    ecn = "ecn" if p["ecn"] == "on" else "noecn"
    return f"fq_codel {queues} target {p['target']} interval {p['interval']} {ecn}{threshold(p)}"


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
    curve = f"min {low} max {high} probability {p['probability']}{flag(p, 'ecn')}"
    return f"red limit {in_bytes(p['limit'])} {curve} {average}"


def choke(p: Params, rate_bps: int) -> str:
    """CHOKe counts packets in Linux; the rest is as in RED."""
    low, high = packets(p["min"]), packets(p["max"])
    weight = f"avpkt {FULL_BYTES} burst {burst(float(p['w']), low * FULL_BYTES, FULL_BYTES)}"
    law = f"min {low} max {high} {weight} bandwidth {format_rate(rate_bps)} probability {p['probability']}"
    return f"choke limit {packets(p['limit'])} {law}"


def sfb(p: Params, _: int) -> str:
    bins = f"target {p['target']} max {p['max']} increment {p['increment']} decrement {p['decrement']}"
    penalty = f"penalty_rate {p['penalty_rate']} penalty_burst {p['penalty_burst']}"
    return f"sfb limit {packets(p['limit'])} {bins} {penalty}"


def sfq(p: Params, _: int) -> str:
    queues = f"depth {p['depth']} flows {p['flows']} divisor {p['divisor']}"
    return f"sfq limit {packets(p['limit'])} {queues} quantum {parse_bytes(p['quantum'])} perturb 0"


def cake(p: Params, _: int) -> str:
    """It has its own shaper: there is no HTB above it."""
    # Linux limits CAKE's memory, which is large; packets are not counted.
    p.told.add("limit")
    if p["bandwidth"] == "auto" or p["rtt"] != "auto":
        raise InputError("cake: give a bandwidth, and path instead of rtt")
    return f"cake bandwidth {p['bandwidth']} {p['tins']} {p['isolation']} {p['path']} {p['link_layer']}"


WORDS: dict[str, Callable[[Params, int], str]] = {
    "fifo": fifo,
    "codel": codel,
    "pie": pie,
    "fq_codel": fq_codel,
    "red": red,
    "choke": choke,
    "sfb": sfb,
    "sfq": sfq,
    "cake": cake,
}
# These keep the rate themselves.
SHAPERS = ("cake",)


def qdisc(spec: Spec, rate_bps: int) -> str:
    """Return what follows ``tc qdisc add dev DEV``.

    Raises:
        InputError: if Linux has no such qdisc, or not with these parameters.

    """
    if spec.name not in WORDS:
        raise InputError(f"aqm '{spec.name}': validate/linux runs {', '.join(WORDS)}")
    params = Params(spec.params)
    words = WORDS[spec.name](params, rate_bps)
    if untold := [name for name in spec.given if name not in params.told]:
        raise InputError(f"aqm '{spec.name}': validate/linux does not pass '{untold[0]}' on to tc")
    return words
