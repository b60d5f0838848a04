"""CHOKe from figure 1 of Pan, Prabhakar and Psounis (2000), over RED.

Assumptions of `discipline/choke.rs`: the comparison comes before the test for a full queue; a match does not change
RED's count.
"""

from __future__ import annotations

from collections.abc import Callable

import red
from workload import Numbers, Oracle, Packet


def below(numbers: Numbers, bound: int) -> int:
    """A whole number below `bound`: the upper half of the product with the next 64-bit number."""
    number = numbers.numbers[numbers.used % len(numbers.numbers)]
    numbers.used += 1
    return number * bound >> 64


class Choke(red.Red):
    """RED with a look at a random packet."""

    shows = ("dropped unfair",)

    now = 0

    def averaged(self, now: int) -> None:
        """Remembers the time."""
        self.now = now

    def admit(self, packet: Packet) -> None:
        """Draw a packet at random from the queue; if both are of the same flow, drop both."""
        if self.avg > self.options.minth and self.queue:
            index = below(self.numbers, len(self.queue))
            drawn = self.queue[index]
            if drawn.flow == packet.flow:
                del self.queue[index]
                if not self.queue:
                    self.q_time = self.now
                self.log("dropped", drawn.number, "unfair")
                self.log("dropped", packet.number, "unfair")
                return
        super().admit(packet)


CASES: dict[str, Callable[[], Oracle]] = {
    "choke:linux limit 60p": lambda: Choke(red.tc(60)),
    "choke limit 100p w 0.02": lambda: Choke(red.Options(limit=100, minth=20, maxth=60, wq=0.02, gentle=False)),
    "choke limit 60p min 2p max 30p w 0.1 gentle ecn": lambda: Choke(
        red.Options(limit=60, minth=2, maxth=30, wq=0.1, ecn=True)
    ),
    "choke limit 60p min 5p max 50p w 0.05 probability 0.3 ecn noharddrop": lambda: Choke(
        red.Options(limit=60, minth=5, maxth=50, wq=0.05, maxp=0.3, gentle=False, harddrop=False, ecn=True)
    ),
}
