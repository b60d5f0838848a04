"""Transports that Python drives: a protocol stack that does no I/O of its own becomes a kind of flow.

An end receives datagrams and the time, and returns what it sends and when it wants to be asked again.

    class Steady(aqmlab.Transport):
        "Sends a datagram each millisecond."
        params = {"gap": "1ms"}

        def deadline(self):
            return self.next

It is registered, and is a kind of flow from then on, in this process: ``aqmlab.register_transport(Steady, "steady")``.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar

from aqmlab import _native
from aqmlab.scenario import flows
from aqmlab.scenario.kinds import KINDS
from aqmlab.vocabulary.errors import InputError

# The names of what this process has registered.
_REGISTERED: set[str] = set()
_DIGITS = 12


class Transport:
    """One end of a transport in Python, which does nothing unless a subclass says otherwise.

    ``role`` is ``client`` (it opens the flow and sends) or ``server``; ``size`` the bytes to deliver, ``None`` for no
    end, or 0 where the application writes over time (`write`); ``start`` when the client begins. Times are nanoseconds
    of the run; chance comes from ``random`` alone, which the run's seed decides. Parameters are attributes. What asks
    the system for time or chance makes runs differ.
    """

    #: Defaults of the parameters in tc's notation, each perhaps with its range: ``{"gap": "1ms 1us..10s"}``.
    params: ClassVar[Mapping[str, str]] = {}
    #: Whether it sets the ECN field.
    ecn: ClassVar[bool] = False

    role: str
    size: int | None
    start: int
    random: Random
    #: Bytes of payload that the application has got, in order: of the server they are the flow's goodput.
    delivered: int = 0
    #: The round-trip time as this end sees it, nanoseconds, and its congestion window, bytes; ``None`` if it has none.
    rtt: int | None = None
    window: int | None = None

    def receive(self, datagram: bytes, ecn: int, now: int) -> None:
        """Take a datagram that arrives; ``ecn`` is 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 CE."""

    def send(self, now: int) -> bytes | tuple[bytes, int] | None:  # noqa: ARG002
        """Return the datagram that leaves now, perhaps with its ECN field; asked until there is none."""
        return None

    def deadline(self) -> int | None:
        """Return when `on_timer` is to be called next; asked after every call."""
        return None

    def on_timer(self, now: int) -> None:
        """Do what is due."""

    def write(self, count: int, now: int) -> None:
        """Take so many bytes more of the application: a class with this carries ``onoff``, ``cbr`` and their kind."""


def register_transport(transport: type[Transport], name: str | None = None) -> str:
    """Declare a class, and return the kind of flow that it is from now on: ``2*NAME:size=1mb``.

    The key ``source`` of these flows is a hash of the class's source: a changed class is another flow.

    Raises:
        InputError: if it is no subclass of `Transport`, its source cannot be read, a declaration in it is wrong, or the
            name is that of another kind of flow, or cannot be written in one.

    """
    called = name or getattr(transport, "__name__", str(transport)).lower()
    if not (isinstance(transport, type) and issubclass(transport, Transport)):
        raise InputError(f"{called}: is no subclass of aqmlab.Transport")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", called):
        raise InputError(f"{called}: is no name of a kind of flow: small letters, digits and '_'")
    if called in KINDS and called not in _REGISTERED:
        raise InputError(f"{called}: is a kind of flow already: choose another name")
    try:
        source = inspect.getsource(transport)
    except (OSError, TypeError):
        raise InputError(f"{called}: its source cannot be read, and decides which runs are the same") from None
    own = {*dir(Transport), "role", "size", "start", "random", "packet", "source"}
    if taken := [key for key in transport.params if key in own or not key.isidentifier()]:
        raise InputError(f"{called}: params: '{taken[0]}' is taken, or no name: choose another")

    def made(role: str, values: Mapping[str, Any], size: int | None, start: int, seed: int) -> Transport:
        one = transport.__new__(transport)
        # They are there before `__init__`, which may use them.
        one.role, one.size, one.start, one.random = role, size, start, Random(seed)
        vars(one).update(values)
        one.__init__()  # type: ignore[misc]
        return one

    summary = (str(transport.__doc__ or "").strip() or called).splitlines()[0].rstrip(".")
    digest = hashlib.sha256(source.encode()).hexdigest()[:_DIGITS]
    writes = transport.write is not Transport.write
    params = list(transport.params.items())
    _native.declare_transport(called, summary, params, transport.ecn, writes, f"h{digest}", made)
    _REGISTERED.add(called)
    flows.renew()
    return called
