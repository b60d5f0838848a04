#!/usr/bin/env python3
"""What `aqmlab advise` says of 24 lines, quickly and in full, as a table (`make advice-lines`).

It asks what an operator would ask: is the answer the same in a hurry, and what would the second best have been? Lines
over recordings that do not come with aqmlab are left out where these are absent.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from aqmlab.advice.setups import AS_IT_IS, USUAL_SHARE
from aqmlab.advice.thresholds import FIGURES, NOTICEABLE_STEPS, SLIGHT_STEPS
from aqmlab.files import shipped

TITLES = {figure.name: figure.title.lower() for figure in FIGURES}
SHARED = shipped.shared() / "link-traces"


@dataclass(frozen=True)
class Given:
    """A line: its kind, its rates or link traces, and other options of `advise`."""

    kind: str
    down: str
    up: str
    others: str = ""

    @property
    def name(self) -> str:
        """How the table names it."""
        down, up = (Path(one).stem if "." in Path(one).name else one for one in (self.down, self.up))
        others = self.others.replace("--modem-buffer ", "buffer ").replace("--rtt ", "RTT ")
        others = others.replace("--share ", "shaped to ").replace("%", " %")
        return " ".join(filter(None, (self.kind, down if down == up else f"{down}/{up}", _spaced(others))))

    @property
    def is_there(self) -> bool:
        """Whether its recordings are here."""
        return all(Path(one).is_file() for one in (self.down, self.up) if one.startswith(str(SHARED)))

    def options(self, folder: Path, *, quick: bool) -> list[str]:
        """Return the command's options."""
        found = ["--down", self.down, "--up", self.up, "--linklayer", self.kind, *self.others.split()]
        return [*found, *(["--quick"] if quick else []), "--out", str(folder), "--quiet"]


def _spaced(text: str) -> str:
    """Write tc's bytes, of which a kb is 1024, and times as people do.

    >>> _spaced("buffer 16kb"), _spaced("RTT 80ms")
    ('buffer 16 KiB', 'RTT 80 ms')

    """
    return re.sub(r"(\d)(kb|mb|ms)", lambda found: f"{found[1]} {_UNITS[found[2]]}", text)


_UNITS = {"kb": "KiB", "mb": "MiB", "ms": "ms"}
LINES = (
    Given("adsl", "2mbit", "256kbit"),
    Given("adsl", "8mbit", "768kbit"),
    Given("adsl", "16mbit", "1mbit"),
    Given("adsl", "16mbit", "1mbit", "--modem-buffer 16kb"),
    Given("adsl", "24mbit", "3mbit", "--rtt 80ms"),
    Given("vdsl", "25mbit", "5mbit"),
    Given("vdsl", "50mbit", "10mbit"),
    Given("vdsl", "50mbit", "10mbit", "--modem-buffer 64kb"),
    Given("vdsl", "100mbit", "40mbit"),
    Given("cable", "50mbit", "5mbit", "--modem-buffer 1mb"),
    Given("cable", "100mbit", "10mbit"),
    Given("cable", "250mbit", "25mbit", "--rtt 20ms"),
    Given("cable", "250mbit", "25mbit", "--modem-buffer 256kb"),
    Given("cable", "500mbit", "25mbit", "--rtt 20ms"),
    Given("cable", "1gbit", "50mbit", "--rtt 20ms"),
    Given("fibre", "50mbit", "50mbit"),
    Given("fibre", "100mbit", "100mbit", "--rtt 20ms"),
    Given("fibre", "100mbit", "100mbit", "--modem-buffer 128kb"),
    Given("fibre", "500mbit", "500mbit", "--rtt 10ms"),
    Given("fibre", "1gbit", "1gbit", "--rtt 10ms"),
    Given("lte", "aqmlab-lte.down", "aqmlab-lte.up"),
    Given(
        "lte", str(SHARED / "ATT-LTE-driving-2016.down"), str(SHARED / "ATT-LTE-driving-2016.up"), "--modem-buffer 2mb"
    ),
    Given("lte", str(SHARED / "Verizon-LTE-short.down"), str(SHARED / "Verizon-LTE-short.up"), "--modem-buffer 128kb"),
    Given("lte", str(SHARED / "Verizon-EVDO-driving.down"), "300kbit"),
)

# Lines on which an assumption is changed: the buffer of fast lines, and the share of the rate.
_FAST, _FIBRE = "--rtt 10ms", "--rtt 20ms"
BUFFERS = tuple(
    Given("fibre", "1gbit", "1gbit", f"{_FAST}{more}")
    for more in ("", *(f" --modem-buffer {one}kb" for one in (1250, 625)))
)
SHARES = tuple(Given("fibre", "100mbit", "100mbit", f"{_FIBRE}{more}") for more in ("", " --share 95%"))


