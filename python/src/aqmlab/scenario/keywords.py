"""The options of a comparison as keywords of Python functions, so that a type checker finds a misspelt one.

Written by `make docs` from the declarations in the simulator.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import TypeAlias, TypedDict

Many: TypeAlias = str | Sequence[str]
Time: TypeAlias = str | timedelta
File: TypeAlias = str | os.PathLike[str]


class Keywords(TypedDict, total=False):
    """Quantities are text with their unit in tc's notation."""

    rate: str | None
    "rate of the bottleneck, as 10mbit"
    rtt: Time | None
    "base (propagation) round-trip time, as 40ms"
    buffer: Time | None
    "buffer of every AQM: 1000p, 64kb, 200ms or 1bdp (at least 20p) (default 1bdp)"
    flows: File | Sequence[File] | None
    "flows as 'COUNT*KIND[:key=value]...', as 10*newreno:rtt=20ms (default 1*cubic)"
    topology: File | None
    "dumbbell, asymmetric:up=10mbit, parking_lot:hops=3, star, ... or FILE.toml (default dumbbell)"
    measure: Many | None
    "ports whose queues are measured, as down,up; the bottleneck unless given"
    link_trace: File | None
    "delivery opportunities in mahimahi's format, or steps:100mbit*20s,10mbit*20s, instead of a rate"
    capture: File | Sequence[File] | None
    "recorded traffic (pcap, pcapng) to replay through the bottleneck"
    overhead: str | None
    "link-layer bytes added to every IP packet (default 14b)"
    device_ring: str | None
    "packets that the device takes ahead of the wire, the one being sent included (default 1p)"
    placement: str | None
    "Wi-Fi: above the driver's queue, integrated with a queue for each station, or limited by airtime (default auto)"
    access_rate: str | None
    "rate of every access link; ten times the bottleneck's unless given (default 10x)"
    loss: str | None
    "random loss behind the bottleneck's queue, as 0.1%, 'gemodel 1% 10%' or 'state ...' (default 0%)"
    jitter: Time | None
    "largest random extra delay behind the bottleneck's queue (default 0ms)"
    jitter_correlation: str | None
    "how much each extra delay depends on that of the packet before (default 0%)"
    reorder: str | None
    "packets sent on without delay and jitter, as 25% or '25% gap 5' (default 0%)"
    duplicate: str | None
    "packets that arrive twice behind the bottleneck (default 0%)"
    slot: str | None
    "packets leave the wire in bursts, as '1ms 4ms packets 32 bytes 64kb' (default off)"
    duration: Time | None
    "simulated time (default 30s)"
    warmup: Time | None
    "time at the start that is not measured; auto, or mser5: longer where a run is not steady (default auto)"
    series: str | None
    "time series of every flow (flows; up to 100 of them) or of groups only (groups) (default flows)"
    observe: str | None
    "further observers, each with metrics of its own, or none (aqmlab metrics list --papers) (default none)"
    seeds: int | str | None
    "independent runs per AQM; every AQM gets the same seeds (default 10)"
    first_seed: int | str | None
    "seed of the first run; those of the others follow it (default 1)"
