"""The comparison of the Wi-Fi link with ns-3: both sides get the same set-up, and the page has the stored values."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from conftest import ROOT, loaded

FOLDER = ROOT / "validate/wifi"
sys.path.insert(0, str(FOLDER))
SCRIPT = loaded(FOLDER / "compare.py", "validate_wifi")
SPEED = loaded(FOLDER / "speed.py", "validate_wifi_speed")
POINTS = {point.id: point for point in SCRIPT.points()}


def every_stored_run_is_of_a_known_point() -> None:
    stored = SCRIPT.ns3.stored()
    assert set(stored) <= set(POINTS)
    assert all(len(seeds) >= POINTS[name].seeds for name, seeds in stored.items())


def both_sides_are_given_the_same_flows() -> None:
    point = POINTS["mixed-anomaly"]
    theirs = SCRIPT.ns3.arguments(point, 3)
    assert "--flows=newreno/0:down:0:1,newreno/0:up:2" in theirs
    assert "--modes=ht-mcs15-400ns,ht-mcs15-400ns,ht-mcs0-400ns" in theirs
    own = SCRIPT.ours.flows(point)
    assert [flow.split(":")[0] for flow in own] == ["1*newreno"] * 3 + ["1*cbr"] * 6
    assert ":from=sta2:to=server:" in own[2]
    assert "sta2=ht-mcs0-400ns" in SCRIPT.ours.topology(point)


def our_side_of_a_point_runs() -> None:
    point = replace(POINTS["udp-a-1"], warmup_s=1.5, duration_s=2.5)
    values = SCRIPT.ours.run(point, 1, 1)
    assert values["total_mbit"][0] == pytest.approx(29.9, rel=0.05)


def the_speed_of_thirty_stations_is_measured_on_both_sides_of_one_point() -> None:
    point = SPEED.point(6)
    assert list(SPEED.scenarios(point)) == ["fq_codel", "airtime_fq"]
    (flows,) = (one for one in SPEED.ns3.arguments(point, 1) if one.startswith("--flows="))
    assert flows == f"--flows=cubic/0:down:{':'.join(map(str, range(30)))}"


@pytest.mark.parametrize(("own", "fits"), [(10.4, True), (10.6, False), (9.6, True), (9.4, False)])
def a_udp_total_fits_within_five_percent(own: float, fits: bool) -> None:
    theirs = {"total_mbit": [10.0, 10.0], "collision.sta0": [0.0, 0.0]}
    rows = SCRIPT.compared(POINTS["udp-a-1"], theirs, {**theirs, "total_mbit": [own, own]})
    assert [row.fits for row in rows] == [fits, True]
    assert ("**" in SCRIPT.table(rows)) != fits


def what_the_seeds_could_explain_is_scatter() -> None:
    theirs = {"total_mbit": [6.0, 14.0], "collision.sta0": [0.0, 0.0]}
    (row, _) = SCRIPT.compared(POINTS["udp-a-1"], theirs, {**theirs, "total_mbit": [8.0, 8.0]})
    assert (row.fits, row.verdict) == (False, "scatter")
    assert "| total | 1 | 0 | 1 | 0 |" in SCRIPT.summary([row])


def collisions_are_compared_in_points() -> None:
    theirs = {"total_mbit": [10.0, 10.0], "collision.sta0": [0.0, 0.0]}
    (_, row) = SCRIPT.compared(POINTS["udp-a-1"], theirs, {**theirs, "collision.sta0": [0.04, 0.04]})
    assert (row.fits, "+4.0 points" in SCRIPT.table([row])) == (False, True)


def the_page_has_the_tables_of_the_stored_values() -> None:
    text = SCRIPT.README.read_text(encoding="utf-8")
    made = "\n\n".join(SCRIPT.tables(SCRIPT.stored()))
    assert f"{SCRIPT.BEGIN}\n\n{made}\n\n{SCRIPT.END}" in text
