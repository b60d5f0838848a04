"""A result: the scenarios, the runs, and what they show."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from aqmlab.results import precision, ranking
from aqmlab.results import summary as _summary
from aqmlab.results.frames import FRAMES, RUN, Frames
from aqmlab.results.ranking import Ranking
from aqmlab.results.summary import Comparison, Row
from aqmlab.stats.statistics import Difference
from aqmlab.vocabulary.errors import unknown
from aqmlab.vocabulary.json_text import json_text
from aqmlab.vocabulary.units import parse_span

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from aqmlab.plots import Plotter

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Result:
    """Runs of one or more scenarios, with everything needed to interpret them.

    Frames: `runs` (one row per run), `flows` (per flow and run), `series` (long form), `queues`, `histograms`.
    """

    manifest: dict[str, Any]
    frames: Frames
    folder: Path | None = None

    @property
    def title(self) -> str:
        """The title of the experiment."""
        return str(self.manifest["title"])

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """The resolved scenarios, with units; one unless something was swept."""
        return [point["scenario"] for point in self.manifest["points"]]

    @property
    def points(self) -> list[dict[str, str]]:
        """The swept values of each scenario; one empty entry if nothing is swept."""
        return [point["point"] for point in self.manifest["points"]]

    def warmup_s(self, point: int = 0) -> float:
        """The warm-up of a scenario, in seconds; with `mser5` the longest of its runs'."""
        return self.warmups_s(point)[1]

    def warmups_s(self, point: int = 0) -> tuple[float, float]:
        """The shortest and the longest warm-up of the runs of a scenario, in seconds."""
        if "warmup_s" in self.runs.columns:
            cuts = self.runs.filter(pl.col("point") == point)["warmup_s"].drop_nulls().to_list()
            if cuts:
                return min(cuts), max(cuts)
        fixed = parse_span(self.scenarios[point]["warmup"].rpartition(" ")[2]) / 1e9
        return fixed, fixed

    @property
    def aqms(self) -> list[str]:
        """The AQMs as the user named them, in order."""
        return [str(aqm["label"]) for aqm in self.scenarios[0]["aqm"]]

    @property
    def seeds(self) -> list[int]:
        """The seeds, the same for every AQM."""
        return list(self.scenarios[0]["seeds"])

    @property
    def is_partial(self) -> bool:
        """Whether runs are missing, because of an interrupt or a failed check."""
        return bool(self.manifest["partial"])

    @property
    def stop(self) -> dict[str, Any] | None:
        """The rule by which seeds were added (``until_ci``), if there was one: metric, share, pilot, seeds."""
        return self.manifest.get("stop")

    @property
    def warnings(self) -> list[str]:
        """Warnings for the user."""
        return list(self.manifest["warnings"])

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run: its metrics, and its processor time."""
        return self.frames.runs

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow and run."""
        return self.frames.flows

    @property
    def series(self) -> pl.DataFrame:
        """Time series in long form: `time_s`, `name`, `value`."""
        return self.frames.series

    @property
    def queues(self) -> pl.DataFrame:
        """Counters of every queue, one row per queue and run."""
        return self.frames.queues

    @property
    def histograms(self) -> pl.DataFrame:
        """Delay histograms: middles of buckets in nanoseconds, and counts."""
        return self.frames.histograms

    @functools.cached_property
    def rows(self) -> list[Row]:
        """The summary, line by line."""
        return _summary.summarise(self.frames, range(len(self.points)), self.aqms)

    @functools.cached_property
    def comparisons(self) -> list[Comparison]:
        """Paired differences against the first AQM."""
        return _summary.compare(self.frames, range(len(self.points)), self.aqms)

    @functools.cached_property
    def rankings(self) -> list[Ranking]:
        """The order of the AQMs by each metric, all pairs compared; nothing with one AQM or one seed."""
        return ranking.rankings(self.frames, self.rows, range(len(self.points)), self.aqms)

    @functools.cached_property
    def summary(self) -> pl.DataFrame:
        """Every metric of every AQM with its 95 % interval over the seeds."""
        return _summary.table(self.rows, self.points)

    @functools.cached_property
    def differences(self) -> pl.DataFrame:
        """Paired differences against the first AQM, with Holm's correction, in numbers and in words."""
        return pl.DataFrame(
            [{**self.points[one.point], **_row(one)} for one in self.comparisons],
            infer_schema_length=None,
        )

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
        frame: pl.DataFrame = getattr(self.frames, name)
        return frame

    def with_manifest(self, manifest: dict[str, Any]) -> Result:
        """Return the same runs under another manifest; what was summarised of them is kept."""
        other = replace(self, manifest=manifest)
        vars(other).update(
            {name: vars(self)[name] for name in ("rows", "comparisons", "rankings") if name in vars(self)}
        )
        return other

    def document(self) -> dict[str, Any]:
        """Return the result as plain data (JSON): format_version, scenario, runs, summary."""
        swept = len(self.points) > 1 or self.points[0]
        sweep = [{key: point[key] for key in ("point", "scenario", "files")} for point in self.manifest["points"]]
        scenario = {"sweep": sweep} if swept else self.scenarios[0]
        return {
            "format_version": FORMAT_VERSION,
            "command": self.manifest["command"],
            "aqmlab": self.manifest["aqmlab"],
            "title": self.title,
            "scenario": scenario,
            "partial": self.is_partial,
            "warnings": self.warnings,
            "runs": self._runs(),
            "summary": [self._tagged(row.point, _estimate(row)) for row in self.rows],
            "differences": [self._tagged(one.point, _difference(one)) for one in self.comparisons],
            **_stop(self),
            "rankings": [self._tagged(one.point, _ranking(one)) for one in self.rankings],
        }

    def to_json(self) -> str:
        """Return the document as JSON."""
        return json_text(self.document())

    def save(self, folder: str | Path) -> Path:
        """Write the result with its figures and its report into a new folder.

        Raises:
            InputError: if the folder exists and is not empty, or cannot be written.

        """
        from aqmlab.report.publishing import save

        return save(self, Path(folder))

    def report(self) -> str:
        """Return the report: one self-contained HTML page."""
        from aqmlab.report import render

        return render(self)

    def _runs(self) -> list[dict[str, Any]]:
        names = self.frames.metrics
        flows = self.flows.partition_by(*RUN, as_dict=True, include_key=False, maintain_order=True)
        return [self._tagged(run["point"], _run(run, names, flows)) for run in self.runs.iter_rows(named=True)]

    def _tagged(self, point: int, entry: dict[str, Any]) -> dict[str, Any]:
        return {"point": self.points[point], **entry} if self.points[point] else entry

    def __repr__(self) -> str:
        state = ", partial" if self.is_partial else ""
        return f"<aqmlab result '{self.title}': {', '.join(self.aqms)}; {len(self.runs)} runs{state}>"

    def _repr_html_(self) -> str:
        from aqmlab.report import notebook

        return notebook(self)


