"""The congestion controls of aqm-sim against oracles from their RFCs and drafts: the same window after every event."""

from __future__ import annotations

import functools
import importlib
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import control
import pytest
from control import Answer, Control, History

from aqmlab.scenario.kinds import TRANSPORTS

HERE = Path(__file__).parent
SEEDS = range(40)


def oracles() -> Iterator[dict[str, Callable[[], Control]]]:
    """The controls of every file of this folder that has some."""
    for path in sorted(HERE.glob("*.py")):
        if not path.name.startswith("test_") and re.search("^CONTROLS: dict", path.read_text(), re.MULTILINE):
            yield importlib.import_module(path.stem).CONTROLS


CONTROLS: dict[str, Callable[[], Control]] = {spec: make for controls in oracles() for spec, make in controls.items()}

# Congestion controls without an oracle, and why.
WITHOUT = {
    "fixed": "its window never changes",
}


@pytest.fixture(scope="session")
def program() -> Path:
    return control.build()


@functools.cache
def history(spec: str, seed: int) -> History:
    """A connection, and the oracle's answers."""
    past = History(CONTROLS[spec]())
    past.control.happen(past, random.Random(seed))
    return past


def alike(answer: Answer, expected: Answer, close: float) -> bool:
    """Whether windows and thresholds differ by at most `close` bytes, and rates in the last digits."""
    sizes = all(math.isclose(*pair, rel_tol=0, abs_tol=close) for pair in zip(answer[:2], expected[:2], strict=True))
    rate, wanted = answer[2], expected[2]
    if rate is None or wanted is None:
        return sizes and rate is wanted
    return sizes and math.isclose(rate, wanted, rel_tol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", CONTROLS)
def test_the_window_is_the_oracles_after_every_event(spec: str, seed: int, program: Path) -> None:
    past = history(spec, seed)
    answers = control.rust(spec, past.lines, program)
    for number, (line, answer, expected) in enumerate(zip(past.lines, answers, past.answers, strict=True)):
        same = alike(answer, expected, past.control.close)
        assert same, f"{number}, {line}: {answer}, the oracle has {expected}"


@pytest.mark.parametrize("spec", CONTROLS)
def test_the_histories_meet_everything_that_the_document_distinguishes(spec: str) -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        seen += history(spec, seed).control.seen
    rules = CONTROLS[spec]().rules
    assert rules
    assert all(seen[rule] > 5 for rule in rules), seen


def test_every_congestion_control_has_an_oracle() -> None:
    tried = {spec.split()[0] for spec in CONTROLS}
    controls = {name for name, transport in TRANSPORTS.items() if transport.form == "tcp"}
    missing = controls - tried - WITHOUT.keys()
    assert not missing, f"no oracle in CONTROLS of a file here for {', '.join(sorted(missing))}"
    assert WITHOUT.keys() <= controls - tried, "an exception that is none any longer"
