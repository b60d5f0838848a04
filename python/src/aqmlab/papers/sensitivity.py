"""What a verdict is sensitive to, in words: single settings that flip it, and factors that matter over the sample.

From the robustness of a claim as plain data, as it is stored and exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Factors that are named one by one.
MOST_FACTORS = 4
NONE = "no setting tried flips it"


def share(robustness: Mapping[str, Any], what: str = "") -> str:
    """Return in how many sampled configurations a claim holds; ``what`` names them.

    >>> share({"holding": 44, "tested": 120, "undecided": 19}), share({"tested": 0}), share({})
    ('44 of 120 (19 open)', 'nothing to test', 'not sampled')
    >>> share({"holding": 2, "tested": 3, "undecided": 0}, "configurations")
    '2 of 3 configurations'

    """
    if not robustness:
        return "not sampled"
    if not robustness["tested"]:
        return "nothing to test"
    undecided = f" ({robustness['undecided']} open)" if robustness["undecided"] else ""
    return f"{robustness['holding']} of {robustness['tested']}{f' {what}' if what else ''}{undecided}"


def settings(robustness: Mapping[str, Any], preset: str) -> str:
    """Return the settings that flip a preset's verdict, each alone or the fewest together, by factor.

    >>> def flip(**changes): return {"preset": "printed", "changes": changes, "to": "reproduced"}
    >>> settings({"flips": [flip(target="5ms"), flip(mss="500b"), flip(target="10ms")]}, "printed")
    'target 5ms, 10ms; mss 500b'
    >>> settings({"flips": [flip(ftp="1mb", core="100 Mbit/s")]}, "printed")
    'ftp 1mb with core 100 Mbit/s'
    >>> settings({"flips": []}, "printed")
    'no setting tried flips it'

    """
    if not robustness:
        return ""
    changes = [one["changes"] for one in robustness["flips"] if one["preset"] == preset]
    levels: dict[str, list[str]] = {}
    for one in changes:
        if len(one) == 1:
            ((factor, level),) = one.items()
            levels.setdefault(factor, []).append(level)
    found = [f"{factor} {', '.join(several)}" for factor, several in levels.items()]
    found = found or [" with ".join(f"{factor} {level}" for factor, level in one.items()) for one in changes]
    if not found:
        return NONE
    return "; ".join(found[:MOST_FACTORS]) + (f"; and {len(found) - MOST_FACTORS} more" * (len(found) > MOST_FACTORS))


def factors(robustness: Mapping[str, Any]) -> str:
    """Return the factors that matter beyond chance over the sample, the strongest first.

    >>> one = {"factor": "mss", "decides": True}
    >>> factors({"strongest": [one, {**one, "factor": "updates"}, {"factor": "acks", "decides": False}]})
    'mss, updates'

    """
    return ", ".join(one["factor"] for one in robustness.get("strongest", []) if one["decides"])


__all__ = ["NONE", "factors", "settings", "share"]