def _run(run: Mapping[str, Any], names: Sequence[str], flows: Mapping[tuple[Any, ...], pl.DataFrame]) -> dict[str, Any]:
    own = flows.get(tuple(run[name] for name in RUN))
    return {
        "aqm": run["aqm"],
        "seed": run["seed"],
        "metrics": _present({name: run[name] for name in names}),
        "flows": [] if own is None else [_present(flow) for flow in own.iter_rows(named=True)],
        **{name: run[name] for name in ("engine", "cpu_s", "events", "bottleneck_packets")},
    }


def _present(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entries.items() if value is not None}


def _estimate(row: Row) -> dict[str, Any]:
    ends = {"ci95_low": row.estimate.low, "ci95_high": row.estimate.high}
    entry = {"aqm": row.aqm, "metric": row.metric, "mean": row.estimate.value, **ends, "n": row.estimate.n}
    resolution = {"resolution": row.estimate.resolution} if row.estimate.resolution else {}
    return {**_present(entry), "runs": row.runs, **resolution, "method": row.method}


def _difference(one: Comparison) -> dict[str, Any]:
    outlier = one.outlier and {"outlier_seed": one.outlier.seed, "without_it": _paired(one.outlier.without)}
    between = {"aqm": one.aqm, "reference": one.reference, "metric": one.metric}
    return {**between, **_paired(one.difference), **(outlier or {}), "words": one.words}


def _stop(result: Result) -> dict[str, Any]:
    if result.stop is None:
        return {}
    reached = [
        result._tagged(one.point, {"aqm": one.aqm, "mean": one.estimate.value, "half_width": one.estimate.half_width})
        for one in precision.reached(result)
    ]
    return {"stop": {**result.stop, "reached": reached, "words": precision.words(result)}}


def _row(one: Comparison) -> dict[str, Any]:
    return {name: value for name, value in _difference(one).items() if not isinstance(value, dict)}


def _ranking(one: Ranking) -> dict[str, Any]:
    steps = [{"ahead": step.ahead, "behind": step.behind, **_paired(step.difference)} for step in one.steps]
    groups = [list(group) for group in one.groups]
    ahead = {aqm: behind for aqm in one.aqms if (behind := one.behind(aqm))}
    return {
        "metric": one.metric,
        "aqms": list(one.aqms),
        "groups": groups,
        "ahead": ahead,
        "steps": steps,
        "words": one.words,
    }


def _paired(difference: Difference) -> dict[str, Any]:
    estimate = difference.estimate
    return _present(
        {
            "difference": estimate.value,
            "ci95_low": estimate.low,
            "ci95_high": estimate.high,
            "n": estimate.n,
            "p": difference.p_value,
            "p_holm": difference.p_holm,
            "distinguishable": difference.is_distinguishable,
        }
    )
