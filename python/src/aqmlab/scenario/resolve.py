"""From options to a resolved scenario: every default filled in, every contradiction refused."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from aqmlab import _native
from aqmlab._native import Capture, Inputs, LinkTrace
from aqmlab.own.python_aqm import PYTHON
from aqmlab.scenario import aqm_texts, cost, flows, inputs, topologies
from aqmlab.scenario.aqm_texts import split_texts
from aqmlab.scenario.inputs import InputFile
from aqmlab.scenario.model import Rate, Scenario, Settings, Topology, Trace
from aqmlab.scenario.options import BY_NAME, OPTIONS, SETTINGS, Option, Options, names
from aqmlab.scenario.registry import Spec, marks
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.metrics import OBSERVERS
from aqmlab.vocabulary.names import listed, without_swept
from aqmlab.vocabulary.units import (
    Size,
    bytes_per_second,
    format_rate,
    format_span,
    parse_whole,
)

FULL_IP_PACKET_BYTES = 1500
# Parameters below which a discipline does nothing, where they are sizes.
THRESHOLDS = ("kmin", "min", "threshold")
MSER5 = "mser5"
LARGEST_SEEDS = int(BY_NAME["first_seed"].high)

T = TypeVar("T")
F = TypeVar("F", bound=Capture | LinkTrace)


@dataclass(frozen=True)
class Contestant:
    """One AQM of a comparison: as named by the user, and as run."""

    label: str
    spec: Spec
    # The most that it holds in all its classes, canonical; empty if it has no limit.
    buffer: str
    # What it runs in, if it names that itself.
    engine: str = ""


@dataclass(frozen=True)
class Plan:
    """One scenario, resolved, for several AQMs and seeds."""

    contestants: tuple[Contestant, ...]
    seeds: tuple[int, ...]
    base: Scenario
    files: dict[str, str]
    inputs: Inputs
    echo: dict[str, Any]
    warnings: tuple[str, ...]
    groups: tuple[flows.Group, ...]
    # The name of the topology alone.
    topology: str
    rate_bps: int = 0

    @property
    def costs(self) -> list[tuple[int, cost.Cost]]:
        """What each contestant's runs will cost: how many, and the estimate of one."""
        return [(len(self.seeds), cost.of_run(one, self.inputs)) for one in self.scenarios.values()]

    @functools.cached_property
    def scenarios(self) -> dict[str, Scenario]:
        """The scenario of each contestant, by its label."""
        return {one.label: replace(self.base, aqm=one.spec.canonical) for one in self.contestants}

    def key(self, contestant: Contestant, seed: int, code: str) -> str:
        """Return the hash of everything that decides a run: scenario, content of files, code, seed."""
        parts = [self.scenarios[contestant.label].json, json.dumps(self.files, sort_keys=True), str(seed), code]
        parts += [contestant.spec.source] if contestant.spec.source else []
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def resolve(options: Options) -> Plan:
    """Resolve options.

    Raises:
        InputError: naming the option, its value, the problem and what is allowed.

    """
    trace, captures = _trace(options), _captures(options)
    found = _resolved(options, trace, captures)
    link = _Link(found["rate_bps"], trace)
    settings = {one.field: found["settings"][one.field] for one in SETTINGS}
    # What a scenario leaves out where it has its default is null there.
    settings |= {one.field: one.value for one in SETTINGS if one.is_left_out and settings[one.field] is None}
    for name in settings["observe"]:
        if name not in OBSERVERS:
            raise options.error("observe", unknown("observer", name, OBSERVERS))
    duration_ns = settings["duration_ns"]
    packet_bytes = FULL_IP_PACKET_BYTES + settings["overhead_bytes"]
    groups = tuple(map(flows.group, found["groups"]))
    replayed = _replayed(options, groups)
    warmup_ns, mser5, sample_ns = found["warmup_ns"], found["mser5"], found["sample_ns"]
    buffer = Size(*found["buffer"])
    contestants, warnings = _contestants(options, buffer, link)
    topology = Topology.of(found["topology"]) if found["topology"] else None
    ports = found["measure"]
    seeds = _seeds(options)
    warnings += _late_starts(groups, duration_ns)
    warnings += bytes_per_second(text for name in options.given for text in options.texts(name))
    warnings += [warning for name, capture in replayed for warning in _left_out(name, capture)]
    warnings += [warning for capture in captures for warning in capture.summary()["warnings"]]
    warnings += [] if captures else _idle_ecn(contestants, groups)
    warnings += _unreached(contestants, packet_bytes)

    base = Scenario(
        aqm="",
        capacity=Trace(link.trace.name) if link.trace else Rate(link.rate_bps),
        settings=settings,
        warmup_ns=warmup_ns,
        mser5=mser5,
        sample_ns=sample_ns,
        measure=tuple(ports),
        topology=topology,
        flows=tuple(
            replace(group.flows, sources=tuple(sources), sinks=tuple(sinks))
            for group, (sources, sinks) in zip(groups, found["ends"], strict=True)
        ),
        captures=tuple(capture.name for capture in captures),
    )
    warmup = f"{MSER5} from {format_span(warmup_ns)}" if mser5 else format_span(warmup_ns)
    echoed = _echoed(settings, {"warmup": warmup, "sample": format_span(sample_ns)})
    echo = {
        "rate": None if link.trace else format_rate(link.rate_bps),
        "link_trace": link.trace.name if link.trace else None,
        "link_trace_mean_rate": _mbit(link.rate_bps) if link.trace else None,
        "rtt": echoed["rtt"],
        "buffer": str(buffer),
        "flows": [group.short for group in groups],
        "groups": [group.data() for group in groups],
        "topology": options.text("topology"),
        "topology_values": _topology_values(options),
        "measure": ports,
        "ports": _measured(ports, topology, link),
        "capture": [capture.name for capture in captures],
        "capture_figures": [_figures(capture.summary()) for capture in captures],
        **echoed,
        "seeds": list(seeds),
        "aqm": [
            {
                "label": contestant.label,
                "name": contestant.spec.name,
                "preset": contestant.spec.preset,
                "spec": contestant.spec.canonical,
                "params": contestant.spec.params,
                **({"source": contestant.spec.source} if contestant.spec.source else {}),
                **({"engine": contestant.engine} if contestant.engine else {}),
            }
            for contestant in contestants
        ],
        "rules": {"buffer": found["buffer_rule"], "warmup": found["warmup_rule"]},
        "defaults": [option.name for option in OPTIONS if _defaulted(options, option.name)],
    }
    recorded = {capture.name: capture for capture in (*captures, *(capture for _, capture in replayed))}
    traces = _recorded_links(options, topology) | ({link.trace.name: link.trace} if link.trace else {})
    files = {
        **{name: file.digest for name, file in recorded.items()},
        **{name: file.digest for name, file in traces.items()},
    }
    parsed = Inputs(
        {name: file.parsed for name, file in recorded.items()},
        {name: file.parsed for name, file in traces.items()},
    )
    return Plan(
        contestants,
        seeds,
        base,
        files,
        parsed,
        echo,
        tuple(warnings),
        groups,
        found["topology_name"],
        rate_bps=link.rate_bps,
    )


