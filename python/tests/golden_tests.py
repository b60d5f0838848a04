"""Golden runs of the simulator: a result stays the same to the last bit.

Every discipline, kind of flow (so every congestion control, rate control and source), topology and program of a switch
that the registries have has one, and every option with a value other than its default. `golden/runs` has a file per
run: its scenario, its main metrics, and a hash of its whole result. `AQMLAB_GOLDEN=write` before pytest writes the
files. A commit that changes one gives the reason; a new metric, column or series changes only hashes.
"""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import golden_record
import polars as pl
import pytest
from conftest import ROOT

import aqmlab
from aqmlab import _native
from aqmlab.engine import native
from aqmlab.scenario import links, registry, topologies
from aqmlab.scenario.flows import parse_all
from aqmlab.scenario.kinds import KINDS
from aqmlab.scenario.options import SETTINGS, Option
from aqmlab.vocabulary.metrics import METRICS, is_metric, split

PLAIN: dict[str, Any] = {"rate": "10mbit", "rtt": "40ms", "duration": "4s", "seeds": 1, "aqm": "fifo"}
MIXED = ["4*newreno", "2*cubic:ecn=classic:rtt=80ms", "1*cbr:rate=1mbit"]
TRACE = str(ROOT / "data/link-traces/aqmlab-lte.down")
CAPTURE = str(ROOT / "data/captures/aqmlab-lan.pcap")
WALK = str(ROOT / "python/tests/golden/walk.txt")

# Keys that a kind of flow needs, or shows more with; the others run as they are.
FLOWS = {
    "newreno": "3*newreno:sack=off",
    "dctcp": "3*dctcp",
    "fixed": "2*fixed:window=20p",
    "dcqcn": "2*dcqcn:line=10mbit",
    "cbr": "1*cbr:rate=3mbit",
    "onoff": "3*onoff:rate=4mbit:on=200ms:off=100ms",
    "pareto": "3*pareto:rate=4mbit",
    "weibull": "3*weibull:rate=4mbit",
    "poisson": "2*poisson:rate=6mbit",
    "steps": "1*steps:rates=1mbit..8mbit",
    "vbr": "1*vbr:size=exp(10kb)",
    "telnet": "5*telnet",
    "arrivals": "2*arrivals:gap=exp(5ms):size=2kb",
    "video": "1*video",
    "ftp": "1*ftp",
    "web": "1*web",
    "incast": "1*incast",
    "workload": "1*workload:load=0.5",
    "replay": f"1*replay:file={CAPTURE}",
    **{name: f"2*{name}:dscp=46" for name in ("pmqecn", "pmqecn_as_run", "pmqecn_bounded")},
    **{name: f"2*{name}:dscp=46" for name in ("dcqcn_as_run", "p4qcn_as_run", "tcn_as_run")},
}


def _switched(program: str) -> dict[str, str]:
    """Senders behind a switch that runs a program, with a queue for each of its classes."""
    return {"topology": f"many_to_one:senders=3:program={program}", "aqm": "sp classes 3 limit 192p"}


# What the senders of a kind hear of congestion from; the others have CoDel.
SIGNALLED: dict[str, dict[str, str]] = {
    "prague": {"aqm": "dualpi2"},
    "dcqcn": {"aqm": "ecn_ramp kmax 60kb pmax 0.3", "topology": "many_to_one:senders=3"},
    "qcn": _switched("qcn setpoint 10kb"),
    "pmqecn": _switched("pmqecn"),
    "pmqecn_as_run": _switched("pmqecn"),
    "pmqecn_bounded": _switched("pmqecn"),
    "dcqcn_as_run": _switched("pmqecn strategy dcqcn threshold 11"),
    "p4qcn_as_run": _switched("pmqecn strategy p4qcn threshold 11"),
    "tcn_as_run": _switched("pmqecn strategy tcn sojourn 2ms"),
}
# What TCP does otherwise in Linux, rule by rule.
RULES = (
    *(
        "recovery.minrto_bounds=rttvar",
        "recovery.ssthresh=cwnd",
        "recovery.ssthresh_on_lost_rtx=off:recovery.rack=on",
        "recovery.cwnd_unit=segments:recovery.prr=on",
        "recovery.safeack=on:recovery.prr=on",
    ),
    *("slow_start.abc_limit=0", "acks.rcvbuf=128kb", "acks.quickack_mode=on", "growth=count", "profile=linux"),
    *(
        "slow_start.hystart=classic",
        "recovery.frto=on",
        "slow_start.acked_sacked=on",
        "recovery.ecn_fallback=on:handshake=on",
        "recovery.prr_on_ecn=on:recovery.prr=on",
    ),
    *(
        "recovery.prr_on_timer=on:recovery.prr=on:recovery.rack=on",
        "acks.psh=on",
        "acks.delack_max=200ms",
        "recovery.reenter=on",
    ),
)
TOPOLOGIES = {
    "parking_lot": {"topology": "parking_lot:hops=3"},
    "bus": {"rtt": "2ms"},
    # Its stations say its rate.
    "wifi": {"rate": None},
}
PROGRAMS = {"dscp": "dscp codepoints 46,26 threshold 10kb notify int", "qcn": "qcn setpoint 10kb"}


