"""What the guest's taps have seen, as the tables that every engine gives; all names are those of the simulator.

One-way delays are left out: the guest has the whole base round-trip time on the reverse path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab import _native
from aqmlab.engine.column_tables import Histograms, Table
from aqmlab.engine.linux import counters, recorded, taps, tc
from aqmlab.engine.linux.job import BUFFERS, START_NS, Flow, Job
from aqmlab.engine.linux.network import Port
from aqmlab.engine.linux.taps import Array, Packets
from aqmlab.scenario.model import Scenario
from aqmlab.scenario.registry import Spec
from aqmlab.vocabulary.scopes import of_group, of_port

# What each of several measured ports has, beside its queue's metrics.
OF_PORTS = ("throughput_mbit", "qdelay_", "loss_ratio", "marks", "packets_arrived")
MS = 1e-6
ETHERNET_BYTES = 14


def measured(folder: Path, scenario: Scenario, job: Job) -> dict[str, Any]:
    """Return the tables of a finished run, by the names of a report.

    Raises:
        CheckError: if the taps contradict each other.

    """
    flows, network = job.flows, job.network
    runs = [_read(folder, scenario, job, port) for port in network.ports]
    run = runs[0]
    groups = {of_group(group.name).prefix: [f for f in flows if f.group == n] for n, group in enumerate(scenario.flows)}
    everyone: dict[str, Sequence[Flow]] = {"": flows, **groups}
    metrics: dict[str, float] = {}
    histograms: dict[str, tuple[Array, Array]] = {}
    for prefix, members in everyone.items():
        found, histograms[f"{prefix}qdelay"] = run.of(members)
        metrics |= {f"{prefix}{name}": float(value) for name, value in found.items() if np.isfinite(value)}
    metrics |= {name: float(value) for name, value in run.of_queue().items()}
    for one in runs if len(runs) > 1 else ():
        of_flows, sojourn = one.of(flows)
        found = one.of_queue() | {name: value for name, value in of_flows.items() if name.startswith(OF_PORTS)}
        metrics |= {
            of_port(one.port.name).metric(name): float(value) for name, value in found.items() if np.isfinite(value)
        }
        histograms[of_port(one.port.name).metric("qdelay")] = sojourn
    metrics |= counters.counted(folder, network.senders, network.receivers)
    return {
        "metrics": dict(sorted(metrics.items())),
        "flows": Table.of(run.flow_table()),
        "series": Table.of(run.series(everyone)),
        "queues": Table.of(_queue_table(runs)),
        "histograms": Histograms.of(histograms),
        "warnings": [
            run.notice(),
            *tc.unused(Spec.parse(scenario.aqm)),
            *(text for one in runs for text in one.warnings()),
        ],
        "events": 0,
        "bottleneck_packets": int((run.packets.left_ns > 0).sum()),
    }


def at_queue(packets: Packets, since_ns: int, until_ns: int) -> tuple[dict[str, float], tuple[Array, Array]]:
    """Return the contract's metrics of packets at a queue, and the histogram of their times in it.

    Both are the meter's, which simulator and live links have, too.

    >>> one = Packets(*(np.array([number]) for number in (0, 2_000_000, 5000, 1250, 0)))
    >>> metrics, (middles, counts) = at_queue(one, 0, 1_000_000_000)
    >>> metrics["throughput_mbit"], metrics["qdelay_mean_ms"], counts.tolist()
    (0.01, 2.0, [1])

    """
    columns = (packets.arrived_ns, packets.left_ns, packets.length, packets.marked)
    rows = np.stack([column.astype("<u8") for column in columns], axis=1)
    metrics, middles, counts = _native.queue_metrics(rows.tobytes(), since_ns, until_ns)
    return metrics, (np.frombuffer(middles, "<u8"), np.frombuffer(counts, "<u8"))


@dataclass(frozen=True)
class _Run:
    """Everything of a run at one of its ports."""

    scenario: Scenario
    port: Port
    # When a recorded link could send.
    opportunities: Array | None
    flows: Sequence[Flow]
    packets: Packets
    received: Array
    sent: Array
    sampled: Array
    release: str

    @property
    def seconds(self) -> float:
        return (self.scenario.duration_ns - self.scenario.warmup_ns) / 1e9

    @property
    def came(self) -> Array:
        return self._within(self.packets.arrived_ns)

    @property
    def went(self) -> Array:
        return self._within(self.packets.left_ns)

    @property
    def lost(self) -> Array:
        found: Array = self.packets.left_ns == 0
        return found

    def _within(self, times: Array) -> Array:
        since, until = START_NS + self.scenario.warmup_ns, START_NS + self.scenario.duration_ns
        found: Array = (times >= since) & (times < until)
        return found

    def _of(self, flows: Sequence[Flow]) -> Array:
        return np.isin(self.packets.port, [flow.port for flow in flows])

    def of(self, flows: Sequence[Flow]) -> tuple[dict[str, float], tuple[Array, Array]]:
        """The metrics that the whole run and each group have, and the histogram of times in the queue."""
        since, until = START_NS + self.scenario.warmup_ns, START_NS + self.scenario.duration_ns
        at, sojourn = at_queue(self.packets.of(self._of(flows)), since, until)
        each = np.array([self.goodput_mbit(flow) for flow in flows])
        tcp = [flow for flow in flows if flow.is_tcp]
        rtts = [rtt for flow in tcp if np.isfinite(rtt := self.rtt_ms(flow))]
        done = [flow for flow in tcp if flow.amount]
        times = [fct for flow in done if np.isfinite(fct := self.fct_s(flow))]
        squares = len(each) * float((each**2).sum())
        found = {
            "goodput_mbit": each.sum(),
            "jain_index": each.sum() ** 2 / squares if squares else np.nan,
            "retransmissions": sum(self.retransmissions(flow) for flow in tcp),
            "rtt_base_ms": min(flow.rtt_ns for flow in flows) * MS,
            "rtt_mean_ms": np.mean(rtts) if rtts else np.nan,
        }
        if done:
            found["completed_flows"] = len(times)
            found["fct_mean_s"] = np.mean(times) if times else np.nan
        return at | found, sojourn

    def of_queue(self) -> dict[str, float]:
        """The metrics of the queue, sampled every ten milliseconds."""
        inside = self._within(self.sampled[:, 0])
        return {
            "utilization": self.utilization,
            "queue_mean_packets": self.sampled[inside, 1].mean(),
            "queue_mean_bytes": self.sampled[inside, 2].mean(),
            "queue_max_packets": self.sampled[inside, 1].max(initial=0),
        }

    @property
    def utilization(self) -> float:
        lengths, rate_bps = self.packets.length[self.went].astype("i8"), float(self.port.rate_bps)
        if self.opportunities is not None:
            # They carry packets of IP.
            lengths = lengths - ETHERNET_BYTES
            since_ns, until_ns = self.scenario.warmup_ns, self.scenario.duration_ns
            rate_bps = recorded.rate_bps(self.opportunities, since_ns, until_ns)
        return float(lengths.sum() * 8 / self.seconds / rate_bps) if rate_bps else np.nan

    def goodput_mbit(self, flow: Flow) -> float:
        mine = self.received[self.received[:, 1] == flow.port]
        edges = [START_NS + self.scenario.warmup_ns, START_NS + self.scenario.duration_ns]
        first, last = (mine[mine[:, 0] <= edge, 2].max(initial=0) for edge in edges)
        return float(last - first) * 8 / 1e6 / self.seconds

    def retransmissions(self, flow: Flow) -> int:
        """The counter only grows; a flow that has not begun has none yet."""
        mine = self.sent[self.sent[:, 1] == flow.port]
        edges = [START_NS + self.scenario.warmup_ns, START_NS + self.scenario.duration_ns]
        first, last = (mine[mine[:, 0] <= edge, 4].max(initial=0) for edge in edges)
        return int(last - first)

    def rtt_ms(self, flow: Flow) -> float:
        """The mean of TCP's smoothed round-trip time."""
        mine = self.sent[(self.sent[:, 1] == flow.port) & self._within(self.sent[:, 0]) & (self.sent[:, 3] > 0)]
        return float(mine[:, 3].mean() / 1e3) if len(mine) else np.nan

    def fct_s(self, flow: Flow) -> float:
        """When the receiver has read everything of a finite flow."""
        mine = self.received[self.received[:, 1] == flow.port]
        whole = mine[mine[:, 2] >= flow.amount] if flow.amount else mine[:0]
        end = START_NS + self.scenario.duration_ns
        return float(whole[0, 0] - START_NS - flow.start_ns) / 1e9 if len(whole) and whole[0, 0] <= end else np.nan

    def flow_table(self) -> dict[str, Any]:
        rows = []
        for flow in self.flows:
            found, _ = self.of([flow])
            numbers = {
                "start_s": flow.start_ns / 1e9,
                "rtt_base_ms": flow.rtt_ns * MS,
                "goodput_mbit": found["goodput_mbit"],
                "throughput_mbit": found["throughput_mbit"],
                "packets_arrived": int(found["packets_arrived"]),
                "packets_dropped": int((self.lost & self.came & self._of([flow])).sum()),
                "marks": int(found["marks"]),
                "qdelay_mean_ms": found.get("qdelay_mean_ms", np.nan),
                "rtt_mean_ms": found["rtt_mean_ms"],
                "retransmissions": int(found["retransmissions"]),
                "fct_s": self.fct_s(flow),
                "size_bytes": float(flow.amount) if flow.is_tcp and flow.amount else np.nan,
            }
            rows.append(numbers)
        table: dict[str, Any] = {
            "id": np.array([flow.id for flow in self.flows]),
            "group": [flow.name for flow in self.flows],
            "kind": [flow.kind for flow in self.flows],
        }
        return table | {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}

    def series(self, everyone: dict[str, Sequence[Flow]]) -> dict[str, Array]:
        """The time series: each value is of the period that its time ends."""
        period = self.scenario.sample_ns
        count = self.scenario.duration_ns // period
        edges = START_NS + np.arange(count + 1) * period
        ends = edges[1:]
        found = {"time_s": (ends - START_NS) / 1e9}
        left, arrived = self.packets.left_ns, self.packets.arrived_ns
        sums = {"throughput_mbit": (left, self.packets.length * 8 / 1e6 / (period / 1e9))}
        sums["marks"] = (left, self.packets.marked.astype(float))
        for name, (times, weights) in sums.items():
            found[name] = np.histogram(times.astype("i8"), edges, weights=weights)[0]
        went = left > 0
        delays = np.histogram(left[went].astype("i8"), edges, weights=(left[went] - arrived[went]) * MS)[0]
        number = np.histogram(left[went].astype("i8"), edges)[0]
        found["qdelay_ms"] = np.divide(delays, number, out=np.full(count, np.nan), where=number > 0)
        place = np.searchsorted(self.sampled[:, 0], ends, side="right") - 1
        for name, column in (("queue_packets", 1), ("queue_bytes", 2)):
            found[name] = self.sampled[place, column].astype(float)
        dropped = self.sampled[np.searchsorted(self.sampled[:, 0], edges, side="right") - 1, 3]
        found["drops"] = np.diff(dropped).astype(float)
        delivered = {flow.port: _held(self.received, flow.port, 2, edges) for flow in self.flows}
        for prefix, members in everyone.items():
            total = sum((delivered[flow.port] for flow in members), np.zeros(count + 1))
            found[f"{prefix}goodput_mbit"] = np.diff(total) * 8 / 1e6 / (period / 1e9)
        states = self.sent[self.sent[:, 3] > 0]
        rtts = np.histogram(states[:, 0], edges + 1, weights=states[:, 3] / 1e3)[0]
        number = np.histogram(states[:, 0], edges + 1)[0]
        found["rtt_ms"] = np.divide(rtts, number, out=np.full(count, np.nan), where=number > 0)
        if self.scenario.settings["flow_series"]:
            for flow in self.flows:
                found[f"flow.{flow.id}.delivered_bytes"] = delivered[flow.port][1:]
                if flow.is_tcp:
                    found[f"flow.{flow.id}.cwnd_bytes"] = _held(self.sent, flow.port, 2, edges)[1:]
        return found

    def notice(self) -> str:
        """What a reader of the numbers should know."""
        rmem = BUFFERS["tcp_rmem"].replace(",", " ")
        return (
            f"engine linux: kernel {self.release}, tcp_rmem {rmem}; HyStart, RACK-TLP, PRR, undo, the "
            "handshake and when to acknowledge are the kernel's; one-way delay and jitter are not measured"
        )

    def warnings(self) -> list[str]:
        """Where the taps and the qdisc disagree."""
        found = []
        # Both taps and the counter go on after the end; what waits when they stop is no loss.
        end = START_NS + self.scenario.duration_ns
        taken = int((self.lost & (self.packets.arrived_ns < end)).sum())
        counted = int(self.sampled[self.sampled[:, 0] <= end, 3].max(initial=0))
        if abs(taken - counted) > max(10, counted // 50):
            found.append(f"engine linux: {taken} packets never left the queue, and its qdisc counted {counted} drops")
        return found


def _held(table: Array, port: int, column: int, edges: Array) -> Array:
    """The last value of a flow at each time; 0 before the first."""
    mine = table[table[:, 1] == port]
    place = np.searchsorted(mine[:, 0], edges, side="right")
    values: Array = np.concatenate([[0], mine[:, column]])[place].astype(float)
    return values


def _queue_table(runs: Sequence[_Run]) -> dict[str, Any]:
    rows = []
    for run in runs:
        left = run.packets.left_ns > 0
        numbers = {
            "arrived_packets": len(left),
            "arrived_bytes": int(run.packets.length.sum()),
            "departed_packets": int(left.sum()),
            "departed_bytes": int(run.packets.length[left].sum()),
            "marked_packets": int(run.packets.marked.sum()),
        }
        rows.append(numbers)
    return {
        "link": [run.port.link for run in runs],
        "discipline": [run.scenario.aqm for run in runs],
        **{name: np.array([row[name] for row in rows]) for name in rows[0]},
    }


def _read(folder: Path, scenario: Scenario, job: Job, port: Port) -> _Run:
    came = []
    for interface, paths in port.entries.items():
        tap = taps.seen(folder, f"in.{interface}")
        members = [flow.port for flow in job.flows if flow.path in paths]
        came.append(tap[np.isin(tap["port"], members)])
    arrived = np.concatenate(came)
    arrived = arrived[np.argsort(arrived["time"], kind="stable")]
    return _Run(
        scenario=scenario,
        port=port,
        opportunities=job.opportunities if (port.box, port.interface) == job.network.recorded else None,
        flows=job.flows,
        packets=taps.packets(arrived, taps.seen(folder, f"out.{port.interface}")),
        received=np.concatenate([taps.rows(folder / f"received.{box}") for box in job.network.receivers]),
        sent=np.concatenate([taps.rows(folder / f"sent.{box}") for box in job.network.senders]),
        sampled=taps.rows(folder / f"sampled.{port.interface}"),
        release=(folder / "kernel").read_text().strip(),
    )
