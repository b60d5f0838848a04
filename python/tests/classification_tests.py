"""Classifiers on recorded packets: what they report beside exact byte counts."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import Command
from shared import CAPTURES, needed

from aqmlab.analysis import classification
from aqmlab.analysis.classification import Flow, Traffic
from aqmlab.vocabulary.errors import InputError

ROOT = Path(__file__).resolve().parents[2]

CAPTURE = str(ROOT / "data/captures/aqmlab-lan.pcap")
# The table's names for what differs from them.
NAMED = {
    "m_lru, 60 of 80": "m_lru:consistent",
    "l_lru, 50": "l_lru cache 50",
    "lru, 50": "lru cache 50",
    "lru, 500": "lru cache 500",
}


def _made(*flows: int) -> Traffic:
    """Packets of 100 bytes of these flows, in order."""
    hashes = np.array(flows, dtype=np.uint64)
    names = {one: str(one) for one in flows}
    lengths = np.full(len(hashes), 100, np.uint64)
    return Traffic(classification._flows(names, hashes, lengths), hashes, lengths)


def precision_and_recall_are_of_the_flows_with_the_bytes() -> None:
    # Flow 1 has 8 of 15 packets, flow 2 has 5, flows 3 and 4 one each. Beyond 4 packets of a flow are reported.
    traffic = _made(1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 4)
    assert classification.heavy(traffic, 0.5) == (Flow("1", 1, 8, 800),)
    found = classification.classify(traffic, "lru threshold 4", share=0.5)
    assert [flow.hash for flow in found.reported] == [1, 2]
    assert (found.precision, found.recall) == (0.5, 1.0)
    # Four packets of flow 1 and one of flow 2 are reported.
    assert (found.packets, found.caught_bytes) == (5 / 15, 4 / 8)
    nothing = classification.classify(traffic, "lru threshold 9", share=0.9)
    assert (nothing.precision, nothing.recall, nothing.caught_bytes) == (None, None, None)


def captures_are_merged_cut_and_have_a_flow_added() -> None:
    once, twice = classification.read([CAPTURE]), classification.read([CAPTURE, CAPTURE])
    assert len(twice.hashes) == 2 * len(once.hashes)
    assert [flow.bytes for flow in twice.flows] == [2 * flow.bytes for flow in once.flows]
    cut = classification.read([CAPTURE], "8mbit", duration_s=1.0)
    added = next(flow for flow in cut.flows if flow.name == "UDP, 8mbit added")
    # A packet of 1000 bytes each millisecond, up to the last packet of the second.
    assert 700 <= added.packets <= 1001
    assert sum(flow.packets for flow in cut.flows) < len(once.hashes) + 1001


def the_command_lists_flows_and_who_reports_them(aqmlab: Command) -> None:
    ended = aqmlab("classify", CAPTURE, "--with", "m_lru,lru cache 20", "--udp", "20mbit", "--flows", "2")
    assert ended.status == 0
    assert "UDP, 20mbit added*" in ended.out
    assert "m_lru, lru cache 20" in ended.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--with", "mlru"), "unknown classifier 'mlru', did you mean 'm_lru'?"),
        (("--with", "m_lru cache 2 ltf_unit 2"), "must be below cache, which is 2"),
        (("--with", "lru limit 20p"), "lru: parameter 'limit' is unknown; known are cache, threshold, insert"),
        (("--with", "m_lru p_smp 1"), "'p_smp' is unknown, did you mean 'p_samp'?; known are sq, p_samp, sampling"),
        (("--with", "m_lru,lru,m_lru"), "--with: 'm_lru' is given twice"),
        (("--udp", "3"), "udp: '3' has no unit"),
        (("--udp", "0bit"), "udp: '0bit' is a flow without packets"),
        (("--udp", "1000gbit"), "packets in"),
        (("--heavy", "x"), "--heavy: 'x'"),
        (("--heavy", "200%"), "--heavy: '200%' is more than all bytes"),
        (("--seed", "18446744073709551616"), "less than or equal to 18446744073709551615"),
    ],
)
def what_is_wrong_is_reported_in_one_line(aqmlab: Command, words: tuple[str, ...], says: str) -> None:
    ended = aqmlab("classify", CAPTURE, *words)
    assert ended.status == 2
    assert says in ended.err
    assert ended.err.count("\n") == 1


def long_notations_leave_the_numbers_whole(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = "m_lru sampling single cache 80 ltf_unit 60 p_samp 0.5 p_lth 12345"
    ended = aqmlab("classify", CAPTURE, "--with", words, "--flows", "0")
    assert "…" not in ended.out
    assert {"12345", "11352"} <= set(ended.out.split())


def a_notation_in_full_is_that_of_the_classifier_again() -> None:
    found = classification.classify(_made(1, 1), "m_lru sq 100")
    assert found.classifier == "m_lru:printed sq 100"
    assert classification.classify(_made(1, 1), found.classifier) == found


def an_unknown_classifier_is_not_taken_for_a_discipline() -> None:
    with pytest.raises(InputError, match="unknown classifier 'sqm_lru', did you mean 'm_lru'"):
        classification.classify(_made(1), "sqm_lru")


def there_is_something_to_classify() -> None:
    with pytest.raises(InputError, match="no capture"):
        classification.read([])


def the_table_of_captures_is_what_is_measured() -> None:
    # The fifteen public recordings of its notes.
    recorded = sorted(str(one) for one in needed(CAPTURES).glob("*.pcap*"))
    assert len(recorded) == 15
    notes = (ROOT / "experiments/sqm-lru/notes.md").read_text(encoding="utf-8")
    section = notes.partition("## Captures")[2]
    _, _, *lines = re.findall(r"^\|(.*)\|$", section, re.M)
    traffic = classification.read(recorded, "3mbit", duration_s=10.0)
    assert f"{len(classification.heavy(traffic, 0.01))} of {len(traffic.flows)} flows" in " ".join(section.split())
    assert len(lines) == 6
    for line in lines:
        name, *cells = (cell.strip() for cell in line.split("|"))
        one = classification.classify(traffic, NAMED.get(name, name), 0.01, 1)
        shares = [f"{share:.3f}" for share in (one.precision, one.recall, one.caught_bytes) if share is not None]
        assert [cell.replace(" ", "") for cell in cells] == [str(len(one.reported)), *shares, str(one.state_bytes)]
    alone = classification.read([one for one in recorded if "ipv6" in one], "1mbit")
    reported = [
        len(classification.classify(alone, name, 0.01, 1).reported)
        for name in ("m_lru", "m_lru sampling single", "lru")
    ]
    assert (len(alone.flows), len(classification.heavy(alone, 0.01)), reported) == (31, 1, [8, 1, 15])
    assert "31 flows" in section
    assert "M-LRU reports 8 flows, with equation 1 one, LRU 15" in " ".join(section.split())
