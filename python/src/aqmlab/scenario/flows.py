"""What people write about flows: ``COUNT*KIND[:key=value]...``, as in ``10*newreno:rtt=20ms:start=2s``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError, did_you_mean, unknown
from aqmlab.scenario import distributions
from aqmlab.scenario.distributions import NUMBERS, RATES, SIZES, TIMES, Quantity
from aqmlab.scenario.kinds import KINDS, Kind
from aqmlab.units import (
    format_bytes,
    format_rate,
    format_span,
    parse_bytes,
    parse_fraction,
    parse_rate,
    parse_size,
    parse_span,
)

SECOND_NS = 1_000_000_000
TCP = ("newreno", "cubic", "dctcp", "ledbat", "prague", "bbr1", "bbr3", "fixed")
# What a congestion control cannot do without.
NEEDED = {
    "dctcp": {"ecn": "classic"},
    "prague": {"ecn": "l4s", "rack": "on"},
    "bbr1": {"rack": "on"},
    "bbr3": {"rack": "on"},
}
# What a congestion control takes with one value only: BBR counts what SACK reports, begins and recovers in its own way,
# and its drafts name no response to marks.
ONLY = {bbr: {"sack": True, "ecn": "off", "hystart": False, "prr": False} for bbr in ("bbr1", "bbr3")}
# Linux calls the first version of BBR bbr.
ALIASES = {"bbr": "bbr1"}
LARGEST_COUNT = 100_000
# What a round of each kind of application is to its user.
EXCHANGES = {"ftp": "transfer", "rpc": "rpc", "web": "page", "incast": "query"}
ONE = {"constant": {"value": 1}}


@dataclass(frozen=True)
class Key:
    """A key of a flow spec.

    ``of`` says which flows have it, by source or transport; a default of ``None`` means that there is none. A key that
    ``names_files`` looks for them in a folder.
    """

    name: str
    read: Callable[..., Any]
    write: Callable[[Any], str]
    default: str | None
    of: str
    takes: str
    help: str
    names_files: bool = False


@dataclass(frozen=True)
class Window:
    """A cap on a window, in segments or in bytes."""

    count: int
    in_packets: bool


@dataclass(frozen=True)
class Group:
    """Flows that are alike, every key resolved."""

    count: int
    kind: str
    values: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the group in metrics."""
        return str(self.values["name"])

    @property
    def reacts(self) -> bool:
        """Whether the flows react to the network (TCP)."""
        return str(self.values["transport"]) != "udp"

    @property
    def rtt_ns(self) -> int | None:
        """The base round-trip time of these flows; ``None`` means the scenario's."""
        rtt = self.values["rtt"]
        return None if rtt is None else int(rtt)

    @property
    def latest_start_ns(self) -> int:
        """When the last of the flows has started."""
        return int(self.values["start"][1])

    @property
    def window_bytes(self) -> int | None:
        """The cap on the window in bytes of payload; ``None`` means that there is none."""
        window: Window | None = self.values.get("window")
        if window is None:
            return None
        return window.count * int(self.values["mss"] if window.in_packets else 1)

    def __str__(self) -> str:
        """Write the group with every key that applies, defaults included; this reads back as the same group."""
        applicable = keys_of(KINDS[self.kind], str(self.values["transport"])).values()
        keys = [key for key in applicable if self.values[key.name] is not None]
        return ":".join([f"{self.count}*{self.kind}", *(f"{k.name}={k.write(self.values[k.name])}" for k in keys)])

    def engine(self) -> dict[str, Any]:
        """Return the group as the simulator takes it."""
        values = self.values
        return {
            "name": self.name,
            "count": self.count,
            "start_ns": list(values["start"]),
            "rtt_ns": self.rtt_ns,
            "transport": {"tcp": self._tcp()} if self.reacts else {"udp": self._udp()},
            "source": self._source(),
            "class": values["class"],
            "dscp": values["dscp"],
        }

    def _udp(self) -> dict[str, Any]:
        return {"packet_bytes": self.values["packet"], "ecn": self.values["ecn"]}

    def _tcp(self) -> dict[str, Any]:
        values = self.values
        segments, delay_ns = values["delack"]
        own: dict[str, Any] = {key: values[key] for key in ("abc", "ssthresh") if key in values}
        return {
            "congestion_control": values["transport"],
            "mss_bytes": values["mss"],
            "iw": values["iw"],
            "sack": values["sack"],
            "ecn": values["ecn"],
            "delack_ns": delay_ns if segments > 1 else 0,
            "minrto_ns": values["minrto"],
            "window_bytes": self.window_bytes,
            "pacing": values["pacing"],
            "hystart": values["hystart"],
            "handshake": values["handshake"],
            "ecnsyn": values["ecnsyn"],
            "quickack": values["quickack"],
            "eifel": values["eifel"],
            "prr": values["prr"],
            "rack": values["rack"],
            **own,
            "ipv6": values["ipv6"],
        }

    def _source(self) -> dict[str, Any] | str:
        values = self.values
        match KINDS[self.kind].source.split()[0]:
            case "bulk":
                return {"bulk": {"size_bytes": values["size"]}}
            case "cbr":
                return {"cbr": {"rate_bps": values["rate"]}}
            case "onoff":
                return {"on_off": {"rate_bps": values["rate"], "on": values["on"], "off": values["off"]}}
            case "steps":
                return {"steps": {"rate": values["rates"], "every": values["every"]}}
            case "poisson":
                piece = values["mss"] if self.reacts else values["packet"]
                gap_ns = max(round(piece * 8 * SECOND_NS / values["rate"]), 1)
                return {"arrivals": {"gap": {"exponential": {"mean": gap_ns}}}}
            case "arrivals":
                both_ways = self.kind == "gaming"
                return {"arrivals": {"gap": values["gap"], "size": values["size"], "both_ways": both_ways}}
            case "voip":
                return "voip"
            case "replay":
                return {"replay": {"file": values["file"]}}
            case "video":
                names = {"rates_bps": "ladder", "segment_ns": "segment", "buffer_ns": "buffer"}
                return {"video": {name: values[key] for name, key in names.items()}}
            case "workload":
                return {"workload": {"size": values["size"], "load": values["load"]}}
            case _:
                return {"rounds": self._round()}

    def _round(self) -> dict[str, Any]:
        values, servers = self.values, self.values.get("servers")
        return {
            "exchange": EXCHANGES[self.kind],
            "connections": servers or values.get("connections", 1),
            "objects": {"constant": {"value": servers}} if servers else values.get("objects", ONE),
            "request": values.get("request"),
            "size": values["size"],
            "pause": values["pause"],
        }


