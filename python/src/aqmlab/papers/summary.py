"""A paper in one table: each claim, its verdict here and as stored, how robust it is, and what changes it.

The claims of the paper's title and abstract, and those of which its sentences here speak, come first. The page and the
terminal have all, the README these, and `generated/statements.md` all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from aqmlab.papers import part_words, sensitivity
from aqmlab.papers.claims import Claim
from aqmlab.papers.findings import Finding, Part, Word
from aqmlab.papers.paper import Paper
from aqmlab.papers.reproduction import Reproduction
from aqmlab.papers.verdicts import CORRECTION, RECALLED, Verdict

# Findings by preset and claim; the robustness of claims as plain data.
Found: TypeAlias = Mapping[str, Mapping[str, Finding]]
Robustness: TypeAlias = Mapping[str, Mapping[str, Any]]

MARKS = (
    "✓ holds, ✗ does not, ? open: the difference as a share of the right side, with its 95 % interval over the seeds"
)
KEY = (
    f"{MARKS}. Of several parts the one that decides is shown, which fails here or in another preset; in parentheses: "
    "how many hold. A verdict is also corrected for the number of claims (Holm), a mark is not. Holds in: sampled "
    "configurations of what the paper leaves open. Flipped by: presets, and single settings, with which all parts hold "
    "where here not all do, or the reverse; and factors that matter beyond chance over the sample, the strongest first."
)


@dataclass(frozen=True)
class Cells:
    """A finding in words: its verdict, how many parts hold, and the part that decides, beside the paper's numbers.

    ``open`` says why an inconclusive claim is so, where its parts do not.
    """

    word: Word
    parts: str
    open: str
    paper: str
    ours: str

    @property
    def judged(self) -> str:
        """The verdict, how many parts hold, and what leaves it open."""
        parts = f" ({self.parts} parts)" if self.parts else ""
        return f"{self.word}{parts}{f', {self.open}' if self.open else ''}"


@dataclass(frozen=True)
class Others:
    """Presets with another verdict than that of the table, and the part that it excludes in all of them, if any.

    ``holds`` says whether all parts hold there, ``flips`` whether that is decided otherwise than in the table; its
    presets were not run if it ``is_stored``.
    """

    presets: tuple[str, ...]
    word: Word
    part: str
    holds: bool
    flips: bool
    is_stored: bool = False

    @property
    def text(self) -> str:
        """All of it in words."""
        part = f" ({self.part})" if self.part else ""
        return f"{', '.join(self.presets)}: {self.word}{part}{' (stored)' * self.is_stored}"


@dataclass(frozen=True)
class Line:
    """A claim in the table.

    Attributes:
        here: what was found in the preset of the table.
        stored: what the full form found in it, beside a run; absent where the table is that of what is stored.
        others: presets with another verdict.
        holds: whether all parts hold in the preset of the table.
        robustness: its share of the sampled configurations, and what it is sensitive to, as plain data.
        is_sampled: whether this run sampled the configurations; else they are the stored ones.
        is_main: whether it is the paper's main claim.
        no_size: why the paper's size is not comparable, where the verdict says so.

    """

    id: str
    says: str
    here: Cells
    stored: Cells | None
    others: tuple[Others, ...]
    preset: str
    holds: bool
    robustness: Mapping[str, Any]
    is_sampled: bool = False
    is_headline: bool = True
    is_main: bool = False
    no_size: str = ""

    @property
    def share(self) -> str:
        """In how many configurations it holds."""
        return sensitivity.share(self.robustness)

    @property
    def settings(self) -> str:
        """The settings that flip it."""
        return sensitivity.settings(self.robustness, self.preset)

    @property
    def factors(self) -> str:
        """The factors that matter over the sample."""
        return sensitivity.factors(self.robustness)

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts that name measures."""
        return (self.here.ours, *((self.stored.ours,) if self.stored else ()), *(one.part for one in self.others))

    @property
    def flips(self) -> tuple[str, ...]:
        """All that flips it: presets, settings, factors over the sample."""
        presets = [each.text for each in self.others if each.flips]
        factors = f"sample: {self.factors}" if self.factors else ""
        return tuple(one for one in (*presets, self.settings, factors) if one)

    @property
    def alike(self) -> tuple[str, ...]:
        """The presets with another verdict that does not flip it."""
        return tuple(each.text for each in self.others if not each.flips)

    @property
    def is_as_stored(self) -> bool:
        """Whether a run has the stored verdict."""
        return self.stored is not None and self.stored.word == self.here.word


