"""Disciplines that are written in Python, for teaching and trying: slow, and checked like all others.

A discipline is a class. Its parameters, with their defaults in tc's notation, are attributes of its instances, in
nanoseconds, bit/s, bytes or plain numbers; its limit is checked before a packet gets to it.

    class Newest(aqmlab.AQM):
        "Last in, first out."
        reorders_flows = reorders_within_flow = True

        def dequeue(self, now):
            return self.queue.pop() if self.queue else None

It is used by its place, ``python:newest.py:Newest``, or registered: ``aqmlab.register_aqm(Newest)``.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import keyword
import math
import re
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from aqmlab import _native
from aqmlab._native import Packet
from aqmlab.own import python_files
from aqmlab.own.python_files import Executed
from aqmlab.vocabulary.errors import InputError, unknown

# What the names of such disciplines begin with.
PYTHON = "python:"
FLAGS = ("ecn", "drops_queued", "reorders_flows", "reorders_within_flow")
TRAITS = (*FLAGS, "quiet_packets")
# What the core has for a queue that never signals, however many packets wait.
_ENDLESS = 2**64 - 1
# The methods that can signal; without its own, a class is a plain queue.
SIGNALLING = ("enqueue", "dequeue", "on_wakeup")
# The digest of the source of what is declared, and the executed files, by name.
_DIGESTS: dict[str, str] = {}
_FILES: dict[str, Executed] = {}
# A file may run experiments of its own when it is read.
_LOCK = threading.RLock()
# What every class has, and what does not change what it does.
_OF_PYTHON = ("__doc__", "__module__", "__qualname__", "__firstlineno__", "__static_attributes__")


class AQM(_native.Signals):
    """A discipline in Python: first in, first out, unless a subclass says otherwise.

    A packet that was given to `enqueue` is returned by `dequeue` once, or dropped once, in any call: ``self.drop``. It
    has ``flow``, ``length`` (bytes), ``arrival`` (nanoseconds), ``ecn``, ``source``, ``destination``,
    ``traffic_class``, ``dscp`` and ``protocol``. ``self.mark`` marks one, or says that it cannot be marked. Chance
    comes from ``self.random`` alone, which the run's seed decides.
    """

    #: Defaults of the parameters in tc's notation, each perhaps with its range: ``{"target": "5ms 1us..10s"}``.
    params: ClassVar[Mapping[str, str]] = {}
    #: Numbers that are sampled while it runs, and their units: attributes of these names.
    probes: ClassVar[Mapping[str, str]] = {}
    #: Whether it marks, and drops what is queued already; whether packets of different flows, or of one, overtake.
    ecn: ClassVar[bool] = False
    drops_queued: ClassVar[bool] = False
    reorders_flows: ClassVar[bool] = False
    reorders_within_flow: ClassVar[bool] = False
    #: It gives no signal while at most so many packets are queued; ``math.inf``: it never does, as a plain queue.
    quiet_packets: ClassVar[float] = 0

    queue: deque[Packet]
    random: Random
    link_rate: int
    mtu: int

    def enqueue(self, packet: Packet, now: int) -> None:  # noqa: ARG002
        """Take a packet that arrives at a time, in nanoseconds."""
        self.queue.append(packet)

    def dequeue(self, now: int) -> Packet | None:  # noqa: ARG002
        """Return the packet that is sent next; nothing if none is queued, or before `next_wakeup`."""
        return self.queue.popleft() if self.queue else None

    def remove(self, packet: Packet) -> None:
        """Give up a queued packet: the limit was lowered, and it is dropped."""
        self.queue.remove(packet)

    def next_wakeup(self) -> int | None:
        """Return when `on_wakeup` is to be called, nanoseconds; asked after every call of a class that has it."""
        return None

    def on_wakeup(self, now: int) -> None:
        """Do what is due."""


def named(text: str) -> set[str]:
    """Return the names of disciplines in Python that occur in a text.

    >>> sorted(named("fifo,python:a.py:A target 5ms"))
    ['python:a.py:A']

    """
    return {name.removesuffix(":class") for name in re.findall(rf"{PYTHON}[^\s,\]\"]+", text)}


def register_aqm(discipline: type[AQM], name: str | None = None) -> str:
    """Declare a class, and return what to call it in ``aqm``: ``python:NAME``.

    Raises:
        InputError: if it is no subclass of `AQM`, its source cannot be read, a declaration in it is wrong, or the name
            cannot be written in ``aqm``.

    """
    called = f"{PYTHON}{name or getattr(discipline, '__name__', discipline)}"
    if not re.fullmatch(r"[\w.-]+", called.removeprefix(PYTHON)):
        raise InputError(f"{called}: is no name in tc's notation: letters, digits, '_', '.' and '-'")
    _check_class(called, discipline)
    try:
        source = _source(discipline)
    except (OSError, TypeError):
        raise InputError(f"{called}: its source cannot be read, and decides which runs are the same") from None
    _declare(called, discipline, _digest(source))
    return called


def load(text: str, folder: Path | None = None) -> str:
    """Declare the class that a discipline in tc's notation names, as ``python:codel.py:CoDel target 5ms``.

    Args:
        text: the discipline.
        folder: where a relative path begins; the working directory unless given.

    Returns:
        The hash of its source and of the modules beside it that it imports: part of the key of every run with it.

    Raises:
        InputError: naming the file, and what is wrong with it.

    """
    name = text.split()[0].removesuffix(":class")
    place, colon, wanted = name.removeprefix(PYTHON).rpartition(":")
    with _LOCK:
        if not colon:
            if name not in _DIGESTS:
                raise InputError(f"{name}: {_unknown(text)}")
            return _DIGESTS[name]
        path = Path(place) if folder is None else folder / place
        held = _FILES.get(name)
        if held is None or not held.is_of(path):
            held = python_files.execute(name, path)
            _declare(name, _class(name, path, wanted, held.defined), held.digest)
            _FILES[name] = held
        return held.digest


def ensure(text: str) -> None:
    """Load the class that a discipline names, unless this process has it: a worker elsewhere has not.

    Raises:
        InputError: as `load`.

    """
    if text.split()[0].removesuffix(":class") not in _DIGESTS:
        load(text)


def declared(text: str) -> str:
    """Return the hash of the source that this process has of the discipline; empty if it is not in Python."""
    return _DIGESTS.get(text.split()[0].removesuffix(":class"), "")


def _source(discipline: type[AQM]) -> str:
    """Return the source of a class and of those it inherits from, with what its methods name outside of it.

    The same lines are another discipline where a constant, or the argument of the function around them, is another.
    """
    parts = []
    for one in discipline.__mro__:
        if one in AQM.__mro__:
            continue
        parts.append(inspect.getsource(one))
        named = dict(vars(one))
        for method in filter(inspect.isfunction, vars(one).values()):
            outside = inspect.getclosurevars(method)
            named |= {**outside.globals, **outside.nonlocals}
        for name, value in sorted(named.items()):
            if name in _OF_PYTHON:
                continue
            # What is neither plain data nor written anywhere (a module, what a decorator made) is not looked into.
            with suppress(OSError, TypeError, ValueError):
                parts.append(inspect.getsource(value) if inspect.isfunction(value) else f"{name} = {json.dumps(value)}")
    return "\n".join(parts)


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


def _unknown(text: str) -> str:
    if re.search(r"\.py:\w", text):
        return "a space ends a name in tc's notation: go to the file's folder, or register the class from Python"
    return "nothing is registered by this name; a file is python:FILE.py:CLASS"


def _class(name: str, path: Path, wanted: str, defined: Mapping[str, Any]) -> type[AQM]:
    found = defined.get(wanted)
    if found is None:
        classes = [key for key, value in defined.items() if isinstance(value, type) and value is not AQM]
        raise InputError(f"{name}: {path}: {unknown('class', wanted, classes)}")
    return found  # type: ignore[no-any-return]


def _check_class(name: str, discipline: Any) -> None:
    if not (isinstance(discipline, type) and issubclass(discipline, AQM)):
        raise InputError(f"{name}: is no subclass of aqmlab.AQM")


def _declare(name: str, discipline: type[AQM], digest: str) -> None:
    _check_class(name, discipline)
    needed = [
        one.name
        for one in list(inspect.signature(discipline.__init__).parameters.values())[1:]
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if needed:
        raise InputError(
            f"{name}: __init__ takes '{needed[0]}': it gets nothing, since parameters are attributes already"
        )

    def made(values: Mapping[str, Any], link_rate: int, mtu: int) -> AQM:
        one = discipline.__new__(discipline)
        # They are there before `__init__`, which may use them.
        one.queue, one.random, one.link_rate, one.mtu = deque(), Random(0), link_rate, mtu
        vars(one).update(values)
        one.__init__()  # type: ignore[misc]
        return one

    summary = (str(discipline.__doc__ or "").strip() or name).splitlines()[0].rstrip(".")
    for key in ("params", "probes"):
        given = getattr(discipline, key)
        if not isinstance(given, Mapping) or not all(isinstance(one, str) for pair in given.items() for one in pair):
            raise InputError(f"{name}: {key}: must be a table of text, as {{'target': '5ms'}}")
        for one in given:
            # It is an attribute, a word of the notation and the name of a column.
            if not (one.isascii() and one.isidentifier()) or keyword.iskeyword(one):
                raise InputError(f"{name}: {key}: '{one}' is not a name: letters, digits and underscores, as target")
        if len({one.lower() for one in given}) < len(given):
            raise InputError(f"{name}: {key}: two names differ in capitals only")
    own = {*dir(AQM), "queue", "random", "link_rate", "mtu"} - {"limit", *TRAITS}
    taken = [key for key in discipline.params if key in own]
    if taken:
        raise InputError(f"{name}: params: '{taken[0]}' is an attribute of every discipline: choose another name")
    _native.declare_discipline(
        name,
        summary,
        list(discipline.params.items()),
        list(discipline.probes.items()),
        _traits(name, discipline),
        discipline.next_wakeup is not AQM.next_wakeup,
        made,
    )
    _DIGESTS[name] = digest


def _traits(name: str, discipline: type[AQM]) -> dict[str, bool | int]:
    traits: dict[str, bool | int] = {}
    for key in FLAGS:
        traits[key] = flag = getattr(discipline, key)
        if not isinstance(flag, bool):
            raise InputError(f"{name}: {key}: is {flag!r} (allowed: True, False)")
    quiet = discipline.quiet_packets
    # What a plain queue is made of gives no signals.
    if "quiet_packets" not in _overridden(discipline) and _overridden(discipline).isdisjoint(SIGNALLING):
        quiet = math.inf
    is_count = isinstance(quiet, int) and not isinstance(quiet, bool) and 0 <= quiet < _ENDLESS
    if not is_count and quiet != math.inf:
        raise InputError(f"{name}: quiet_packets: is {quiet!r} (allowed: a number of packets, or math.inf: no signals)")
    return {**traits, "quiet_packets": int(quiet) if is_count else _ENDLESS}


def _overridden(discipline: type[AQM]) -> set[str]:
    return {key for one in discipline.__mro__ if one not in AQM.__mro__ for key in vars(one)}
