"""Several disciplines under the same live traffic, one after the other and again, with intervals."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab import _native
from aqmlab.live.carrying import Carried, Link, carry
from aqmlab.live.document import FORMAT_VERSION, lateness_ms, warnings
from aqmlab.live.line import Line
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Estimate
from aqmlab.vocabulary.errors import Interrupted, MachineError

PING_S = 0.02
# Both ends are this program, which imports nothing from the folder that the user is in.
WORKLOAD = (sys.executable, "-P", "-m", "aqmlab.live.workload")
# Those of the link that are compared, of the direction that is loaded.
OF_LINK = ("utilization", "qdelay_mean_ms", "loss_ratio", "marks")
QUANTILES = {"qdelay_p50_ms": 0.5, "qdelay_p99_ms": 0.99}


@dataclass(frozen=True)
class Traffic:
    """Bulk transfers by the kernel's TCP in both directions; what is measured, and what before is not."""

    down: int = 1
    up: int = 0
    duration_s: float = 10.0
    warmup_s: float = 3.0

    @property
    def loaded(self) -> str:
        """The direction whose queue is compared."""
        return "down" if self.down else "up"


@dataclass(frozen=True)
class Run:
    """One run: what the link and what the traffic has shown."""

    aqm: str
    seed: int
    carried: Carried
    measured: dict[str, Any]
    metrics: dict[str, float]


@dataclass(frozen=True)
class Compared:
    """All runs, and over them the estimate of each metric for each discipline."""

    traffic: Traffic
    runs: tuple[Run, ...]
    estimates: Mapping[str, Mapping[str, Estimate]]

    @property
    def warnings(self) -> list[str]:
        """What a reader has to know, each once for a discipline."""
        return list(dict.fromkeys(f"{one.aqm}: {text}" for one in self.runs for text in warnings(one.carried)))


def compare(
    links: Mapping[str, tuple[Line, Line]],
    traffic: Traffic,
    seeds: Sequence[int],
    congestion_control: str = "",
    progress: Callable[[str], None] = lambda text: None,
    *,
    ecn: bool = False,
) -> Compared:
    """Run the traffic through each link with each seed, the links in turn: what drifts in the machine meets all.

    Args:
        links: both directions by the name of the discipline that is compared.
        traffic: what is sent.
        seeds: one for each repetition.
        congestion_control: TCP's (empty: CUBIC, where permitted).
        progress: is told what runs.
        ecn: whether TCP asks for ECN.

    Raises:
        Interrupted: by the user, who meant the traffic with it.
        MachineError: the system does not permit it, or the traffic has ended with an error.

    """
    runs = []
    for seed in seeds:
        for aqm, (down, up) in links.items():
            progress(f"{aqm}, seed {seed}")
            runs.append(_run(aqm, Link(down, up, seed, congestion_control, ecn), traffic))
    estimates = {aqm: _estimates([one for one in runs if one.aqm == aqm], traffic) for aqm in links}
    return Compared(traffic, tuple(runs), estimates)


def _run(aqm: str, link: Link, traffic: Traffic) -> Run:
    plan = {"down": traffic.down, "up": traffic.up, "ping_s": PING_S}
    plan |= {"warmup_s": traffic.warmup_s, "duration_s": traffic.duration_s}
    # No pipe: all pings of a long run do not fit into one.
    with tempfile.TemporaryFile("w+") as said:
        carried = carry(
            link,
            [*WORKLOAD, json.dumps(plan)],
            [[*WORKLOAD, "server"]],
            stdout=said.fileno(),
        )
        if carried.report["command"]["signal"] == signal.SIGINT:
            raise Interrupted("interrupted; nothing was kept")
        if carried.status:
            raise MachineError(f"{aqm}: the traffic ended with status {carried.status}")
        said.seek(0)
        measured = json.load(said)
    return Run(aqm, link.seed, carried, measured, _metrics(carried, traffic, measured))


