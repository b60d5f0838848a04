"""LEDBAT from the pseudocode of RFC 6817 section 2.4.2; delays in microseconds.

Assumptions shared with aqmlab:

- FILTER() is the smallest of the last four delays (section 2.5 wants at least four samples).
- A minute of base delays begins with the first sample after the last one has ended; minutes without a sample leave no
  entry.
- A window is whole bytes; the fraction counts with the next acknowledgment.
- The window does not change while the application does not use it; delays count always.
- INIT_CWND and MIN_CWND are two segments, the first window after idle time as well. A timeout has also the response to
  a loss, as TCP's.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

from control import MSS, Ack, Control

CURRENT_FILTER, BASE_HISTORY = 4, 10
ALLOWED_INCREASE, MIN_CWND = 1, 2


class Ledbat(Control):
    """One connection."""

    rules = ("grows", "shrinks", "held by the flight", "held by the smallest window", "a new minute", "loss", "timeout")

    def __init__(self, target: float = 100_000, gain: float = 1) -> None:
        super().__init__()
        self.target, self.gain = target, gain
        self.cwnd, self.ssthresh = MIN_CWND * MSS, 0
        self.current_delays: deque[int] = deque(maxlen=CURRENT_FILTER)
        self.base_delays: deque[int] = deque(maxlen=BASE_HISTORY)
        self.rollover = float("-inf")
        self.fraction = 0.0

    def ack(self, ack: Ack) -> None:
        self.update_base_delay(ack.delay, ack.now)
        self.current_delays.append(ack.delay)
        if not ack.used:
            return
        queuing_delay = min(self.current_delays) - min(self.base_delays)
        off_target = (self.target - queuing_delay) / self.target
        moved = self.gain * off_target * ack.acked * MSS / self.cwnd + self.fraction
        self.fraction = moved - math.floor(moved)
        cwnd = self.cwnd + math.floor(moved)
        self.seen["grows" if off_target > 0 else "shrinks"] += 1
        max_allowed_cwnd = ack.flight + ALLOWED_INCREASE * MSS
        self.seen["held by the flight"] += cwnd > max_allowed_cwnd
        self.seen["held by the smallest window"] += cwnd < MIN_CWND * MSS
        self.cwnd = max(min(cwnd, max_allowed_cwnd), MIN_CWND * MSS)

    def update_base_delay(self, delay: int, now: float) -> None:
        """Keeps the smallest delay of every minute."""
        if now >= self.rollover + 60:
            self.rollover = now
            self.base_delays.append(delay)
            self.seen["a new minute"] += 1
        else:
            self.base_delays[-1] = min(self.base_delays[-1], delay)

    def congestion(self, flight: int) -> None:
        self.seen["loss"] += 1
        self.cwnd = min(self.cwnd, max(self.cwnd // 2, MIN_CWND * MSS))

    def idle(self) -> None:
        self.cwnd = min(self.cwnd, MIN_CWND * MSS)


CONTROLS: dict[str, Callable[[], Control]] = {
    "ledbat": Ledbat,
    "ledbat target 25ms gain 4": lambda: Ledbat(25_000, 4),
}
