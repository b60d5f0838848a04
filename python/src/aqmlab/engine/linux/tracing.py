"""A traced run of the guest: what its senders sent and received, by the taps beside them, and their TCP's states."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aqmlab.engine.linux import taps
from aqmlab.engine.linux.job import FIRST_PORT, START_NS, Job
from aqmlab.engine.linux.taps import Array
from aqmlab.engine.protocol import FATES, Trace

# How often the senders are asked for TCP_INFO, which takes no time of the guest.
STATES_NS = 1_000_000
SYN, ACK, ECE = 0x02, 0x10, 0x40
# As the kernel numbers them (enum tcp_ca_state).
PHASES = ("open", "disorder", "reduced by marks", "recovery", "after a timeout")


def traced(folder: Path, job: Job) -> Trace:
    """Return the trace of a finished run.

    Raises:
        CheckError: if the taps contradict each other.

    """
    (port,) = job.network.ports
    (entry,) = port.entries
    sent, answers = taps.seen(folder, f"in.{entry}"), taps.seen(folder, f"back.{entry}")
    packets = taps.packets(sent, taps.seen(folder, f"out.{port.interface}"))
    # Every connection begins at a number that the kernel draws.
    first = np.zeros(len(job.flows), dtype="u4")
    syns = sent[(sent["flags"] & SYN) > 0]
    first[syns["port"] - FIRST_PORT] = syns["seq"] + 1
    is_tcp = np.array([flow.is_tcp for flow in job.flows])
    fate = np.where(packets.marked, FATES.index("marked"), FATES.index("delivered"))
    fate[packets.left_ns == 0] = FATES.index("dropped")
    # What waits when the tap stops is not lost.
    fate[(packets.left_ns == 0) & (sent["time"] >= START_NS + job.end_ns)] = 0
    is_data = (sent["payload"] > 0) & is_tcp[sent["port"] - FIRST_PORT]
    is_answer = ((answers["flags"] & (SYN | ACK)) == ACK) & is_tcp[answers["port"] - FIRST_PORT]
    data = _events(sent[is_data], first, "seq") | {"fate": fate[is_data]}
    acks = _events(answers[is_answer], first, "ack")
    both = {name: np.concatenate([data[name], acks[name]]) for name in data}
    # At the same instant an acknowledgment comes before what it lets go.
    order = np.lexsort((1 - both["is_ack"], both["time_ns"]))
    order = order[both["time_ns"][order] < job.end_ns]
    return Trace({name: column[order] for name, column in both.items()}, _states(folder, job), PHASES)


def _events(seen: Array, first: Array, number: str) -> dict[str, Array]:
    begins = first[seen["port"] - FIRST_PORT]
    is_ack = number == "ack"
    edges = np.where(is_ack & (seen["edge"] > 0), seen["edge"] - begins, 0)
    return {
        "time_ns": (seen["time"] - np.uint64(START_NS)).astype("i8"),
        "flow": (seen["port"] - FIRST_PORT).astype("i8"),
        "is_ack": np.full(len(seen), int(is_ack)),
        "number": (seen[number] - begins).astype("i8"),
        "length": np.where(is_ack, 0, seen["payload"]).astype("i8"),
        "edge": edges.astype("i8"),
        "echo": ((seen["flags"] & ECE) > 0).astype("i8") * is_ack,
        "fate": np.zeros(len(seen), dtype="i8"),
    }


def _states(folder: Path, job: Job) -> dict[str, Array]:
    time, port, cwnd, srtt_us, _, ssthresh, rto_us, phase = taps.rows(folder / f"sent.{job.network.senders[0]}").T
    return {
        "time_ns": time - START_NS,
        "flow": port - FIRST_PORT,
        "cwnd_bytes": cwnd,
        "ssthresh_bytes": ssthresh,
        "srtt_ns": srtt_us * 1000,
        "rto_ns": rto_us * 1000,
        "phase": phase,
    }
