"""What `aqmlab` offers in Python: questions as functions, and results that draw, report and save themselves.

Nothing below knows this file: rooms work on plain results.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from aqmlab import engine as engines
from aqmlab import experiment, scenario
from aqmlab.files import shipped
from aqmlab.results import Result as Plain
from aqmlab.results import result_json
from aqmlab.results.frames import FRAMES
from aqmlab.results.precision import Precision
from aqmlab.runs.watcher import Watcher
from aqmlab.scenario import Experiment
from aqmlab.scenario.keywords import Keywords
from aqmlab.scenario.links import named_links
from aqmlab.vocabulary.errors import InputError, about, unknown
from aqmlab.vocabulary.json_text import json_text

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from aqmlab.own.python_aqm import AQM
    from aqmlab.plots import Plotter


@dataclass(frozen=True, repr=False)
class Result(Plain):
    """Runs of one or more scenarios, with everything needed to interpret them.

    Frames: `runs` (one row per run), `flows` (per flow and run), `series` (long form), `queues`, `histograms`.
    """

    @functools.cached_property
    def differences(self) -> pl.DataFrame:
        """Paired differences against the first AQM, with Holm's correction, in numbers and in words."""
        return result_json.differences(self)

    @property
    def changes(self) -> pl.DataFrame:
        """What changed since the ``baseline`` of `compare`: old and new means paired by seed, in numbers and in words.

        Raises:
            InputError: if there was no baseline.

        """
        if self.since is None:
            raise InputError("changes: the result has no baseline: give compare(baseline=FOLDER)")
        rows = [{**one.get("point", {}), **one} for one in self.since["changes"]]
        return pl.DataFrame(rows, infer_schema_length=None).drop("point", strict=False)

    @property
    def plot(self) -> Plotter:
        """Figures of this result: `plot.cdf()`, `plot.timeseries()`, `plot.tradeoff()`."""
        from aqmlab.plots import Plotter

        return Plotter(self)

    def to_pandas(self, frame: str = "runs") -> pandas.DataFrame:
        """Return a frame (`runs`, `flows`, `series`, `queues`, `histograms`) as one of pandas, with units in `attrs`.

        Raises:
            InputError: for another name, or if pandas is not installed.

        """
        from aqmlab import exports

        return exports.to_pandas(self._frame(frame))

    def to_arrow(self, frame: str = "runs") -> pyarrow.Table:
        """Return a frame as a table of Arrow, whose fields know their units.

        Raises:
            InputError: for another name, or if pyarrow is not installed.

        """
        from aqmlab import exports

        return exports.to_arrow(self._frame(frame))

    def _frame(self, name: str) -> pl.DataFrame:
        if name not in FRAMES:
            raise unknown("frame", name, FRAMES)
        frame: pl.DataFrame = getattr(self, name)
        return frame

    def document(self) -> dict[str, Any]:
        """Return the result as plain data (JSON): format_version, scenario, runs, summary."""
        return result_json.document(self)

    def to_json(self) -> str:
        """Return the document as JSON."""
        return json_text(self.document())

    def save(self, folder: str | Path) -> Path:
        """Write the result with its figures and its report into a new folder.

        Raises:
            InputError: if the folder exists and is not empty, or cannot be written.

        """
        from aqmlab.publishing import save

        return save(self, Path(folder))

    def report(self) -> str:
        """Return the report: one self-contained HTML page."""
        from aqmlab.report import render

        return render(self)

    def _repr_html_(self) -> str:
        from aqmlab.report import notebook

        return notebook(self)


