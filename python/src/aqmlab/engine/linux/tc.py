"""Disciplines as the kernel's qdiscs: the same parameters on both sides.

What a user gives and tc has no word for is refused; what tc has a word for is written, whoever gave it. The words are
those of the table that pasted lines are read by.
"""

from __future__ import annotations

from aqmlab import _native
from aqmlab.scenario.registry import Spec
from aqmlab.vocabulary.errors import InputError

# A full packet on the link: 1448 payload, 52 headers, 14 of Ethernet.
FULL_BYTES = 1514
# What the guest's kernel is built with, but for classful ones.
DISCIPLINES = frozenset(("cake", "choke", "codel", "dualpi2", "fifo", "fq_codel", "fq_pie", "pie", "red", "sfb", "sfq"))


def qdisc(spec: Spec, rate_bps: int) -> str:
    """Return what follows ``tc qdisc add dev DEV``.

    Raises:
        InputError: if Linux has no such qdisc, or not with these parameters.

    >>> qdisc(Spec.parse("codel target 5ms limit 100p"), 10_000_000)
    'codel limit 100 target 5ms interval 100ms noecn'

    """
    if spec.name not in DISCIPLINES:
        raise InputError(f"aqm '{spec.name}': engine linux runs {', '.join(sorted(DISCIPLINES))}")
    try:
        return _native.tc_words(spec.canonical, rate_bps)
    except ValueError as error:
        raise InputError(f"aqm '{spec.name}': engine linux: {error}") from None


def unused(spec: Spec) -> list[str]:
    """Return a warning about a limit of CAKE, for which tc has no word: the kernel has its bytes of memory alone.

    >>> len(unused(Spec.parse("cake limit 83p"))), unused(Spec.parse("cake limit 83p memlimit 125kb"))
    (1, [])

    """
    if spec.name != "cake" or spec.params["memlimit"] != "auto":
        return []
    limit = spec.params["limit"]
    return [f"engine linux: tc has no word for CAKE's limit of {limit}: there it is far larger; give memlimit for both"]


def shapes(words: str) -> bool:
    """Whether a qdisc keeps the rate itself.

    >>> shapes("cake bandwidth 19mbit besteffort"), shapes("cake unlimited"), shapes("pie limit 100")
    (True, False, False)

    """
    return words.startswith("cake bandwidth")
