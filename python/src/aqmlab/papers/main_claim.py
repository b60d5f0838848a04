"""A paper's main claim in one sentence: does it hold, how sure is that, and over which assumptions.

Written from what is stored with the paper; nothing of it is typed in.
"""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab.papers.findings import Word
from aqmlab.papers.paper import Paper
from aqmlab.papers.summary import Line
from aqmlab.vocabulary.names import listed

_SAYS = {
    Word.REPRODUCED: "it is reproduced",
    Word.OTHER_SIZE: "it holds with another size",
    Word.NO_SIZE: "it holds, without a size to compare,",
    Word.UNTESTED: "it holds where it can be tested",
    Word.FAILS: "a part of it fails",
    Word.REVERSED: "a part of it is reversed",
    Word.INCONCLUSIVE: "it stays open",
    Word.NOT_REPRODUCED: "it is not reproduced",
    Word.NOT_TESTABLE: "it cannot be tested",
}


def of(table: Sequence[Line]) -> Line | None:
    """Return the main claim of a table, if it is in it."""
    return next((one for one in table if one.is_main), None)


def sentence(one: Line, paper: Paper, mark: str = "`") -> str:
    """Return the sentence; ``mark`` stands around names."""
    others = [each for each in one.others if each.holds != one.holds]
    but = "".join(
        f"; in {listed([f'{mark}{preset}{mark}' for preset in each.presets])} {_SAYS[each.word]}"
        + (f" ({each.part})" if each.part else "")
        + " (stored)" * each.is_stored
        for each in others
    )
    # A run may have left presets out.
    alike = ", as in every preset" if len(paper.presets) > 1 and not one.others and one.stored is None else ""
    parts = f"{one.here.parts} parts; " if one.here.parts else ""
    stored = f", stored: {one.stored.word}" if one.stored is not None and not one.is_as_stored else ""
    return (
        f'Main claim ({mark}{one.id}{mark}), "{one.says}": {_SAYS[one.here.word]} in {mark}{one.preset}{mark}{alike} '
        f"({parts}{one.here.ours}{stored}){but}; {_robust(one)}."
    )


def brief(one: Line) -> str:
    """Return its verdict and how robust it is, in some words."""
    robustness = one.robustness
    held = f"; in {robustness['holding']} of {robustness['tested']} configurations" if robustness else ""
    flipped = "".join(f"; {each.word} in {listed(each.presets)}" for each in one.others if each.flips)
    return f"main claim {one.id}: {one.here.word}{flipped}{held}"


def _robust(one: Line) -> str:
    robustness = one.robustness
    if not robustness.get("tested"):
        return "no configurations of what the paper leaves open were sampled for it"
    ends = f"{robustness['ci95_low'] * 100:.0f} to {robustness['ci95_high'] * 100:.0f} % of all"
    undecided = f"; {robustness['undecided']} open" if robustness["undecided"] else ""
    stored = "; stored" if one.stored is not None and not one.is_sampled else ""
    held = f"it holds in {robustness['holding']} of {robustness['tested']} sampled configurations"
    held += f" ({ends}{undecided}{stored})"
    names = [found["factor"] for found in robustness["strongest"] if found["decides"]]
    return f"{held} and depends most on {listed(names)}" if names else held


__all__ = ["brief", "of", "sentence"]
