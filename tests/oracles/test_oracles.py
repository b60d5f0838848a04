"""The disciplines of aqm-core compared with oracles written from the RFCs' and papers' pseudocode.

They must take the same decisions, packet by packet, on random workloads, with the same random numbers.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import afd
import ared
import blue
import cake
import choke
import classful
import cobalt
import codel
import daqm
import docsis_pie
import dualpi2
import fq_cobalt
import fq_codel
import fq_pie
import marking
import mq_ecn
import pfifo_fast
import pi
import pie
import ranked
import red
import rem
import sfb
import sfq
import spie
import sqm_lru
import workload
import wred
from workload import MILLISECOND, Oracle

from aqmlab import registry

CASES: dict[str, Callable[[], Oracle]] = {
    "codel": lambda: codel.CoDel(),
    "codel ecn": lambda: codel.CoDel(codel.Options(ecn=True)),
    "codel limit 60p target 2ms interval 20ms": lambda: codel.CoDel(
        codel.Options(limit=60, target=2 * MILLISECOND, interval=20 * MILLISECOND)
    ),
    "codel ecn ce_threshold 30ms": lambda: codel.CoDel(codel.Options(ecn=True, ce_threshold=30 * MILLISECOND)),
    "codel:linux": lambda: codel.CoDel(codel.Options(newton=True, mtu=1514)),
    "codel:linux ecn interval 30ms": lambda: codel.CoDel(
        codel.Options(newton=True, mtu=1514, ecn=True, interval=30 * MILLISECOND)
    ),
    "red limit 100p w 0.02": lambda: red.Red(red.Options(limit=100, minth=20, maxth=60, wq=0.02)),
    "red limit 100p w 0.02 nogentle ecn": lambda: red.Red(
        red.Options(limit=100, minth=20, maxth=60, wq=0.02, gentle=False, ecn=True)
    ),
    "red limit 200p min 5p max 15p w 0.01 ecn noharddrop": lambda: red.Red(
        red.Options(limit=200, minth=5, maxth=15, wq=0.01, ecn=True, harddrop=False)
    ),
    "red limit 300p min 10kb max 40kb w 0.01 avpkt 800b probability 0.2": lambda: red.Red(
        red.Options(
            limit=300,
            minth=10 * 1024,
            maxth=40 * 1024,
            wq=0.01,
            maxp=0.2,
            by_bytes=True,
            average_packet=800,
        )
    ),
    "red:ns3 limit 60p": lambda: red.Red(
        red.Options(limit=60, minth=5, maxth=15, maxp=0.02, wait=True, average_packet=500)
    ),
    "red:linux limit 60p min 4p max 30p bandwidth 5mbit ecn": lambda: red.Red(
        red.Options(
            limit=60,
            minth=4,
            maxth=30,
            maxp=0.02,
            gentle=False,
            harddrop=False,
            ecn=True,
            bandwidth=5_000_000,
        )
    ),
    "pie limit 150p": lambda: pie.Pie(pie.Options(limit=150, activate=False)),
    "pie limit 150p activate": lambda: pie.Pie(pie.Options(limit=150)),
    "pie limit 150p activate ecn mark_threshold 0.5": lambda: pie.Pie(pie.Options(limit=150, ecn=True, mark_ecnth=0.5)),
    "pie limit 100p noderandomize nocap": lambda: pie.Pie(
        pie.Options(limit=100, activate=False, derandomize=False, cap=False)
    ),
    "pie limit 100p activate ecn target 5ms tupdate 7ms max_burst 20ms bytemode mark_threshold 0.4": lambda: pie.Pie(
        pie.Options(
            limit=100,
            ecn=True,
            qdelay_ref=5 * MILLISECOND,
            t_update=7 * MILLISECOND,
            max_burst=20 * MILLISECOND,
            bytemode=True,
            mark_ecnth=0.4,
        )
    ),
    "pie limit 200p activate dq_rate_estimator": lambda: pie.Pie(pie.Options(limit=200, dq_threshold=16384)),
    "pie:linux limit 200p ecn mark_threshold 0.5": lambda: pie.Linux(pie.Options(limit=200, ecn=True, mark_ecnth=0.5)),
    "pie:linux limit 400p dq_rate_estimator alpha 0.5": lambda: pie.Linux(
        pie.Options(limit=400, dq_threshold=16384, alpha=0.5)
    ),
    "docsis_pie limit 60p": lambda: docsis_pie.DocsisPie(docsis_pie.Options(limit=60)),
    "docsis_pie limit 90p target 4ms tupdate 7ms max_burst 0ms peak_rate 30mbit traffic_burst 20000b": lambda: (
        docsis_pie.DocsisPie(
            docsis_pie.Options(
                limit=90,
                latency_target=4 * MILLISECOND,
                interval=7 * MILLISECOND,
                max_burst=0,
                peak_rate=30_000_000,
                max_traffic_burst=20_000,
            )
        )
    ),
    "docsis_pie limit 150p rate 7mbit alpha 0.5 beta 1.5 max_burst 30ms": lambda: docsis_pie.DocsisPie(
        docsis_pie.Options(limit=150, msr=7_000_000, a=0.5, b=1.5, max_burst=30 * MILLISECOND)
    ),
    "pie:ns3.27 limit 100p": lambda: pie.Ns327(
        pie.Options(
            limit=100,
            qdelay_ref=20 * MILLISECOND,
            t_update=30 * MILLISECOND,
            max_burst=100 * MILLISECOND,
            dq_threshold=10_000,
            dq_weight=0.5,
        )
    ),
    "pie:ns3.27 limit 100p target 5ms ecn max_burst 0ms": lambda: pie.Ns327(
        pie.Options(
            limit=100,
            qdelay_ref=5 * MILLISECOND,
            t_update=30 * MILLISECOND,
            max_burst=0,
            ecn=True,
            dq_threshold=10_000,
            dq_weight=0.5,
        )
    ),
    "fq_codel flows 65536": lambda: fq_codel.FqCoDel(),
    "fq_codel flows 65536 limit 120p noecn": lambda: fq_codel.FqCoDel(
        fq_codel.Options(limit=120, codel=codel.Options())
    ),
    "fq_codel flows 65536 limit 90p drop_batch 3 quantum 300b": lambda: fq_codel.FqCoDel(
        fq_codel.Options(limit=90, drop_batch=3, quantum=300)
    ),
    "s-pie limit 100p": lambda: spie.SPie(spie.Options(spie.printed(limit=100))),
    "s-pie limit 100p target 5ms rule algorithm2 clear_period 300ms": lambda: spie.SPie(
        spie.Options(
            spie.printed(limit=100, qdelay_ref=5 * MILLISECOND),
            text=False,
            clear_period=300 * MILLISECOND,
        )
    ),
    "s-pie limit 100p small_flows_use_p noguard": lambda: spie.SPie(
        spie.Options(spie.printed(limit=100), small_flows_use_p=True, guard=False)
    ),
}
for module in (
    afd,
    ared,
    blue,
    cake,
    choke,
    classful,
    cobalt,
    daqm,
    dualpi2,
    fq_cobalt,
    fq_pie,
    marking,
    mq_ecn,
    pfifo_fast,
    pi,
    ranked,
    rem,
    sfb,
    sfq,
    spie,
    sqm_lru,
    wred,
):
    CASES |= module.CASES
SEEDS = range(6)

# The first test builds the example program, which can take minutes on a fresh checkout.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="session")
def program() -> Path:
    return workload.build()


def same(rust: str, oracle: str) -> bool:
    """Equal lines; values of probes may differ in the last digits, since sums have another order."""
    if rust == oracle:
        return True
    left, right = rust.split(), oracle.split()
    if len(left) != 3 or left[0] != "probe" or left[:2] != right[:2]:
        return False
    return math.isclose(float(left[2]), float(right[2]), rel_tol=1e-9, abs_tol=1e-12)


def kind(decision: str) -> str:
    """A decision without the packet's number: "departed", "dropped congestion"."""
    words = decision.split()
    return " ".join([words[0], *words[2:]]) if words[0] == "dropped" else words[0]


