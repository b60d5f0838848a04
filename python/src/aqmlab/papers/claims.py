"""The claims of a paper, as data: `paper.toml`.

A claim names a measure and a scenario, what is expected, and the paper's own numbers. Expectations are written ``LEFT
< RIGHT [by 34%]``, where either side is an AQM, ``AQM.measure`` or a number:

- ``<`` and ``>``: the difference, paired over the seeds, has its 95 % interval on this side; with ``beyond 5%`` by
more than that.
- ``<=`` and ``>= ... within 5%``: its interval reaches no further to the other side than this.
- ``= ... within 5%`` (or ``within 2`` in the measure's unit): its interval is within these bounds.

A size is judged on both sides (``by 34%``: half to twice as much) or on one (``by at least 34%``).

``expect`` holds every part of the sentence under ``says``: the verdict covers all of it. ``given`` says what must be so
for the claim to be testable (a queue, losses), in the same form.

A ``[[mechanism]]`` is a claim of ours: why something comes out as it does, as an ablation; ``explains`` names claims.

Where a scenario has one AQM and sweeps what is compared (strategies of a switch and its senders, say), the claim names
the swept key in ``contestants``, and its values take the place of AQMs.

A number that was not read in the paper says so under ``recalled``, with the reason: its claim is at most inconclusive.

Where one AQM is claimed to do something and another not to, both get the same bound: ``a > b beyond 5%`` and
``c <= b within 5%``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from aqmlab.files.documents import Table
from aqmlab.results.measures import HOW, Measure
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.units import parse_fraction, parse_span

Relation: TypeAlias = Literal["<", ">", "<=", ">=", "="]
# An effect between half and twice the paper's size counts as reproduced; a claim may narrow this.
LARGEST_FACTOR = 2.0
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_EXPECTATION = re.compile(
    r"(?P<left>\S+) +(?P<relation><=|>=|<|>|=) +(?P<right>\S+)"
    rf"(?: +by +(?P<least>at +least +)?(?P<by>{_NUMBER}%))?(?: +(?P<kind>within|beyond) +(?P<bound>{_NUMBER}%?))?"
)
_CHANGE = re.compile(r"(?P<on>\d{4}-\d\d-\d\d): (?P<what>.+)")


@dataclass(frozen=True)
class Operand:
    """One side of an expectation: a number, or a measure (empty: the claim's own) of an AQM."""

    text: str
    aqm: str = ""
    measure: str = ""
    number: float | None = None


@dataclass(frozen=True)
class Expectation:
    """An expectation: a relation, its size (a share of the right side), and its bound.

    ``at_least`` makes the size a smallest one. The bound is a tolerance with ``<=``, ``>=`` and ``=`` (within), and a
    minimum with ``<`` and ``>`` (beyond).
    """

    text: str
    left: Operand
    relation: Relation
    right: Operand
    by: float | None = None
    at_least: bool = False
    bound: float | None = None
    bound_share: bool = True


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes:
        id: its name, as ``spie-1``.
        says: the paper's statement, in a sentence.
        where: where the paper makes it.
        unit: unit of the measure; ``scale`` converts measured values to it.
        expectations: the parts of the statement, which make the verdict.
        given: what must be so for the claim to be testable.
        paper: the paper's numbers, by operand.
        doubt: why a number of the paper cannot be right: then the order is judged, but not its size.
        factor: largest ratio of a difference to the paper's, or back; at most 2.
        each: whether the expectations apply to every point of the scenario's sweep.
        contestants: the swept key whose values stand for AQMs; empty if AQMs stand for themselves.
        unjudged: why nothing can be checked; empty if it can.
        recalled: why the paper's numbers could not be read; empty if they were.
        changes: changes after the first run (of a bound, a measure), each with date and reason.
        explains: the claims that a mechanism explains; empty for what the paper claims.

    """

    id: str
    says: str
    where: str
    unit: str
    scale: float
    measures: dict[str, Measure]
    expectations: tuple[Expectation, ...]
    given: tuple[Expectation, ...]
    paper: dict[str, float]
    doubt: dict[str, str]
    factor: float
    each: bool
    contestants: str
    unjudged: str
    changes: tuple[str, ...]
    recalled: str = ""
    note: str = ""
    explains: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[Expectation, ...]:
        """All that it needs measured: its parts, and what must be given."""
        return (*self.expectations, *self.given)

    @property
    def operands(self) -> list[Operand]:
        """The measured operands, each once, in the order of the paper's numbers and then of the expectations."""
        sides = [side for one in self.parts for side in (one.left, one.right) if side.number is None]
        named = {side.text: side for side in [*(operand(text) for text in self.paper), *sides]}
        return list(named.values())

    def measure(self, side: Operand) -> Measure:
        """Return the measure of an operand."""
        measure = self.measures[side.measure]
        return replace(measure, point=(*measure.point, (self.contestants, side.aqm))) if self.contestants else measure

    def quantity(self, side: Operand, point: int) -> str:
        """Return what an operand is called at a point of the sweep, if the claim is judged at each."""
        return f"{side.text} at point {point}" if self.each else side.text

    def aqm(self, side: Operand) -> str:
        """Return the AQM that is measured; empty stands for the only one of the scenario."""
        return "" if self.contestants else side.aqm


def read(table: Table) -> list[Claim]:
    """Read the claims of a file, and after them the mechanisms.

    Raises:
        InputError: naming the claim, the key and the value.

    """
    found = [_claim(one) for one in table.tables("claim", "id")]
    names = [one.id for one in found]
    for one in table.tables("mechanism", "id"):
        explained = one.texts("explains")
        for name in explained:
            if name not in names:
                raise one.error(f"explains: {unknown('claim', name, names)}")
        if not explained:
            raise one.error("explains: is missing: name the claims that it explains")
        mechanism = replace(_claim(one), explains=tuple(explained))
        if mechanism.id in names:
            raise one.error("id: is a claim's already")
        found.append(mechanism)
    return found


def operand(text: str) -> Operand:
    """Read one side of an expectation.

    >>> operand("s-pie.small").aqm, operand("0.5").number
    ('s-pie', 0.5)

    """
    if re.fullmatch(_NUMBER, text):
        return Operand(text, number=float(text))
    if not re.match("[a-z]", text):
        raise InputError(f"'{text}' is neither a number nor an AQM")
    aqm, _, measure = text.partition(".")
    return Operand(text, aqm, measure)


def expectation(text: str) -> Expectation:
    """Read an expectation.

    >>> one = expectation("s-pie < pie by 83.41%")
    >>> one.left.aqm, one.relation, one.by
    ('s-pie', '<', 0.8341)

    """
    match = _EXPECTATION.fullmatch(" ".join(text.split()))
    if match is None:
        raise InputError(f"'{text}' is not an expectation such as 's-pie < red by 34%' or 'a = b within 5%'")
    relation: Relation = match["relation"]  # type: ignore[assignment]
    loose = relation in ("=", "<=", ">=")
    if loose != (match["kind"] == "within"):
        raise InputError(f"'{text}': 'within' belongs to '=', '<=' and '>=', and they need it")
    if relation == "=" and match["by"]:
        raise InputError(f"'{text}': 'by' belongs to a difference")
    bound = match["bound"]
    share = bound is not None and bound.endswith("%")
    left, right = operand(match["left"]), operand(match["right"])
    if left.number is not None and right.number is not None:
        raise InputError(f"'{text}' compares two numbers: one side must be measured")
    return Expectation(
        text=match[0],
        left=left,
        relation=relation,
        right=right,
        by=parse_fraction(match["by"]) if match["by"] else None,
        at_least=bool(match["least"]),
        bound=None if bound is None else parse_fraction(bound) if share else float(bound),
        bound_share=share,
    )


def _claim(table: Table) -> Claim:
    scenario = table.text("scenario", "")
    measures = {name: _measure(one, scenario) for name, one in table.named("measures").items()}
    own = table.table("measure")
    if own is not None:
        measures[""] = _measure(own, scenario)
    claim = Claim(
        id=table.text("id"),
        says=table.text("says"),
        where=table.text("where"),
        unit=table.text("unit", ""),
        scale=table.number("scale", 1.0),
        measures=measures,
        expectations=_expectations(table, "expect"),
        given=_expectations(table, "given"),
        paper=table.numbers("paper"),
        doubt=table.words("doubt"),
        factor=_factor(table),
        each=table.flag("each_point"),
        contestants=table.text("contestants", ""),
        unjudged=table.text("not_testable", ""),
        changes=tuple(_change(table, text) for text in table.texts("changed")),
        recalled=table.text("recalled", ""),
        note=table.text("note", ""),
    )
    table.done()
    _check(table, claim)
    return claim


def _check(table: Table, claim: Claim) -> None:
    if not claim.unjudged and not claim.expectations:
        raise table.error("expect: is missing: give an expectation, or say under not_checkable why there is none")
    for side in claim.operands:
        if side.measure not in claim.measures:
            what = f"measures.{side.measure}" if side.measure else "measure"
            raise table.error(f"'{side.text}' needs {what}, which is not there")
    expected = {side.text for one in claim.parts for side in (one.left, one.right)}
    for name in claim.paper:
        if name not in expected and not claim.unjudged:
            raise table.error(f"paper: {unknown('operand of an expectation', name, sorted(expected))}")
    for name in claim.doubt:
        if name not in claim.paper:
            raise table.error(f"doubt: the paper gives no '{name}'")


def _measure(table: Table, scenario: str) -> Measure:
    point = table.words("point")
    measure = Measure(
        of=table.text("of"),
        scenario=table.text("scenario", scenario),
        since_s=_time(table, "since"),
        until_s=_time(table, "until"),
        how=table.choice("how", HOW, "mean"),
        over=table.text("over", ""),
        point=tuple(point.items()),
        period_s=_time(table, "period"),
    )
    table.done()
    if not measure.scenario:
        raise table.error("scenario: is missing")
    if measure.since_s is not None and measure.until_s is not None and measure.since_s >= measure.until_s:
        raise table.error("since: is not before until")
    return measure


def _time(table: Table, key: str) -> float | None:
    text = table.text(key, "")
    try:
        return parse_span(text) / 1e9 if text else None
    except ValueError as error:
        raise table.error(f"{key}: {error}") from None


def _factor(table: Table) -> float:
    factor = table.number("factor", LARGEST_FACTOR)
    if not 1.0 < factor <= LARGEST_FACTOR:
        raise table.error(f"factor: {factor:g} is out of range: allowed is above 1 and at most {LARGEST_FACTOR:g}")
    return factor


def _expectations(table: Table, key: str) -> tuple[Expectation, ...]:
    try:
        return tuple(expectation(text) for text in table.texts(key))
    except ValueError as error:
        raise table.error(f"{key}: {error}") from None


def _change(table: Table, text: str) -> str:
    if not _CHANGE.fullmatch(text):
        raise table.error(f"changed: '{text}' is not 'YYYY-MM-DD: from what to what, and why'")
    return text
