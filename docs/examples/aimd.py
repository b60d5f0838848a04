"""A transport of one's own: numbered datagrams, an acknowledgment for each, and a window that grows and halves.

python docs/examples/aimd.py
"""

from __future__ import annotations

import struct

import aqmlab


class AIMD(aqmlab.Transport):
    """Datagrams with a window: one more each round trip, half when one is lost."""

    params = {"payload": "1200b 100b..1400b", "patience": "300ms"}

    payload: int
    patience: int

    def __init__(self) -> None:
        self.cwnd = 4.0
        self.next_number = 0
        self.under_way: dict[int, int] = {}
        self.recovers_until = -1
        self.answers: list[bytes] = []

    def receive(self, datagram: bytes, ecn: int, now: int) -> None:
        """Answer a datagram, or take an answer: three numbers later what is missing is lost."""
        (number,) = struct.unpack_from("!Q", datagram)
        if self.role == "server":
            self.delivered += len(datagram) - 8
            self.answers.append(datagram[:8])
            return
        sent = self.under_way.pop(number, None)
        if sent is None:
            return
        self.rtt = now - sent
        self.cwnd += 1 / self.cwnd
        if lost := [one for one in self.under_way if one < number - 3]:
            for one in lost:
                del self.under_way[one]
            self._halve(lost[0])

    def send(self, now: int) -> bytes | None:
        """Send an answer that is owed, or as much as the window lets through."""
        if self.answers:
            return self.answers.pop()
        wants = self.role == "client" and now >= self.start
        if not wants or len(self.under_way) >= int(self.cwnd) or self._has_sent_all():
            return None
        self.under_way[self.next_number] = now
        self.next_number += 1
        self.window = int(self.cwnd) * self.payload
        return struct.pack("!Q", self.next_number - 1) + bytes(self.payload)

    def deadline(self) -> int | None:
        """Wait so long for the oldest answer."""
        return min(self.under_way.values()) + self.patience if self.under_way else None

    def on_timer(self, now: int) -> None:
        """Give up what has not been answered in time."""
        late = [one for one, sent in self.under_way.items() if sent + self.patience <= now]
        for one in late:
            del self.under_way[one]
        if late:
            self._halve(late[0])

    def _halve(self, number: int) -> None:
        if number > self.recovers_until:
            self.cwnd = max(self.cwnd / 2, 1.0)
            self.recovers_until = self.next_number

    def _has_sent_all(self) -> bool:
        return self.size is not None and self.next_number * self.payload >= self.size


if __name__ == "__main__":
    kind = aqmlab.register_transport(AIMD)
    flows = [f"1*{kind}", "1*cubic"]
    result = aqmlab.compare(rate="10mbit", rtt="40ms", flows=flows, aqm=["fifo", "fq_codel"], seeds=2, duration="10s")
    print(result.runs.select("aqm", "seed", "class.aimd.goodput_mbit", "class.cubic.goodput_mbit"))
