"""A scenario as a job for the guest; what the guest cannot do is refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from aqmlab.engine.linux import tc
from aqmlab.scenario import values
from aqmlab.scenario.flows import defaults_of, keys_of
from aqmlab.scenario.kinds import KINDS
from aqmlab.scenario.model import Flows, Rate, Scenario
from aqmlab.scenario.options import SETTINGS
from aqmlab.scenario.registry import Spec
from aqmlab.vocabulary.errors import InputError

# Congestion controls by their names here, and in the kernel.
CONTROLS = {"newreno": "reno", "cubic": "cubic", "bbr1": "bbr", "dctcp": "dctcp"}
# Kinds of flow over UDP, by the form of their source.
DATAGRAMS = {"cbr": "cbr", "poisson": "poisson", "on_off": "onoff"}
# What the kernel starts with; windows that begin larger keep its receivers in quick-ACK mode for long.
BUFFERS = {"tcp_rmem": "4096,131072,6291456", "tcp_wmem": "4096,262144,134217728"}
# The guest's clock says this when the scenario begins: late enough for every set-up.
START_NS = 1_700_000_060 * 10**9
BOOT_NS = START_NS - 60 * 10**9
FIRST_PORT = 20_000
MOST_FLOWS = 1000
MOST_GROUPS = 15
ACK_BYTES = 66
IP_HEADERS = 52
# The smallest datagram has a number that the taps know it by.
SMALLEST_DATAGRAM = 32
# Options and keys of flows that the guest follows. Any other has its default, or is refused.
OPTIONS = ("rtt", "access_rate", "duration", "series", "loss")
KEYS = (
    *("name", "transport", "start", "apart", "rtt", "size", "iw", "mss", "minrto", "sack", "ecn"),
    *("rate", "packet", "on", "off"),
)
# The stacks of the package that the kernel is compared with: what only they set is the kernel's own.
STACKS = ("rfc", "linux")


@dataclass(frozen=True)
class Flow:
    """One flow of a run."""

    id: int
    group: int
    name: str
    kind: str
    control: str
    start_ns: int
    rtt_ns: int
    # TCP's payload, 0 without end; of datagrams the length.
    amount: int

    @property
    def port(self) -> int:
        """The port that it sends from."""
        return FIRST_PORT + self.id

    @property
    def is_tcp(self) -> bool:
        """Whether TCP carries it."""
        return self.control != "udp"


@dataclass(frozen=True)
class Job:
    """A run, as the guest reads it: variables of a shell, a line for each group and each flow."""

    variables: dict[str, object]
    groups: tuple[str, ...]
    flows: tuple[Flow, ...]
    sources: tuple[Flows, ...]
    seed: int
    end_ns: int

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each flow, as the guest's sender reads it."""
        return tuple(f"{flow.port} {flow.group} {flow.control} {flow.start_ns} {flow.amount}" for flow in self.flows)

    @property
    def datagrams(self) -> list[tuple[int, int]]:
        """When each datagram is sent, in order, and the number of its flow."""
        return sorted(
            (at_ns, flow.id)
            for flow in self.flows
            if not flow.is_tcp
            for at_ns in _sendings(self.sources[flow.group], flow.start_ns, self.end_ns, f"{self.seed} {flow.id}")
        )


def described(scenario: Scenario, seed: int, states_ns: int = 0) -> Job:
    """Return the job of a run; of one that is traced, with how often the states of TCP are looked at.

    Raises:
        InputError: naming what the guest cannot do.

    """
    _check(scenario)
    assert isinstance(scenario.capacity, Rate)
    rate = scenario.capacity.rate_bps
    words = tc.qdisc(Spec.parse(scenario.aqm), rate)
    sack = {group.transport[1]["sack"] for group in scenario.flows if group.transport[0] == "tcp"} or {True}
    if len(sack) > 1:
        raise InputError("flows: 'sack' is the same for all flows in engine linux")
    switches = {**BUFFERS, "tcp_sack": str(int(sack.pop()))}
    variables: dict[str, object] = {
        "RATE_BPS": rate,
        "QDISC": words,
        "SHAPER": "own" if tc.shapes(words) else "htb",
        "SYSCTLS": " ".join(f"net.ipv4.{name}={value}" for name, value in switches.items()),
        "LOSS": f"{scenario.settings['loss']:%}" if scenario.settings["loss"] else 0,
        "START_NS": START_NS,
        "WARM_NS": scenario.warmup_ns,
        "END_NS": scenario.duration_ns,
        "SAMPLE_NS": scenario.sample_ns,
        "STATES_NS": states_ns or scenario.sample_ns,
        "TRACE": int(states_ns > 0),
    }
    groups = tuple(_group(scenario, group) for group in scenario.flows)
    return Job(variables, groups, _flows(scenario, seed), scenario.flows, seed, scenario.duration_ns)


def _flows(scenario: Scenario, seed: int) -> tuple[Flow, ...]:
    # Starts do not depend on the discipline: AQMs are compared on the same traffic.
    draw = random.Random(seed)
    flows: list[Flow] = []
    for number, group in enumerate(scenario.flows):
        control = group.congestion_control
        (carrier, carried), (_, source) = group.transport, group.source
        amount = (source["size_bytes"] or 0) if carrier == "tcp" else carried["packet_bytes"]
        for place in range(group.count):
            start_ns = draw.randint(*group.start_ns) + place * group.apart_ns
            known = CONTROLS[control] if control else "udp"
            kind = control or DATAGRAMS[group.source[0]]
            rtt_ns = scenario.settings["rtt_ns"] if group.rtt_ns is None else group.rtt_ns
            flows.append(Flow(len(flows), number, group.name, kind, known, start_ns, rtt_ns, amount))
    return tuple(flows)


