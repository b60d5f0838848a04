"""A manifest may have been written by anybody: whatever is in it, an error is one line, and never a traceback."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from folders import manifest

import aqmlab as package
from aqmlab import CheckError, InputError, MachineError, Result, exports, plots, report
from aqmlab.cli import answer
from aqmlab.cli.terminal import Terminal
from aqmlab.experiment import run_experiment
from aqmlab.scenario import Experiment, from_values, swept
from aqmlab.store import seal

# One in so many edits is tried; `make store-check` tries all of them.
EVERY = int(os.environ.get("AQMLAB_EDITS", "250"))
# A value of each type of JSON, and such that are near to right ones.
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    5,
    1.5,
    1e300,
    "",
    "x",
    "10mbit",
    [],
    [0],
    ["x"],
    {},
    {"x": 0},
    {"x": "x"},
)
BASE = {"rate": "2mbit", "duration": "300ms", "warmup": "0s", "aqm": ["fifo", "codel"], "flows": ["1*cubic", "1*voip"]}


def _plain(out: Path, seeds: int = 3, **more: Any) -> Result:
    """A comparison of one scenario, with every option that adds something to its manifest."""
    values = {**BASE, "rtt": "40ms", "measure": ["bottleneck,back"], "seeds": seeds}
    return run_experiment(Experiment("", (from_values(values),)), "compare", 1, out, no_size_check=True, **more)


def _swept(out: Path, seeds: int = 3, **more: Any) -> Result:
    """A sweep of two scenarios."""
    experiment = swept({**BASE, "aqm": ["codel target $target", "fifo"], "seeds": seeds, "rtt": "40ms"},
                       {"target": "5ms,10ms"})  # fmt: skip
    return run_experiment(experiment, "sweep", 1, out, no_size_check=True, **more)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return where there is a value in JSON, and what is in it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield (*place, name)
        yield from _places(one, (*place, name))


def _edited(entries: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(entries)
    inner: Any = changed
    for name in place[:-1]:
        inner = inner[name]
    if value is _GONE:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return changed


_GONE = object()


@contextmanager
def _tried(what: str, counts: Counter[str], failed: list[str]) -> Iterator[None]:
    try:
        yield
        counts["done"] += 1
    except (InputError, CheckError, MachineError) as error:
        counts["refused"] += 1
        if "\n" in str(error).strip():
            failed.append(f"{what}: not one line: {error}")
    except Exception:
        failed.append(f"{what}: {traceback.format_exc()}")


def _uses(make: Any, folder: Path, other: Path, scratch: Path) -> Iterator[tuple[str, Any]]:
    """Return everything that is done with a result folder, by name; figures are not painted."""

    def grow() -> None:
        shutil.copytree(folder, scratch / "grown")
        make(scratch / "grown", seeds=4, with_report=False)

    def merge() -> None:
        package.merge([folder, other], scratch / "merged")

    def rewrite() -> None:
        shutil.copytree(folder, scratch / "again")
        package.experiment.report(scratch / "again")

    def draw() -> None:
        result = package.load(folder)
        for kind in plots.KINDS:
            # Some have nothing to show here.
            with suppress(InputError):
                plots.figures(kind, [result])

    yield "show", lambda: Terminal().print(answer.result(package.load(folder), folder, 100, verbose=True))
    yield "json", lambda: package.load(folder).to_json()
    yield "report", rewrite
    yield "page", lambda: report.render(package.load(folder), [])
    yield "notebook", lambda: package.load(folder)._repr_html_()
    yield "grow", grow
    yield "merge", merge
    yield "plot", draw
    yield "csv", lambda: exports.csv(package.load(folder))
    yield "flent", lambda: exports.flent(package.load(folder))
    yield "pcapng", lambda: exports.pcapng(package.load(folder))


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("make", [_plain, _swept], ids=lambda make: make.__name__.strip("_"))
def no_value_in_a_manifest_makes_a_traceback(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Painting takes longest, and sees only tables.
    monkeypatch.setattr("aqmlab.plots.drawable", lambda result: ([], []))
    folder, other = tmp_path / "folder", tmp_path / "other"
    stop = {"metric": "qdelay_mean_ms", "share": 0.05, "most": 200, "pilot": 3, "needed": 2, "seeds": 3}
    make(folder, stop=stop, shard=None)
    make(other)
    whole = manifest(folder)
    edits = [(place, value) for place in _places(whole) for value in (*VALUES, _GONE)]
    chosen = random.Random(1).sample(edits, len(edits) // EVERY)
    counts: Counter[str] = Counter()
    failed: list[str] = []
    for place, value in chosen:
        edited = _edited(whole, place, value)
        (folder / "manifest.json").write_text(json.dumps(seal.sealed(edited)))
        shown = "gone" if value is _GONE else json.dumps(value)
        before = counts["refused"]
        with _tried(f"{place} = {shown}: load", counts, failed):
            package.load(folder)
        if counts["refused"] > before:
            # All others begin with it.
            continue
        for name, use in _uses(make, folder, other, tmp_path / "scratch"):
            with _tried(f"{place} = {shown}: {name}", counts, failed):
                use()
        shutil.rmtree(tmp_path / "scratch", ignore_errors=True)
    capsys.readouterr()
    with capsys.disabled():
        print(f"{len(chosen)} edits of {len(edits)}: {dict(counts)}, {len(failed)} tracebacks")
    assert not failed, "\n".join(failed[:20])
    assert counts["refused"] > len(chosen) / 4
    assert counts["done"] > len(chosen) / 4


@pytest.mark.parametrize("version", [1, 2])
def everything_that_is_done_with_a_folder_is_done_with_an_older_one(version: int, tmp_path: Path) -> None:
    folder = Path(__file__).parent / "golden" / f"format-{version}"
    counts: Counter[str] = Counter()
    failed: list[str] = []
    for name, use in _uses(_plain, folder, tmp_path / "none", tmp_path):
        with _tried(name, counts, failed):
            use()
    assert not failed, "\n".join(failed)
    # By another version to grow or to make runs again is refused, and there is nothing to merge it with.
    assert counts["done"] >= 8
