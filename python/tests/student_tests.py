"""Student's t: against the tables, closed forms and scipy."""

from __future__ import annotations

import math

import pytest
from scipy import special

from aqmlab.stats.student import above, quantile, two_sided

DEGREES = [*range(1, 60), 99, 199, 499]


def quantiles_agree_with_the_tables() -> None:
    table = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 29: 2.045}
    assert {degrees: round(quantile(0.95, degrees), 3) for degrees in table} == table


@pytest.mark.parametrize("t", [1e-9, 0.3, 1.0, 4.0, 1e3, 1e9])
def tails_of_one_and_two_degrees_have_a_closed_form(t: float) -> None:
    assert two_sided(t, 1) == pytest.approx(2.0 / math.pi * math.atan2(1.0, t), rel=1e-13)
    root = math.sqrt(2.0 + t * t)
    assert two_sided(t, 2) == pytest.approx(2.0 / (root * (root + t)), rel=1e-13)


@pytest.mark.parametrize("degrees", DEGREES)
def tails_and_quantiles_agree_with_scipy(degrees: int) -> None:
    # For values below 0.1 scipy itself has errors of up to 3e-9, as the closed forms show.
    for t in (0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0):
        assert two_sided(-t, degrees) == pytest.approx(2.0 * special.stdtr(degrees, -t), rel=2e-12)
        assert above(t, degrees) == pytest.approx(special.stdtr(degrees, -t), rel=2e-12)
        assert above(-t, degrees) == pytest.approx(special.stdtr(degrees, t), rel=2e-12)
    for confidence in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
        assert quantile(confidence, degrees) == pytest.approx(special.stdtrit(degrees, (1 + confidence) / 2), rel=2e-12)


def nothing_lies_beyond_infinity_and_everything_beyond_zero() -> None:
    assert (two_sided(math.inf, 3), two_sided(1e200, 3), two_sided(0.0, 3)) == (0.0, 0.0, 1.0)
