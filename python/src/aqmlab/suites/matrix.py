"""A suite in one table: whether each discipline is better or worse than the first in each scenario, and how much."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, TypeAlias

from aqmlab.results import Result
from aqmlab.results.differences import Comparison
from aqmlab.results.headline import ASKED, noun
from aqmlab.results.marks import MEANINGS, SAME, UNDECIDED, legend
from aqmlab.suites.cards import KNOWN
from aqmlab.suites.plan import OVER, Entry
from aqmlab.suites.run import Outcome, Part, as_run
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.names import listed

Side: TypeAlias = Literal["first", "better", "worse", "both", "equal", "undecided", "absent"]
OTHER = "*"
SIGNS: Mapping[Side, str] = {
    "first": "first",
    "better": "▲",
    "worse": "▼",
    "both": "◆",
    "equal": SAME,
    "undecided": UNDECIDED,
    "absent": "-",
}
# What they mean, for the terminal and the page.
LEGEND = (
    "▲ better, ▼ worse, ◆ better in one measure and worse in another, "
    f"{legend(SAME + UNDECIDED)} (all tests of a scenario Holm-corrected)"
)
# A queue of less is none, and a link that is used less is not the bottleneck.
LEAST_QUEUE_MS = 1.0
LEAST_USED = 0.9
MOST_NAMED = 4


@dataclass(frozen=True)
class Verdict:
    """A discipline against the first in a scenario; the change is a median over settings.

    It is of the row's measure, or of another one that decides (``measure``) where that does not differ.
    """

    side: Side
    change: float | None = None
    measure: str = ""

    @property
    def text(self) -> str:
        """The verdict in a cell: a sign and a number, with a mark where it is of another measure than the row's."""
        number = ""
        if self.change is not None:
            number = f" {100 * self.change:+.0f} %" if abs(self.change) < 10 else f" {1 + self.change:.0f} times"
        return f"{SIGNS[self.side]}{number}{OTHER if self.measure else ''}"


@dataclass(frozen=True)
class MatrixRow:
    """A scenario: the measure of its numbers, a verdict for each contestant, and why nothing differs, if so.

    Nothing is shown to differ either where it ``is_undecided``.
    """

    entry: Entry
    measure: str
    verdicts: tuple[Verdict, ...]
    why: str
    is_undecided: bool = False

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides of the contestants."""
        return tuple(one.side for one in self.verdicts)

    @property
    def note(self) -> str:
        """Why nothing differs, or the measure of the numbers that are not of the row's."""
        others = dict.fromkeys(one.measure for one in self.verdicts if one.measure)
        return self.why or (f"{OTHER} {' or '.join(others)}" if others else "")


def reference(outcome: Outcome) -> str:
    """Return what the others are held against: the first, or the control that most hosts send with."""
    return KNOWN if KNOWN in outcome.controls else outcome.contestants[0]


def matrix(outcome: Outcome) -> list[MatrixRow]:
    """Return a row for each scenario."""
    return [_row(outcome, part) for part in outcome.parts]


def sentences(outcome: Outcome) -> list[str]:
    """Return in sentences who is better how often, who is worse where, where nothing differs, and what is undecided."""
    rows, first = matrix(outcome), reference(outcome)
    others = [(place, one) for place, one in enumerate(outcome.contestants) if one != first]
    if not others:
        return []
    better = [
        f"{one} in {sum(row.sides[place] == 'better' for row in rows)}"
        for place, one in sorted(others, key=lambda pair: -sum(row.sides[pair[0]] == "better" for row in rows))
    ]
    found = [f"Better than {first}: none in any scenario."]
    if any("better" in row.sides for row in rows):
        found = [f"Better than {first} in what matters, of {len(rows)} scenarios: {listed(better[:MOST_NAMED])}."]
    worse = [
        f"{one} in {listed(_sections(row for row in rows if row.sides[place] == 'worse'))}"
        for place, one in others
        if any(row.sides[place] == "worse" for row in rows)
    ]
    found.append(f"Worse: {'; '.join(worse)}." if worse else "Worse: none in any scenario.")
    for what, own in (
        ("Nothing differs in", [row for row in rows if row.why and not row.is_undecided]),
        ("The seeds do not decide", [row for row in rows if row.is_undecided]),
    ):
        names = [f"{row.entry.section} {row.entry.name}" for row in own]
        if names:
            found.append(f"{what} {listed(names[:MOST_NAMED])}{_more(names)}.")
    return found


