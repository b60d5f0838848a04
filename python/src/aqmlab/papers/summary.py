"""A paper in one table: each statement, its number, ours, the verdict, and what the verdict is most sensitive to.

The statements of the paper's title and abstract, and those of which its sentences here speak, come first. The page and
the terminal have all, the README these, and `generated/statements.md` all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from aqmlab.papers.claims import Claim, Operand
from aqmlab.papers.generated import Part, Stored
from aqmlab.papers.paper import Paper
from aqmlab.papers.reproduction import Reproduction
from aqmlab.papers.verdicts import CORRECTION, Judgement, Verdict
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.names import listed

# Points of a sweep that are named one by one.
MOST_POINTS = 3
# Changes beyond this are factors.
LARGE = 10.0
MARKS = (
    "✓ holds, ✗ does not, ? open: the difference as a share of the right side, with its 95 % interval over the seeds"
)
KEY = (
    f"{MARKS}; a verdict is also corrected for the number of claims (Holm), a mark is not. Most sensitive to: choices "
    "that flip the verdict, with their levels, or factors that matter beyond chance; empty where no single one does or "
    "none was tried."
)


@dataclass(frozen=True)
class Line:
    """A claim in the table; ``others`` are the presets with another verdict.

    ``paper`` and ``ours`` have a line for each part of the statement, or one along a sweep.

    A quick form that leaves a claim open has the stored verdict of the full one: ``is_stored``.
    """

    id: str
    says: str
    paper: tuple[str, ...]
    ours: tuple[str, ...]
    verdict: Verdict
    others: Mapping[str, Verdict]
    sensitive: str
    is_stored: bool = False
    is_headline: bool = True

    @property
    def judged(self) -> str:
        """The verdict in words."""
        return f"{self.verdict} (full form)" if self.is_stored else str(self.verdict)


def heads(paper: Paper, presets: Collection[str]) -> tuple[str, ...]:
    """Return the heads of the table's columns; ``presets`` are those that were run."""
    return ("The paper's statement", "Paper", f"Ours ({_first(paper, presets)})", "Verdict", "Most sensitive to")


def stored(judgement: Judgement) -> Stored:
    """Return a judgement in the form in which it is stored."""
    parts = tuple(
        Part(check.expectation, judgement.names.get(check.point, ""), check.verdict, check.holds, **check.effect)
        for check in judgement.checks
    )
    means = {
        name: one.value
        for name, every in judgement.measured.items()
        if len(every) == 1
        for one in every
        if one is not None
    }
    return Stored(judgement.verdict, judgement.why, parts, means)


def of_reproduction(reproduction: Reproduction) -> list[Line]:
    """Return the table of what was run; where a quick form leaves a claim open, the stored verdict of the full one."""
    paper = reproduction.paper
    found = {
        preset: {one.claim.id: stored(one) for one in judgements}
        for preset, judgements in reproduction.judgements.items()
    }
    kept = paper.generated.robustness.get("claims", {})
    if not reproduction.quick:
        return lines(paper, found, reproduction.robustness if reproduction.space else kept)
    full = {preset: paper.generated.verdicts.get(preset, {}) for preset in found}
    open_ones = {
        (preset, claim)
        for preset, judged in found.items()
        for claim, one in judged.items()
        if one.verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_TESTABLE) and claim in full[preset]
    }
    best = {
        preset: {claim: full[preset][claim] if (preset, claim) in open_ones else one for claim, one in judged.items()}
        for preset, judged in found.items()
    }
    main = _main(paper, best)
    claims = {claim for judged in best.values() for claim in judged}
    for preset in reproduction.left_out:
        of = paper.generated.verdicts.get(preset, {})
        best[preset] = {claim: one for claim, one in of.items() if claim in claims}
    # Few configurations decide little: what a claim is sensitive to is what the full form found, too.
    table = lines(paper, best, {**reproduction.robustness, **kept}, main)
    return [replace(one, is_stored=(main, one.id) in open_ones) for one in table]


def of_folder(paper: Paper) -> list[Line]:
    """Return the table of what is stored with a paper."""
    return lines(paper, paper.generated.verdicts, paper.generated.robustness.get("claims", {}))


