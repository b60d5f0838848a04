"""Topologies from TOML files: a list of links."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aqmlab._native import is_tc, translate_tc
from aqmlab.files import toml
from aqmlab.scenario import switches
from aqmlab.scenario.model import PLAIN, UNDER_TEST, Discipline, Queue
from aqmlab.scenario.options import BY_NAME, WIRE
from aqmlab.scenario.topologies.layout import MOST_LINKS, MOST_SEARCHED, Layout, too_many
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.units import format_rate, parse_rate, parse_span

# What a [[link]] may say. Loss is that of both directions.
LINK_KEYS = (
    "from",
    "to",
    "rate",
    "delay",
    "queue",
    "back",
    "both",
    "medium",
    "kind",
    "name",
    *WIRE,
)
# What a link's kind says, and how.
OF_KIND = {"access": 'kind = "backoff"', "until_arrival": 'kind = "turns until arrival"'}

# The key that every link has.
_FROM = re.compile(r"""\bfrom["']?[ \t]*=""")


def read(path: Path, fill: Callable[[str], str], most_links: int | None) -> Layout:
    """Read a topology from a file; ``fill`` replaces the ``$names`` in its texts, and more links are refused.

    Raises:
        InputError: naming file, link, key, value, what is allowed and the nearest name.

    """
    place = f"{path}: "
    table = _filled(toml.read(path, lambda text: _check_links(path, text, most_links)), fill)
    _known(place, table, ("link", "measured", "sources", "sinks", "switch"))
    sources, sinks = _names(place, table, "sources"), _names(place, table, "sinks")
    layout = Layout(sources=sources, sinks=sinks, most_links=most_links)
    entries = table.get("link")
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{place}has no [[link]]")
    for number, entry in enumerate(entries):
        _add(layout, entry, f"{place}link {number}: ")
    measured = table.get("measured", "")
    names = [f"{link.source}->{link.target}" for link in layout.links]
    tested = [name for name, link in zip(names, layout.links, strict=True) if link.queue == UNDER_TEST]
    if measured and measured not in tested:
        raise InputError(f"{place}measured: {unknown('link under test', str(measured), tested)}")
    if not tested:
        raise InputError(f'{place}no link has queue = "test"')
    for key, ends in (("sources", layout.sources), ("sinks", layout.sinks)):
        _there(f"{place}{key}: ", ends, layout)
    layout.measured = names.index(measured or tested[0])
    _equip(layout, table.get("switch", {}), f"{place}switch: ")
    return layout


def texts(path: Path) -> list[str]:
    """Return all texts of a file.

    Raises:
        InputError: if it cannot be read or is not TOML.

    """
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    def check(text: str) -> None:
        if "$" in text:
            _check_links(path, text, MOST_LINKS)
            return
        raise _Nameless

    with suppress(_Nameless):
        _filled(toml.read(path, check), keep)
    return found


class _Nameless(Exception):  # noqa: N818 (no error)
    """A file has no ``$names``, and need not be parsed for them."""


def _check_links(path: Path, text: str, most: int | None) -> None:
    """Refuse a file with too many links before it is parsed, which takes ten times as long as to count them."""
    if most is not None and sum(1 for _ in itertools.islice(_FROM.finditer(text), most + 1)) > most:
        raise InputError(f"{path}: {too_many(most)}")


def _filled(value: Any, fill: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(entry, fill) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, fill) for entry in value]
    return fill(value) if isinstance(value, str) else value


def _equip(layout: Layout, table: Any, place: str) -> None:
    """Apply the ``[switch]`` entries of a file."""
    if not isinstance(table, dict):
        raise InputError(f"{place}is not a table")
    nodes = "|".join(_names(place, table, "nodes"))
    values = {key: value for key, value in table.items() if key != "nodes"}
    try:
        layout.equip(switches.options(switches.from_table(values)), nodes)
    except ValueError as error:
        raise InputError(f"{place}{error}") from None


def _add(layout: Layout, entry: Any, place: str) -> None:
    if not isinstance(entry, dict):
        raise InputError(f"{place}is not a table")
    for key in OF_KIND:
        if key in entry:
            raise InputError(f"{place}{key}: is said by the link's kind, as {OF_KIND[key]}")
    _known(place, entry, LINK_KEYS)
    for key in ("from", "to", "delay"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise InputError(f"{place}{key} is missing")
    if not isinstance(entry.get("both", True), bool):
        raise InputError(f"{place}both: '{entry['both']}' is neither true nor false")
    try:
        rate = parse_rate(str(entry["rate"])) if "rate" in entry else None
        delay = parse_span(str(entry["delay"]))
    except ValueError as error:
        raise InputError(f"{place}{error}") from None
    if rate == 0:
        raise InputError(f"{place}rate: '{format_rate(0)}' is zero")
    medium = str(entry.get("medium", ""))
    behind: dict[str, Any] = {
        "wire": _wire(place, entry),
        "kind": str(entry.get("kind", "")),
    }
    name = str(entry.get("name", ""))
    if layout.has_port(name):
        raise InputError(f"{place}name: another link has the name '{name}'")
    queue = _queue(f"{place}queue: ", entry.get("queue", PLAIN))
    layout.link(entry["from"], entry["to"], rate, delay, queue, medium, name, **behind)
    if entry.get("both", True):
        back = _queue(f"{place}back: ", entry.get("back", PLAIN))
        layout.link(entry["to"], entry["from"], rate, delay, back, medium, **behind)


def _wire(place: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a link does to packets behind its queue, by the field of a scenario."""
    found = {}
    for option in (BY_NAME[name] for name in WIRE if name in entry):
        try:
            value = option.read(str(entry[option.name]))
        except ValueError as error:
            raise InputError(f"{place}{option.name}: {error}") from None
        if value != option.value:
            found[option.field] = value
    return found


def _there(place: str, names: Sequence[str], layout: Layout) -> None:
    """Every name must be that of a node which a link has."""
    nodes = set(layout.nodes)
    for name in names:
        if name not in nodes:
            raise InputError(f"{place}{unknown('node', name, layout.nodes[:MOST_SEARCHED])}")


def _queue(place: str, text: object) -> Queue:
    if text == PLAIN:
        return PLAIN
    if text == "test":
        return UNDER_TEST
    if not is_tc(str(text)):
        return Discipline(str(text))
    try:
        return Discipline(translate_tc(str(text))[0])
    except ValueError as error:
        raise InputError(f"{place}{error}") from None


def _known(place: str, table: dict[str, Any], keys: Sequence[str]) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"{place}{unknown('key', key, keys)}")


def _names(place: str, table: dict[str, Any], key: str) -> list[str]:
    names = table.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{place}{key}: must be a list of names")
    return list(names)
