"""The compiled part of aqmlab: the core and the simulator, as plain data.

Quantities are whole numbers in base units: nanoseconds, bit/s, bytes, packets.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, Self, TypeAlias, final, type_check_only

from typing_extensions import disjoint_base

__all__ = [
    "Cancelled",
    "Capture",
    "CheckError",
    "DataPlane",
    "InputError",
    "Inputs",
    "LinkTrace",
    "Monitor",
    "Packet",
    "PathTrace",
    "Range",
    "RateReceiver",
    "RateSender",
    "Run",
    "Signals",
    "Stepper",
    "advice_best",
    "advice_difference",
    "advice_figures",
    "advice_grade",
    "advice_grades",
    "advice_has_script",
    "advice_interfaces",
    "advice_layers",
    "advice_line",
    "advice_of_run",
    "advice_ranked",
    "advice_setups",
    "advice_shaped",
    "advice_shortfall",
    "advice_sqm",
    "advice_steps",
    "advice_support",
    "advice_target",
    "advice_tc",
    "advice_undo",
    "advice_usual",
    "advice_with_overhead",
    "bucket_width_ns",
    "build_info",
    "classify",
    "commit",
    "conformance",
    "cost",
    "declare_discipline",
    "declare_transport",
    "defect",
    "discipline_of",
    "disciplines",
    "drop_share",
    "estimate",
    "experiment_schema",
    "flow_keys",
    "flows",
    "format_bytes",
    "format_rate",
    "format_span",
    "is_tc",
    "link",
    "link_kinds",
    "metrics",
    "options",
    "overflow_victim",
    "panic",
    "parse_bytes",
    "parse_flows",
    "parse_fraction",
    "parse_rate",
    "parse_size",
    "parse_span",
    "parse_spec",
    "pmqecn_queue",
    "pmqecn_solve",
    "programs",
    "queue_metrics",
    "read_link",
    "read_option",
    "read_quantities",
    "replay_link",
    "resolve_aqm",
    "resolve_scenario",
    "run",
    "scenario_schema",
    "sketch",
    "sweep_points",
    "tc_table",
    "tc_words",
    "timer_lateness",
    "topologies",
    "topology_texts",
    "translate_tc",
    "version",
    "watch_signals",
    "write_option",
]

@type_check_only
class Files(Protocol):
    """What places and reads the files that options name."""

    def place(self, name: str, /) -> str:
        """Return the path of a file."""

    def read(self, place: str, most: int, /) -> str:
        """Return the text of a file of so many bytes at most."""

    @property
    def fill(self) -> Callable[[str], str]:
        """What replaces the ``$names`` in a text of a topology's file."""

class InputError(ValueError):
    """Something from outside is wrong: the text names file, key and value, and what is allowed.

    Its fields are empty where only the text is known.
    """

    #: The option, as ``flows``.
    option: str
    #: Where in the option's value, from outside to inside: ``("'2*cubic:iw=0'", "iw")``.
    path: tuple[str, ...]
    #: The refused value as written.
    value: str
    #: What is allowed: the names, or one phrase.
    allowed: tuple[str, ...]
    #: The nearest allowed name.
    nearest: str | None
    #: The text without the option.
    problem: str

class CheckError(RuntimeError):
    """A run broke one of its own checks: a defect of aqmlab, not of the input."""

class Cancelled(Exception):  # noqa: N818
    """The run was stopped through its monitor."""

def version() -> str:
    """Return the version of this build."""

def commit() -> str:
    """Return the commit that this was built from, with + where files had been changed; empty outside of a checkout."""

def build_info() -> str:
    """Return how this build was made, as JSON: version, hash of the sources that decide results, profile, target."""

def disciplines() -> str:
    """Return every discipline of the registry, in its order, as JSON."""

def discipline_of(text: str) -> str:
    """Return the discipline that a text in tc's notation names, as JSON: of the registry, or declared."""

