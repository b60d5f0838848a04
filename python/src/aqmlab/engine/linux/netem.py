"""What a wire does to packets beside its delay, in the words of netem (tc-netem(8))."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The options that netem can do here. Propagation is on the way back, so that no packet could overtake by it; and jitter
# that is uniform is not correlated, whatever is asked: tabledist() takes a draw's remainder (validate/linux/README.md).
OPTIONS = ("loss", "jitter", "duplicate")
# The shares of a model of loss, in netem's order.
SHARES = {"gemodel": ("p", "r", "bad", "good"), "state": ("p13", "p31", "p32", "p23", "p14")}


def words(settings: Mapping[str, Any], delay_ns: int = 0) -> str:
    """Return the words of ``tc qdisc add ... netem`` for the settings of a scenario; empty for a wire that only delays.

    ``delay_ns`` is the propagation delay, without which no packet could overtake by it.

    >>> words({"loss": {"gemodel": {"bad": 1, "good": 0, "p": 0.01, "r": 0.1}}, "jitter_ns": 0, "duplicate": 0.5})
    'loss gemodel 1.000000% 10.000000% 100.000000% 0.000000% duplicate 50.000000%'
    >>> words({"loss": 0.0, "jitter_ns": 5_000_000, "jitter_correlation": 0.25, "duplicate": 0.0})
    'delay 2500000ns 2500000ns 25.000000%'
    >>> steady = {"loss": 0.0, "jitter_ns": 0, "jitter_correlation": 0.0, "duplicate": 0.0}
    >>> words({**steady, "reorder": {"share": 0.25, "gap": 5}}, delay_ns=10_000_000)
    'delay 10000000ns reorder 25.000000% gap 5'

    """
    found = []
    if jitter_ns := settings["jitter_ns"]:
        # netem's is symmetric about the delay, ours begins at zero.
        middle_ns = delay_ns + jitter_ns // 2
        found.append(f"delay {middle_ns}ns {jitter_ns // 2}ns {settings['jitter_correlation']:%}")
    elif delay_ns:
        found.append(f"delay {delay_ns}ns")
    if delay_ns and (reorder := settings["reorder"]):
        found.append(f"reorder {reorder['share']:%} gap {reorder['gap']}")
    if loss := settings["loss"]:
        model, shares = next(iter(loss.items())) if isinstance(loss, dict) else ("random", {"share": loss})
        found.append(" ".join(["loss", model, *(f"{shares[name]:%}" for name in SHARES.get(model, shares))]))
    if duplicate := settings["duplicate"]:
        found.append(f"duplicate {duplicate:%}")
    return " ".join(found)


__all__ = ["OPTIONS", "words"]
