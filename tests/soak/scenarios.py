"""Random scenarios: every topology, kind of flow, discipline and transport, with traces, captures and switches.

A scenario is what one would give to `aqmlab compare`, by option. Most are valid; the others must be refused in
one line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from aqmlab.scenario import registry
from aqmlab.scenario.kinds import GROUPS, KINDS, PROFILES, TRANSPORTS

DATA = Path(__file__).resolve().parents[2] / "data"
CAPTURE = str(DATA / "captures" / "aqmlab-lan.pcap")
LINK_TRACE = str(DATA / "link-traces" / "aqmlab-lte.down")

KBIT, MBIT, GBIT = 1_000, 1_000_000, 1_000_000_000
RATES = (10 * KBIT, 100 * KBIT, MBIT, 5 * MBIT, 10 * MBIT, 100 * MBIT, GBIT, 10 * GBIT, 100 * GBIT)
RTTS = ("1us", "40us", "1ms", "10ms", "40ms", "160ms", "1s")
# Full packets that the bottleneck carries at most.
PACKETS = 1500
LONGEST_S = 30.0

PROGRAMS = ("dscp", "dscp int", "dscp threshold 3000b notify int", "dscp target 1ms period 10ms", "pmqecn", "qcn")
SWITCHED = ("star", "many_to_one", "many_to_many", "leaf_spine")


def _switch() -> st.SearchStrategy[str]:
    buffers = st.sampled_from(("", ":buffer=30kb", ":buffer=100kb:alpha=0.5", ":buffer=9mb:alpha=4"))
    pauses = st.sampled_from(("", ":xoff=5kb", ":xoff=20kb:xon=10kb:quanta=100", ":xoff=20kb:headroom=2kb"))
    programs = st.sampled_from(("", *(f":program={program}" for program in PROGRAMS)))
    return st.tuples(buffers, pauses, programs).map("".join)


def topologies() -> st.SearchStrategy[str]:
    """Return topologies with few nodes."""
    few, access = st.integers(1, 5), st.sampled_from(("turns", "backoff"))
    plain = [
        st.just("dumbbell"),
        few.map(lambda hops: f"parking_lot:hops={hops}"),
        few.map(lambda stations: f"shared_medium:stations={stations}"),
        st.tuples(few, few, access).map(lambda n: f"bus:clients={n[0]}:servers={n[1]}:access={n[2]}"),
        st.sampled_from(("asymmetric", "asymmetric:up=100kbit", "asymmetric:up=50mbit")),
        st.sampled_from(("campus:clients=16", "campus:clients=32")),
    ]
    sizes = {
        "star": few.map(lambda hosts: f"star:hosts={hosts + 1}"),
        "many_to_one": few.map(lambda senders: f"many_to_one:senders={senders}"),
        "many_to_many": st.tuples(few, few).map(lambda n: f"many_to_many:senders={n[0]}:servers={n[1]}"),
        "leaf_spine": st.tuples(few, few).map(lambda n: f"leaf_spine:leaves={n[0] + 1}:spines={n[1]}:hosts=2"),
    }
    switched = [st.tuples(sizes[name], _switch()).map("".join) for name in SWITCHED]
    return st.one_of(st.just("dumbbell"), *plain, *switched)


@st.composite
def flows(draw: st.DrawFn, rate: int, kinds: tuple[str, ...]) -> str:
    """Return a group of flows, one of `kinds`, for a link of about this rate."""
    kind = draw(st.sampled_from(kinds))
    count = draw(st.integers(1, 4))
    keys: dict[str, str] = {}

    def maybe(key: str, *values: str) -> None:
        if draw(st.integers(0, 2)) == 0:
            keys[key] = draw(st.sampled_from(values))

    some = f"{max(rate // draw(st.sampled_from((1, 2, 10))), 1000)}bit"
    if kind in ("cbr", "onoff", "pareto", "weibull", "poisson"):
        keys["rate"] = some
    if kind == "replay":
        keys["file"] = CAPTURE
    if kind == "steps":
        keys["rates"] = f"{max(rate // 10, 1000)}bit..{some}" if rate // 10 < rate else some
    if kind == "workload":
        keys["size"] = draw(st.sampled_from(("10kb", "websearch", "exp(20kb)")))
        keys["load"] = draw(st.sampled_from(("0.1", "0.9")))
    if kind == "incast":
        keys["servers"] = draw(st.sampled_from(("2", "8", "40")))
    if kind in KINDS and "size" in {key.name for key in KINDS[kind].keys} and kind not in ("workload",):
        maybe("size", "1b", "10kb", "100kb")
    if kind in ("telnet", "gaming", "vbr", "arrivals"):
        maybe("gap", "1ms", "exp(20ms)", "100us..10ms")
    maybe("start", "0s", "100ms", "0s..10ms")
    maybe("rtt", "10us", "5ms", "300ms")
    maybe("class", "0", "1", "3", "9")
    maybe("dscp", "0", "26", "46")
    maybe("ecn", "off", "classic", "l4s")
    form = TRANSPORTS[kind].form if kind in TRANSPORTS else None
    if form == "stack":
        maybe("packet", "1228b", "1500b", "9000b")
    if kind == "quinn":
        maybe("cc", "cubic", "newreno")
        maybe("streams", "1", "3", "100")
        maybe("credit", "3kb", "10mb")
        maybe("mtud", "on", "off")
    if kind == "smoltcp":
        maybe("cc", "cubic", "reno", "none")
        maybe("buffer", "2kb", "64kb", "4mb")
    if form == "tcp":
        maybe("mss", "1b", "100b", "1448b", "9000b")
        maybe("window", "2p", "20p", "1mb")
        for switch in ("sack", "pacing", "handshake", "ipv6", "recovery.eifel", "recovery.prr", "recovery.rack"):
            maybe(switch, "on", "off")
        maybe("slow_start.hystart", "off", "plusplus", "classic", "classic_first")
        maybe("delack", "off", "40ms", "1us")
        for profile in ("profile", *(group.name for group in GROUPS.values() if group.of_profiles)):
            maybe(profile, *PROFILES)
    elif kind in ("cbr", "poisson", "onoff"):
        maybe("packet", "28b", "100b", "1500b", "9000b", "65000b")
        maybe("transport", "udp", "cubic", "bbr3", "prague")
    return ":".join([f"{count}*{kind}", *(f"{key}={value}" for key, value in keys.items())])


@st.composite
def aqms(draw: st.DrawFn) -> str:
    """Return a discipline with one of its presets."""
    one = draw(st.sampled_from(registry.disciplines()))
    preset = draw(st.sampled_from(one.presets))
    return f"{one.name}:{preset.name}"


@st.composite
def scenarios(draw: st.DrawFn, traces: tuple[str, ...], kinds: tuple[str, ...]) -> dict[str, Any]:
    """Return the options of a small comparison; `traces` and `kinds` are link traces and flows to choose from."""
    options: dict[str, Any] = {"aqm": draw(aqms()), "rtt": draw(st.sampled_from(RTTS)), "seeds": "1"}
    rate = draw(st.sampled_from(RATES))
    if draw(st.integers(0, 7)) == 0:
        options["link_trace"] = draw(st.sampled_from((LINK_TRACE, *traces)))
        rate = MBIT
    else:
        options["rate"] = f"{rate}bit"
    options["topology"] = draw(topologies())
    groups = draw(st.lists(flows(rate, kinds), min_size=0, max_size=3))
    if groups:
        options["flows"] = groups
    if draw(st.integers(0, 9)) == 0:
        options["capture"] = CAPTURE
    longest = min(LONGEST_S, PACKETS * 12_000 / rate)
    duration = longest * draw(st.sampled_from((0.01, 0.3, 1.0)))
    options["duration"] = f"{max(int(duration * 1e9), 1000)}ns"
    options["warmup"] = f"{int(duration * 1e9 * draw(st.sampled_from((0, 0.1, 0.5, 0.9))))}ns"
    buffers = ("1p", "5p", "20p", "1000p", "3000b", "64kb", "10ms", "1bdp")
    for name, values in {
        "buffer": buffers,
        "overhead": ("0b", "14b", "100b"),
        "device_ring": ("1p", "2p", "16p", "1000p"),
        "loss": ("0%", "1%", "50%"),
        "jitter": ("0ms", "1us", "5ms", "100ms"),
        "access_rate": ("10kbit", f"{rate}bit", f"{100 * rate}bit"),
        "series": ("flows", "groups"),
        "observe": ("none", "flow_monitor", "queue_ewma"),
    }.items():
        if draw(st.integers(0, 3)) == 0:
            options[name] = draw(st.sampled_from(values))
    if options["topology"] == "dumbbell" and draw(st.integers(0, 3)) == 0:
        options["measure"] = draw(st.sampled_from(("bottleneck", "back", "bottleneck,back")))
    return options
