"""A program in a session of its own: nothing of it is left, whenever an interrupt comes."""

from __future__ import annotations

import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from aqmlab.files import session

SLEEPS = ["sh", "-c", "sleep 60 & echo started; wait"]


def _runs(group: int) -> bool:
    """Whether a process of a group runs: what the machine has yet to bury does not."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False


def _ends(group: int) -> bool:
    """Whether a group ends: killed, it is gone as soon as the machine gets to it."""
    end = time.monotonic() + 30
    while _runs(group):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def all_of_it_ends_with_the_block() -> None:
    with session.alone(SLEEPS, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.stdout.close()
        assert _runs(process.pid)
    assert _ends(process.pid)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def an_interrupt_while_it_starts_ends_it_too(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    number = getattr(signal, name)
    held = signal.signal(number, signal.default_int_handler)
    started: list[int] = []

    class Interrupted(subprocess.Popen[Any]):
        def __init__(self, *words: Any, **how: Any) -> None:
            super().__init__(*words, **how)
            started.append(self.pid)
            signal.raise_signal(number)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    try:
        with pytest.raises(KeyboardInterrupt), session.alone(SLEEPS):
            raise AssertionError("the block was entered")
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, held)
    assert len(started) == 1
    assert _ends(started[0])


def what_cannot_be_started_is_reported() -> None:
    with pytest.raises(FileNotFoundError), session.alone(["no such program"]):
        raise AssertionError("the block was entered")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
