"""The files of a new discipline; that they compile and pass is `make recipe`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Command

import aqmlab
from aqmlab import InputError, new
from aqmlab.scenario.registry import Spec

FILES = [
    "crates/aqm-core/src/discipline/mod.rs",
    "crates/aqm-core/src/registry.rs",
    "crates/aqm-core/tests/sources/presets.csv",
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files of a checkout that matter."""
    shutil.copytree(ROOT / "crates/aqm-core/src", tmp_path / "crates/aqm-core/src")
    for folder in ("crates/aqm-core/tests/sources", "tests/oracles"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


@pytest.mark.parametrize("name", ["aaa", "fair_coin", "zzz"])
def every_list_has_the_new_name_in_its_order(name: str, checkout: Path) -> None:
    made = new.aqm(name, checkout / "crates")
    assert [path.relative_to(checkout).as_posix() for path in made[2:]] == FILES
    mods, registry, presets = (path.read_text() for path in made[2:])
    assert presets.endswith(f"\n{name},*,threshold,20,ours,\n")
    declared = re.findall(r"mod (\w+);", mods)
    assert declared == sorted(declared)
    assert name in declared
    listed = re.search(r"use crate::discipline::\{(.*?)\};", registry, re.DOTALL)
    assert listed
    modules = [word.strip() for word in listed[1].split(",") if word.strip() and word.strip()[0].islower()]
    assert modules == sorted(modules)
    assert name in modules
    assert max(map(len, registry.splitlines())) <= 120
    entries = re.findall(r"&(\w+)::INFO,\n", registry)
    # The last of the laws on the queue's length, before those on delay.
    assert entries[entries.index(name) - 1 : entries.index(name) + 2] == ["ecn_ramp", name, "codel"]
    rust, oracle = (path.read_text() for path in made[:2])
    assert "@" not in rust + oracle
    assert f'name: "{name}"' in rust
    compile(oracle, "oracle", "exec")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("codel", "'codel' is a discipline already"),
        ("s_pie", "'s_pie' is a discipline already"),
        ("single", "is there already"),
        ("workload", "is there already"),
        ("Coin", "is not a name"),
        ("9coin", "is not a name"),
        ("my-coin", "is not a name"),
        ("co__in", "is not a name"),
        ("../coin", "is not a name"),
        ("c" * 41, "is not a name"),
        ("match", "is a word of Rust or Python"),
        ("lambda", "is a word of Rust or Python"),
        ("packet", "'packet': its type Packet is something else already"),
        # The oracle is a module, too.
        ("json", "'json' is a module, which a file json.py would hide: choose another name, as json_aqm"),
    ],
)
def a_name_that_cannot_be_used_is_one_line_and_changes_nothing(
    name: str, says: str, checkout: Path, aqmlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    before = {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()}
    ended = aqmlab("new", "aqm", name)
    assert (ended.status, says in ended.line) == (2, True), ended.err
    assert {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["json", "random", "sys", "winreg", "numpy", "aqmlab", "polars"])
def a_file_that_would_hide_a_module_is_not_made(name: str, aqmlab: Command, tmp_path: Path) -> None:
    ended = aqmlab("new", "aqm", name, "--python")
    assert ended.status == 2
    assert ended.line.endswith(
        f"'{name}' is a module, which a file {name}.py would hide: choose another name, as {name}_aqm"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["none", "true", "false"])
def a_class_that_python_cannot_have_is_not_made(name: str, aqmlab: Command, tmp_path: Path) -> None:
    ended = aqmlab("new", "aqm", name, "--python")
    assert (ended.status, f"its type {name.capitalize()} is something else already" in ended.line) == (2, True)
    assert list(tmp_path.iterdir()) == []


def outside_of_a_checkout_python_is_named() -> None:
    with pytest.raises(InputError, match=r"is in no checkout of aqmlab.*--python"):
        new.aqm("coin", Path("/"))


def a_list_that_is_not_as_expected_changes_nothing(checkout: Path) -> None:
    (checkout / FILES[1]).write_text("// nothing\n")
    with pytest.raises(InputError, match="is not as expected"):
        new.aqm("coin", checkout)
    assert not (checkout / "crates/aqm-core/src/discipline/coin.rs").exists()


def one_in_python_runs_and_passes_the_conformance_tests(aqmlab: Command, tmp_path: Path) -> None:
    ended = aqmlab("new", "aqm", "fair_coin", "--python")
    place = f"python:{tmp_path}/fair_coin.py:FairCoin"
    assert "aqm check python:fair_coin.py:FairCoin" in ended.out
    assert aqmlab("aqm", "check", place).status == 0
    found = _compared(place)
    assert found.runs["queue_max_packets"].max() <= 52
    assert aqmlab("new", "aqm", "fair_coin", "--python").status == 2
    assert Spec.parse(f"{place} threshold 5").params["threshold"] == "5"


def _compared(place: str) -> aqmlab.Result:
    return aqmlab.compare(aqm=place, rate="10mbit", rtt="40ms", flows="4*cubic", duration="4s", seeds=1, buffer="200p")
