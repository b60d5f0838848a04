"""A test bench for transports: a path with a real AQM, in virtual time, and assertions about what came of it.

    >>> from aqmlab import testbed
    >>> run = testbed.run(rate="10mbit", rtt="40ms", aqm="pie", flows="2*cubic", duration="15s", warmup="5s")
    >>> run.goodput("cubic").at_least(8.0)
    >>> run.qdelay_mean().at_most(30.0)
    >>> run.fairness().at_least(0.7)

An assertion that fails says what was found, and writes a figure and a capture into a folder that it names. With pytest
that is ``tmp_path``:

    def test_my_transport_under_pie(tmp_path):
        run = testbed.run(rate="10mbit", rtt="40ms", aqm="pie", transports=[Mine], flows="2*mine", folder=tmp_path)
        run.goodput("mine").at_least(8.0)
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from aqmlab import exports, facade
from aqmlab.scenario import split_texts
from aqmlab.scenario.keywords import Keywords
from aqmlab.scenario.python_transport import Transport, register_transport
from aqmlab.vocabulary.errors import CheckError, InputError, about, unknown
from aqmlab.vocabulary.metrics import is_metric, split
from aqmlab.vocabulary.units import parse_whole

if TYPE_CHECKING:
    from aqmlab.own.python_aqm import AQM

FIGURE, CAPTURE = "run.svg", "queue.pcapng"


def run(
    *,
    aqm: str | type[AQM] = "fifo",
    seed: int = 1,
    transports: Sequence[type[Transport]] = (),
    folder: str | os.PathLike[str] | None = None,
    **options: Unpack[Keywords],
) -> Outcome:
    """Run a path once. The same seed gives the same packets.

    Args:
        aqm: the discipline of the bottleneck's queue, as ``"pie limit 200p"``, or a class of `AQM`; one alone.
        seed: decides all chance.
        transports: classes of one's own; ``flows`` know each by its name in small letters.
        folder: where figure and capture of a failed assertion go: pytest's ``tmp_path``; a new one unless given.
        options: those of `aqmlab.compare`, as ``rate="10mbit"``. All is measured from the start on unless ``warmup``
            says otherwise; without ``seeds`` and ``first_seed``, since there is one run.

    Raises:
        InputError: naming the option, its value and what is allowed.
        CheckError: if the run broke one of its own checks.

    >>> outcome = run(rate="4mbit", rtt="20ms", aqm="codel", flows="1*cubic:size=100kb", duration="3s")
    >>> outcome.completed_by("cubic", 2.0)
    >>> outcome.result.aqms
    ['codel']

    """
    for name in ("seeds", "first_seed"):
        if name in options:
            raise about(name, "a test bench makes one run, which seed decides: give that")
    if not isinstance(aqm, type) and not (isinstance(aqm, str) and len(split_texts(aqm)) == 1):
        raise about("aqm", f"'{aqm}' is not one discipline: a test bench makes one run")
    if isinstance(transports, (str, type)):
        raise about("transports", f"{transports!r} is no list: give classes of aqmlab.Transport in one")
    for transport in transports:
        register_transport(transport)
    if not isinstance(folder, (str, os.PathLike, type(None))):
        raise about("folder", f"{folder!r} is no path")
    if folder is not None and Path(folder).exists() and not Path(folder).is_dir():
        raise about("folder", f"'{folder}' is a file: the figure and capture of a failed assertion need a folder")
    try:
        parse_whole(str(seed), 1)
    except ValueError as error:
        raise about("seed", f"{error}") from None
    chosen: Any = {"warmup": "0s", "series": "flows", **options, "seeds": 1, "first_seed": seed}
    return Outcome(facade.compare(aqm=aqm, jobs=1, **chosen), None if folder is None else Path(folder))


@dataclass(frozen=True)
class Outcome:
    """A finished run. Each figure is `MeasuredValue`, which is asserted about."""

    #: Everything that is known of the run.
    result: facade.Result
    folder: Path | None

    def goodput(self, group: str) -> MeasuredValue:
        """Return the payload that a group's applications got, all its flows together, Mbit/s."""
        return MeasuredValue(self, f"goodput of {group}", " Mbit/s", sum(self._group(group)["goodput_mbit"].to_list()))

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
        return MeasuredValue(self, f"loss of {group}", "", dropped / arrived if arrived else None)

    def completion(self, group: str) -> MeasuredValue:
        """Return when all flows of a group had delivered their size, in seconds since the run began."""
        ends = self._group(group).select(pl.col("start_s") + pl.col("fct_s")).to_series()
        # Null or not a number where a flow has not completed.
        last = ends.max() if ends.is_finite().fill_null(value=False).all() else None
        return MeasuredValue(self, f"completion of {group}", " s", last)  # type: ignore[arg-type]

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

    def keep(self) -> str:
        """Write the figure and the capture, and return where they are, in words; or why one of them is not."""
        folder = self.folder or self._new_folder
        kept, missing = [], []
        for name, write in ((FIGURE, self._draw), (CAPTURE, self._capture)):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                write(folder / name)
                kept.append(name)
            except (InputError, CheckError, OSError) as error:
                missing.append(f"no {name}: {error}")
        return "\n".join([*([f"see {' and '.join(kept)} in {folder}"] if kept else []), *missing])

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

    def at_least(self, least: float) -> None:
        """Assert that it is no less."""
        __tracebackhide__ = True
        self._check(self.value is not None and self.value >= _bound(least), f"at least {least}")

    def at_most(self, most: float) -> None:
        """Assert that it is no more."""
        __tracebackhide__ = True
        self._check(self.value is not None and self.value <= _bound(most), f"at most {most}")

    def _check(self, holds: bool, bound: str) -> None:
        __tracebackhide__ = True
        if holds:
            return
        result = self.outcome.result
        undefined = "undefined (nothing arrived, or not all completed)"
        found = undefined if self.value is None else f"{self.value:.4f}{self.unit}"
        groups = ", ".join(f"{count} {name}" for name, count in result.flows["group"].value_counts(sort=True).rows())
        lines = [
            f"{self.what} is {found}: it must be {bound}{self.unit}",
            f"{result.aqms[0]}: {groups}, seed {result.seeds[0]}",
            *result.warnings,
            self.outcome.keep(),
        ]
        raise AssertionError("\n".join(lines))


def _bound(bound: float) -> float:
    """Return what a figure is held against."""
    if isinstance(bound, bool) or not isinstance(bound, (int, float)) or math.isnan(bound):
        raise InputError(f"{bound!r} is no number: a figure cannot be held against it")
    return bound