def _cases() -> Iterator[tuple[str, dict[str, Any]]]:
    for one in (*registry.disciplines(), *registry.of_papers()):
        yield f"aqm {one.name}", {**PLAIN, "aqm": one.name, "flows": MIXED}
    for kind in KINDS:
        heard = SIGNALLED.get(kind, {"aqm": "codel"})
        yield f"flows {kind}", {**PLAIN, **heard, "flows": [FLOWS.get(kind, f"2*{kind}"), "1*cubic"]}
    for name, spec in (
        ("newreno as in ns-3", "3*newreno:abc=off:recovery.ssthresh=pipe"),
        (
            "cubic with everything",
            "3*cubic:slow_start.hystart=plusplus:recovery.prr=on:recovery.rack=on:handshake=on:recovery.eifel=on:acks.quickack=16:pacing=on",
        ),
        (
            "sockets of papers' senders",
            "4*onoff:rate=4mbit:on=200ms:off=100ms:transport=newreno:handshake=on:recovery.syn_rto=3s:recovery.syn_loss=off"
            ":app.connect=ahead:app.arp=7ms:app.listen=1s:app.sndbuf=131072b:app.write=724b",
        ),
        ("poisson tcp", "2*poisson:rate=6mbit:transport=cubic"),
        ("quinn in streams", "2*quinn:streams=3:size=2mb"),
        ("quinn's newreno without ecn", "2*quinn:cc=newreno:ecn=off:mtud=off"),
    ):
        yield f"flows {name}", {**PLAIN, "aqm": "codel", "flows": [spec, "1*cubic"]}
    for rule in RULES:
        yield f"rule {rule}", {**PLAIN, "rate": "4mbit", "aqm": "pie ecn", "flows": [f"12*cubic:{rule}:ecn=classic"]}
    for topology in topologies.KINDS:
        settings = {"topology": topology.name, **TOPOLOGIES.get(topology.name, {})}
        yield f"topology {topology.name}", {**PLAIN, "aqm": "fq_codel", **settings, "flows": ["6*cubic", "2*voip"]}
    bus = {"topology": "bus:clients=6:access=backoff", "rtt": "2ms"}
    yield "bus with backoff", {**PLAIN, **bus, "aqm": "fq_codel", "flows": ["6*cubic", "2*voip"]}
    # That of recordings has its own below; Wi-Fi's stations say its rate.
    for kind in (kind for kind in links.KINDS if kind != "trace"):
        rate = None if kind == "wifi" else PLAIN["rate"]
        yield f"link {kind}", {**PLAIN, "rate": rate, "link": kind, "aqm": "fq_codel", "flows": MIXED}
    losses = "wifi stations [near=vht-mcs8-2ss-80mhz loss 0.1, far=ht-mcs1 snr 9] retries 3"
    limited = {"rate": None, "link": losses, "placement": "limited", "aqm": "airtime_fq"}
    yield "placement limited", {**PLAIN, **limited, "flows": ["2*cubic", "1*voip"]}
    marked = ["2*cubic", "1*voip:name=voice:dscp=46", "1*cbr:name=video:rate=2mbit:dscp=34", "1*cubic:name=rest:dscp=8"]
    leaving = "wifi stations [near=ht-mcs15 at 1s ht-mcs7, far=ht-mcs1 loss 0.1 leaves 3s]"
    yield "access categories", {**PLAIN, "rate": None, "link": leaving, "aqm": "fq_codel", "flows": marked}
    walks = {"rate": None, "link": f"wifi stations [walker=rates({WALK}), phone=ht-mcs7 snr 25]", "aqm": "airtime_fq"}
    yield "rates of a station from a file", {**PLAIN, **walks, "flows": ["1*cubic:to=walker", "1*voip:to=phone"]}
    listened = {"rate": None, "link": "wifi stations [phone=vht-mcs8-2ss-80mhz, multicast=ofdm-12 loss 0.1]"}
    flows = ["2*cubic:to=phone", "1*cbr:rate=2mbit:to=multicast"]
    yield "multicast", {**PLAIN, **listened, "aqm": "fq_codel", "flows": flows}
    for program in json.loads(_native.programs()):
        switched = _switched(PROGRAMS.get(program["name"], program["name"]))
        flows = ["3*cubic:dscp=46:ecn=classic", "1*qcn", "1*pmqecn:dscp=26"]
        yield f"program {program['name']}", {**PLAIN, **switched, "flows": flows}
    yield "link trace", {**PLAIN, "rate": None, "link_trace": TRACE, "flows": MIXED, "aqm": "codel"}
    yield "capture", {**PLAIN, "capture": [CAPTURE], "aqm": "pie", "flows": ["1*cubic"]}
    yield "capture over trace", {**PLAIN, "rate": None, "link_trace": TRACE, "capture": [CAPTURE], "aqm": "red"}
    # Whole milliseconds: many packets arrive at the same nanosecond.
    ties = {"rate": None, "link_trace": TRACE, "capture": [CAPTURE], "rtt": "40ms", "duration": "12s", "warmup": "2s"}
    yield "many senders over trace", {**PLAIN, **ties, "aqm": "codel", "flows": ["4*cubic"]}
    yield "loss and jitter", {**PLAIN, "loss": "1%", "jitter": "5ms", "flows": MIXED}
    yield "device ring", {**PLAIN, "device_ring": "8p", "flows": MIXED, "aqm": "fq_codel"}
    yield "slow access", {**PLAIN, "access_rate": "6mbit", "flows": MIXED, "aqm": "codel"}
    yield "fast", {**PLAIN, "rate": "1gbit", "rtt": "2ms", "duration": "500ms", "flows": ["20*cubic"], "aqm": "pie"}
    yield "observers", {**PLAIN, "observe": "flow_monitor,queue_ewma", "flows": MIXED, "aqm": "codel"}
    yield "no overhead, and series of groups", {**PLAIN, "overhead": "0b", "series": "groups", "flows": MIXED}
    yield "heavy flows among short ones", {**PLAIN, "aqm": "sqm_lru", "flows": [*MIXED, "20*web"]}
    finite = ["8*cubic:size=50kb", "3*cubic:size=2mb", "1*cubic:size=11mb"]
    yield "finite flows", {**PLAIN, "rate": "100mbit", "warmup": "mser5", "flows": finite}
    buffer = "many_to_one:senders=4:buffer=60kb:xoff=15kb:priorities=1"
    flows = ["8*cubic", "4*dcqcn:class=1:line=100mbit"]
    fast = {**PLAIN, "rate": "100mbit", "rtt": "1ms", "duration": "1s"}
    yield "shared buffer and pauses", {**fast, "topology": buffer, "flows": flows}
    upload = {"topology": "asymmetric:up=100kbit", "aqm": "cake ack-filter", "flows": ["4*cubic"]}
    yield "filtered acknowledgments", {**PLAIN, **upload}
    drr = "drr child [codel] child [fifo]"
    yield "classes", {**PLAIN, "aqm": drr, "flows": ["2*cubic:class=0", "2*newreno:class=1"]}