def found(given: Given, folder: Path, *, quick: bool) -> dict[str, Any]:
    """Return the advice, which is not asked for again where the folder has it."""
    lines = dict.fromkeys((*LINES, *BUFFERS, *SHARES))
    folder = folder / f"{[*lines].index(given) + 1:02}-{'quick' if quick else 'full'}"
    file = folder.with_suffix(".json")
    if not file.is_file():
        command = ["advise", *given.options(folder, quick=quick), "--json", str(file)]
        subprocess.run([sys.executable, "-m", "aqmlab", *command], check=True, stdout=subprocess.DEVNULL)
    return dict(json.loads(file.read_text()))


def row(given: Given, quick: dict[str, Any], full: dict[str, Any]) -> str:
    """Return a line's row: what is named, what that brings and costs, the next one, and what `--quick` names."""
    setups = _setups(full)
    chosen, after = setups[full["advice"]], setups[full["runner_up"]]
    worst = max(chosen["shortfalls"], key=lambda name: float(chosen["shortfalls"][name]))
    price = f"{TITLES[worst]}, {chosen['shortfalls'][worst]:.1f}" if chosen["shortfalls"][worst] >= 0.05 else "nothing"
    return _row(
        *_cells(given, full),
        price,
        f"{after['name']}, {after['grade']}, {after['behind']:.1f}: {full['why_not_runner_up']}",
        "same" if quick["advice"] == full["advice"] else quick["advice"],
    )


def _setups(advice: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in advice["setups"]}


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(given: Given, advice: dict[str, Any]) -> list[str]:
    """A line, what is named, and the figures as it is and with that."""
    setups = _setups(advice)
    today, chosen = setups[AS_IT_IS], setups[advice["advice"]]

    def change(name: str, digits: int) -> str:
        return " → ".join(f"{one['figures'][name]['mean']:.{digits}f}" for one in (today, chosen))

    return [
        given.name,
        chosen["name"],
        f"{today['behind']:.1f} → {chosen['behind']:.1f}",
        f"{today['grade']} → {chosen['grade']}",
        change("rpm", 0),
        change("goodput_mbit", 1),
        change("game_rtt_ms", 0),
        change("call_mos", 1),
    ]


def parted(given: Given, quick: dict[str, Any], full: dict[str, Any]) -> str:
    """Return why the quick form names another setup than the full one, as a point of a list."""
    name = full["advice"]
    own, seen = _setups(full)[name], _setups(quick)[name]
    behind, ahead = (
        one[name]["behind"] - min(each["behind"] for each in one.values()) for one in (_setups(full), _setups(quick))
    )
    if own["grade"] != seen["grade"]:
        pings = (one["figures"]["ping_increase_ms"]["mean"] for one in (seen, own))
        rise, instead = (f"{one:.1f}" for one in pings)
        because = f"its pings rise by {rise} ms instead of {instead}, which is {seen['grade']} and not {own['grade']}"
    elif ahead > SLIGHT_STEPS >= behind:
        because = (
            f"it is {ahead:.2f} steps behind the closest instead of {behind:.2f}, and {SLIGHT_STEPS:g} are allowed"
        )
    else:
        because = "others have changed places"
    return f"- {given.name}: not {name}, since {because}."


def doubted(folder: Path) -> str:
    """Return the assumptions that were doubted, and the advice with others."""
    buffers, shares = ([(one, found(one, folder, quick=False)) for one in some] for some in (BUFFERS, SHARES))
    named = dict.fromkeys(advice["advice"] for _, advice in buffers)
    assert len(named) == 1, f"what to use does hang on the buffer: {', '.join(named)}"
    ends = [(_setups(advice)[AS_IT_IS], _setups(advice)[advice["advice"]]) for _, advice in buffers]
    most, *gains = (f"{today['behind'] - chosen['behind']:.1f}" for today, chosen in ends)
    poor, *grades = (today["grade"] for today, _ in ends)
    sizes = [int(one.others.rpartition(" ")[2].removesuffix("kb")) for one, _ in buffers[1:]]
    usual, more = (_setups(advice)[advice["advice"]] for _, advice in shares)
    closer = usual["behind"] - more["behind"]
    assert 0 < closer < NOTICEABLE_STEPS, "another share of the rate would be named"
    text = DOUBTED.format(
        times=" and ".join(f"{size * 1024 * 8 / 1e6:.0f} ms" for size in sizes),
        buffers=f"the same setup is named ({', '.join(named)})",
        gains=" and ".join(gains),
        most=most,
        as_it_is=" and ".join(grades),
        poor=poor,
        gain=more["figures"]["goodput_mbit"]["mean"] / usual["figures"]["goodput_mbit"]["mean"] - 1,
        games=" instead of ".join(f"{one['figures']['game_rtt_ms']['mean']:.0f}" for one in (more, usual)),
        closer=closer,
        share=USUAL_SHARE,
    )
    table = [_row(*HEAD[:8]), _row(*["---"] * 8), *(_row(*_cells(*one)) for one in (*buffers, *shares))]
    folded = [fill(part, 120, break_long_words=False, break_on_hyphens=False) for part in text.strip().split("\n\n")]
    return "\n".join(["", "\n\n".join(folded), "", *table, ""])


