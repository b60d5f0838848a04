"""The measurements of a run of the guest: packets at both taps, bytes at the receivers, TCP's own counters."""

from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.scenario.model import Scenario

# As `struct seen` in guest/watch.c.
SEEN = np.dtype(
    [("time", "u8"), ("seq", "u4"), ("port", "u2"), ("id", "u2"), ("length", "u2"), ("ecn", "u1"), ("unused", "u1", 5)]
)
CE = 3
FIRST_PORT = 20000
# TCP's counters of its recoveries, from /proc/net/netstat.
COUNTERS = {
    "recoveries": "TCPSackRecovery",
    "timeouts": "TCPTimeouts",
    "loss_probes": "TCPLossProbes",
    "lost_retransmissions": "TCPLostRetransmit",
    "spurious_timeouts": "TCPSpuriousRTOs",
    "hystart_train_exits": "TCPHystartTrainDetect",
    "hystart_delay_exits": "TCPHystartDelayDetect",
}

Taps = np.ndarray[Any, np.dtype[Any]]


def read_taps(folder: Path) -> tuple[Taps, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the packets that arrived at the queue, when each left (0: never), and its ECN field then."""
    arrived, left = (np.fromfile(folder / name, dtype=SEEN) for name in ("in", "out"))
    # The IP identification tells a retransmission from the first transmission.
    keys = [np.uint64(2**48) * tap["port"] + np.uint64(2**32) * tap["id"] + tap["seq"] for tap in (arrived, left)]
    order = np.argsort(keys[1], kind="stable")
    place = np.searchsorted(keys[1], keys[0], sorter=order)
    known = place < len(order)
    found = order[np.where(known, place, 0)]
    matches = known & (keys[1][found] == keys[0])
    if matches.sum() < len(left) or len(np.unique(keys[0])) < len(arrived):
        raise ValueError(f"{folder}: packets left that never came, or came twice")
    return arrived, np.where(matches, left["time"][found], 0), np.where(matches, left["ecn"][found], 0)


def netstat(folder: Path, name: str) -> dict[str, int]:
    names, values = [line.split()[1:] for line in (folder / name).read_text().splitlines() if "TcpExt" in line]
    return dict(zip(names, map(int, values), strict=True))


def read_csv(path: Path) -> np.ndarray[Any, Any]:
    return np.atleast_2d(np.genfromtxt(path, delimiter=",", skip_header=1, dtype=np.int64))


def summarise(folder: Path, scenario: Scenario, starts_s: list[float], kinds: list[str]) -> dict[str, Any]:
    """Return `metrics`, `flows` and `tcp` of a finished run, with the contract's names."""
    start = int((folder / "start").read_text())
    warm, end = start + scenario.warmup_ns, start + scenario.duration_ns
    seconds = (end - warm) / 1e9
    arrived, left, ecn = read_taps(folder)
    came = (arrived["time"] >= warm) & (arrived["time"] < end)
    went = (left >= warm) & (left < end)
    sojourn_ms = (left[went] - arrived["time"][went]) / 1e6
    lost = came & (left == 0)
    marked = went & (ecn == CE) & (arrived["ecn"] != CE)
    received = read_csv(folder / "received")
    sent = read_csv(folder / "sent")
    flows = []
    for number, (start_s, kind) in enumerate(zip(starts_s, kinds, strict=True)):
        port = FIRST_PORT + number
        mine = arrived["port"] == port
        counts = received[received[:, 1] == port]
        payload = sum(row[2] for row in counts if row[0] == end) - sum(row[2] for row in counts if row[0] == warm)
        states = sent[sent[:, 1] == port]
        # The counter only grows; a flow that has not begun has none yet.
        retransmitted = states[states[:, 0] <= end, 5].max(initial=0) - states[states[:, 0] <= warm, 5].max(initial=0)
        of_flow = mine[went]
        flows.append(
            {
                "id": number,
                "kind": kind,
                "start_s": start_s,
                "goodput_mbit": payload * 8 / 1e6 / seconds,
                "packets_arrived": int((came & mine).sum()),
                "packets_dropped": int((lost & mine).sum()),
                "qdelay_mean_ms": float(sojourn_ms[of_flow].mean()) if of_flow.any() else None,
                "retransmissions": int(retransmitted),
            }
        )
    goodputs = np.array([flow["goodput_mbit"] for flow in flows])
    sent_bytes = int(arrived["length"][went].sum())
    metrics = {
        "goodput_mbit": goodputs.sum(),
        "throughput_mbit": sent_bytes * 8 / 1e6 / seconds,
        "utilization": sent_bytes * 8 / seconds / scenario.capacity.rate_bps,
        "qdelay_mean_ms": sojourn_ms.mean(),
        **{f"qdelay_{name}_ms": np.percentile(sojourn_ms, q) for name, q in QUANTILES.items()},
        "loss_ratio": lost.sum() / came.sum(),
        "marks": marked.sum(),
        "jain_index": goodputs.sum() ** 2 / (len(goodputs) * (goodputs**2).sum()),
        "packets_arrived": came.sum(),
        "rtt_base_ms": scenario.settings["rtt_ns"] / 1e6,
    }
    first, last = netstat(folder, "netstat.warm"), netstat(folder, "netstat.end")
    return {
        "metrics": {name: float(value) for name, value in metrics.items()},
        "flows": flows,
        "tcp": {name: last[counter] - first[counter] for name, counter in COUNTERS.items()},
    }


QUANTILES = {"p50": 50, "p95": 95, "p99": 99, "p999": 99.9}
