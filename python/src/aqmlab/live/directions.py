"""The directions of a link: options as the user gives them, resolved as `compare` resolves its bottleneck."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab import scenario
from aqmlab.scenario import inputs, options
from aqmlab.scenario.model import Rate
from aqmlab.vocabulary.errors import InputError, about

DIRECTIONS = ("down", "up")
# Settings of a direction that have a name of their own, by the name of the option of `compare`.
OWN = {"rate": "--{}", "link_trace": "--{}-trace", "aqm": "--aqm-{}", "first_seed": "--seed"}
# It stands for whatever will be sent; settings of flows do not count.
FLOW = "1*cubic:ecn=classic"
CODE_POINTS = 64


@dataclass(frozen=True)
class Line:
    """One direction: its discipline with its limit, its capacity and its wire.

    ``settings`` are those that a result reports.

    ``echo`` is the scenario of `compare` whose bottleneck it has.
    """

    name: str
    label: str
    aqm: str
    rate_bps: int
    trace: str
    overhead: int
    classes: tuple[int, ...]
    delay_ns: int
    wire: Mapping[str, Any]
    settings: Mapping[str, Any]
    echo: Mapping[str, Any]
    warnings: tuple[str, ...] = field(default=())

    def data(self, log: Path | None, folder: Path) -> dict[str, Any]:
        """Return the settings of the data path; a trace that is no file is written into a folder."""
        trace = None
        if self.trace.startswith(inputs.STEPS):
            trace = folder / f"{self.name}.trace"
            trace.write_bytes(inputs.steps(self.trace))
        elif self.trace:
            trace = Path(self.trace).absolute()
        return {
            "aqm": self.aqm,
            "rate_bps": self.rate_bps,
            "trace": str(trace) if trace else None,
            "overhead": self.overhead,
            "classes": list(self.classes),
            "delay_ns": self.delay_ns,
            "wire": self.wire,
            "log": str(log) if log else None,
        }


def lines(shared: Mapping[str, Any], own: Mapping[str, Mapping[str, Any]]) -> tuple[Line, Line]:
    """Return both directions.

    Args:
        shared: options of `compare` that both directions have: ``rtt``, ``buffer``, ``aqm``, ``loss``, ..., and
            ``classes``: code points (DSCP) of the first class, the second, and so on.
        own: by direction, options of `compare` that one can have, or empty: ``rate``, ``link_trace``, ``aqm``.

    Raises:
        InputError: naming the option that is wrong, as the command line spells it.

    """
    down, up = (_line(name, shared, own[name]) for name in DIRECTIONS)
    return down, up


def _line(name: str, shared: Mapping[str, Any], offered: Mapping[str, Any]) -> Line:
    own = {key: value for key, value in offered.items() if value}
    if "aqm" not in own and not shared.get("aqm"):
        raise InputError(f"--aqm: is missing: name a discipline for both directions, or --aqm-{name} for this one")
    if "rate" not in own and "link_trace" not in own:
        recorded = f", or a recorded link (--{name}-trace)" if "link_trace" in offered else ""
        raise InputError(f"--{name}: is missing: give its rate, as 20mbit{recorded}")
    if "rate" in own and "link_trace" in own:
        raise about("rate", f"contradicts --{name}-trace: give one of them", f"--{name}")
    try:
        classes = _classes(shared.get("classes", ""))
        known = {name: value for name, value in shared.items() if name != "classes"}
        plan = scenario.resolve(scenario.from_values({**known, **own, "seeds": "1", "flows": [FLOW]}, "--"))
    except InputError as error:
        raise _as_typed(error, name, own) from None
    if len(plan.contestants) != 1:
        raise InputError(f"--aqm: a link has one discipline in a direction, not {len(plan.contestants)}")
    contestant, base = plan.contestants[0], plan.base
    if contestant.spec.source or contestant.engine:
        raise InputError(f"--aqm: '{contestant.label}' is not of the registry, and only its disciplines run live")
    rtt_ns = int(base.settings["rtt_ns"])
    # An odd nanosecond goes to the uplink.
    delay_ns = rtt_ns // 2 if name == "down" else rtt_ns - rtt_ns // 2
    echo = plan.echo
    echoed = ("rate", "link_trace", "link_trace_mean_rate", "rtt", "buffer", "overhead", *options.WIRE)
    return Line(
        name=name,
        label=contestant.label,
        aqm=contestant.spec.canonical,
        rate_bps=plan.rate_bps,
        trace="" if isinstance(base.capacity, Rate) else os.fspath(base.capacity.trace),
        overhead=int(base.settings["overhead_bytes"]),
        classes=classes,
        delay_ns=delay_ns,
        wire={option.field: base.settings[option.field] for option in map(options.BY_NAME.__getitem__, options.WIRE)},
        settings={
            **{key: echo[key] for key in echoed},
            "aqm": echo["aqm"][0],
            "rules": {"buffer": echo["rules"]["buffer"]},
            "classes": ",".join(map(str, classes)),
        },
        echo=echo,
        warnings=tuple(one for one in plan.warnings if not one.startswith("flows ")),
    )


def _classes(text: str) -> tuple[int, ...]:
    """Return the code points that have a class of their own.

    >>> _classes("46,26")
    (46, 26)

    """
    words = [word.strip() for word in text.split(",")] if text else []
    for word in words:
        if not (word.isdecimal() and int(word) < CODE_POINTS):
            raise InputError(f"--classes: '{word}' is no code point: allowed are 0 to {CODE_POINTS - 1}, as 46,26")
    found = tuple(map(int, words))
    if (twice := next((one for one in found if found.count(one) > 1), None)) is not None:
        raise InputError(f"--classes: {twice} is given twice")
    return found


def _as_typed(refusal: InputError, name: str, own: Mapping[str, Any]) -> InputError:
    """Return a refusal with the name that the option has here."""
    option = refusal.option
    if option in OWN and (option in own or option == "first_seed"):
        return about(option, refusal, OWN[option].format(name))
    return refusal


__all__ = ["DIRECTIONS", "Line", "lines"]
