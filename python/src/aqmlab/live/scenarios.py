"""A scenario of `compare` on live packets: as far as a link has what it asks for, and its traffic can be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import scenario
from aqmlab.live import comparing
from aqmlab.live.directions import Line, lines
from aqmlab.results import Result
from aqmlab.scenario import Experiment, Plan, flows
from aqmlab.scenario.options import OPTIONS, WIRE, Options
from aqmlab.scenario.resolve import MSER5, capacity
from aqmlab.vocabulary.errors import InputError, about
from aqmlab.vocabulary.units import NANOS_PER_SECOND

# Options that a link has under the same name.
SHARED = ("rtt", "overhead", *WIRE)
# What the workload has of flows; the kernel's TCP is that of `profile=linux`, and stands for the default's.
CARRIED = ("name=", "transport=", "rate=", "packet=", "profile=linux")
# Congestion controls of scenarios, as the kernel calls them.
CONTROLS = {kind: name for name, kind in comparing.KINDS.items()} | {"cubic": "cubic"}


@dataclass(frozen=True)
class Planned:
    """A scenario as `comparing.compare` takes it."""

    links: Mapping[str, tuple[Line, Line]]
    traffic: comparing.Traffic
    seeds: Sequence[int]
    congestion_control: str
    title: str

    @property
    def seconds(self) -> float:
        """How long its runs take, one after another and in real time, without what each needs to begin and end."""
        return len(self.links) * len(self.seeds) * (self.traffic.warmup_s + self.traffic.duration_s)


def run_live(experiment: Experiment, out: Path, progress: Callable[[str], None] = lambda text: None) -> Result:
    """Run a scenario live, and keep the result in a folder; finished runs there are not made again.

    Raises:
        InputError: naming what a link has not.
        MachineError: the system does not permit links.

    """
    one = planned(experiment)
    compared = comparing.compare(
        one.links,
        one.traffic,
        one.seeds,
        one.congestion_control,
        progress,
        out=out,
        title=one.title,
        with_report=False,
    )
    return compared.result


def planned(experiment: Experiment) -> Planned:
    """Return a scenario as it runs live.

    The rate is that of both directions, and the traffic what flows of the scenario are: bulk transfers by one of the
    kernel's congestion controls, and flows of UDP at a constant rate; pings come with them.

    Raises:
        InputError: naming the file and what a link has not.

    """
    options, *others = experiment.points
    if others:
        raise InputError(f"{options.place}sweep: does not run live")
    _check_settings(options)
    plan = scenario.resolve(options)
    try:
        traffic, control = _traffic(plan)
    except InputError as error:
        raise options.located(error) from None
    given = {name: options.text(name) for name in SHARED if options.texts(name)}
    carried = capacity(options, plan)
    links: dict[str, tuple[Line, Line]] = {}
    for contestant, entry in zip(plan.contestants, plan.echo["aqm"], strict=True):
        # The spec has its limit by now, whatever the rule was.
        try:
            links[contestant.label] = lines({**given, "aqm": entry["spec"]}, {"down": carried, "up": carried})
        except InputError as error:
            raise options.located(error) from None
    return Planned(links, traffic, plan.seeds, control, f"{experiment.title}, live")


def _check_settings(options: Options) -> None:
    """Refuse settings that a link has not."""
    for option in OPTIONS:
        if option.is_live or not (text := ", ".join(options.texts(option.name))):
            continue
        if text != option.default and not (option.field and options.value(option.name) == option.value):
            raise options.error(option.name, f"'{text}' does not run live: a link has no such setting")
    if options.text("warmup") == MSER5:
        raise options.error("warmup", f"'{MSER5}' does not run live: give a time")


def _check_keys(group: flows.Group) -> None:
    """Refuse keys of flows that the workload has not."""
    head = f"{group.count}*{group.kind}"
    pairs = {name: f"{name}={value}" for name, value in group.texts.items()}
    usual = flows.parse(":".join([head, *(pair for pair in pairs.values() if pair.startswith(CARRIED))])).texts
    if lacking := [pair for name, pair in pairs.items() if usual.get(name) != group.texts[name]]:
        raise about("flows", f"'{head}' does not run live with {', '.join(lacking)}")


def _traffic(plan: Plan) -> tuple[comparing.Traffic, str]:
    """Return flows as a link's traffic, and the congestion control of its transfers."""
    base = plan.base
    transfers, controls, datagrams = 0, set(), comparing.Datagrams()
    for group, resolved in zip(base.flows, plan.groups, strict=True):
        (carrier, carried), (form, source) = group.transport, group.source
        if carrier == "tcp" and form == "bulk" and group.congestion_control in CONTROLS:
            controls.add(CONTROLS[group.congestion_control])
            transfers += group.count
        elif carrier == "udp" and form == "cbr" and not datagrams.count:
            datagrams = _datagrams(group.count, carried, source)
        else:
            able = f"bulk transfers of {', '.join(CONTROLS)} do, and one group of cbr"
            raise about("flows", f"'{group.name}' does not run live: {able}")
        _check_keys(resolved)
    if len(controls) != 1:
        raise about("flows", "live, transfers have one congestion control, and there is one at least")
    seconds = (base.duration_ns - base.warmup_ns) / NANOS_PER_SECOND
    return comparing.Traffic(transfers, 0, seconds, base.warmup_ns / NANOS_PER_SECOND, datagrams), controls.pop()


def _datagrams(count: int, carried: dict[str, Any], source: dict[str, Any]) -> comparing.Datagrams:
    return comparing.Datagrams(count, int(source["rate_bps"]), int(carried["packet_bytes"]))


__all__ = ["Planned", "planned", "run_live"]
