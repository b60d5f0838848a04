"""The search for parameters; what needs optuna is left out without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Command

from aqmlab import InputError
from aqmlab.tuning import Keep, Space, tune

SCENARIO = 'aqm = ["codel"]\nrate = "10mbit"\nrtt = "20ms"\nflows = "4*cubic"\nduration = "3s"\nseeds = 1\n'
SPACE = "codel target 1ms..50ms interval 100ms ecn"


def a_space_is_a_spec_with_ranges() -> None:
    space = Space.parse("pie target 1ms..50ms ecn alpha 0.01..1 limit 500p")
    assert space.ranges == ("1ms..50ms", "0.01..1")
    assert space.at(["5ms", "0.1"]) == "pie target 5ms ecn alpha 0.1 limit 500p"
    assert Space.parse("codel").at([]) == "codel"


@pytest.mark.parametrize("text", ["codel target 50ms..1ms", "codel target 1ms..50us", "codel targt 1ms..2ms"])
def a_space_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Space.parse(text)


def a_bound_says_by_which_share_it_is_missed() -> None:
    most, least = Keep.parse("qdelay_p95_ms <= 20"), Keep.parse("utilization >= 0.8")
    assert (most.missed(20), most.missed(30), least.missed(0.9), least.missed(0.4)) == (0, 0.5, 0, 0.5)
    with pytest.raises(InputError, match="is not a bound"):
        Keep.parse("qdelay < 20")


def a_search_is_the_same_again_goes_on_where_it_was_and_keeps_its_bounds(tmp_path: Path, aqmlab: Command) -> None:
    pytest.importorskip("optuna")
    path, journal = tmp_path / "one.toml", tmp_path / "journal"
    path.write_text(SCENARIO)
    first = tune(SPACE, [path], [path], keep=["qdelay_p95_ms <= 25"], trials=6, jobs=1)
    assert tune(SPACE, [path], [path], keep=["qdelay_p95_ms <= 25"], trials=6, jobs=1) == first
    assert first.training == first.judged
    assert first.training["qdelay_p95_ms"] <= 25.0
    assert tune(SPACE, [path], trials=2, journal=journal, jobs=1).trials == 2
    more = tune(SPACE, [path], trials=4, journal=journal, jobs=1)
    assert (more.trials, tune(SPACE, [path], trials=4, journal=journal, jobs=1).spec) == (4, more.spec)
    ended = aqmlab("tune", path, "--aqm", SPACE, "--trials", 2, "--json", "--jobs", 1)
    assert json.loads(ended.out)[0]["trials"] == 2
    assert aqmlab("tune", path, "--aqm", SPACE, "--minimise", "nothing", "--trials", 1).status == 2
