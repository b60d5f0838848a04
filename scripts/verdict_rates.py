#!/usr/bin/env python3
"""How often each verdict is given, in simulated experiments whose truth is known (`make verdict-rates`).

A run gives a value of an AQM `a` and of one `b`, with the same seed. What the seeds have in common is as large as what
they have not, each with a standard deviation of a fifth of the mean.

The last table is of a space of configurations, whose runs are few: the noise is that of eight configurations with two
runs each. Fixed before any of its cells was seen: what is in `aqmlab.search.noise`, the values below, that rates are of
the judgements in which there is something to test, and that 5 % of these may be wrong in each cell. Its seed is not
that under which the one number of that module was chosen, by how much another power must be likelier.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from splice_tables import write_or_print

from aqmlab.files.documents import Table
from aqmlab.papers import claims, searching
from aqmlab.papers.claims import Claim
from aqmlab.papers.verdicts import Judgement, Verdict, family, judge
from aqmlab.search.noise import REPEATED, Noise
from aqmlab.stats.statistics import Reals

EXPERIMENTS = 2000
RUNS = (2, 3, 5, 10, 30)
CONFIGURATION_RUNS = (1, 2)
SEED = 7567
READINGS_SEED = 8033
# The claims of a paper, which are judged together.
CLAIMS = 20

# Values of `a` and `b` for a number of runs, where b's mean is 1 and a's is the given one.
Draw: TypeAlias = Callable[[np.random.Generator, int, float], tuple[Reals, Reals]]
# The same in a configuration of this scale.
ConfigurationDraw: TypeAlias = Callable[[np.random.Generator, int, float, float], tuple[Reals, Reals]]


def _normal(random: np.random.Generator, runs: int, mean: float) -> tuple[Reals, Reals]:
    common, own = random.normal(0.0, 0.2, runs), random.normal(0.0, 0.2, (2, runs))
    return mean * (1.0 + common + own[0]), 1.0 + common + own[1]


def _skewed(random: np.random.Generator, runs: int, mean: float) -> tuple[Reals, Reals]:
    """Lognormal: delays and completion times of few flows; a deviation of the mean's size."""
    sigma = np.sqrt(np.log(1.5))
    common, own = random.normal(0.0, sigma, runs), random.normal(0.0, sigma, (2, runs))
    a, b = np.exp(common + own - sigma * sigma)
    return mean * a, b


def _binary(random: np.random.Generator, runs: int, mean: float) -> tuple[Reals, Reals]:
    """Something that happens in a run, or not: in 40 % of b's runs."""
    drawn = random.random((2, runs))
    return (drawn[0] < 0.4 * mean) / 0.4, (drawn[1] < 0.4) / 0.4


def _tied(random: np.random.Generator, runs: int, mean: float) -> tuple[Reals, Reals]:
    """Few drops: small counts, of which many are equal."""
    return random.poisson(0.5 * mean, runs) / 0.5, random.poisson(0.5, runs) / 0.5


def _counts(usual: float) -> ConfigurationDraw:
    """Return packets lost: so many on average, in some configurations twenty times as many and in others none."""

    def drawn(random: np.random.Generator, runs: int, mean: float, scale: float) -> tuple[Reals, Reals]:
        a, b = random.poisson(usual * scale**1.5 * mean, runs), random.poisson(usual * scale**1.5, runs)
        return a / usual, b / usual

    return drawn


def _mostly_none(random: np.random.Generator, runs: int, mean: float, scale: float) -> tuple[Reals, Reals]:
    """In three of four configurations there is nothing: no queue, no loss."""
    a, b = _normal(random, runs, mean)
    there = scale * (random.random() < 0.25)
    return there * a, there * b


def _amounts(random: np.random.Generator, runs: int, mean: float, scale: float) -> tuple[Reals, Reals]:
    """Deviations are the same in all configurations, whatever the mean."""
    common, own = random.normal(0.0, 0.2, runs), random.normal(0.0, 0.2, (2, runs))
    return scale * mean + common + own[0], scale + common + own[1]


