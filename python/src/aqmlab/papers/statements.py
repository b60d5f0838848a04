"""The statements of a paper as Markdown: the headline ones for its README, all of them for a page of their own."""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab.papers import generated, glossary
from aqmlab.papers.paper import Paper
from aqmlab.papers.summary import KEY, MARKS, Line, heads
from aqmlab.papers.verdicts import MEANINGS, Verdict

FILE = "statements.md"


def headline(table: Sequence[Line], paper: Paper) -> str:
    """Return the rows of the headline statements as Markdown, and where the others are."""
    own = [one for one in table if one.is_headline]
    return "\n".join(
        [
            *_rows(own, paper),
            "",
            f"{MARKS} [All {len(table)} statements]({generated.FOLDER}/{FILE}), and what verdicts and names mean.",
        ]
    )


def page(table: Sequence[Line], paper: Paper) -> str:
    """Return all rows as a page in Markdown, with the meaning of verdicts, presets and names below."""
    used = {one.verdict for one in table} | {verdict for one in table for verdict in one.others.values()}
    meanings = [f"*{verdict}*: {MEANINGS[verdict]}" for verdict in Verdict if verdict in used]
    presets = [f"- `{name}`: {one.says}" for name, one in paper.presets.items()]
    others = ["", "Presets that a row does not name have the verdict of the first."] if len(presets) > 1 else []
    names = [f"- `{name}`: {meaning}" for name, meaning in glossary.of_table(paper, table)]
    parts = [
        f"# {paper.title}: every statement",
        "Written by `scripts/paper_results.py` from the full form; explained in [its README](../README.md).",
        "\n".join(_rows(table, paper)),
        f"{'. '.join(meanings)}. {KEY}",
        "\n".join(["## Presets", "", *presets, *others]),
        *(["\n".join(["## Names in the table", "", *names])] if names else []),
    ]
    return "\n\n".join(parts) + "\n"


def _rows(table: Sequence[Line], paper: Paper) -> list[str]:
    columns = ("Claim", *heads(paper, paper.presets))
    rows = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for one in table:
        others = "".join(f"; {name}: {verdict}" for name, verdict in one.others.items())
        numbers = ("<br>".join(part) for part in (one.paper, one.ours))
        cells = (f"`{one.id}`", one.says, *numbers, f"**{one.verdict}**{others}", one.sensitive)
        rows.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return rows


__all__ = ["FILE", "headline", "page"]
