"""The use of ECN in one direction (RFC 3168, RFC 9331)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aqmlab.diagnosis.recording import ACK, ECE, SYN, Recording, Whole

ECT1, ECT0, CE = 1, 2, 3


@dataclass(frozen=True)
class Marks:
    """What the packets of one direction say of congestion.

    Attributes:
        packets: those that the capture has.
        ect0: that can be marked.
        ect1: that can be marked, as L4S (RFC 9331).
        ce: that were marked before they passed the capture.
        echoed: acknowledgments that report marks, wherever these were made.
        offered: connections that offered ECN when they opened.
        agreed: connections that agreed on it.
        opened: connections whose opening the capture has.

    """

    packets: int
    ect0: int
    ect1: int
    ce: int
    echoed: int
    offered: int
    agreed: int
    opened: int

    @property
    def is_used(self) -> bool:
        """Whether packets can be marked."""
        return self.ect0 + self.ect1 + self.ce > 0

    @property
    def seen(self) -> int:
        """How many marks there are at least."""
        return max(self.ce, self.echoed)


def measure(recording: Recording, carriers: Whole, going: Whole) -> Marks:
    """Return the use of ECN by the packets of one direction; ``carriers`` are its flows of data."""
    packets = recording.packets
    own = np.isin(packets["flow"], going)
    ecn = packets["ecn"][own]
    flags = np.where(packets["flags"] < 0, 0, packets["flags"])
    back = np.isin(packets["flow"], recording.peers[carriers])
    is_opening = flags & SYN != 0
    # RFC 3168 section 6.1.1: the flags of a SYN negotiate, those of others report.
    echoed = back & ~is_opening & (flags & ECE != 0)
    either = back | np.isin(packets["flow"], carriers)
    opens, agrees = (either & is_opening & ((flags & ACK != 0) == answer) for answer in (False, True))
    return Marks(
        packets=int(own.sum()),
        ect0=int((ecn == ECT0).sum()),
        ect1=int((ecn == ECT1).sum()),
        ce=int((ecn == CE).sum()),
        echoed=int(echoed.sum()),
        offered=len(np.unique(packets["flow"][opens & (flags & ECE != 0)])),
        agreed=len(np.unique(packets["flow"][agrees & (flags & ECE != 0)])),
        opened=len(np.unique(packets["flow"][opens])),
    )


__all__ = ["Marks", "measure"]
