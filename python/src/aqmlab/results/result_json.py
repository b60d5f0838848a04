"""A result as plain data: what is printed as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from aqmlab.results import groups, precision, stations
from aqmlab.results.differences import Comparison
from aqmlab.results.frames import RUN
from aqmlab.results.ranking import Ranking
from aqmlab.results.result import Result
from aqmlab.results.summary import Row
from aqmlab.stats.statistics import CONFIDENCE, Difference

FORMAT_VERSION = 1


def document(result: Result) -> dict[str, Any]:
    """Return a result as plain data (JSON): format_version, scenario, runs, summary."""
    swept = len(result.points) > 1 or result.points[0]
    sweep = [
        {"point": one["point"], "scenario": groups.without(one["scenario"]), "files": one["files"]}
        for one in result.manifest["points"]
    ]
    scenario = {"sweep": sweep} if swept else groups.without(result.scenarios[0])
    return {
        "format_version": FORMAT_VERSION,
        "command": result.manifest["command"],
        "aqmlab": result.manifest["aqmlab"],
        "title": result.title,
        "scenario": scenario,
        "partial": result.is_partial,
        "warnings": result.warnings,
        **({"not_modelled": list(stations.NOT_MODELLED)} if stations.names(result.rows) else {}),
        "runs": _runs(result),
        "summary": [_tagged(result, row.point, _estimate(row)) for row in result.rows],
        "family": family(result),
        "differences": [_tagged(result, one.point, _difference(one)) for one in result.comparisons],
        **_stop(result),
        "rankings": [_tagged(result, one.point, _ranking(one)) for one in result.rankings],
        **({key: result.since[key] for key in ("baseline", "changes")} if result.since else {}),
    }


def family(result: Result) -> dict[str, Any]:
    """Return by which tests the AQMs of a result are compared: their number and how it is accounted for."""
    tests = sum(one.difference.p_value is not None for one in result.family)
    return {"tests": tests, "correction": "Holm", "intervals": "Bonferroni", "confidence": CONFIDENCE}


def differences(result: Result) -> pl.DataFrame:
    """Return the paired differences against the first AQM in numbers and in words, with simultaneous intervals."""
    return pl.DataFrame(
        [{**result.points[one.point], **_row(one)} for one in result.comparisons], infer_schema_length=None
    )


def _runs(result: Result) -> list[dict[str, Any]]:
    names = result.frames.metrics
    flows = result.flows.partition_by(*RUN, as_dict=True, include_key=False, maintain_order=True)
    return [_tagged(result, run["point"], _run(run, names, flows)) for run in result.runs.iter_rows(named=True)]


def _tagged(result: Result, point: int, entry: dict[str, Any]) -> dict[str, Any]:
    return {"point": result.points[point], **entry} if result.points[point] else entry


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
        _tagged(result, one.point, {"aqm": one.aqm, "mean": one.estimate.value, "half_width": one.estimate.half_width})
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
            "equivalent": difference.is_equivalent,
        }
    )


__all__ = ["FORMAT_VERSION", "differences", "document", "family"]
