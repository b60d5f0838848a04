"""Disciplines in tc's notation: the same parameters on both sides.

What a user gives and tc cannot be told is refused; what nobody gives is as the kernel has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from aqmlab.scenario.registry import Spec
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.units import Size, format_rate, parse_bytes

# A full packet on the link: 1448 payload, 52 headers, 14 of Ethernet.
FULL_BYTES = 1514
# PIE's parameters are sixteenths to tc (tc-pie(8)).
SIXTEENTHS = 16


class _Params(dict[str, str]):
    """Parameters that record which of them tc was given."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.told: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.told.add(name)
        return super().__getitem__(name)


def _packets(text: str) -> int:
    size = Size.parse(text)
    if not size.in_packets:
        raise InputError(f"'{text}': Linux counts packets here")
    return size.count


def _in_bytes(text: str) -> int:
    """Bytes of a limit; every packet that counts is a full one."""
    size = Size.parse(text)
    return size.count * (FULL_BYTES if size.in_packets else 1)


def _flag(params: _Params, name: str) -> str:
    return f" {name}" if params[name] == "on" else ""


def _threshold(params: _Params) -> str:
    return "" if params["ce_threshold"] == "auto" else f" ce_threshold {params['ce_threshold']}"


def _sixteenths(text: str) -> int:
    return round(float(text) * SIXTEENTHS)


def _fifo(p: _Params, _: int) -> str:
    size = Size.parse(p["limit"])
    return f"{'pfifo' if size.in_packets else 'bfifo'} limit {size.count}"


def _codel(p: _Params, _: int) -> str:
    return f"codel limit {_packets(p['limit'])} {_codel_law(p)}"


def _fq_codel(p: _Params, _: int) -> str:
    return f"fq_codel {_flow_queues(p)} {_codel_law(p)}"


def _pie(p: _Params, _: int) -> str:
    return f"pie limit {_packets(p['limit'])} {_pie_law(p)}"


def _fq_pie(p: _Params, _: int) -> str:
    return f"fq_pie {_flow_queues(p)} {_pie_law(p)}"


def _codel_law(p: _Params) -> str:
    ecn = "ecn" if p["ecn"] == "on" else "noecn"
    return f"target {p['target']} interval {p['interval']} {ecn}{_threshold(p)}"


def _pie_law(p: _Params) -> str:
    law = f"target {p['target']} tupdate {p['tupdate']} alpha {_sixteenths(p['alpha'])} beta {_sixteenths(p['beta'])}"
    return f"{law}{_flag(p, 'ecn')}{_flag(p, 'bytemode')}"


def _flow_queues(p: _Params) -> str:
    return f"limit {_packets(p['limit'])} flows {p['flows']} quantum {parse_bytes(p['quantum'])}"


def _burst(weight: float, smallest: int, average: int) -> int:
    """As tc finds RED's weight: the largest 2^-n with (1 - (1 - W)^burst) / W >= burst + 1 - min / avpkt."""

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


def _red(p: _Params, rate_bps: int) -> str:
    """Linux compares bytes. Its probability is not scaled by a packet's length, so aqmlab's thresholds are packets."""
    if "auto" in (p["min"], p["max"]) or not Size.parse(p["min"]).in_packets or p["gentle"] == "on":
        raise InputError("aqm 'red': for engine linux give min and max in packets, and nogentle, which Linux lacks")
    low, high = _in_bytes(p["min"]), _in_bytes(p["max"])
    average = f"avpkt {FULL_BYTES} burst {_burst(float(p['w']), low, FULL_BYTES)} bandwidth {format_rate(rate_bps)}"
    curve = f"min {low} max {high} probability {p['probability']}{_flag(p, 'ecn')}"
    return f"red limit {_in_bytes(p['limit'])} {curve} {average}"


def _choke(p: _Params, rate_bps: int) -> str:
    """CHOKe counts packets in Linux; the rest is as in RED."""
    low, high = _packets(p["min"]), _packets(p["max"])
    weight = f"avpkt {FULL_BYTES} burst {_burst(float(p['w']), low * FULL_BYTES, FULL_BYTES)}"
    law = f"min {low} max {high} {weight} bandwidth {format_rate(rate_bps)} probability {p['probability']}"
    return f"choke limit {_packets(p['limit'])} {law}"


def _sfb(p: _Params, _: int) -> str:
    bins = f"target {p['target']} max {p['max']} increment {p['increment']} decrement {p['decrement']}"
    penalty = f"penalty_rate {p['penalty_rate']} penalty_burst {p['penalty_burst']}"
    return f"sfb limit {_packets(p['limit'])} {bins} {penalty}"


def _sfq(p: _Params, _: int) -> str:
    queues = f"depth {p['depth']} flows {p['flows']} divisor {p['divisor']}"
    return f"sfq limit {_packets(p['limit'])} {queues} quantum {parse_bytes(p['quantum'])} perturb 0"


def _dualpi2(p: _Params, _: int) -> str:
    return f"dualpi2 limit {_packets(p['limit'])} target {p['target']} tupdate {p['tupdate']}{_flag(p, 'any_ect')}"


def _cake(p: _Params, _: int) -> str:
    """With a bandwidth it has its own shaper, and there is no HTB above it."""
    # Linux limits CAKE's memory, which is large; packets are not counted.
    p.told.add("limit")
    if p["rtt"] != "auto" or p["link_layer"] != "raw":
        raise InputError("aqm 'cake': engine linux takes path instead of rtt, and link_layer raw")
    rate = "unlimited" if p["bandwidth"] == "auto" else f"bandwidth {p['bandwidth']}"
    return f"cake {rate} {p['tins']} {p['isolation']} {p['path']} raw"


WORDS: dict[str, Callable[[_Params, int], str]] = {
    "fifo": _fifo,
    "codel": _codel,
    "pie": _pie,
    "fq_codel": _fq_codel,
    "red": _red,
    "choke": _choke,
    "sfb": _sfb,
    "sfq": _sfq,
    "fq_pie": _fq_pie,
    "dualpi2": _dualpi2,
    "cake": _cake,
}


def qdisc(spec: Spec, rate_bps: int) -> str:
    """Return what follows ``tc qdisc add dev DEV``.

    Raises:
        InputError: if Linux has no such qdisc, or not with these parameters.

    >>> qdisc(Spec.parse("codel target 5ms limit 100p"), 10_000_000)
    'codel limit 100 target 5ms interval 100ms noecn'

    """
    if spec.name not in WORDS:
        raise InputError(f"aqm '{spec.name}': engine linux runs {', '.join(sorted(WORDS))}")
    params = _Params(spec.params)
    words = WORDS[spec.name](params, rate_bps)
    if untold := [name for name in spec.given if name not in params.told]:
        raise InputError(f"aqm '{spec.name}': engine linux cannot tell tc '{sorted(untold)[0]}'")
    return words


def shapes(words: str) -> bool:
    """Whether a qdisc keeps the rate itself.

    >>> shapes("cake bandwidth 19mbit besteffort"), shapes("cake unlimited"), shapes("pie limit 100")
    (True, False, False)

    """
    return words.startswith("cake bandwidth")
