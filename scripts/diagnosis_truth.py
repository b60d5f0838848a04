"""What is so on a simulated line, and whether the estimates of it are right."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from aqmlab.diagnosis import Direction, Finding

# A full packet on the line.
FRAME_BITS = 1514 * 8
# What is called sure is wrong if it is off by more.
TOLERANCE = {"rate": 0.1, "round trip": 0.2, "buffer": 0.15}


@dataclass(frozen=True)
class Truth:
    """What is so: None where no capture of this kind can tell.

    Attributes:
        line_mbit: the rate of the line.
        rate_mbit: the rate, in IP packets.
        base_ms: the round trip without a queue.
        buffer: how many packets the buffer holds.
        patterns: who drops; any of them is right. Without one, nothing can be estimated.
        fills: whether nothing but the full buffer drops, so that the buffer shows.
        shows: whether the line is full, and the capture has what separates its directions.

    """

    line_mbit: float
    rate_mbit: float | None
    base_ms: float | None
    buffer: int | None
    patterns: frozenset[str]
    fills: bool
    shows: bool = True


@dataclass
class Score:
    """How often something was estimated, and how well."""

    estimated: int = 0
    missed: int = 0
    of_others: int = 0
    rightly_not: int = 0
    high: int = 0
    high_wrong: int = 0
    errors: list[float] = field(default_factory=list)

    def row(self, name: str) -> str:
        """Return it as a row of a table in Markdown."""
        errors = np.abs(self.errors) if self.errors else np.array([np.nan])
        median, most = (f"{value:.1%}" if self.errors else "" for value in np.quantile(errors, [0.5, 0.95]))
        left, shown = self.rightly_not + self.missed, self.estimated + self.missed
        return (
            f"| {name} | {self.estimated} of {shown} | {self.of_others} | {median} | {most} "
            f"| {self.high_wrong} of {self.high} | {self.rightly_not} of {left} |"
        )


HEAD = (
    "| | estimated, of lines that show it | estimated of others | error, median | 95 % | wrong, where called high "
    "| `cannot tell`, right |\n|---|---|---|---|---|---|---|"
)


def judge(direction: Direction, true: Truth, scores: dict[str, Score]) -> list[str]:
    """Add the estimates of one direction to the scores; return them in words."""
    says = []
    for name, found, scale, value, must in (
        ("rate", direction.rate_bps, 1e6, true.rate_mbit, true.shows),
        ("round trip", direction.base_rtt_ms, 1.0, true.base_ms, True),
        ("buffer", *_buffer(direction, true), true.fills and true.shows),
    ):
        what, error, is_wrong = _number(scores.setdefault(name, Score()), found, scale, value, must, TOLERANCE[name])
        sure = f", {found.confidence}{' WRONG' if is_wrong and found.confidence == 'high' else ''}"
        says.append(f"{name} {f'{error:+.1%}{sure}' if error is not None else what}")
    says.append(_pattern(scores.setdefault("who drops", Score()), direction, true))
    return says


def _buffer(direction: Direction, true: Truth) -> tuple[Finding, float, float | None]:
    """Return the buffer in the unit in which it was found to be full: packets, else milliseconds of them."""
    if direction.buffer_packets.confidence == "high" or direction.buffer_ms.confidence != "high" or true.buffer is None:
        return direction.buffer_packets, 1.0, true.buffer
    return direction.buffer_ms, 1.0, true.buffer * FRAME_BITS / (true.line_mbit * 1e3)


def _number(
    score: Score, found: Finding, scale: float, true: float | None, must: bool, tolerance: float
) -> tuple[str, float | None, bool]:
    if found.value is None or found.confidence == "cannot tell":
        if true is None or not must:
            score.rightly_not += 1
            return "rightly not estimated", None, False
        score.missed += 1
        return "wrongly not estimated", None, False
    error = None if true is None else found.value / scale / true - 1.0
    is_wrong = error is None or abs(error) > tolerance
    if found.confidence == "high":
        score.high += 1
        score.high_wrong += is_wrong
    if error is None:
        score.of_others += 1
        return f"wrongly estimated, {found.confidence}", None, is_wrong
    score.estimated += 1
    score.errors.append(error)
    return "estimated", error, is_wrong


def _pattern(score: Score, direction: Direction, true: Truth) -> str:
    if direction.pattern_confidence == "cannot tell":
        is_right = not true.patterns or not true.shows
        score.rightly_not += is_right
        score.missed += not is_right
        return f"cannot tell (is {', '.join(sorted(true.patterns)) or 'nothing'})"
    is_right = direction.pattern in true.patterns
    score.estimated += is_right
    score.of_others += not is_right
    if direction.pattern_confidence == "high":
        score.high += 1
        score.high_wrong += not is_right
    if is_right:
        return f"{direction.pattern}, {direction.pattern_confidence}"
    truth = ", ".join(sorted(true.patterns)) or "nothing"
    return f"{direction.pattern}, {direction.pattern_confidence} WRONG (is {truth})"


__all__ = ["HEAD", "Score", "Truth", "judge"]