def _other(option: Option) -> str:
    """A value that is not the default: an example, another word, or twice as much."""
    known = [word for word in (option.example, *option.words) if word not in ("", option.default)]
    return known[0] if known else option.write(min(2 * option.value or 1, option.high))


CASES = dict(_cases())
# An option that no case above tries.
for _option in SETTINGS:
    if {case.get(_option.name) for case in CASES.values()} <= {None, _option.default}:
        CASES[f"option {_option.name}"] = {**PLAIN, _option.name: _other(_option), "flows": MIXED}


@dataclass(frozen=True)
class Answer:
    """What a golden run answers: its file, and the metrics that it has and that the simulator put."""

    text: str
    metrics: frozenset[str]
    put: frozenset[str]


@functools.cache
def _answer(name: str) -> Answer:
    """Run a case."""
    put: set[str] = set()

    def simulated(*task: Any) -> Any:
        run = _native.run(*task)
        put.update(run.metrics)
        return run

    options = {option: value for option, value in CASES[name].items() if value is not None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "simulate", simulated)
        result = aqmlab.compare(**options)
    metrics = golden_record.metrics(result.runs)
    return Answer(golden_record.text(options, result), frozenset(metrics), frozenset(put))


@pytest.mark.skipif(os.environ.get("AQMLAB_GOLDEN") != "write", reason="writes the files, when asked to")
def golden_runs_are_written_on_request() -> None:
    golden_record.FOLDER.mkdir(parents=True, exist_ok=True)
    for left in set(golden_record.FOLDER.iterdir()) - set(map(golden_record.file, CASES)):
        left.unlink()
    for name in CASES:
        golden_record.file(name).write_text(_answer(name).text)