INTRO = """# What `advise` says of {all} lines

Written by `make advice-lines`. Each line is asked about in full and with `--quick`, which names the same setup for
{same} of them. It stops after half of the runs for {stopped}, where the answer does not hang on the rest.

"Behind" is in steps of which 1 is noticeable and 3 annoying, summed over all figures of the household, beside the best
of each figure on that line: it compares the setups of a line, not lines. Arrows go from the line as it is to the setup
that is named. A setup shapes to {share:.0%} of the rate (or what its name says), so the total falls where the line was
used well before. [Choose for your home line](../how-to/line.md) explains the choice. Modems' buffers are
typical ones (256 KB, and 100 ms of a fast line), and round trips take 40 ms, unless the line says otherwise.

The grade is of pings alone; RPM counts the round trips of the connections that fill the line too. A call's score
hardly falls below 2 by delay alone, since that is where ITU-T G.107 lets its impairment end.
"""

PARTED = """
## Where the quick form names another setup

It had stopped after half of the runs, and here a limit of the rule lies between what the two forms see:

{points}
"""
DOUBTED = """
## Two assumptions

**100 ms of buffer on a fast line.** Netalyzr's lines were those of 2010. On cable without AQM a provider has measured
some 250 ms on the uplink ([Flickinger et al., 2021](https://arxiv.org/abs/2107.13968)), so 100 are not many there; of
fast fibre we know of no such measurement. With {times} on a line of 1 Gbit/s {buffers}, and brings {gains} steps where
it brings {most} with 100 ms; as it is the line has grade {as_it_is} instead of {poor}. What to use does not hang on it,
how much that brings does: look at the pings while the line is full.

**{share:.0%} of the rate, where 95 % would do.** 90 % is what
[OpenWrt's guide](https://openwrt.org/docs/guide-user/network/traffic-shaping/sqm) says. On fibre of 100 Mbit/s 95 %
carries {gain:.0%} more in total and is {closer:.1f} steps closer; the game's round trip is {games} ms. Less than a
step is not noticeable, so what is usual stays; where the overhead is known, as here, and pings stay short,
`--share 95%` is fine.
"""


HEAD = (
    "Line", "Named", "Behind", "Grade", "RPM", "In total, Mbit/s", "Game's 98 % round trip, ms", "Call, MOS",
    "Furthest behind in", "Next: its grade, how far behind, and why it is not named", "`--quick`",
)  # fmt: skip


def page(rows: list[str], stopped: int, points: list[str], doubts: str) -> str:
    """Return the page with all rows, where the quick form stopped, why it differs, and what else was asked."""
    same = sum(one.endswith("| same |") for one in rows)
    table = [_row(*HEAD), _row(*["---"] * len(HEAD)), *rows, ""]
    parts = ["\n".join([INTRO.format(all=len(rows), same=same, stopped=stopped, share=USUAL_SHARE), *table])]
    parts += [PARTED.format(points="\n".join(points))] if points else []
    return "".join([*parts, doubts])


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, help="the page to write")
    parser.add_argument("--out", type=Path, default=Path("results/advice-lines"), help="folder of the results")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    rows, points, stopped = [], [], 0
    for given in LINES:
        if not given.is_there:
            print(f"left out, its recording is not here: {given.name}", file=sys.stderr)
            continue
        quick, full = (found(given, chosen.out, quick=quick) for quick in (True, False))
        rows.append(row(given, quick, full))
        points += [parted(given, quick, full)] if quick["advice"] != full["advice"] else []
        stopped += quick["stopped_at"] is not None
        print(rows[-1], file=sys.stderr, flush=True)
    chosen.page.write_text(page(rows, stopped, points, doubted(chosen.out)))


if __name__ == "__main__":
    main()
