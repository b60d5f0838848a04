"""Is it the Wi-Fi or the line? Downloads to devices near the access point and far from it, while somebody calls.

The call goes to the first device. Today there is a FIFO in front of the line, and another at the access point, above
its driver's queue. Two things may change: an AQM in front of the line, and a queue for each device at the access point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aqmlab import experiment, scenario
from aqmlab.advice.thresholds import FIGURES
from aqmlab.results.ports import FULL_IP_PACKET_BYTES
from aqmlab.results.stations import LAYERS, NOT_MODELLED
from aqmlab.vocabulary.names import listed
from aqmlab.vocabulary.scopes import of_station
from aqmlab.vocabulary.units import Size, format_rate, parse_span

if TYPE_CHECKING:
    from typing import Any

    from aqmlab.advice.home_line import Line
    from aqmlab.results import Result
    from aqmlab.runs.watcher import Watcher

# A laptop beside the access point (2x2 802.11ac at 80 MHz), and a tablet in the garden (the lowest rate of 802.11n).
TYPICAL: Final = "near=vht-mcs7-2ss-80mhz, far=ht-mcs0-400ns"
SEEDS: Final = 5
# A call over either has the same delay to servers as in the advice for lines.
DURATION: Final = "20s"
PLAIN, QUEUES = "fifo", "airtime_fq"
LINE_PLAIN, LINE_AQM = "fifo", "fq_codel"
SQM, BOTH = "SQM on the line", "both"
# What is in front of the line and at the access point, by what is changed.
SETUPS: Final[Mapping[str, tuple[str, str]]] = {
    "today": (LINE_PLAIN, PLAIN),
    SQM: (LINE_AQM, PLAIN),
    "queues per device": (LINE_PLAIN, QUEUES),
    BOTH: (LINE_AQM, QUEUES),
}
TODAY: Final = "today"
# One place holds a download up if packets wait there this many times as long as in the other.
CLEARLY: Final = 3.0
# Shorter waits than this, in ms, hold nothing up.
LEAST_MS: Final = 5.0
# The topology takes no larger buffers in front of the line.
MOST_PACKETS: Final = 10_000
NOTICEABLE_MOS: Final = next(one.noticeable.least for one in FIGURES if one.name == "call_mos")


@dataclass(frozen=True)
class Place:
    """A download to one device: how long its packets wait today, in ms, and the call's quality (MOS) by setup."""

    device: str
    line_ms: float
    wifi_ms: float
    call: Mapping[str, float]

    @property
    def where(self) -> str:
        """Where packets wait: ``line``, ``Wi-Fi``, ``both`` or ``neither``."""
        if max(self.line_ms, self.wifi_ms) < LEAST_MS:
            return "neither"
        if self.line_ms > CLEARLY * self.wifi_ms:
            return "line"
        return "Wi-Fi" if self.wifi_ms > CLEARLY * self.line_ms else "both"

    @property
    def enough(self) -> str:
        """The least setup that is as good as the best, to within what anyone would notice."""
        best = max(self.call.values())
        return next(setup for setup, mos in self.call.items() if best - mos < NOTICEABLE_MOS)


@dataclass(frozen=True)
class Wireless:
    """What was found for each device, and the runs behind it."""

    places: tuple[Place, ...]
    result: Result
    stations: str = ""
    line: Line | None = None


