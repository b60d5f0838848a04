"""Named links: one command, a scenario and a panel for each."""

from __future__ import annotations

import html
import re
import shlex
from typing import Any

import pytest
from conftest import Command

from aqmlab import InputError, compare, load, plots

TWO = ("--link", "vdsl=rate 20mbit rtt 20ms buffer 100p", "--link", "dsl=rate 6mbit")
BASE = ("--flows", "2*cubic", "--aqm", "fifo,codel", "--duration", "2s", "--seeds", "2", "--no-report")


def each_link_is_a_scenario_of_its_name(aqmlab: Command) -> None:
    ended = aqmlab("compare", *TWO, *BASE, "--rtt", "50ms", "--out", "out")
    assert ended.status == 0, ended.err
    assert (
        ended.out.splitlines()[0]
        == "2 links: vdsl (20 Mbit/s, 20 ms), dsl (6 Mbit/s, 50 ms) · 2 cubic · 2 seeds of 2 s"
    )
    assert [line.split()[1] for line in ended.out.splitlines() if line.startswith("link ")] == ["vdsl", "dsl"]
    result = load("out")
    assert result.points == [{"link": "vdsl"}, {"link": "dsl"}]
    # What a link does not say is as for all.
    assert [one["rtt"] for one in result.scenarios] == ["20ms", "50ms"]
    assert [one["rate"] for one in result.scenarios] == ["20mbit", "6mbit"]
    assert result.scenarios[0]["buffer"] == "100p"
    (figure,) = plots.figures("tradeoff", [result])
    assert len(figure.panels) == 2


def a_link_has_a_kind_and_a_named_link_may_begin_with_one(aqmlab: Command) -> None:
    line = ("--rtt", "20ms", *BASE, "--out")
    assert aqmlab("compare", "--link", "turns rate 6mbit", *line, "kind").status == 0
    assert (load("kind").scenarios[0]["link"], load("kind").scenarios[0]["rate"]) == ("turns rate 6mbit", "6mbit")
    ended = aqmlab("compare", "--link", "air=turns rate 6mbit rtt 20ms", "--link", "line=rate 6mbit", *line, "named")
    assert ended.status == 0, ended.err
    assert ended.out.startswith("2 links: air (turns 6 Mbit/s), line (6 Mbit/s) · 20 ms · 2 cubic")
    named = load("named")
    assert [one["link"] for one in named.scenarios] == ["turns rate 6mbit", "rate"]
    # What comes back takes its turn: a shared medium carries less than a line of its own in each direction.
    air, line = named.runs.filter(aqm="fifo").group_by("link", maintain_order=True).agg("utilization")["utilization"]
    assert air.mean() < line.mean()
    # A rate is the short form of its kind.
    short: Any = {"rtt": "20ms", "aqm": "fifo", "duration": "1s", "seeds": 1}
    same = [
        compare(**one, **short).runs["qdelay_mean_ms"].item() for one in ({"link": "rate 6mbit"}, {"rate": "6mbit"})
    ]
    assert same[0] == same[1]


def a_link_is_added_to_a_folder(aqmlab: Command) -> None:
    assert aqmlab("compare", *TWO, *BASE, "--rtt", "50ms", "--out", "out", "-q").status == 0
    ended = aqmlab("compare", *TWO, "--link", "wan=rate 6mbit rtt 90ms", *BASE, "--rtt", "50ms", "--out", "out")
    assert ended.status == 0, ended.err
    assert load("out").points == [{"link": "vdsl"}, {"link": "dsl"}, {"link": "wan"}]


@pytest.mark.parametrize(
    ("links", "says"),
    [
        (["tunrs rate 5mbit"], "--link: unknown link kind 'tunrs', did you mean 'turns'?"),
        (["turns rate 5mbit", "a=rate 6mbit"], "--link: several links need names, as 'vdsl=rate 50mbit'"),
        (["=rate 5mbit"], "--link: '=rate 5mbit' is not NAME=KEY VALUE ..., as vdsl=rate 50mbit rtt 20ms"),
        (["a=rate"], "--link: 'a=rate' is not NAME=KEY VALUE ..., as vdsl=rate 50mbit rtt 20ms"),
        (["a=rats 5mbit"], "--link: 'a': unknown key 'rats', did you mean 'rate'?"),
        (["a=rate 5mbit rate 6mbit"], "--link: 'a': 'rate' is given twice"),
        (["a=rate 5mbit", "a=rate 6mbit"], "--link: 'a' names two links"),
        (["a=rate 5mbit rtt 20ms", "b=rate none rtt 20ms"], "--rate: 'none'"),
    ],
)
def a_wrong_link_is_refused_in_one_line(aqmlab: Command, links: list[str], says: str) -> None:
    ended = aqmlab("compare", *(word for one in links for word in ("--link", one)), "--aqm", "fifo", "--out", "out")
    assert ended.status == 2
    assert ended.line.startswith(says)


def in_python_links_are_a_mapping_and_the_page_says_what_each_is() -> None:
    options: Any = {"flows": "2*cubic", "aqm": ["fifo", "codel"], "duration": "2s", "seeds": 2}
    links = {"vdsl": "rate 20mbit rtt 20ms buffer 100p", "dsl": "rate 6mbit"}
    result = compare(link=links, rtt="50ms", **options)
    assert result.points == [{"link": "vdsl"}, {"link": "dsl"}]
    page = html.unescape(result.report())
    assert "2 links: vdsl (20 Mbit/s, 20 ms), dsl (6 Mbit/s, 50 ms)" in page
    assert "<td>vdsl: 20mbit; dsl: 6mbit <small>(of each link)</small></td>" in page
    # The command on the page is one that makes the same again.
    again = re.search(r"<pre>aqmlab (compare .*)</pre>", page)
    assert again is not None
    words = shlex.split(again[1])
    assert words[1:5] == ["--link", "vdsl=rtt 20ms rate 20mbit buffer 100p", "--link", "dsl=rtt 50ms rate 6mbit"]
    with pytest.raises(InputError, match=r"link: \['a=rate 5mbit'\] is no mapping of names to texts"):
        compare(link=["a=rate 5mbit"], **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"link: 'a': unknown key 'rats', did you mean 'rate'\?"):
        compare(link={"a": "rats 5mbit"}, **options)