def _metrics(carried: Carried, traffic: Traffic, measured: dict[str, Any]) -> dict[str, float]:
    loaded = carried.report[traffic.loaded]["metrics"]
    found = {name: loaded[name] for name in OF_LINK if name in loaded}
    rates = {
        name: np.array([flow["goodput_mbit"] for flow in measured["flows"] if flow["direction"] == name])
        for name in ("down", "up")
    }
    for name, values in rates.items():
        if len(values):
            found[f"port.{name}.goodput_mbit"] = float(values.sum())
    own = rates[traffic.loaded]
    if len(own):
        found["goodput_mbit"] = float(own.sum())
    if (own > 0).any():
        found["jain_index"] = float(own.sum() ** 2 / (len(own) * (own**2).sum()))
    found["pings_unanswered"] = float(measured["pings_unanswered"])
    if measured["round_trips_ms"]:
        found["ping_mean_ms"] = float(np.mean(measured["round_trips_ms"]))
    return found


def _estimates(runs: Sequence[Run], traffic: Traffic) -> dict[str, Estimate]:
    found = {}
    for name in dict.fromkeys(name for one in runs for name in one.metrics):
        found[name] = statistics.mean([one.metrics[name] for one in runs if name in one.metrics])
    sojourns = [np.array(one.carried.report[traffic.loaded]["sojourn"], dtype=float).reshape(-1, 2) for one in runs]
    for name, quantile in QUANTILES.items():
        found |= _percentile(name, [(one[:, 0] / 1e6, one[:, 1]) for one in sojourns], quantile, _half_bucket_ms)
    pings = [np.array(one.measured["round_trips_ms"]) for one in runs]
    return found | _percentile("ping_p99_ms", [(one, np.ones(len(one))) for one in pings], 0.99)


def _percentile(
    name: str,
    samples: Sequence[tuple[Any, Any]],
    quantile: float,
    half_bucket: Callable[[float], float] = lambda value: 0.0,
) -> dict[str, Estimate]:
    """Return a percentile over all runs, of values and counts of each; nothing if a run has none."""
    if not all(len(values) for values, _ in samples):
        return {}
    every = np.unique(np.concatenate([values for values, _ in samples]))
    table = np.zeros((len(samples), len(every)))
    for row, (values, counts) in zip(table, samples, strict=True):
        np.add.at(row, np.searchsorted(every, values), counts)
    return {name: statistics.percentile(table, every, quantile, half_bucket)}


def _half_bucket_ms(ms: float) -> float:
    return _native.bucket_width_ns(round(ms * 1e6)) / 2e6


def document(compared: Compared) -> dict[str, Any]:
    """Return the comparison as plain data (JSON), in the form of `compare`."""
    first = compared.runs[0].carried
    return {
        "format_version": FORMAT_VERSION,
        "command": "live-compare",
        "aqmlab": _native.version(),
        "scenario": {
            "traffic": {name: getattr(compared.traffic, name) for name in ("down", "up", "duration_s", "warmup_s")},
            "links": {
                one.aqm: {"down": dict(one.carried.link.down.told), "up": dict(one.carried.link.up.told)}
                for one in compared.runs
            },
            "tcp": first.report["tcp"],
        },
        "warnings": compared.warnings,
        "runs": [
            {
                "aqm": one.aqm,
                "seed": one.seed,
                "metrics": one.metrics,
                "flows": [{"id": number, **flow} for number, flow in enumerate(one.measured["flows"])],
                "engine": "live",
                "cpu_s": one.carried.report["cpu_s"],
                "lateness_ms": {name: lateness_ms(one.carried.report[name]["lateness_ms"]) for name in ("down", "up")},
            }
            for one in compared.runs
        ],
        "summary": [
            {"aqm": aqm, "metric": name, "mean": one.value, "ci95_low": one.low, "ci95_high": one.high, "n": one.n}
            for aqm, metrics in compared.estimates.items()
            for name, one in metrics.items()
        ],
    }


__all__ = ["Compared", "Run", "Traffic", "compare", "document"]
