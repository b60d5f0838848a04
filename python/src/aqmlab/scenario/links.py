"""Named links: scenarios of one comparison that differ in their link, as ``vdsl=rate 50mbit rtt 20ms``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab.scenario.files import Experiment
from aqmlab.scenario.options import WIRE, from_values
from aqmlab.vocabulary.errors import InputError, about, unknown
from aqmlab.vocabulary.names import name_of

# What belongs to a link: options of a comparison that one may give for all links, or for each.
KEYS = (
    *("rate", "link_trace", "rtt", "buffer", "overhead"),
    *("device_ring", "access_rate", *WIRE),
)
# The swept name under which a result has them.
SWEPT = "link"


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Read a named link: its name, and its values by option.

    Raises:
        InputError: naming the key and what is allowed.

    >>> parse("vdsl=rate 50mbit rtt 20ms link-trace a.down")
    ('vdsl', {'rate': '50mbit', 'rtt': '20ms', 'link_trace': 'a.down'})

    """
    name, spec = name_of(text)
    words = spec.split()
    if not name or not words or len(words) % 2:
        raise InputError(f"'{text}' is not NAME=KEY VALUE ..., as vdsl=rate 50mbit rtt 20ms")
    found: dict[str, str] = {}
    for key, value in zip(words[::2], words[1::2], strict=True):
        option = key.replace("-", "_")
        if option not in KEYS:
            raise InputError(f"'{name}': {unknown('key', key, [one.replace('_', '-') for one in KEYS])}")
        if option in found:
            raise InputError(f"'{name}': '{key}' is given twice")
        found[option] = value
    return name, found


def named_links(values: Mapping[str, Any], texts: Sequence[str], place: str = "", **rest: Any) -> Experiment:
    """Return the experiment with a scenario for each named link; ``values`` are the options of all.

    Raises:
        InputError: naming the link and what is wrong with it.

    """
    links: dict[str, dict[str, str]] = {}
    for text in texts:
        try:
            name, own = parse(text)
        except InputError as error:
            raise about(SWEPT, error, f"{place}{SWEPT}") from None
        if name in links:
            raise about(SWEPT, f"'{name}' names two links: give each a name of its own", f"{place}{SWEPT}")
        links[name] = own
    # An option for all that a link has too is the default for the others.
    varied = tuple(dict.fromkeys(key for own in links.values() for key in own))
    return Experiment(
        "",
        tuple(
            from_values({**values, **own}, place, point={SWEPT: name}, varied=varied, **rest)
            for name, own in links.items()
        ),
    )


__all__ = ["KEYS", "named_links", "parse"]
