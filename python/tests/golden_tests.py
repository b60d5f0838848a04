"""Golden runs of the simulator: a result stays the same to the last bit.

A change that is meant to change results updates `golden/runs.json` (`AQMLAB_GOLDEN=write` before pytest) and gives the
reason in its commit. New metrics, columns and series may be added without that.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import ROOT

import aqmlab
from aqmlab import registry
from aqmlab.metrics import METRICS, split

FILE = Path(__file__).parent / "golden" / "runs.json"
TAGS = ("point", "aqm", "seed")
NOT_RESULTS = {*TAGS, "cpu_s", "key", "warnings"}

PLAIN: dict[str, Any] = {"rate": "10mbit", "rtt": "40ms", "duration": "4s", "seeds": 1, "aqm": "fifo"}
MIXED = ["4*newreno", "2*cubic:ecn=classic:rtt=80ms", "1*cbr:rate=1mbit"]
TRACE = str(ROOT / "data/link-traces/aqmlab-lte.down")
CAPTURE = str(ROOT / "data/captures/aqmlab-lan.pcap")

TOPOLOGIES = (
    "parking_lot:hops=3",
    "star",
    "many_to_one",
    "many_to_many",
    "leaf_spine",
    "shared_medium",
    "asymmetric",
    "campus",
)


def _cases() -> Iterator[tuple[str, dict[str, Any]]]:
    for one in registry.disciplines():
        yield f"aqm {one.name}", {**PLAIN, "aqm": one.name, "flows": MIXED}
    flows = {
        "newreno": "3*newreno:sack=off",
        "newreno as in ns-3": "3*newreno:abc=off:ssthresh=pipe",
        "cubic with everything": "3*cubic:hystart=on:prr=on:rack=on:handshake=on:eifel=on:quickack=16:pacing=on",
        "dctcp": "3*dctcp",
        "ledbat": "2*ledbat",
        "prague": "2*prague",
        "bbr1": "2*bbr1",
        "bbr3": "2*bbr3",
        "fixed": "2*fixed:window=20p",
        "onoff": "3*onoff:rate=4mbit:on=200ms:off=100ms",
        "pareto": "3*pareto:rate=4mbit",
        "weibull": "3*weibull:rate=4mbit",
        "poisson": "2*poisson:rate=6mbit",
        "poisson tcp": "2*poisson:rate=6mbit:transport=cubic",
        "steps": "1*steps:rates=1mbit..8mbit",
        "vbr": "1*vbr:size=exp(10kb)",
        "telnet": "5*telnet",
        "arrivals": "2*arrivals:gap=exp(5ms):size=2kb",
        "voip": "2*voip",
        "gaming": "2*gaming",
        "video": "1*video",
        "ftp": "1*ftp",
        "rpc": "2*rpc",
        "web": "1*web",
        "incast": "1*incast",
        "workload": "1*workload:load=0.5",
        "replay": f"1*replay:file={CAPTURE}",
    }
    for name, spec in flows.items():
        yield f"flows {name}", {**PLAIN, "aqm": "dualpi2" if name == "prague" else "codel", "flows": [spec, "1*cubic"]}
    for topology in TOPOLOGIES:
        yield f"topology {topology}", {**PLAIN, "aqm": "fq_codel", "topology": topology, "flows": ["6*cubic", "2*voip"]}
    yield "link trace", {**PLAIN, "rate": None, "link_trace": TRACE, "flows": MIXED, "aqm": "codel"}
    yield "capture", {**PLAIN, "capture": [CAPTURE], "aqm": "pie", "flows": ["1*cubic"]}
    yield "capture over trace", {**PLAIN, "rate": None, "link_trace": TRACE, "capture": [CAPTURE], "aqm": "red"}
    yield "loss and jitter", {**PLAIN, "loss": "1%", "jitter": "5ms", "flows": MIXED}
    yield "device ring", {**PLAIN, "device_ring": "8p", "flows": MIXED, "aqm": "fq_codel"}
    yield "slow access", {**PLAIN, "access_rate": "6mbit", "flows": MIXED, "aqm": "codel"}
    yield "fast", {**PLAIN, "rate": "1gbit", "rtt": "2ms", "duration": "500ms", "flows": ["20*cubic"], "aqm": "pie"}
    drr = "drr child [codel] child [fifo]"
    yield "classes", {**PLAIN, "aqm": drr, "flows": ["2*cubic:class=0", "2*newreno:class=1"]}


CASES = dict(_cases())


def _answer(options: dict[str, Any]) -> dict[str, Any]:
    """A result: metrics as they are, the rest as a hash per column."""
    result = aqmlab.compare(**{name: value for name, value in options.items() if value is not None})
    (run,) = result.runs.iter_rows(named=True)
    found: dict[str, Any] = {
        "metrics": {name: value for name, value in run.items() if name not in NOT_RESULTS and value is not None}
    }
    for name in ("flows", "queues"):
        frame: pl.DataFrame = getattr(result, name)
        found[name] = {column: _digest(frame[column].to_list()) for column in frame.columns if column not in TAGS}
    for name, columns in (("series", ("time_s", "value")), ("histograms", ("value_ns", "count"))):
        frame = getattr(result, name)
        kind = pl.col("name").str.replace(r"^flow\.\d+\.", "flow.")
        parts = frame.with_columns(kind=kind).partition_by("kind", maintain_order=True)
        found[name] = {part["kind"][0]: _digest([part[column].to_list() for column in columns]) for part in parts}
    return found


def _digest(values: list[Any]) -> str:
    """Twelve hexadecimal digits: a hash of the values."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:12]


def _golden() -> dict[str, Any]:
    """The recorded results."""
    return dict(json.loads(FILE.read_text())) if FILE.exists() else {}


@pytest.mark.skipif(os.environ.get("AQMLAB_GOLDEN") != "write", reason="renews the file, when asked to")
def golden_runs_are_written_on_request() -> None:
    FILE.parent.mkdir(exist_ok=True)
    found = {name: _answer(options) for name, options in CASES.items()}
    FILE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")


@pytest.mark.parametrize("name", CASES)
def a_run_answers_as_it_did(name: str) -> None:
    expected = _golden()[name]
    found = _answer(CASES[name])
    changed = [
        f"{part}.{key}: {found[part].get(key, 'gone')} instead of {value}"
        for part, entries in expected.items()
        for key, value in entries.items()
        if found[part].get(key) != value
    ]
    assert not changed


def every_metric_that_a_run_answers_is_declared() -> None:
    answered = {split(name)[1] for run in _golden().values() for name in run["metrics"]}
    assert answered - {"engine", "events", "bottleneck_packets"} <= {metric.name for metric in METRICS}


def every_golden_run_is_unchanged() -> None:
    assert set(_golden()) == set(CASES)
