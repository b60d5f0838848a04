"""The same scenario by two engines or two profiles: both traced, and where each flow parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab import engine as engines
from aqmlab import scenario
from aqmlab.analysis import divergence
from aqmlab.analysis.divergence import Divergence, Event, Flow
from aqmlab.engine import Task, Trace
from aqmlab.experiment import refusal
from aqmlab.runs import workers
from aqmlab.scenario import Plan
from aqmlab.scenario import flows as flow_specs
from aqmlab.scenario.kinds import PROFILES
from aqmlab.vocabulary.errors import InputError, about, unknown
from aqmlab.vocabulary.units import parse_span

# Segments in flight at once add up small differences of clocks and wires; a round trip is longer.
TOLERANCE = "2ms"
# Events before and after a divergence.
AROUND = 5


@dataclass(frozen=True)
class Side:
    """One of both: its name, engine and flows."""

    name: str
    engine: str
    flows: Mapping[int, Flow]

    def around(self, found: Divergence, which: int) -> list[Event]:
        """Return the events around a divergence, which of both sides it is."""
        place = found.places[which]
        return list(self.flows[found.flow].events[max(place - AROUND, 0) : place + AROUND])


@dataclass(frozen=True)
class Difference:
    """Both sides, and the first divergence of each flow that has one, the earliest first.

    ``plan`` is the scenario of the first side; ``segments`` has the payload of a full segment of each flow.
    """

    plan: Plan
    sides: tuple[Side, Side]
    divergences: tuple[Divergence, ...]
    segments: Mapping[int, int]
    tolerance_ns: int


def diff(
    options: Mapping[str, Any], engine: str = "", profile: str = "", tolerance: str = TOLERANCE, place: str = ""
) -> Difference:
    """Trace the same scenario by two engines or with two profiles, and find where its TCP flows part.

    Flows start at once unless they say when: engines draw different starts.

    Args:
        options: those of `compare`, with one AQM; ``seeds`` means nothing, ``first_seed`` is the seed.
        engine: two engines, as ``native,linux``; or the one that runs both profiles.
        profile: two profiles, as ``rfc,linux``.
        tolerance: how much later the same event may be.
        place: what the names of options begin with in messages.

    Raises:
        InputError: naming the option that is wrong.

    """
    made = engines.names(engine or engines.DEFAULT)
    profiles = _profiles(profile) if profile else []
    if len(made) * max(len(profiles), 1) != 2:
        raise InputError(
            "give two sides: two engines, as --engine native,linux, or two profiles, as --profile rfc,linux"
        )
    try:
        tolerance_ns = parse_span(tolerance)
    except ValueError as error:
        raise InputError(f"--tolerance: {error}") from None
    pairs = [(one, name) for one in made for name in profiles or [""]]
    sides = []
    plans = [_plan(options, name, place) for _, name in pairs]
    for (one, name), plan in zip(pairs, plans, strict=True):
        if refused := refusal(plan, engines.find(one)):
            raise InputError(refused)
        segments = _segments(plan)
        if not segments:
            raise about("flows", "none is carried by TCP, and only TCP is traced")
        sides.append(Side(name or one, one, divergence.flows(_trace(one, plan), segments)))
    both = (sides[0], sides[1])
    end_ns = next(iter(plans[0].scenarios.values())).duration_ns
    found = [
        divergence.first(flow, both[0].flows[flow], both[1].flows[flow], (both[0].name, both[1].name), segment,
                         tolerance_ns, end_ns)
        for flow, segment in segments.items()
    ]  # fmt: skip
    ordered = sorted((one for one in found if one), key=lambda one: one.time_ns)
    return Difference(plans[0], both, tuple(ordered), segments, tolerance_ns)


def _profiles(text: str) -> list[str]:
    found = [name.strip() for name in text.split(",")]
    for name in found:
        if name not in PROFILES:
            raise InputError(f"--profile: {unknown('profile', name, PROFILES)}")
        if found.count(name) > 1:
            raise InputError(f"--profile: '{name}' is given twice")
    return found


def _plan(options: Mapping[str, Any], profile: str, place: str) -> Plan:
    given = options.get("flows") or ["1*cubic"]
    flows = [_completed(text, profile) for text in ([given] if isinstance(given, str) else given)]
    plan = scenario.resolve(scenario.from_values({**options, "flows": flows, "seeds": "1"}, place=place))
    if len(plan.scenarios) > 1:
        raise InputError(f"{place}aqm: takes one discipline here")
    return plan


def _completed(text: str, profile: str) -> str:
    """Add a profile and a start to a spec of flows that does not say them."""
    given = {part.partition("=")[0].strip() for part in text.split(":")[1:]}
    if profile and "profile" in given:
        raise about("flows", f"'{text}': its profile contradicts --profile, which runs two")
    keys = {"start": "" if "start" in given else "0s", "profile": profile if _is_tcp(text) else ""}
    return ":".join([text, *(f"{name}={value}" for name, value in keys.items() if value)])


def _is_tcp(text: str) -> bool:
    return flow_specs.parse(text).transport.form == "tcp"


def _segments(plan: Plan) -> dict[int, int]:
    """Return the payload of a full segment of each TCP flow."""
    found, number = {}, 0
    for group in next(iter(plan.scenarios.values())).flows:
        carrier, settings = group.transport
        for _ in range(group.count):
            if carrier == "tcp":
                found[number] = int(settings["mss_bytes"])
            number += 1
    return found


def _trace(name: str, plan: Plan) -> Trace:
    engine = engines.ENGINES[name]
    (aqm, what), seed = next(iter(plan.scenarios.items())), plan.seeds[0]
    task = Task(0, aqm, seed, "", what, plan.inputs, plan.files, name)
    engine.prepare([task])
    threads = workers.Threads(1)
    try:
        return threads.start(lambda monitor: engine.trace(task, monitor), engine.monitor(task)).result()
    finally:
        threads.stop()


def words(found: Difference) -> list[str]:
    """Return in sentences where the flows part."""
    one, other = (side.name for side in found.sides)
    tolerance = f"{found.tolerance_ns / 1e6:g} ms"
    if not found.divergences:
        return [f"{one} and {other} do not part: the same events, within {tolerance}."]
    earliest = found.divergences[0]
    flow = f"flow {earliest.flow}" if len(found.segments) > 1 else "the flow"
    sentences = [f"{one} and {other} part at {earliest.time_ns / 1e6:.1f} ms of {flow}: {earliest.why}."]
    if len(found.segments) > 1:
        sentences.append(f"Of {len(found.segments)} TCP flows {len(found.divergences)} part (tolerance {tolerance}).")
    return sentences


def rows(found: Difference, one: Divergence) -> Sequence[tuple[list[str], list[str]]]:
    """Return the lines around a divergence: of each side time (ms), event and window; empty where it has none."""
    segment = found.segments[one.flow]
    columns = []
    for which, side in enumerate(found.sides):
        place, flow = one.places[which], side.flows[one.flow]
        shown = []
        for number in range(place - AROUND, place + AROUND):
            event = flow.events[number] if 0 <= number < len(flow.events) else None
            state = flow.before(event.time_ns) if event else None
            shown.append(
                [
                    f"{event.time_ns / 1e6:.2f}" if event else "",
                    event.words(segment) if event else "",
                    f"{state.cwnd:.1f}" if state else "",
                ]
            )
        columns.append(shown)
    return list(zip(*columns, strict=True))
