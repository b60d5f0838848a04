"""The files of a run of the guest: packets at both taps, bytes at the receivers, the states of TCP and of the qdisc."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.vocabulary.errors import CheckError

# As `struct seen` in guest/watch.c.
WORDS = [(name, "u4") for name in ("seq", "ack", "edge")]
HALVES = [(name, "u2") for name in ("port", "id", "length", "payload")]
SEEN = np.dtype([("time", "u8"), *WORDS, *HALVES, ("ecn", "u1"), ("flags", "u1"), ("unused", "u1", 2)])
CE = 3

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Packets:
    """Every packet that arrived at the queue: when it arrived and left (0: never), and what it was."""

    arrived_ns: Array
    left_ns: Array
    port: Array
    length: Array
    marked: Array

    def of(self, chosen: Array) -> Packets:
        """Return some of them."""
        return Packets(*(getattr(self, one.name)[chosen] for one in fields(self)))


def seen(folder: Path, name: str) -> Array:
    """Read a tap."""
    found: Array = np.fromfile(folder / name, dtype=SEEN)
    return found


def packets(arrived: Array, left: Array) -> Packets:
    """Match what arrived at a queue with what left it.

    Raises:
        CheckError: if packets left that never came, or the same one came twice.

    """
    # The IP identification distinguishes a retransmission from the first transmission.
    keys = [
        tap["port"].astype("u8") << np.uint64(48) | tap["id"].astype("u8") << np.uint64(32) | tap["seq"].astype("u8")
        for tap in (arrived, left)
    ]
    order = np.argsort(keys[1], kind="stable")
    place = np.searchsorted(keys[1], keys[0], sorter=order)
    known = place < len(order)
    matches = np.zeros(len(arrived), dtype=bool)
    found = np.zeros(len(arrived), dtype=int)
    found[known] = order[place[known]]
    matches[known] = keys[1][found[known]] == keys[0][known]
    # One tap may be read for the last time some milliseconds after the other.
    strange = ~np.isin(keys[1], keys[0]) & (left["time"] <= arrived["time"].max(initial=0))
    if strange.any() or any(len(np.unique(side)) < len(side) for side in keys):
        raise CheckError("packets left the queue that never came, or came twice")
    when, ecn = np.zeros(len(arrived), dtype="u8"), np.zeros(len(arrived), dtype="u1")
    when[matches], ecn[matches] = left["time"][found[matches]], left["ecn"][found[matches]]
    marked = matches & (ecn == CE) & (arrived["ecn"] != CE)
    return Packets(arrived["time"], when, arrived["port"], arrived["length"], marked)


def rows(path: Path) -> Array:
    """Read a file of whole numbers with one line of names."""
    lines = path.read_text().splitlines()
    found = [[int(number) for number in line.split(",")] for line in lines[1:]]
    return np.array(found, dtype=np.int64).reshape(len(found), lines[0].count(",") + 1)