def compare(
    *,
    aqm: str | type[AQM] | Sequence[str | type[AQM]],
    jobs: int | None = None,
    executor: Executor | None = None,
    shard: str | None = None,
    out: str | os.PathLike[str] | None = None,
    allow_unequal_buffers: bool = False,
    title: str = "",
    engine: str = engines.DEFAULT,
    no_size_check: bool = False,
    until_ci: str | None = None,
    link: str | Mapping[str, str] | None = None,
    baseline: str | os.PathLike[str] | None = None,
    **options: Unpack[Keywords],
) -> Result:
    """Compare queue disciplines on one bottleneck, over seeds.

    Quantities are text with their unit in tc's notation; times may be `datetime.timedelta`.

    Args:
        aqm: one discipline or several, as ``"pie target 15ms ecn"``, or classes of `AQM`; the others are compared with
            the first.
        jobs: runs in parallel; one per core unless given. The result does not depend on it.
        executor: makes the runs in other processes or on other machines, in place of threads of this process.
        shard: as ``"3/20"``, makes only this part of the runs, into ``out``, without a report; see `merge`.
        out: folder to write the result into, with figures and report; nothing is written unless given. If it holds
        the same experiment, new seeds and AQMs are added to it.
        allow_unequal_buffers: compare although the AQMs' limits differ.
        title: title of the report; lists the AQMs unless given.
        engine: ``native``, the simulator; ``linux``, the kernel in virtual time; or both, as ``native,linux``.
        no_size_check: skip the check of runs, events and memory before the first run.
        until_ci: as ``"5%"`` or ``"5%:metric=goodput_mbit:most=100"``: more seeds, until half the interval of a metric
            is at most this share of its mean for every AQM; ``seeds`` is then the pilot. Without one the metric is
            `qdelay_mean_ms`, at the measured port where packets wait longest.
        link: kind of the bottleneck's link, as ``"turns rate 20mbit"``; or links by name, as
            ``{"vdsl": "rate 50mbit rtt 20ms", "dsl": "rate 6mbit rtt 40ms"}``: a scenario for each.
        baseline: folder of an earlier result of the same scenario: `Result.changes` says what changed since, and so
            does the report.
        options: those of `Keywords`, as ``rate="10mbit"``; ``aqmlab compare --help`` explains each.

    Raises:
        InputError: naming the option, its value and what is allowed.
        CheckError: if a run broke one of its own checks.

    >>> r = compare(rate="10mbit", rtt="40ms", aqm=["fifo", "codel"], duration="2s", seeds=2)
    >>> r.aqms, len(r.runs)
    (['fifo', 'codel'], 4)

    """
    values: dict[str, Any] = {"aqm": _named(aqm), **options}
    asked = _asked(values, link, title, allow_unequal_buffers=allow_unequal_buffers)
    folder = None if out is None else Path(out)
    until = None if until_ci is None else Precision.parse(until_ci)
    settings: dict[str, Any] = {"engine": engine, "no_size_check": no_size_check, "executor": executor, "shard": shard}
    settings["baseline"] = None if baseline is None else Path(baseline)
    return with_methods(
        experiment.checked(experiment.run_experiment(asked, "compare", jobs, folder, until=until, **settings))
    )


def sweep(
    *,
    sweep: Mapping[str, Any],
    aqm: str | type[AQM] | Sequence[str | type[AQM]],
    design: str = "grid",
    link: str | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    shard: str | None = None,
    out: str | os.PathLike[str] | None = None,
    allow_unequal_buffers: bool = False,
    engine: str = engines.DEFAULT,
    no_size_check: bool = False,
    until_ci: str | None = None,
    **options: Unpack[Keywords],
) -> Result:
    """Compare queue disciplines over a space of settings.

    Args:
        sweep: what varies: per option, or per ``$name`` in options, a list of values, or text as ``"5ms,20ms"``,
            ``"1ms..20ms*8"`` (equal distances) or ``"1ms..100ms*8log"`` (equal ratios).
        aqm: one discipline or several, as ``"codel target $target"``; the others are compared with the first.
        design: ``grid`` for all combinations; ``latin*N`` or ``sobol*N`` for a sample of N, for which ranges need no
            number of values.
        link: kind of the bottleneck's link, as ``"turns rate 20mbit"``.
        jobs: runs in parallel; one per core unless given. The result does not depend on it.
        executor: makes the runs in other processes or on other machines, in place of threads of this process.
        shard: as ``"3/20"``, makes only this part of the runs, into ``out``, without a report; see `merge`.
        out: folder to write the result into, with figures and report; nothing is written unless given.
        allow_unequal_buffers: compare although the AQMs' limits differ.
        engine: ``native``, the simulator; ``linux``, the kernel in virtual time; or both, as ``native,linux``.
        no_size_check: skip the check of runs, events and memory before the first run.
        until_ci: that of `compare`, for every scenario.
        options: those of `compare` that are not swept.

    Raises:
        InputError: naming the option or the swept name, its value and what is allowed.
        CheckError: if a run broke one of its own checks.

    >>> r = sweep(sweep={"rtt": "10ms,40ms"}, rate="10mbit", aqm="codel", duration="2s", seeds=2)
    >>> r.runs["rtt_ms"].to_list()
    [10.0, 10.0, 40.0, 40.0]

    """
    values: dict[str, Any] = {"aqm": _named(aqm), "link": link, **options}
    asked = scenario.swept(values, sweep, design, allow_unequal_buffers=allow_unequal_buffers)
    folder = None if out is None else Path(out)
    until = None if until_ci is None else Precision.parse(until_ci)
    settings: dict[str, Any] = {"engine": engine, "no_size_check": no_size_check, "executor": executor, "shard": shard}
    return with_methods(
        experiment.checked(experiment.run_experiment(asked, "sweep", jobs, folder, until=until, **settings))
    )