@pytest.mark.parametrize("name", CASES)
def a_run_answers_as_it_did_and_in_declared_metrics(name: str) -> None:
    answer = _answer(name)
    undeclared = {metric for metric in answer.put if not is_metric(metric)}
    assert answer.put
    assert not undeclared, "not in aqmlab.metrics"
    assert golden_record.file(name).exists(), "no golden run: AQMLAB_GOLDEN=write writes it"
    assert answer.text == golden_record.file(name).read_text()


def the_flows_of_every_golden_run_read_back_as_they_are_printed() -> None:
    for case in CASES.values():
        given = case.get("flows", ["1*cubic"])
        groups = parse_all([given] if isinstance(given, str) else given)
        assert parse_all([group.short for group in groups]) == groups
        assert parse_all([str(group) for group in groups]) == groups


def the_hash_is_another_with_any_value_of_a_result() -> None:
    tables = golden_record.frames(aqmlab.compare(**CASES["aqm codel"]))
    hashes = [golden_record.digest(tables)]
    for name, table in tables.items():
        for column in set(table.columns) - golden_record.NOT_RESULTS:
            values = table[column].to_list()
            row = len(values) // 2
            values[row] = _next(values[row])
            altered = table.with_columns(pl.Series(column, values))
            hashes.append(golden_record.digest({**tables, name: altered}))
    assert len(hashes) > len(tables)
    assert len(set(hashes)) == len(hashes)


def _next(value: Any) -> Any:
    """Return the nearest other value."""
    if isinstance(value, str):
        return f"{value}x"
    return math.nextafter(value, math.inf) if isinstance(value, float) else (value or 0) + 1


def everything_in_the_registries_has_a_golden_run_and_nothing_else() -> None:
    files = sorted(map(golden_record.file, CASES))
    assert len(set(files)) == len(files), "two cases with one file"
    assert sorted(golden_record.FOLDER.iterdir()) == files, "AQMLAB_GOLDEN=write writes the files of the cases"


@pytest.mark.parametrize("option", SETTINGS, ids=lambda option: option.name)
def an_option_is_another_than_its_default_in_a_golden_run(option: Option) -> None:
    given = {options.get(option.name) for options in CASES.values()}
    assert given - {None, option.default}, "a case above in which it is not the default"


# Metrics that no golden run answers, and why.
UNPINNED = {
    "pfc_deadlock_s": "only in a deadlock, which `simulation/switches.rs` has",
    **dict.fromkeys(("ping_mean_ms", "ping_p99_ms", "pings_unanswered"), "only over a live link"),
}


def every_metric_is_in_a_golden_run() -> None:
    answered = {split(metric)[1] for name in CASES for metric in _answer(name).metrics}
    assert {metric.name for metric in METRICS} - answered == UNPINNED.keys(), "a case that answers it"
