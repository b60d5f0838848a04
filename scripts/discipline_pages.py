#!/usr/bin/env python3
"""Write a page about each queue discipline.

    scripts/discipline_pages.py docs/reference/disciplines

The contents come from the discipline's own declarations (`aqmlab aqm show`), from the header of its source file, and
from the runs of its RFC 7567 card. The cards are also written as data, which `aqmlab aqm show` prints. The same sources
give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

import splice_tables

from aqmlab.analysis.card import ASKED, CARDS, Row, rfc7567
from aqmlab.scenario import registry
from aqmlab.scenario.registry import Discipline

SOURCES = Path(__file__).resolve().parents[1] / "crates/aqm-core/src/discipline"
SECTIONS = ("What it does", "Reference", "Deviations", "Promises")
CARD = "## RFC 7567"
# With a buffer of one bandwidth-delay product for all, CAKE is not as it is deployed: its source says why.
EXAMPLES = {"cake": "--aqm fifo --aqm 'cake limit 10240p' --allow-unequal-buffers"}


def main() -> None:
    """Write the pages and their index."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    disciplines = registry.disciplines()
    cards: dict[str, list[Row]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for discipline, rows in zip(disciplines, pool.map(rfc7567, [one.name for one in disciplines]), strict=True):
            cards[discipline.name] = rows
            (folder / file_name(discipline)).write_text(declared(discipline) + card(rows))
            print(discipline.name, " ".join(f"{row.id}:{row.verdict}" for row in rows if row.verdict != "stated"))
    CARDS.write_text(as_data(cards))
    (folder / "README.md").write_text(index(disciplines))
    pages = {file_name(one) for one in disciplines} | {"README.md"}
    for left_over in {path.name for path in folder.glob("*.md")} - pages:
        (folder / left_over).unlink()


def as_data(cards: dict[str, list[Row]]) -> str:
    """Return cards as the data that comes with the package."""
    plain = {name: [asdict(row) for row in rows] for name, rows in cards.items()}
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


def file_name(discipline: Discipline) -> str:
    """Return the name of the discipline's page."""
    return f"{module(discipline)}.md"


def module(discipline: Discipline) -> str:
    """Return the name of the discipline's source, without its ending."""
    return discipline.name.replace("-", "_")


def index(disciplines: tuple[Discipline, ...]) -> str:
    """Return the page that lists the others."""
    lines = [
        "# The queue disciplines",
        "",
        "Written by `make docs`. Probes are variables of a discipline that every run records as",
    ]
    lines += ["time series; its state does not count waiting packets.", ""]
    group = ""
    for one in disciplines:
        if one.group != group:
            group = one.group
            lines += ["", f"## {group}", "", "| Name | What it does | Defined by |", "|---|---|---|"]
        lines.append(f"| [{one.name}]({file_name(one)}) | {one.summary} | {one.reference} |")
    lines += [
        "",
        CARD,
        "",
        "The recommendations of BCP 197, and how each page judges them: on a link of 10 Mbit/s and 40 ms",
    ]
    lines += ["with a buffer of 200 packets, unless another is named. Runs and limits are ours."]
    lines += ["", "| | Asked | Run | Enough |", "|---|---|---|---|"]
    lines += [_cells((f"{name} {one.name}", one.asks, one.run, one.enough)) for name, one in ASKED.items()]
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def declared(discipline: Discipline) -> str:
    """Return the part of a page that needs no run."""
    header = source_header(discipline)
    lines = [f"# {discipline.name}", "", f"{discipline.summary}.", ""]
    aqms = EXAMPLES.get(discipline.name, f"--aqm fifo,{discipline.name}")
    lines += [f"`aqmlab compare --rate 10mbit --rtt 40ms {aqms}`", ""]
    for title in SECTIONS:
        lines += [f"## {title}", "", header[title], ""]
    lines += ["## Parameters", "", "| Parameter | Default | Allowed | What it does | Where the default comes from |"]
    lines += ["|---|---|---|---|---|"]
    rows = []
    for param in discipline.params:
        auto = f" (auto: {param.auto})" if param.auto else ""
        rows.append((f"`{param.name}`", param.default, param.allowed, param.help + auto, param.reference))
    lines += [_cells(row) for row in splice_tables.merged(rows)]
    lines += [
        "",
        "## Presets",
        "",
        "| Preset | Where it comes from | What differs from the defaults |",
        "|---|---|---|",
    ]
    for number, preset in enumerate(discipline.presets):
        name = f"`{preset.name}`" + (" (meant when none is named)" if number == 0 else "")
        values = ", ".join(f"{key} {value}" for key, value in preset.values.items())
        lines.append(_cells((name, preset.source, values or "nothing")))
    if discipline.probes:
        lines += ["", "## Probes", ""]
        lines += ["| Probe | Unit | What it is |", "|---|---|---|"]
        lines += [_cells((f"`{probe.name}`", probe.unit, probe.help)) for probe in discipline.probes]
    traits = discipline.traits
    lines += ["", "## State", ""]
    each = f", of these {traits['flow_state_bytes']} for each flow queue" if traits["flow_state_bytes"] else ""
    marks = "marks (ECN)" if traits["ecn"] else "never marks"
    drops = "queued packets too" if traits["drops_queued"] else "arriving packets only"
    lines.append(f"{discipline.state_bytes} bytes at the defaults{each}; {marks}; drops {drops}.")
    return "\n".join(lines) + "\n\n"


def card(rows: list[Row]) -> str:
    """Return the measured part of a page."""
    lines = [CARD, "", "What is asked, run, and enough: [RFC 7567](README.md#rfc-7567).", ""]
    lines += ["| | Verdict | Found |", "|---|---|---|"]
    lines += [_cells((f"{row.id} {ASKED[row.id].name}", row.verdict, row.finding)) for row in rows]
    return "\n".join(lines) + "\n"


def source_header(discipline: Discipline) -> dict[str, str]:
    """Return the sections of the header of the discipline's source file."""
    source = next(
        path
        for path in (SOURCES / f"{module(discipline)}.rs", SOURCES / module(discipline) / "mod.rs")
        if path.exists()
    )
    lines = [
        line.removeprefix("//!").removeprefix(" ") for line in source.read_text().splitlines() if line.startswith("//!")
    ]
    parts = re.split(r"^# (.+)$", "\n".join(lines), flags=re.M)
    return {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def _cells(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    main()
