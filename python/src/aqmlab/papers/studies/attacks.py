"""How classifiers of heavy flows fare when senders know them: streams of packets, without queue and link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from aqmlab import _native
from aqmlab.papers.studies.study import Row, Study
from aqmlab.results import Result
from aqmlab.vocabulary.errors import unknown

Flows: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
Marks: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

PACKETS = 90_000
OTHERS = 100
# Lists of 50 flows beside each other, then what the paper gives LRU, and M-LRU with room for 60 reported flows.
CLASSIFIERS = ("m_lru", "m_lru:consistent", "m_lru sampling single", "l_lru cache 50", "lru cache 50", "lru cache 500")
_FIRST = 10**6


def _among_others(ids: Callable[[int], Flows]) -> Callable[[np.random.Generator], tuple[Flows, Marks]]:
    """Return a stream in which every third packet, at random, is the attacker's; ``ids`` are those of its packets."""

    def stream(random: np.random.Generator) -> tuple[Flows, Marks]:
        is_attacker = random.random(PACKETS) < 1 / 3
        flows = random.integers(0, OTHERS, PACKETS, dtype=np.uint64)
        flows[is_attacker] = ids(int(is_attacker.sum()))
        return flows, is_attacker

    return stream


def _bursts(random: np.random.Generator) -> tuple[Flows, Marks]:
    """Return a stream of an attacker that sends 100 packets and waits for 200 of others, until it is pushed out."""
    is_attacker = np.arange(PACKETS) % 300 < 100
    flows = random.integers(0, OTHERS, PACKETS, dtype=np.uint64)
    flows[is_attacker] = _FIRST
    return flows, is_attacker


def _hidden(random: np.random.Generator) -> tuple[Flows, Marks]:
    """Return a stream in which the attacker's flow has a tenth of the packets, and half are flows of one packet."""
    kind = random.random(PACKETS)
    flows = random.integers(0, OTHERS, PACKETS, dtype=np.uint64)
    mice = (kind >= 0.1) & (kind < 0.6)
    flows[mice] = _FIRST + 1 + np.arange(int(mice.sum()), dtype=np.uint64)
    flows[kind < 0.1] = _FIRST
    return flows, kind < 0.1


def _in_turn(ports: int) -> Callable[[int], Flows]:
    return lambda count: _FIRST + np.arange(count, dtype=np.uint64) % np.uint64(ports)


ATTACKS: dict[str, Callable[[np.random.Generator], tuple[Flows, Marks]]] = {
    "steady": _among_others(_in_turn(1)),
    "on/off": _bursts,
    "behind one-packet flows": _hidden,
    "another address each": _among_others(_in_turn(PACKETS)),
    "split over 20 ports": _among_others(_in_turn(20)),
    "split over 200 ports": _among_others(_in_turn(200)),
    "same id as a victim": _among_others(lambda count: np.zeros(count, dtype=np.uint64)),
}
SIDES = ("attacker", "others")


def measure(of: str, at: Sequence[str]) -> list[Row]:
    """Return the share of the attacker's packets, or of all others', that each classifier reports.

    Raises:
        InputError: if there is no such side or attack.

    """
    if of not in SIDES:
        raise unknown("side of an attack", of, SIDES)
    rows = []
    for place, attack in enumerate(at):
        if attack not in ATTACKS:
            raise unknown("attack", attack, ATTACKS)
        flows, is_attacker = ATTACKS[attack](np.random.default_rng(7))
        hashes = (flows * np.uint64(0x9E3779B97F4A7C15)).astype("<u8").tobytes()
        for classifier in CLASSIFIERS:
            reported = np.frombuffer(_native.classify(classifier, hashes, 1)[0], np.uint8)
            value = float(reported[is_attacker if of == "attacker" else ~is_attacker].mean())
            rows.append((classifier, float(place), attack, value, value, value))
    return sorted(rows, key=lambda row: CLASSIFIERS.index(row[0]))


def _rows(result: Result | None, aqms: Sequence[str], labels: Sequence[str], of: str, at: Sequence[str]) -> list[Row]:
    del result, aqms, labels
    return measure(of, at)


STUDY = Study("attacks", "", _rows, lambda _: list(CLASSIFIERS))
