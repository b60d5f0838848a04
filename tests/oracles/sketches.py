"""The three sketches of Zhu et al. section 3.1, from their papers; which counters are a key's, from `sketch/rows.rs`.

Count-min: Cormode and Muthukrishnan 2005. Conservative update: Estan and Varghese 2003. Count sketch: Charikar, Chen
and Farach-Colton 2002, whose median of an even number of rows is the mean of the two in the middle, rounded down.
"""

from __future__ import annotations

import statistics
from abc import ABC, abstractmethod
from math import floor

BITS_64 = 2**64
# SplitMix64 (Steele, Lea and Flood 2014): its increment, and the two factors of its finalizer.
INCREMENT = 0x9E3779B97F4A7C15
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def mix(key: int) -> int:
    """The finalizer of SplitMix64."""
    key = (key ^ key >> 30) * FACTORS[0] % BITS_64
    key = (key ^ key >> 27) * FACTORS[1] % BITS_64
    return key ^ key >> 31


class Sketch(ABC):
    """`depth` rows of `width` counters."""

    def __init__(self, width: int, depth: int) -> None:
        self.width, self.depth = width, depth
        self.clear()

    def clear(self) -> None:
        """Reset all counters."""
        self.rows = [[0] * self.width for _ in range(self.depth)]

    def places(self, key: int) -> list[tuple[list[int], int, int]]:
        """The key's row, column and sign, row by row.

        Two rows have one hash, its lower and its upper half; the next two the hash of the key one increment further.
        The column is the half as a fraction of 2^32, times the width; an odd half counts downwards in the count sketch.
        """
        found = []
        for number, row in enumerate(self.rows):
            bits = mix((key + number // 2 * INCREMENT) % BITS_64) >> 32 * (number % 2) & 0xFFFFFFFF
            found.append((row, bits * self.width // 2**32, -1 if bits % 2 else 1))
        return found

    @abstractmethod
    def query(self, key: int) -> int:
        """The estimate of what was added under the key."""

    @abstractmethod
    def add(self, key: int, value: int) -> None:
        """Add a value under the key."""


class CountMin(Sketch):
    """All counters of a key are raised; the smallest is the estimate."""

    def query(self, key: int) -> int:
        return min(row[column] for row, column, _ in self.places(key))

    def add(self, key: int, value: int) -> None:
        for row, column, _ in self.places(key):
            row[column] += value


class Conservative(CountMin):
    """Counters are raised no further than to the new estimate."""

    def add(self, key: int, value: int) -> None:
        estimate = self.query(key) + value
        for row, column, _ in self.places(key):
            row[column] = max(row[column], estimate)


class CountSketch(Sketch):
    """A key counts upwards or downwards; the median is the estimate, at least zero."""

    def query(self, key: int) -> int:
        return max(0, floor(statistics.median(sign * row[column] for row, column, sign in self.places(key))))

    def add(self, key: int, value: int) -> None:
        for row, column, sign in self.places(key):
            row[column] += sign * value
