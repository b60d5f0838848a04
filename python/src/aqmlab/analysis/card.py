"""The RFC 7567 card: how a discipline meets each recommendation of BCP 197, measured in short runs.

RFC 7567 section 4 makes the recommendations B1 to B8; B9 to B12 are its remarks on operation, full queues, flows and
research. What is run for each, and what is enough, are ours: `ASKED` has both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab import _native, experiment, scenario
from aqmlab.results.result import Result
from aqmlab.scenario import registry
from aqmlab.scenario.registry import Discipline, Spec
from aqmlab.vocabulary.errors import InputError

# The cards of the disciplines as they are without parameters: written by `make docs`, and checked by a test.
CARDS = Path(__file__).with_name("cards.json")
MEETS = "meets"
PARTLY = "partly"
DEPARTS = "departs"
STATED = "stated"
TAIL_DROP = "fifo"
SEEDS = "3"

# One access link for all rows but B3 and B12, with a buffer of a quarter of a second: bufferbloat.
LINK = {"rate": "10mbit", "rtt": "40ms", "buffer": "200p", "duration": "25s", "warmup": "5s", "seeds": SEEDS}
# Rates and durations of runs; a run takes at least fifty round trips.
GRID = {"1mbit": 60, "10mbit": 30, "100mbit": 10, "1gbit": 3}
GRID_RTTS = (5, 40, 200)
# A mean queue delay below this is short, whatever that of tail drop.
SHORT_MS = 20.0


@dataclass(frozen=True)
class Asked:
    """A recommendation's name here, what it asks for, what is run for it, and what is enough; empty where nothing is.

    The link has 10 Mbit/s, 40 ms and a buffer of 200 packets, unless `run` names another.
    """

    name: str
    asks: str
    run: str = ""
    enough: str = ""


ASKED = {
    "B1": Asked(
        "short queues",
        "keep queues short, avoid lock-out",
        "eight CUBIC flows; a ninth flow beside eight NewReno flows, in its first six seconds",
        "half of tail drop's delay, half of the fair share",
    ),
    "B2": Asked(
        "ECN",
        "signal with ECN, and drop when marks do not help",
        "eight ECN-capable flows; ECN-capable UDP at twice the rate, median delay",
        "half of the signals are marks, half of tail drop's delay",
    ),
    "B3": Asked(
        "no tuning",
        "need no tuning in common cases",
        f"four CUBIC flows on {len(GRID) * len(GRID_RTTS)} links of 1 Mbit/s to 1 Gbit/s and {GRID_RTTS[0]} to "
        f"{GRID_RTTS[-1]} ms",
        f"80 % of tail drop's goodput, half of its delay or {SHORT_MS:.0f} ms; partly: on three links of four",
    ),
    "B4": Asked(
        "packet sizes",
        "do not look at packet sizes or applications",
        "flows of 200 and of 1500 bytes a packet at 150 % load",
        "ratio of their losses 0.8 to 1.25",
    ),
    "B5": Asked(
        "any transport",
        "do not rely on the transport's reaction",
        "120 % of UDP that never reacts",
        "half of tail drop's delay",
    ),
    "B6": Asked("full link", "(transports) fill the link without needless loss or delay", "four CUBIC flows"),
    "B7": Asked(
        "unresponsive flows", "(research) unresponsive flows", "eight NewReno flows beside UDP at the rate of the link"
    ),
    "B8": Asked(
        "spread signals",
        "spread signals in time and over flows",
        "16 NewReno flows: how many of the others halve their windows within 100 ms of one",
        "at most a quarter more than with tail drop",
    ),
    "B9": Asked("visibility", "let operators see whether it works"),
    "B10": Asked("full queue", "offer more than tail drop at a full queue"),
    "B11": Asked("flows", "choose what a flow is"),
    "B12": Asked(
        "short flows",
        "(research) incast, crowds of short flows",
        "64 answers of 64 kb at once at 1 Gbit/s; 40 downloads of 15 kb a second beside two CUBIC flows: 99th "
        "percentiles of the times that they take",
    ),
}


@dataclass(frozen=True)
class Row:
    """The finding about a recommendation, and the verdict.

    ``verdict`` is ``meets``, ``partly``, ``departs`` or ``stated`` (no requirement); ``how`` is ``measured`` or
    ``declared``.
    """

    id: str
    finding: str
    verdict: str
    how: str


def shipped(text: str) -> list[Row] | None:
    """Return the card that comes with aqmlab; there is none if parameters or another preset are given.

    Raises:
        InputError: for an unknown name or parameter.

    >>> shipped("fifo")[0].verdict, shipped("fifo limit 10p")
    ('departs', None)

    """
    spec = Spec.parse(text)
    if spec.given or spec.preset != registry.find(spec.name).presets[0].name:
        return None
    rows = json.loads(CARDS.read_text(encoding="utf-8")).get(spec.name)
    return None if rows is None else [Row(**row) for row in rows]


def rfc7567(text: str, on_row: Callable[[int, int], None] = lambda done, total: None) -> list[Row]:
    """Make the card of a discipline from about 80 short runs, in a second or two.

    Args:
        text: the discipline in tc's notation.
        on_row: is called with the number of rows that are done, and of all rows.

    Raises:
        InputError: for an unknown name or parameter.

    >>> [row.verdict for row in rfc7567("fifo")[:2]]
    ['departs', 'departs']

    """
    spec = Spec.parse(text)
    subject = _Subject(text, spec, registry.find(spec.name))
    rows = []
    for number, question in enumerate(QUESTIONS):
        on_row(number, len(QUESTIONS))
        rows.append(question(subject))
    on_row(len(QUESTIONS), len(QUESTIONS))
    return rows


@dataclass(frozen=True)
class _Subject:
    """The discipline under test, and its runs beside tail drop."""

    text: str
    spec: Spec
    discipline: Discipline

    @property
    def marking(self) -> str:
        """The discipline with ECN switched on, if it has such a switch."""
        return registry.marking(self.text)

    def beside_tail_drop(self, flows: str | Sequence[str], text: str | None = None, **options: str) -> _Pair:
        """Run the discipline and tail drop with the same traffic and seeds."""
        mine = text or self.text
        labels = [mine, TAIL_DROP] if mine != TAIL_DROP else [TAIL_DROP]
        values: dict[str, Any] = {"aqm": labels, "flows": flows, **LINK, **options}
        asked = scenario.Experiment("", (scenario.from_values(values, allow_unequal_buffers=True),))
        return _Pair(experiment.checked(experiment.run_experiment(asked, "compare")), mine)


@dataclass(frozen=True)
class _Pair:
    """Runs of a discipline (``mine``) and of tail drop."""

    result: Result
    label: str

    def mine(self, metric: str) -> float:
        return self._mean(self.label, metric)

    def tail(self, metric: str) -> float:
        return self._mean(TAIL_DROP, metric)

    def _mean(self, aqm: str, metric: str) -> float:
        runs = self.result.runs.filter(pl.col("aqm") == aqm)
        if metric not in runs.columns:
            return float("nan")
        values = runs[metric].drop_nulls()
        return float(values.mean()) if len(values) else float("nan")  # type: ignore[arg-type]


def _percent(value: float, decimals: int = 0) -> str:
    return f"{100 * value:.{decimals}f} %"


def _over(part: float, whole: float) -> float:
    """A share; of nothing, nothing: a law may stop all traffic."""
    return part / whole if whole else 0.0


def _verdict(met: bool) -> str:
    return MEETS if met else DEPARTS


def _queue_and_lockout(subject: _Subject) -> Row:
    bulk = subject.beside_tail_drop("8*cubic")
    late = subject.beside_tail_drop(["8*newreno", "1*newreno:name=late:start=5s"], warmup="5s", duration="11s")
    fair = late.mine("goodput_mbit") / 9
    share = _over(late.mine("class.late.goodput_mbit"), fair)
    mine, tail = bulk.mine("qdelay_mean_ms"), bulk.tail("qdelay_mean_ms")
    return Row(
        "B1",
        f"queue delay {mine:.0f} ms (tail drop {tail:.0f} ms); a ninth flow gets {_percent(share)} of its share",
        _verdict(mine <= tail / 2 and share >= 0.5),
        "measured",
    )


def _ecn(subject: _Subject) -> Row:
    if not subject.discipline.traits["ecn"]:
        return Row("B2", "never marks", DEPARTS, "declared")
    polite = subject.beside_tail_drop("8*newreno:ecn=classic", subject.marking)
    flood = subject.beside_tail_drop("2*cbr:rate=10mbit:ecn=classic", subject.marking)
    marks = polite.mine("marks")
    signals = marks + polite.mine("drops_early") + polite.mine("drops_overflow")
    mine, tail = flood.mine("qdelay_p50_ms"), flood.tail("qdelay_p50_ms")
    share = f"{_percent(marks / signals)} of the signals are marks" if signals else "no signal"
    return Row(
        "B2",
        f"{share}; under a flood {mine:.0f} ms (tail drop {tail:.0f} ms)",
        _verdict(marks >= signals / 2 > 0 and mine <= tail / 2),
        "measured",
    )


def _no_tuning(subject: _Subject) -> Row:
    goodputs, delays, failures = [], [], []
    for rate, shortest_s in GRID.items():
        for rtt_ms in GRID_RTTS:
            duration = f"{max(shortest_s, rtt_ms // 20)}s"
            options = {"rate": rate, "rtt": f"{rtt_ms}ms", "buffer": "2bdp", "seeds": "1"}
            cell = subject.beside_tail_drop("4*cubic", duration=duration, warmup="auto", **options)
            goodput = cell.mine("goodput_mbit") / cell.tail("goodput_mbit")
            delay = cell.mine("qdelay_mean_ms") / cell.tail("qdelay_mean_ms")
            goodputs.append(goodput)
            delays.append(delay)
            if goodput < 0.8 or (delay > 0.5 and cell.mine("qdelay_mean_ms") > SHORT_MS):
                failures.append(f"{rate} {rtt_ms}ms")
    missed = f"; not on {', '.join(failures)}" if failures else ""
    return Row(
        "B3",
        f"goodput {_percent(min(goodputs))} to {_percent(max(goodputs))} of tail drop's, queue delay"
        f" {_percent(min(delays))} to {_percent(max(delays))}{missed}",
        MEETS if not failures else PARTLY if len(failures) <= len(GRID) * len(GRID_RTTS) / 4 else DEPARTS,
        "measured",
    )


def _packet_size(subject: _Subject) -> Row:
    flows = ["10*cbr:name=small:packet=200b:rate=750kbit", "10*cbr:name=large:packet=1500b:rate=750kbit"]
    pair = subject.beside_tail_drop(flows)
    small, large = pair.mine("class.small.loss_ratio"), pair.mine("class.large.loss_ratio")
    ratio = small / large if large else float("inf") if small else 1.0
    return Row(
        "B4",
        f"small packets lose {_percent(small)}, large ones {_percent(large)}: a ratio of {ratio:.2f}",
        _verdict(0.8 <= ratio <= 1.25),
        "measured",
    )


def _no_transport(subject: _Subject) -> Row:
    pair = subject.beside_tail_drop("12*cbr:rate=1mbit")
    mine, tail = pair.mine("qdelay_mean_ms"), pair.tail("qdelay_mean_ms")
    return Row(
        "B5",
        f"queue delay {mine:.0f} ms (tail drop {tail:.0f} ms)",
        _verdict(mine <= tail / 2),
        "measured",
    )


def _frontier(subject: _Subject) -> Row:
    pair = subject.beside_tail_drop("4*cubic")
    used, delay, loss = (pair.mine(name) for name in ("utilization", "qdelay_mean_ms", "loss_ratio"))
    return Row(
        "B6",
        f"{_percent(used, 1)} used at {delay:.0f} ms of queue and {_percent(loss, 2)} loss (tail drop"
        f" {_percent(pair.tail('utilization'), 1)}, {pair.tail('qdelay_mean_ms'):.0f} ms,"
        f" {_percent(pair.tail('loss_ratio'), 2)})",
        STATED,
        "measured",
    )


def _unresponsive(subject: _Subject) -> Row:
    pair = subject.beside_tail_drop(["8*newreno", "1*cbr:name=flood:rate=10mbit"])
    fair = 8 / 9
    mine, tail = (_over(of("class.newreno.goodput_mbit"), of("goodput_mbit")) / fair for of in (pair.mine, pair.tail))
    return Row(
        "B7",
        f"TCP keeps {_percent(mine)} of its fair share (tail drop {_percent(tail)})",
        STATED,
        "measured",
    )


def _spread(subject: _Subject) -> Row:
    pair = subject.beside_tail_drop("16*newreno", buffer="100p")
    mine, tail = synchronisation(pair.result, pair.label), synchronisation(pair.result, TAIL_DROP)
    return Row(
        "B8",
        f"{_percent(mine)} of the others (tail drop {_percent(tail)})",
        _verdict(mine <= 1.25 * tail),
        "measured",
    )


def _logging(subject: _Subject) -> Row:
    probes = " and probes" if subject.discipline.probes else ""
    return Row("B9", f"counters{probes}", _verdict(True), "declared")


def _full_queue(subject: _Subject) -> Row:
    limit = " limit 500p" if subject.discipline.has_limit else ""
    victim = _native.overflow_victim(subject.text + limit)
    what = {
        "tail": "the arriving packet",
        "head": "the oldest packet",
        "longest flow": "a packet of the flow with the largest backlog",
        "mixed": "varying packets",
        "nobody": "nothing: the law keeps the queue from filling",
    }[victim]
    return Row("B10", f"drops {what}", STATED, "measured")


def _granularity(subject: _Subject) -> Row:
    per_flow = int(subject.discipline.traits["flow_state_bytes"])
    if per_flow:
        finding = f"distinguishes flows by the hash of their 5-tuple, {per_flow} bytes each"
    elif subject.discipline.group == "By station":
        finding = "distinguishes stations, and leaves flows to their discipline"
    elif subject.discipline.group == "By class":
        finding = "distinguishes classes, not flows"
    else:
        finding = "keeps no state per flow"
    return Row("B11", finding, STATED, "declared")


def _short_flows(subject: _Subject) -> Row:
    incast = subject.beside_tail_drop(
        "64*newreno:name=incast:size=64kb:start=0..1ms",
        rate="1gbit",
        rtt="200us",
        duration="2s",
        warmup="0s",
    )
    crowd = subject.beside_tail_drop(
        ["2*cubic", "200*newreno:name=crowd:size=15kb:start=5s..10s"], warmup="4s", duration="20s"
    )
    finish = "fct_p99_s"
    return Row(
        "B12",
        f"incast {incast.mine(finish):.2f} s (tail drop {incast.tail(finish):.2f} s), short downloads"
        f" {crowd.mine('class.crowd.' + finish):.2f} s ({crowd.tail('class.crowd.' + finish):.2f} s)",
        STATED,
        "measured",
    )


QUESTIONS: tuple[Callable[[_Subject], Row], ...] = (
    _queue_and_lockout,
    _ecn,
    _no_tuning,
    _packet_size,
    _no_transport,
    _frontier,
    _unresponsive,
    _spread,
    _logging,
    _full_queue,
    _granularity,
    _short_flows,
)


def synchronisation(result: Result, aqm: str, fall: float = 0.8) -> float:
    """Return how synchronised the losses of flows are: RFC 7928's question M5.

    A window below ``fall`` times the previous sample had a loss. For each such loss, take the share of the other
    flows with a loss in the same sample. The result is the mean of these shares, 0 without losses.

    Raises:
        InputError: if the runs hold no windows (too many flows, or no TCP).

    """
    series = result.series.filter((pl.col("aqm") == aqm) & pl.col("name").str.ends_with(".cwnd_bytes"))
    flows = series["name"].n_unique()
    if flows < 2:
        raise InputError("the time series have the windows of fewer than two flows")
    by = ["seed", "name"]
    losses = (
        series.sort([*by, "time_s"])
        .with_columns(lost=pl.col("value") < fall * pl.col("value").shift(1).over(by))
        .group_by("seed", "time_s")
        .agg(pl.col("lost").sum())
    )["lost"]
    total = float(losses.sum())
    together: Any = (losses * (losses - 1)).sum()
    return float(together) / (flows - 1) / total if total else 0.0
