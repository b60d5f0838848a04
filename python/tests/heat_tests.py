"""A sweep on a terminal: its heat map, the answer above it, and where two disciplines change places."""

from __future__ import annotations

import polars as pl
import pytest
from conftest import Command

from aqmlab.cli import heat
from aqmlab.results import Result, over_settings
from aqmlab.results.frames import Frames, from_runs
from aqmlab.results.heat import heat_maps

# Mean queue delay (ms) of three seeds, and goodput (Mbit/s), by setting.
DELAYS = {"fifo": [[40.0, 41.0, 42.0], [90.0, 91.0, 93.0]], "codel": [[8.0, 8.1, 8.3], [9.0, 9.3, 9.1]]}
GOODPUTS = {"fifo": [[9.5, 9.51, 9.5], [8.0, 8.01, 8.0]], "codel": [[9.4, 9.41, 9.4], [8.8, 8.81, 8.8]]}


@pytest.fixture(scope="module")
def swept() -> Result:
    rows = [
        (point, aqm, seed, delay, GOODPUTS[aqm][point][seed - 1])
        for point in (0, 1)
        for aqm, delays in DELAYS.items()
        for seed, delay in enumerate(delays[point], 1)
    ]
    types = {"point": pl.UInt32, "aqm": pl.String, "seed": pl.UInt32}
    types |= {"qdelay_mean_ms": pl.Float64, "goodput_mbit": pl.Float64}
    empty = from_runs([])
    runs = pl.DataFrame(rows, schema=types, orient="row")
    scenario = {"aqm": [{"label": aqm, "name": aqm} for aqm in DELAYS], "seeds": [1, 2, 3], "flows": []}
    points = [{"point": {"rtt": rtt}, "scenario": scenario} for rtt in ("10ms", "80ms")]
    return Result({"points": points}, Frames(runs, empty.flows, empty.series, empty.queues, empty.histograms))


def the_answer_is_over_all_settings(swept: Result) -> None:
    (headline,) = over_settings.headlines(swept)
    assert headline.words == "queue delay 80 to 90 % less in 2; goodput 1 % less in 1, 10 % more in 1"


def a_flip_names_the_settings_of_both_sides(swept: Result) -> None:
    (flip,) = over_settings.flips(swept)
    assert flip.words(swept.points) == "goodput: fifo ahead of codel at rtt 10ms, behind at rtt 80ms"


def goodput_is_compared_within_its_setting_and_delay_over_all(swept: Result) -> None:
    delay, goodput = heat_maps(swept)
    assert (delay.rows[1]["fifo"].heat, delay.rows[0]["codel"].heat) == (1.0, 0.0)
    assert [row["fifo"].heat for row in goodput.rows] == [0.0, 1.0]
    assert [row["codel"].heat for row in goodput.rows] == [pytest.approx(0.0105 / 0.0909, rel=0.01), 0.0]
    assert {cell.mark for row in delay.rows for cell in row.values()} == {"", "*"}


def shades_get_darker() -> None:
    shades = [heat._shade(place / 10) for place in range(11)]
    assert [heat.SHADES.index(shade) for shade in shades] == sorted(heat.SHADES.index(shade) for shade in shades)
    assert (shades[0], shades[-1]) == (" ", "█")


def a_large_sweep_has_a_shade_for_each_setting(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    swept = ("--sweep", "rtt=10ms..70ms*7", "--sweep", "rate=1mbit..8mbit*8", "--aqm", "fifo,codel")
    ended = aqmlab("sweep", *swept, "--duration", "1s", "--warmup", "0s", "--seeds", "2", "--no-report")
    assert ended.status == 0, ended.err
    lines = ended.out.splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80
    assert "Side by side: rate 1mbit to 8mbit." in lines
    assert [line.split()[0] for line in lines if line.startswith(("10ms", "70ms"))] == ["10ms", "70ms"] * 2
