"""Topologies as data: generators by name, as in ``parking_lot:hops=3``, and files with a list of links."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from aqmlab.scenario import switches
from aqmlab.scenario.topologies import files
from aqmlab.scenario.topologies.generators import KINDS, TopologyKind
from aqmlab.scenario.topologies.layout import MOST_LINKS, Layout
from aqmlab.vocabulary.errors import InputError, unknown

__all__ = ["KINDS", "MOST_LINKS", "Layout", "TopologyKind", "read", "texts"]


def read(
    text: str,
    rate_bps: int,
    rtt_ns: int,
    folder: str | os.PathLike[str] = ".",
    fill: Callable[[str], str] = str,
    most_links: int | None = MOST_LINKS,
) -> Layout:
    """Read a topology: ``NAME[:key=value]...`` or the name of a TOML file.

    Args:
        text: the user's topology.
        rate_bps: the rate of the links under test.
        rtt_ns: the base round-trip time of the longest path.
        folder: where relative files are looked for.
        fill: replaces the ``$names`` in the texts of a file.
        most_links: more are refused before they take memory; ``None`` for any number.

    Raises:
        InputError: naming key, value, what is allowed and the nearest name.

    >>> read("parking_lot:hops=2", 10_000_000, 40_000_000).choose("r*")
    ['r0', 'r1', 'r2']

    """
    if text.endswith(".toml"):
        return files.read(Path(folder) / text, fill, most_links)
    name, *pairs = (part.strip() for part in text.split(":"))
    known = {kind.name: kind for kind in KINDS}
    name = name.lower().replace("-", "_")
    if name not in known:
        raise InputError(f"{unknown('topology', name, ['dumbbell', *known])}, or a file that ends in .toml")
    kind = known[name]
    keys = {key.name: key for key in kind.keys}
    values = {key.name: key.default for key in kind.keys}
    switch: dict[str, str] = {}
    known_keys = [*keys, *(switches.KEYS if kind.has_switches else ())]
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or key not in known_keys:
            raise InputError(unknown("key", key, known_keys) if known_keys else f"{name} takes no keys")
        (values if key in keys else switch)[key] = value
    layout = Layout(most_links=most_links)
    kind.build(layout, rate_bps, rtt_ns, {name: keys[name].read(value) for name, value in values.items()})
    layout.equip(switches.options(switch))
    return layout


def texts(text: str, folder: str | os.PathLike[str] = ".") -> list[str]:
    """Return the texts of a topology's file, which may hold ``$names``; none for a generator.

    Raises:
        InputError: if the file cannot be read.

    """
    return files.texts(Path(folder) / text) if text.endswith(".toml") else []
