#!/usr/bin/env python3
"""Build the playground: the simulator in one page that needs no server.

    scripts/playground.py .build/playground/index.html

It needs the WebAssembly target of Rust (`rustup target add wasm32-unknown-unknown`). The page holds everything: the
module, which resolves what its controls say as aqmlab does, and the declarations of all disciplines.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import re
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aqmlab import __version__, _native, scenario
from aqmlab.advice import LAYERS, Line, layer, setups
from aqmlab.advice.run import household
from aqmlab.advice.thresholds import FIGURES
from aqmlab.plots.label_styles import label_styles
from aqmlab.results import fairness
from aqmlab.scenario import links, options, registry
from aqmlab.scenario.resolve import FULL_IP_PACKET_BYTES
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.units import PERCENT

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "playground"
LIBRARY = ROOT / "python/src/aqmlab/report/vendor"
TARGET = "wasm32-unknown-unknown"
START = {
    "rate": "20mbit", "link": "rate", "placement": "auto", "rtt": "40ms", "buffer": "270p", "duration": "10s",
    "speed": "full", "seed": "1", "flows": ["4*cubic", "1*voip"], "a": "fifo", "b": "fq_codel",
}  # fmt: skip
# What one click shows: what differs from the start.
SCENES = {
    "Bufferbloated line": {},
    "Slow tablet on Wi-Fi": {
        "link": "wifi stations [phone=ht-mcs15-400ns, tablet=ht-mcs0-400ns]",
        "rtt": "20ms", "buffer": "1000p", "b": "airtime_fq",
        "flows": ["1*cubic:name=film:to=phone", "1*voip:name=call:to=phone", "4*cubic:name=updates:to=tablet"],
    },
}  # fmt: skip
DURATIONS = ["5s", "10s", "30s", "60s"]
# Simulated time over real time; none is as fast as it goes.
SPEEDS = {"full": None, "10x": 10, "1x": 1, "0.1x": 0.1}
FLOWS = [
    "cubic", "newreno", "bbr3", "prague", "dctcp", "ledbat", "cubic:ecn=classic", "cubic:rtt=200ms", "web", "video",
    "voip", "gaming", "cbr:rate=1mbit", "cbr:rate=10mbit",
]  # fmt: skip
METRICS = [
    "goodput_mbit", "utilization", "qdelay_mean_ms", "qdelay_p99_ms", "loss_ratio", "marks", "jain_index", "mos_mean",
    "page_load_mean_s", "video_stalls",
]  # fmt: skip
# Of each station of a Wi-Fi.
STATION_METRICS = ["airtime_share", "delay_total_ms"]
MOST_FLOWS = 32
MOST_BUFFER_PACKETS = 1_000_000


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    page: Path = parser.parse_args().page
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(built(module()))
    print(f"{page}: {page.stat().st_size / 1e6:.2f} MB")


def module() -> bytes:
    """Build the simulator as a WebAssembly module."""
    target = ROOT / "target/wasm"
    command = [
        "cargo",
        "build",
        "--quiet",
        "--locked",
        "--package",
        "aqm-wasm",
        "--profile",
        "wasm",
        "--target",
        TARGET,
    ]
    subprocess.run([*command, "--target-dir", target], cwd=ROOT, check=True)
    return (target / TARGET / "wasm/aqm_wasm.wasm").read_bytes()


def built(wasm: bytes) -> str:
    """Return the page with everything in it."""
    parts = {
        "about": f"aqmlab {__version__}. One file, no server: nothing leaves this page.",
        "style": (LIBRARY / "uPlot.min.css").read_text() + (FOLDER / "style.css").read_text(),
        "library": (LIBRARY / "uPlot.iife.min.js").read_text(),
        "module": _packed(wasm),
        "setup": _packed(json.dumps(setup()).encode()),
        **{
            name: _lean((FOLDER / f"{name}.js").read_text())
            for name in ("instance", "worker", "setting", "run", "charts", "stations", "link", "line", "page")
        },
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], (FOLDER / "index.html").read_text())


def _packed(data: bytes) -> str:
    """Return data compressed, as text that may stand in a page."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _lean(script: str) -> str:
    """Return a script without its lines of comments, which readers of the page do not need."""
    return re.sub(r"^ *//.*\n", "", script, flags=re.M)


def setup() -> dict[str, Any]:
    """Return what the page knows: disciplines, kinds of flows, how figures look, a setting to start from."""
    plans = {flow: _plan(flow) for flow in FLOWS}
    full_packet = FULL_IP_PACKET_BYTES + plans["cubic"].base.settings["overhead_bytes"]
    return {
        "start": START,
        "scenes": SCENES,
        "choices": {
            "duration": DURATIONS,
            "speed": list(SPEEDS),
            "placement": options.BY_NAME["placement"].words,
        },
        "links": [kind for name, kind in links.KINDS.items() if not _is_recorded(name)],
        "speeds": SPEEDS,
        "mostFlows": MOST_FLOWS,
        "mostBufferBytes": MOST_BUFFER_PACKETS * full_packet,
        "fullPacketBytes": full_packet,
        "flows": FLOWS,
        # What flows want: Jain's index is shown where that is the same.
        "wants": {flow: fairness.wanted(plan.groups[0].data()) for flow, plan in plans.items()},
        "metrics": [_metric(name) for name in METRICS],
        "stationMetrics": [_metric(name) for name in STATION_METRICS],
        "advice": _advice(),
        "disciplines": [{**one, "styles": _styles(one["name"])} for one in registry.listing()],
    }


def _is_recorded(kind: str) -> bool:
    """Whether a link of this kind needs a recording, which a page does not have."""
    return bool(json.loads(_native.read_link(kind))["is_recorded"])


def _plan(flow: str) -> scenario.Plan:
    given = {"aqm": "fifo", "rate": "20mbit", "rtt": "40ms", "flows": f"1*{flow}", "duration": "30s", "warmup": "10s"}
    return scenario.resolve(scenario.from_values(given))


def _advice() -> dict[str, Any]:
    """Return what is asked about a home's line: the household as resolved, layers and figures as declared."""
    line = Line(16_000_000, 1_000_000, layer("adsl"))
    base = json.loads(scenario.resolve(household(line, setups(line)[:1], 1).points[0]).base.json)
    return {
        # Nobody sees what happens in a run.
        "scenario": {**base, "sample_ns": base["duration_ns"]},
        "layers": [asdict(one) for one in LAYERS.values()],
        "figures": [{name: getattr(one, name) for name in ("name", "title", "unit", "digits")} for one in FIGURES],
    }


def _metric(name: str) -> dict[str, Any]:
    metric = next(metric for metric in metrics.METRICS if metric.name == name)
    unit, scale = ("%", PERCENT) if metric.is_share else (metric.unit, 1.0)
    return {"name": name, "title": metric.label, "unit": unit, "scale": scale}


def _styles(name: str) -> list[dict[str, Any]]:
    """The look of a discipline, and of a second one of the same name."""
    return [
        {"colour": look.colour, "colour_dark": _lighter(look.colour), "dash": look.dash}
        for look in label_styles([name, f"{name} again"]).values()
    ]


def _lighter(colour: str) -> str:
    """Halfway to white, for dark paper."""
    return "#" + "".join(f"{(int(colour[at : at + 2], 16) + 255) // 2:02x}" for at in (1, 3, 5))


if __name__ == "__main__":
    main()
