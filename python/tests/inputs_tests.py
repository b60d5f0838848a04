from __future__ import annotations

from pathlib import Path

from conftest import ROOT

from aqmlab import _native, scenario
from aqmlab.scenario import inputs

CAPTURE = str(ROOT / "data/captures/aqmlab-lan.pcap")


def a_file_is_parsed_once_while_in_use() -> None:
    first = inputs.capture(CAPTURE)
    assert inputs.capture(CAPTURE) is first


def a_file_that_changes_later_does_not_affect_the_plan(tmp_path: Path) -> None:
    path = tmp_path / "some.down"
    path.write_text("1\n")
    options = {"aqm": "fifo", "link_trace": str(path), "rtt": "10ms", "duration": "1s", "flows": "1*cubic"}
    plan = scenario.resolve(scenario.from_values(options))
    task = plan.scenarios[plan.contestants[0].label].json
    before = _native.run(task, plan.inputs, 1, _native.Monitor()).metrics
    path.write_text("10\n")
    assert _native.run(task, plan.inputs, 1, _native.Monitor()).metrics == before
    again = scenario.resolve(scenario.from_values(options))
    assert again.files != plan.files
    assert _native.run(task, again.inputs, 1, _native.Monitor()).metrics != before