def _cut_at_zero(random: np.random.Generator, runs: int, mean: float, scale: float) -> tuple[Reals, Reals]:
    """What is above a half, if anything: amounts, of which many are exactly zero."""
    a, b = _amounts(random, runs, mean, scale)
    return np.maximum(a - 0.5, 0.0), np.maximum(b - 0.5, 0.0)


DRAWS: dict[str, Draw] = {"normal": _normal, "skewed": _skewed, "0 or 1": _binary, "ties": _tied}


@dataclass(frozen=True)
class Case:
    """An expectation and a truth; ``right`` and ``wrong`` are the verdicts that the truth makes so."""

    expect: str
    mean: float
    about: str
    right: tuple[Verdict, ...]
    wrong: tuple[Verdict, ...]


REFUTED = (Verdict.NOT_REPRODUCED,)
HOLDS = (Verdict.REPRODUCED, Verdict.IN_PART)
CASES = (
    Case("a < b", 1.0, "no difference", REFUTED, HOLDS),
    Case("a < b", 0.5, "half", HOLDS, REFUTED),
    Case("a < b", 2.0, "twice", REFUTED, HOLDS),
    Case("a < b by 50%", 0.5, "half: the paper's size", (Verdict.REPRODUCED,), REFUTED),
    Case("a < b by 50%", 0.85, "15 % less: a quarter of it", (Verdict.IN_PART,), (Verdict.REPRODUCED,)),
    Case("a < b by at least 28%", 0.4, "60 % less", (Verdict.REPRODUCED,), (Verdict.IN_PART, *REFUTED)),
    Case("a < b by at least 28%", 0.85, "15 % less", (Verdict.IN_PART,), (Verdict.REPRODUCED,)),
    Case("a <= b within 10%", 1.0, "no difference", HOLDS, REFUTED),
    Case("a = b within 10%", 1.0, "no difference", HOLDS, REFUTED),
    Case("a = b within 10%", 1.3, "30 % more", REFUTED, HOLDS),
    Case("a < 1", 1.0, "exactly 1", REFUTED, HOLDS),
    Case("a > 1", 1.0, "exactly 1", REFUTED, HOLDS),
)


def claim(expect: str) -> Claim:
    """Return a claim with one expectation."""
    entry = {"id": "c-1", "says": "", "where": "", "scenario": "s", "measure": {"of": "q"}, "expect": [expect]}
    (found,) = claims.read(Table({"claim": [entry]}, ""))
    return found


def rates(case: Case, draw: Draw, runs: int, experiments: int) -> Counter[Verdict]:
    """Return how often each verdict is given."""
    random, one = np.random.default_rng((SEED, runs)), claim(case.expect)
    return Counter(_judged(one, draw(random, runs, case.mean)).verdict for _ in range(experiments))


def some_refuted(draw: Draw, runs: int, experiments: int) -> float:
    """Return in which share of papers with claims that nothing decides some claim is "not reproduced"."""
    random, one = np.random.default_rng((SEED, runs)), claim("a < b")
    papers = [family([_judged(one, draw(random, runs, 1.0)) for _ in range(CLAIMS)]) for _ in range(experiments)]
    return sum(any(one.verdict in REFUTED for one in paper) for paper in papers) / experiments


def _scaled(draw: Draw) -> ConfigurationDraw:
    """Return values that vary by their scale."""

    def drawn(random: np.random.Generator, runs: int, mean: float, scale: float) -> tuple[Reals, Reals]:
        a, b = draw(random, runs, mean)
        return scale * a, scale * b

    return drawn


CONFIGURATION_DRAWS: dict[str, ConfigurationDraw] = {
    **{name: _scaled(draw) for name, draw in DRAWS.items()},
    "counts": _counts(5.0),
    "rare": _counts(0.3),
    "mostly none": _mostly_none,
    "amounts": _amounts,
    "cut at zero": _cut_at_zero,
}


