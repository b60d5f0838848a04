"""Jain's index is shown among flows that want the same, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Command

from aqmlab.results import fairness, groups

BULK, CALL, FILES, CONSTANT = (
    "5*cubic:name=bulk:iw=10",
    "1*voip:name=call",
    "2*cubic:name=files:size=1mb",
    "3*cbr:rate=1mbit",
)


@pytest.mark.parametrize(
    ("flows", "is_shown"),
    [
        ([BULK], True),
        ([BULK, "2*newreno:name=others"], True),
        ([BULK, CALL], False),
        ([BULK, FILES], False),
        ([BULK, "2*newreno:name=capped:window=20p"], False),
        ([CONSTANT], True),
        ([CONSTANT, "3*cbr:name=more:rate=2mbit"], False),
        ([BULK, CONSTANT], False),
        (["2*web"], False),
        (["2*unheard-of"], False),
    ],
)
def the_index_of_all_flows_is_shown_where_they_want_the_same(flows: list[str], is_shown: bool) -> None:
    scenario = {"groups": groups.of_texts(flows), "capture": []}
    assert fairness.is_shown(scenario, "jain_index") == is_shown
    assert fairness.is_shown(scenario, "goodput_mbit")
    assert not fairness.is_shown({**scenario, "capture": ["a.pcap"]}, "jain_index")


def a_group_has_its_own_index_where_its_flows_want_the_same() -> None:
    scenario = {"groups": groups.of_texts([BULK, CALL, "2*cubic:name=bulk2:size=1mb"]), "capture": []}
    shown = [fairness.is_shown(scenario, f"class.{name}.jain_index") for name in ("bulk", "call", "bulk2")]
    assert shown == [True, False, False]


def a_mix_has_no_index_in_words_and_one_of_its_bulk_flows_in_the_table(aqmlab: Command) -> None:
    common = (
        "-v",
        "--rate",
        "5mbit",
        "--rtt",
        "20ms",
        "--aqm",
        "fifo,fq_codel,pie",
        "--duration",
        "4s",
        "--seeds",
        "2",
    )
    ended = aqmlab("compare", *common, "--flows", "2*cubic", "--flows", "1*voip", "--out", "mix", "--json", "mix.json")
    assert ended.status == 0, ended.err
    whole, _, groups = ended.out.partition("value ±")
    assert "Jain index" not in whole
    assert "Jain index" in groups
    assert "Jain index:" not in groups
    assert "Jain index:" not in groups
    found = json.loads(Path("mix.json").read_text())
    # The metric stays, under its meaning.
    assert {"jain_index", "class.cubic.jain_index"} <= {one["metric"] for one in found["summary"]}
    page = (Path("mix") / "report.html").read_text()
    assert "Jain index is" not in page
    bulk = aqmlab("compare", *common, "--flows", "2*cubic", "--out", "bulk")
    assert "Jain index:" in bulk.out
