"""PIE, from the pseudocode of RFC 8033 appendix A, with the elements of section 5 as options (appendix B).

Names as there. Assumptions of `discipline/pie.rs`: MEAN_PKTSIZE is the link's MTU; an empty queue has no delay; the
probability decays while the delay is below half the reference (appendix B; appendix A: zero); it marks up to the
threshold; an arriving packet activates it by the queue that it finds, and it becomes inactive only when a packet finds
the queue empty (in both pseudocodes it would become inactive at once).

`Linux` and `Ns327` implement the differences of those programs, as in the documentation of the presets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from workload import MILLISECOND, SECOND, Oracle, Packet


@dataclass
class Options:
    """Times in nanoseconds, weights in 1/s."""

    limit: int = 1000
    qdelay_ref: int = 15 * MILLISECOND
    t_update: int = 15 * MILLISECOND
    max_burst: int = 150 * MILLISECOND
    alpha: float = 0.125
    beta: float = 1.25
    mean_pktsize: int = 1514
    ecn: bool = False
    mark_ecnth: float = 0.1
    activate: bool = True
    derandomize: bool = True
    cap: bool = True
    bytemode: bool = False
    dq_threshold: int | None = None  # None: timestamps
    dq_weight: float = 0.25


class Pie(Oracle):
    """One queue under PIE."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__()
        self.o = options or Options()
        self.ref = self.o.qdelay_ref / SECOND
        self.queue: deque[Packet] = deque()
        self.bytes = 0
        self.active = not self.o.activate
        self.next_update = self.o.t_update
        self.reset()
        self.in_measurement = False
        self.measurement_start = 0

    def reset(self) -> None:
        """The status variables at the start and when PIE becomes active."""
        self.drop_prob = self.accu_prob = 0.0
        self.current_qdelay = self.qdelay_old = 0.0
        self.burst_allowance = self.o.max_burst
        self.dq_count = 0
        self.avg_dq_time = 0.0

    def enqueue(self, packet: Packet, now: int) -> None:
        """Called on each packet arrival."""
        if len(self.queue) + 1 > self.o.limit:
            self.accu_prob = 0.0
            self.log("dropped", packet.number, "overlimit")
            return
        found = len(self.queue)
        if (
            self.active
            and self.drop_prob == 0
            and self.current_qdelay < self.ref / 2
            and self.qdelay_old < self.ref / 2
        ):
            self.burst_allowance = self.o.max_burst
            if self.o.activate and not found:
                self.active = False
        dropped = False
        if self.active and self.burst_allowance == 0 and self.drop_early(packet):
            self.accu_prob = 0.0
            dropped = not (self.o.ecn and self.drop_prob <= self.o.mark_ecnth and self.log.mark(packet))
        if not self.active and 3 * found >= self.o.limit:
            self.active = True
            self.reset()
            self.in_measurement = True
            self.measurement_start = now
            self.next_update = now + self.o.t_update
        self.admit(packet, dropped)

    def admit(self, packet: Packet, dropped: bool) -> None:
        """Enqueues the packet, or drops it early."""
        if dropped:
            self.log("dropped", packet.number, "congestion")
        else:
            self.queue.append(packet)
            self.bytes += packet.length
            self.log("enqueued", packet.number)

    def scaled(self, packet: Packet) -> float:
        """The probability for a packet of this size."""
        if self.o.bytemode and packet.length <= self.o.mean_pktsize:
            return self.drop_prob * packet.length / self.o.mean_pktsize
        return self.drop_prob

    def drop_early(self, packet: Packet) -> bool:
        """Whether to drop: not while there is no congestion, and spaced by the accumulated probability."""
        if self.qdelay_old < self.ref / 2 and self.drop_prob < 0.2:
            return False
        if self.bytes <= 2 * self.o.mean_pktsize:
            return False
        return self.toss(packet)

    def toss(self, packet: Packet) -> bool:
        """The random drop of appendix B."""
        probability = self.scaled(packet)
        if self.o.derandomize:
            if probability == 0:
                self.accu_prob = 0.0
            self.accu_prob += probability
            if self.accu_prob < 0.85:
                return False
            if self.accu_prob >= 8.5:
                return True
        return self.numbers.uniform() < probability

    def dequeue(self, now: int) -> Packet | None:
        """Called on each packet departure."""
        if not self.queue:
            return None
        packet = self.queue.popleft()
        self.bytes -= packet.length
        if self.active:
            if self.o.dq_threshold is None:
                self.current_qdelay = (now - packet.arrival) / SECOND
            else:
                self.measure(packet, now, self.o.dq_threshold)
        return packet

    def measure(self, packet: Packet, now: int, dq_threshold: int) -> None:
        """Dequeue rate estimation."""
        if self.in_measurement:
            self.dq_count += packet.length
            if self.dq_count >= dq_threshold:
                dq_time = (now - self.measurement_start) / SECOND
                if self.avg_dq_time == 0:
                    self.avg_dq_time = dq_time
                else:
                    weight = self.o.dq_weight
                    self.avg_dq_time = dq_time * weight + self.avg_dq_time * (1 - weight)
                self.in_measurement = False
        if self.bytes >= dq_threshold and not self.in_measurement:
            self.in_measurement = True
            self.measurement_start = now
            self.dq_count = 0

    def advance(self, now: int) -> None:
        """The timer."""
        while self.active and self.next_update <= now:
            self.calculate_drop_prob()
            self.next_update += self.o.t_update

    def estimate(self) -> float:
        """The queue delay at an update."""
        if self.o.dq_threshold is not None:
            return self.bytes * self.avg_dq_time / self.o.dq_threshold
        return self.current_qdelay if self.queue else 0.0

    def tuned(self, p: float) -> float:
        """Auto-tuning of section 4.2."""
        for bound, divisor in (
            (0.000001, 2048),
            (0.00001, 512),
            (0.0001, 128),
            (0.001, 32),
            (0.01, 8),
            (0.1, 2),
        ):
            if self.drop_prob < bound:
                return p / divisor
        return p

    def step(self, delay: float) -> float:
        """By how much the probability changes."""
        p = self.o.alpha * (delay - self.ref) + self.o.beta * (delay - self.qdelay_old)
        p = self.tuned(p)
        if self.o.cap and self.drop_prob >= 0.1 and p > 0.02:
            p = 0.02
        return p

    def calculate_drop_prob(self) -> None:
        """Update periodically."""
        delay = self.estimate()
        self.drop_prob += self.step(delay)
        if delay < self.ref / 2 and self.qdelay_old < self.ref / 2:
            self.drop_prob *= 0.98
        self.drop_prob = min(max(self.drop_prob, 0.0), 1.0)
        self.current_qdelay = self.qdelay_old = delay
        self.burst_allowance = max(0, self.burst_allowance - self.o.t_update)

    def probes(self) -> dict[str, float]:
        """Probability, delay and the remaining burst allowance in seconds."""
        return {
            "drop_probability": self.drop_prob,
            "qdelay": self.current_qdelay,
            "burst_allowance": self.burst_allowance / SECOND,
        }


