"""The claims of a paper as Markdown: the headline ones for its README, all of them for a page of their own."""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab.papers import generated, glossary, main_claim
from aqmlab.papers.findings import MEANINGS, Word
from aqmlab.papers.paper import Paper
from aqmlab.papers.summary import KEY, MARKS, Line, heads

FILE = "statements.md"


def opening(table: Sequence[Line], paper: Paper) -> str:
    """Return the sentence on the main claim; nothing where the paper has none."""
    main = main_claim.of(table)
    return main_claim.sentence(main, paper) if main else ""


def headline(table: Sequence[Line], paper: Paper) -> str:
    """Return the rows of the headline claims as Markdown, how to run one, and where the others are."""
    own = [one for one in table if one.is_headline]
    every = f"[All {len(table)} claims]({generated.FOLDER}/{FILE}), and what verdicts and names mean"
    run = f"`aqmlab reproduce {paper.name} --claim {(main_claim.of(own) or own[0]).id}` runs one alone"
    return "\n".join([*_rows(own, paper, with_all=False), "", f"{MARKS}. {every}; {run}."])


def page(table: Sequence[Line], paper: Paper) -> str:
    """Return all rows as a page in Markdown, with the meaning of verdicts, presets and names below."""
    used = {one.here.word for one in table}
    meanings = [f"*{word}*: {MEANINGS[word]}" for word in Word if word in used]
    presets = [f"- `{name}`: {one.says}" for name, one in paper.presets.items()]
    others = ["", "Presets that a row does not name have the verdict of the first."] if len(presets) > 1 else []
    names = [f"- `{name}`: {meaning}" for name, meaning in glossary.of_table(paper, table)]
    parts = [
        f"# {paper.title}: every claim",
        "Written by `scripts/paper_results.py` from the full form; explained in [its README](../README.md).",
        "\n".join(_rows(table, paper, with_all=True)),
        f"{'. '.join(meanings)}. {KEY}",
        "\n".join(["## Presets", "", *presets, *others]),
        *(["\n".join(["## Names in the table", "", *names])] if names else []),
    ]
    return "\n\n".join(parts) + "\n"


def _rows(table: Sequence[Line], paper: Paper, *, with_all: bool) -> list[str]:
    columns = ("Claim", *heads(paper, paper.presets))
    rows = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for one in table:
        name = f"`{one.id}`{' **main**' * one.is_main}"
        parts = f" ({one.here.parts})" if one.here.parts else ""
        verdict = f"**{one.here.word}**{parts}{f', {one.here.open}' if one.here.open else ''}"
        alike = f"<br>but {'; '.join(one.alike)}" if one.alike and with_all else ""
        cells = (name, one.says, one.here.paper, one.here.ours, f"{verdict}{alike}", one.share, "<br>".join(one.flips))
        rows.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return rows


__all__ = ["FILE", "headline", "opening", "page"]
