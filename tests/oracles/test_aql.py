"""Airtime queue limits of aqm-path beside an oracle written from the kernel's rules: who may have more."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import aql
import pytest
from workload import ROOT

SEEDS = range(12)

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="session")
def program() -> Path:
    cargo = os.environ.get("CARGO", "cargo")
    what = ["--package", "aqm-path", "--example", "airtime_limits"]
    subprocess.run([cargo, "build", "--quiet", *what], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "examples" / "airtime_limits"


def questions(seed: int, program: Path, kinds: Counter[str]) -> str | None:
    """Play a workload, and return the first question that is answered in another way."""
    work = aql.workload(seed)
    done = subprocess.run([str(program)], input=work.text(), capture_output=True, text=True, check=True)
    device = aql.Device(*work.limits, work.modes)
    for number, line in enumerate(done.stdout.splitlines()):
        what, category, *rest = line.split()
        kinds[what] += 1
        if what == "take":
            device.take(int(category), *map(int, rest))
        elif what == "sent":
            device.sent(int(category), *map(int, rest))
        else:
            bits = "".join(str(int(device.may(int(category), station))) for station in range(len(work.modes)))
            kinds["refused"] += bits.count("0")
            if bits != rest[0]:
                return f"seed {seed}, line {number}: '{line}', the oracle {bits}"
    assert not any(device.pending.values()), f"seed {seed}: all have been sent"
    return None


def test_the_limits_are_the_oracles_at_every_question(program: Path) -> None:
    kinds: Counter[str] = Counter()
    for seed in SEEDS:
        assert questions(seed, program, kinds) is None
    assert min(kinds[what] for what in ("ask", "take", "sent", "refused")) > 1000


@pytest.mark.parametrize(
    ("name", "value"),
    [("EXTRA", 14), ("AVERAGE", 1500), ("VOICE", 9), ("may", None)],
)
def test_another_rule_is_noticed(name: str, value: int | None, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if value is None:
        monkeypatch.setattr(aql.Device, "may", lambda self, category, station: not self.pending[category, station])
    else:
        monkeypatch.setattr(aql, name, value)
    assert any(questions(seed, program, Counter()) for seed in SEEDS)
