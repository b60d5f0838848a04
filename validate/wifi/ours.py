"""aqmlab's side of the points: the same set-up and the same values as ns-3's."""

import math
import statistics
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from points import DSCP, Flow, Point

import aqmlab
from aqmlab.results import Result

# As wifi.cc sets ns-3: aggregates are built when the medium is won, the oldest packet first, up to the longest that the
# standard allows; a missed block ACK is asked for.
CHANNEL = "hardware 0 order oldest aggregate_time 5484us lifetime 500ms missed request"
# TXOP limits of IEEE 802.11-2020, which ns-3 has.
TXOP = ", ".join(f"{node} vi txop 4096us, {node} vo txop 2080us" for node in ("ap", "stations"))
# The access point contends as stations do, and 802.11a by the rules before EDCA.
EDCA = f"ap_edca station station_edca station edca [{TXOP}]"
DCF = "ap_edca dcf station_edca dcf countdown end"
# What a PPDU of HT and of VHT carries at most.
AGGREGATE_BYTES = {"ofdm": 65_535, "ht": 65_535, "vht": 1_048_575}
# ns-3's FqCoDel with a quantum of 1500 bytes, and CoDel's MinBytes of 1501.
FQ_CODEL = "fq_codel quantum 1500b limit 10240p"
# Above what the queues hold, as ns-3's socket buffers; and the base of ssthresh that ns-3 has (validate/ns3/README.md).
TCP = "window=4mb"
NS3_SSTHRESH = "recovery.ssthresh=pipe"
START = "start=0.5s..1.5s"
PING = "packet=84b:rate=6720bit"


def channel(point: Point) -> str:
    """Return the notation of a point's channel."""
    stations = ", ".join(f"sta{number}={mode}" for number, mode in enumerate(point.stations))
    form = point.stations[0].split("-")[0]
    access = DCF if form == "ofdm" else EDCA
    octets = AGGREGATE_BYTES[form]
    return f"wifi stations [{stations}] driver {point.mac_packets} aggregate_size {octets}b {CHANNEL} {access}"


def topology(point: Point) -> str:
    """Return a point's topology file: stations have the queues that they have in ns-3, and nothing else has a rate."""
    half = f"{point.rtt_ms * 500:g}us"
    kind = channel(point)
    # The MAC's queue lies below it, at stations as at the access point.
    own = f"fifo limit {point.fifo_packets}p"
    fast = 'delay = "0s"\nrate = "100gbit"\nboth = false\nqueue = "plain"'
    air = f'delay = "0s"\nkind = "{kind}"\nmedium = "air"\nboth = false'
    links = [
        f'from = "server"\nto = "ap"\ndelay = "{half}"\nrate = "{point.line}"\nqueue = "plain"',
        f'from = "ap"\nto = "air"\n{air}\nqueue = "test"',
        f'from = "air"\nto = "ap"\n{fast}',
    ]
    for number in range(len(point.stations)):
        links += [
            f'from = "sta{number}"\nto = "air"\n{air}\nqueue = "{own}"',
            f'from = "air"\nto = "sta{number}"\n{fast}',
        ]
    sinks = ", ".join(f'"sta{number}"' for number in range(len(point.stations)))
    head = f'measured = "ap->air"\nsources = ["server"]\nsinks = [{sinks}]\n'
    return head + "".join(f"\n[[link]]\n{link}\n" for link in links)


def flows(point: Point) -> list[str]:
    """Return a point's flows: a group for each station and kind, and pings with their answers."""
    found = []
    for number, flow in enumerate(point.flows):
        found += [_flow(flow, number, station, sack=point.sack) for station in flow.stations]
    if point.ping:
        for station in range(len(point.stations)):
            ping = f"{PING}{_dscp(point.ping_category)}:start=0.5s..0.6s"
            found.append(f"1*cbr:name=ping{station}:{ping}:from=server:to=sta{station}")
            found.append(f"1*cbr:name=pong{station}:{ping}:from=sta{station}:to=server")
    return found


