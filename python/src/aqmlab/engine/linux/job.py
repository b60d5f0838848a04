"""A scenario as a job for the guest; what the guest cannot do is refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab._native import Inputs
from aqmlab.engine.linux import netem, recorded
from aqmlab.engine.linux.network import Network
from aqmlab.engine.linux.recorded import Array
from aqmlab.scenario.flows import CONTROLS as CHOSEN
from aqmlab.scenario.flows import keys_of, parse
from aqmlab.scenario.kinds import KINDS
from aqmlab.scenario.model import Flows, Rate, Scenario
from aqmlab.scenario.options import SETTINGS
from aqmlab.vocabulary.errors import InputError, about

# Congestion controls by their names here, and in the kernel.
CONTROLS = {"newreno": "reno", "cubic": "cubic", "bbr1": "bbr", "dctcp": "dctcp"}
# Kinds of flow over UDP, by the form of their source.
DATAGRAMS = {"cbr": "cbr", "poisson": "poisson", "on_off": "onoff"}
# What the kernel starts with; windows that begin larger keep its receivers in quick-ACK mode for long.
BUFFERS = {"tcp_rmem": "4096,131072,6291456", "tcp_wmem": "4096,262144,134217728"}
# The guest's clock says this when the scenario begins: late enough for every set-up.
START_NS = 1_700_000_060 * 10**9
BOOT_NS = START_NS - 60 * 10**9
# The taps go on for so long after the end.
AFTER_NS = 10**9
FIRST_PORT = 20_000
MOST_FLOWS = 1000
# The smallest datagram has a number that the taps know it by.
SMALLEST_DATAGRAM = 32
# Options and keys of flows that the guest follows. Any other has its default, or is refused.
OPTIONS = ("rtt", "access_rate", "duration", "series", *netem.OPTIONS)
KEYS = (
    *("name", "transport", "start", "spacing", "rtt", "size", "iw", "mss", "minrto", "sack", "ecn"),
    *("rate", "packet", "on", "off", "from", "to"),
)
# What a kind needs, of those.
NEEDED = {"rate": "1mbit"}
# The profiles of the package that the kernel is compared with: what only they set is the kernel's own.
PROFILES = ("rfc", "linux")


@dataclass(frozen=True)
class Flow:
    """One flow of a run."""

    id: int
    group: int
    path: int
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
    """A run, as the guest reads it: variables of a shell, its network, and its flows."""

    variables: dict[str, object]
    network: Network
    flows: tuple[Flow, ...]
    sources: tuple[Flows, ...]
    seed: int
    end_ns: int
    # When a recorded link can send, nanoseconds.
    opportunities: Array | None = None

    @property
    def programs(self) -> list[str]:
        """What measures, and who sends and receives: a line for each program of the guest."""
        ports = self.network.ports
        taps = [(port.box, entry, "in") for port in ports for entry in port.entries]
        taps += [(port.box, port.interface, "out") for port in ports]
        recorded = self.network.recorded
        return [
            *([f"pace {recorded[0]} {recorded[1]}"] if recorded else []),
            *dict.fromkeys(f"watch {box} {interface} {direction}" for box, interface, direction in taps),
            f"answers {taps[0][0]} {taps[0][1]}",
            *(f"sample {port.box} {port.interface}" for port in ports),
            *(f"receive {box}" for box in self.network.receivers),
            *(f"send {box}" for box in self.network.senders),
        ]

    def sent_by(self, box: str) -> list[Flow]:
        """The flows of a sender."""
        return [flow for flow in self.flows if self.network.paths[flow.path].nodes[0] == box]

    def lines(self, box: str) -> list[str]:
        """A line for each flow of a box, as the guest's sender reads it."""
        return [f"{flow.port} {flow.path} {flow.control} {flow.start_ns} {flow.amount}" for flow in self.sent_by(box)]

    def datagrams(self, box: str) -> list[tuple[int, int]]:
        """When each datagram of a box is sent, in order, and the number of its flow among the lines."""
        return sorted(
            (at_ns, line)
            for line, flow in enumerate(self.sent_by(box))
            if not flow.is_tcp
            for at_ns in _sendings(self.sources[flow.group], flow.start_ns, self.end_ns, f"{self.seed} {flow.id}")
        )


