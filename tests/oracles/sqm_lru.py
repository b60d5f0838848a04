"""SQM-LRU and its baselines, LRU-RED and Landmark LRU, from the text and algorithms of Li et al. (2021).

Lists are plain Python lists, searched and counted each time; the chance that a sample of the shadow queue holds
a flow is the exact share of all samples that do. Assumptions on algorithm 1, as in `classifier/m_lru.rs`: a new entry
is responsive and has count 1; evictions are counted; an unmatched packet of an LTF flow moves it to TOP and is LTF;
a flow that is not listed is responsive.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from math import comb

import classful
import codel
import red
from workload import Numbers, Oracle, Packet


class Classifier(ABC):
    """Says of each packet whether its flow is a non-responsive long-term fast one (LTF)."""

    @abstractmethod
    def observe(self, flow: int, numbers: Numbers) -> bool:
        """A packet arrives."""

    @abstractmethod
    def kept(self) -> tuple[int, int]:
        """Flows that it keeps, and those of them that are reported."""

    def probes(self) -> dict[str, float]:
        kept, reported = self.kept()
        return {"kept_flows": kept, "reported_flows": reported}


class Lru(Classifier):
    """Hit: count and move to the top. Miss: insert at the top, out with the bottom."""

    def __init__(self, size: int, threshold: int, insert: float = 1.0) -> None:
        self.size, self.threshold, self.insert = size, threshold, insert
        self.flows: list[int] = []
        self.counts: dict[int, int] = {}

    def observe(self, flow: int, numbers: Numbers) -> bool:
        if flow not in self.flows:
            if self.insert < 1 and numbers.uniform() >= self.insert:
                return False
            self.enter(flow)
        else:
            self.hit(flow)
        return self.counts[flow] > self.threshold

    def enter(self, flow: int) -> None:
        if len(self.flows) == self.size:
            del self.counts[self.flows.pop()]
        self.flows.insert(self.place(), flow)
        self.counts[flow] = 1

    def place(self) -> int:
        """Where a new flow enters."""
        return 0

    def hit(self, flow: int) -> None:
        self.flows.remove(flow)
        self.flows.insert(0, flow)
        self.counts[flow] += 1

    def kept(self) -> tuple[int, int]:
        return len(self.flows), sum(count > self.threshold for count in self.counts.values())


class LandmarkLru(Lru):
    """New flows enter at the landmark, which has at most so many flows above it."""

    def __init__(self, size: int, above: int, threshold: int) -> None:
        super().__init__(size, threshold)
        self.most, self.above = above, 0

    def place(self) -> int:
        return self.above

    def hit(self, flow: int) -> None:
        if self.flows.index(flow) >= self.above:
            self.above = min(self.above + 1, self.most)
        super().hit(flow)


class MLru(Classifier):
    """Algorithm 1."""

    def __init__(
        self,
        sq: int = 200,
        p_samp: float = 0.3,
        plth: int = 5,
        ltf: int = 20,
        responsive: int = 30,
        single: bool = False,
    ) -> None:
        self.sq_size, self.p_samp, self.plth, self.single = sq, p_samp, plth, single
        self.ltf_unit, self.responsive_unit = ltf, responsive
        self.sq: list[int] = []
        self.ltf: list[int] = []  # from TOP to MARK
        self.responsive: list[int] = []  # from MARK to BOTTOM
        self.pcount: dict[int, int] = {}

    def pre_sampling(self, flow: int, numbers: Numbers) -> bool:
        """Whether a sample of the shadow queue holds the flow; places that were never filled hold none."""
        b = self.sq.count(flow)
        if self.single:
            chance = Fraction(self.p_samp) * b / self.sq_size
        else:
            m = int(self.p_samp * self.sq_size + 0.5)
            chance = 1 - Fraction(comb(self.sq_size - b, m), comb(self.sq_size, m))
        return numbers.uniform() < chance

    def observe(self, flow: int, numbers: Numbers) -> bool:
        matched = self.pre_sampling(flow, numbers)
        if matched and flow in self.pcount:
            self.pcount[flow] += 1
            if self.pcount[flow] > self.plth:
                if flow in self.responsive:
                    self.responsive.remove(flow)
                    self.ltf.insert(0, flow)
                    if len(self.ltf) > self.ltf_unit:
                        del self.pcount[self.ltf.pop()]
                else:
                    self.to_top(flow)
            else:
                self.responsive.remove(flow)
                self.responsive.insert(0, flow)
        elif matched:
            self.responsive.insert(0, flow)
            self.pcount[flow] = 1
            if len(self.responsive) > self.responsive_unit:
                del self.pcount[self.responsive.pop()]
        elif flow in self.ltf:
            self.to_top(flow)
        self.sq.append(flow)
        del self.sq[: -self.sq_size]
        return flow in self.ltf

    def to_top(self, flow: int) -> None:
        self.ltf.remove(flow)
        self.ltf.insert(0, flow)

    def kept(self) -> tuple[int, int]:
        return len(self.ltf) + len(self.responsive), len(self.ltf)


class Reported(red.Red):
    """RED for reported flows; all others pass below max_th if there is room."""

    def __init__(self, classifier: Classifier, options: red.Options) -> None:
        super().__init__(options)
        self.classifier = classifier

    def admit(self, packet: Packet) -> None:
        reported = self.classifier.observe(packet.flow, self.numbers)
        if reported or self.avg >= self.options.maxth:
            super().admit(packet)
        elif len(self.queue) + 1 > self.options.limit:
            self.log("dropped", packet.number, "overlimit")
        else:
            self.queue.append(packet)
            self.log("enqueued", packet.number)

    def probes(self) -> dict[str, float]:
        return super().probes() | self.classifier.probes()


class Dual(classful.Classful):
    """Algorithm 2: CoDel (or a plain queue) above, RED (or a plain queue) below; the scheduler comes by inheritance."""

    def arrange(self, classifier: Classifier, low: red.Options | None) -> None:
        """Puts the classifier before the queues and RED into the low one."""
        self.classifier = classifier
        self.low = red.Red(low) if low else None
        if self.low:
            self.low.log = self.log
            self.children[1] = self.low  # type: ignore[call-overload]

    def enqueue(self, packet: Packet, now: int) -> None:
        number = int(self.classifier.observe(packet.flow, self.numbers))
        if not self.makes_room(number, now):
            self.log("dropped", packet.number, "overlimit")
            return
        before = self.size(number)
        if number == 1 and self.low:
            self.low.numbers, self.low.rate = self.numbers, self.rate
            self.low.enqueue(packet, now)
        else:
            self.children[number].push(packet)
            self.log("enqueued", packet.number)
        if self.size(number) > before:
            self.arrived(number, packet, before == 0)

    def probes(self) -> dict[str, float]:
        values: dict[str, float] = self.classifier.probes()
        values["busy_classes"] = (self.size(0) > 0) + (self.size(1) > 0)
        high = self.children[0]
        if isinstance(high, codel.CoDelQueue):
            values |= {"high.count": high.count, "high.dropping": high.dropping}
        return values | {f"low.{name}": value for name, value in (self.low.probes() if self.low else {}).items()}


class Wrr(Dual, classful.RoundRobin):
    """WRR."""


class Sp(Dual, classful.StrictPriority):
    """SP."""


class Drr(Dual, classful.DeficitRoundRobin):
    """DRR."""


class Wfq(Dual, classful.FairQueueing):
    """WFQ."""


def made(dual: Dual, classifier: Classifier, low: red.Options | None) -> Dual:
    """Return the whole."""
    dual.arrange(classifier, low)
    return dual


def curve(limit: int, **more: float) -> red.Options:
    """RED's thresholds from the limit: a fifth and three fifths."""
    return red.Options(limit=limit, minth=limit // 5, maxth=limit * 3 // 5, **more)  # type: ignore[arg-type]


CASES: dict[str, Callable[[], Oracle]] = {
    "lru_red limit 60p cache 6 w 0.1": lambda: Reported(Lru(6, 5), curve(60, wq=0.1)),
    "lru_red limit 100p cache 4 threshold 2 insert 0.3 w 0.02": lambda: Reported(Lru(4, 2, 0.3), curve(100, wq=0.02)),
    "l_lru limit 60p cache 7 w 0.1": lambda: Reported(LandmarkLru(7, 3, 5), curve(60, wq=0.1)),
    "l_lru limit 100p cache 5 landmark 0.7 threshold 3 w 0.02": lambda: Reported(
        LandmarkLru(5, 3, 3), curve(100, wq=0.02)
    ),
    "sqm_lru limit 100p": lambda: made(Wrr((1, 1), 100, codel.Options()), MLru(), curve(100)),
    "sqm_lru limit 100p sq 20 p_samp 0.5 p_lth 2 cache 4 ltf_unit 1 weight 3,1 low [red w 0.05]": lambda: made(
        Wrr((3, 1), 100, codel.Options()), MLru(20, 0.5, 2, 1, 3), curve(100, wq=0.05)
    ),
    "sqm_lru:consistent limit 80p sq 12 p_samp 0.25 cache 4 ltf_unit 2 scheduler sp low [red w 0.05]": lambda: made(
        Sp(2, 80, codel.Options()), MLru(12, 0.25, 5, 2, 2), curve(80, wq=0.05)
    ),
    "sqm_lru limit 80p sampling single p_samp 0.9 p_lth 1 cache 9 scheduler drr weight 1,2 low [red w 0.02]": lambda: (
        made(Drr((1514, 3028), 80, codel.Options()), MLru(200, 0.9, 1, 3, 6, single=True), curve(80, wq=0.02))
    ),
    "sqm_lru limit 60p sq 9 p_samp 1 p_lth 3 cache 2 ltf_unit 1 scheduler wfq weight 3,1 high [fifo] low [fifo]": (
        lambda: made(Wfq((3, 1), 60), MLru(9, 1.0, 3, 1, 1), None)
    ),
}
