"""Lines that are full in one direction, for `diagnosis_rates.py`: rate, round trip, buffer, discipline, traffic."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from capture_edits import seen
from diagnosis_truth import Truth

from aqmlab import _native, scenario
from aqmlab.scenario.options import Options

SETTINGS = 60
DURATION_S = 15
RATES_MBIT = (1, 2, 5, 10, 20, 50, 100)
RTTS_MS = (8, 15, 30, 60, 120)
BUFFERS_MS = (30, 60, 120, 250, 500)
AQMS = ("codel", "pie", "fq_codel", "red", "cobalt", "fq_pie", "codel ecn", "fq_codel:linux")
FLOWS = ("1*cubic", "2*cubic", "4*cubic", "2*newreno", "8*cubic", "1*cubic:profile=linux", "1*bbr")
# A token bucket of a tenth of a second on a link of 200 Mbit/s: it drops what it has no tokens for, and nothing waits.
POLICER = '''"""A policer: a token bucket."""

import aqmlab


class Policer(aqmlab.AQM):
    """Drops what exceeds a rate."""

    params = {"rate": "10mbit 1kbit..1gbit", "burst": "100ms 1ms..10s"}
    quiet_packets = 0
    tokens = None
    then = 0

    def enqueue(self, packet, now):
        most = self.rate * self.burst / 8e9
        self.tokens = most if self.tokens is None else min(most, self.tokens + (now - self.then) * self.rate / 8e9)
        self.then = now
        if self.tokens < packet.length:
            self.drop(packet)
            return
        self.tokens -= packet.length
        self.queue.append(packet)
'''
FRAME, IP = 1514.0, 1500.0
# Drops and marks from which on they show who made them.
FEW_SIGNALS = 5


@dataclass(frozen=True)
class Setting:
    """A line, and how it is recorded."""

    kind: str
    rate_mbit: int
    rtt_ms: int
    buffer_ms: int
    aqm: str
    flows: str
    tap: str
    view: str = "whole"
    loss: str = ""

    def __str__(self) -> str:
        """Describe it in a line."""
        return (
            f"{self.kind:12} {self.rate_mbit:4} Mbit/s {self.rtt_ms:3} ms {self.buffer_ms:3} ms {self.aqm[-24:]:24} "
            f"{self.flows:38} {self.tap:9} {self.view:8}"
        )


def settings(folder: Path, draw: int) -> Iterator[Setting]:
    """Return the settings of a draw: the same ones always."""
    chance = random.Random(draw)
    policer = folder / "policer.py"
    policer.write_text(POLICER, encoding="utf-8")
    for number in range(SETTINGS):
        kind = ("fifo", "aqm", "fifo", "aqm", "fifo", "policer", "fifo", "limited", "aqm", "random")[number % 10]
        rate, rtt, buffer = chance.choice(RATES_MBIT), chance.choice(RTTS_MS), chance.choice(BUFFERS_MS)
        flows, aqm = chance.choice(FLOWS), chance.choice(AQMS)
        tap = ("senders", "receivers")[number // 10 % 2]
        view = ("whole", "whole", "whole", "whole", "cut", "data")[number // 10]
        if kind == "policer":
            rate = max(rate, 5)
            aqm, rate, flows = f"python:{policer}:Policer rate {rate}mbit", rate, "2*cubic"
        elif kind == "limited":
            # Half of what the path holds.
            window = max(int(rate * rtt * 125 * 0.5), 3000)
            flows, aqm = f"1*cubic:window={window}b", "fifo"
        elif kind == "random":
            rate, aqm, flows = 100, "fifo", "1*newreno"
        else:
            aqm = "fifo" if kind == "fifo" else aqm + (" ecn" if "pie" in aqm and number % 3 == 0 else "")
            aqm = aqm if "bbr" not in flows else aqm.removesuffix(" ecn")
            flows += ":ecn=classic" if "ecn" in aqm else ""
        # Of every two captures, one begins before the connections.
        flows += ":handshake=on" if number % 20 < 10 or number % 2 else ""
        yield Setting(kind, rate, rtt, buffer, aqm, flows, tap, view)


def record(setting: Setting) -> tuple[bytes, dict[str, float]]:
    """Run a setting once; return its packets and its metrics."""
    link_mbit = 200 if setting.kind == "policer" else setting.rate_mbit
    given = {
        "rate": (f"{link_mbit}mbit",),
        "rtt": (f"{setting.rtt_ms}ms",),
        "buffer": (f"{max(int(link_mbit * setting.buffer_ms * 125 / FRAME), 20)}p",),
        "flows": (setting.flows,),
        "aqm": (setting.aqm,),
        "duration": (f"{DURATION_S}s",),
        "warmup": ("10ms",),
        **({"loss": ("1%",)} if setting.kind == "random" else {}),
    }
    plan = scenario.resolve(Options(given=given, asked=(setting.aqm,)))
    (what,) = plan.scenarios.values()
    run = _native.run(json.dumps({**what.data(), "record": setting.tap}), plan.inputs, 1, _native.Monitor())
    return seen(run.packets, setting.view), dict(run.metrics)


def truth(setting: Setting, metrics: dict[str, float]) -> Truth:
    """Return what is so, and what can be known from such a capture."""
    full = setting.kind in ("fifo", "aqm", "policer") or metrics["utilization"] > 0.9
    one_way = setting.view == "data"
    signals = metrics["drops_early"] + metrics["drops_overflow"] + metrics["marks"] >= FEW_SIGNALS
    packets = max(int(setting.rate_mbit * setting.buffer_ms * 125 / FRAME), 20)
    overflows = setting.kind in ("fifo", "aqm") and metrics["drops_overflow"] >= FEW_SIGNALS
    fills = setting.kind == "fifo" and overflows
    patterns = {
        "fifo": {"tail drop" if fills else "none"},
        # One whose limit is small fills it, too.
        "aqm": ({"AQM"} if signals else {"none"}) | ({"tail drop"} if overflows else set()),
        "policer": {"policer"},
        "random": {"not from the queue"},
    }.get(setting.kind, set())
    return Truth(
        line_mbit=setting.rate_mbit,
        rate_mbit=setting.rate_mbit * IP / FRAME if full and not one_way else None,
        base_ms=None if one_way else float(setting.rtt_ms),
        buffer=packets if overflows and not one_way else None,
        patterns=frozenset() if one_way and "ecn" not in setting.aqm else frozenset(patterns),
        fills=fills,
    )


__all__ = ["FEW_SIGNALS", "FRAME", "IP", "Setting", "record", "settings", "truth"]
