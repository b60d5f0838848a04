"""What came of a run, and assertions about it."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from aqmlab import exports, facade
from aqmlab.testbed.check import UNDEFINED, Check, excess_of
from aqmlab.vocabulary.errors import CheckError, InputError, unknown
from aqmlab.vocabulary.metrics import is_metric, split

FIGURE, CAPTURE = "run.svg", "queue.pcapng"


@dataclass(frozen=True)
class Outcome:
    """A finished run. Each figure is `MeasuredValue`, which is asserted about."""

    #: Everything that is known of the run.
    result: facade.Result
    #: Where figure and capture of a failed assertion go; a new one unless given.
    folder: Path | None

    @property
    def title(self) -> str:
        """What was run, in one line: rate and round-trip time, the discipline, the flows, the seed."""
        scenario = self.result.scenarios[0]
        link = scenario.get("rate") or "trace"
        counts = self.result.flows["group"].value_counts(sort=True).rows()
        groups = ", ".join(f"{count} {name}" for name, count in counts)
        return f"{link}, {scenario['rtt']}, {self.result.aqms[0]}: {groups}, seed {self.result.seeds[0]}"

    def in_folder(self, folder: Path | None) -> Outcome:
        """Return the same with its files in another folder."""
        return replace(self, folder=folder)

    def goodput(self, group: str) -> MeasuredValue:
        """Return the payload that a group's applications got, all its flows together, Mbit/s."""
        return MeasuredValue(self, "goodput", " Mbit/s", sum(self._group(group)["goodput_mbit"].to_list()), group)

    def utilization(self) -> MeasuredValue:
        """Return the share of the link's capacity that was used, headers included: 1 if it was never idle."""
        return MeasuredValue(self, "utilization", "", self._value("utilization"))

    def qdelay_mean(self) -> MeasuredValue:
        """Return the mean sojourn time in the bottleneck's queue, ms."""
        return MeasuredValue(self, "mean queue delay", " ms", self._value("qdelay_mean_ms"))

    def qdelay_p99(self) -> MeasuredValue:
        """Return the 99th percentile of the sojourn time in the bottleneck's queue, ms."""
        return MeasuredValue(self, "queue delay (99th percentile)", " ms", self._value("qdelay_p99_ms"))

    def fairness(self) -> MeasuredValue:
        """Return Jain's index of the goodputs of all flows: 1 if all get the same."""
        goodputs: list[float] = self.result.flows["goodput_mbit"].to_list()
        squares = sum(goodput**2 for goodput in goodputs)
        index = sum(goodputs) ** 2 / (len(goodputs) * squares) if squares > 0 else None
        return MeasuredValue(self, "fairness (Jain's index)", "", index)

    def loss(self, group: str) -> MeasuredValue:
        """Return the share of a group's packets that the bottleneck's queue dropped."""
        flows = self._group(group)
        dropped, arrived = (sum(flows[column].to_list()) for column in ("packets_dropped", "packets_arrived"))
        return MeasuredValue(self, "loss", "", dropped / arrived if arrived else None, group)

    def completion(self, group: str) -> MeasuredValue:
        """Return when all flows of a group had delivered their size, in seconds since the run began."""
        ends = self._group(group).select(pl.col("start_s") + pl.col("fct_s")).to_series()
        # Null or not a number where a flow has not completed.
        last = ends.max() if ends.is_finite().fill_null(value=False).all() else None
        return MeasuredValue(self, "completion", " s", last, group)  # type: ignore[arg-type]

    def completed_by(self, group: str, seconds: float) -> None:
        """Assert that all flows of a group had delivered their size this many seconds after the run began."""
        self.completion(group).at_most(seconds)

    def metric(self, name: str) -> MeasuredValue:
        """Return any metric of the run by its name, as ``class.cubic.owd_p99_ms``.

        Raises:
            InputError: if there is none of that name.

        """
        found = self.result.frames.metrics
        # A metric may have no value; a group or a port that there is has some.
        if not is_metric(name) or not any(one.startswith(split(name)[0]) for one in found):
            raise unknown("metric", name, found)
        return MeasuredValue(self, name, "", self._value(name))

    def write_files(self) -> str:
        """Write the figure and the capture, and return where they are, in words; or why one of them is not."""
        folder = self.folder or self._new_folder
        written, missing = [], []
        for name, write in ((FIGURE, self._draw), (CAPTURE, self._capture)):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                write(folder / name)
                written.append(name)
            except (InputError, CheckError, OSError) as error:
                missing.append(f"no {name}: {error}")
        return "\n".join([*([f"see {' and '.join(written)} in {folder}"] if written else []), *missing])

    def _draw(self, path: Path) -> None:
        self.result.plot.timeseries().savefig(path)

    def _capture(self, path: Path) -> None:
        # Named, since a result's code does not run unasked.
        (packets,) = exports.pcapng(self.result, aqm=self.result.aqms[0], tap="queue").values()
        path.write_bytes(packets)

    @cached_property
    def _new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(prefix="aqmlab-testbed-"))

    def _group(self, name: str) -> pl.DataFrame:
        flows = self.result.flows.filter(pl.col("group") == name)
        if flows.is_empty():
            raise unknown("group", name, sorted(set(self.result.flows["group"])))
        return flows

    def _value(self, name: str) -> float | None:
        runs = self.result.runs
        value: float | None = runs[name].item() if name in runs.columns else None
        return value


@dataclass(frozen=True)
class MeasuredValue:
    """A figure of a run; its value is None if the run has no such figure, because a flow has not completed, say."""

    outcome: Outcome
    what: str
    unit: str
    value: float | None
    #: Whose it is, if it is not the whole path's.
    group: str = ""

    def at_least(self, least: float) -> None:
        """Assert that it is no less."""
        __tracebackhide__ = True
        self._assert(self.is_at_least(least))

    def at_most(self, most: float) -> None:
        """Assert that it is no more."""
        __tracebackhide__ = True
        self._assert(self.is_at_most(most))

    def is_at_least(self, least: float) -> Check:
        """Return whether it is no less, as a condition over several seeds asks."""
        return self._check("at least", least, lambda value: _bound(least) - value)

    def is_at_most(self, most: float) -> Check:
        """Return whether it is no more, as a condition over several seeds asks."""
        return self._check("at most", most, lambda value: value - _bound(most))

    def _check(self, relation: str, bound: float, excess: Callable[[float], float]) -> Check:
        limit = f"{relation} {repr(_bound(bound)).removesuffix('.0')}{self.unit}"
        return Check(
            quantity=f"{self.what} of {self.group}" if self.group else self.what,
            bound=limit,
            condition=f"{self.what} {limit}",
            found=UNDEFINED if self.value is None else f"{self.value:.4f}{self.unit}",
            excess=excess_of(None if self.value is None else excess(self.value)),
        )

    def _assert(self, check: Check) -> None:
        __tracebackhide__ = True
        if check.holds:
            return
        lines = [
            f"{check.quantity} is {check.found}: it must be {check.bound}",
            self.outcome.title,
            *self.outcome.result.warnings,
            self.outcome.write_files(),
        ]
        raise AssertionError("\n".join(lines))


def _bound(bound: float) -> float:
    """Return what a figure is held against."""
    if isinstance(bound, bool) or not isinstance(bound, (int, float)) or math.isnan(bound):
        raise InputError(f"{bound!r} is no number: a figure cannot be held against it")
    return bound
