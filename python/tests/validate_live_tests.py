"""The comparison of the live link: its cells run in the engines they are for, and a finished run is not run again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, loaded

from aqmlab import engine, scenario

SCRIPT = loaded(ROOT / "validate/live/compare.py", "validate_live")


def _options(*arguments: str) -> argparse.Namespace:
    options: argparse.Namespace = SCRIPT._options(arguments)
    return options


def _row(cell: Any, seed: int, options: argparse.Namespace) -> Any:
    return SCRIPT._row(cell, seed, options, [9.5, 10.0 + seed, 0.01], "a test", 0.1, 1.0)


def _built(cell: Any, seed: int, options: argparse.Namespace) -> Any:
    return SCRIPT._row(cell, seed, options, [9.5, 10.0, 0.01], SCRIPT.build())


def there_are_120_cells_and_the_kernel_runs_all_that_are_not_ours_alone() -> None:
    cells = SCRIPT.cells(_options())
    assert len(set(cells)) == 120
    for cell in cells:
        if (cell.flows, cell.rate, cell.rtt) != (1, "10mbit", "20ms"):
            continue
        given = {"aqm": cell.aqm, "flows": SCRIPT.flows(cell), "rate": cell.rate, "rtt": cell.rtt}
        (found,) = scenario.resolve(scenario.from_values(given, place=cell.name)).scenarios.values()
        assert not engine.find("native").refusal(found)
        is_known = cell.aqm.split(":")[0] in engine.ENGINES["linux"].capabilities.aqms
        assert is_known == SCRIPT.is_there("kernel", cell)


def a_finished_run_is_kept_and_one_of_another_length_is_another(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(SCRIPT, "HERE", tmp_path)
    ran: list[int] = []

    def runs(cell: Any, seed: int, options: argparse.Namespace) -> Any:
        ran.append(seed)
        if len(ran) == 3:
            raise KeyboardInterrupt
        return _row(cell, seed, options)

    monkeypatch.setitem(SCRIPT.RUNNERS, "live", runs)
    asked = ("--cells", "1", "--only", "live")
    with pytest.raises(KeyboardInterrupt):
        SCRIPT.run(_options(*asked))
    assert SCRIPT.run(_options(*asked)) == []
    assert ran == [1, 2, 3, 3]
    (cell,) = {cell for cell, _ in SCRIPT.read("live", _options())}
    assert SCRIPT.missing(cell, "live", SCRIPT.read("live", _options()), 4) == [4]
    assert SCRIPT.read("live", _options("--duration", "20s")) == {}
    found = SCRIPT.table({side: SCRIPT.read(side, _options()) for side in SCRIPT.SIDES})
    assert found[cell]["live"]["delay"].mean == 12.0


def runs_of_another_build_of_the_simulator_are_made_again_in_their_place(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(SCRIPT, "HERE", tmp_path)
    monkeypatch.setitem(SCRIPT.RUNNERS, "simulated", _built)
    options = _options("--cells", "1", "--only", "simulated", "--seeds", "2")
    monkeypatch.setattr(SCRIPT, "build", lambda: "one")
    SCRIPT.run(options)
    monkeypatch.setattr(SCRIPT, "build", lambda: "another")
    SCRIPT.run(options)
    kept = SCRIPT.read("simulated", options)
    assert [row.made_by for row in kept.values()] == ["another"] * 2
    assert len((tmp_path / "simulated.csv").read_text().splitlines()) == 3
    (cell,) = {cell for cell, _ in kept}
    assert SCRIPT.missing(cell, "simulated", kept, 2) == []


@pytest.mark.parametrize(
    ("name", "one", "other", "fits"),
    [("goodput", 9.5, 9.1, True), ("goodput", 9.5, 9.0, False), ("delay", 1.0, 1.9, True), ("delay", 10, 12, False)],
)
def means_that_nobody_could_tell_apart_agree(name: str, one: float, other: float, fits: bool) -> None:
    assert SCRIPT.fits(name, SCRIPT.Side((one, one)), SCRIPT.Side((other, other))) is fits
