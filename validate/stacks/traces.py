"""What the logs of quinn's congestion controls and of the simulator's own say where the two differ.

    python validate/stacks/traces.py

A line for each sender in each cell that `compare.py` names: what its qlog and that of the queue (`aqmlab export
--qlog`) say of losses and of reductions of the window, after a quarter of the run. Beside quinn and the simulator's
plain sender stand those with rules changed one by one: a difference that goes with a rule comes from it.
"""

from __future__ import annotations

import bisect
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any

import aqmlab
from aqmlab import exports

DURATION, AFTER_MS = "30s", 7500
# Where they differ: flows, rate, round trip, discipline, control, and keys of the simulator's senders or of quinn.
OF_RACK = ("recovery.rack=on", "recovery.rack=on:recovery.ssthresh=cwnd")
CELLS: tuple[tuple[int, str, str, str, str, tuple[str, ...]], ...] = (
    (20, "10mbit", "20ms", "fifo", "cubic", OF_RACK),
    (20, "10mbit", "80ms", "fifo", "cubic", OF_RACK),
    (5, "10mbit", "20ms", "fifo", "cubic", OF_RACK),
    (5, "10mbit", "20ms", "fq_codel", "cubic", OF_RACK),
    (5, "10mbit", "80ms", "codel", "cubic", ("growth=count",)),
    (5, "10mbit", "80ms", "pie", "cubic", ("growth=count",)),
    (5, "10mbit", "80ms", "fq_codel", "cubic", ("growth=count",)),
    (5, "10mbit", "80ms", "codel", "newreno", ("recovery.rack=on:pacing=on",)),
    (5, "10mbit", "80ms", "fq_codel", "newreno", ("recovery.rack=on:pacing=on",)),
    (20, "50mbit", "80ms", "fq_codel", "newreno", ("recovery.ssthresh=cwnd",)),
    (1, "10mbit", "20ms", "fifo", "newreno", ()),
    (1, "50mbit", "80ms", "fifo", "newreno", ("recovery.rack=on", "credit=5mb")),
)


@dataclass
class SwitchReport:
    """What the logs of a run say."""

    packets: int = 0
    drops: int = 0
    reductions: int = 0
    timeouts: int = 0
    #: From the first drop that leads to a reduction to that, ms.
    late: list[float] = field(default_factory=list)
    #: Whether the window grew between the two.
    grew: list[bool] = field(default_factory=list)
    #: Mean windows, bytes.
    windows: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        """One line."""
        late = f"{median(self.late):6.1f} ms" if self.late else "     -   "
        return (
            f"loss {self.drops / self.packets:.4f}  drops {self.drops:5}  reductions {self.reductions:5}  "
            f"timeouts {self.timeouts:4}  window {mean(self.windows) / 1000:6.1f} kB  "
            f"found after {late}  window grew before {mean(self.grew or [False]):.2f}"
        )


def logs(flows: str, rate: str, rtt: str, aqm: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the logs of one run: whose they are, and the events."""
    run = aqmlab.compare(rate=rate, rtt=rtt, flows=flows, aqm=aqm, duration=DURATION, seeds=1)
    for files in exports.qlog(run):
        for name, content in files.items():
            yield name.split(".", 1)[1], [json.loads(record) for record in content.split(b"\x1e")[2:]]


def report(flows: str, rate: str, rtt: str, aqm: str) -> SwitchReport:
    """Read the logs of one run."""
    found, drops, senders = SwitchReport(), dict[int, list[tuple[float, int]]](), dict[int, list[dict[str, Any]]]()
    for name, events in logs(flows, rate, rtt, aqm):
        if name.startswith("sender"):
            senders[int(name.removeprefix("sender-").removesuffix(".sqlog"))] = events
            continue
        for event in events:
            data = event["data"]
            if event["time"] < AFTER_MS or data["direction"] != "forward":
                continue
            what = event["name"].rpartition("_")[2]
            found.packets += what in ("dropped", "dequeued")
            if what == "dropped":
                drops.setdefault(data["flow"], []).append((event["time"], data["packet_number"]))
    for flow, events in senders.items():
        _add(found, events, drops.get(flow, []))
    return found


def _add(found: SwitchReport, events: list[dict[str, Any]], drops: list[tuple[float, int]]) -> None:
    """Add what the log of a sender says, of which these packets were dropped."""
    sent: dict[int, float] = {}
    windows: list[tuple[float, int]] = []
    reductions: list[float] = []
    for event in events:
        time, data = event["time"], event["data"]
        if event["name"] == "quic:packet_sent":
            sent[data["header"]["packet_number"]] = time
        elif event["name"] == "quic:congestion_state_updated":
            found.timeouts += data["new"] == "loss" and time > AFTER_MS
        elif "congestion_window" in data:
            if time > AFTER_MS and windows and data["congestion_window"] < 0.9 * windows[-1][1]:
                reductions.append(time)
            windows.append((time, data["congestion_window"]))
    found.drops += len(drops)
    found.reductions += len(reductions)
    after = [(max(time, AFTER_MS), window) for time, window in windows]
    ends = [*(time for time, _ in after[1:]), float(events[-1]["time"])]
    spans = [max(end, AFTER_MS) - time for (time, _), end in zip(after, ends, strict=True)]
    found.windows.append(sum(window * span for (_, window), span in zip(after, spans, strict=True)) / sum(spans))
    times = [time for time, _ in windows]
    for before, reduction in zip([AFTER_MS, *reductions], reductions, strict=False):
        first = next((time for time, number in drops if before < sent[number] and time <= reduction), None)
        if first is not None:
            found.late.append(reduction - first)
            at, end = bisect.bisect_right(times, first), bisect.bisect_left(times, reduction)
            found.grew.append(max((window for _, window in windows[at - 1 : end]), default=0) > windows[at - 1][1])


def main() -> int:
    """Print what the logs say."""
    for count, rate, rtt, aqm, control, rules in CELLS:
        print(f"{count} {control}, {rate}, {rtt}, {aqm}")
        quinn = f"quinn:cc={control}:ecn=off"
        changed = [f"{quinn if rule.startswith('credit') else control}:{rule}" for rule in rules]
        for sender in (control, *changed, quinn):
            print(f"  {sender:40}{report(f'{count}*{sender}', rate, rtt, aqm)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
