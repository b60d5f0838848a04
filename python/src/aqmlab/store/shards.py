"""Shards: an experiment in parts, made anywhere and merged into the folder that one machine would have written.

Every run that has to be made counts in the order of the experiment; shard 3/20 has the 3rd, the 23rd, and so on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from aqmlab.engine import Task
from aqmlab.results import swept
from aqmlab.results.frames import FRAMES, RUN, Frames
from aqmlab.store.manifest import concluded
from aqmlab.store.reading import StoredResult
from aqmlab.vocabulary.errors import InputError, about

# The one column of a run that its processor decides, not its scenario.
_MEASURED = "cpu_s"
_NO_PAGES: dict[str, Any] = {"of": "", "files": [], "warnings": []}


@dataclass(frozen=True)
class Shard:
    """One of equal parts of an experiment.

    >>> Shard.parse("2/3").part("abcdefg")
    'be'

    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a shard.

        Raises:
            InputError: saying what is allowed.

        """
        found = re.fullmatch("([0-9]{1,6})/([0-9]{1,6})", text)
        number, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= of:
            raise about("shard", f"'{text}' is not K/N, one of N parts, as 3/20")
        return cls(number, of)

    def part(self, runs: Any) -> Any:
        """Return its part of a sequence."""
        return runs[self.number - 1 :: self.of]

    def tasks(self, tasks: Sequence[Task]) -> list[Task]:
        """Return its tasks; those that one run answers are in the same shard."""
        own = set(self.part(list(dict.fromkeys(task.key for task in tasks))))
        return [task for task in tasks if task.key in own]

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass(frozen=True)
class Merged:
    """The parts together, and what there is to say about them."""

    manifest: dict[str, Any]
    frames: Frames
    notices: tuple[str, ...]
    missing: str


def merged(parts: Mapping[Path, StoredResult]) -> Merged:
    """Return the runs of all parts as one result; a run that several parts have, and have equally, is stored once.

    Raises:
        InputError: if they are parts of different experiments, or differ in a run, naming both folders.

    """
    (first, whole), *others = parts.items()
    frames, notices = whole.frames, []
    for folder, stored in others:
        _check_same(first, whole.manifest, folder, stored.manifest)
        both = stored.frames.runs.select(*RUN).join(frames.runs.select(*RUN), on=list(RUN), how="semi")
        if len(both):
            _check_equal(folder, _of(stored.frames, both, "semi"), _of(frames, both, "semi"))
            notices.append(
                f"{folder}: {len(both)} of its {len(stored.frames.runs)} runs are in other parts too, and equal"
            )
        frames = frames.joined(_of(stored.frames, both, "anti"))
    head = whole.manifest
    points = head["points"]
    expected = sum(len(one["scenario"]["aqm"]) * len(one["scenario"]["seeds"]) for one in points)
    frames = frames.sorted([aqm["label"] for aqm in points[0]["scenario"]["aqm"]])
    frames = swept.tagged(frames, [one["point"] for one in points])
    failures = list(dict.fromkeys(text for stored in parts.values() for text in stored.manifest["failures"]))
    warnings = list(dict.fromkeys(text for stored in parts.values() for text in stored.manifest["plan_warnings"]))
    head = {name: value for name, value in head.items() if name != "shard"}
    head = {**head, "plan_warnings": warnings, "runs_expected": expected, "pages": _NO_PAGES}
    head = concluded(head, frames, failures)
    return Merged(head, frames, tuple(notices), _missing(parts, len(frames.runs), expected))


def _missing(parts: Mapping[Path, StoredResult], there: int, expected: int) -> str:
    """Return in words what is missing."""
    if there == expected:
        return ""
    found = [Shard.parse(stored.manifest["shard"]) for stored in parts.values() if "shard" in stored.manifest]
    numbers = {shard.number for shard in found}
    why = [
        f"{folder} has {stored.manifest['runs_finished']} of its {stored.manifest['runs_expected']}"
        for folder, stored in parts.items()
        if stored.manifest["partial"]
    ]
    if len({shard.of for shard in found}) == 1 and len(found) == len(parts):
        absent = [f"{number}/{found[0].of}" for number in range(1, found[0].of + 1) if number not in numbers]
        why += [f"shard{'s' if len(absent) > 1 else ''} {', '.join(absent)} missing"] if absent else []
    return f"{expected - there} of {expected} runs are missing" + (f" ({'; '.join(why)})" if why else "")


def _check_same(first: Path, one: Mapping[str, Any], folder: Path, other: Mapping[str, Any]) -> None:
    def refused(why: str) -> InputError:
        return InputError(f"{folder}: is a part of another experiment than {first}: {why}")

    if one["code"] != other["code"]:
        raise refused(f"it is by another version of aqmlab ({other['code']}, not {one['code']})")
    places, theirs = ([point["point"] for point in head["points"]] for head in (one, other))
    if places != theirs:
        raise refused("its sweep has other scenarios")
    for here, there in zip(one["points"], other["points"], strict=True):
        for name in {**here["scenario"], **there["scenario"]}:
            if here["scenario"].get(name) != there["scenario"].get(name):
                raise refused(f"its {name} is {_words(there, name)}, not {_words(here, name)}")
        # By content: each machine may have them in a place of its own.
        if sorted(here["files"].values()) != sorted(there["files"].values()):
            raise refused(f"the content of {', '.join(here['files'])} differs")


def _words(point: Mapping[str, Any], name: str) -> str:
    value = point["scenario"].get(name)
    if name == "aqm":
        return ", ".join(aqm["label"] for aqm in value)
    if name == "seeds":
        return f"{value[0]} to {value[-1]}"
    return value if isinstance(value, str) else json.dumps(value)


def _of(frames: Frames, runs: pl.DataFrame, how: Any) -> Frames:
    """Return the rows of some runs (``semi``), or of all others (``anti``)."""
    return frames.each(lambda frame: frame.join(runs, on=list(RUN), how=how, maintain_order="left"))


def _check_equal(folder: Path, one: Frames, other: Frames) -> None:
    labels = one.runs["aqm"].unique(maintain_order=True).to_list()
    one, other = one.sorted(labels), other.sorted(labels)
    for name in FRAMES:
        # Swept values are added at the end.
        ours, theirs = getattr(one, name), getattr(other, name)
        shared = [column for column in ours.columns if column in theirs.columns and column != _MEASURED]
        if not ours.select(shared).equals(theirs.select(shared)):
            raise InputError(f"{folder}: its runs differ from the same runs in another part ({name}): one is damaged")
