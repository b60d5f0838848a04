#!/usr/bin/env python3
"""Write a pair of LTE-like link traces in mahimahi's format.

    scripts/make_link_trace.py --seed 1 data/link-traces/aqmlab-lte

writes `aqmlab-lte.down` and `aqmlab-lte.up`: one line per opportunity to deliver 1500 bytes, the number its
millisecond. The same seed always gives the same bytes.

The model, a Markov-modulated rate on the clock of LTE:

- Every millisecond (a transmission time interval) the link may be scheduled for this user or not. If it is,
  it delivers a whole transport block, worth several packets at high rates, so packets come in clumps.
- The rate follows the channel: one of the levels in RATES_MBIT, held for between 100 ms and about a second. It moves to
a neighbouring level (fading), rarely by two (an obstacle), with a drift to the middle.
- Sometimes nothing is delivered for 80 to 400 ms (a handover), and the channel returns at any level.
- Uplink: the same model with rates divided by UPLINK_SHARE and outages at the same times, as they belong to
  the radio link and not to a direction.

All arithmetic is in integers, so no platform rounds differently.
"""

import argparse
import random
from pathlib import Path

DURATION_MS = 60_000
RATES_MBIT = (1, 2, 4, 6, 8, 10, 12, 14, 17, 20, 24)
MIDDLE = RATES_MBIT.index(10)
UPLINK_SHARE = 3
OPPORTUNITY_BITS = 1500 * 8
BITS_PER_MS_AND_MBIT = 1000
HOLD_MS = (100, 900)
OUTAGE_MS = (80, 400)
OUTAGE_GAP_MS = (8_000, 16_000)
# Share of milliseconds in which the user is scheduled.
SCHEDULED_PERCENT = 40


def outages(rng: random.Random) -> list[range]:
    """Milliseconds without service."""
    found = []
    start = rng.randint(*OUTAGE_GAP_MS)
    while start < DURATION_MS:
        found.append(range(start, start + rng.randint(*OUTAGE_MS)))
        start = found[-1].stop + rng.randint(*OUTAGE_GAP_MS)
    return found


def next_level(rng: random.Random, level: int) -> int:
    """Return the channel's next level: mostly a neighbour, with a drift to the middle, sometimes two away."""
    step = 2 if rng.randrange(10) == 0 else 1
    # The farther from the middle, the likelier a step back: 50 % there, 75 % at the ends.
    back_percent = 50 + 25 * abs(level - MIDDLE) // MIDDLE
    inwards = -1 if level > MIDDLE else 1
    direction = inwards if rng.randrange(100) < back_percent else -inwards
    return min(max(level + direction * step, 0), len(RATES_MBIT) - 1)


def trace(rng: random.Random, silent: list[range], share: int) -> list[int]:
    """Milliseconds of the opportunities of one direction."""
    lines: list[int] = []
    level = MIDDLE
    hold_until = 0
    credit_bits = 0
    silent_ms = {ms for outage in silent for ms in outage}
    ends = {outage.stop for outage in silent}
    for ms in range(1, DURATION_MS + 1):
        if ms in ends:
            level = rng.randrange(len(RATES_MBIT))
        if ms >= hold_until:
            level = next_level(rng, level)
            hold_until = ms + rng.randint(*HOLD_MS)
        scheduled = rng.randrange(100) < SCHEDULED_PERCENT
        if ms in silent_ms:
            credit_bits = 0
            continue
        credit_bits += RATES_MBIT[level] * BITS_PER_MS_AND_MBIT // share
        if scheduled:
            lines += [ms] * (credit_bits // OPPORTUNITY_BITS)
            credit_bits %= OPPORTUNITY_BITS
    # The last number is the period: end the minute exactly.
    if lines[-1] != DURATION_MS:
        lines.append(DURATION_MS)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("stem", type=Path, help="path of the traces without .down and .up")
    arguments = parser.parse_args()
    silent = outages(random.Random(f"{arguments.seed} outages"))
    for suffix, share in ((".down", 1), (".up", UPLINK_SHARE)):
        lines = trace(random.Random(f"{arguments.seed} {suffix}"), silent, share)
        path = arguments.stem.with_suffix(suffix)
        path.write_text("".join(f"{ms}\n" for ms in lines))
        mbit = len(lines) * OPPORTUNITY_BITS / (DURATION_MS * BITS_PER_MS_AND_MBIT)
        print(f"{path}: {len(lines)} opportunities in {DURATION_MS} ms, {mbit:.2f} Mbit/s on average")


if __name__ == "__main__":
    main()
