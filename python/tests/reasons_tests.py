"""A claim's reason in one plain sentence, from utilization, queue and drops."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aqmlab.papers import cards
from aqmlab.papers.reasons import Place, in_words

IDLE = Place("pie", "", 0.27, 0.02, 0.0, 0.0, 0.0, 0.0)
FULL = Place("fifo", "", 0.998, 40.0, 0.02, 0.0, 900.0, 0.0)
ACTING = Place("codel", "", 0.99, 8.0, 0.011, 500.0, 2.0, 0.0)
CALM = Place("codel", "", 0.99, 8.0, 0.0, 0.0, 0.0, 30.0)


def _at(place: Place, point: str) -> Place:
    return Place(**{**vars(place), "point": point})


@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        ([], ""),
        ([IDLE], "The link is 27 % used, so nothing queues."),
        (
            [IDLE, Place("red", "", 0.272, 0.03, 0.0, 0.0, 0.0, 0.0)],
            "The link is 27 % used, so nothing queues and both are equal.",
        ),
        (
            [IDLE, Place("red", "", 0.46, 0.03, 0.0, 0.0, 0.0, 0.0)],
            "The link is 27 to 46 % used, so nothing queues.",
        ),
        (
            [_at(IDLE, "load 10"), _at(FULL, "load 240")],
            "Nothing queues in 1 of 2 cases, where the link is 27 % used; it fills at load 240.",
        ),
        (
            [_at(IDLE, "load 10"), FULL],
            "The link is 27 to 100 % used and the mean queue in packets is 0.0 under pie and 40 under fifo; the queue "
            "overflows under fifo (2.00 % dropped) and none decides a drop.",
        ),
        (
            [FULL],
            "The link is 100 % used and the mean queue in packets is 40 under fifo; the queue overflows (2.00 % "
            "dropped) and none decides a drop.",
        ),
        (
            [ACTING],
            "The link is 99 % used and the mean queue in packets is 8.0 under codel; the AQM drops 1.10 % before the "
            "queue is full.",
        ),
        (
            [FULL, ACTING],
            "The link is 99 to 100 % used and the mean queue in packets is 40 under fifo and 8.0 under codel; "
            "the bottleneck drops 1.10 to 2.00 %: the queue overflows under fifo, the AQM drops first under codel.",
        ),
        (
            [_at(FULL, "buffer 20p"), _at(FULL, "buffer 40p"), _at(ACTING, "buffer 20p"), _at(ACTING, "buffer 40p")],
            "The link is 99 to 100 % used and the mean queue in packets is 40 under fifo and 8.0 under codel; "
            "the bottleneck drops 1.10 to 2.00 %: the queue overflows under fifo, the AQM drops first under codel.",
        ),
        (
            [Place("codel", "", 0.002, 28.0, 0.0, 0.0, 0.0, 0.0)],
            "The mean queue in packets is 28 under codel; nothing is dropped.",
        ),
        ([CALM], "The link is 99 % used and the mean queue in packets is 8.0 under codel; nothing is dropped."),
    ],
)
def the_sentence_says_how_full_link_and_queue_were_and_who_dropped(places: list[Place], sentence: str) -> None:
    assert in_words(places) == sentence


def presets_in_which_it_was_so_are_named_together() -> None:
    reasons = {"a": "Idle.", "b": "Full.", "c": "Full.", "d": ""}
    reproduction: Any = SimpleNamespace(plain=lambda claim, preset: reasons[preset])

    def told_of(presets: str) -> dict[str, str]:
        table: Any = SimpleNamespace(claim=None, judgements=dict.fromkeys(presets))
        return cards.plain(table, reproduction)

    assert told_of("abcd") == {"a": "Idle.", "b and c": "Full."}
    assert told_of("bc") == {"": "Full."}
    assert told_of("d") == {}
