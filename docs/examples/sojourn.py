"""A law by waiting time: once an interval, drop the packet that leaves after more than a target."""

import aqmlab


class Sojourn(aqmlab.AQM):
    """Drops or marks one packet an interval while packets wait longer than a target."""

    params = {"target": "5ms 1us..10s", "interval": "20ms 1us..4s"}
    probes = {"waited_ms": "ms"}
    ecn = drops_queued = True
    next_signal = 0
    waited_ms = 0.0

    def dequeue(self, now):
        packet = super().dequeue(now)
        if packet is None:
            return None
        # Times are whole nanoseconds.
        self.waited_ms = (now - packet.arrival) / 1e6
        if self.queue and now - packet.arrival > self.target and now >= self.next_signal:
            self.next_signal = now + self.interval
            if not self.mark(packet):
                self.drop(packet)
                packet = super().dequeue(now)
        return packet
