"""CUBIC of aqm-sim compared with an oracle written from RFC 9438: the same window after every acknowledgment."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import cubic
import workload

MSS = 1000
SECOND = 10**9
# Tolerance: two bytes. Windows are whole bytes, and rounding decides on which side of one a product falls.
CLOSE = 0.0021


@pytest.fixture(scope="session")
def program() -> Path:
    """The example program that replays the events."""
    cargo = os.environ.get("CARGO", "cargo")
    command = [cargo, "build", "--quiet", "--package", "aqm-sim", "--example", "trace_window"]
    subprocess.run(command, cwd=workload.ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", workload.ROOT / "target"))
    return target / "debug" / "examples" / "trace_window"


def history(seed: int) -> tuple[list[str], list[tuple[float, float]], Counter[str]]:
    """The events of a connection, the oracle's windows, and the cases that occurred.

    The oracle takes part, since acknowledgments depend on the window.
    """
    chance = random.Random(seed)
    oracle = cubic.Cubic(10.0, MSS)
    lines: list[str] = []
    windows: list[tuple[float, float]] = []
    now = SECOND

    def note(line: str) -> None:
        lines.append(line)
        windows.append((oracle.cwnd, oracle.ssthresh))

    for _ in range(40):
        rtt = round(chance.choice((0.002, 0.02, 0.1, 0.4)) * chance.uniform(0.5, 1.5) * SECOND)
        used = chance.random() < 0.8
        for _ in range(chance.randrange(10, 250)):
            acked = chance.choice((1, 1, 2)) * MSS - chance.choice((0, 0, 0, 400))
            now += round(rtt * acked / MSS / oracle.cwnd * chance.uniform(0.7, 1.3)) + 1
            oracle.ack(now / SECOND, acked / MSS, rtt / SECOND, limited=not used)
            note(f"{'ack' if used else 'limited'} {now} {acked} {rtt}")
            if oracle.cwnd > 3000:
                break
        now += rtt
        flight = round(oracle.cwnd * chance.uniform(0.5, 1.1) * MSS)
        event = chance.choices(("congestion", "timeout", "idle", "pause"), (5, 2, 1, 3))[0]
        if event == "congestion":
            oracle.congestion(flight / MSS)
            note(f"congestion {flight}")
        elif event == "timeout":
            oracle.timeout(flight / MSS)
            note(f"timeout {flight}")
            if chance.random() < 0.3:
                oracle.again()
                note(f"again {flight}")
        elif event == "idle":
            oracle.idle()
            note("idle")
    return lines, windows, oracle.seen


@pytest.mark.parametrize("seed", range(40))
def test_the_window_is_the_oracles_after_every_event(seed: int, program: Path) -> None:
    lines, windows, _ = history(seed)
    text = "\n".join([f"tcp cubic mss {MSS}b iw 10", *lines]) + "\n"
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines)
    for number, (line, answer, (cwnd, ssthresh)) in enumerate(zip(lines, answers, windows, strict=True)):
        own_cwnd, own_ssthresh = (int(word) / MSS for word in answer.split())
        assert abs(own_cwnd - cwnd) < CLOSE, f"{number}, {line}: {own_cwnd}, the oracle has {cwnd}"
        # The largest number means none.
        assert ssthresh == float("inf") or abs(own_ssthresh - ssthresh) < CLOSE, f"{number}, {line}: ssthresh"


def test_the_histories_meet_everything_that_the_rfc_distinguishes() -> None:
    seen: Counter[str] = Counter()
    for seed in range(40):
        seen += history(seed)[2]
    rules = ("Reno-friendly", "concave", "convex", "capped", "no growth", "fast convergence", "after timeout")
    assert all(seen[rule] > 5 for rule in (*rules, "after slow start", "as Reno", "below Reno")), seen
