"""Runs a household over every setup of its line, and judges them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aqmlab import experiment, scenario
from aqmlab.advice import paste
from aqmlab.advice.bootstrap import SURE, agreement
from aqmlab.advice.home_line import Line
from aqmlab.advice.household import HOUSEHOLD
from aqmlab.advice.setups import Setup, setups
from aqmlab.advice.verdict import Choice, judge
from aqmlab.files import shipped
from aqmlab.results import Result
from aqmlab.runs.watcher import Watcher
from aqmlab.scenario.files import Experiment
from aqmlab.vocabulary.units import format_rate

TOPOLOGY = "household/graphs/line.toml"
WARMUP_S = 5


@dataclass(frozen=True)
class Advice:
    """What was found: every setup judged, the one to take, and the runs behind it.

    With ``has_only_usual`` only the setups that routers come with were tried. ``stopped_at`` is, where fewer runs than
    usual decided, in which share of draws from them the same setup is named.
    """

    line: Line
    setups: tuple[Setup, ...]
    verdict: Choice
    result: Result
    has_only_usual: bool = False
    stopped_at: float | None = None

    @property
    def chosen(self) -> Setup:
        """The setup to take."""
        return self.setup(self.verdict.chosen)

    @property
    def for_openwrt(self) -> Setup:
        """The setup to take with OpenWrt's SQM: this one, or if SQM has no script for it, the best that has one."""
        if not self.chosen.is_shaped or paste.has_script(self.chosen):
            return self.chosen
        others = [one for one in self.verdict.judged if paste.has_script(self.setup(one.name))]
        return self.setup(min(others, key=lambda one: one.behind).name)

    def setup(self, name: str) -> Setup:
        """Return a setup by its name."""
        return next(setup for setup in self.setups if setup.name == name)


def advise(
    line: Line,
    *,
    folder: Path | None = None,
    quick: bool = False,
    seeds: int | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> Advice:
    """Run the household over every setup, and judge them.

    ``quick`` stops after half of the runs where the setup that is named no longer hangs on them, and makes the others
    where it does. With ``seeds`` so many are made.

    Raises:
        InputError: naming what is wrong with the line.
        CheckError: if a run broke one of its own checks.

    """
    plan = line.plan
    tried = setups(line, plan.only_usual)
    minutes = (plan.duration_s - WARMUP_S) / 60

    def run(count: int, place: Path | None) -> Result:
        asked = household(line, tried, count)
        result = experiment.run_experiment(asked, "advise", jobs, place, watcher, with_report=False)
        if result.is_partial and not result.manifest["failures"]:
            raise KeyboardInterrupt
        return result

    def judged(result: Result, share: float | None = None) -> Advice:
        return Advice(line, tuple(tried), judge(result, minutes), result, plan.only_usual, share)

    if seeds or not quick:
        return judged(run(seeds or plan.seeds, folder))
    # The first runs are among all of them.
    with TemporaryDirectory() as own:
        first = run(plan.quick_seeds, folder or Path(own))
        share = agreement(first, minutes)
        if share >= SURE:
            return judged(first, share)
        return judged(run(plan.seeds, folder or Path(own)))


def household(line: Line, tried: Sequence[Setup], seeds: int) -> Experiment:
    """Return the household over a line as an experiment, whose points are the setups."""
    values = {"setup": {setup.name: _values(setup) for setup in tried}}
    return scenario.swept(_options(line, seeds), values, allow_unequal_buffers=True)


def _options(line: Line, seeds: int) -> dict[str, Any]:
    rate = {"link_trace": line.trace} if line.trace else {"rate": format_rate(line.carried[0])}
    return {
        "aqm": [f"fifo limit {line.buffers[0]}"],
        **rate,
        "rtt": line.rtt,
        "flows": [flow for flow, _ in HOUSEHOLD],
        "overhead": f"{line.layer.overhead}b",
        "topology": str(shipped.experiments() / TOPOLOGY),
        "measure": ["line_down,line_up,router_down,router_up"],
        "duration": f"{line.plan.duration_s}s",
        "warmup": f"{WARMUP_S}s",
        "series": "groups",
        "seeds": str(seeds),
    }


def _values(setup: Setup) -> dict[str, str]:
    """The values of the topology's names."""
    sets = setup.sets
    return {
        "delay": f"{sets['delay_ns'] // 1000}us",
        "line_up": format_rate(sets["line_up"]),
        "modem_up": sets["modem_up"],
        "shaped_down": format_rate(sets["shaped_down"]),
        "shaped_up": format_rate(sets["shaped_up"]),
        "router_down": sets["router_down"],
        "router_up": sets["router_up"],
    }
