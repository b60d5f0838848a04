"""A fake simulator: made-up but plausible reports, to test their processing."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from aqmlab.engine import Histograms, Table

# Typical queue delay (ms), goodput (share of the rate) and loss of each discipline.
LOOKS = {
    "fifo": (60.0, 0.955, 0.002),
    "codel": (6.0, 0.945, 0.012),
    "red": (18.0, 0.95, 0.008),
    "pie": (14.0, 0.95, 0.01),
    "fq_codel": (4.0, 0.953, 0.011),
}


# Names, kinds, numbers and texts of a table.
Parts: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], bytes, dict[str, list[str]]]


def parts(columns: dict[str, Any]) -> Parts:
    """Return columns as the simulator gives them."""
    table = Table.of({name: one if isinstance(one[0], str) else np.array(one) for name, one in columns.items()})
    return table.names, table.kinds, table.words.tobytes(), dict(table.texts)


@dataclass
class FakeRun:
    """The interface of `_native.Run`."""

    metrics: dict[str, float]
    flows: Parts
    series: Parts
    histograms: tuple[tuple[str, ...], tuple[int, ...], bytes]
    queues: Parts
    warnings: list[str] = field(default_factory=list)
    events: int = 1000
    bottleneck_packets: int = 500


def fake_run(scenario_json: str, inputs: object, seed: int, monitor: object) -> FakeRun:
    """Return a report like `_native.run`, computed only from the scenario and the seed."""
    del inputs, monitor
    scenario = json.loads(scenario_json)
    rate_mbit = scenario["capacity"].get("rate_bps", 10_000_000) / 1e6
    delay_ms, share, loss = LOOKS.get(scenario["aqm"].split(":")[0], (10.0, 0.9, 0.01))
    common = np.random.default_rng(seed)
    goodput = rate_mbit * (share + common.normal(0, 0.004))
    own = np.random.default_rng([seed, len(scenario["aqm"])])
    delay_ms *= 1 + common.normal(0, 0.05) + own.normal(0, 0.02)
    delays_ns = np.sort((own.gamma(4.0, delay_ms / 4.0, size=4000) * 1e6).astype("<u8") // 10_000 * 10_000 + 1)
    values, counts = np.unique(delays_ns, return_counts=True)
    time_s = np.arange(1, 301) * scenario["duration_ns"] / 300 / 1e9
    rising = 1 - np.exp(-time_s / 1.5)
    histograms = Histograms.of({"qdelay": (values, counts)})
    n = 4
    return FakeRun(
        metrics={
            "goodput_mbit": goodput,
            "utilization": min(1.0, goodput / rate_mbit + 0.045),
            "qdelay_mean_ms": float(delays_ns.mean() / 1e6),
            "qdelay_p50_ms": float(np.quantile(delays_ns, 0.5) / 1e6),
            "qdelay_p99_ms": float(np.quantile(delays_ns, 0.99) / 1e6),
            "loss_ratio": loss * (1 + own.normal(0, 0.05)),
            "marks": 0.0,
            "jain_index": 0.9 + own.normal(0, 0.02),
            "fct_mean_s": float("nan"),
        },
        flows=parts(
            {
                "id": list(range(n)),
                "group": ["cubic"] * n,
                "kind": ["cubic"] * n,
                "start_s": [0.1 * flow for flow in range(n)],
                "goodput_mbit": [goodput / n * (0.9 + 0.05 * flow) for flow in range(n)],
                "fct_s": [float("nan")] * n,
            }
        ),
        series=parts(
            {
                "time_s": time_s,
                "qdelay_ms": (rising * delay_ms * (1 + own.normal(0, 0.2, 300))).clip(0),
                "goodput_mbit": rising * goodput * (1 + own.normal(0, 0.02, 300)),
            }
        ),
        histograms=(histograms.names, histograms.buckets, histograms.words.tobytes()),
        queues=parts({"link": ["left->right"], "discipline": [scenario["aqm"]], "arrived_packets": [500]}),
    )
