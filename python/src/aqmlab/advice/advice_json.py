"""The advice as plain data."""

from __future__ import annotations

from typing import Any

from aqmlab import __version__
from aqmlab.advice import autorate, paste, words
from aqmlab.advice.run import Advice
from aqmlab.advice.verdict import Judged

FORMAT_VERSION = 1


def document(advice: Advice, interface: str = "") -> dict[str, Any]:
    """Return it as plain data (JSON), with the router's ``interface`` in the lines to paste, or the line's."""
    found = paste.interfaces(advice.line, interface)
    return {
        "format_version": FORMAT_VERSION,
        "command": "advise",
        "aqmlab": __version__,
        "line": str(advice.line),
        "advice": advice.chosen.name,
        "words": words.sentences(advice),
        "runner_up": advice.verdict.runner_up,
        "why_not_runner_up": words.why_not(*map(advice.verdict.of, (advice.chosen.name, advice.verdict.runner_up))),
        "alike": list(advice.verdict.alike),
        "tied": list(advice.verdict.tied),
        "seeds": len(advice.result.seeds),
        "stopped_at": advice.stopped_at,
        "setups": [_plain(one) for one in advice.verdict.judged],
        "interface": found.linux,
        "interface_openwrt": found.openwrt,
        "tc": paste.tc(advice.chosen, advice.line, interface),
        "undo": paste.undo(advice.chosen, advice.line, interface),
        "sqm": paste.sqm(advice.for_openwrt, advice.line, interface),
        "openwrt": words.openwrt(advice),
        "autorate": autorate.settings(advice.line, interface),
        "assumptions": words.assumptions(advice),
        "warnings": [*([found.notice] if found.notice else []), *advice.result.warnings],
    }


def _plain(one: Judged) -> dict[str, Any]:
    figures = {
        name: {"mean": value.value, "ci95_low": value.low, "ci95_high": value.high}
        for name, value in one.values.items()
    }
    return {
        "name": one.name,
        "grade": one.grade,
        "worse": list(one.worse),
        "behind": one.behind,
        "shortfalls": one.shortfalls,
        "figures": figures,
        "runs_without_value": one.unseen,
    }