def reason(spec: str) -> str:
    """The drop reason that this discipline must show: a full queue if it has no law."""
    if spec.startswith(("afd", "choke", "s-pie")):
        return "unfair"
    if "unmarkable pass" in spec or "low [fifo" in spec:
        return "overlimit"
    plain = (
        spec.split()[0].split(":")[0]
        in ("sp", "rr", "wrr", "drr", "wfq", "qfq", "sfq", "pifo", "pfifo_fast", "sp_pifo")
        and "codel" not in spec
    )
    return "overlimit" if plain else "congestion"


def marks(spec: str) -> bool:
    """Whether this discipline, or its child, must mark."""
    return " ecn" in spec or spec.split()[0].split(":")[0] in (
        "cake",
        "dctcp_step",
        "dualpi2",
        "ecn_ramp",
        "mq_ecn",
        "tcn",
    )


def traffic(spec: str, seed: int) -> workload.Trace:
    """The workloads of this discipline: CAKE and pfifo_fast need traffic with code points."""
    return workload.marked_traffic(seed) if spec.startswith(("cake", "pfifo_fast")) else workload.random_traffic(seed)


def test_the_flows_of_the_workloads_collide_in_narrow_sketches() -> None:
    for spec, narrow in spie.NARROW.items():
        exact = narrow()
        exact.counts = spie.Exact()
        decided = [workload.play(traffic(spec, SEEDS[0]), oracle) for oracle in (narrow(), exact)]
        assert decided[0] != decided[1], spec


def first_difference(rust: list[str], oracle: list[str]) -> str | None:
    for number, (left, right) in enumerate(zip(rust, oracle, strict=False)):
        if not same(left, right):
            before = "\n".join(rust[max(0, number - 8) : number])
            return f"decision {number}\n{before}\nRust:   {left}\noracle: {right}"
    if len(rust) != len(oracle):
        return f"Rust makes {len(rust)} decisions, the oracle {len(oracle)}"
    return None


@pytest.mark.parametrize("spec", CASES)
def test_rust_and_the_oracle_decide_alike(spec: str, program: Path) -> None:
    kinds: Counter[str] = Counter()
    for seed in SEEDS:
        trace = traffic(spec, seed)
        expected = workload.play(trace, CASES[spec]())
        difference = first_difference(workload.rust(spec, trace, program), expected)
        assert difference is None, f"{spec}, seed {seed}: {difference}"
        kinds.update(kind(line) for line in expected)
    wanted = ["departed", "enqueued", f"dropped {reason(spec)}"] + (["marked"] if marks(spec) else [])
    wanted += ["dropped redundant"] if "ack-filter" in spec else []
    for name in wanted:
        assert kinds[name] >= 20, f"{spec}: the workloads hardly show '{name}': {kinds}"


# Disciplines without an oracle, and why.
WITHOUT = {"fifo": "it decides nothing but whether there is room, which every other oracle does as well"}


def test_every_discipline_has_an_oracle() -> None:
    tried = {registry.find(spec.split()[0]).name for spec in CASES}
    missing = [one.name for one in registry.disciplines() if one.name not in tried and one.name not in WITHOUT]
    assert not missing, f"no case in CASES for {', '.join(missing)}"
    assert not tried & WITHOUT.keys(), "an exception that is none any longer"