def _echoed(settings: Settings, measured: dict[str, str]) -> dict[str, str]:
    """Return the settings in words, in the order of the options, and what follows from the option ``warmup``."""
    echoed: dict[str, str] = {}
    for one in OPTIONS:
        if one.field:
            echoed[one.name] = one.write(settings[one.field])
        elif one.name in measured:
            echoed |= measured
    return echoed


def count_runs(options: Options) -> int:
    """Return how many runs options ask for, without resolving them; 1 if they are wrong."""
    try:
        aqms = sum(len(split_texts(text)) for text in options.texts("aqm"))
        return aqms * parse_whole(options.text("seeds"))
    except ValueError:
        return 1


@dataclass(frozen=True)
class _Link:
    rate_bps: int
    trace: InputFile[LinkTrace] | None


def _trace(options: Options) -> InputFile[LinkTrace] | None:
    """Return the recording: that of the link trace, or of the kind of the link."""
    named = _recording(options)
    if options.is_given("link_trace"):
        if named:
            raise options.error("link", f"names the recording '{named}', and so does the link trace: give one")
        return _file(options, "link_trace", options.text("link_trace"), inputs.link_trace)
    if not named:
        return None
    return _file(options, "link", _placed(options, named), inputs.link_trace)


def _recording(options: Options) -> str:
    """Return the recording that the kind of the link names, or none."""
    return _kind(options)["recording"] or ""