def _sendings(group: Flows, start_ns: int, end_ns: int, seed: str) -> Iterator[int]:
    """Yield when a source over UDP sends, until a second after the end."""
    (_, carried), (form, source) = group.transport, group.source
    draw = random.Random(seed)
    gap_ns = carried["packet_bytes"] * 8e9 / source["rate_bps"]
    at_ns, until_ns = float(start_ns), end_ns + 10**9
    while at_ns < until_ns:
        # Without periods it is always ON.
        on_ns = float(source["on"]["constant"]["value"]) if form == "on_off" else until_ns
        stop_ns = at_ns + on_ns
        while at_ns < min(stop_ns, until_ns):
            yield round(at_ns)
            at_ns += draw.expovariate(1 / gap_ns) if form == "poisson" else gap_ns
        at_ns = stop_ns + (float(source["off"]["constant"]["value"]) if form == "on_off" else 0)


def _group(scenario: Scenario, group: Flows) -> str:
    """The delay of a group's way back, and the settings of the route to it."""
    assert isinstance(scenario.capacity, Rate)
    rate = scenario.capacity.rate_bps
    # The guest's packets take no time on wires: their serialisation times are added to the base RTT.
    wires_ns = (tc.FULL_BYTES + ACK_BYTES) * 8e9 * (1 / rate + 2 / (scenario.settings["access_rate_bps"] or 10 * rate))
    rtt_ns = scenario.settings["rtt_ns"] if group.rtt_ns is None else group.rtt_ns
    delay = f"{(rtt_ns + round(wires_ns)) / 1000:g}us" if group.transport[0] == "tcp" else f"{rtt_ns / 1000:g}us"
    carrier, tcp = group.transport
    if carrier == "udp":
        return delay
    route = f"initcwnd {tcp['iw']} advmss {tcp['mss_bytes'] + IP_HEADERS - 40} rto_min {tcp['minrto_ns'] // 10**6}ms"
    return f"{delay} {route}{' features ecn' if tcp['ecn'] == 'classic' else ''}"


def _check(scenario: Scenario) -> None:
    """Refuse what the guest does not support."""

    def refuse(what: str, key: str) -> None:
        raise InputError(f"{key}: engine linux {what}")

    if not isinstance(scenario.capacity, Rate):
        refuse("has links of a constant rate only", "link_trace")
    if scenario.captures:
        refuse("replays no captures", "capture")
    if scenario.topology is not None:
        refuse("runs the dumbbell only", "topology")
    for option in SETTINGS:
        given = scenario.settings[option.field]
        if option.name not in OPTIONS and given != option.value:
            refuse(f"has {option.default}, not {option.write(given)}", option.name)
    if scenario.mser5:
        refuse("does not measure so", "warmup")
    if any(port != "bottleneck" for port in scenario.measure):
        refuse("measures the bottleneck only", "measure")
    if sum(group.count for group in scenario.flows) > MOST_FLOWS or len(scenario.flows) > MOST_GROUPS:
        refuse(f"has at most {MOST_FLOWS} flows in {MOST_GROUPS} groups", "flows")
    for group in scenario.flows:
        if problem := _unable(group):
            raise InputError(f"flows: '{group.name}': engine linux {problem}")


def _unable(group: Flows) -> str:
    """Return what of a group the guest cannot do; empty if it can do all."""
    (carrier, carried), (form, source) = group.transport, group.source
    if group.sources or group.sinks:
        return "runs the dumbbell only"
    if carrier == "udp" and form in DATAGRAMS:
        if any("constant" not in source.get(period, {"constant": 0}) for period in ("on", "off")):
            return "has periods of one length"
        if carried["ecn"] != "off":
            return "sends datagrams without ECN"
        is_known = carried["packet_bytes"] >= SMALLEST_DATAGRAM
        return _untold(group) if is_known else f"sends packets of {SMALLEST_DATAGRAM}b or more"
    if carrier != "tcp" or form != "bulk":
        return f"sends bulk data over TCP and {', '.join(DATAGRAMS.values())} over UDP, not {form}"
    if group.congestion_control not in CONTROLS:
        return f"has {', '.join(CONTROLS)}, not {group.congestion_control}"
    if carried["ecn"] == "l4s":
        return "has no 'ecn=l4s': no kernel here has TCP Prague"
    return _untold(group)


def _untold(group: Flows) -> str:
    """Refuse what differs from every stack that the kernel stands for, unless the guest can be told."""
    (carrier, carried), (form, source) = group.transport, group.source
    kind, transport = KINDS[group.congestion_control or DATAGRAMS[form]], group.congestion_control or carrier
    said = {**group.data(), **carried, **source}
    defaults = [defaults_of(kind, transport, stack) for stack in STACKS]
    for name, key in keys_of(kind, transport).items():
        if name in KEYS or key.field not in said:
            continue
        usual = [None if text is None else values.read(key, text) for text in (one[name] for one in defaults)]
        if said[key.field] not in [values.resolved(key, one, said.get("mss_bytes", 0)) for one in usual]:
            return f"cannot be told '{name}': leave it out"
    return ""
