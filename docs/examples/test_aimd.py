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


def test_it_keeps_losses_low_in_every_seed(tmp_path: Path) -> None:
    path = {"rate": "10mbit", "rtt": "40ms", "aqm": "pie limit 200p", "duration": "8s", "folder": tmp_path}
    runs = testbed.over(range(1, 11), **path, transports=[AIMD], flows="2*aimd")
    runs.all(lambda run: run.loss("aimd").is_at_most(0.02))
    runs.at_least(9, lambda run: run.goodput("aimd").is_at_least(8.0))


def test_only_a_bloated_fifo_delays_it(tmp_path: Path) -> None:
    cells = testbed.matrix(
        ["2*aimd", "2*cubic"],
        ["fifo limit 200p", "pie", "codel"],
        {
            "G": lambda run, group: run.goodput(group).is_at_least(8.0),
            "D": lambda run, _: run.qdelay_mean().is_at_most(30.0),
        },
        over=range(1, 11),
        in_at_least=9,
        **{"rate": "10mbit", "rtt": "40ms", "buffer": "200p", "duration": "8s", "folder": tmp_path},
        transports=[AIMD],
    )
    print(cells)
    cells.fail_only(("2*aimd", "fifo limit 200p", "D"), ("2*cubic", "fifo limit 200p", "D"))
