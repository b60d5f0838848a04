"""Many result folders loaded in one process: what is not kept is free at once, whatever was asked of it."""

from __future__ import annotations

import gc
import os
import shutil
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab.plots import figures
from aqmlab.results.brief import brief
from aqmlab.results.headline import headlines
from aqmlab.results.sheets import sheets

FOLDERS = 200
# What allocators hold back differs by some megabytes from load to load; the frames of so many folders take a hundred.
MOST_GROWTH = 16 << 20

# What is asked of a result in a loop over folders.
ASKED: dict[str, Callable[[aqmlab.Result], Any]] = {
    "nothing": lambda result: None,
    "its frames": lambda result: (result.runs, result.flows, result.series),
    "its statistics": lambda result: (result.rows, result.comparisons, result.rankings, result.summary),
    "its tables": lambda result: (brief(result), headlines(result), sheets(result)),
    "its figures": lambda result: figures("tradeoff", [result]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small result."""
    place = tmp_path_factory.mktemp("many") / "one"
    options: dict[str, Any] = {
        "rate": "10mbit",
        "rtt": "20ms",
        "flows": ["2*cubic", "1*voip"],
        "seeds": 2,
        "duration": "4s",
    }
    aqmlab.compare(aqm=["fifo", "codel"], out=str(place), **options)
    return place


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leave what is in a circle where it is: the collector comes rarely, and large frames are few objects."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("asked", ASKED)
def a_result_that_is_not_kept_is_free_without_the_collector(folder: Path, asked: str) -> None:
    with _uncollected():
        result = aqmlab.load(str(folder))
        known = [weakref.ref(result), *(weakref.ref(frame) for frame in (result.frames.runs, result.frames.series))]
        ASKED[asked](result)
        del result
        assert [one() for one in known] == [None, None, None]


def memory_and_open_files_do_not_grow_from_folder_to_folder(folder: Path, tmp_path: Path) -> None:
    resident, opened = [], []
    for number in range(FOLDERS):
        # A cache by path has a path of its own each time.
        place = shutil.copytree(folder, tmp_path / f"{number}")
        result = aqmlab.load(str(place))
        _ = result.rows, result.comparisons, result.summary
        del result
        shutil.rmtree(place)
        resident.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        opened.append(len(os.listdir("/proc/self/fd")))
    assert resident[-1] - max(resident[: FOLDERS // 4]) < MOST_GROWTH
    assert opened[-1] == opened[0]
