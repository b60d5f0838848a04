"""The kinds of flow: what each sends, over what, and what its keys are unless given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TRANSPORTS = ("udp", "newreno", "cubic", "dctcp", "ledbat", "prague", "bbr1", "bbr3")


@dataclass(frozen=True)
class Kind:
    """A kind of flow: what it sends (``bulk``, ``cbr``, ...) and over what unless told otherwise.

    ``source`` may have further words that choose keys. ``defaults`` replace those of the keys; ``needs`` are keys that
    must be given.
    """

    name: str
    source: str
    transport: str
    help: str
    defaults: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    @property
    def transports(self) -> tuple[str, ...]:
        """What may carry it."""
        match self.source.split()[0]:
            case "bulk":
                return (self.transport,)
            case "rounds" | "workload" | "video" | "replay":
                return TRANSPORTS[1:]
            case "voip":
                return ("udp",)
            case _:
                return TRANSPORTS


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("newreno", "bulk", "newreno", "TCP NewReno (RFC 5681, RFC 6582) that always has something to send"),
        Kind("cubic", "bulk", "cubic", "TCP CUBIC (RFC 9438) that always has something to send"),
        Kind(
            "dctcp", "bulk", "dctcp", "DCTCP (RFC 8257): reacts to the share of marked packets; ecn=classic unless told"
        ),
        Kind("ledbat", "bulk", "ledbat", "LEDBAT (RFC 6817): yields to others when the one-way delay rises"),
        Kind(
            "prague",
            "bulk",
            "prague",
            "TCP Prague (L4S), from the draft, not validated against an implementation; ecn=l4s:rack=on unless told",
        ),
        Kind(
            "bbr1",
            "bulk",
            "bbr1",
            "BBRv1 (draft-cardwell-iccrg-bbr-congestion-control-00), or bbr, as Linux calls it; rack=on unless told",
        ),
        Kind(
            "bbr3",
            "bulk",
            "bbr3",
            "BBRv3 (draft-ietf-ccwg-bbr-06), not validated against an implementation; rack=on unless told",
        ),
        Kind(
            "fixed",
            "bulk",
            "fixed",
            "a window that stays at its cap whatever happens: an instrument",
            needs=("window",),
        ),
        Kind("cbr", "cbr", "udp", "a constant rate", needs=("rate",)),
        Kind("onoff", "onoff", "udp", "a constant rate while ON, nothing while OFF", needs=("rate",)),
        Kind(
            "pareto",
            "onoff",
            "udp",
            "ON/OFF with Pareto OFF periods; the defaults are those of the dAQM paper's code",
            {"on": "1s", "off": "pareto(1500ms,2.5)"},
            ("rate",),
        ),
        Kind(
            "weibull",
            "onoff",
            "udp",
            "ON/OFF with Weibull OFF periods; the defaults are those of the dAQM paper's code",
            {"on": "3s", "off": "weibull(1s,1.5)"},
            ("rate",),
        ),
        Kind("poisson", "poisson", "udp", "full packets at exponential intervals", needs=("rate",)),
        Kind("steps", "steps", "udp", "variable rate: one rate after another", needs=("rates",)),
        Kind("vbr", "arrivals", "udp", "variable rate: frames of random size", {"gap": "40ms"}, ("size",)),
        Kind(
            "telnet",
            "arrivals",
            "newreno",
            "single bytes at the times of tcplib (Danzig and Jamin 1991), as ns-2 has them",
            {"gap": "telnet", "size": "1b"},
        ),
        Kind("arrivals", "arrivals", "udp", "messages of any sizes at any intervals", needs=("gap",)),
        Kind(
            "voip",
            "voip",
            "udp",
            "a call both ways: G.711, 160 bytes every 20 ms; its mean opinion score is measured",
            {"packet": "200b"},
        ),
        Kind(
            "gaming",
            "arrivals",
            "udp",
            "small packets both ways; the defaults are those of the dAQM paper (200 bytes, 50 a second)",
            {"gap": "20ms", "size": "172b"},
        ),
        Kind(
            "video",
            "video",
            "cubic",
            "adaptive streaming by the buffer (BBA-0); stalls and bitrate are measured",
        ),
        Kind(
            "replay",
            "replay",
            "cubic",
            "the TCP connections of a capture held again: its sizes and thinking times, senders that react",
            needs=("file",),
        ),
        Kind("ftp", "rounds", "cubic", "files one after another, with pauses", {"size": "1mb", "pause": "exp(1s)"}),
        Kind(
            "rpc",
            "rounds request",
            "cubic",
            "request and response; the latency of each call is measured",
            {"size": "exp(10kb)", "pause": "exp(100ms)"},
        ),
        Kind(
            "web",
            "rounds request pages",
            "cubic",
            "web pages of many objects over parallel connections (RFC 7928); page-load times are measured",
            {"size": "lognormal(10kb,1)", "pause": "exp(5s)"},
        ),
        Kind(
            "incast",
            "rounds request servers",
            "cubic",
            "a query that many servers answer at once, repeated; its completion times are measured",
            {"size": "32kb", "pause": "100ms"},
        ),
        Kind(
            "workload",
            "workload",
            "cubic",
            "new finite flows, Poisson arrivals at a load",
            {"size": "websearch"},
            ("load",),
        ),
    )
}