def declare_transport(
    name: str, summary: str, params: list[tuple[str, str]], marks: bool, writes: bool, source: str, make: Any
) -> None:
    """Declare a transport that Python drives: a kind of flow from now on.

    ``marks``: it sets the ECN field; ``writes``: it has a method ``write``. ``make`` returns an end from its role
    (``client`` or ``server``), its parameters' values, the bytes to send (``None`` for no end, 0 where they are
    written over time), the start in nanoseconds, and a seed. Raises `InputError`.
    """

def declare_discipline(
    name: str,
    summary: str,
    params: list[tuple[str, str]],
    probes: list[tuple[str, str]],
    traits: dict[str, Any],
    wakes: bool,
    make: Any,
) -> None:
    """Declare a discipline that is written in Python: its parameters with their defaults, probes (with units), traits.

    ``make`` returns an instance of `Signals` from the parameters' values, the link's rate and its MTU.
    Raises `InputError`.
    """

def conformance(text: str, monitor: Monitor) -> list[tuple[str, str | None]]:
    """Run every conformance test of the core on a discipline; return each name with why it failed, or nothing.

    Raises `InputError` or `Cancelled`.
    """

@final
class Packet:
    """A packet as a discipline in Python sees it."""

    @property
    def flow(self) -> int:
        """Hash of the flow."""

    @property
    def length(self) -> int:
        """Bytes on the link."""

    @property
    def arrival(self) -> int:
        """When it came, nanoseconds."""

    @property
    def source(self) -> int:
        """Hash of the source host."""

    @property
    def destination(self) -> int:
        """Hash of the destination host."""

    @property
    def traffic_class(self) -> int:
        """Traffic class."""

    @property
    def dscp(self) -> int:
        """DiffServ code point."""

    @property
    def protocol(self) -> int:
        """IP protocol number."""

    @property
    def ecn(self) -> int:
        """ECN field: 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 CE."""

@disjoint_base
class Signals:
    """The base of disciplines in Python: how they drop and mark."""

    def __new__(cls, *_arguments: Any, **_options: Any) -> Self: ...
    def drop(self, packet: Packet, reason: str = "congestion") -> None:
        """Drop a packet that arrived and was not sent; the reason may be ``unfair``. Raises `InputError`."""

    def mark(self, packet: Packet, reason: str = "congestion") -> bool:
        """Mark a packet; `False` if it is not ECN-capable. The reason may be ``threshold``. Raises `InputError`."""

@final
class DataPlane:
    """A switch's program outside a network: one call per packet. Each method raises `InputError`."""

    def __new__(cls, program: str, rates: Sequence[int], seed: int) -> Self:
        """Build a program, as a scenario names it, for a switch with ports of these rates (bit/s)."""

    def arrive(self, port: int, dscp: int, ecn: int) -> int | None:
        """Take a packet in; return the class that it is queued in, if the program chooses one."""

    def leave(
        self, port: int, dscp: int, ecn: int, band: int, packets: int, sojourn_ns: int
    ) -> tuple[bool, list[int] | None, tuple[int, list[int]] | None]:
        """Let a packet of a class leave its queue, ``packets`` behind it.

        Returns whether it is marked, the three values of a message to its source, and its hop: packets of the queue and
        two values.
        """

    def drop(self, port: int, dscp: int, ecn: int, band: int) -> None:
        """Say that a packet of a class that has come in finds no room."""

    def advance(self, now_ns: int) -> None:
        """Let the control plane do what is due by then."""

    def registers(self) -> list[list[int]]:
        """Return all arrays of registers, in the order in which the program adds them."""

