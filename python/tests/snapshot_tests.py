"""A reader of a result folder gets one state of it, the old or the new, whatever a writer does meanwhile."""

from __future__ import annotations

import functools
import io
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from fake import fake_run
from folders import Killed, killed_at

import aqmlab as package
from aqmlab import InputError, Result
from aqmlab.experiment import run_experiment
from aqmlab.files import disk
from aqmlab.results.frames import FRAMES, RUN
from aqmlab.scenario import Experiment, from_values
from aqmlab.store import reading

# How often a folder is read beside a writer, and how many processes load the machine meanwhile; `make store-check` does
# it 10 000 times, and runs the longer scripts below.
READS = int(os.environ.get("AQMLAB_READS", "8"))
LOAD = 4

# What changes the names of a folder: the steps of a writer. And what reads them: the steps of a reader.
_STEPS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir"}
_LOOKS = {"open", "os.scandir", "os.listdir", "os.stat"}
_HEARD = _STEPS | _LOOKS

# What a reader can tell two states by: the runs with their numbers, or why there are none.
State: TypeAlias = str
OnCall: TypeAlias = Callable[[str, str], None]

_listening: list[tuple[int, OnCall]] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    # An audit hook stays for good: it must cost nothing, and break nothing, while nobody listens.
    if not _listening or event not in _HEARD:
        return
    thread, on_call = _listening[-1]
    if thread == threading.get_ident() and isinstance(arguments[0], str | bytes | os.PathLike):
        on_call(event, os.fsdecode(arguments[0]))


sys.addaudithook(_audit)


@contextmanager
def _listened(on_call: OnCall) -> Iterator[None]:
    """Tell about each operation on files of this thread, before it happens."""
    _listening.append((threading.get_ident(), on_call))
    try:
        yield
    finally:
        _listening.pop()


@contextmanager
def _deaf() -> Iterator[None]:
    with _listened(lambda event, path: None):
        yield


def _decoded_once(patch: pytest.MonkeyPatch) -> None:
    """Decode what a reader has read only once: it is the same in most of the interleavings."""
    decode = reading._stored
    known: dict[Any, Any] = {}

    def decoded(folder: Path, head: Any, opened: Any, records: Any) -> reading.StoredResult:
        contents = {name: file.read() for name, file in opened.items()}
        key = (folder, json.dumps(head), *contents.items(), *records.items())
        if key not in known:
            try:
                known[key] = decode(folder, head, {name: io.BytesIO(one) for name, one in contents.items()}, records)
            except InputError as error:
                known[key] = error
        if isinstance(known[key], InputError):
            raise known[key]
        return known[key]

    patch.setattr(reading, "_stored", decoded)


def _conduct(out: Path, seeds: int, aqm: tuple[str, ...] = ("fifo", "codel")) -> Result:
    values = {"rate": "10mbit", "rtt": "40ms", "duration": "3s", "seeds": seeds, "aqm": list(aqm)}
    return run_experiment(Experiment("", (from_values(values),)), "compare", 1, out)


def _make_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqmlab.engine.native.simulate", fake_run)
    monkeypatch.setattr("aqmlab.publishing.publish", lambda result, place: result)


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up runs, and no figures."""
    _make_up(monkeypatch)


def _state(out: Path) -> State:
    """Return what a reader gets; all frames are of the same runs."""
    try:
        result = package.load(out)
    except InputError as error:
        return "none" if "is not a result folder" in str(error) else str(error)
    runs = set(result.runs.select(*RUN).rows())
    for name in FRAMES:
        assert set(getattr(result.frames, name).select(*RUN).rows()) == runs, name
    assert result.manifest["runs_finished"] == len(runs)
    seeds = result.manifest["runs_expected"]
    return json.dumps([seeds, sorted(result.runs.select(*RUN, "cpu_s").rows())])


def _kill(out: Path, seeds: int, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with killed_at(place, monkeypatch), pytest.raises(Killed):
        _conduct(out, seeds)


def _grow(out: Path, patch: pytest.MonkeyPatch) -> None:
    del patch
    _conduct(out, 2)


def _grow_after_a_kill(out: Path, patch: pytest.MonkeyPatch) -> None:
    # Sixteen steps: renames of five frames, the manifest, five frames; two records; three frames of the next commit.
    _kill(out, 2, 16, patch)
    _conduct(out, 2)


def _settle_after_a_kill(out: Path, patch: pytest.MonkeyPatch) -> None:
    # Killed when the manifest and two of the frames of the last commit had been renamed.
    _kill(out, 2, 21, patch)
    _conduct(out, 2)


def _abandon_what_grew(out: Path, patch: pytest.MonkeyPatch) -> None:
    _fail(out, 3, patch)
    _conduct(out, 2)


def _abandon_and_restart(out: Path, patch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(out)
    _fail(out, 2, patch)
    _conduct(out, 2)


def _fail(out: Path, seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse the last run: the folder is abandoned."""
    from aqmlab.engine import native

    made: list[int] = []

    def refused(*arguments: Any) -> Any:
        made.append(1)
        if len(made) == 2:
            raise InputError("the capture has gone")
        return native_run(*arguments)

    native_run = native.simulate
    with monkeypatch.context() as patch:
        patch.setattr(native, "simulate", refused)
        with pytest.raises(InputError, match="the capture has gone"):
            _conduct(out, seeds)


