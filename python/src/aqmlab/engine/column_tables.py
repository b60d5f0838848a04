"""Tables of a report: the numbers of each lie in one array, so that those of many runs are joined at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

# Columns of equal length: numbers as an array, text as a list.
Column: TypeAlias = "np.ndarray[Any, np.dtype[Any]] | list[str]"
# Numbers as words of 64 bits, whatever they stand for.
Words: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"
WORD = "<u8"
REAL = "<f8"
# The kind of a column of texts.
TEXT = ""
# What is kept of each of NumPy's kinds of numbers.
_KINDS = {"b": "<i8", "i": "<i8", "u": WORD, "f": REAL}


@dataclass(frozen=True, eq=False)
class Table(Mapping[str, Column]):
    """Columns of equal length, by name.

    Attributes:
        names: the columns in their order.
        kinds: the type of each, ``<i8``, ``<u8`` or ``<f8``, or `TEXT`.
        words: a row for each column of numbers.
        texts: the columns of texts.

    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    words: Words
    texts: Mapping[str, list[str]]

    @classmethod
    def read(
        cls, names: tuple[str, ...], kinds: tuple[str, ...], words: bytes, texts: Mapping[str, list[str]]
    ) -> Table:
        """Return the table of a run of the simulator; there is a number in it."""
        return cls(names, kinds, np.frombuffer(words, WORD).reshape(len(names) - len(texts), -1), texts)

    @classmethod
    def of(cls, columns: Mapping[str, Column]) -> Table:
        """Return columns as a table.

        >>> table = Table.of({"id": np.array([0, 1]), "kind": ["cubic", "reno"], "rtt_ms": np.array([4.0, 5.5])})
        >>> table.kinds, table["kind"], table["rtt_ms"].tolist()
        (('<i8', '', '<f8'), ['cubic', 'reno'], [4.0, 5.5])

        Raises:
            ValueError: if they are not of one length, or hold neither numbers nor texts.

        """
        texts = {name: values for name, values in columns.items() if isinstance(values, list)}
        numbers = {name: _whole(values) for name, values in columns.items() if not isinstance(values, list)}
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise ValueError("the columns are of several lengths")
        words = np.empty((len(numbers), next(iter(lengths), 0)), WORD)
        for place, values in enumerate(numbers.values()):
            words[place] = values.view(WORD)
        kinds = tuple(numbers[name].dtype.str if name in numbers else TEXT for name in columns)
        return cls(tuple(columns), kinds, words, texts)

    @classmethod
    def joined(cls, tables: Sequence[Table]) -> Table:
        """Return the rows of tables that have the same columns."""
        first = tables[0]
        texts = {name: [text for one in tables for text in one.texts[name]] for name in first.texts}
        return cls(first.names, first.kinds, np.concatenate([one.words for one in tables], axis=1), texts)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.words.T)

    def __getitem__(self, name: str) -> Column:
        """Return a column."""
        if name in self.texts:
            return self.texts[name]
        if name not in self.names:
            raise KeyError(name)
        place = self.names.index(name)
        numbers = place - self.kinds[:place].count(TEXT)
        column: Column = self.words[numbers].view(self.kinds[place])
        return column

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self.names)

    def __len__(self) -> int:
        """Return how many columns it has."""
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Histograms(Mapping[str, tuple[Column, Column]]):
    """The middles of the buckets in nanoseconds and their counts, by name.

    Attributes:
        names: the histograms in their order.
        buckets: how many each has.
        words: of each histogram all middles, then all counts.

    """

    names: tuple[str, ...]
    buckets: tuple[int, ...]
    words: Words

    @classmethod
    def read(cls, names: tuple[str, ...], buckets: tuple[int, ...], words: bytes) -> Histograms:
        """Return the histograms of a run of the simulator."""
        return cls(names, buckets, np.frombuffer(words, WORD))

    @classmethod
    def of(cls, histograms: Mapping[str, tuple[Column, Column]]) -> Histograms:
        """Return histograms as one.

        >>> Histograms.of({"qdelay": (np.array([512, 1536]), np.array([9, 1]))})["qdelay"][1].tolist()
        [9, 1]

        Raises:
            ValueError: if middles and counts are not as many.

        """
        if any(len(middles) != len(counts) for middles, counts in histograms.values()):
            raise ValueError("the columns are of several lengths")
        halves = [np.asarray(half).astype(WORD) for pair in histograms.values() for half in pair]
        buckets = tuple(len(middles) for middles, _ in histograms.values())
        return cls(tuple(histograms), buckets, np.concatenate([np.empty(0, WORD), *halves]))

    def __getitem__(self, name: str) -> tuple[Column, Column]:
        """Return a histogram."""
        if name not in self.names:
            raise KeyError(name)
        place = self.names.index(name)
        start, count = 2 * sum(self.buckets[:place]), self.buckets[place]
        return self.words[start : start + count], self.words[start + count : start + 2 * count]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self.names)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.names)


def _whole(values: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    kind = _KINDS.get(values.dtype.kind)
    if kind is None:
        raise ValueError("a column holds no numbers")
    return np.ascontiguousarray(values, kind)
