"""The transport of aimd.py on the test bench.

python -m pytest docs/examples/test_aimd.py
"""

from __future__ import annotations

from pathlib import Path

from aimd import AIMD

from aqmlab import testbed


def test_two_flows_share_a_link_under_pie(tmp_path: Path) -> None:
    path = {"rate": "10mbit", "rtt": "40ms", "aqm": "pie limit 200p", "duration": "8s", "folder": tmp_path}
    run = testbed.run(**path, transports=[AIMD], flows="2*aimd")
    run.goodput("aimd").at_least(8.0)
    run.qdelay_mean().at_most(30.0)
    run.loss("aimd").at_most(0.02)
    run.fairness().at_least(0.8)
