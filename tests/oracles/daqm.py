"""dAQM, from algorithm 1 and the equations of Saleh, Shu and Koldehofe 2024; names are the paper's.

Histories are kept whole, and derivatives worked out from them by eqs. 6 to 8 and 13 to 15. Arrays count from 1, as in
the paper: 1 and 2 are buffer size and sojourn time, 7 and 8 their third derivatives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

from workload import MILLISECOND, Oracle, Packet

N = 8
NAMES = ("", "b", "s", "b1", "s1", "b2", "s2", "b3", "s3")
TABLE_III = {
    1: ([0, 120, 1000, 1, 10, 10, 10, 10, 10], 0.05),
    2: ([0, 80, 600, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], 0.5),
    3: ([0, 20, 100, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01], 0.98),
}


@dataclass
class Options:
    limit: int = 2000
    T: list[float] = field(default_factory=lambda: [float(t) for t in TABLE_III[1][0]])
    D_r: list[float] = field(default_factory=lambda: [0.05] * 9)
    D_d: list[int] = field(default_factory=lambda: [400 * MILLISECOND] * 9)
    T_S: float = 5.0
    T_B: float = 5.0
    t_b: int = 10 * MILLISECOND
    clock: str = "departure"
    destroy: bool = True
    spacing: float | None = None
    per_ms: bool = False
    absolute: bool = False
    smoothing: float = 0.0
    again: bool = True
    step: float = 0.0
    control: tuple[int, int] | None = None
    ecn: bool = False


def configuration(number: int, **options: object) -> Options:
    """dAQM1 to dAQM3."""
    thresholds, rate = TABLE_III[number]
    return Options(T=[float(t) for t in thresholds], D_r=[rate] * 9, **options)  # type: ignore[arg-type]


def only(feature: str, **options: object) -> Options:
    """One feature of dAQM2."""
    two = configuration(2, **options)
    two.T = [threshold if NAMES[k] == feature else inf for k, threshold in enumerate(two.T)]
    return two


class History:
    """A quantity x at instants t, and x', x'', x''' by differences of what is kept of the samples before."""

    def __init__(self, spacing: float | None, smoothing: float) -> None:
        self.spacing, self.smoothing = spacing, smoothing
        self.samples: list[tuple[int, float, list[float]]] = []

    def add(self, t: int, x: float, difference: Callable[[float, float], float]) -> None:
        if self.samples and self.samples[-1][0] == t:
            self.samples.pop()  # recomputed at the same instant
        derivatives: list[float] = []
        if self.samples:
            t_1, x_1, before = self.samples[-1]
            passed = (t - t_1) / 1e6
            delta_t = passed if self.spacing is None else self.spacing
            slope = difference(x, x_1) / delta_t
            for order in range(min(3, len(before) + 1)):
                if order < len(before) and self.smoothing:
                    slope = before[order] + (slope - before[order]) * (passed / (self.smoothing + passed))
                derivatives.append(slope)
                if order < len(before):
                    slope = (slope - before[order]) / delta_t
        self.samples.append((t, x, derivatives))
        del self.samples[:-3]

    def derivative(self, order: int) -> float:
        if not self.samples:
            return 0.0
        derivatives = self.samples[-1][2]
        return derivatives[order - 1] if order <= len(derivatives) else 0.0


class DAqm(Oracle):
    """Algorithm 1 over one queue."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.queue: deque[Packet] = deque()
        self.s = History(options.spacing, options.smoothing)
        self.b = History(None if options.per_ms else 1.0, options.smoothing)
        self.sampled: int | None = None
        self.f = 0
        self.until = 0
        self.drop_rate = 0.0
        self.steps = [0] * 9
        self.level = 0
        self.window: tuple[int, int, int] = (0, 0, 0)
        if options.control:
            self.adopt()

    def adopt(self) -> None:
        """The controller's configuration is in force."""
        chosen = configuration(self.level + 1)
        self.options.T, self.options.D_r = chosen.T, chosen.D_r

    def enqueue(self, packet: Packet, now: int) -> None:
        if len(self.queue) >= self.options.limit:
            self.log("dropped", packet.number, "overlimit")
            return
        if now < self.until and self.numbers.uniform() < self.drop_rate:
            marked = self.options.ecn and self.log.mark(packet)
            if not marked:
                self.log("dropped", packet.number, "congestion")
                return
        self.queue.append(packet)
        self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        if self.options.control and self.queue:
            self.watch(*self.options.control, now)
        if self.queue:
            self.preprocess(now)
            k = 0 if now < self.until else self.detect(now)
            if k:
                self.drop(k, now)
        return self.queue.popleft() if self.queue else None

    def preprocess(self, now: int) -> None:
        """Lines 6 to 10."""
        waited = now - self.queue[0].arrival
        self.s.add(now, waited, lambda new, old: (new - old) / 1e6)
        if self.sampled is None or now - self.sampled >= self.options.t_b or self.sampled == now:
            self.sampled = now
            self.b.add(now, len(self.queue), lambda new, old: new - old)

    def feature(self, k: int) -> float:
        history = self.s if k % 2 == 0 else self.b
        if k > 2:
            return history.derivative((k - 1) // 2)
        if not history.samples:
            return 0.0
        return history.samples[-1][1] / 1e6 if k == 2 else history.samples[-1][1]

    def detect(self, now: int) -> int:
        """Lines 11 to 36: the number of the feature, or 0."""
        sojourn, buffer = self.feature(2), self.feature(1)
        for k in (8, 7, 6, 5, 4, 3, 2, 1):
            gate = sojourn > self.options.T_S if k % 2 == 0 else buffer > self.options.T_B and self.sampled == now
            value, threshold = self.feature(k), self.options.T[k]
            if gate and (value > threshold or (self.options.absolute and value < -threshold)):
                return k
        return 0

    def drop(self, k: int, now: int) -> None:
        """Lines 37 to 48."""
        while True:
            head = self.queue[0]
            if self.options.ecn and self.log.mark(head):
                break
            self.log("dropped", head.number, "congestion")
            self.queue.popleft()
            if not self.options.again or len(self.queue) < 2:
                break
            self.preprocess(now)
            if self.detect(now) < 3:
                break
        back_soon = self.f == k and now < self.until + self.options.D_d[k]
        self.steps[k] = min(self.steps[k] + 1, 20) if back_soon else max(self.steps[k] - 1, 0)
        growth = 1 + self.options.step * self.steps[k]
        self.f = k
        self.drop_rate = min(self.options.D_r[k] * growth, 1.0)
        self.until = now + int(self.options.D_d[k] * growth)

    def watch(self, period: int, target: int, now: int) -> None:
        """The controller of section VII."""
        ends, waited, packets = self.window
        if now >= ends:
            if waited > target * packets:
                self.level = min(self.level + 1, 2)
            elif 2 * waited < target * packets:
                self.level = max(self.level - 1, 0)
            self.adopt()
            ends, waited, packets = now + period, 0, 0
        self.window = (ends, waited + now - self.queue[0].arrival, packets + 1)

    def probes(self) -> dict[str, float]:
        values = {NAMES[k]: self.feature(k) for k in range(1, N + 1)}
        return {**values, "found": self.f, "drop_rate": self.drop_rate}


class Clean(DAqm):
    """The same in `daqm_artifact`, which shows the controller's configuration."""

    def probes(self) -> dict[str, float]:
        return {**super().probes(), "configuration": self.level}


class Artifact(Clean):
    """The authors' program, from what is known of it: five packets are destroyed for each look."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.sizes: list[int] = []
        self.of_buffer = [0.0] * 3
        self.seen = [0.0] * 9
        self.scheduled: list[int] = []

    def enqueue(self, packet: Packet, now: int) -> None:
        if len(self.queue) < self.options.limit:
            self.fire(now)
        super().enqueue(packet, now)

    def fire(self, now: int) -> None:
        """Every event of UpdateCurrentBufferSize that is due; each takes a sample if t_b has passed."""
        while self.scheduled and self.scheduled[0] <= now:
            at = self.scheduled.pop(0)
            if self.sampled is None or at - self.sampled >= self.options.t_b:
                self.sampled = at
                self.sizes.append(len(self.queue))
                if len(self.sizes) == 5:
                    self.of_buffer, self.sizes = self.centred(self.sizes, 1), []

    def dequeue(self, now: int) -> Packet | None:
        self.fire(now)
        if self.options.clock == "departure":
            self.scheduled.append(now)
        elif self.queue:
            self.scheduled.append(now + 15 * MILLISECOND + (now if self.options.clock == "doubled" else 0))
        self.fire(now)
        if not self.queue:
            return None
        head = self.queue.popleft()
        if now < self.until or len(self.queue) <= 5:
            return head
        waits = []
        for place in range(5):
            seen = self.queue.popleft() if self.options.destroy else self.queue[place]
            waits.append((now - seen.arrival) // MILLISECOND)
            if self.options.destroy:
                self.log("dropped", seen.number, "other")
        first, second, third = self.centred(waits, 2)
        b1, b2, b3 = self.of_buffer
        self.seen = [0, 40, waits[0], b1, first, b2, second, b3, third]
        found = [k for k in range(8, 0, -1) if abs(self.seen[k]) > self.options.T[k]]
        if not found:
            return head
        self.f, self.drop_rate = found[0], self.options.D_r[found[0]]
        self.until = now + self.options.D_d[found[0]]
        self.log("dropped", head.number, "congestion")
        return self.queue.popleft()

    @staticmethod
    def centred(x: list[int], delta: float) -> list[float]:
        a, b, c = ((x[i + 2] - x[i]) / (2 * delta) for i in range(3))
        return [(x[1] - x[0]) / delta, (b - a) / delta, ((c - b) / delta - (b - a) / delta) / delta]

    def feature(self, k: int) -> float:
        return self.seen[k]


def own_rates() -> Options:
    """Rates and durations of single features."""
    options = configuration(2)
    options.D_r = [0.0, 0.5, 0.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7]
    options.D_d = [ms * MILLISECOND for ms in (0, 400, 50, 60, 70, 80, 90, 100, 110)]
    return options


CASES: dict[str, Callable[[], Oracle]] = {
    "daqm limit 60p": lambda: DAqm(Options(limit=60)),
    "daqm:daqm1 features [s 1s, s1 0.5, b 120, b1 1, b2 10, b3 10]": lambda: DAqm(
        Options(T=[0, 120, 1000, 1, 0.5, 10, inf, 10, inf])
    ),
    "daqm:daqm2 limit 300p noagain": lambda: DAqm(configuration(2, limit=300, again=False)),
    "daqm:daqm3 drop_duration 30ms drop_rate 0.2": lambda: DAqm(
        Options(T=configuration(3).T, D_r=[0.2] * 9, D_d=[30 * MILLISECOND] * 9)
    ),
    "daqm_artifact:daqm2 method clean ecn compare absolute gate_s 1ms gate_b 2 drop_duration 50ms": lambda: Clean(
        configuration(2, ecn=True, absolute=True, T_S=1.0, T_B=2.0, D_d=[50 * MILLISECOND] * 9)
    ),
    "daqm_artifact:daqm2 method clean spacing 2ms buffer_per ms sample_interval 5ms drop_duration 40ms": lambda: Clean(
        configuration(2, spacing=2.0, per_ms=True, t_b=5 * MILLISECOND, D_d=[40 * MILLISECOND] * 9)
    ),
    "daqm:daqm2 smoothing 20ms drop_duration 40ms": lambda: DAqm(
        configuration(2, smoothing=20.0, D_d=[40 * MILLISECOND] * 9)
    ),
    "daqm_artifact:daqm2 method clean update_step 0.25 drop_duration 50ms": lambda: Clean(
        configuration(2, step=0.25, D_d=[50 * MILLISECOND] * 9)
    ),
    "daqm:daqm2 features [s 600ms for 50ms, s1 0.1 rate 0.2 for 70ms, s2 0.1 rate 0.4 for 90ms,"
    " s3 0.1 rate 0.7 for 110ms, b 80, b1 0.1 rate 0.1 for 60ms, b2 0.1 rate 0.3 for 80ms,"
    " b3 0.1 rate 0.6 for 100ms]": lambda: DAqm(own_rates()),
    "daqm_artifact:daqm2 method clean duration_s 50ms rate_b1 0.1 duration_b1 60ms rate_s1 0.2 duration_s1 70ms"
    " rate_b2 0.3 duration_b2 80ms rate_s2 0.4 duration_s2 90ms rate_b3 0.6 duration_b3 100ms rate_s3 0.7"
    " duration_s3 110ms": lambda: Clean(own_rates()),
    "daqm_artifact method clean controller control_period 200ms control_target 40ms drop_duration 50ms": lambda: Clean(
        Options(control=(200 * MILLISECOND, 40 * MILLISECOND), D_d=[50 * MILLISECOND] * 9)
    ),
    **{
        f"daqm:only_{name} drop_duration 50ms": lambda name=name: DAqm(only(name, D_d=[50 * MILLISECOND] * 9))
        for name in NAMES[1:]
    },
    "daqm_artifact:daqm2 buffer_clock departure drop_duration 50ms": lambda: Artifact(
        configuration(2, D_d=[50 * MILLISECOND] * 9)
    ),
    "daqm_artifact:daqm2 buffer_clock later s3 auto s2 auto drop_duration 50ms": lambda: Artifact(
        replace(
            configuration(2, D_d=[50 * MILLISECOND] * 9, clock="later"), T=[0, 80, 600, 0.1, 0.1, 0.1, inf, 0.1, inf]
        )
    ),
    "daqm_artifact:daqm1 sample_interval 5ms drop_duration 50ms": lambda: Artifact(
        Options(clock="doubled", t_b=5 * MILLISECOND, D_d=[50 * MILLISECOND] * 9)
    ),
    "daqm_artifact:daqm2 nodestroy buffer_clock later drop_duration 50ms": lambda: Artifact(
        configuration(2, D_d=[50 * MILLISECOND] * 9, clock="later", destroy=False)
    ),
    "daqm_artifact:daqm1 buffer_clock departure s1 auto s 100ms b1 4 s2 3": lambda: Artifact(
        Options(T=[0, 120, 100, 4, inf, 10, 3, 10, 10])
    ),
}
