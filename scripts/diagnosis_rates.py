#!/usr/bin/env python3
"""How well `aqmlab diagnose` finds what is known: captures of simulated lines (`make diagnosis-rates`).

Sixty settings of rate, round trip, buffer, discipline, loss and traffic, recorded at the sender or the receiver, whole,
cut, or with one direction missing. Printed are the errors of what was told, and how often "cannot tell" was right.
"""

from __future__ import annotations

import argparse
import json
import random
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import marked
import numpy as np

from aqmlab import _native, diagnosis, scenario
from aqmlab.diagnosis import Finding, Way
from aqmlab.scenario.options import Options

SETTINGS = 60
DURATION_S = 15
RATES_MBIT = (1, 2, 5, 10, 20, 50, 100)
RTTS_MS = (8, 15, 30, 60, 120)
BUFFERS_MS = (30, 60, 120, 250, 500)
AQMS = ("codel", "pie", "fq_codel", "red", "cobalt", "fq_pie", "codel ecn", "fq_codel:linux")
FLOWS = ("1*cubic", "2*cubic", "4*cubic", "2*newreno", "8*cubic", "1*cubic:stack=linux", "1*bbr")
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
NAMES = {"rate": "rate", "base": "round trip", "buffer": "buffer"}
BEGIN, END = "<!-- rates: written by make diagnosis-rates -->", "<!-- end of rates -->"


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


@dataclass(frozen=True)
class Truth:
    """What is so: None where no capture of this kind can tell."""

    rate_mbit: float | None
    base_ms: float | None
    buffer_ms: float | None
    pattern: str


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


def seen(packets: bytes, view: str) -> bytes:
    """Return a capture as it is, with a snaplen of 72 bytes, or with data or acknowledgments alone."""
    if view == "whole":
        return packets
    kept, place = bytearray(), 0
    while place < len(packets):
        kind, length = struct.unpack_from("<II", packets, place)
        block = packets[place : place + length]
        place += length
        if kind == 6:
            captured = struct.unpack_from("<I", block, 20)[0]
            data = block[28 : 28 + captured]
            # Senders are at home, receivers in 198.18.0.0/15: what comes from there are acknowledgments.
            if view in ("data", "acknowledgments") and (data[12] == 198) == (view == "data"):
                continue
            if view == "cut":
                data = data[:72]
                padded = data + bytes(-len(data) % 4)
                body = block[8:20] + struct.pack("<I", len(data)) + block[24:28] + padded
                block = struct.pack("<II", 6, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
        kept += block
    return bytes(kept)


def truth(setting: Setting, metrics: dict[str, float]) -> Truth:
    """Return what is so, and what can be known from such a capture."""
    full = setting.kind in ("fifo", "aqm", "policer") or metrics["utilization"] > 0.9
    one_way = setting.view == "data"
    rate = setting.rate_mbit * IP / FRAME if full else None
    signals = metrics["drops_early"] + metrics["drops_overflow"] + metrics["marks"] >= 5
    packets = max(int(setting.rate_mbit * setting.buffer_ms * 125 / FRAME), 20)
    fills = setting.kind == "fifo" and metrics["drops_overflow"] >= 5
    return Truth(
        None if one_way else rate,
        None if one_way else float(setting.rtt_ms),
        None if one_way or not fills else packets * FRAME * 8 / (setting.rate_mbit * 1e3),
        "cannot tell"
        if one_way and "ecn" not in setting.aqm
        else {
            "fifo": "tail drop" if fills else "none",
            "aqm": "AQM" if signals else "none",
            "policer": "policer",
            "random": "not from the queue",
        }.get(setting.kind, "cannot tell"),
    )


def judge(found: Finding, scale: float, true: float | None) -> tuple[str, float | None]:
    """Return whether it was told or not, rightly or wrongly, and the error as a share."""
    if found.value is None or found.confidence == "cannot tell":
        return ("rightly not told" if true is None else "wrongly not told"), None
    if true is None:
        return "wrongly told", None
    return "told", found.value / scale / true - 1.0


def main() -> None:
    """Print every setting, and the errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", type=int, default=2, help="which sixty (2; the bounds of the laws were set with 1)")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of settings")
    parser.add_argument("--keep", type=Path, help="a folder for the captures")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table between the marks of a page")
    options = parser.parse_args()
    errors: dict[str, list[float]] = {}
    sure: dict[str, list[float]] = {}
    said: dict[str, Counter[str]] = {}
    patterns: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for number, setting in enumerate(settings(folder, options.draw)):
            if options.only and number not in options.only:
                continue
            path = folder / f"{number}.pcapng"
            known = folder / f"{number}.json"
            if not (options.keep and path.exists() and known.exists()):
                packets, metrics = record(setting)
                path.write_bytes(packets)
                known.write_text(json.dumps(metrics), encoding="utf-8")
            true = truth(setting, json.loads(known.read_text(encoding="utf-8")))
            way: Way = diagnosis.diagnose(str(path)).up
            line = [f"{number:2} {setting}"]
            for name, found, scale, value in (
                ("rate", way.rate_bps, 1e6, true.rate_mbit),
                ("base", way.base_rtt_ms, 1.0, true.base_ms),
                ("buffer", way.buffer_ms, 1.0, true.buffer_ms),
            ):
                what, error = judge(found, scale, value)
                said.setdefault(name, Counter())[what] += 1
                if error is not None:
                    errors.setdefault(name, []).append(error)
                    if found.confidence != "low":
                        sure.setdefault(name, []).append(error)
                line.append(f"{name} {f'{error:+.1%}' if error is not None else what}")
            patterns[true.pattern, way.pattern] += 1
            line.append(way.pattern if way.pattern == true.pattern else f"{way.pattern} (is {true.pattern})")
            print(", ".join(line), flush=True)
    for (true, found), count in sorted(patterns.items()):
        print(f"{true}: told as {found} {count} times")
    made = table(said, errors, sure, patterns)
    print(f"\n{made}")
    if options.write:
        page = marked.replaced(options.write.read_text(encoding="utf-8"), BEGIN, END, made)
        options.write.write_text(page, encoding="utf-8")


def table(
    said: dict[str, Counter[str]],
    errors: dict[str, list[float]],
    sure: dict[str, list[float]],
    patterns: Counter[tuple[str, str]],
) -> str:
    """Return what was told and what was not as a table in Markdown."""
    lines = [
        "| | told, of lines that show it | told of others | error, median | 95 % | 95 %, where called sure "
        "| `cannot tell`, right |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, counts in said.items():
        missed, left = counts["wrongly not told"], counts["rightly not told"]
        median, high = np.quantile(np.abs(errors.get(name, [np.nan])), [0.5, 0.95])
        surely = np.quantile(np.abs(sure.get(name, [np.nan])), 0.95)
        lines.append(
            f"| {NAMES[name]} | {counts['told']} of {counts['told'] + missed} | {counts['wrongly told']} "
            f"| {median:.1%} | {high:.1%} | {surely:.1%} | {left} of {left + missed} |"
        )
    right = sum(count for (true, found), count in patterns.items() if true == found)
    lines.append(f"| who drops | {right} of {patterns.total()} right | | | | | |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
