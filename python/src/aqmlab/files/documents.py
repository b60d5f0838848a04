"""Strict reading of TOML: every error names file, place, key and value, and what is allowed.

Not by msgspec or pydantic: their errors have a place and a type, but neither the value nor the nearest name, and which
keys a table of ours may have often depends on its values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aqmlab.files import toml
from aqmlab.vocabulary.errors import InputError, unknown


class Table:
    """A table of a file. Its keys are taken one by one; a key left over at the end is an error."""

    def __init__(self, entries: Mapping[str, Any], place: str) -> None:
        self._entries = dict(entries)
        self._known: list[str] = []
        self.place = place

    @classmethod
    def read(cls, path: Path) -> Table:
        """Read a file.

        Raises:
            InputError: if it cannot be read or is not TOML.

        """
        return cls(toml.read(path), f"{path}: ")

    def error(self, problem: object) -> InputError:
        """Return the error about this table."""
        return InputError(f"{self.place}{problem}")

    def text(self, key: str, default: str | None = None) -> str:
        """Take a text; without a default it is required."""
        value = self._take(key, default)
        if value is None:
            raise self.error(f"{key}: is missing")
        if not isinstance(value, str):
            raise self.error(f"{key}: '{value}' is not text")
        return value

    def choice(self, key: str, allowed: Iterable[str], default: str) -> str:
        """Take one of several texts."""
        value = self.text(key, default)
        if value not in allowed:
            raise self.error(f"{key}: {unknown('value', value, allowed)}")
        return value

    def flag(self, key: str) -> bool:
        """Take true or false; false unless given."""
        value = self._take(key, False)
        if not isinstance(value, bool):
            raise self.error(f"{key}: '{value}' is neither true nor false")
        return value

    def number(self, key: str, default: float) -> float:
        """Take a number."""
        value = self._take(key, default)
        if not _is_number(value):
            raise self.error(f"{key}: '{value}' is not a number")
        return float(value)

    def count(self, key: str, default: int | None = None, least: int = 1) -> int:
        """Take a whole number; without a default it is required."""
        value = self._take(key, default)
        if value is None:
            raise self.error(f"{key}: is missing")
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.error(f"{key}: '{value}' is out of range: allowed is a whole number of {least} or more")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of texts; empty unless given."""
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self.error(f"{key}: must be a list of texts")
        return tuple(value)

    def numbers(self, key: str) -> dict[str, float]:
        """Take a table of numbers; empty unless given."""
        value = self._take(key, {})
        numeric = isinstance(value, dict) and all(_is_number(entry) for entry in value.values())
        if not numeric:
            raise self.error(f"{key}: must be a table of numbers")
        return {name: float(entry) for name, entry in value.items()}

    def ranges(self, key: str) -> dict[str, tuple[float, float]]:
        """Take a table of pairs of numbers; empty unless given."""
        value = self._take(key, {})
        pairs = isinstance(value, dict) and all(
            isinstance(entry, list) and len(entry) == 2 and all(map(_is_number, entry)) for entry in value.values()
        )
        if not pairs:
            raise self.error(f"{key}: must be a table of pairs of numbers")
        return {name: (float(low), float(high)) for name, (low, high) in value.items()}

    def words(self, key: str) -> dict[str, str]:
        """Take a table of texts; empty unless given."""
        value = self._take(key, {})
        if not isinstance(value, dict) or not all(isinstance(entry, str) for entry in value.values()):
            raise self.error(f"{key}: must be a table of texts")
        return dict(value)

    def named_texts(self, key: str) -> dict[str, str]:
        """Take a table of texts, or a list of texts that are their own keys; empty unless given."""
        if isinstance(self._entries.get(key), dict):
            return self.words(key)
        texts = self.texts(key)
        twice = next((text for text in texts if texts.count(text) > 1), None)
        if twice is not None:
            raise self.error(f"{key}: '{twice}' is given twice")
        return {text: text for text in texts}

    def named_values(self, key: str, name: str) -> dict[str, dict[str, str]]:
        """Take values by what they are called: a table of tables of texts, or (of the one ``name``) of texts alone.

        A list of texts that are their own keys is taken, too; empty unless given.
        """
        found = self._entries.get(key)
        if isinstance(found, dict) and found and all(isinstance(entry, dict) for entry in found.values()):
            return {called: one.rest() for called, one in self.named(key).items()}
        return {called: {name: text} for called, text in self.named_texts(key).items()}

    def table(self, key: str) -> Table | None:
        """Take a table within this one, if it is there."""
        value = self._take(key, None)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(f"{key}: is a table")
        return Table(value, f"{self.place}{key}: ")

    def named(self, key: str) -> dict[str, Table]:
        """Take a table of tables; empty unless given."""
        value = self._take(key, {})
        if not isinstance(value, dict) or not all(isinstance(entry, dict) for entry in value.values()):
            raise self.error(f"{key}: must be a table of tables")
        return {name: Table(entry, f"{self.place}{key}: {name}: ") for name, entry in value.items()}

    def tables(self, key: str, name: str) -> list[Table]:
        """Take a list of tables, keyed by their text under ``name``; empty unless given."""
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            raise self.error(f"{key}: must be a list of tables, as in [[{key}]]")
        called = [str(entry.get(name, number + 1)) for number, entry in enumerate(value)]
        twice = next((one for one in called if called.count(one) > 1), None)
        if twice is not None:
            raise self.error(f"{key}: '{twice}' is given twice")
        return [Table(entry, f"{self.place}{key} {one}: ") for entry, one in zip(value, called, strict=True)]

    def rest(self) -> dict[str, str]:
        """Take all that is left: texts.

        Raises:
            InputError: about an entry that is no text.

        """
        return {key: self.text(key) for key in list(self._entries)}

    def done(self) -> None:
        """Check that no key is left.

        Raises:
            InputError: about an unknown key, with the nearest known one.

        """
        for key in self._entries:
            raise self.error(unknown("key", key, self._known))

    def _take(self, key: str, default: Any) -> Any:
        self._known.append(key)
        return self._entries.pop(key, default)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
