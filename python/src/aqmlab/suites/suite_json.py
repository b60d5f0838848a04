"""The results of a suite as plain data (JSON): what its page shows; the runs are in the folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from aqmlab import __version__
from aqmlab.results.result_json import document as of_result
from aqmlab.stats.statistics import Estimate
from aqmlab.suites.cards import Card, Finding, cards
from aqmlab.suites.controls import SWEPT
from aqmlab.suites.engines import headline
from aqmlab.suites.matrix import MatrixRow, matrix, sentences
from aqmlab.suites.plan import OVER
from aqmlab.suites.run import Outcome, Part
from aqmlab.suites.scenario_table import by_phase, of_phases, table

FORMAT_VERSION = 1
OF_RESULT = ("scenario", "partial", "warnings", "summary", "family", "differences", "rankings")


def document(outcome: Outcome) -> dict[str, Any]:
    """Return a suite's results: of each scenario its summary, ratios and phases."""
    return {
        "format_version": FORMAT_VERSION,
        "command": "suite",
        "aqmlab": __version__,
        "suite": outcome.suite.name,
        "quick": outcome.quick,
        "warnings": list(outcome.skipped),
        **({"engines": {"names": outcome.engines, "headline": headline(outcome)}} if outcome.engines else {}),
        "words": sentences(outcome),
        "matrix": [_row(row, outcome.contestants) for row in matrix(outcome)],
        "scenarios": [_scenario(part) for part in outcome.parts],
        **({"cards": [_card(card) for card in cards(outcome)]} if outcome.controls else {}),
    }


def _scenario(part: Part) -> dict[str, Any]:
    whole = of_result(part.result)
    head = {"section": part.entry.section, "title": part.entry.title, "name": part.entry.name}
    more = {"ratios": list(_ratios(part)), "phases": list(_phases(part))}
    return head | {key: whole[key] for key in OF_RESULT} | {key: rows for key, rows in more.items() if rows}


def _row(row: MatrixRow, contestants: Sequence[str]) -> dict[str, Any]:
    verdicts = {
        one: {"side": verdict.side, **({} if verdict.change is None else {"change": verdict.change})}
        | ({"measure": verdict.measure} if verdict.measure else {})
        for one, verdict in zip(contestants, row.verdicts, strict=True)
    }
    place = {"section": row.entry.section, "name": row.entry.name, "measure": row.measure, "verdicts": verdicts}
    return {**place, **({"why": row.why} if row.why else {})}


def _card(card: Card) -> dict[str, Any]:
    sides = {"better": card.better, "worse": card.worse, "other": card.other}
    return {
        "control": card.control,
        "known": card.known,
        "alike": card.alike,
        **{side: [_finding(one) for one in found] for side, found in sides.items()},
    }


def _finding(one: Finding) -> dict[str, Any]:
    place = {"section": one.part.entry.section, "name": one.part.entry.name, "setting": one.setting}
    return {**place, "measure": one.measure, "value": one.value, "known": one.known, "difference": one.difference}


def _ratios(part: Part) -> Iterator[dict[str, Any]]:
    """Yield the columns that are ratios, which no metric has."""
    lines = iter(table(part).lines)
    for point in part.shown.points:
        for _ in part.shown.aqms:
            line = next(lines)
            for column, cell in zip(part.entry.columns, line.cells, strict=True):
                if OVER in column and cell is not None:
                    yield {**_place(part, point, line.aqm), "ratio": column, **_estimate(cell)}


def _phases(part: Part) -> Iterator[dict[str, Any]]:
    for phase, number, aqm, cells in by_phase(part):
        since_s, until_s = part.entry.phases[phase]
        for name, cell in zip(of_phases(part), cells, strict=True):
            if cell is not None:
                times = {"phase": phase, "since_s": since_s, "until_s": until_s}
                yield {**times, **_place(part, part.shown.points[number], aqm), "series": name, **_estimate(cell)}


def _place(part: Part, point: dict[str, str], compared: str) -> dict[str, Any]:
    """Return point and discipline as those of the runs, where a control is one of the swept values."""
    if part.shown is not part.result:
        rest = {key: value for key, value in point.items() if key != "aqm"}
        return {"point": {SWEPT: compared, **rest}, "aqm": point.get("aqm", part.result.aqms[0])}
    return {**({"point": point} if point else {}), "aqm": compared}


def _estimate(one: Estimate) -> dict[str, Any]:
    ends = {"ci95_low": one.low, "ci95_high": one.high}
    return {"mean": one.value, **{name: end for name, end in ends.items() if end is not None}, "n": one.n}


__all__ = ["document"]
