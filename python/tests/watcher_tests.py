"""Who follows an experiment."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import aqmlab
from aqmlab.runs import watcher
from aqmlab.runs.runner import Progress


class _Display:
    """What a notebook shows: IPython's display, as far as it is used."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    HTML = staticmethod(str)

    def display(self, text: str, *, display_id: bool) -> _Display:
        assert display_id
        self.shown.append(text)
        return self

    def update(self, text: str) -> None:
        self.shown[-1] = text


def _ipython(monkeypatch: pytest.MonkeyPatch, shell: Any) -> _Display:
    display = _Display()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell, display=display))
    return display


def a_notebook_shows_a_line_while_it_simulates_and_nothing_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    display = _ipython(monkeypatch, SimpleNamespace(kernel=object()))
    updates: list[str] = []
    monkeypatch.setattr(_Display, "update", lambda self, text: updates.append(text))
    aqmlab.compare(rate="10mbit", rtt="40ms", aqm=["fifo", "codel"], duration="1s", seeds=2)
    assert display.shown == ["simulating: 0 of 4 runs"]
    assert updates[-1] == ""


def the_line_says_how_far_it_is_but_not_more_often_than_one_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr(watcher.time, "monotonic", lambda: now[0])
    display = _Display()
    line = watcher.Line(display)
    line.on_plan(20, 0)
    now[0] += 0.2
    line.on_progress(Progress(3, 20, 50.0, 200.0))
    assert display.shown == ["simulating: 0 of 20 runs"]
    now[0] += 0.1
    line.on_progress(Progress(5, 20, 50.0, 200.0))
    assert display.shown == ["simulating: 5 of 20 runs, 25% of the simulated time"]
    line.on_progress(Progress(20, 20, 200.0, 200.0))
    assert display.shown == [""]
    line.on_plan(2, 18)
    assert display.shown == ["simulating: 0 of 2 runs; 18 were finished"]


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])
def nobody_is_notified_without_a_notebook(monkeypatch: pytest.MonkeyPatch, shell: Any) -> None:
    display = _ipython(monkeypatch, shell)
    aqmlab.compare(rate="10mbit", rtt="40ms", aqm="fifo", duration="1s", seeds=1)
    assert display.shown == []


def nothing_is_shown_where_nothing_is_to_be_made() -> None:
    display = _Display()
    watcher.Line(display).on_plan(0, 4)
    assert display.shown == []