@final
class Stepper:
    """A run in steps, in any thread, one at a time; after an error other than a refused value it is over."""

    def __new__(cls, scenario_json: str, inputs: Inputs, seed: int) -> Self:
        """Begin a run of a scenario (JSON). Raises `InputError`."""

    def step(self, settings: list[tuple[str, str]], span_ns: int | None) -> tuple[int, ...]:
        """Change parameters, go on for some nanoseconds (none: to the next arrival), and return what is seen then.

        Time (ns), backlog in packets and bytes, and since the start packets that arrived and departed, bytes that
        departed, packets that the law dropped, that found the queue full, that were marked, and the sum of sojourn
        times (ns). Raises `InputError`, `CheckError`.
        """

    @property
    def is_over(self) -> bool:
        """Whether the scenario's duration is over."""

def parse_flows(texts: list[str], files: Files) -> str:
    """Resolve the flow specs of a scenario, as JSON: each group with its keys as written, and as a scenario has it."""

def flow_keys(kind: str, transport: str | None, profile: str) -> str:
    """Return the keys of a kind of flow over a transport, or over any, each with its default in a profile, as JSON."""

def resolve_scenario(
    given: list[tuple[str, str]],
    link_trace: tuple[str, int] | None,
    captures: list[str],
    files: Files,
    lifted_by: str | None,
) -> str:
    """Resolve the options of a path or a topology, but its disciplines, as JSON.

    Raises `InputError`. A recorded link has a name and a mean rate; captures have names. A topology's size has a limit
    unless ``lifted_by``, which lifts it in the words of the message, is ``None``.
    """

def topologies() -> str:
    """Return the topologies by name with their keys, as JSON."""

def topology_texts(text: str, files: Files, lifted_by: str | None) -> list[str]:
    """Return the texts of a topology's file that have ``$names``; none for a name. Raises `InputError`."""

def flows() -> str:
    """Return the declarations of transports, kinds of flow and their keys, as JSON."""

def metrics() -> str:
    """Return the declarations of metrics, of families of their names, and of distributions over flows, as JSON."""

def options() -> str:
    """Return the declarations of options, and the fields of a scenario in their order, as JSON."""

def queue_metrics(packets: bytes, since_ns: int, until_ns: int) -> tuple[dict[str, float], bytes, bytes]:
    """Return the metrics of recorded packets at a queue, and the middles and counts of their sojourn times.

    A packet is four 64-bit whole numbers, little-endian: when it arrived, when it left (0: never), its bytes on the
    link, and whether it left marked.
    """

def link_kinds() -> str:
    """Return the declarations of the kinds of links, as JSON."""

def read_link(text: str) -> str:
    """Read a kind of link with its parameters; return what it is, as JSON. Raises `InputError`."""

def read_option(name: str, text: str) -> str:
    """Return a value of an option in base units, as JSON. Raises `InputError`."""

def write_option(name: str, value: str) -> str:
    """Return a value of an option, which is JSON in base units, in tc's notation."""

def is_tc(text: str) -> bool:
    """Whether a text is tc's: a command, a printed line or JSON."""

def translate_tc(text: str) -> tuple[str, list[str]]:
    """Translate tc's text: the discipline in our notation, and what has no effect here or belongs to the link.

    Raises:
        InputError: naming the qdisc, the word, and what is allowed or comes closest.

    """

def tc_table() -> str:
    """Every qdisc of tc that is read or refused by name, with its words, as JSON."""

def tc_words(text: str, rate_bps: int) -> str:
    """A discipline in tc's words, for a link of this rate: what follows ``tc qdisc add dev DEV root``.

    Raises:
        InputError: if it is no qdisc of Linux, or has a parameter that tc has no word for.

    """

def parse_spec(text: str) -> str:
    """Read a discipline in tc's notation; return name, preset, canonical form and parameters as JSON."""

def programs() -> str:
    """Return every program that switches can run, as JSON."""

def resolve_aqm(text: str, buffer: tuple[int, bool], rate_bps: int) -> tuple[str, str]:
    """Resolve a discipline for a link, with a buffer (number, whether of packets) unless it has none or was given one.

    Returns what `parse_spec` does, and the most that it holds.
    """