def described(scenario: Scenario, seed: int, states_ns: int = 0, inputs: Inputs | None = None) -> Job:
    """Return the job of a run; of one that is traced, with how often the states of TCP are looked at.

    Without inputs it is no more than a look whether the guest can do it: a recorded link has nothing to send.

    Raises:
        InputError: naming what the guest cannot do.

    """
    _check(scenario)
    if states_ns and scenario.topology:
        raise about("topology", "engine linux traces the dumbbell only")
    opportunities = _opportunities(scenario, inputs)
    network = Network(scenario, _rate_bps(scenario, opportunities))
    sack = {group.transport[1]["sack"] for group in scenario.flows if group.transport[0] == "tcp"} or {True}
    if len(sack) > 1:
        raise about("flows", "'sack' is the same for all flows in engine linux")
    switches = {**BUFFERS, "tcp_sack": str(int(sack.pop()))}
    variables: dict[str, object] = {
        "SYSCTLS": " ".join(f"net.ipv4.{name}={value}" for name, value in switches.items()),
        "START_NS": START_NS,
        "WARM_NS": scenario.warmup_ns,
        "END_NS": scenario.duration_ns,
        "SAMPLE_NS": scenario.sample_ns,
        "STATES_NS": states_ns or scenario.sample_ns,
        "TRACE": int(states_ns > 0),
    }
    flows = _flows(scenario, network, seed)
    return Job(variables, network, flows, scenario.flows, seed, scenario.duration_ns, opportunities)


def _opportunities(scenario: Scenario, inputs: Inputs | None) -> Array | None:
    if isinstance(scenario.capacity, Rate):
        return None
    if inputs is None:
        return np.array([0, recorded.MS_NS])
    once_ms = np.frombuffer(inputs.opportunities_ms(scenario.capacity.trace), "<i8")
    return recorded.opportunities_ns(once_ms, scenario.duration_ns + AFTER_NS)


def _rate_bps(scenario: Scenario, opportunities: Array | None) -> int:
    if isinstance(scenario.capacity, Rate):
        return scenario.capacity.rate_bps
    assert opportunities is not None
    return round(recorded.rate_bps(opportunities, 0, int(opportunities[-1])))


def _flows(scenario: Scenario, network: Network, seed: int) -> tuple[Flow, ...]:
    # Starts do not depend on the discipline: AQMs are compared on the same traffic.
    draw = random.Random(seed)
    flows: list[Flow] = []
    for number, group in enumerate(scenario.flows):
        control = group.congestion_control
        (carrier, carried), (_, source) = group.transport, group.source
        amount = (source["size_bytes"] or 0) if carrier == "tcp" else carried["packet_bytes"]
        for place in range(group.count):
            start_ns = draw.randint(*group.start_ns) + place * group.spacing_ns
            known = CONTROLS[control] if control else "udp"
            kind = control or DATAGRAMS[group.source[0]]
            path = network.chosen[number, place]
            rtt_ns = network.paths[path].rtt_ns
            flows.append(Flow(len(flows), number, path, group.name, kind, known, start_ns, rtt_ns, amount))
    return tuple(flows)