def lines(
    paper: Paper,
    found: Mapping[str, Mapping[str, Stored]],
    robustness: Mapping[str, Mapping[str, object]],
    main: str | None = None,
) -> list[Line]:
    """Return a line for each claim that was judged in one preset: the paper's main one, or the first that was run.

    The paper's headline statements come first.
    """
    run = [preset for preset in paper.presets if found.get(preset)]
    main = _main(paper, found) if main is None else main
    table = [
        _line(claim, {preset: found[preset][claim.id] for preset in run if claim.id in found[preset]}, main, robustness)
        for claim in paper.claims
        if claim.id in found.get(main, {})
    ]
    first = paper.summary.headline or tuple(one.id for one in table)
    table = [replace(one, is_headline=one.id in first) for one in table]
    return sorted(table, key=lambda one: first.index(one.id) if one.is_headline else len(first))


def _main(paper: Paper, found: Mapping[str, Mapping[str, Stored]]) -> str:
    return _first(paper, [preset for preset in paper.presets if found.get(preset)])


def _first(paper: Paper, presets: Collection[str]) -> str:
    """Return the paper's main preset, or the first that was run."""
    return paper.main if paper.main in presets or not presets else next(iter(presets))


def _line(
    claim: Claim, by_preset: Mapping[str, Stored], main: str, robustness: Mapping[str, Mapping[str, object]]
) -> Line:
    own = by_preset[main]
    others = {name: one.verdict for name, one in by_preset.items() if one.verdict != own.verdict}
    sensitive = str(robustness.get(claim.id, {}).get("sensitive", ""))
    paper, ours = _cells(own, claim)
    return Line(claim.id, claim.says, paper, ours, own.verdict, others, sensitive)


def _cells(one: Stored, claim: Claim) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paper's differences and ours, a line each; what fails comes first."""
    if one.verdict == Verdict.NOT_TESTABLE:
        return (), (one.why,)
    points = list(dict.fromkeys(part.at for part in one.parts))
    if len(points) > 1:
        sizes = dict.fromkeys(_change(part.paper) for part in one.parts if part.paper is not None)
        return tuple(sizes)[:1], (_range(one.parts, points),)
    ranked = sorted(one.parts, key=_rank)
    held = sum(part.holds for part in ranked)
    # What fails first, and what holds: one of each.
    shown = [*ranked[:1], *(part for part in ranked[1:] if part.holds and held < len(ranked))][:2]
    but = ""
    if ranked and held == len(ranked) and one.verdict != Verdict.REPRODUCED:
        corrected = ", not after correction" if CORRECTION in one.why else ", their size is open"
        but = ", with another size" if one.verdict == Verdict.IN_PART else corrected
    elif one.verdict == Verdict.INCONCLUSIVE and CORRECTION in one.why:
        but = ", not decided after correction"
    total = (f"{held} of {len(ranked)} parts hold{but}",) if but or len(ranked) > len(shown) else ()
    paper = tuple(_printed(part, claim) for part in shown)
    return paper if any(paper) else (), (*(_part(part, one.means, claim) for part in shown), *total)


def _rank(part: Part) -> tuple[bool, bool, bool]:
    """What does not hold comes first, and of what holds that with another size."""
    return part.holds, part.verdict != Verdict.NOT_REPRODUCED, part.verdict == Verdict.REPRODUCED


def _printed(part: Part, claim: Claim) -> str:
    """Return the paper's numbers of both sides and their difference, or what there is of it."""
    sides = _sides(part, claim)
    numbers = {
        name: f"({_number(value)})" if name in claim.doubt else _number(value) for name, value in claim.paper.items()
    }
    has_both = {*sides} <= {*numbers}
    both = f"{' against '.join(numbers[name] for name in sides)} {_unit(part, claim)}".rstrip() if has_both else ""
    if part.paper is None:
        return both
    size = "equal" if part.paper == 0.0 and " = " in part.expected else _change(part.paper)
    return f"{both}, {size}" if both else size