def _flow(flow: Flow, number: int, station: int, *, sack: bool) -> str:
    name = f"f{number}x{station}"
    ends = "from=server:to=sta{0}" if flow.direction == "down" else "from=sta{0}:to=server"
    where = f"name={name}:{ends.format(station)}:{START}{_dscp(flow.category)}"
    if flow.kind == "udp":
        return f"1*poisson:rate={flow.mbit:g}mbit:{where}"
    return f"1*{flow.kind}:{TCP}:{NS3_SSTHRESH if sack else 'sack=off'}:{where}"


def _dscp(category: str) -> str:
    return f":dscp={DSCP[category]}" if DSCP[category] else ""


def options(point: Point, folder: Path) -> dict[str, Any]:
    """Return the options of a point, whose topology file is put into a folder."""
    file = folder / "topology.toml"
    file.write_text(topology(point), encoding="utf-8")
    return {
        "aqm": f"fifo limit {point.fifo_packets}p" if point.queue == "fifo" else FQ_CODEL,
        "topology": str(file),
        "rtt": f"{point.rtt_ms:g}ms",
        "flows": flows(point),
        "overhead": "0b",
        "warmup": f"{point.warmup_s:g}s",
        "duration": f"{point.duration_s:g}s",
    }


def run(point: Point, seeds: int, jobs: int) -> dict[str, list[float]]:
    """Run a point: values by metric, one for each seed."""
    with tempfile.TemporaryDirectory() as folder:
        return values(point, aqmlab.compare(**options(point, Path(folder)), seeds=seeds, jobs=jobs))


def values(point: Point, result: Result) -> dict[str, list[float]]:
    """Return what a result has of the metrics of ns-3's side."""
    runs = result.runs.sort("seed")
    groups = {
        station: [f"f{number}x{station}" for number, flow in enumerate(point.flows) if station in flow.stations]
        for station in range(len(point.stations))
    }
    found: dict[str, list[float]] = {}
    for station, names in groups.items():
        columns = [pl.col(f"class.{name}.goodput_mbit") for name in names]
        if columns:
            found[f"mbit.sta{station}"] = runs.select(pl.sum_horizontal(columns)).to_series().to_list()
        for metric, column in (("aggregate_down", "aggregate_mean_packets"), ("collision", "collision_ratio")):
            name = f"station.sta{station}.{column}"
            if name in runs.columns:
                found[f"{metric}.sta{station}"] = runs[name].to_list()
        if point.ping:
            medians = [_medians(result, f"class.{way}{station}.owd") for way in ("ping", "pong")]
            found[f"ping_ms.sta{station}"] = [sum(both) for both in zip(*medians, strict=True)]
    for category in point.categories:
        own = [
            pl.col(f"class.f{number}x{station}.goodput_mbit")
            for number, flow in enumerate(point.flows)
            if flow.category == category
            for station in flow.stations
        ]
        found[f"category_mbit.{category}"] = runs.select(pl.sum_horizontal(own)).to_series().to_list()
    totals = [values for name, values in found.items() if name.startswith("mbit.")]
    found["total_mbit"] = [sum(seed) for seed in zip(*totals, strict=True)]
    return found


def _medians(result: Result, name: str) -> list[float]:
    """Return the median of a histogram in ms for each seed."""
    rows = result.histograms.filter(pl.col("name") == name).sort("seed", "value_ns")
    medians = []
    for seed in sorted(result.runs["seed"].to_list()):
        own = rows.filter(pl.col("seed") == seed)
        half = own["count"].sum() / 2
        reached = own.filter(own["count"].cum_sum() >= half)
        medians.append(float(reached["value_ns"][0]) / 1e6 if len(reached) else math.nan)
    return medians


def mean(values: list[float]) -> float:
    """Return the mean of those that there are."""
    there = [value for value in values if not math.isnan(value)]
    return statistics.fmean(there) if there else math.nan