def parse(text: str, folder: Path | None = None) -> Group:
    """Read a flow spec; the files that it names are looked for in `folder`.

    Raises:
        InputError: naming the key, the value, what is allowed and the nearest known name.

    >>> parse("2*cbr:rate=3mbit:packet=1000b").values["rate"]
    3000000

    """
    head, *pairs = (part.strip() for part in text.strip().split(":"))
    count, kind = _head(text, head)
    given: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not value:
            raise InputError(f"flows '{text}': '{pair}' is not key=value")
        if not any(name == key.name for key in KEYS):
            raise InputError(f"flows '{text}': {unknown('key', name, keys_of(kind))}")
        if name in given:
            raise InputError(f"flows '{text}': '{name}' is given twice")
        given[name] = value
    transport = given.get("transport", kind.transport)
    transport = ALIASES.get(transport, transport)
    if transport not in kind.transports:
        known = ", ".join(kind.transports)
        hint = did_you_mean(transport, kind.transports)
        raise InputError(f"flows '{text}': transport '{transport}' is not one of {known}{hint}")
    values: dict[str, Any] = {}
    applicable = keys_of(kind, transport)
    over = "" if kind.source == "bulk" else f" over {transport}"
    for name in given:
        if name not in applicable:
            raise InputError(f"flows '{text}': '{name}' means nothing for {kind.name}{over}")
    for name, key in applicable.items():
        defaults = {"name": kind.name, **NEEDED.get(transport, {}), **kind.defaults}
        written = given.get(name, defaults.get(name, key.default))
        values[name] = None if written is None else _read(text, key, written, folder)
    values["transport"] = transport
    for name in kind.needs:
        if values[name] is None:
            raise InputError(f"flows '{text}': {kind.name} needs {name}=, {applicable[name].takes}")
    group = Group(count=count, kind=kind.name, values=values)
    for name, only in ONLY.get(transport, {}).items():
        if values[name] != only:
            wanted = next(key.write(only) for key in KEYS if key.name == name)
            raise InputError(f"flows '{text}': {transport} takes {name}={wanted} only")
    for name in ("prr", "rack"):
        if values.get(name) and not values["sack"]:
            raise InputError(f"flows '{text}': {name} needs sack=on")
    if values.get("ssthresh") == "pipe" and not values["sack"]:
        raise InputError(f"flows '{text}': ssthresh=pipe needs sack=on")
    if values.get("abc") is False and values["hystart"]:
        raise InputError(f"flows '{text}': hystart needs abc=on")
    if values["ecn"] == "l4s" and transport not in ("udp", "prague"):
        raise InputError(f"flows '{text}': ecn: 'l4s' is for prague and udp; {transport} takes off or classic")
    if kind.name == "video" and values["buffer"] < 2 * values["segment"]:
        raise InputError(f"flows '{text}': buffer={format_span(values['buffer'])} does not hold two segments")
    if group.window_bytes is not None and group.window_bytes < values["mss"]:
        raise InputError(f"flows '{text}': window={given['window']} holds no segment of {format_bytes(values['mss'])}")
    return group


