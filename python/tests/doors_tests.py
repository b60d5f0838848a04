"""What people write means the same through every door: see `tests/doors`. Here: command line, file and Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

from aqmlab import InputError, compare, experiment, scenario
from aqmlab.cli import compare as cli
from aqmlab.experiment import Experiment
from aqmlab.scenario.options import Options

FOLDER = ROOT / "tests/doors"
RIGHT: list[dict[str, Any]] = json.loads((FOLDER / "right.json").read_text())
WRONG: list[dict[str, Any]] = json.loads((FOLDER / "wrong.json").read_text())
SWEEPS: list[dict[str, Any]] = json.loads((FOLDER / "sweeps.json").read_text())
WRONG_SWEEPS: list[dict[str, Any]] = json.loads((FOLDER / "wrong_sweeps.json").read_text())
SWEPT = (FOLDER / "sweeps.jsonl").read_text().splitlines()
SWEEP_REFUSALS = (FOLDER / "sweep_refusals.txt").read_text().splitlines()
SCENARIOS = (FOLDER / "scenarios.jsonl").read_text().splitlines()
REFUSALS = (FOLDER / "refusals.txt").read_text().splitlines()

# What a written scenario leaves out where it has these values.
LEFT_OUT = {
    "mser5": False, "observe": [], "record": None, "trace": False, "log": False, "measure": [], "topology": None,
}  # fmt: skip
LEFT_OUT_OF_FLOWS: dict[str, Any] = {"spacing_ns": 0, "from": [], "to": []}

Door = Callable[[dict[str, Any]], Experiment]


class Seen(Exception):  # noqa: N818 (no error)
    """The experiment has come so far; nothing is run."""


@pytest.fixture
def doors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, aqmlab: Command) -> dict[str, Door]:
    """Each door as a function from options to the experiment that would be run."""
    seen: list[Experiment] = []

    def stop(asked: Experiment, *_: Any, **__: Any) -> None:
        seen.append(asked)
        raise Seen

    def through_command(*arguments: str) -> Experiment:
        with monkeypatch.context() as patch:
            patch.setattr(cli, "run_and_show", lambda asked, *_: seen.append(asked))
            assert aqmlab(*arguments).status == 0
        return seen.pop()

    def through_python(options: dict[str, Any]) -> Experiment:
        with monkeypatch.context() as patch:
            patch.setattr(experiment, "run_experiment", stop)
            with pytest.raises(Seen):
                compare(**options)
        return seen.pop()

    return {
        "command line": lambda options: through_command(_command(options), *_arguments(options)),
        "file": lambda options: through_command("run", str(_file(tmp_path, options))),
        "Python": through_python,
    }


def _command(options: dict[str, Any]) -> str:
    return "sweep" if "sweep" in options else "compare"


def _arguments(options: dict[str, Any]) -> list[str]:
    pairs = [(name, text) for name, given in options.items() for text in ([given] if isinstance(given, str) else given)]
    return [f"--{name.replace('_', '-')}={text}" for name, text in pairs]


def _file(folder: Path, options: dict[str, Any]) -> Path:
    path = folder / "door.toml"
    # Texts and lists of texts are the same in both notations.
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in options.items() if name != "sweep"]
    swept = [text.partition("=") for text in options.get("sweep", ())]
    lines += ["[sweep]\n", *(f"{name} = {json.dumps(values)}\n" for name, _, values in swept)] if swept else []
    path.write_text("".join(lines))
    return path


def _written(point: Options) -> str:
    (found,) = scenario.resolve(point).scenarios.values()
    flows = [{**LEFT_OUT_OF_FLOWS, **group} for group in found.data()["flows"]]
    return json.dumps({**LEFT_OUT, **found.data(), "flows": flows}, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize("number", range(len(RIGHT)))
def a_text_is_the_same_scenario_through_every_door(doors: dict[str, Door], number: int) -> None:
    for name, door in doors.items():
        assert _written(door(RIGHT[number]).points[0]) == SCENARIOS[number], name


@pytest.mark.parametrize("number", range(len(WRONG)))
def a_wrong_text_is_refused_alike_through_every_door(aqmlab: Command, tmp_path: Path, number: int) -> None:
    # Each door has transports of its own.
    count = re.compile(r"nearest of \d+")
    options, refusal = WRONG[number], count.sub("nearest", REFUSALS[number])
    option = refusal.split(":", 1)[0]
    ended = aqmlab("compare", *_arguments(options))
    assert (ended.status, count.sub("nearest", ended.line)) == (2, f"--{refusal}")
    path = _file(tmp_path, options)
    ended = aqmlab("run", str(path))
    assert (ended.status, count.sub("nearest", ended.line)) == (2, f"{path}: {refusal}")
    with pytest.raises(InputError) as raised:
        compare(**options)
    assert (count.sub("nearest", str(raised.value)), raised.value.option) == (refusal, option)


@pytest.mark.parametrize("number", range(len(SWEEPS)))
def a_sweep_is_the_same_scenarios_through_every_door(doors: dict[str, Door], number: int) -> None:
    for name in ("command line", "file"):
        points = doors[name](SWEEPS[number]).points
        assert f"[{','.join(map(_written, points))}]" == SWEPT[number], name


@pytest.mark.parametrize("number", range(len(WRONG_SWEEPS)))
def a_wrong_sweep_is_refused_alike_through_every_door(aqmlab: Command, tmp_path: Path, number: int) -> None:
    # The laboratory knows options that name files, too: others may be nearest.
    count = re.compile(r"nearest of \d+ are [^;:]*|nearest are [^;:]*")
    options, refusal = WRONG_SWEEPS[number], count.sub("nearest", SWEEP_REFUSALS[number])
    ended = aqmlab("sweep", *_arguments(options))
    assert (ended.status, count.sub("nearest", ended.line)) == (2, f"--{refusal}")
    if all("=" in text for text in options["sweep"]) and "twice" not in refusal:
        path = _file(tmp_path, options)
        ended = aqmlab("run", str(path))
        assert (ended.status, count.sub("nearest", ended.line)) == (2, f"{path}: {refusal}")


def there_are_sixty_of_each() -> None:
    assert len(RIGHT) == len(SCENARIOS) >= 60
    assert len(WRONG) == len(REFUSALS) >= 60