def _recorded_links(options: Options, topology: Topology | None) -> dict[str, InputFile[LinkTrace]]:
    """Return the recordings that kinds of a topology's links name, as they name them: each link may have its own."""
    found: dict[str, InputFile[LinkTrace]] = {}
    for link in topology.links if topology else ():
        recording = json.loads(_native.read_link(link.kind))["recording"] if link.kind else None
        if recording and recording not in found:
            found[recording] = _file(options, "topology", _placed(options, recording), inputs.link_trace)
    return found


def _placed(options: Options, recording: str) -> str:
    """Return where a recording is that a text names: files are beside the experiment's."""
    return recording if recording.startswith(inputs.STEPS) else str((options.folder or Path()) / recording)


def _kind(options: Options) -> dict[str, Any]:
    """Return the kind of the bottleneck's link."""
    try:
        found: dict[str, Any] = json.loads(_native.read_link(options.text("link")))
    except InputError as error:
        raise options.error("link", error) from None
    return found


def capacity(options: Options, plan: Plan) -> dict[str, str]:
    """Return the options `rate` or `link_trace` of a bottleneck whose kind these are short for.

    Raises:
        InputError: for another kind.

    """
    kind = _kind(options)
    if plan.base.settings["link"] is not None:
        raise options.error("link", f"'{kind['text']}' does not run live: a link is of kind rate or trace there")
    if plan.echo["rate"]:
        return {"rate": plan.echo["rate"]}
    return {"link_trace": kind["recording"] or options.text("link_trace")}


def _resolved(
    options: Options, trace: InputFile[LinkTrace] | None, captures: tuple[InputFile[Capture], ...]
) -> dict[str, Any]:
    """Return what the resolver makes of the options of one path."""
    given = [(one.name, text) for one in OPTIONS if _is_of_a_path(one) for text in options.texts(one.name)]
    given += [("flows", text) for text in _flow_texts(options)]
    link_trace = (trace.name, int(trace.summary()["mean_rate_bps"])) if trace else None
    names = [capture.name for capture in captures]
    try:
        found: dict[str, Any] = json.loads(
            _native.resolve_scenario(given, link_trace, names, _files(options), None if options.any_size else cost.SKIP)
        )
    except InputError as error:
        raise options.located(error) from None
    return found


def _is_of_a_path(option: Option) -> bool:
    return bool(option.field) or option.form in ("rate", "quantity") or option.name in ("topology", "measure")


def _files(options: Options) -> flows.Files:
    return flows.Files(options.folder, options.fill())


def _topology_values(options: Options) -> dict[str, str]:
    """The values of the ``$names`` in the topology's file."""
    texts = topologies.texts(options.text("topology"), _files(options), any_size=options.any_size)
    fill = options.fill()
    return {name: fill(f"${name}") for name in sorted(names(texts))}


def _measured(ports: list[str], topology: Topology | None, link: _Link) -> dict[str, dict[str, str]]:
    """The link behind each measured port and its rate; a recorded link has its mean rate.

    A dumbbell has one bottleneck, which needs no name.
    """
    if topology is None and len(ports) < 2:
        return {}
    links = {one.port: one for one in topology.links} if topology else {}
    found = {}
    for name in ports or [topology.links[topology.measured].port] if topology else ports:
        one = links.get(name)
        # The dumbbell's reverse path is as fast as its bottleneck; so is the measured link of a topology.
        rate = one.rate_bps if one and one.rate_bps else link.rate_bps
        found[name] = {"link": f"{one.source}->{one.target}" if one else name, "rate": format_rate(rate)}
    return found


