"""What a household notices of its line: the figures, and from which difference on each is noticed and annoys."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# G.711 without loss or delay: R is 93.2 (ITU-T G.107).
BEST_MOS = 4.4
# Steps of the scale by which people rate degradations: imperceptible, perceptible but not annoying, slightly annoying,
# annoying, very annoying (ITU-T P.800, annex D).
NOTICED_STEPS, SLIGHT_STEPS, ANNOYING_STEPS, MOST_STEPS = 1.0, 2.0, 3.0, 4.0


@dataclass(frozen=True)
class Difference:
    """A difference from the best value, in the figure's unit and as a share of that value: the larger counts.

    >>> Difference(0.1, 0.2, "").of(2.0), Difference(0.1, 0.2, "").of(0.3)
    (0.4, 0.1)

    """

    least: float
    share: float
    source: str

    def of(self, best: float) -> float:
        """Return it beside a best value."""
        return max(self.least, self.share * abs(best))


@dataclass(frozen=True)
class Figure:
    """Something that a household notices.

    ``of`` computes it from a run's metrics and the length of the run in minutes.
    """

    name: str
    title: str
    unit: str
    digits: int
    is_more_better: bool
    noticed: Difference
    annoying: Difference
    of: Callable[[Mapping[str, Any], float], float | None]

    def shortfall(self, value: float, best: float) -> float:
        """Return how far a value is behind the best one, in steps: 1 is noticed, 3 annoys, and 4 is the most.

        Between these it is linear, and below what is noticed by most too, since some notice less.
        """
        behind = best - value if self.is_more_better else value - best
        noticed, annoying = self.noticed.of(best), self.annoying.of(best)
        if not behind > 0.0:
            return 0.0
        if behind <= noticed:
            return NOTICED_STEPS * behind / noticed
        beyond = (behind - noticed) / (annoying - noticed)
        return min(NOTICED_STEPS + (ANNOYING_STEPS - NOTICED_STEPS) * beyond, MOST_STEPS)


def value(figure: Figure, run: Mapping[str, Any], minutes: float) -> float | None:
    """Return a figure of a run; a run without a finished page, or a video that never began, has none."""
    try:
        found = figure.of(run, minutes)
    except (KeyError, TypeError):
        found = None
    return found if found is not None and math.isfinite(found) else None


def unseen(figure: Figure, minutes: float) -> float:
    """Return what stands for no value: nothing, a page as long as the run, a video that always stands still."""
    if figure.is_more_better:
        return 0.0
    return 60.0 if figure.name == "video_stall_s" else 60.0 * minutes


def round_trip(run: Mapping[str, Any], group: str, metric: str) -> float:
    """Return both directions' delays together. Two 99th percentiles bound 98 of 100 round trips at least."""
    return float(run[f"class.{group}_down.{metric}"] + run[f"class.{group}_up.{metric}"])


def _least_mos(run: Mapping[str, Any], minutes: float) -> float:
    del minutes
    return min(float(run["mos_mean"]), float(run["mos_back_mean"]))


def _stalls(run: Mapping[str, Any], minutes: float) -> float | None:
    return None if run.get("video_bitrate_mbit") is None else float(run["video_stall_s"]) / minutes


_DURATIONS = "a fifth more time is noticed: Seow, Designing and Engineering Time, 2008"
_TWICE = "twice the time is ours; ratings fall with its logarithm: Egger et al., QoMEX 2012"
# A transfer takes a fifth longer at five sixths of the rate, and twice as long at half of it.
_SLOWER, _HALF = Difference(0.0, 1 / 6, _DURATIONS), Difference(0.0, 1 / 2, _TWICE)

FIGURES = (
    Figure(
        "call_mos",
        "Call",
        f"MOS, 1 to {BEST_MOS}",
        2,
        True,
        Difference(0.31, 0.0, "from very satisfied (4.34) to satisfied (4.03): ITU-T G.107, annex B, and G.109"),
        Difference(0.74, 0.0, "from very satisfied (4.34) to some users dissatisfied (3.60): ITU-T G.107 and G.109"),
        _least_mos,
    ),
    Figure(
        "page_load_s",
        "Page load",
        "mean, s",
        2,
        False,
        Difference(0.1, 0.2, f"{_DURATIONS}; below 0.1 s is instantaneous: Miller, 1968"),
        Difference(1.0, 1.0, f"{_TWICE}; a second more interrupts a thought: Miller, 1968"),
        lambda run, _: run["page_load_mean_s"],
    ),
    Figure(
        "game_rtt_ms",
        "Game round trip",
        "median / 98 %, ms",
        0,
        False,
        Difference(25.0, 0.2, f"steps of 25 ms cost hits: Liu et al., QoMEX 2021; {_DURATIONS}"),
        Difference(100.0, 1.0, "first-person games tolerate 100 ms: Claypool and Claypool, CACM 49(11), 2006"),
        lambda run, _: round_trip(run, "game", "owd_p99_ms"),
    ),
    Figure(
        "video_stall_s",
        "Video stalls",
        "s a minute",
        1,
        False,
        Difference(0.6, 0.0, "1 % of the time costs viewers: Dobrian et al., SIGCOMM 2011"),
        Difference(6.0, 0.0, "two stalls of 3 s are rated 2.5 of 5: Hossfeld et al., ISM 2011"),
        _stalls,
    ),
    Figure(
        "video_mbit",
        "Video",
        "Mbit/s",
        2,
        True,
        Difference(
            0.0,
            0.3,
            "a step of the ladder (1.43 times), which is just noticed: Netflix, Per-title encode optimization, 2015",
        ),
        Difference(0.0, 0.65, "three steps of the ladder"),
        lambda run, _: run["video_bitrate_mbit"],
    ),
    Figure(
        "download_mbit",
        "Download",
        "Mbit/s",
        2,
        True,
        _SLOWER,
        _HALF,
        lambda run, _: run["class.download.goodput_mbit"],
    ),
    Figure(
        "backup_mbit",
        "Backup",
        "Mbit/s",
        2,
        True,
        _SLOWER,
        _HALF,
        lambda run, _: run["class.backup.goodput_mbit"],
    ),
)

__all__ = ["BEST_MOS", "FIGURES", "Difference", "Figure", "round_trip", "unseen", "value"]
