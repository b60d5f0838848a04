"""What the oracles of congestion controls share: a connection that happens to them, and aqm-sim's as a program."""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import workload

SECOND = 10**9
MSS = 1000
# The numbers of a control that draws some, 64 bits each.
NUMBERS = tuple(random.Random(1).getrandbits(64) for _ in range(61))


@dataclass(frozen=True)
class Ack:
    """New data is acknowledged. Times in seconds, sizes in bytes, the one-way delay in microseconds."""

    now: float
    acked: int
    rtt: float
    marked: int
    flight: int  # before this acknowledgment
    una: int
    next: int
    delay: int
    used: bool  # else the application limits what is sent


class Control:
    """An oracle: a window and its threshold in bytes; `seen` counts the cases that occurred."""

    # What the histories must show, or the comparison says little.
    rules: tuple[str, ...] = ()
    # Windows are whole bytes; the fractions of an oracle may make this much of a difference, in bytes.
    close = 2.1
    # Whether the receiver says how many bytes were marked, all of an acknowledgment or none, or nothing.
    feedback = "nothing"

    def __init__(self) -> None:
        self.cwnd = 10.0 * MSS
        self.ssthresh = float("inf")
        self.seen: Counter[str] = Counter()

    def ack(self, ack: Ack) -> None:
        """New data is acknowledged."""

    def congestion(self, flight: int) -> None:
        """A loss is found by other means than the timer."""

    def timeout(self, flight: int) -> None:
        """The timer expires."""
        self.congestion(flight)
        self.again()

    def again(self) -> None:
        """Any expiry (RFC 5681 section 3.1): the loss window is one segment."""
        self.cwnd = MSS
        self.seen["timeout"] += 1

    def idle(self) -> None:
        """It sends again after idle time (RFC 5681 section 4.1)."""
        self.cwnd = min(self.cwnd, 10 * MSS)

    def rate(self) -> float | None:
        """The pacing rate of a control that has one, bytes per second."""
        return None

    def happen(self, history: History, chance: random.Random) -> None:
        """Lets a connection happen to it."""
        connect(self, history, chance)


# Window and threshold in bytes, and the pacing rate in bytes per second of a control that has one.
Answer = tuple[float, float, float | None]


@dataclass
class History:
    """The events of a connection in the notation of `trace_window`, and the oracle's answer after each."""

    control: Control
    lines: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def note(self, *words: object) -> None:
        """The oracle has answered this event."""
        self.lines.append(" ".join(map(str, words)))
        self.answers.append((self.control.cwnd, self.control.ssthresh, self.control.rate()))


def connect(control: Control, history: History, chance: random.Random) -> None:
    """Forty stretches of acknowledgments with a round-trip time, a queue and a share of marks, and what ends each.

    The oracle takes part: what is outstanding, and how fast acknowledgments come, follow from its window.
    """
    now, una, high = SECOND, 0, 0
    for _ in range(40):
        rtt = round(chance.choice((0.002, 0.02, 0.1, 0.4)) * chance.uniform(0.5, 1.5) * SECOND)
        queue = chance.choice((0, 30_000, 95_000, 180_000))
        marking = chance.choice((0.0, 0.0, 0.03, 0.5, 1.0))
        used = chance.random() < 0.8
        share = chance.choice((1.0, 1.0, 0.6)) if used else 0.4
        for _ in range(chance.randrange(10, 250)):
            acked = chance.choice((1, 1, 2)) * MSS - chance.choice((0, 0, 0, 400))
            now += round(rtt * acked / control.cwnd * chance.uniform(0.7, 1.3)) + 1
            high = max(high, una + acked, una + round(control.cwnd * share))
            flight, una = high - una, una + acked
            marked = 0
            if control.feedback != "nothing" and chance.random() < marking:
                marked = acked if control.feedback == "all or none" else chance.randrange(1, acked + 1)
            delay = 20_000 + queue + chance.randrange(5_000)
            control.ack(Ack(now / SECOND, acked, rtt / SECOND, marked, flight, una, high, delay, used))
            more = ("marked", marked, "flight", flight, "una", una, "next", high, "note", delay)
            history.note("ack" if used else "limited", now, acked, rtt, *more)
            if control.cwnd > 3000 * MSS:
                break
        now += rtt
        flight = round(control.cwnd * chance.uniform(0.5, 1.1))
        event = chance.choices(("congestion", "timeout", "idle", "nothing"), (5, 2, 1, 3))[0]
        if event == "congestion":
            control.congestion(flight)
            history.note("congestion", flight)
        elif event == "timeout":
            control.timeout(flight)
            history.note("timeout", flight)
            if chance.random() < 0.3:
                control.again()
                history.note("again", flight)
        elif event == "idle":
            now += round(chance.uniform(1, 200) * SECOND)
            control.idle()
            history.note("idle")
        elif event == "nothing" and high > una:
            # Everything is acknowledged, and the application pauses.
            acked, una = high - una, high
            control.ack(Ack(now / SECOND, acked, rtt / SECOND, 0, acked, una, high, 20_000, True))
            words = ("marked", 0, "flight", acked, "una", una, "next", high, "note", 20_000)
            history.note("ack", now, acked, rtt, *words)
            now += round(chance.uniform(0, 2) * rtt)


def build() -> Path:
    """Builds the example program that replays the events, as `cargo test` does, and says where it is."""
    cargo = os.environ.get("CARGO", "cargo")
    command = [cargo, "build", "--quiet", "--workspace", "--example", "trace_window"]
    subprocess.run(command, cwd=workload.ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", workload.ROOT / "target"))
    return target / "debug" / "examples" / "trace_window"


def rust(spec: str, lines: list[str], program: Path) -> list[Answer]:
    """The answers of aqm-sim's control to these events."""
    text = "\n".join([f"tcp {spec} mss {MSS}b iw 10", f"random {' '.join(map(str, NUMBERS))}", *lines]) + "\n"
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    answers = []
    for line in done.stdout.splitlines():
        cwnd, ssthresh, rate = line.split()
        # The largest number stands for none.
        answers.append(
            (
                float(cwnd),
                float("inf") if int(ssthresh) == 2**64 - 1 else float(ssthresh),
                None if rate == "-" else float(rate),
            )
        )
    return answers