def run(
    path: str | os.PathLike[str],
    *,
    seeds: int | None = None,
    first_seed: int | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    shard: str | None = None,
    out: str | os.PathLike[str] | None = None,
    engine: str = engines.DEFAULT,
    no_size_check: bool = False,
) -> Result:
    """Run an experiment file, or a shipped experiment by its name; arguments override its options.

    ``executor``, ``shard`` and ``no_size_check`` are those of `compare`.

    Raises:
        InputError: naming file, key, value and what is allowed.
        CheckError: if a run broke one of its own checks.

    """
    given = {"seeds": seeds, "first_seed": first_seed}
    asked = scenario.load(shipped.find(path), {name: str(value) for name, value in given.items() if value is not None})
    folder = None if out is None else Path(out)
    return with_methods(
        experiment.checked(
            experiment.run_experiment(
                asked, "run", jobs, folder, engine=engine, no_size_check=no_size_check, executor=executor, shard=shard
            )
        )
    )


def load(folder: str | os.PathLike[str], watcher: Watcher | None = None) -> Result:
    """Read a result folder; one that is being written, or whose writer was killed, has the finished runs.

    Args:
        folder: the folder.
        watcher: receives notices about it, such as runs that were altered.

    Raises:
        InputError: if it is not one, is damaged, was altered, or was written by a newer version.

    """
    return with_methods(experiment.load(Path(folder), watcher))


def merge(
    parts: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    watcher: Watcher | None = None,
    *,
    with_report: bool = True,
) -> Result:
    """Merge parts of an experiment into a new folder, with figures and report.

    Parts are what ``shard`` made, or folders of the same experiment with other runs. The result is partial if runs are
    missing.

    Args:
        parts: the folders.
        out: the new folder.
        watcher: receives notices about the parts.
        with_report: whether to draw figures and write the report.

    Raises:
        InputError: if a folder is no part of the same experiment, is named twice, or differs in a run it shares.

    """
    return with_methods(experiment.merge([*map(Path, parts)], Path(out), watcher, with_report=with_report))


def _asked(values: dict[str, Any], link: Any, title: str, *, allow_unequal_buffers: bool) -> Experiment:
    """Return the experiment of a comparison: one scenario, or one for each named link."""
    if isinstance(link, str):
        values, link = {**values, "link": link}, None
    if link is None:
        return Experiment(title, (scenario.from_values(values, allow_unequal_buffers=allow_unequal_buffers),))
    if (
        not isinstance(link, Mapping)
        or not link
        or not all(isinstance(one, str) for pair in link.items() for one in pair)
    ):
        raise about("link", f"{link!r} is no mapping of names to texts, as {{'vdsl': 'rate 50mbit rtt 20ms'}}")
    texts = [f"{name}={spec}" for name, spec in link.items()]
    return replace(named_links(values, texts, allow_unequal_buffers=allow_unequal_buffers), title=title)


def _named(aqm: Any) -> Any:
    """Return the AQMs with the names of those that are classes: they are registered."""
    every = aqm if isinstance(aqm, list | tuple) else [aqm]
    if not any(isinstance(one, type) for one in every):
        return aqm
    from aqmlab.own.python_aqm import register_aqm

    return [register_aqm(one) if isinstance(one, type) else one for one in every]


def with_methods(plain: Plain) -> Result:
    """Return a result with these methods; what was summarised of it is kept."""
    result = Result(plain.manifest, plain.frames, plain.folder, since=plain.since)
    vars(result).update(vars(plain))
    return result


__all__ = ["Result", "compare", "load", "merge", "run", "sweep", "with_methods"]
