"""The kind of the bottleneck, as ``turns rate 20mbit``, and named links, as ``vdsl=rate 50mbit rtt 20ms``.

Named links are scenarios of one comparison that differ in their link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab import _native
from aqmlab.scenario.files import Experiment
from aqmlab.scenario.options import OPTIONS, from_values
from aqmlab.vocabulary.errors import InputError, about, unknown
from aqmlab.vocabulary.names import name_of

# What is of the network as a whole.
OF_NETWORK = ("link", "topology", "measure")
# What belongs to a link: options of a comparison that one may give for all links, or for each.
KEYS = tuple(one.name for one in OPTIONS if one.section == "Link" and one.name not in OF_NETWORK)
# Kinds of links, by name.
KINDS: Mapping[str, Mapping[str, Any]] = {kind["name"]: kind for kind in json.loads(_native.link_kinds())}
# The swept name under which a result has them.
SWEPT = "link"


def is_kind(text: str) -> bool:
    """Whether a text is a kind of link with its parameters, not a named link, which has ``=`` behind its name.

    >>> is_kind("turns rate 20mbit"), is_kind("tunrs rate 20mbit"), is_kind("vdsl=rate 50mbit rtt 20ms")
    (True, True, False)

    """
    return text.split(maxsplit=1)[:1] in [[name] for name in KINDS] or "=" not in text


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Read a named link: its name, and its values by option.

    It may begin with a kind of link and its parameters; what is none of them is an option.

    Raises:
        InputError: naming the key and what is allowed.

    >>> parse("air=turns rate 20mbit until arrival rtt 5ms")
    ('air', {'link': 'turns rate 20mbit until arrival', 'rtt': '5ms'})

    >>> parse("vdsl=rate 50mbit rtt 20ms link-trace a.down")
    ('vdsl', {'rate': '50mbit', 'rtt': '20ms', 'link_trace': 'a.down'})

    """
    name, spec = name_of(text)
    # What is in brackets is one word.
    kind, words = _split(re.findall(r"\[[^]]*\]|\S+", spec))
    if not name or not (kind or words) or len(words) % 2:
        raise InputError(f"'{text}' is not NAME=KEY VALUE ..., as vdsl=rate 50mbit rtt 20ms")
    found: dict[str, str] = {"link": kind} if kind else {}
    for key, value in zip(words[::2], words[1::2], strict=True):
        option = key.replace("-", "_")
        if option not in KEYS:
            raise InputError(f"'{name}': {unknown('key', key, [one.replace('_', '-') for one in KEYS])}")
        if option in found:
            raise InputError(f"'{name}': '{key}' is given twice")
        found[option] = value
    return name, found


def _split(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the kind with its parameters, and the words behind them."""
    if not words or words[0] not in KINDS or words[0] in KEYS:
        return "", words
    params = {param["name"] for param in KINDS[words[0]]["params"]}
    # The parameter of the kind's own name needs no key.
    end = 2 if words[0] in params and words[1:2] != [words[0]] else 1
    while end < len(words) and words[end] in params:
        end += 2
    return " ".join(words[:end]), words[end:]


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


__all__ = ["KEYS", "KINDS", "is_kind", "named_links", "parse"]
