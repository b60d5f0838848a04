"""The settings in which `qdiscs.py` compares: one notation for aqmlab, one for ns-3, one for the oracle with its rules.

Where ns-3's defaults differ from aqmlab's, the value is given on one side or the other; both are printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import rules  # first: it knows the path to the oracles

# isort: split
import ared
import cobalt
import codel
import fq_cobalt
import fq_codel
import pie
import red
from rules import Rules
from workload import MILLISECOND, Oracle

RATE = 10_000_000
MTU = 1514

Maker = Callable[[Rules], Oracle]


@dataclass(frozen=True)
class Case:
    """One discipline in one setting, on both sides."""

    spec: str
    disc: str
    rules: tuple[str, ...] = ()
    make: Maker | None = None
    defaults: tuple[str, ...] = ()


def codel_options(**options: object) -> codel.Options:
    return codel.Options(newton=True, mtu=MTU, **options)  # type: ignore[arg-type]


def codel_case(ours: str, theirs: str, **options: object) -> Case:
    make = lambda on: rules.CoDel(on, codel_options(**options))  # noqa: E731
    return Case(f"codel:linux {ours}", f"CoDelQueueDisc MinBytes={MTU + 1} {theirs}", rules.CoDel.RULES, make)


def fq_codel_case(ours: str, theirs: str, law: codel.Options, **options: int) -> Case:
    make = lambda on: rules.FqCoDel(on, fq_codel.Options(codel=law, **options))  # noqa: E731
    return Case(
        f"fq_codel:linux guard flow flows 65536 {ours}",
        f"FqCoDelQueueDisc Flows=65536 Quantum={options.get('quantum', MTU)} {theirs}",
        rules.FqCoDel.RULES,
        make,
        (f"ns3::CoDelQueueDisc::MinBytes {MTU + 1}",),
    )


def cobalt_case(ours: str, theirs: str, blue_threshold: int = 400 * MILLISECOND, **options: object) -> Case:
    given = cobalt.Options(mtu_guard=False, **({"ecn": False} | options))  # type: ignore[arg-type]
    make = lambda on: rules.Cobalt(on, given, blue_threshold)  # noqa: E731
    return Case(
        f"cobalt:ns3 blue_threshold auto spare_last {ours}", f"CobaltQueueDisc {theirs}", rules.Cobalt.RULES, make
    )


def fq_cobalt_case(ours: str, theirs: str, law: cobalt.Options, **options: int) -> Case:
    make = lambda on: rules.FqCobalt(on, fq_cobalt.Options(cobalt=law, **options))  # type: ignore[arg-type] # noqa: E731
    return Case(
        f"fq_cobalt:ns3 blue_threshold auto spare_last flows 65536 {ours}",
        f"FqCobaltQueueDisc Flows=65536 Quantum={options.get('quantum', MTU)} {theirs}",
        rules.FqCobalt.RULES,
        make,
    )


def red_case(ours: str, theirs: str, oracle: type[rules.Red] = rules.Red, *more: object, **options: object) -> Case:
    given = red.Options(**options)  # type: ignore[arg-type]
    link = f"LinkBandwidth={RATE}bps MeanPktSize={given.average_packet}"
    return Case(ours, f"RedQueueDisc {link} {theirs}", oracle.RULES, lambda on: oracle(on, given, *more))


def pie_case(ours: str, theirs: str, active_threshold: int | None = None, **options: object) -> Case:
    given = pie.Options(**({"activate": False} | options))  # type: ignore[arg-type]
    make = lambda on: rules.Pie(on, given, active_threshold)  # noqa: E731
    return Case(f"pie:rfc8033 {ours}", f"PieQueueDisc MeanPktSize={MTU} {theirs}", rules.Pie.RULES, make)


FLOYD = ared.Floyd()
CASES = [
    Case("fifo limit 100p", "FifoQueueDisc MaxSize=100p"),
    Case("fifo limit 50000b", "FifoQueueDisc MaxSize=50000B"),
    Case("pfifo_fast:ns3 limit 60p", "PfifoFastQueueDisc MaxSize=60p"),
    # RED
    red_case(
        "red limit 100p min 20p max 60p w 0.02 probability 0.1",
        "MaxSize=100p MinTh=20 MaxTh=60 QW=0.02 LInterm=10 Wait=false",
        limit=100, minth=20, maxth=60, wq=0.02,
    ),
    red_case(
        "red limit 100p min 20p max 60p w 0.02 probability 0.1 nogentle",
        "MaxSize=100p MinTh=20 MaxTh=60 QW=0.02 LInterm=10 Wait=false Gentle=false",
        limit=100, minth=20, maxth=60, wq=0.02, gentle=False,
    ),
    red_case(
        "red:ns3 limit 60p w 0.01",
        "MaxSize=60p MinTh=5 MaxTh=15 QW=0.01 LInterm=50",
        limit=60, minth=5, maxth=15, wq=0.01, maxp=0.02, wait=True, average_packet=500, idle="ns3",
    ),
    red_case(
        "red limit 100p min 10p max 40p w 0.02 probability 0.1 ecn",
        "MaxSize=100p MinTh=10 MaxTh=40 QW=0.02 LInterm=10 Wait=false UseEcn=true",
        limit=100, minth=10, maxth=40, wq=0.02, ecn=True,
    ),
    red_case(
        "red limit 100p min 10p max 40p w 0.02 probability 0.1 ecn noharddrop nogentle",
        "MaxSize=100p MinTh=10 MaxTh=40 QW=0.02 LInterm=10 Wait=false UseEcn=true UseHardDrop=false Gentle=false",
        limit=100, minth=10, maxth=40, wq=0.02, ecn=True, harddrop=False, gentle=False,
    ),
    red_case(
        "red limit 100000b min 10000b max 40000b w 0.02 probability 0.1 avpkt 1000b",
        "MaxSize=100000B MinTh=10000 MaxTh=40000 QW=0.02 LInterm=10 Wait=false",
        limit=100_000, minth=10_000, maxth=40_000, wq=0.02, by_bytes=True,
    ),
    red_case(
        "red limit 100000b min 10000b max 40000b w 0.02 probability 0.1 avpkt 1000b wait ecn",
        "MaxSize=100000B MinTh=10000 MaxTh=40000 QW=0.02 LInterm=10 UseEcn=true",
        limit=100_000, minth=10_000, maxth=40_000, wq=0.02, by_bytes=True, wait=True, ecn=True,
    ),
    red_case(
        "ared limit 100p w 0.01 probability 0.02",
        "MaxSize=100p MinTh=5 MaxTh=15 QW=0.01 LInterm=50 Wait=false AdaptMaxP=true Bottom=0.01",
        rules.Ared, FLOYD,
        limit=100, minth=5, maxth=15, wq=0.01, maxp=0.02,
    ),
    red_case(
        "ared limit 100p probability 0.02 ecn",
        "MaxSize=100p LInterm=50 Wait=false ARED=true Bottom=0.01 UseEcn=true",
        rules.Ared, FLOYD,
        limit=100, minth=5, maxth=15, wq=1 - math.exp(-8000 / RATE), maxp=0.02, ecn=True,
    ),
    red_case(
        "ared limit 100p min 10p max 40p w 0.02 probability 0.1 interval 40ms",
        "MaxSize=100p MinTh=10 MaxTh=40 QW=0.02 LInterm=10 Wait=false AdaptMaxP=true Bottom=0.01 Interval=40ms",
        rules.Ared, ared.Floyd(interval=40 * MILLISECOND),
        limit=100, minth=10, maxth=40, wq=0.02, maxp=0.1,
    ),
    red_case(
        "feng_ared limit 100p min 10p max 30p w 0.05 probability 0.1",
        "MaxSize=100p MinTh=10 MaxTh=30 QW=0.05 LInterm=10 Wait=false FengAdaptive=true",
        rules.FengAred,
        limit=100, minth=10, maxth=30, wq=0.05,
    ),
    red_case(
        "feng_ared limit 100p min 10p max 30p w 0.05 probability 0.1 ecn wait",
        "MaxSize=100p MinTh=10 MaxTh=30 QW=0.05 LInterm=10 FengAdaptive=true UseEcn=true",
        rules.FengAred,
        limit=100, minth=10, maxth=30, wq=0.05, ecn=True, wait=True,
    ),
    red_case(
        "nlred limit 100p min 20p max 60p w 0.02 probability 0.1",
        "MaxSize=100p MinTh=20 MaxTh=60 QW=0.02 LInterm=10 Wait=false Gentle=false NLRED=true",
        limit=100, minth=20, maxth=60, wq=0.02, gentle=False, square=True,
    ),
    red_case(
        "nlred:ns3 limit 60p w 0.01 probability 0.1",
        "MaxSize=60p MinTh=5 MaxTh=15 QW=0.01 LInterm=10 NLRED=true",
        limit=60, minth=5, maxth=15, wq=0.01, maxp=0.1, wait=True, average_packet=500, square=True,
    ),
    # CoDel
    codel_case("limit 1000p", "MaxSize=1000p"),
    codel_case("limit 100p ecn", "MaxSize=100p UseEcn=true", limit=100, ecn=True),
    codel_case(
        "limit 200p target 2ms interval 20ms",
        "MaxSize=200p Target=2ms Interval=20ms",
        limit=200, target=2 * MILLISECOND, interval=20 * MILLISECOND,
    ),
    codel_case(
        "limit 200p target 2ms interval 20ms ecn ce_threshold 30ms",
        "MaxSize=200p Target=2ms Interval=20ms UseEcn=true CeThreshold=30ms",
        limit=200, target=2 * MILLISECOND, interval=20 * MILLISECOND, ecn=True, ce_threshold=30 * MILLISECOND,
    ),
    # PIE
    pie_case("limit 200p noderandomize", "MaxSize=200p", limit=200, derandomize=False),
    pie_case(
        "limit 200p noderandomize max_burst 0ms",
        "MaxSize=200p MaxBurstAllowance=0ms",
        limit=200, derandomize=False, max_burst=0,
    ),
    pie_case("limit 200p", "MaxSize=200p UseDerandomization=true", limit=200),
    pie_case(
        "limit 200p max_burst 0ms ecn mark_threshold 0.3",
        "MaxSize=200p UseDerandomization=true MaxBurstAllowance=0ms UseEcn=true MarkEcnThreshold=0.3",
        limit=200, max_burst=0, ecn=True, mark_ecnth=0.3,
    ),
    pie_case(
        "limit 200p noderandomize nocap max_burst 0ms",
        "MaxSize=200p UseCapDropAdjustment=false MaxBurstAllowance=0ms",
        limit=200, derandomize=False, cap=False, max_burst=0,
    ),
    pie_case(
        "limit 200p target 5ms tupdate 7ms max_burst 20ms alpha 0.5hz beta 3hz noderandomize",
        "MaxSize=200p QueueDelayReference=5ms Tupdate=7ms MaxBurstAllowance=20ms A=0.5 B=3",
        limit=200, qdelay_ref=5 * MILLISECOND, t_update=7 * MILLISECOND, max_burst=20 * MILLISECOND,
        alpha=0.5, beta=3, derandomize=False,
    ),
    pie_case(
        "limit 200p noderandomize dq_rate_estimator dq_weight 0.5",
        "MaxSize=200p UseDequeueRateEstimator=true",
        limit=200, derandomize=False, dq_threshold=16_384, dq_weight=0.5,
    ),
    pie_case(
        "limit 200p activate max_burst 30ms noderandomize",
        "MaxSize=200p ActiveThreshold=20ms MaxBurstAllowance=30ms",
        20 * MILLISECOND,
        limit=200, activate=True, max_burst=30 * MILLISECOND, derandomize=False,
    ),
    pie_case(
        "limit 10mb bytemode max_burst 0ms",
        "MaxSize=10485760B UseDerandomization=true MaxBurstAllowance=0ms",
        limit=1 << 40, bytemode=True, max_burst=0,
    ),
    # COBALT
    cobalt_case("limit 200p", "MaxSize=200p", limit=200),
    cobalt_case("limit 60p ecn", "MaxSize=60p UseEcn=true", limit=60, ecn=True),
    cobalt_case(
        "limit 60p increment 0.05 decrement 0.02 ecn",
        "MaxSize=60p Increment=0.05 Decrement=0.02 UseEcn=true",
        limit=60, increment=0.05, decrement=0.02, ecn=True,
    ),
    cobalt_case(
        "limit 300p target 1ms interval 10ms",
        "MaxSize=300p Target=1ms Interval=10ms BlueThreshold=60ms",
        60 * MILLISECOND,
        limit=300, target=MILLISECOND, interval=10 * MILLISECOND,
    ),
    # Flow queues
    fq_codel_case("limit 10240p", "", codel_options(ecn=True)),
    fq_codel_case("limit 120p noecn", "MaxSize=120p UseEcn=false", codel_options(), limit=120),
    fq_codel_case(
        "limit 90p drop_batch 3 quantum 300b target 2ms interval 20ms",
        "MaxSize=90p DropBatchSize=3 Target=2ms Interval=20ms",
        codel_options(ecn=True, target=2 * MILLISECOND, interval=20 * MILLISECOND),
        limit=90, drop_batch=3, quantum=300,
    ),
    fq_cobalt_case("limit 10240p ecn", "", cobalt.Options(mtu_guard=False)),
    fq_cobalt_case(
        "limit 90p drop_batch 3 quantum 300b increment 0.05 decrement 0.02 noecn",
        "MaxSize=90p DropBatchSize=3 UseEcn=false Increment=0.05 Decrement=0.02",
        cobalt.Options(ecn=False, mtu_guard=False, increment=0.05, decrement=0.02),
        limit=90, drop_batch=3, quantum=300,
    ),
]  # fmt: skip
