"""A scenario of `compare` on live packets: as far as a link has what it asks for, and its traffic can be made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aqmlab import scenario
from aqmlab.live import comparing
from aqmlab.live.line import Line, lines
from aqmlab.results import Result
from aqmlab.scenario import Experiment
from aqmlab.scenario.model import Flows
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.units import NANOS_PER_SECOND

# Options that a link has under the same name.
SHARED = ("rtt", "overhead", "loss", "jitter")
# Congestion controls of scenarios, as the kernel calls them.
CONTROLS = {kind: name for name, kind in comparing.KINDS.items()} | {"cubic": "cubic"}


def conduct(experiment: Experiment, out: Path, progress: Callable[[str], None] = lambda text: None) -> Result:
    """Run a scenario live, and keep the result in a folder; finished runs there are not made again.

    The rate is that of both directions, and the traffic what flows of the scenario are: bulk transfers by one of the
    kernel's congestion controls, and flows of UDP at a constant rate; pings come with them.

    Raises:
        InputError: naming what a link has not.
        MachineError: the system does not permit links.

    """
    if len(experiment.points) != 1:
        raise InputError(f"{experiment.title}: a sweep does not run live")
    (options,) = experiment.points
    plan = scenario.resolve(options)
    base = plan.base
    if base.topology or base.captures:
        raise InputError(f"{experiment.title}: live is a link, without topology or captures")
    traffic, control = _traffic(base.flows, base.duration_ns, base.warmup_ns)
    given = {name: options.text(name) for name in SHARED if options.texts(name)}
    capacity = {name: text for name in ("rate", "link_trace") if (text := "".join(options.texts(name)))}
    links: dict[str, tuple[Line, Line]] = {}
    for contestant, entry in zip(plan.contestants, plan.echo["aqm"], strict=True):
        # The spec has its limit by now, whatever the rule was.
        links[contestant.label] = lines({**given, "aqm": entry["spec"]}, {"down": capacity, "up": capacity})
    title = f"{experiment.title}, live"
    seeds = plan.echo["seeds"]
    compared = comparing.compare(
        links, traffic, seeds, control, progress, out=out, title=title, continues=True, with_report=False
    )
    return compared.result


def _traffic(flows: tuple[Flows, ...], duration_ns: int, warmup_ns: int) -> tuple[comparing.Traffic, str]:
    """Return flows as a link's traffic, and the congestion control of its transfers."""
    transfers, controls, datagrams = 0, set(), comparing.Datagrams()
    for group in flows:
        (carrier, carried), (form, source) = group.transport, group.source
        if carrier == "tcp" and form == "bulk" and group.congestion_control in CONTROLS:
            controls.add(CONTROLS[group.congestion_control])
            transfers += group.count
        elif carrier == "udp" and form == "cbr" and not datagrams.count:
            datagrams = _datagrams(group.count, carried, source)
        else:
            able = f"bulk transfers of {', '.join(CONTROLS)} do, and one group of cbr"
            raise InputError(f"flows: '{group.name}' does not run live: {able}")
    if len(controls) != 1:
        raise InputError("flows: live, transfers have one congestion control, and there is one at least")
    seconds = (duration_ns - warmup_ns) / NANOS_PER_SECOND
    return comparing.Traffic(transfers, 0, seconds, warmup_ns / NANOS_PER_SECOND, datagrams), controls.pop()


def _datagrams(count: int, carried: dict[str, Any], source: dict[str, Any]) -> comparing.Datagrams:
    return comparing.Datagrams(count, int(source["rate_bps"]), int(carried["packet_bytes"]))


__all__ = ["conduct"]
