"""A result: the scenarios, the runs, and what they show."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab.results import differences, directions, fairness, ranking
from aqmlab.results import summary as _summary
from aqmlab.results.differences import Comparison
from aqmlab.results.frames import Frames, contestants, plain
from aqmlab.results.ranking import Ranking
from aqmlab.results.summary import Row
from aqmlab.vocabulary.units import parse_span


@dataclass(frozen=True)
class Result:
    """Runs of one or more scenarios, with everything needed to interpret them.

    Frames: `runs` (one row per run), `flows` (per flow and run), `series` (long form), `queues`, `histograms`.
    ``compared`` are the metrics in which AQMs are compared.
    """

    manifest: dict[str, Any]
    frames: Frames
    folder: Path | None = None
    compared: tuple[str, ...] = differences.COMPARED
    #: What changed since a baseline, if there is one, as plain data: ``baseline`` and ``changes``.
    since: Mapping[str, Any] | None = None

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

    @functools.cached_property
    def series(self) -> pl.DataFrame:
        """Time series in long form: `time_s`, `name`, `value`."""
        return plain(self.frames.series)

    @functools.cached_property
    def series_names(self) -> list[str]:
        """The names of the time series in the order of the alphabet."""
        return sorted(plain(self.frames.series.select(pl.col("name").unique())).to_series().to_list())

    def series_of(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the time series of some names: often a few of millions of samples, whose texts are still coded."""
        frame = self.frames.series
        present = pl.Series([name for name in names if name in self.series_names], dtype=frame.schema["name"])
        return plain(frame.filter(pl.col("name").is_in(present.implode())))

    @functools.cached_property
    def run_counts(self) -> dict[tuple[object, ...], int]:
        """How many runs of each scenario and AQM are finished; those that have none are missing."""
        return {key: len(rows) for key, rows in contestants(self.runs).items()}

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
    def shown_rows(self) -> list[Row]:
        """The lines of the summary that tables show: without Jain's index where flows do not want the same."""
        return [row for row in self.rows if self.shows(row.point, row.metric)]

    def shows(self, point: int, metric: str) -> bool:
        """Return whether tables and sentences show a metric of a scenario."""
        return fairness.is_shown(self.scenarios[point], metric)

    @property
    def _compared(self) -> tuple[str, ...]:
        """The metrics of the family, with those of further directions where there are any."""
        return tuple(dict.fromkeys((*self.compared, *directions.compared(self.scenarios))))

    @functools.cached_property
    def family(self) -> list[Comparison]:
        """Paired differences of all pairs of AQMs, of the metrics that are shown: one family of tests."""
        return differences.family(self.frames, range(len(self.points)), self.aqms, self._compared, self.shows)

    @functools.cached_property
    def comparisons(self) -> list[Comparison]:
        """The differences of the family that are against the first AQM."""
        against = {aqm: differences.reference(aqm, self.aqms) for aqm in self.aqms}
        return [one for one in self.family if against[one.aqm] == one.reference]

    @functools.cached_property
    def rankings(self) -> list[Ranking]:
        """The order of the AQMs by each metric of the family; nothing with one AQM or one seed."""
        found = ranking.rankings(self.family, self.rows, range(len(self.points)), self.aqms, self._compared)
        return [one for one in found if self.shows(one.point, one.metric)]

    @functools.cached_property
    def summary(self) -> pl.DataFrame:
        """Every metric of every AQM with its 95 % interval over the seeds."""
        return _summary.table(self.rows, self.points)

    def with_manifest(self, manifest: dict[str, Any]) -> Result:
        """Return the same runs under another manifest; what was summarised of them is kept."""
        other = replace(self, manifest=manifest)
        vars(other).update(
            {name: vars(self)[name] for name in ("rows", "family", "comparisons", "rankings") if name in vars(self)}
        )
        return other

    def __repr__(self) -> str:
        state = ", partial" if self.is_partial else ""
        return f"<aqmlab result '{self.title}': {', '.join(self.aqms)}; {len(self.runs)} runs{state}>"