def _sendings(group: Flows, start_ns: int, end_ns: int, seed: str) -> Iterator[int]:
    """Yield when a source over UDP sends, until a second after the end."""
    (_, carried), (form, source) = group.transport, group.source
    draw = random.Random(seed)
    gap_ns = carried["packet_bytes"] * 8e9 / source["rate_bps"]
    at_ns, until_ns = float(start_ns), end_ns + AFTER_NS
    while at_ns < until_ns:
        # Without periods it is always ON.
        on_ns = float(source["on"]["constant"]["value"]) if form == "on_off" else until_ns
        stop_ns = at_ns + on_ns
        while at_ns < min(stop_ns, until_ns):
            yield round(at_ns)
            at_ns += draw.expovariate(1 / gap_ns) if form == "poisson" else gap_ns
        at_ns = stop_ns + (float(source["off"]["constant"]["value"]) if form == "on_off" else 0)


def _check(scenario: Scenario) -> None:
    """Refuse what the guest does not support."""

    def refuse(what: str, key: str) -> None:
        raise InputError(f"{key}: engine linux {what}")

    if scenario.captures:
        refuse("replays no captures", "capture")
    for option in SETTINGS:
        given = scenario.settings[option.field]
        if option.name not in OPTIONS and given != option.value:
            refuse(f"has {option.default}, not {option.write(given)}", option.name)
    if scenario.mser5:
        refuse("does not measure so", "warmup")
    if sum(group.count for group in scenario.flows) > MOST_FLOWS:
        refuse(f"has at most {MOST_FLOWS} flows", "flows")
    for group in scenario.flows:
        if problem := _unable(group):
            raise about("flows", f"'{group.name}': engine linux {problem}")


def _unable(group: Flows) -> str:
    """Return what of a group the guest cannot do; empty if it can do all."""
    (carrier, carried), (form, source) = group.transport, group.source
    if carrier == "udp" and form in DATAGRAMS:
        if any("constant" not in source.get(period, {"constant": 0}) for period in ("on", "off")):
            return "has periods of one length"
        if carried["ecn"] != "off":
            return "sends datagrams without ECN"
        is_known = carried["packet_bytes"] >= SMALLEST_DATAGRAM
        return _untold(group) if is_known else f"sends packets of {SMALLEST_DATAGRAM}b or more"
    if carrier != "tcp" or form != "bulk":
        what = form if carrier in ("tcp", "udp") else carried[CHOSEN[carrier]]
        return f"sends bulk data over TCP and {', '.join(DATAGRAMS.values())} over UDP, not {what}"
    if group.congestion_control not in CONTROLS:
        return f"has {', '.join(CONTROLS)}, not {group.congestion_control}"
    if carried["ecn"] == "l4s":
        return "has no 'ecn=l4s': no kernel here has TCP Prague"
    return _untold(group)


def _settings(group: Flows) -> dict[str, Any]:
    """Return all settings of a group by field."""
    carried: dict[str, Any] = {}
    for name, value in group.transport[1].items():
        # The rules of a group are a table.
        carried |= {f"{name}.{rule}": one for rule, one in value.items()} if isinstance(value, dict) else {name: value}
    socket = dict(group.socket or {})
    of_paper = {f"{socket['socket']}.{rule}": value for rule, value in socket.items()} if socket else {}
    return {**group.data(), **carried, **of_paper, **group.source[1]}


def _untold(group: Flows) -> str:
    """Refuse what differs from every profile that the kernel stands for, unless the guest can be configured so."""
    carrier, form = group.transport[0], group.source[0]
    kind, transport = KINDS[group.congestion_control or DATAGRAMS[form]], group.congestion_control or carrier
    settings = _settings(group)
    needed = "".join(f":{name}={NEEDED[name]}" for name in kind.must)
    over = "" if len(kind.transports) == 1 else f":transport={transport}"
    profiles = [f":profile={name}" for name in PROFILES] if carrier == "tcp" else [""]
    usual = [_settings(parse(f"1*{kind.name}{over}{needed}{profile}").flows) for profile in profiles]
    for name, key in keys_of(kind, transport).items():
        if (
            name not in KEYS
            and key.field in settings
            and settings[key.field] not in [one.get(key.field) for one in usual]
        ):
            return f"cannot set '{name}': leave it out"
    return ""
