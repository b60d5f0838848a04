"""Claims as cards: the verdicts, a chart of each comparison, and a strip of the sampled configurations."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from aqmlab.papers.claim_tables import ClaimTable, counted_tables, counts
from aqmlab.papers.findings import Word
from aqmlab.papers.reproduction import Reproduction
from aqmlab.papers.verdicts import Check, Ratio, Verdict
from aqmlab.search import Reach, Space, flipped
from aqmlab.vocabulary.names import listed

# Ratios beyond these are drawn at the edge.
FURTHEST = 100.0
# Of the axis.
LEAST_APART = 0.13
TICKS = (0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0)
# Most comparisons in a chart; the others are in the table.
MOST_ROWS = 12


@dataclass(frozen=True)
class Mark:
    """A measured ratio on its axis: centre, ends of the interval and of what is allowed, as shares of the width."""

    preset: str
    number: int
    verdict: Verdict
    at: float
    low: float
    high: float
    least: float
    most: float
    words: str


@dataclass(frozen=True)
class Row:
    """A comparison: what is expected, the paper's place, and what was measured."""

    expected: str
    paper: float | None
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Chart:
    """The comparisons of a claim on one axis of ratios, left to right side; ``left_out`` are not drawn."""

    rows: tuple[Row, ...]
    ticks: tuple[tuple[float, str], ...]
    left_out: int


@dataclass(frozen=True)
class Tile:
    """A configuration in the strip; its letter is that of its preset, if no other begins with it."""

    verdict: Word
    presets: tuple[str, ...]
    words: str
    letter: str


@dataclass(frozen=True)
class Strip:
    """The configurations of a claim: its conclusion, and the tiles by the level of the strongest factor that decides.

    ``flipped`` are the single choices that flip it.
    """

    says: str
    flipped: str
    share: float | None
    holding: int
    tested: int
    undecided: int
    deciding: str
    lines: tuple[tuple[str, tuple[Tile, ...]], ...]

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """All tiles, in one line."""
        return tuple(tile for _, tiles in self.lines for tile in tiles)


@dataclass(frozen=True)
class Card:
    """A claim with all that is shown of it; ``plain`` says by presets what link and queue were like."""

    table: ClaimTable
    chart: Chart | None
    strip: Strip | None
    plain: Mapping[str, str]


def cards(tables: Sequence[ClaimTable], reproduction: Reproduction) -> list[Card]:
    """Return a card per claim."""
    space = reproduction.space
    return [Card(one, _chart(one), strip(one.claim.id, space), plain(one, reproduction)) for one in tables]


def plain(table: ClaimTable, reproduction: Reproduction) -> dict[str, str]:
    """Return what link and queue were like where a claim was judged, by the presets in which it was so."""
    found = {preset: reproduction.plain(table.claim, preset) for preset in table.judgements}
    alike: dict[str, list[str]] = {}
    for preset, text in found.items():
        alike.setdefault(text, []).append(preset)
    return {"" if len(of) == len(found) else listed(of): text for text, of in alike.items() if text}


def strip(claim: str, space: Space | None) -> Strip | None:
    """Return the strip of a claim, if the assumption space has it."""
    reach = space.reaches.get(claim) if space else None
    if space is None or reach is None:
        return None
    deciding = reach.deciding[0].factor if reach.deciding else ""
    return Strip(
        reach.sentence,
        flipped(reach.flips),
        reach.share,
        reach.holding,
        reach.tested,
        reach.undecided,
        deciding,
        _lines(reach, space, deciding),
    )


@dataclass(frozen=True)
class Overview:
    """A paper on the front page.

    Attributes:
        counts: how many claims have each verdict, by preset.
        mostly: how many claims hold in half of the configurations or more, of those that can judge them.
        lines: per claim its table and its strip.

    """

    name: str
    reproduction: Reproduction
    opening: str
    counts: Mapping[str, Mapping[Word, int]]
    mostly: str
    lines: tuple[tuple[ClaimTable, Strip | None], ...]


def overview(reproduction: Reproduction) -> Overview:
    """Return a paper for the front page."""
    space = reproduction.space
    tables = counted_tables(reproduction)
    shares = [
        reach.share
        for one in tables
        if space and (reach := space.reaches.get(one.claim.id)) is not None and reach.share is not None
    ]
    return Overview(
        reproduction.paper.name,
        reproduction,
        opening(space, reproduction.paper.ours),
        {preset: counts(found) for preset, found in reproduction.counted.items()},
        f"{sum(share >= 0.5 for share in shares)} of {len(shares)}" if shares else "",
        tuple((one, strip(one.claim.id, space)) for one in tables),
    )


def opening(space: Space | None, ours: Collection[str] = ()) -> str:
    """Return what the space says of the paper's claims as a whole, in a few sentences; ``ours`` are no claims of it."""
    reaches = [one for name, one in space.reaches.items() if name not in ours] if space else []
    if space is None or not reaches:
        return ""
    found = [one for one in reaches if one.tested]
    # A preset is a configuration, too, whether or not it is in the sample.
    held = {one.target: [cell.grade.holds for cell in one.cells if cell.grade.is_judged] for one in found}
    every, none = [name for name, own in held.items() if all(own)], [name for name, own in held.items() if not any(own)]
    some = [one for one in found if one.target not in (*every, *none)]
    factors: dict[str, list[str]] = {}
    for one in some:
        for decides in one.deciding:
            factors.setdefault(decides.factor, []).append(one.target)
    ranked = [factor for factor, _ in sorted(factors.items(), key=lambda one: -len(one[1]))]
    untested = len(reaches) - len(found)
    return (
        f"In {len(space.sample)} configurations of what the paper leaves open "
        f"({space.seeds} seed{'s' * (space.seeds > 1)} each), "
        f"of {len(found)} claims {len(every)} hold in all, {len(none)} in none, {len(some)} in some"
        + (f"; {untested} {'has' if untested == 1 else 'have'} nothing to test" if untested else "")
        + "."
        + (f" Factors that matter: {', '.join(ranked)}." if ranked else "")
    )