def _part(part: Part, means: Mapping[str, float], claim: Claim) -> str:
    mark = "✓" if part.holds else "✗" if part.verdict == Verdict.NOT_REPRODUCED else "?"
    words = []
    sides = _sides(part, claim)
    if {*sides} <= {*means}:
        numbers = " against ".join(_number(means[name]) for name in sides)
        words.append(f"{numbers} {_unit(part, claim)}".rstrip())
    if part.value is not None:
        ends = "" if part.low is None or part.high is None else f" ({_bare(part.low)} to {_bare(part.high)})"
        words.append(f"{_change(part.value)}{ends}")
    return f"{mark} {_compared(part.expected)}" + (f": {', '.join(words)}" if words else "")


def _sides(part: Part, claim: Claim) -> tuple[str, ...]:
    """Return the measured sides of a part."""
    return tuple(side.text for side in _operands(part, claim))


def _operands(part: Part, claim: Claim) -> tuple[Operand, ...]:
    (expectation,) = (one for one in claim.expectations if one.text == part.expected)
    return tuple(side for side in (expectation.left, expectation.right) if side.number is None)


def _unit(part: Part, claim: Claim) -> str:
    """Return the unit of a part: the claim's, or that of its measure where the claim has several."""
    unit = claim.unit.partition(":")[0]
    if " " not in unit:
        return unit
    measure = claim.measures[_operands(part, claim)[0].measure]
    if claim.scale != 1.0 or measure.over or measure.how == "variation":
        return ""
    if not measure.is_series:
        return metrics.find(measure.of).unit
    return metrics.series_title(measure.of).partition(" (")[2].rstrip(")")


def _number(value: float) -> str:
    """Write a value with three digits.

    >>> _number(1220.0), _number(9.94), _number(0.0312), _number(0.0)
    ('1220', '9.94', '0.0312', '0')

    """
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def _compared(expected: str) -> str:
    """Write what is compared, without bounds: what both sides have in common once.

    >>> _compared("sqm-lru.ftp < fifo.ftp by 57%"), _compared("fifo.n240 < fifo.n60"), _compared("red = 0.7 within 5%")
    ('ftp: sqm-lru < fifo', 'fifo: n240 < n60', 'red = 0.7 ± 5%')

    """
    left, relation, right = expected.split()[:3]
    if " = " in expected:
        right += f" ± {expected.rpartition(' ')[2]}"
    (aqm, _, measure), (other, _, others) = left.partition("."), right.partition(".")
    others, _, bound = others.partition(" ")
    if measure and measure == others:
        return f"{measure}: {aqm} {relation} {other} {bound}".rstrip()
    if aqm == other:
        return f"{aqm}: {measure} {relation} {others} {bound}".rstrip()
    return f"{left} {relation} {right}"


def _range(parts: Sequence[Part], points: Sequence[str]) -> str:
    held = [at for at in points if all(part.holds for part in parts if part.at == at)]
    refuted = [at for at in points if any(part.verdict == Verdict.NOT_REPRODUCED for part in parts if part.at == at)]
    rest = [at for at in points if at not in (*held, *refuted)]
    kinds = (("holds at", held), ("not at", refuted), ("open at", rest))
    return "; ".join(f"{word} {_few(found)}" for word, found in kinds if found)


def _few(names: Sequence[str]) -> str:
    """Name a few points, and the ends of more.

    >>> _few(["50b", "100b"]), _few(["a", "b", "c", "d", "e"])
    ('50b and 100b', 'a to e (5 points)')

    """
    return listed(names) if len(names) <= MOST_POINTS else f"{names[0]} to {names[-1]} ({len(names)} points)"


def _bare(share: float) -> str:
    return _change(share).removesuffix(" %")


def _change(share: float) -> str:
    """Write a difference as a share of the right side; a large one as a factor.

    >>> _change(-0.56), _change(0.0), _change(31.0)
    ('-56 %', '+0.0 %', '× 32')

    """
    if share >= LARGE:
        return f"× {share + 1.0:.3g}"
    digits = 0 if abs(share) >= 0.0995 else 1
    return f"{share:+.{digits}%}".replace("%", " %")


__all__ = ["KEY", "MARKS", "Line", "heads", "lines", "of_folder", "of_reproduction", "stored"]