def keys_of(kind: Kind, transport: str | None = None) -> dict[str, Key]:
    """Return the keys that a kind of flow takes, over one transport or over any."""
    tags = {"any", *kind.source.split()}
    if len(kind.transports) > 1:
        tags.add("carried")
    transports = (transport,) if transport else kind.transports
    tags.update("udp" if name == "udp" else "tcp" for name in transports)
    tags.update(transports)
    return {key.name: key for key in KEYS if tags.intersection(key.of.split())}


def _head(text: str, head: str) -> tuple[int, Kind]:
    match = re.fullmatch(r"(?:([^*]*)\*)?\s*([^*]*)", head)
    if match is None:
        raise InputError(f"flows '{text}': write COUNT*KIND[:key=value]..., as in 10*newreno:rtt=20ms")
    count_text, name = match.group(1), match.group(2).strip().lower()
    name = ALIASES.get(name, name)
    if name not in KINDS:
        raise InputError(f"flows '{text}': {unknown('kind', name, KINDS)}")
    count_text = "1" if count_text is None else count_text.strip()
    if not count_text.isascii() or not count_text.isdigit() or not 1 <= int(count_text) <= LARGEST_COUNT:
        raise InputError(f"flows '{text}': count '{count_text}' is not a whole number from 1 to {LARGEST_COUNT}")
    return int(count_text), KINDS[name]


def _read(text: str, key: Key, written: str, folder: Path | None) -> Any:
    try:
        return key.read(written, folder=folder) if key.names_files else key.read(written)
    except ValueError as error:
        raise InputError(f"flows '{text}': {key.name}: {error}") from None


def _between(read: Callable[[str], int], low: int, high: int, takes: str) -> Callable[[str], int]:
    def checked(text: str) -> int:
        value = read(text)
        if not low <= value <= high:
            raise ValueError(f"'{text}' is out of range: allowed is {takes}")
        return value

    return checked


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"'{text}' is not a whole number")
    return int(text)


def _number(largest: int) -> Callable[[str], int]:
    return _between(_whole, 1, largest, f"1 to {largest}")


def _capture(text: str, folder: Path | None) -> str:
    return str((folder or Path()) / text)


def _ladder(text: str) -> list[int]:
    rates = [_positive_rate(rate.strip()) for rate in text.split(",")]
    if any(low >= high for low, high in itertools.pairwise(rates)):
        raise ValueError(f"'{text}' does not ascend")
    return rates


def _write_ladder(rates: list[int]) -> str:
    return ",".join(map(format_rate, rates))


def _load(text: str) -> float:
    load = parse_fraction(text)
    if not 0.0 < load <= 10.0:
        raise ValueError(f"'{text}' is out of range: allowed is above 0 to 1000%")
    return load


def _write_load(load: float) -> str:
    return f"{load * 100:.10g}%"


def _switch(text: str) -> bool:
    if text.lower() not in ("on", "off"):
        raise ValueError(f"'{text}' is neither 'on' nor 'off'")
    return text.lower() == "on"


