"""The disciplines of aqm-core compared with oracles written from the RFCs' and papers' pseudocode.

They must take the same decisions, packet by packet, on random workloads, with the same random numbers.
"""

from __future__ import annotations

import importlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import spie
import workload
from workload import Oracle

from aqmlab.scenario import registry

HERE = Path(__file__).parent


def oracles() -> Iterator[dict[str, Callable[[], Oracle]]]:
    """The cases of every file of this folder that has some."""
    for path in sorted(HERE.glob("*.py")):
        if not path.name.startswith("test_") and re.search("^CASES: dict", path.read_text(), re.MULTILINE):
            yield importlib.import_module(path.stem).CASES


CASES: dict[str, Callable[[], Oracle]] = {spec: make for cases in oracles() for spec, make in cases.items()}
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


def test_the_flows_of_the_workloads_collide_in_narrow_sketches() -> None:
    for spec, narrow in spie.NARROW.items():
        exact = narrow()
        exact.counts = spie.Exact()
        decided = [workload.play(exact.trace(SEEDS[0]), oracle) for oracle in (narrow(), exact)]
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
        oracle = CASES[spec]()
        trace = oracle.trace(seed)
        expected = workload.play(trace, oracle)
        difference = first_difference(workload.rust(spec, trace, program), expected)
        assert difference is None, f"{spec}, seed {seed}: {difference}"
        kinds.update(kind(line) for line in expected)
    wanted = {"departed", "enqueued", *oracle.shows} | ({"marked"} if " ecn" in spec else set())
    for name in sorted(wanted):
        assert kinds[name] >= 20, f"{spec}: the workloads hardly show '{name}': {kinds}"


# Disciplines without an oracle, and why.
WITHOUT = {"fifo": "it decides nothing but whether there is room, which every other oracle does as well"}


def test_every_discipline_has_an_oracle() -> None:
    tried = {registry.find(spec.split()[0]).name for spec in CASES}
    missing = [
        one.name
        for one in (*registry.disciplines(), *registry.of_papers())
        if one.name not in tried and one.name not in WITHOUT
    ]
    assert not missing, f"no case in the CASES of a file here for {', '.join(missing)}"
    assert not tried & WITHOUT.keys(), "an exception that is none any longer"