def heads(paper: Paper, presets: Collection[str]) -> tuple[str, ...]:
    """Return the heads of the table's columns; ``presets`` are those that were run."""
    name = first(paper, presets)
    levels = paper.presets[name].levels if name else {}
    few = f": {', '.join(f'{factor} {level}' for factor, level in levels.items())}" if len(levels) in (1, 2) else ""
    return ("The paper's claim", "Paper", f"Ours ({name}{few})", "Verdict", "Holds in", "Flipped by")


def of_reproduction(reproduction: Reproduction) -> list[Line]:
    """Return the table of what was run, with what is stored of the full form beside it."""
    paper = reproduction.paper
    found = {
        preset: {one.claim.id: Finding.of(one) for one in judgements}
        for preset, judgements in reproduction.judgements.items()
    }
    stored = paper.generated.verdicts
    # A quick form samples few configurations, and no neighbours of presets: what the full form sampled says more.
    is_sampled = reproduction.space is not None and not reproduction.quick
    kept = paper.generated.robustness.get("claims", {})
    robustness = {**kept, **reproduction.robustness} if is_sampled else {**reproduction.robustness, **kept}
    own = reproduction.robustness if is_sampled or not kept else {}
    table = lines(paper, found, robustness, stored)
    return [replace(one, is_sampled=one.id in own) for one in table]


def of_folder(paper: Paper) -> list[Line]:
    """Return the table of what is stored with a paper."""
    return lines(paper, paper.generated.verdicts, paper.generated.robustness.get("claims", {}))


def lines(paper: Paper, found: Found, robustness: Robustness, stored: Found | None = None) -> list[Line]:
    """Return a line for each claim that was judged in one preset: the paper's main one, or the first that was run.

    The paper's headline claims come first. With ``stored`` what was found is set beside it.
    """
    main = first(paper, [preset for preset in paper.presets if found.get(preset)])
    judged = [claim for claim in paper.claims if claim.id in found.get(main, {})]
    table = [_line(claim, paper, main, found, robustness, stored) for claim in judged]
    # Claims that were run alone are all that was asked for.
    leading = paper.summary.headline if paper.needed is None else ()
    leading = leading or tuple(one.id for one in table)
    table = [replace(one, is_headline=one.id in leading) for one in table]
    return sorted(table, key=lambda one: leading.index(one.id) if one.is_headline else len(leading))


def first(paper: Paper, presets: Collection[str]) -> str:
    """Return the paper's main preset, or the first that was run."""
    return paper.main if paper.main in presets or not presets else next(iter(presets))


def _line(claim: Claim, paper: Paper, main: str, found: Found, robustness: Robustness, stored: Found | None) -> Line:
    run = {preset: found[preset][claim.id] for preset in paper.presets if claim.id in found.get(preset, {})}
    kept = {preset: one[claim.id] for preset, one in (stored or {}).items() if claim.id in one}
    contested = Counter(
        (part.expected, part.at) for one in (*run.values(), *kept.values()) for part in one.parts if part.is_refuted
    )
    own = run[main]
    shown = {own.word, *([kept[main].word] if main in kept else [])}
    decides = _deciding(own, contested)
    rest = {preset: one for preset, one in kept.items() if preset not in run}
    others = [*_others(run, own), *(replace(one, is_stored=True) for one in _others(rest, own))]
    return Line(
        claim.id,
        claim.says,
        _cells(own, claim, decides),
        _cells(kept[main], claim, _same(kept[main], decides) or _deciding(kept[main], contested))
        if main in kept
        else None,
        tuple(others),
        main,
        own.holds,
        robustness.get(claim.id, {}),
        is_main=claim.id == paper.summary.main,
        no_size=_no_size(claim) if Word.NO_SIZE in shown else "",
    )