class Linux(Pie):
    """Differences of Linux: first update after 500 ms, other decay, burst time by departures."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.active = True
        self.next_update = 500 * MILLISECOND
        self.last_departure: int | None = None

    def enqueue(self, packet: Packet, now: int) -> None:
        """The burst allowance is restored by the timer, not by arrivals."""
        if len(self.queue) + 1 > self.o.limit:
            self.accu_prob = 0.0
            self.log("dropped", packet.number, "overlimit")
            return
        dropped = False
        if self.burst_allowance == 0 and self.drop_early(packet):
            self.accu_prob = 0.0
            dropped = not (self.o.ecn and self.drop_prob <= self.o.mark_ecnth and self.log.mark(packet))
        self.admit(packet, dropped)

    def drop_early(self, packet: Packet) -> bool:
        """The current delay counts, and two full packets are a queue."""
        if self.current_qdelay < self.ref / 2 and self.drop_prob < 0.2:
            return False
        if self.bytes < 2 * self.o.mean_pktsize:
            return False
        return self.toss(packet)

    def dequeue(self, now: int) -> Packet | None:
        """The time since the last departure is subtracted from the burst allowance."""
        packet = super().dequeue(now)
        if packet is not None:
            if not self.queue and self.o.dq_threshold is None:
                self.current_qdelay = 0.0
            if self.last_departure is not None:
                self.burst_allowance = max(0, self.burst_allowance - (now - self.last_departure))
            self.last_departure = now
        return packet

    def calculate_drop_prob(self) -> None:
        """A rise of 0.02 above 250 ms, a decay of 1/64 at no delay, and a reset when calm."""
        delay = self.estimate()
        self.drop_prob += self.step(delay)
        if delay > 0.25:
            self.drop_prob += 0.02
        elif delay == 0 and self.qdelay_old == 0 and not self.queue:
            self.drop_prob -= self.drop_prob / 64
        # 56 bits of 64 are behind the point.
        self.drop_prob = min(max(self.drop_prob, 0.0), 256.0)
        if self.drop_prob == 0 and delay < self.ref / 2 and self.qdelay_old < self.ref / 2:
            self.accu_prob = 0.0
            self.burst_allowance = self.o.max_burst
            self.last_departure = None
            self.in_measurement = False
            self.avg_dq_time = 0.0
        self.current_qdelay = self.qdelay_old = delay


class Ns327(Pie):
    """Differences of ns-3.27: the measured rate, its own tuning table, a burst state of its own."""

    RESET = 1500 * MILLISECOND

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.active = True
        self.next_update = 0
        self.burst_allowance = 0
        self.burst = "none"
        self.calm_periods = 0
        self.avg_dq_rate = 0.0
        # ns-3.27 forgets the rate in a calm period; a relative may not.
        self.keeps_rate = False

    def enqueue(self, packet: Packet, now: int) -> None:
        """A burst is protected when it starts; the random number is drawn before the safeguards."""
        if len(self.queue) + 1 > self.o.limit:
            self.log("dropped", packet.number, "overlimit")
            return
        dropped = False
        if self.burst_allowance == 0:
            if self.burst == "none":
                self.burst = "protecting"
                self.burst_allowance = self.o.max_burst
            u = self.numbers.uniform()
            safe = self.qdelay_old < self.ref / 2 and self.drop_prob < 0.2
            if not safe and len(self.queue) > 2 and u <= self.scaled(packet):
                dropped = not (self.o.ecn and self.drop_prob <= self.o.mark_ecnth and self.log.mark(packet))
        self.admit(packet, dropped)

    def measure(self, packet: Packet, now: int, dq_threshold: int) -> None:
        """The packet that starts a cycle counts; the next cycle starts if enough is left."""
        if self.bytes >= dq_threshold and not self.in_measurement:
            self.in_measurement = True
            self.measurement_start = now
            self.dq_count = 0
        if not self.in_measurement:
            return
        self.dq_count += packet.length
        if self.dq_count < dq_threshold:
            return
        if now > self.measurement_start:
            rate = self.dq_count / ((now - self.measurement_start) / SECOND)
            weight = self.o.dq_weight
            self.avg_dq_rate = (1 - weight) * self.avg_dq_rate + weight * rate if self.avg_dq_rate else rate
        self.in_measurement = self.bytes > dq_threshold
        self.measurement_start = now
        self.dq_count = 0

    def tuned(self, p: float) -> float:
        """The table of ns-3.27."""
        for bound, divisor in ((0.001, 32), (0.01, 8), (0.1, 2), (1, 0.5), (10, 0.125)):
            if self.drop_prob < bound:
                return p / divisor
        return p / 0.03125

    def calculate_drop_prob(self) -> None:
        """Nothing while a burst is protected; no upper bound."""
        known = self.avg_dq_rate > 0
        delay = self.bytes / self.avg_dq_rate if known else 0.0
        if self.burst_allowance > 0:
            self.drop_prob = 0.0
        else:
            self.drop_prob += self.step(delay)
        if delay > 0.2:
            self.drop_prob += 0.02
        elif delay == 0 and self.qdelay_old == 0:
            self.drop_prob *= 0.98
        self.drop_prob = max(self.drop_prob, 0.0)
        self.burst_allowance = max(0, self.burst_allowance - self.o.t_update)
        calm = self.drop_prob == 0 and delay < self.ref / 2 and self.qdelay_old < self.ref / 2
        if calm and known and not self.keeps_rate:
            self.dq_count = 0
            self.avg_dq_rate = 0.0
        if calm and self.burst_allowance == 0:
            if self.burst == "protecting":
                self.burst, self.calm_periods = "over", 0
            elif self.burst == "over":
                self.calm_periods += 1
                if self.calm_periods > self.RESET // self.o.t_update:
                    self.burst = "none"
        elif self.burst == "over":
            self.calm_periods = 0
        self.current_qdelay = self.qdelay_old = delay


CASES: dict[str, Callable[[], Oracle]] = {
    "pie limit 150p": lambda: Pie(Options(limit=150, activate=False)),
    "pie limit 150p activate": lambda: Pie(Options(limit=150)),
    "pie limit 150p activate ecn mark_threshold 0.5": lambda: Pie(Options(limit=150, ecn=True, mark_ecnth=0.5)),
    "pie limit 100p noderandomize nocap": lambda: Pie(Options(limit=100, activate=False, derandomize=False, cap=False)),
    "pie limit 100p activate ecn target 5ms tupdate 7ms max_burst 20ms bytemode mark_threshold 0.4": lambda: Pie(
        Options(
            limit=100,
            ecn=True,
            qdelay_ref=5 * MILLISECOND,
            t_update=7 * MILLISECOND,
            max_burst=20 * MILLISECOND,
            bytemode=True,
            mark_ecnth=0.4,
        )
    ),
    "pie limit 200p activate dq_rate_estimator": lambda: Pie(Options(limit=200, dq_threshold=16384)),
    "pie:linux limit 200p ecn mark_threshold 0.5": lambda: Linux(Options(limit=200, ecn=True, mark_ecnth=0.5)),
    "pie:linux limit 400p dq_rate_estimator alpha 0.5hz": lambda: Linux(
        Options(limit=400, dq_threshold=16384, alpha=0.5)
    ),
    "pie:ns3.27 limit 100p": lambda: Ns327(
        Options(
            limit=100,
            qdelay_ref=20 * MILLISECOND,
            t_update=30 * MILLISECOND,
            max_burst=100 * MILLISECOND,
            dq_threshold=10_000,
            dq_weight=0.5,
        )
    ),
    "pie:ns3.27 limit 100p target 5ms ecn max_burst 0ms": lambda: Ns327(
        Options(
            limit=100,
            qdelay_ref=5 * MILLISECOND,
            t_update=30 * MILLISECOND,
            max_burst=0,
            ecn=True,
            dq_threshold=10_000,
            dq_weight=0.5,
        )
    ),
}