def notes(rows: Iterable[MatrixRow]) -> list[str]:
    """Return each note once, after the scenarios that it is about."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            found.setdefault(row.note, []).append(f"{row.entry.section} {row.entry.name}")
    return [f"{', '.join(names)}: {note}" for note, names in found.items()]


def _sections(rows: Iterable[MatrixRow]) -> list[str]:
    named = [f"{row.entry.section} {row.entry.name}" for row in rows]
    return [*named[:MOST_NAMED], *([f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else [])]


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""


def _row(outcome: Outcome, part: Part) -> MatrixRow:
    known = part.shown.aqms
    labels = [as_run(part.entry, one) for one in outcome.contestants]
    wanted = as_run(part.entry, reference(outcome))
    first = wanted if wanted in known else known[0]
    measured = [one for one in part.entry.matters if OVER not in one and metrics.find(one).better] or list(ASKED)
    verdicts = tuple(_verdict(part.shown, label, first, measured) for label in labels)
    sides = {one.side for one in verdicts}
    name = noun(metrics.find(measured[0]))
    if sides & {"better", "worse", "both"}:
        return MatrixRow(part.entry, name, verdicts, "")
    if why := _why(part.shown, measured):
        return MatrixRow(part.entry, name, verdicts, why)
    if "undecided" in sides:
        return MatrixRow(part.entry, name, verdicts, f"{len(part.shown.seeds)} seeds do not decide", is_undecided=True)
    return MatrixRow(part.entry, name, verdicts, MEANINGS[SAME])


def _verdict(result: Result, aqm: str, first: str, measured: Sequence[str]) -> Verdict:
    if aqm not in result.aqms:
        return Verdict("absent")
    if aqm == first:
        return Verdict("first")
    own = [_turned(one, aqm) for one in result.family if {one.aqm, one.reference} == {aqm, first}]
    sides = {
        "better" if (change > 0.0) == (metrics.find(one.metric).better == "higher") else "worse"
        for one, change in own
        if one.metric in measured and one.difference.is_distinguishable
    }
    side: Side = "both" if len(sides) > 1 else "better" if "better" in sides else "worse"
    clear = [one.metric for one, _ in own if one.metric in measured and one.difference.is_distinguishable]
    if not clear:
        asked = [one.difference for one, _ in own if one.metric in measured]
        return Verdict("equal" if asked and all(one.is_equivalent for one in asked) else "undecided")
    decides = min(clear, key=measured.index)
    changes = [change for one, change in own if one.metric == decides and math.isfinite(change)]
    name = "" if decides == measured[0] else noun(metrics.find(decides))
    return Verdict(side, median(changes) if changes else None, name)


def _turned(one: Comparison, aqm: str) -> tuple[Comparison, float]:
    """Return a comparison with the change of an AQM against the other as a share of the other's value."""
    base, difference = one.reference_value, one.difference.estimate.value
    if one.reference == aqm:
        base, difference = base + difference, -difference
    return one, difference / base if base > 0.0 else math.copysign(math.inf, difference)


def _why(result: Result, measured: Sequence[str]) -> str:
    """Return why nothing differs in a scenario: nothing queues, or nothing is signalled; empty if neither."""
    means = {name: _largest(result, name) for name in ("qdelay_mean_ms", "utilization", "loss_ratio", "marks")}
    delay, used = means["qdelay_mean_ms"], means["utilization"]
    if delay is not None and delay < LEAST_QUEUE_MS:
        shown = f", {used:.0%} of the link is used" if used is not None and used < LEAST_USED else ""
        return f"nothing queues (at most {delay:.2g} ms on average{shown})"
    if not means["loss_ratio"] and not means["marks"]:
        return "no discipline drops or marks anything"
    tested = [one.difference for one in result.family if one.metric in measured]
    if tested and all(one.is_zero for one in tested):
        return "every run is the same under all of them"
    return ""


def _largest(result: Result, name: str) -> float | None:
    values = [row.estimate.value for row in result.rows if row.metric == name]
    return max(values) if values else None


__all__ = ["LEGEND", "OTHER", "SIGNS", "MatrixRow", "Verdict", "matrix", "notes", "reference", "sentences"]
