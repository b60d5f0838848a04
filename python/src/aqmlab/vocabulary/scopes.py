"""What a metric is about: a whole run, or a part of it that its name begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

Family: TypeAlias = Literal["class", "port", "station"]


@dataclass(frozen=True)
class Scope:
    """A part of a run: a group of flows (``class``), the queue of a port, or a station of a medium.

    >>> Scope("port", "leaf0->h0.1").metric("qdelay_mean_ms")
    'port.leaf0->h0.1.qdelay_mean_ms'
    >>> Scope.of_prefix("class.cubic."), Scope.of_prefix("")
    (Scope(family='class', name='cubic'), None)

    """

    family: Family
    name: str

    @classmethod
    def of_prefix(cls, prefix: str) -> Scope | None:
        """Return the scope of the names that begin with a prefix; nothing for the whole run."""
        family, _, name = prefix.removesuffix(".").partition(".")
        return cls(cast("Family", family), name) if name else None

    @property
    def prefix(self) -> str:
        """What its metrics' names begin with."""
        return f"{self.family}.{self.name}."

    def metric(self, plain: str) -> str:
        """Return the name of a metric of it."""
        return f"{self.prefix}{plain}"


def of_group(name: str) -> Scope:
    """Return the scope of a group of flows."""
    return Scope("class", name)


def of_port(name: str) -> Scope:
    """Return the scope of a port."""
    return Scope("port", name)


def of_station(name: str) -> Scope:
    """Return the scope of a station."""
    return Scope("station", name)