def defect(text: str) -> str:
    """Return what a user reads of a panic of this module: its text, where it was, and how to see more."""

def panic(text: str) -> None:
    """Panic with this text, so that tests see what becomes of that."""

def overflow_victim(text: str) -> str:
    """Fill the discipline and return which packets it dropped: tail, head, longest flow, mixed or nobody."""

def advice_best(ranked: str) -> str:
    """Return the setup to take, by its name."""

def advice_difference(least: float, share: float, best: float) -> float:
    """Return a difference beside a best value."""

def advice_figures() -> str:
    """Return what a household notices, as JSON."""

def advice_grade(increase_ms: float) -> str:
    """Return the grade of an increase of pings."""

def advice_grades() -> tuple[list[tuple[float, str]], str]:
    """Return below which increase of pings a line has which grade, and that of all others."""

def advice_has_script(setup: str) -> bool:
    """Return whether OpenWrt's SQM has a script for a setup."""

def advice_layers() -> str:
    """Return the link layers and their other names, as JSON."""

def advice_interfaces(line: str, interface: str) -> tuple[str, str, str | None]:
    """Return the interface of a line on Linux and on OpenWrt, and what is wrong with one that is given."""

def advice_line(line: str) -> str:
    """Return what a line's modem holds, what it carries, and how it is asked about, as JSON."""

def advice_of_run(metrics: str, minutes: float) -> str:
    """Return what a household notices of a run, as JSON."""

def advice_ranked(means: str) -> str:
    """Return how far each setup is behind, as JSON."""

def advice_shaped(line: str, share: float) -> tuple[int, int]:
    """Return the rates of a shaper with a share of a line's."""

def advice_shortfall(figure: str, value: float, best: float) -> float:
    """Return how far a value of a figure is behind the best one, in steps."""

def advice_sqm(setup: str, line: str, interface: str) -> list[str]:
    """Return OpenWrt's lines for a setup."""

def advice_steps() -> tuple[float, float, float, float]:
    """Return the steps of the scale of degradations."""

def advice_support(setup: str) -> int:
    """Return how well routers support a setup."""

def advice_target(rate_bps: int, rtt_us: int) -> str:
    """Return CoDel's target and interval for a rate and a round trip."""

def advice_tc(setup: str, line: str, interface: str) -> list[str]:
    """Return the lines of tc for a setup."""

def advice_undo(setup: str, line: str, interface: str) -> list[str]:
    """Return the lines that take them back."""

def advice_usual() -> tuple[float, float]:
    """Return the share of the rate that a shaper usually has, and the best score of a call."""

def advice_setups(line: str, only_usual: bool) -> str:
    """Return the setups of a line, each with what it sets, as JSON."""

def advice_with_overhead(layer: str, count: int) -> str:
    """Return a link layer with other bytes around each packet, as JSON."""

def bucket_width_ns(nanos: int) -> int:
    """Return the width in nanoseconds of the histogram's bucket that holds a delay."""

def link(
    config: str, command: Sequence[str], servers: Sequence[Sequence[str]], parent: int, join: Callable[[], object]
) -> str:
    """Run a command behind a live link (JSON), in a process of its own with one thread; return the report (JSON).

    ``join`` is called in the network namespace of the far end before the servers and the command start.
    """

def timer_lateness(seconds: float) -> tuple[float, float, float, float] | None:
    """Measure how late a thread wakes up: the 50th, 99th and 99.9th percentile and the largest, in milliseconds."""

def replay_link(config: str, direction: str, path: os.PathLike[str]) -> tuple[int, int | None]:
    """Make the calls in the log of a direction again; return how many, and the first row that was not repeated."""

def parse_rate(text: str) -> int:
    """Read a rate such as ``10mbit``; return bit/s."""

def parse_span(text: str) -> int:
    """Read a length of time such as ``20ms``; return nanoseconds."""

