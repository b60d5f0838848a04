"""What a link does while it runs, in the last lines of the terminal; a command's output scrolls above them."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from aqmlab.live.carrying import SAMPLE_NS
from aqmlab.live.directions import DIRECTIONS
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.units import NANOS_PER_SECOND

REFRESH_S = 0.25
PER_SECOND = NANOS_PER_SECOND // SAMPLE_NS
# Bars, of which each is the mean of half a second.
BARS, OF_A_BAR = 20, PER_SECOND // 2
HEIGHTS, PLAIN_HEIGHTS = " ▁▂▃▄▅▆▇█", " .:-=+*%#"
LINES = 1 + len(DIRECTIONS)
# Smaller terminals have no room for a command's output.
LEAST_ROWS = LINES + 4
HEAD = (
    f"{'':5}{'Mbit/s':>8}  {'over 10 s':{BARS}}  {'queue':>12}  {'p50':>7} {'p99 ms':>8}  {'over 10 s':{BARS}}  "
    f"{'drops/s':>8} {'marks/s':>8}"
)

Sample = Mapping[str, Any]


def check() -> None:
    """Refuse what is no terminal, or a small one.

    Raises:
        InputError: saying so.

    """
    if not sys.stderr.isatty():
        raise InputError("--dashboard: standard error is no terminal: leave it out")
    if os.get_terminal_size(sys.stderr.fileno()).lines < LEAST_ROWS:
        raise InputError(f"--dashboard: the terminal has fewer than {LEAST_ROWS} lines")


@contextmanager
def shown(samples: Path) -> Iterator[None]:
    """Show what is written to a file of samples, until the end."""
    with _bottom() as show:
        known: dict[str, deque[Sample]] = {name: deque(maxlen=BARS * OF_A_BAR) for name in DIRECTIONS}
        is_over = threading.Event()

        def follow() -> None:
            # The terminal may go, and the link is what matters.
            with suppress(OSError), samples.open() as file:
                begun = ""
                while not is_over.wait(REFRESH_S):
                    *whole, begun = (begun + file.read()).split("\n")
                    for line in whole:
                        one = json.loads(line)
                        known[one["direction"]].append(one["sample"])
                    show(lines(known))

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


def lines(known: Mapping[str, Sequence[Sample]], heights: str = HEIGHTS) -> list[str]:
    """Return the heading, and a line for each direction with its last samples."""
    return [HEAD, *(_line(name, list(samples), heights) for name, samples in known.items())]


def _line(name: str, samples: Sequence[Sample], heights: str) -> str:
    if not samples:
        return f"{name:5}"
    second, last = samples[-PER_SECOND:], samples[-1]
    rate = sum(one["throughput_mbit"] for one in second) / len(second)
    drops, marks = (sum(one[of] for one in second) * PER_SECOND / len(second) for of in ("drops", "marks"))
    # Where nothing left in the last period, the one before says more than nothing.
    delays = next((one for one in reversed(second) if one["qdelay_ms"] is not None), last)
    p50, p99 = (_number(delays[f"qdelay_{of}_ms"]) for of in ("p50", "p99"))
    rates, waits = (_bars([one[of] or 0.0 for one in samples], heights) for of in ("throughput_mbit", "qdelay_ms"))
    queue = f"{last['queue_packets']} packets"
    return (
        f"{name:5}{rate:8.2f}  {rates:{BARS}}  {queue:>12}  {p50:>7} {p99:>8}  {waits:{BARS}}  "
        f"{drops:8.1f} {marks:8.1f}"
    )


def _number(ms: float | None) -> str:
    return "-" if ms is None else f"{ms:.1f}"


def _bars(values: Sequence[float], heights: str) -> str:
    """The means of neighbours, the last at the right, as parts of the largest.

    >>> _bars([1.0] * 5 + [2.0] * 5 + [4.0] * 5, HEIGHTS)
    '▂▄█'

    """
    first = len(values) % OF_A_BAR
    means = [sum(values[at : at + OF_A_BAR]) / OF_A_BAR for at in range(first, len(values), OF_A_BAR)]
    largest = max(means, default=0.0)
    top = len(heights) - 1
    return "".join(heights[round(top * mean / largest) if largest else 0] for mean in means)


@contextmanager
def _bottom() -> Iterator[Callable[[Sequence[str]], None]]:
    """Keep the last lines of the terminal; what others write scrolls above them (DECSTBM of the VT100)."""
    to = sys.stderr
    is_plain = "utf" not in (to.encoding or "").lower()
    rows = 0

    def write(text: str) -> None:
        to.write(text)
        to.flush()

    def show(texts: Sequence[str]) -> None:
        nonlocal rows
        size = os.get_terminal_size(to.fileno())
        if size.lines != rows:
            rows = size.lines
            # Room is made first: the cursor may be in the last line. The region moves it, so it is kept (7, 8).
            write("\n" * LINES + f"\x1b[{LINES}A\x1b7\x1b[1;{rows - LINES}r\x1b8")
        if is_plain:
            table = str.maketrans(HEIGHTS, PLAIN_HEIGHTS)
            texts = [text.translate(table) for text in texts]
        drawn = "".join(
            f"\x1b[{rows - LINES + number};1H\x1b[2K{text[: size.columns]}" for number, text in enumerate(texts, 1)
        )
        write(f"\x1b7{drawn}\x1b8")

    try:
        yield show
    finally:
        if rows:
            with suppress(OSError):
                write(f"\x1b7\x1b[r\x1b[{rows - LINES + 1};1H\x1b[J\x1b8")


__all__ = ["check", "lines", "shown"]
