"""Student's t distribution: its tail and its quantile, which is all that intervals need.

The tail is the regularised incomplete beta function, evaluated by its continued fraction (DLMF 8.17.22).

It is our own since it is more exact than what could replace it. Tests hold it within 2e-12 of scipy, and within 1e-13
of the closed forms. The crate statrs 0.19, measured against it, has the quantile of 0.8 at 9999 degrees wrong by 1e-8,
and tails near zero by 8e-10; scipy takes 114 MB.
"""

from __future__ import annotations

import functools
import math

_TINY = 1e-300
_EPSILON = 1e-16
_MOST_TERMS = 10_000


def two_sided(t: float, degrees: int) -> float:
    """Return the probability that a t-distributed value lies at least this far from zero, on either side.

    >>> round(two_sided(12.706204736, 1), 9)
    0.05

    """
    square = t * t
    if math.isinf(square):
        return 0.0
    return _beta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square))


def above(t: float, degrees: int) -> float:
    """Return the probability that a t-distributed value is larger than this.

    >>> above(0.0, 3), round(above(-12.706204736, 1), 9)
    (0.5, 0.975)

    """
    half = two_sided(t, degrees) / 2
    return half if t > 0.0 else 1.0 - half


@functools.cache
def quantile(confidence: float, degrees: int) -> float:
    """Return the distance from zero that such a value exceeds with probability 1 - ``confidence``, on either side.

    >>> round(quantile(0.95, 4), 6)
    2.776445

    """
    outside = 1.0 - confidence
    low, high = 0.0, 1.0
    while two_sided(high, degrees) > outside:
        low, high = high, 2.0 * high
    # Newton's method on the tail, which is convex; bisection where a step leaves the bracket.
    t = high
    for _ in range(200):
        excess = two_sided(t, degrees) - outside
        low, high = (t, high) if excess > 0.0 else (low, t)
        step = excess / (2.0 * _density(t, degrees))
        following = t + step if low < t + step < high else (low + high) / 2
        if abs(following - t) <= 4e-16 * t:
            return following
        t = following
    return t


def _density(t: float, degrees: int) -> float:
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    return scale * math.exp(-(degrees + 1) / 2 * math.log1p(t * t / degrees))


def _beta(a: float, b: float, x: float, rest: float) -> float:
    """Return I_x(a, b); ``rest`` is 1 - x, passed separately since it may be too small to compute from x."""
    if x <= 0.0 or rest <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    # The fraction converges quickly on this side of the mean; on the other the symmetry of 8.17.4 is used.
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction by Lentz's method, as modified by Thompson and Barnett (1986)."""
    above = 1.0
    below = 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0))
    value = below
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            below = 1.0 / _not_zero(1.0 + term * below)
            above = _not_zero(1.0 + term / above)
            change = above * below
            value *= change
        if abs(change - 1.0) <= _EPSILON:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