def alone(reproduction: Reproduction) -> str:
    """Return a sentence on what remains open about claims that were run without the others; empty for all of them."""
    if reproduction.paper.needed is None:
        return ""
    return (
        "Only these claims were run: this run's verdicts are not corrected for the number of the paper's other claims, "
        "the stored ones are."
    )


def limits(reproduction: Reproduction) -> str:
    """Return what a quick form cannot decide, in a sentence; nothing for a full one."""
    if not reproduction.quick:
        return ""
    tables = counted_tables(reproduction)

    claims = [
        one.claim.id for one in tables if any(each.verdict == Verdict.INCONCLUSIVE for each in one.judgements.values())
    ]
    decided = f"leaves {len(claims)} of {len(tables)} claims open" if claims else "decides every claim"
    where = " in some preset" if claims and len(reproduction.presets) > 1 else ""
    has_full = any(one.full for one in tables)
    full = (
        "the stored verdict of the full form stands beside its own"
        if has_full
        else "verdicts of the full form are not stored with it"
    )
    without = f" It does not run {listed(reproduction.left_out)}." if reproduction.left_out else ""
    return f"The quick form, with fewer seeds or points, {decided}{where}; {full}.{without}"


def _chart(table: ClaimTable) -> Chart | None:
    checks: dict[str, list[tuple[int, str, Check]]] = {}
    for number, (preset, one) in enumerate(table.judgements.items()):
        for check in one.checks:
            if check.ratio is not None:
                checks.setdefault(check.expectation, []).append((number, preset, check))
    if not checks:
        return None
    shown = dict(list(checks.items())[:MOST_ROWS])
    ratios = [check.ratio for found in shown.values() for _, _, check in found if check.ratio is not None]
    places = [place for one in ratios for place in (one.value, one.low, one.high, one.paper or 1.0)]
    low, high = min(0.5, *map(_drawn, places)), max(2.0, *map(_drawn, places))
    span = math.log(high / low) * 1.08
    start = math.log(low) - math.log(high / low) * 0.04

    def at(ratio: float) -> float:
        return round(min(max((math.log(_drawn(ratio)) - start) / span, 0.0), 1.0), 4)

    def row(expected: str, found: Sequence[tuple[int, str, Check]]) -> Row:
        known = [(number, preset, check, check.ratio) for number, preset, check in found if check.ratio is not None]
        marks = tuple(_mark(number, preset, check, ratio, at) for number, preset, check, ratio in known)
        # The paper's is the same in all presets.
        paper = known[0][3].paper
        return Row(expected, None if paper is None else at(paper), marks)

    ticks = _apart([(at(tick), _tick(tick)) for tick in TICKS if low * 0.96 <= tick <= high * 1.04])
    return Chart(tuple(row(*one) for one in shown.items()), ticks, len(checks) - len(shown))


def _apart(ticks: Sequence[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """Return the ticks whose words find room on a phone: equality first, then the farther from it.

    >>> _apart([(0.0, "÷ 10"), (0.45, "÷ 2"), (0.5, "equal"), (1.0, "× 3")])
    ((0.0, '÷ 10'), (0.5, 'equal'), (1.0, '× 3'))

    """
    centre = next((at for at, words in ticks if words == "equal"), 0.5)
    kept: list[tuple[float, str]] = []
    for tick in sorted(ticks, key=lambda one: (one[0] != centre, -abs(one[0] - centre))):
        if all(abs(tick[0] - at) >= LEAST_APART for at, _ in kept):
            kept.append(tick)
    return tuple(sorted(kept))


def _mark(number: int, preset: str, check: Check, ratio: Ratio, at: Callable[[float], float]) -> Mark:
    ends = at(ratio.value), at(ratio.low), at(ratio.high)
    # A bound in the measure's unit is another ratio where the right side is another.
    allowed = at(ratio.least) if ratio.least > 0.0 else 0.0, 1.0 if math.isinf(ratio.most) else at(ratio.most)
    return Mark(preset, number, check.verdict, *ends, *allowed, f"{preset}: {check.words}")


def _drawn(ratio: float) -> float:
    return min(max(ratio, 1.0 / FURTHEST), FURTHEST)


def _tick(ratio: float) -> str:
    """Write a ratio as a tick.

    >>> _tick(0.5), _tick(1.0), _tick(10.0)
    ('÷ 2', 'equal', '× 10')

    """
    if ratio == 1.0:
        return "equal"
    return f"× {ratio:g}" if ratio > 1.0 else f"÷ {1.0 / ratio:g}"


def _lines(reach: Reach, space: Space, deciding: str) -> tuple[tuple[str, tuple[Tile, ...]], ...]:
    order = [*Word]
    shown = [cell for cell in reach.cells if cell.sampled or cell.presets]
    letters = [name[0] for name in space.search.presets]
    shown.sort(key=lambda cell: order.index(Word(cell.grade.shown)))

    def tiles(level: str | None, place: int) -> tuple[Tile, ...]:
        return tuple(
            Tile(
                Word(cell.grade.shown),
                cell.presets,
                f"{space.words(cell.setting)}: {cell.grade.shown}",
                next((one[0] for one in cell.presets if letters.count(one[0]) == 1), ""),
            )
            for cell in shown
            if level is None or cell.setting[place] == level
        )

    for place, factor in enumerate(space.search.factors):
        if factor.name == deciding:
            return tuple((f"{deciding} {level}", tiles(level, place)) for level in factor.levels)
    return (("", tiles(None, 0)),)