def _word(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in words:
            raise ValueError(f"'{text}' is not one of {', '.join(words)}{did_you_mean(text, words)}")
        return text.lower()

    return read


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", text):
        raise ValueError(f"'{text}' is not a name: a letter, then letters, digits, '-' and '_'")
    return text


def _start(text: str) -> tuple[int, int]:
    if ".." in text:
        return distributions.bounds(text, parse_span)
    instant = parse_span(text)
    return instant, instant


def _write_start(start: tuple[int, int]) -> str:
    low, high = start
    return format_span(low) if low == high else f"{format_span(low)}..{format_span(high)}"


def _delack(text: str) -> tuple[int, int]:
    if text.lower() == "off":
        return 1, 40_000_000
    delay = parse_span(text)
    if delay == 0:
        raise ValueError(f"'{text}' is zero: write 'off' for an acknowledgment of every segment")
    return 2, delay


def _write_delack(delack: tuple[int, int]) -> str:
    segments, delay_ns = delack
    return "off" if segments == 1 else format_span(delay_ns)


def _window(text: str) -> Window:
    count, in_packets = parse_size(text)
    if count == 0:
        raise ValueError(f"'{text}' is zero")
    return Window(count, in_packets)


def _write_window(window: Window) -> str:
    return f"{window.count}p" if window.in_packets else format_bytes(window.count)


def _positive_span(text: str) -> int:
    span = parse_span(text)
    if span == 0:
        raise ValueError(f"'{text}' is zero")
    return span


def _positive_rate(text: str) -> int:
    rate = parse_rate(text)
    if rate == 0:
        raise ValueError(f"'{text}' is zero")
    return rate


def _on_off(on: bool) -> str:
    return "on" if on else "off"


def _drawn(name: str, quantity: Quantity, default: str | None, of: str, meaning: str) -> Key:
    """Return a key whose values are drawn from a distribution."""
    read, write = partial(distributions.read, quantity=quantity), partial(distributions.write, quantity=quantity)
    return Key(name, read, write, default, of, quantity.takes, meaning, names_files=True)


# Every key once: its reader, writer, default, which flows have it, what it takes and what it means.
KEYS: tuple[Key, ...] = (
    Key("name", _name, str, None, "any", "a name", "name of the group in metrics; the kind unless given"),
    Key("start", _start, _write_start, "0..1s", "any", "a time, or 0..500ms (uniform)", "when the flows start"),
    Key("rtt", _positive_span, format_span, None, "any", "a time", "base round-trip time; --rtt unless given"),
    Key(
        "from", str, str, None, "any", "nodes, as s0 or s*|t1", "where the flows begin, in turn; hosts that they share"
    ),
    Key("to", str, str, None, "any", "nodes, as server or h*", "where the flows end, in turn; hosts that they share"),
    Key("class", _between(_whole, 0, 65535, "0 to 65535"), str, "0", "any", "0 to 65535", "traffic class"),
    Key("dscp", _between(_whole, 0, 63, "0 to 63"), str, "0", "any", "0 to 63", "DiffServ code point"),
    Key(
        "transport",
        str,
        str,
        None,
        "carried",
        "udp, newreno, cubic, dctcp, ledbat, prague, bbr1 or bbr3",
        "what carries the data; the kind says which unless given",
    ),
    Key("rate", _positive_rate, format_rate, None, "cbr onoff poisson", "a rate such as 3mbit", "rate while sending"),
    _drawn("on", TIMES, "1s", "onoff", "how long ON periods are"),
    _drawn("off", TIMES, "1s", "onoff", "how long OFF periods are"),
    _drawn("rates", RATES, None, "steps", "the rates"),
    _drawn("every", TIMES, "1s", "steps", "how long each rate lasts"),
    _drawn("gap", TIMES, None, "arrivals", "time from one message to the next"),
    _drawn("size", SIZES, None, "arrivals", "payload of a message; a full packet unless given"),
    _drawn("size", SIZES, None, "rounds workload", "payload of a file, an answer, an object of a page, a flow"),
    _drawn("request", SIZES, "300b", "request", "payload of a request"),
    _drawn("objects", NUMBERS, "50", "pages", "objects of a page"),
    Key("connections", _number(10_000), str, "6", "pages", "1 to 10000", "connections that load a page"),
    Key("servers", _number(10_000), str, "32", "servers", "1 to 10000", "servers that answer, each over a connection"),
    Key(
        "ladder",
        _ladder,
        _write_ladder,
        "235kbit,375kbit,560kbit,750kbit,1050kbit,1750kbit,2350kbit,3mbit,4300kbit,5800kbit",
        "video",
        "rates, ascending, with commas",
        "bitrates to choose from",
    ),
    Key("segment", _positive_span, format_span, "4s", "video", "a time", "video in a segment"),
    Key("buffer", _positive_span, format_span, "240s", "video", "a time", "video that the player keeps at most"),
    Key("file", _capture, str, None, "replay", "a capture (pcap, pcapng)", "what is held again", names_files=True),
    _drawn("pause", TIMES, None, "rounds", "time from the end of a file, call, page or query to the next"),
    Key("load", _load, _write_load, None, "workload", "60%", "payload offered, as a share of the bottleneck's rate"),
    Key(
        "packet",
        _between(parse_bytes, 28, 65000, "28b to 65000b"),
        format_bytes,
        "1500b",
        "udp",
        "28b to 65000b",
        "bytes of each IP packet, headers included",
    ),
    Key(
        "size",
        _between(parse_bytes, 1, 2**53, "1b or more"),
        format_bytes,
        None,
        "bulk",
        "bytes such as 1mb",
        "payload of a finite flow; without end unless given",
    ),
    Key(
        "mss",
        _between(parse_bytes, 1, 65000, "1b to 65000b"),
        format_bytes,
        "1448b",
        "tcp",
        "1b to 65000b",
        "payload of a full segment",
    ),
    Key(
        "iw",
        _between(_whole, 1, 10000, "1 to 10000"),
        str,
        "10",
        "tcp",
        "segments",
        "initial window (RFC 6928)",
    ),
    Key("sack", _switch, _on_off, "on", "tcp", "on or off", "selective acknowledgments (RFC 2018)"),
    Key(
        "ecn",
        _word("off", "classic", "l4s"),
        str,
        "off",
        "any",
        "off, classic or l4s",
        "ECN; classic is RFC 3168 (ECT(0)), l4s is RFC 9331 (ECT(1); prague and udp)",
    ),
    Key("delack", _delack, _write_delack, "40ms", "tcp", "a time, or off", "longest delay of ACKs (RFC 1122)"),
    Key("minrto", _positive_span, format_span, "200ms", "tcp", "a time", "smallest retransmission timeout"),
    Key("window", _window, _write_window, None, "tcp", "20p or 64kb", "cap on the window; none unless given"),
    Key("pacing", _switch, _on_off, "off", "tcp", "on or off", "segments spaced over the round trip"),
    Key("hystart", _switch, _on_off, "off", "tcp", "on or off", "HyStart++ in the first slow start (RFC 9406)"),
    Key("handshake", _switch, _on_off, "off", "tcp", "on or off", "open by SYN and answer, which may be lost"),
    Key("ecnsyn", _switch, _on_off, "off", "tcp", "on or off", "SYN and its answer carry ECT, if ecn is on"),
    Key(
        "quickack",
        _between(_whole, 0, 1000, "0 to 1000"),
        str,
        "0",
        "tcp",
        "segments",
        "first segments that are acknowledged at once (Linux: 16)",
    ),
    Key("eifel", _switch, _on_off, "off", "tcp", "on or off", "take needless retransmissions back (RFC 3522, 4015)"),
    Key("prr", _switch, _on_off, "off", "tcp", "on or off", "proportional rate reduction (RFC 6937); needs sack"),
    Key("rack", _switch, _on_off, "off", "tcp", "on or off", "RACK-TLP: loss found by time (RFC 8985); needs sack"),
    Key(
        "abc",
        _switch,
        _on_off,
        "on",
        "newreno",
        "on or off",
        "growth by bytes (RFC 3465); off: by acknowledgments, as in RFC 5681 and ns-3",
    ),
    Key(
        "ssthresh",
        _word("flight", "pipe"),
        str,
        "flight",
        "newreno",
        "flight or pipe",
        "half of which a loss leaves: all outstanding (RFC 5681), or RFC 6675's pipe, as in ns-3; pipe needs sack",
    ),
    Key("ipv6", _switch, _on_off, "off", "tcp", "on or off", "IPv6 instead of IPv4"),
)