def parse_bytes(text: str) -> int:
    """Read a number of bytes such as ``1500b`` or ``64kb`` (65536)."""

def read_quantities(texts: Sequence[str]) -> tuple[str, str, float, list[float]] | None:
    """Return the kind of some texts and their values in base units; nothing if they are not all of one kind.

    The kind is the ending of its columns, its unit on an axis, and base units in one of these.
    """

def sweep_points(
    entries: Sequence[tuple[str, Any]],
    design: str,
    draw: Callable[[str, int, int], list[list[float]]],
    given: Sequence[str],
    columns: Sequence[str],
) -> tuple[list[list[str] | None], list[list[str]]]:
    """Return what the values of each swept name are called, nothing of a range; and the texts of each point.

    Entries are names with their values, all texts: one text, a list, or a table by name; values that belong together
    are a table again. ``draw`` returns the shares of a sample by its kind, points and dimensions. ``given`` are names
    that are not swept, ``columns`` those of results. Raises `InputError`.
    """

def experiment_schema() -> str:
    """Return the JSON Schema of experiment files."""

def scenario_schema() -> str:
    """Return the JSON Schema of resolved scenarios."""

def parse_size(text: str) -> tuple[int, bool]:
    """Read a queue size such as ``1000p`` or ``64kb``; return the number and whether it counts packets."""

def parse_fraction(text: str) -> float:
    """Read a fraction such as ``0.1`` or ``10%``."""

def format_rate(bits_per_sec: int) -> str:
    """Write bit/s in the largest unit that needs no rounding."""

def format_span(nanos: int) -> str:
    """Write nanoseconds in the largest unit that needs no rounding."""

def format_bytes(number: int) -> str:
    """Write bytes in the largest unit that needs no rounding."""

def watch_signals() -> int:
    """Return a descriptor for `signal.set_wakeup_fd`; closing it ends the watch.

    An interrupt ends the process if Python is then kept from running.
    """

def sketch(kind: str, width: int, depth: int, keys: bytes) -> tuple[bytes, bytes, int]:
    """Add little-endian 64-bit keys to a sketch (``count_min``, ``conservative``, ``count_sketch``), one by one.

    Returns the estimate before each arrival (64-bit integers), S-PIE's running threshold after it (64-bit floats), both
    little-endian, and the bytes of counters. Raises `InputError`.
    """

def pmqecn_queue(rate: float, service: float, capacity: int) -> list[float]:
    """Return the steady state of an M/M/1/N queue: P_0, P_N, packets carried and lost per second, L_s, L_q, W_s, W_q.

    Raises `InputError`.
    """

def pmqecn_solve(
    classes: list[tuple[str, float, float]],
    service: float,
    capacity: int,
    link: float,
    links: int,
    objective: str,
    seed: int,
) -> tuple[list[float], list[int], list[float], str | None, list[float]]:
    """Solve PMQECN's optimization for classes of (kind, packets per second, seconds waited).

    Returns service rates, thresholds, arrival rates, why the first layer has no solution, and the costs of both layers.
    Raises `InputError`.
    """

@final
class RateSender:
    """A sender with a rate control (``dcqcn timer 55us``), used by one thread."""

    def __new__(cls, control: str, line_bps: float, seed: int) -> Self:
        """Begin at time zero, on a link of this rate. Raises `InputError`."""

    @property
    def packet_bytes(self) -> int:
        """Bytes of its IP packets."""
    @property
    def ecn(self) -> int:
        """The ECN field of them (RFC 3168)."""
    @property
    def deadline(self) -> int | None:
        """When a timer has something to do, in nanoseconds, if one runs."""

    def after(self, nanos: int, kind: str, first: float, second: float) -> tuple[float, float]:
        """Let something happen, with up to two numbers; return its rate and its target after it, bit/s.

        Kinds are ``sent`` (bytes), ``notified``, ``quantised`` (Fb), ``rates`` (lambda and lambda*) and ``wait``.
        Timers that are due go off before it. Raises `InputError`.
        """

