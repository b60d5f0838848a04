"""The recipe of docs/dev/aqm.md, followed literally in a copy of the repository: a discipline that runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from conftest import ROOT
from documents import blocks

# Two builds, of the core's tests and of the extension.
pytestmark = pytest.mark.timeout(1800)


def _blocks(kind: str) -> list[str]:
    return [block.text for block in blocks(ROOT / "docs/dev/aqm.md") if block.kind == kind]


def _copy(folder: Path) -> None:
    """Copy the files of the working tree that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source = ROOT / name
        if source.is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def _environment(folder: Path) -> None:
    """Make a .venv with the packages installed here, so that `make setup` has nothing to fetch."""
    venv = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    site = next((venv / "lib").glob("python*")) / "site-packages"
    (site / "installed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    # maturin as a module searches the command of this name beside Python: it would find itself, for ever.
    maturin = f"{sysconfig.get_path('scripts')}/maturin"
    modules = {name: f"{venv}/bin/python -m {name}" for name in ("pip", "pytest", "aqmlab")}
    for name, command in {**modules, "maturin": maturin}.items():
        script = venv / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        script.chmod(0o755)
    (venv / "packages").touch()


@pytest.mark.skipif("AQMLAB_RECIPE" not in os.environ, reason="builds everything once more: make recipe")
def the_recipe_ends_with_a_discipline_that_runs(tmp_path: Path) -> None:
    _copy(tmp_path)
    _environment(tmp_path)
    (rust,) = _blocks("rust")
    (python,) = _blocks("python")
    (row,) = _blocks("text")
    first, then = _blocks("console")
    # What is built here must work; it need not be fast.
    quick = {"CARGO_PROFILE_RELEASE_LTO": "off", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16"}
    environment = {**os.environ, **quick, "CARGO_TARGET_DIR": str(ROOT / "target"), "COLUMNS": "120"}

    def follow(commands: str) -> str:
        for line in (line.removeprefix("$ ") for line in commands.splitlines() if line.startswith("$ ")):
            ended = subprocess.run(
                line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert ended.returncode == 0, f"{line}\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
        return ended.stdout

    assert "made" in follow(first)
    made = tmp_path / "crates/aqm-core/src/discipline/coin.rs", tmp_path / "tests/oracles/coin.py"
    assert all(path.exists() for path in made)
    # As they are, they pass everything: the steps work before the law is written, and after.
    assert "goodput" in follow(then)
    for path, text in zip(made, (rust, python), strict=True):
        path.write_text(text)
    presets = tmp_path / "crates/aqm-core/tests/sources/presets.csv"
    kept = [line for line in presets.read_text().splitlines() if not line.startswith("coin,")]
    presets.write_text("\n".join([*kept, row.strip()]) + "\n")
    shown = follow(then)
    assert "coin" in shown
    assert "goodput" in shown
    assert list((tmp_path / "crates/aqm-core/tests/snapshots").glob("coin__*.snap"))