def configuration_rates(case: Case, draw: ConfigurationDraw, runs: int, experiments: int) -> Counter[Verdict]:
    """Return how often a configuration of so many runs gets each verdict, in a space with repeated configurations."""
    random, one = np.random.default_rng((READINGS_SEED, runs)), claim(case.expect)

    def configuration(runs: int) -> dict[str, dict[int, float]]:
        # Configurations differ by far more than their runs do.
        drawn = draw(random, runs, case.mean, np.exp(random.normal()))
        return {name: dict(enumerate(found.tolist())) for name, found in zip("ab", drawn, strict=True)}

    def verdict(noise: Noise) -> Verdict:
        values = configuration(runs)
        means = {name: sum(own.values()) / runs for name, own in values.items()}
        return Verdict(searching.grade(one, values, lambda names: noise.deviations(names, means, runs)).word)

    return Counter(verdict(Noise([configuration(2) for _ in range(REPEATED)])) for _ in range(experiments))


def tested_share(found: Counter[Verdict], verdicts: Collection[Verdict]) -> float:
    """Return the share of some verdicts among the judgements in which there is something to test."""
    return sum(found[one] for one in verdicts) / (found.total() - found[Verdict.NOT_TESTABLE])


def table(experiments: int) -> Iterator[str]:
    """Yield the lines of the table on one claim: how often a verdict is wrong and right, by number of runs."""
    heads = [f"{kind}, {runs} runs" for kind in ("wrong", "right") for runs in RUNS]
    yield f"| Expected | True | Values | {' | '.join(heads)} |"
    yield f"|{' --- |' * (3 + len(heads))}"
    for case in CASES:
        for name in DRAWS:
            yield line(case, name, experiments)


def line(case: Case, name: str, experiments: int = EXPERIMENTS) -> str:
    """Return a line of the table on one claim."""
    found = [rates(case, DRAWS[name], runs, experiments) for runs in RUNS]
    shares = [sum(one[kind] for kind in kinds) for kinds in (case.wrong, case.right) for one in found]
    cells = " | ".join(f"{share / experiments:.1%}" for share in shares)
    return f"| `{case.expect}` | {case.about} | {name} | {cells} |"


def configurations_table(experiments: int) -> Iterator[str]:
    """Yield the lines of the table on a space of configurations."""
    heads = [f"{kind}, {runs} run{'s' * (runs > 1)}" for kind in ("wrong", "undecided") for runs in CONFIGURATION_RUNS]
    yield f"| Expected | True | Values | {' | '.join(heads)} |"
    yield f"|{' --- |' * (3 + len(heads))}"
    for case in CASES[:3]:
        for name, draw in CONFIGURATION_DRAWS.items():
            counts = [configuration_rates(case, draw, runs, experiments) for runs in CONFIGURATION_RUNS]
            kinds = (case.wrong, (Verdict.INCONCLUSIVE,))
            cells = " | ".join(f"{tested_share(one, verdicts):.1%}" for verdicts in kinds for one in counts)
            yield f"| `{case.expect}` | {case.about} | {name} | {cells} |"


def _judged(one: Claim, drawn: tuple[Reals, Reals]) -> Judgement:
    values = {name: dict(enumerate(found.tolist())) for name, found in zip("ab", drawn, strict=True)}
    return judge(one, lambda side, point: values[side.aqm], [0])


def papers_table(experiments: int) -> Iterator[str]:
    """Yield the lines of the table on the claims of a paper, judged together."""
    yield f"| Values | {' | '.join(f'{runs} runs' for runs in RUNS)} |"
    yield f"|{' --- |' * (len(RUNS) + 1)}"
    for name, draw in DRAWS.items():
        found = [some_refuted(draw, runs, experiments // 10) for runs in RUNS]
        yield f"| {name} | {' | '.join(f'{one:.1%}' for one in found)} |"


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="docs/reference/error-rates.md")
    tables = {"verdicts": table, "papers": papers_table, "configurations": configurations_table}
    marks = {name: (f"<!-- {name}, by scripts/verdict_rates.py -->", f"<!-- end of {name} -->") for name in tables}
    write_or_print(parser.parse_args().write, {marks[name]: made(EXPERIMENTS) for name, made in tables.items()})


if __name__ == "__main__":
    main()