@final
class RateReceiver:
    """The receiver of such a sender, used by one thread."""

    def __new__(cls, control: str) -> Self:
        """Begin without a packet. Raises `InputError`, also if the control's receiver says nothing of marks."""

    def on_packet(self, is_marked: bool, nanos: int) -> bool:
        """Let a packet come, marked CE or not; return whether the sender is notified."""

def classify(classifier: str, flows: bytes, seed: int) -> tuple[bytes, int, str]:
    """Show packets to a classifier (``m_lru sq 100``), one by one; ``flows`` are theirs, little-endian 64-bit hashes.

    Returns a byte for each packet, 1 where it is reported as one of a heavy flow, the bytes of the classifier's tables,
    and its notation in full. Raises `InputError`.
    """

def cost(spec: str, rate_bps: int, flows: int, standing_packets: int, packets: int) -> tuple[float, float, int]:
    """Measure what a packet of 1500 bytes costs a discipline: its enqueue and dequeue behind a standing queue.

    ``flows`` send in turn, ``standing_packets`` wait, time passes at the link's rate. What the law drops comes again,
    so that up to two packets arrive for one that leaves. Returns nanoseconds per packet that leaves, those of a push
    and a pop of the same record on a plain ring (both medians of nine rounds over ``packets`` in all), and the bytes
    of state that the discipline then holds, queued packets not counted. Times depend on the machine. Raises
    `InputError`.
    """

def drop_share(spec: str, rate_bps: int, standing_packets: int, packets: int, seed: int) -> float:
    """Return the share of arriving packets of 1500 bytes that a discipline drops while so many wait.

    One arrives for each that the link's rate lets leave; averages settle over ``packets`` arrivals, and as many are
    counted. A queue whose limit is less stands at its limit. Raises `InputError`.
    """

@final
class Capture:
    """A capture (pcap, pcapng), parsed."""

    LARGEST_FILE_BYTES: Final[int]
    """Larger files are refused."""

    def __new__(cls, name: str, content: bytes) -> Capture:
        """Parse a file's content; errors and warnings call it by its name. Raises `InputError`."""
    @staticmethod
    def check_beginning(name: str, beginning: bytes) -> None:
        """Refuse what does not begin as a capture does, before all of it is read. Raises `InputError`."""
    def summary(self) -> str:
        """Return it in figures, and what to know before trusting it, as JSON."""
    def flows(self) -> dict[str, list[Any]]:
        """Return columns of its flows: addresses, ports, protocol, ``hash`` (the flow id), ``packets``, ``bytes``."""
    def packets(self) -> tuple[bytes, bytes, bytes]:
        """Return time (ns), IP bytes and flow of each packet, as little-endian 64-bit integers."""

@final
class PathTrace:
    """A capture, and what TCP's headers say about the path. Columns are little-endian 64-bit integers, times ns."""

    def __new__(cls, name: str, content: bytes) -> PathTrace:
        """Parse a file's content; errors and warnings call it by its name. Raises `InputError`."""
    def capture(self) -> Capture:
        """Return the capture itself."""
    def summary(self) -> str:
        """Return its figures, and what to know before trusting it, as JSON."""
    def packets(self) -> dict[str, bytes]:
        """Return time, IP bytes, flow, ECN, TCP's payload, flags and timestamps of each packet; -1 is not said."""
    def round_trips(self) -> dict[str, bytes]:
        """Return columns of the times from a packet of a flow, as it passes the capture, to what answers it there."""
    def deliveries(self) -> dict[str, bytes]:
        """Return columns of the payload that acknowledgments report; ``flow`` is that of the acknowledgments."""
    def losses(self) -> dict[str, bytes]:
        """Return columns of the payload that was sent again; ``is_beyond`` if it had passed the capture before."""

