"""The RFC 7567 card, and the pages that show it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from conftest import ROOT, Command, script

import aqmlab
from aqmlab.analysis import card
from aqmlab.analysis.card import Row, rfc7567
from aqmlab.scenario import registry
from aqmlab.scenario.registry import Spec
from aqmlab.vocabulary.errors import InputError

PAGES = ROOT / "docs" / "reference" / "disciplines"


pages = script("discipline_pages")


@pytest.fixture(scope="module")
def cards() -> dict[str, dict[str, Row]]:
    """The shipped cards of disciplines that are known to differ."""
    return {name: {row.id: row for row in card.shipped(name) or []} for name in ("fifo", "pie", "fq_codel")}


def a_card_answers_every_recommendation(cards: dict[str, dict[str, Row]]) -> None:
    for rows in cards.values():
        assert list(rows) == list(card.ASKED) == [f"B{number}" for number in range(1, 13)]
        assert {row.verdict for row in rows.values()} <= {"meets", "partly", "departs", "stated"}


def tail_drop_departs_from_the_recommendations_that_the_rfc_names(cards: dict[str, dict[str, Row]]) -> None:
    fifo = cards["fifo"]
    assert [fifo[number].verdict for number in ("B1", "B2", "B3", "B5")] == ["departs"] * 4
    assert fifo["B10"].finding == "drops the arriving packet"


def well_known_aqms_meet_their_purpose(cards: dict[str, dict[str, Row]]) -> None:
    assert cards["pie"]["B1"].verdict == "meets"
    assert cards["pie"]["B2"].verdict == "meets"  # it drops ECT packets beyond a probability of a tenth
    assert cards["pie"]["B5"].verdict == "meets"
    assert cards["fq_codel"]["B1"].verdict == "meets"
    assert cards["fq_codel"]["B10"].finding == "drops a packet of the flow with the largest backlog"
    assert "64 bytes" in cards["fq_codel"]["B11"].finding


def flow_queueing_protects_from_a_flood_and_tail_drop_does_not(cards: dict[str, dict[str, Row]]) -> None:
    kept = {name: int(rows["B7"].finding.split("keeps ")[1].split(" %")[0]) for name, rows in cards.items()}
    assert kept["fq_codel"] > 90
    assert kept["fifo"] < 20


def an_unknown_name_is_refused_before_anything_runs() -> None:
    with pytest.raises(InputError, match="did you mean 'codel'"):
        rfc7567("codle")


class _Windows:
    """Two flows whose windows fall together once, and separately twice."""

    def __init__(self, first: list[float], second: list[float]) -> None:
        times = [float(number) for number in range(len(first))]
        columns = {"flow.0.cwnd_bytes": first, "flow.1.cwnd_bytes": second}
        self.series = pl.concat(
            [
                pl.DataFrame({"aqm": "a", "seed": 1, "name": name, "time_s": times, "value": values})
                for name, values in columns.items()
            ]
        )


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ([10, 5, 6, 7, 8], [10, 5, 6, 7, 8], 1.0),
        ([10, 5, 6, 7, 8], [10, 11, 12, 6, 8], 0.0),
        ([10, 5, 6, 3, 8], [10, 5, 6, 7, 8], 2 / 3),  # three losses, two of them simultaneous
        ([10, 9, 8, 7, 8], [10, 11, 12, 13, 14], 0.0),  # nothing falls by a fifth
    ],
)
def synchronisation_is_the_share_of_simultaneous_losses(first: list[float], second: list[float], wanted: float) -> None:
    assert card.synchronisation(_Windows(first, second), "a") == pytest.approx(wanted)  # type: ignore[arg-type]


def a_law_that_stops_all_traffic_has_a_card() -> None:
    class Stops(aqmlab.AQM):
        def enqueue(self, packet: aqmlab.Packet, now: int) -> None:  # noqa: ARG002
            self.drop(packet)

    name = aqmlab.register_aqm(Stops)
    subject = card._Subject(name, Spec.parse(name), registry.find(name))
    row = card._queue_and_lockout(subject)
    assert (row.verdict, "a ninth flow gets 0 % of its share" in row.finding) == ("departs", True)


def show_prints_the_card(aqmlab: Command) -> None:
    ended = aqmlab("aqm", "show", "tcn")
    assert ended.status == 0
    assert all(f"\nB{number} " in ended.out for number in range(1, 13))
    assert " ".join(card.ASKED["B1"].enough.split()) in " ".join(ended.out.split())


@pytest.mark.parametrize("discipline", registry.disciplines(), ids=lambda one: one.name)
def the_page_of_every_discipline_is_current(discipline: registry.Discipline) -> None:
    written = (PAGES / pages.file_name(discipline)).read_text()
    assert written.startswith(pages.declared(discipline)), "run 'make docs'"
    assert written.count("\n| B") == 12


def the_index_lists_every_page_and_there_are_no_others() -> None:
    assert (PAGES / "README.md").read_text() == pages.index(registry.disciplines()), "run 'make docs'"
    names = {pages.file_name(one) for one in registry.disciplines()} | {"README.md"}
    assert {Path(path).name for path in PAGES.iterdir()} == names


@pytest.mark.parametrize(("measured", "shipped"), [("fq_codel", "fq_codel"), ("pie target 15ms", "pie")])
def the_shipped_card_is_what_is_measured(measured: str, shipped: str) -> None:
    assert rfc7567(measured) == card.shipped(shipped), "run 'make docs'"


def every_page_has_the_shipped_card() -> None:
    cards = {one.name: card.shipped(one.name) or [] for one in registry.disciplines()}
    assert pages.CARDS.read_text() == pages.as_data(cards), "run 'make docs'"
    for one in registry.disciplines():
        written = (PAGES / pages.file_name(one)).read_text()
        assert written == pages.declared(one) + pages.card(cards[one.name]), "run 'make docs'"


def with_parameters_or_another_preset_a_card_is_measured() -> None:
    assert card.shipped("PIE:rfc8033") == card.shipped("pie")
    assert card.shipped("pie target 5ms") is None
    assert card.shipped("pie:linux") is None
