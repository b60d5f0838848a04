"""Topologies by name, as the resolver in Rust declares and reads them (`aqm_scenario::topology`)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from aqmlab import _native
from aqmlab.scenario.cost import SKIP
from aqmlab.scenario.flows import Files


@dataclass(frozen=True)
class Key:
    """A key of a topology: its default (empty for none), what it takes in words, and what it is."""

    name: str
    default: str
    takes: str
    help: str


@dataclass(frozen=True)
class TopologyKind:
    """A topology by name: what it is, its own keys, and whether it takes those of switches."""

    name: str
    help: str
    keys: tuple[Key, ...]
    has_switches: bool


KINDS: tuple[TopologyKind, ...] = tuple(
    TopologyKind(**{**one, "keys": tuple(Key(**key) for key in one["keys"])})
    for one in json.loads(_native.topologies())
)


def texts(text: str, files: Files, *, any_size: bool = False) -> list[str]:
    """Return the texts of a topology's file that have ``$names``; none for a name.

    Raises:
        InputError: if the file cannot be read.

    """
    return _native.topology_texts(text, files, None if any_size else SKIP)