def wireless(
    line: Line,
    stations: str,
    *,
    folder: Path | None = None,
    seeds: int | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> Wireless:
    """Run downloads to each device over every setup.

    Args:
        line: behind which the access point stands: its rates, its modem's buffers and its round trip.
        stations: the devices with their rates, as in the link kind ``wifi``: ``near=ht-mcs15-400ns, far=ht-mcs0``.
        folder: where the result is kept.
        seeds: runs of each; five unless given.
        jobs: runs at once.
        watcher: is shown the progress.

    Raises:
        InputError: naming what is wrong with the devices.
        CheckError: if a run broke one of its own checks.

    """
    names = [entry.partition("=")[0].strip() for entry in stations.split(",")]
    down, up = map(format_rate, line.carried)
    down_buffer, up_buffer = _buffers(line)
    sizes = f"buffer={down_buffer}:up_buffer={up_buffer}"
    options: dict[str, Any] = {
        "aqm": [PLAIN, QUEUES],
        "link": f"wifi stations [{stations}]",
        "topology": f"wifi:line={down}:up={up}:{sizes}:line_queue=$line",
        "rtt": line.rtt,
        "buffer": "1000p",
        "flows": ["4*cubic:to=$device:name=download", f"1*voip:to={names[0]}:name=call"],
        "duration": DURATION,
        "series": "groups",
        "seeds": str(seeds or SEEDS),
    }
    asked = scenario.swept(options, {"device": names, "line": [LINE_PLAIN, LINE_AQM]})
    result = experiment.run_experiment(asked, "advise", jobs, folder, watcher)
    if result.is_partial and not result.manifest["failures"]:
        raise KeyboardInterrupt
    return Wireless(tuple(_place(result, name) for name in names), result, stations, line)


def _buffers(line: Line) -> tuple[int, int]:
    """Return how many full packets the modem holds, down and up."""
    down, up = (_packets(*one, line.layer.overhead) for one in zip(line.buffers, line.carried, strict=True))
    return down, up


def _packets(buffer: str, rate_bps: int, overhead: int) -> int:
    try:
        size = Size.parse(buffer)
    except ValueError:  # a time
        size = Size(parse_span(buffer) * rate_bps // 8_000_000_000, in_packets=False)
    packets = size.count if size.in_packets else round(size.count / (FULL_IP_PACKET_BYTES + overhead))
    return min(max(packets, 1), MOST_PACKETS)


def _place(result: Result, device: str) -> Place:
    means = {(row.point, row.aqm, row.metric): row.estimate.value for row in result.rows}
    points = {(point["device"], point["line"]): number for number, point in enumerate(result.points)}

    def mean(setup: str, metric: str) -> float:
        line, aqm = SETUPS[setup]
        return means.get((points[device, line], aqm, metric), 0.0)

    wifi = sum(mean(TODAY, of_station(device).metric(layer)) for layer in LAYERS)
    both = ("class.call.mos_mean", "class.call.mos_back_mean")
    call = {setup: min(mean(setup, metric) for metric in both) for setup in SETUPS}
    return Place(device, mean(TODAY, "port.line.qdelay_mean_ms"), wifi, call)


def sentences(found: Wireless) -> list[str]:
    """Return the answer, a sentence each: where downloads wait, and what helps the call."""
    first, *others = found.places
    headline = f"A download to {first.device} is slowed by {_waits(first)}"
    slowed = [headline, *(f"one to {one.device} by {_waits(one)}" for one in others)]
    return [f"{'; '.join(slowed)}.", *(_helps(one) for one in found.places)]


def _waits(one: Place) -> str:
    both = f"packets wait {one.line_ms:.0f} ms there, {one.wifi_ms:.0f} ms in the Wi-Fi"
    match one.where:
        case "neither":
            return f"neither line nor Wi-Fi (packets wait {one.line_ms:.0f} ms and {one.wifi_ms:.0f} ms)"
        case "both":
            return f"line and Wi-Fi (packets wait {one.line_ms:.0f} ms and {one.wifi_ms:.0f} ms)"
        case "line":
            return f"the line ({both})"
        case _:
            return f"the Wi-Fi (packets wait {one.wifi_ms:.0f} ms there, {one.line_ms:.0f} ms in the line)"


def _helps(one: Place) -> str:
    today, best, enough = one.call[TODAY], max(one.call.values()), one.enough
    if enough == TODAY:
        return f"A call while {one.device} downloads is as good as it gets ({today:.1f} of 4.4, MOS)."
    what = {
        SQM: "with SQM in the router",
        "queues per device": "with an access point that queues by device (OpenWrt with ath9k, ath10k or mt76)",
        BOTH: "with SQM in the router and an access point that queues by device",
    }[enough]
    others = [setup for setup in SETUPS if setup not in (TODAY, enough) and best - one.call[setup] >= NOTICEABLE_MOS]
    without = f"; {listed(others)} alone: {_alone(one, others)}" if others else ""
    call = f"A call while {one.device} downloads scores {today:.1f} of 4.4 (MOS), {what} {one.call[enough]:.1f}"
    return f"{call}{without}."


def _alone(one: Place, setups: list[str]) -> str:
    return listed([f"{one.call[setup]:.1f}" for setup in setups])


def assumptions(found: Wireless) -> list[str]:
    """Return what the answer rests on, a sentence each."""
    seeds, seconds = len(found.result.seeds), DURATION.removesuffix("s")
    assert found.line is not None
    down, up = (f"{rate / 1e6:g} Mbit/s" for rate in found.line.carried)
    down_buffer, up_buffer = _buffers(found.line)
    return [
        "Today: an access point with one queue for all devices, above 123 packets in its driver. OpenWrt with ath9k, "
        "ath10k or mt76 queues by device already: there a nearer access point or a cable is what helps.",
        f"Simulated, {seeds} runs of {seconds} s each: four TCP downloads to one device, and a call to "
        f"{found.places[0].device}. The line carries {down} down and {up} up; its modem holds {down_buffer} and "
        f"{up_buffer} full packets (--modem-buffer), the access point 1000. Rates in the Wi-Fi: {found.stations}.",
        f"The model of Wi-Fi leaves out {', '.join(NOT_MODELLED)}, and your neighbours.",
    ]


def document(found: Wireless) -> dict[str, Any]:
    """Return the answer as data."""
    places = [
        {
            "device": one.device,
            "where": one.where,
            "line_ms": one.line_ms,
            "wifi_ms": one.wifi_ms,
            "call_mos": dict(one.call),
        }
        for one in found.places
    ]
    return {"places": places, "words": sentences(found), "not_modelled": list(NOT_MODELLED)}
