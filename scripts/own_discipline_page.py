"""The page of what a discipline in Python is given and may declare, from the classes themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from aqmlab import AQM, _native

# What every instance has before its `__init__`, beside its parameters.
GIVEN = (
    ("`self.PARAMETER`", "each declared parameter: nanoseconds, bit/s, bytes or a plain number"),
    ("`self.queue`", "an empty `deque`; `enqueue` and `dequeue` of the base class use it"),
    ("`self.random`", "a `random.Random` of the run's seed: the only source of chance"),
    ("`self.link_rate`, `self.mtu`", "of the link: bit/s, and bytes of a full packet"),
)
METHODS = ("enqueue", "dequeue", "remove", "next_wakeup", "on_wakeup")
SIGNALS = ("drop", "mark")


def sections() -> Iterator[tuple[str, tuple[str, str], list[tuple[str, str]]]]:
    """Yield each section of the page: its title, the heads of its table and the rows."""
    fields = [name for name in vars(_native.Packet) if not name.startswith("_")]
    rows = [(f"`packet.{name}`", _summary(getattr(_native.Packet, name))) for name in sorted(fields)]
    yield "A packet", ("Field", "Whole number"), rows
    yield "What an instance has", ("Attribute", "What it is"), list(GIVEN)
    rows = [(f"`self.{name}{_signature(name)}`", _summary(getattr(AQM, name))) for name in SIGNALS]
    yield "Signals", ("Call", "What it does"), rows
    rows = [(f"`{name}{_signature(name)}`", _summary(getattr(AQM, name))) for name in METHODS]
    yield "What a class may override", ("Method", "What it does"), rows
    yield "What a class may declare", ("Attribute", "What it says"), list(_declared())


def _declared() -> Iterator[tuple[str, str]]:
    """Yield the attributes below each `#:` comment of the class, with that comment."""
    for comments, names in re.findall(
        r"((?:^    #: .*\n)+)((?:^    \w+: ClassVar.*\n)+)", inspect.getsource(AQM), re.M
    ):
        attributes = ", ".join(f"`{name}`" for name in re.findall(r"^    (\w+):", names, re.M))
        yield attributes, " ".join(re.findall(r"#: (.*)", comments)).replace("``", "`")


def _signature(name: str) -> str:
    parameters = list(inspect.signature(getattr(AQM, name)).parameters)
    return f"({', '.join(one for one in parameters if one not in ('self', 'reason'))})"


def _summary(documented: object) -> str:
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split()).rstrip(".")
