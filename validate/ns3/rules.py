"""Differences of ns-3 3.37's queue discs from aqmlab, as switches on the oracles of `tests/oracles`.

An oracle without rules agrees with aqmlab; with all the rules of its class it agrees with ns-3. A difference between
the two programs is explained if both hold on the same trace. `RULES` describes each rule and its place in ns-3;
behaviour was read in ns-3.37's `src/traffic-control/model`, the code here is our own.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/oracles"))

import ared
import cobalt
import codel
import fq_cobalt
import fq_codel
import pie
import red
from workload import MILLISECOND, SECOND, Log, Numbers, Packet

RULES = {
    # CoDel
    "ticks": "times are counted in units of 1024 ns",
    "after": "a signal is due after, not at, the end of the first interval",
    "mark-restarts": "a mark puts the next signal one spacing after now (a drop: after the last one was due)",
    # COBALT
    "root": "1 / sqrt(count) takes four Newton steps, from a table, and beyond 15 one step (as in Linux)",
    "last-packet": "the last packet of a queue may be dropped or marked",
    "blue-threshold": "a sojourn time above BlueThreshold raises BLUE's probability, as an overflow does",
    "blue-32-bits": "the time of BLUE's last step is kept in 32 bits: after 4.3 s nothing freezes it",
    "blue-draws": "BLUE draws for packets that CoDel drops, too",
    # Flow queues
    "ties": "of two fattest flows the older gives (aqmlab: the first in the table)",
    "child-full": "each flow has the whole limit: one that fills it alone refuses the arriving packet itself",
    "not-notified": "COBALT is not notified that its flow lost a batch",
    # RED
    "idle": "the average decays by one step more, and idle time begins when the link finds the queue empty",
    "first-above": "no signal with at most one packet waiting, nor for the first above MinTh, which counts as one",
    "full-last": "a full queue is seen after the thresholds, and counts as a packet let in",
    "forced": "a drop above the curve does not start the count anew",
    "bytes": "the size scales the probability after it was spread, and bytes are counted in whole packets",
    "gentle-end": "the gentle part starts at the first max_p, wherever the curve below has ended",
    "ared-timer": "the interval of max_p begins anew with a step only, not with a look; no step from a bound itself",
    "feng": "the average counts as above MaxTh at first, and max_p has no bounds",
    # PIE
    "burst": "the burst allowance begins with the first packet, and again after 1.5 s of calm; p is zero meanwhile",
    "decay": "p decays at zero delay only",
    "short": "a queue is short with at most two packets of any size",
    "emptied": "a packet that leaves an empty queue behind says zero delay",
    "mark-accumulates": "a mark leaves the accumulated probability alone; no marks at the threshold itself",
    "rate": "the rate is averaged, not the time; the packet that starts a measurement counts; calm forgets the rate",
    "bytes-limit": "with a limit in bytes, p is scaled by any size, but accumulated unscaled",
    "active-by-delay": "PIE becomes active at a delay (ActiveThreshold), and rests at less than a millisecond",
}

Rules = frozenset[str]


class CoDelQueue(codel.CoDelQueue):
    """`CoDelQueueDisc`."""

    RULES: tuple[str, ...] = ("ticks", "after", "mark-restarts")

    def __init__(self, options: codel.Options, log: Log, maxpacket: codel.MaxPacket, rules: Rules) -> None:
        self.exact, self.rules = options, rules
        self.unit = 1024 if "ticks" in rules else 1
        options = replace(options, target=options.target // self.unit, interval=options.interval // self.unit)
        super().__init__(options, log, maxpacket)

    def dodequeue(self, now: int) -> tuple[Packet | None, bool]:
        packet = self.pop()
        if packet is None:
            self.first_above_time = 0
            return None, False
        if (self.now - packet.arrival) // self.unit < self.options.target or self.bytes <= self.maxpacket.bytes:
            self.first_above_time = 0
        elif self.first_above_time == 0:
            self.first_above_time = now + self.options.interval
        else:
            return packet, now > self.first_above_time or (now == self.first_above_time and "after" not in self.rules)
        return packet, False

    def mark(self, packet: Packet | None) -> bool:
        marked = super().mark(packet)
        if marked and self.dropping and "mark-restarts" in self.rules:
            self.drop_next = self.now // self.unit
        return marked

    def dequeue(self, now: int) -> Packet | None:
        self.now = now
        threshold, self.options.ce_threshold = self.options.ce_threshold, None
        packet = super().dequeue(now // self.unit)
        self.options.ce_threshold = threshold
        if packet and threshold is not None and (now - packet.arrival) // self.unit > threshold // self.unit:
            self.log.mark(packet)
        return packet


class CoDel(codel.CoDel):
    RULES: tuple[str, ...] = CoDelQueue.RULES

    def __init__(self, rules: Rules, options: codel.Options) -> None:
        super().__init__(options)
        self.codel = CoDelQueue(options, self.log, codel.MaxPacket(options.mtu), rules)


def newton_step(root: int, count: int) -> int:
    """x (3 - count x^2) / 2 for a fraction x of 32 bits."""
    return ((3 << 32) - count * (root * root >> 32) >> 2) * root >> 31


def roots() -> list[int]:
    """The table for counts below 16; each starts from its predecessor."""
    root, table = (1 << 32) - 1, [(1 << 32) - 1]
    for count in range(1, 16):
        for _ in range(4):
            root = newton_step(root, count)
        table.append(root)
    return table


ROOTS = roots()


class CobaltQueue(cobalt.CobaltQueue):
    """`CobaltQueueDisc`."""

    RULES: tuple[str, ...] = ("root", "last-packet", "blue-threshold", "blue-32-bits", "blue-draws")

    def __init__(self, options: cobalt.Options, log: Log, rules: Rules, blue_threshold: int) -> None:
        super().__init__(options, log)
        self.rules, self.blue_threshold = rules, blue_threshold
        self.root = ROOTS[0]

    def spacing(self) -> int:
        return self.o.interval * self.root >> 32 if "root" in self.rules else super().spacing()

    def step(self, by: int) -> None:
        count = self.count + by
        self.root = ROOTS[count] if count < len(ROOTS) else newton_step(self.root, count)
        super().step(by)

    def dequeue(self, now: int, numbers: Numbers, rate: int) -> Packet | None:
        if "last-packet" not in self.rules:
            return super().dequeue(now, numbers, rate)
        while self.queue:
            drop = self.judge(self.queue[0], now, numbers, rate)
            packet = self.queue.popleft()
            if not drop:
                return packet
            self.log("dropped", packet.number, "congestion")
        self.empty(now)
        return None

    def judge(self, packet: Packet, now: int, numbers: Numbers, rate: int) -> bool:
        draws = numbers.used
        if "blue-threshold" in self.rules and now - packet.arrival > self.blue_threshold:
            self.blue.loss(now)
            self.wrap()
        lone = len(self.queue) == 1 and "last-packet" in self.rules
        if lone:
            self.queue.append(packet)  # for the rule that spares the last packet
        drop = super().judge(packet, now, numbers, rate)
        if lone:
            self.queue.pop()
        if drop and numbers.used == draws and self.blue.pm and "blue-draws" in self.rules:
            numbers.used += 1
        return drop

    def overflow(self, now: int) -> None:
        super().overflow(now)
        self.wrap()

    def empty(self, now: int) -> None:
        super().empty(now)
        self.wrap()

    def wrap(self) -> None:
        if "blue-32-bits" in self.rules:
            self.blue.last_update %= 1 << 32


class Cobalt(cobalt.Cobalt):
    RULES: tuple[str, ...] = CobaltQueue.RULES

    def __init__(self, rules: Rules, options: cobalt.Options, blue_threshold: int = 400 * MILLISECOND) -> None:
        super().__init__(options)
        self.cobalt = CobaltQueue(options, self.log, rules, blue_threshold)


Q = TypeVar("Q", bound=fq_codel.FlowQueue)


class FlowQueues(fq_codel.FlowQueues[Q]):
    """The common part of the FQ discs."""

    RULES: tuple[str, ...] = ("ties", "child-full")

    def __init__(self, rules: Rules, options: fq_codel.Options) -> None:
        super().__init__(options)
        self.rules = rules
        self.salt: int | None = None

    def place(self, flow: int) -> int:
        """Where aqmlab's table has this flow: SplitMix64's finalizer over flow and salt."""
        key = flow ^ (self.salt or 0)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            key = (key ^ key >> shift) * factor % (1 << 64)
        return key ^ key >> 31

    def enqueue(self, packet: Packet, now: int) -> None:
        flow = packet.flow
        if self.salt is None:
            self.salt = self.numbers.numbers[0] * ((1 << 64) - 1) >> 64
        if flow not in self.queues:
            self.queues[flow] = self.new_queue()
        queue = self.queues[flow]
        if flow not in self.new + self.old:
            self.new.append(flow)
            self.credits[flow] = self.o.quantum
        if "child-full" in self.rules and len(queue.queue) == self.o.limit:
            self.refused(queue, now)
            self.log("dropped", packet.number, "overlimit")
            return
        queue.push(packet)
        dropped = []
        while sum(len(queue.queue) for queue in self.queues.values()) > self.o.limit:
            order = self.queues if "ties" in self.rules else sorted(self.queues, key=self.place)
            fattest = self.queues[max(order, key=lambda flow: self.queues[flow].bytes)]
            if "not-notified" not in self.rules:
                self.overflowed(fattest, now)
            half = fattest.bytes // 2
            for _ in range(self.o.drop_batch):
                victim = fattest.pop()
                if victim is None:
                    break
                dropped.append(victim.number)
                self.log("dropped", victim.number, "overlimit")
                if fattest.bytes <= half:
                    break
        if packet.number not in dropped:
            self.log("enqueued", packet.number)

    def refused(self, queue: Q, now: int) -> None:
        """A flow that is full has refused a packet."""


class FqCoDel(FlowQueues[CoDelQueue]):
    RULES: tuple[str, ...] = FlowQueues.RULES + CoDelQueue.RULES

    def __init__(self, rules: Rules, options: fq_codel.Options) -> None:
        super().__init__(rules, options)
        self.maxpacket = codel.MaxPacket(options.codel.mtu)

    def new_queue(self) -> CoDelQueue:
        return CoDelQueue(self.o.codel, self.log, self.maxpacket, self.rules)

    def serve(self, queue: CoDelQueue, now: int) -> Packet | None:
        return queue.dequeue(now)


class CobaltFlow(CobaltQueue):
    """COBALT with the calls of a flow queue."""

    @property
    def bytes(self) -> int:
        return sum(packet.length for packet in self.queue)

    def push(self, packet: Packet) -> None:
        self.queue.append(packet)

    def pop(self) -> Packet | None:
        return self.queue.popleft() if self.queue else None


class FqCobalt(FlowQueues[CobaltFlow]):
    RULES: tuple[str, ...] = ("not-notified", *FlowQueues.RULES, *CobaltQueue.RULES)

    def __init__(self, rules: Rules, options: fq_cobalt.Options, blue_threshold: int = 400 * MILLISECOND) -> None:
        super().__init__(rules, options)
        self.options, self.blue_threshold = options.cobalt, blue_threshold

    def new_queue(self) -> CobaltFlow:
        return CobaltFlow(self.options, self.log, self.rules, self.blue_threshold)

    def serve(self, queue: CobaltFlow, now: int) -> Packet | None:
        return queue.dequeue(now, self.numbers, self.rate)

    def overflowed(self, queue: CobaltFlow, now: int) -> None:
        queue.overflow(now)

    def refused(self, queue: CobaltFlow, now: int) -> None:
        queue.overflow(now)


class Red(red.Red):
    """`RedQueueDisc`."""

    RULES: tuple[str, ...] = ("idle", "first-above", "full-last", "forced", "bytes", "gentle-end")

    def __init__(self, rules: Rules, options: red.Options) -> None:
        super().__init__(replace(options))
        self.rules = rules
        self.idle_since: int | None = 0
        self.first_max_p = options.maxp
        self.old = False
        self.since = [0, 0]  # packets and bytes since the last signal

    def average(self, q: int, now: int) -> None:
        if "idle" not in self.rules:
            super().average(q, now)
            return
        o, m = self.options, 0
        if self.idle_since is not None:
            per_second = (o.bandwidth or self.rate) / (8 * o.average_packet)
            m = int(per_second * ((now - self.idle_since) / SECOND))
            self.idle_since = None
        self.avg = self.avg * (1 - o.wq) ** (m + 1) + o.wq * q

    def dequeue(self, now: int) -> Packet | None:
        packet = super().dequeue(now)
        self.idle_since = now if packet is None else None
        return packet

    def full(self, packet: Packet) -> bool:
        limit = self.options.limit
        if self.options.by_bytes:
            return self.backlog() + packet.length > limit
        return len(self.queue) + 1 > limit

    def admit(self, packet: Packet) -> None:
        o, rules = self.options, self.rules
        if "full-last" not in rules and self.full(packet):
            self.log("dropped", packet.number, "overlimit")
            return
        self.since = [self.since[0] + 1, self.since[1] + packet.length]
        beyond = self.avg >= (2 * o.maxth if o.gentle else o.maxth)
        below = self.avg < o.minth or ("first-above" in rules and self.backlog() <= 1)
        verdict = "admit"
        if below:
            self.old = False
        elif beyond:
            verdict = "forced"
            if "forced" not in rules:
                self.since, self.old = [0, 0], True
        elif not self.old:
            self.old = True
            if "first-above" in rules:
                self.since = [1, packet.length]
            else:
                self.since = [0, 0]
                verdict = self.lot(packet)
        else:
            verdict = self.lot(packet)
        hit = verdict != "admit"
        if hit and ((verdict == "forced" and o.harddrop) or not (o.ecn and self.log.mark(packet))):
            self.log("dropped", packet.number, "congestion")
        elif "full-last" in rules and self.full(packet):
            self.log("dropped", packet.number, "overlimit")
        else:
            self.queue.append(packet)
            self.log("enqueued", packet.number)

    def curve(self) -> float:
        """Figure 2's p_b, and beyond max_th the gentle part."""
        o = self.options
        end = min(1.5 * o.maxp, 1) if o.square else o.maxp
        if self.avg < o.maxth:
            share = (self.avg - o.minth) / (o.maxth - o.minth)
            return end * (share * share if o.square else share)
        start = self.first_max_p if "gentle-end" in self.rules else end
        return start + (1 - start) * (self.avg - o.maxth) / o.maxth

    def lot(self, packet: Packet) -> str:
        o = self.options
        pb, packets = min(self.curve(), 1.0), float(self.since[0])
        late = o.by_bytes and "bytes" in self.rules
        if late:
            packets = float(self.since[1] // o.average_packet)
        elif o.by_bytes:
            pb = pb * packet.length / o.average_packet
        due = packets * pb
        first, last = (1, 2) if o.wait else (0, 1)  # packets times pb with which signals may, and must, come
        pa = 0.0 if due < first else pb / (last - due) if due < last else 1.0
        if late and pa < 1:
            pa = pa * packet.length / o.average_packet
        if self.numbers.uniform() < pa:
            self.since = [0, 0]
            return "signal"
        return "admit"


class Ared(Red):
    RULES: tuple[str, ...] = (*Red.RULES, "ared-timer")

    def __init__(self, rules: Rules, options: red.Options, floyd: ared.Floyd) -> None:
        super().__init__(rules, options)
        self.floyd, self.last = floyd, 0

    def averaged(self, now: int) -> None:
        o, f = self.options, self.floyd
        steps_only = "ared-timer" in self.rules
        if now - self.last < f.interval or (steps_only and now - self.last == f.interval):
            return
        before = o.maxp
        part = 0.4 * (o.maxth - o.minth)
        inside = f.bottom < o.maxp < f.top if steps_only else True
        if self.avg < o.minth + part and o.maxp >= f.bottom and (inside or o.maxp != f.bottom):
            o.maxp *= f.beta
        elif self.avg > o.maxth - part and o.maxp <= f.top and (inside or o.maxp != f.top):
            o.maxp += min(f.alpha, o.maxp / 4)
        if not steps_only or o.maxp != before:
            self.last = now

    def probes(self) -> dict[str, float]:
        return super().probes() | {"max_p": self.options.maxp}


class FengAred(Red):
    RULES: tuple[str, ...] = (*Red.RULES, "feng")

    def __init__(self, rules: Rules, options: red.Options, bottom: float = 0.01) -> None:
        super().__init__(rules, options)
        self.status = "above" if "feng" in rules else "below"
        self.bottom, self.top = (0.0, float("inf")) if "feng" in rules else (bottom, 1.0)

    def averaged(self, now: int) -> None:
        o = self.options
        if self.avg < o.minth:
            if self.status != "below":
                self.status, o.maxp = "below", max(o.maxp / 3, self.bottom)
        elif self.avg > o.maxth:
            if self.status != "above":
                self.status, o.maxp = "above", min(o.maxp * 2, self.top)
        elif o.minth < self.avg < o.maxth:
            self.status = "between"

    def probes(self) -> dict[str, float]:
        return super().probes() | {"max_p": self.options.maxp}


class Pie(pie.Pie):
    """`PieQueueDisc`."""

    RULES: tuple[str, ...] = (
        "burst",
        "decay",
        "short",
        "emptied",
        "mark-accumulates",
        "rate",
        "bytes-limit",
        "active-by-delay",
    )
    RESET = 1500 * MILLISECOND
    INVALID = -1

    def __init__(self, rules: Rules, options: pie.Options, active_threshold: int | None = None) -> None:
        super().__init__(options)
        self.rules = rules
        self.active_threshold = active_threshold
        if "burst" in rules:
            self.burst, self.calm_periods, self.burst_allowance = "none", 0, 0
        if "rate" in rules:
            self.avg_dq_rate, self.dq_count = 0.0, self.INVALID
        if "active-by-delay" in rules and active_threshold is not None:
            self.active = False
            self.next_update = 0

    def enqueue(self, packet: Packet, now: int) -> None:
        if not self.rules:
            super().enqueue(packet, now)
            return
        o, rules = self.o, self.rules
        if len(self.queue) + 1 > o.limit:
            self.accu_prob = 0.0
            self.log("dropped", packet.number, "overlimit")
            return
        calm = self.drop_prob == 0 and self.current_qdelay < self.ref / 2 and self.qdelay_old < self.ref / 2
        if "burst" not in rules and self.active and calm:
            self.burst_allowance = o.max_burst
        dropped = False
        if self.active and self.burst_allowance == 0:
            if "burst" in rules and self.burst == "none":
                self.burst, self.burst_allowance = "protecting", o.max_burst
            if self.drop_early(packet):
                kept = "mark-accumulates" in rules
                marks = self.drop_prob < o.mark_ecnth or (self.drop_prob == o.mark_ecnth and not kept)
                dropped = not (o.ecn and marks and self.log.mark(packet))
                if dropped or not kept:
                    self.accu_prob = 0.0
        self.admit(packet, dropped)
        if "active-by-delay" in rules and self.active_threshold is not None and not dropped:
            self.switch(now, self.active_threshold)

    def switch(self, now: int, threshold: int) -> None:
        if not self.active and self.current_qdelay >= threshold / SECOND:
            self.active, self.burst_allowance = True, self.o.max_burst
            self.drop_prob = self.accu_prob = self.qdelay_old = self.avg_dq_rate = 0.0
            self.in_measurement, self.measurement_start, self.dq_count = True, now, 0
        if self.drop_prob == 0 and self.qdelay_old < 0.001 and self.current_qdelay < 0.001:
            self.active, self.in_measurement = False, False

    def drop_early(self, packet: Packet) -> bool:
        if "short" not in self.rules or self.o.bytemode:
            return super().drop_early(packet)
        if self.qdelay_old < self.ref / 2 and self.drop_prob < 0.2:
            return False
        return len(self.queue) > 2 and self.toss(packet)

    def toss(self, packet: Packet) -> bool:
        if "bytes-limit" not in self.rules or not self.o.bytemode:
            return super().toss(packet)
        if self.o.derandomize:
            self.accu_prob = self.accu_prob + self.drop_prob if self.drop_prob else 0.0
            if not 0.85 <= self.accu_prob < 8.5:
                return self.accu_prob >= 8.5
        return self.numbers.uniform() <= self.drop_prob * packet.length / self.o.mean_pktsize

    def dequeue(self, now: int) -> Packet | None:
        resting = "active-by-delay" in self.rules and not self.active
        self.active = self.active or resting  # delays are measured anyway
        packet = super().dequeue(now)
        self.active = self.active and not resting
        if packet is not None and "emptied" in self.rules and self.o.dq_threshold is None and not self.queue:
            self.current_qdelay = 0.0
        return packet

    def measure(self, packet: Packet, now: int, dq_threshold: int) -> None:
        if "rate" not in self.rules:
            super().measure(packet, now, dq_threshold)
            return
        if self.bytes >= dq_threshold and not self.in_measurement:
            self.in_measurement, self.measurement_start, self.dq_count = True, now, 0
        if not self.in_measurement:
            return
        self.dq_count += packet.length
        if self.dq_count < dq_threshold:
            return
        if now > self.measurement_start:
            rate = self.dq_count / ((now - self.measurement_start) / SECOND)
            self.avg_dq_rate = 0.5 * self.avg_dq_rate + 0.5 * rate if self.avg_dq_rate else rate
        self.in_measurement = self.bytes > dq_threshold
        self.measurement_start, self.dq_count = now, 0

    def advance(self, now: int) -> None:
        resting = "active-by-delay" in self.rules and not self.active
        self.active = self.active or resting  # the timer runs anyway
        super().advance(now)
        self.active = self.active and not resting

    def estimate(self) -> float:
        if "rate" in self.rules and self.o.dq_threshold is not None:
            # ns-3 keeps delays as whole nanoseconds.
            return int(self.bytes / self.avg_dq_rate * SECOND) / SECOND if self.avg_dq_rate else 0.0
        if "emptied" in self.rules and self.o.dq_threshold is None:
            return self.current_qdelay
        return super().estimate()

    def calculate_drop_prob(self) -> None:
        rules, delay = self.rules, self.estimate()
        protected = "burst" in rules and self.burst_allowance > 0
        self.drop_prob = 0.0 if protected else self.drop_prob + self.step(delay)
        low = delay < self.ref / 2 and self.qdelay_old < self.ref / 2
        if (delay == 0 and self.qdelay_old == 0) if "decay" in rules else low:
            self.drop_prob *= 0.98
        self.drop_prob = min(max(self.drop_prob, 0.0), 1.0)
        self.burst_allowance = max(0, self.burst_allowance - self.o.t_update)
        calm = low and self.drop_prob == 0
        if "rate" in rules and calm and (self.avg_dq_rate or self.o.dq_threshold is None):
            self.avg_dq_rate, self.dq_count = 0.0, self.INVALID
        if "burst" in rules:
            self.count_calm(calm)
        self.current_qdelay = self.qdelay_old = delay

    def count_calm(self, calm: bool) -> None:
        if not calm or self.burst_allowance:
            self.calm_periods = 0 if self.burst == "over" else self.calm_periods
        elif self.burst == "protecting":
            self.burst, self.calm_periods = "over", 0
        elif self.burst == "over":
            self.calm_periods += 1
            if self.calm_periods > self.RESET // self.o.t_update:
                self.burst, self.calm_periods = "none", 0


ORACLES: tuple[type[CoDel | Cobalt | FqCoDel | FqCobalt | Red | Pie], ...] = (
    CoDel,
    Cobalt,
    FqCoDel,
    FqCobalt,
    Red,
    Ared,
    FengAred,
    Pie,
)
assert {rule for oracle in ORACLES for rule in oracle.RULES} == set(RULES)