SCRIPTS = [_grow, _settle_after_a_kill, _abandon_and_restart]
if "AQMLAB_READS" in os.environ:
    # These have most steps.
    SCRIPTS += [_grow_after_a_kill, _abandon_what_grew]


def _pictures(
    script: Callable[[Path, pytest.MonkeyPatch], None], tmp_path: Path, patch: pytest.MonkeyPatch
) -> _Pictures:
    out, pictures = tmp_path / "writer" / "out", []
    _conduct(out, 1)

    def take() -> None:
        pictures.append(tmp_path / f"picture-{len(pictures)}")
        pictures[-1].mkdir()
        if out.exists():
            shutil.copytree(out, pictures[-1], dirs_exist_ok=True)

    def stepped(event: str, path: str) -> None:
        if event in _STEPS and Path(path).is_relative_to(out):
            with _deaf():
                take()

    append = disk.append

    def appended(file: int, content: bytes, *, durable: bool) -> None:
        # Python has no audit event for it. A picture halfway, and one when it is whole.
        append(file, content[: len(content) // 2], durable=durable)
        with _deaf():
            take()
        append(file, content[len(content) // 2 :], durable=durable)

    with _listened(stepped), pytest.MonkeyPatch.context() as appends:
        appends.setattr(disk, "append", appended)
        script(out, patch)
    take()
    return _Pictures(pictures)


class _Schedule:
    """One interleaving: which state of the folder each look of a reader meets, and how many others there are.

    A look tells two states apart only by what it finds. Of the later states in which it finds the same the earliest is
    enough: whatever can follow a later one can follow it too.
    """

    def __init__(self, pictures: _Pictures, link: Path, choices: list[int]) -> None:
        self.pictures, self.link, self.choices = pictures, str(link), choices
        self.options: list[int] = []
        self.visited: list[int] = [0]
        self._point()

    def look(self, event: str, path: str) -> None:
        if event not in _LOOKS or not path.startswith(self.link):
            return
        with _deaf():
            found = self.pictures.found(path[len(self.link) :].strip("/"))
            earliest: dict[int, int] = {}
            for number in range(self.visited[-1], len(found)):
                earliest.setdefault(found[number], number)
            at = len(self.options)
            self.options.append(len(earliest))
            self.visited.append(list(earliest.values())[self.choices[at] if at < len(self.choices) else 0])
            if self.visited[-1] != self.visited[-2]:
                os.unlink(self.link)
                self._point()

    def _point(self) -> None:
        os.symlink(self.pictures.paths[self.visited[-1]], self.link)


class _Pictures:
    """A folder as it was before and after each step of a writer that changes what a reader sees."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths

    @functools.cache  # noqa: B019 (there are few)
    def found(self, place: str) -> list[int]:
        """Return what is at a place in each of the pictures, as a number that is the same for the same."""
        numbers: dict[Any, int] = {}
        return [numbers.setdefault(_content(path / place), len(numbers)) for path in self.paths]


def _content(path: Path) -> Any:
    if path.is_dir():
        return tuple(sorted(os.listdir(path)))
    return path.read_bytes() if path.exists() else None


def _interleavings(pictures: _Pictures, link: Path) -> Iterator[tuple[_Schedule, State]]:
    """Read the folder in every order in which its steps and those of a reader can follow each other."""
    choices: list[int] = []
    look = os.stat

    def stat(path: Any, *arguments: Any, **more: Any) -> os.stat_result:
        # Python has no audit event for it.
        if _listening:
            _listening[-1][1]("os.stat", os.fsdecode(path))
        return look(path, *arguments, **more)

    while True:
        link.unlink(missing_ok=True)
        schedule = _Schedule(pictures, link, choices)
        with pytest.MonkeyPatch.context() as patch, _listened(schedule.look):
            patch.setattr(os, "stat", stat)
            state = _state(link)
        yield schedule, state
        choices = [*choices, *[0] * (len(schedule.options) - len(choices))]
        while choices and choices[-1] + 1 == schedule.options[len(choices) - 1]:
            choices.pop()
        if not choices:
            return
        choices[-1] += 1


@pytest.mark.timeout(600)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__.strip("_"))
def a_reader_gets_one_state_in_every_interleaving_with_a_writer(
    script: Callable[[Path, pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = _pictures(script, tmp_path, monkeypatch)
    # Each of them is also what a writer leaves that is killed there.
    states = [_state(path) for path in pictures.paths]
    assert all(state == "none" or state.startswith("[") for state in states), states
    assert len(set(states)) >= 3
    # A reader that starts again has forgotten what it saw. So one attempt from every state is all attempts.
    monkeypatch.setattr(reading, "ATTEMPTS", 1)
    _decoded_once(monkeypatch)
    manifests = pictures.found("manifest.json")
    counts = {"one state": 0, "starts again": 0}
    for schedule, state in _interleavings(pictures, tmp_path / "link"):
        first, last = schedule.visited[1], schedule.visited[-1]
        if state == f"{tmp_path / 'link'}: is being written: try again":
            # Only because a writer has got on.
            assert manifests[first] != manifests[last], schedule.visited
            counts["starts again"] += 1
        else:
            assert state in states[first : last + 1], (schedule.visited, state)
            counts["one state"] += 1
    print(f"{script.__name__}: {len(states)} steps of the writer, {counts}")
    assert all(count > 10 for count in counts.values())


# Grows a folder seed by seed, begins again when it is large, and ends when there is a file beside it.
WRITER = """
import sys
from pathlib import Path
import pytest
import snapshot_tests as tests
from aqmlab import store

out = Path(sys.argv[1])
tests._make_up(pytest.MonkeyPatch())
first = tests._conduct(out, 1)
while not (out.parent / "over").exists():
    for seeds in range(2, 6):
        tests._conduct(out, seeds)
    with store.opened(out) as place:
        place.commit(first.manifest, first.frames)
"""
BURNER = """
import sys
from pathlib import Path

while not (Path(sys.argv[1]).parent / "over").exists():
    sum(range(1_000_000))
"""


@pytest.mark.timeout(240 + READS)
def every_read_beside_a_writer_on_a_loaded_machine_gets_one_state(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = _conduct(out, 1)
    path = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    others = [
        subprocess.Popen([sys.executable, "-c", program, str(out)], env=path) for program in (WRITER, *[BURNER] * LOAD)
    ]
    seen: dict[tuple[int, int], int] = {}
    try:
        until = time.monotonic() + 60
        while len(package.load(out).runs) == len(first.runs):
            # The writer has not begun.
            assert time.monotonic() < until
        until = time.monotonic() + 60
        while sum(seen.values()) < READS or (len(seen) == 1 and time.monotonic() < until):
            expected, runs = json.loads(_state(out))
            # All runs of the state before, and none, one or both of the seed that is added.
            assert expected - 2 <= len(runs) <= expected, (expected, runs)
            assert all(seed <= expected // 2 for _, _, seed, _ in runs)
            seen[expected, len(runs)] = seen.get((expected, len(runs)), 0) + 1
    finally:
        (tmp_path / "over").touch()
        ended = [one.wait(100) for one in others]
    print(f"{sum(seen.values())} reads: {dict(sorted(seen.items()))}")
    assert not any(ended)
    assert len(seen) > 1