def _flow_texts(options: Options) -> tuple[str, ...]:
    given = options.texts("flows")
    # A `$name` may stand for no group: a scenario without some of its senders.
    written = options.given.get("flows", ())
    texts = tuple(text for raw, text in zip(written, given, strict=True) if text or not raw.startswith("$"))
    return texts or given


def _captures(options: Options) -> tuple[InputFile[Capture], ...]:
    return tuple(_file(options, "capture", path, inputs.capture) for path in options.texts("capture"))


def _replayed(options: Options, groups: tuple[flows.Group, ...]) -> list[tuple[str, InputFile[Capture]]]:
    """Return the groups, by name, that replay a capture's connections, and the capture."""
    found = []
    for group in groups:
        if "file" in group.texts:
            try:
                found.append((group.name, inputs.capture(group.texts["file"])))
            except ValueError as error:
                raise options.error("flows", f"'{group.short}': file: {error}") from None
    return found


def _left_out(group: str, capture: InputFile[Capture]) -> list[str]:
    """Return what a closed-loop replay leaves out."""
    others = {name: n for name, n in capture.summary()["flows"].items() if name.lower() != "tcp"}
    if not others:
        return []
    left = ", ".join(f"{count} {protocol}" for protocol, count in others.items())
    return [f"flows '{group}': only TCP is replayed; flows of {capture.name} left out: {left}"]


def _figures(capture: dict[str, Any]) -> str:
    rate_bps = capture["mean_rate_bps"]
    rate = "" if rate_bps is None else f", {_mbit(rate_bps)} on average"
    flows = ", ".join(f"{count} {protocol}" for protocol, count in capture["flows"].items())
    return f"{capture['packets']} packets in {capture['duration_ns'] / 1e9:.1f}s{rate}; flows: {flows}"


def _file(options: Options, name: str, path: str, read: Callable[[str], InputFile[F]]) -> InputFile[F]:
    try:
        return read(path)
    except ValueError as error:
        raise options.error(name, error) from None


def _contestants(options: Options, buffer: Size, link: _Link) -> tuple[tuple[Contestant, ...], list[str]]:
    labels = without_swept([part for text in options.labels("aqm") for part in split_texts(text)])
    texts = [part for text in options.texts("aqm") for part in split_texts(text)]
    if not texts:
        raise options.error("aqm", "is missing: name at least one discipline ('aqmlab aqm list' shows all)")
    contestants: list[Contestant] = []
    warnings: list[str] = []
    for short, part in zip(labels, texts, strict=True):
        try:
            one = aqm_texts.read(part, short)
        except ValueError as error:
            raise options.error("aqm", error) from None
        label, text = one.label, one.text
        warnings += [f"'{label}': {note}" for note in one.notes]
        if any(label == other.label for other in contestants):
            raise options.error("aqm", f"'{label}' is given twice")
        if text.startswith(PYTHON) and options.place not in ("", "--") and text not in options.asked:
            raise options.error("aqm", f"'{text}' is code, and a file names none: give it with --aqm, or from Python")
        try:
            spec, total = Spec.resolve(text, buffer, link.rate_bps)
        except ValueError as error:
            raise options.error("aqm", error) from None
        _check_buffer(options, text, spec, buffer)
        contestants.append(Contestant(label, spec, total, one.engine))
    _check_equal(options, contestants)
    if len({contestant.buffer for contestant in contestants}) > 1:
        buffers = ", ".join(_with_buffer(one) for one in contestants)
        warnings.append(f"the buffers are unequal: {buffers}")
    return tuple(contestants), warnings


def _with_buffer(one: Contestant) -> str:
    """Return a contestant with its buffer, which its label may have already."""
    buffer = one.buffer or "its own"
    return one.label if buffer in one.label.split() else f"{one.label} {buffer}"


def _check_buffer(options: Options, text: str, spec: Spec, buffer: Size) -> None:
    """An explicit buffer and an explicit limit must not contradict each other."""
    if options.allow_unequal_buffers or not options.is_given("buffer"):
        return
    limit = spec.params.get("limit", str(buffer))
    if limit != str(buffer):
        raise options.error("aqm", f"'{text}' has limit {limit}, but the buffer is {buffer}: give one of them")


