"""The outcome of a tuning, in words and as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from aqmlab import __version__
from aqmlab.results import Result
from aqmlab.tuning.goal import Goal
from aqmlab.tuning.sensitivity import Index
from aqmlab.tuning.trials import Trial
from aqmlab.tuning.verdict import BoundCheck, Improvement, Judged
from aqmlab.vocabulary.json_text import json_text

FILE = "tuning.json"
FORMAT_VERSION = 1
# The result folder of the default against the tuned settings, within that of the tuning.
UNSEEN = "unseen"


@dataclass(frozen=True)
class Tuning:
    """What a tuning found.

    Attributes:
        question: what was asked, as plain data.
        default: the AQM with its defaults, on the training scenarios.
        tried: every setting that was tried, on the training scenarios.
        front: those of them that no other is better than.
        indices: how much each parameter matters.
        unseen: the default and the settings that were judged, on the scenarios and seeds that chose nothing.
        judged: what they are worth there, the default first.
        verdicts: the tuned ones against the default there.
        bounds_met: how often they meet the bounds there.
        split: how those scenarios were chosen, in words.

    """

    question: Mapping[str, Any]
    default: Trial
    tried: Sequence[Trial]
    front: Sequence[Trial]
    indices: Sequence[Index]
    unseen: Result
    judged: Sequence[Judged]
    verdicts: Sequence[Improvement]
    bounds_met: Sequence[BoundCheck]
    split: str

    @property
    def goal(self) -> Goal:
        """What was searched for."""
        return Goal.parse(self.question["minimise"], self.question["keep"])

    @property
    def words(self) -> list[str]:
        """The outcome in words."""
        bounds = "keeps all bounds" if self.front[0].missed == 0.0 else "keeps all bounds: the front misses them least"
        which = f"; {'none' if self.front[0].missed else 'each of the front'} {bounds}" if self.goal.bounds else ""
        lines = [f"{len(self.tried)} settings tried, {len(self.front)} on the front{which}."]
        if not self.verdicts:
            lines.append(f"{self.default.aqm}: the search found nothing but the default.")
        elif len(self.goal.minimise) > 1:
            lines.append(self._lasting())
        for aqm in [one.aqm for one in self.judged[1:]]:
            verdicts = [one.words for one in self.verdicts if one.aqm == aqm]
            met = [one.words for one in self.bounds_met if one.aqm == aqm]
            lines.append(f"{aqm}: {'; '.join([*verdicts, *met])}.")
        seeds = self.unseen.seeds
        lines.append(f"{self.split}; seeds {seeds[0]} to {seeds[-1]} judge, others chose.")
        return lines

    def _lasting(self) -> str:
        default, *tuned = self.judged
        of_it = "of" if default.is_front else "not of"
        return (
            f"Where nothing was chosen, {sum(one.is_front for one in tuned)} of {len(tuned)} judged settings are a "
            f"front still: none of the others is as small in {' and '.join(self.goal.minimise)}; the default is "
            f"{of_it} it."
        )

    def document(self) -> dict[str, Any]:
        """Return it as plain data (JSON)."""
        return {
            "format_version": FORMAT_VERSION,
            "command": "tune",
            "aqmlab": __version__,
            "question": dict(self.question),
            "default": asdict(self.default),
            "front": [asdict(one) for one in self.front],
            "judged": [asdict(one) for one in self.judged],
            "verdicts": [_verdict(one) for one in self.verdicts],
            "bounds_met": [{**asdict(one), "words": one.words} for one in self.bounds_met],
            "sensitivity": [asdict(one) for one in self.indices],
            "words": self.words,
            "tried": [asdict(one) for one in self.tried],
        }

    def to_json(self) -> str:
        """Return the document as JSON."""
        return json_text(self.document())


def _verdict(one: Improvement) -> dict[str, Any]:
    estimate = one.difference.estimate
    return {
        "aqm": one.aqm,
        "metric": one.metric,
        "default": one.default,
        "tuned": one.tuned,
        "difference": estimate.value,
        "ci95_low": estimate.low,
        "ci95_high": estimate.high,
        "n": estimate.n,
        "unit": one.unit,
        "p_holm": one.difference.p_holm,
        "beats": one.beats,
        "words": one.words,
    }