@final
class Range:
    """All values between two, as ``1ms..20ms*8``, at equal distances or, with ``log``, at equal ratios."""

    @staticmethod
    def parse(text: str) -> Range | None:
        """Read a range; nothing if the text is none. Raises `InputError`."""
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def count(self) -> int | None: ...
    def at(self, share: float) -> str:
        """Return the value at a share of the range, from 0 to 1."""
    def values(self) -> list[str]:
        """Return its values, ends included; those that are equal after rounding once."""
    def by_ratio(self) -> Range:
        """Return the same at equal ratios."""

@final
class LinkTrace:
    """A link trace in mahimahi's format, parsed."""

    LARGEST_FILE_BYTES: Final[int]
    """Larger files are refused."""

    def __new__(cls, name: str, content: bytes) -> LinkTrace:
        """Parse a file's content; errors call it by its name. Raises `InputError`."""
    def summary(self) -> str:
        """Return its period, mean rate and opportunities as JSON."""

@final
class Inputs:
    """Captures and link traces by the names that scenarios use; runs share them."""

    def __new__(cls, captures: dict[str, Capture] = ..., link_traces: dict[str, LinkTrace] = ...) -> Inputs: ...
    def opportunities_ms(self, link_trace: str) -> bytes:
        """Return when the opportunities of a link trace's first round are, milliseconds: 64 bits each, little-endian.

        Raises `InputError` if there is no such link trace.
        """

@final
class Monitor:
    """Watches a run from another thread, and can stop it."""

    def __new__(cls) -> Monitor: ...
    @property
    def reached_ns(self) -> int:
        """Simulated time reached so far, nanoseconds."""
    def cancel(self) -> None:
        """Ask the run to stop; it raises `Cancelled`.

        A discipline in Python gets a `KeyboardInterrupt` where it is, and again each time this is called.
        """

# Names, kinds (``<i8``, ``<f8``, nothing for texts), numbers column by column as little-endian 64-bit words, texts.
_Table: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], bytes, dict[str, list[str]]]

@final
class Run:
    """What a run answered."""

    @property
    def metrics(self) -> dict[str, float]:
        """Metric name to value; values that cannot be are absent."""
    @property
    def flows(self) -> _Table:
        """The flows, a row for each."""
    @property
    def series(self) -> _Table:
        """The time series, a row for each time: ``time_s`` first, all of reals."""
    @property
    def histograms(self) -> tuple[tuple[str, ...], tuple[int, ...], bytes]:
        """Names of the histograms, how many buckets each has, and their 64-bit words, little-endian.

        Of each there are the middles of the buckets (nanoseconds), and then how many are in each.
        """
    @property
    def queues(self) -> _Table:
        """The queues, a row for each."""
    @property
    def packets(self) -> bytes:
        """The recorded packets as pcapng; empty unless the scenario wants them recorded."""
    @property
    def trace(self) -> dict[str, bytes]:
        """Columns of the trace as little-endian 64-bit integers; empty unless the scenario wants one."""
    @property
    def logs(self) -> list[tuple[str, bytes]]:
        """Places (``sender N``, ``queue LINK``) and their events as qlog; empty unless the scenario wants them."""
    @property
    def warnings(self) -> list[str]:
        """What the user should know about this run."""
    @property
    def events(self) -> int:
        """Events that the engine handled."""
    @property
    def bottleneck_packets(self) -> int:
        """Packets that left the bottleneck, warm-up included."""

def estimate(scenario_json: str, inputs: Inputs) -> tuple[float, float, float]:
    """Estimate a run of a scenario: its events, the bytes of memory that it needs at most, and those of its result.

    Raises `InputError`.
    """

def run(scenario_json: str, inputs: Inputs, seed: int, monitor: Monitor) -> Run:
    """Run a scenario with the inputs that it names and a seed, with Python's lock released.

    Raises `InputError`, `CheckError` or `Cancelled`.
    """