def _check_equal(options: Options, contestants: list[Contestant]) -> None:
    """RFC 7928 section 3.2: all compared AQMs have the same buffer."""
    first = contestants[0]
    for other in contestants[1:]:
        if other.buffer != first.buffer and not options.allow_unequal_buffers:
            first_buffer, other_buffer = (one.buffer or "a buffer of its own" for one in (first, other))
            raise options.error(
                "aqm",
                f"'{other.label}' has {other_buffer} of buffer and '{first.label}' {first_buffer}: give all the "
                f"same limit, or {_unequal(options)}",
            )


def _unequal(options: Options) -> str:
    if options.place == "--":
        return "--allow-unequal-buffers"
    return "allow_unequal_buffers = true" if options.place else "allow_unequal_buffers=True"


def _idle_ecn(contestants: tuple[Contestant, ...], groups: tuple[flows.Group, ...]) -> list[str]:
    """Return warnings about marks that no flow supports, and about ECN flows that not all AQMs mark which might."""
    capable = [group.name for group in groups if group.ecn_capable]
    if capable:
        marking = [one.label for one in contestants if marks(one.spec)]
        if not marking:
            return [f"flows '{', '.join(capable)}' support ECN, but no AQM here marks: packets are dropped"]
        able = [one for one in contestants if one.spec.params.get("ecn") == "off"]
        if not able:
            return []
        dropping, first = listed([one.label for one in able]), able[0].spec.name
        return [f"ECN is unequal: {listed(marking)} may mark, {dropping} would with ecn, as in '{first} ecn'"]
    others = dict.fromkeys(f"'{one.spec.name} ecn'" for one in contestants if one.spec.params.get("ecn") == "off")
    beside = f", and compare it with {listed([*others])}" if others else ""
    return [
        f"'{contestant.label}' may mark, but no flow supports ECN: packets are dropped; give flows ecn=classic{beside}"
        for contestant in contestants
        if marks(contestant.spec) and ("ecn" in contestant.spec.given or contestant.spec.source)
    ]


def _unreached(contestants: tuple[Contestant, ...], packet_bytes: int) -> list[str]:
    """Return warnings about thresholds that a queue cannot reach before it is full."""
    warnings = []
    for contestant in contestants:
        params = contestant.spec.params
        for name in (name for name in THRESHOLDS if name in params and "limit" in params):
            # Of other disciplines a parameter of this name is a time, a number or found by the law itself.
            with suppress(ValueError):
                lowest, limit = Size.parse(params[name]), Size.parse(params["limit"])
                if lowest.in_bytes(packet_bytes) >= limit.in_bytes(packet_bytes) > 0:
                    warnings.append(
                        f"'{contestant.label}' does nothing below {name} {lowest}, and its queue is full at {limit}: "
                        f"give a larger buffer, or a limit"
                    )
    return warnings


def _late_starts(groups: tuple[flows.Group, ...], duration_ns: int) -> list[str]:
    return [
        f"flows '{group.name}' may start as late as {format_span(group.latest_start_ns)}, "
        f"when the run of {format_span(duration_ns)} is over: give them an earlier start, as start=0s"
        for group in groups
        if group.latest_start_ns >= duration_ns
    ]


def _seeds(options: Options) -> tuple[int, ...]:
    count, first = options.value("seeds"), options.value("first_seed")
    if (last := first + count - 1) > LARGEST_SEEDS:
        raise options.error("first_seed", f"'{first}' makes {last} the last seed: allowed is up to {LARGEST_SEEDS}")
    return tuple(range(first, last + 1))


def _mbit(bits_per_sec: int) -> str:
    return f"{bits_per_sec / 1e6:.4g}mbit"


def _defaulted(options: Options, name: str) -> bool:
    if name == "flows" and options.is_given("capture"):
        return False
    return bool(BY_NAME[name].default) and not options.is_given(name)
