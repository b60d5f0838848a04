"""CoDel in Python: RFC 8289 section 5, with the same result as the one in Rust, bit for bit."""

from math import isqrt

import aqmlab


class CoDel(aqmlab.AQM):
    """Drops at the head while every packet waits longer than a target."""

    params = {"target": "5ms 1us..10s", "interval": "100ms 1us..4s"}
    drops_queued = True
    quiet_packets = 1
    first_above = drop_next = count = lastcount = bytes = maxpacket = 0
    dropping = False

    def enqueue(self, packet, now):
        self.queue.append(packet)
        self.bytes += packet.length
        self.maxpacket = max(self.maxpacket, packet.length)

    def remove(self, packet):
        self.queue.remove(packet)
        self.bytes -= packet.length

    def take(self):
        packet = self.queue.popleft()
        self.bytes -= packet.length
        return packet

    def ok_to_drop(self, now):
        head = self.queue[0] if self.queue else None
        if not head or now - head.arrival < self.target or self.bytes - head.length <= self.maxpacket:
            self.first_above = 0
            return False
        self.first_above = self.first_above or now + self.interval
        return now >= self.first_above

    def control_law(self, time):
        return time + isqrt(self.interval**2 // self.count)

    def dequeue(self, now):
        if not self.ok_to_drop(now):
            self.dropping = False
        elif self.dropping:
            while self.dropping and now >= self.drop_next:
                self.count += 1
                self.drop(self.take())
                if self.ok_to_drop(now):
                    self.drop_next = self.control_law(self.drop_next)
                else:
                    self.dropping = False
        else:
            self.drop(self.take())
            self.ok_to_drop(now)
            self.dropping = True
            soon = self.count - self.lastcount > 1 and now - self.drop_next < 16 * self.interval
            self.count = self.count - self.lastcount if soon else 1
            self.drop_next = self.control_law(now)
            self.lastcount = self.count
        return self.take() if self.queue else None