def _same(one: Finding, wanted: Part | None) -> Part | None:
    """Return the part of a finding that compares the same as another."""
    same = (part for part in one.parts if wanted and (part.expected, part.at) == (wanted.expected, wanted.at))
    return next(same, None)


def _deciding(one: Finding, contested: Mapping[tuple[str, str], int]) -> Part | None:
    """Return the part that decides: one that fails, then one that is open, then one that other presets contest most.

    Among those that are alike: what misses most, and of what holds what holds least clearly.
    """

    def rank(part: Part) -> tuple[bool, bool, bool, int, bool, float]:
        size = 0.0 if part.value is None or part.value <= -1.0 else abs(math.log1p(part.value))
        is_close = part.holds and " = " not in part.expected
        return (
            part.holds,
            not part.is_reversed,
            not part.is_refuted,
            -contested.get((part.expected, part.at), 0),
            part.verdict == Verdict.REPRODUCED,
            size if is_close else -size,
        )

    return min(one.parts, key=rank, default=None)


def _others(run: Mapping[str, Finding], own: Finding) -> list[Others]:
    """Return the presets with another verdict, by it."""
    groups: dict[Word, list[str]] = {}
    for preset, one in run.items():
        if one.word != own.word:
            groups.setdefault(one.word, []).append(preset)
    found = []
    for word, presets in groups.items():
        holds = run[presets[0]].holds
        flips = holds != own.holds and word not in (Word.INCONCLUSIVE, Word.NOT_TESTABLE)
        part = "" if word == Word.INCONCLUSIVE else _refuted([run[preset] for preset in presets])
        found.append(Others(tuple(presets), word, part, holds, flips))
    return found


def _refuted(findings: Sequence[Finding]) -> str:
    """Return the part that is refuted in all of some findings and misses most, and by how much; maybe none is."""
    values = {}
    for part in findings[0].parts:
        same = [_same(one, part) for one in findings]
        found = [one.value for one in same if one is not None and one.is_refuted and one.value is not None]
        if len(found) == len(findings):
            values[part] = found
    if not values:
        return ""
    part = min(values, key=lambda one: (not one.is_reversed, -abs(one.value or 0.0)))
    where = f" at {part.at}" if part.at else ""
    return f"{part_words.compared(part.expected)}{where} {part_words.between(values[part])}"


def _cells(one: Finding, claim: Claim, decides: Part | None) -> Cells:
    """Return a finding in words."""
    word = one.word
    if one.verdict == Verdict.NOT_TESTABLE or decides is None:
        return Cells(word, "", "", "", one.why)
    held = f"{sum(part.holds for part in one.parts)} of {len(one.parts)}" if len(one.parts) > 1 else ""
    along = part_words.along(one.parts)
    if along:
        sizes = dict.fromkeys(part_words.change(part.paper) for part in one.parts if part.paper is not None)
        return Cells(word, held, _open(one), next(iter(sizes), ""), along)
    return Cells(word, held, _open(one), part_words.papers(decides, claim), part_words.ours(decides, one.means, claim))


def _no_size(claim: Claim) -> str:
    """Say why the paper's numbers of a claim have no size to compare with."""
    return next(iter(claim.doubt.values()), "a number of the paper or of the runs is not above zero")


def _open(one: Finding) -> str:
    """Say why a claim is inconclusive, where its parts do not."""
    if one.verdict != Verdict.INCONCLUSIVE:
        return ""
    if RECALLED in one.why:
        return "the paper's numbers are recalled, not read"
    return "not decided after correction" if CORRECTION in one.why else "size open" if one.holds else ""


__all__ = ["KEY", "MARKS", "Cells", "Line", "Others", "first", "heads", "lines", "of_folder", "of_reproduction"]
