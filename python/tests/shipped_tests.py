"""Files that come with aqmlab: found by name, and sufficient without the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT, Command

import aqmlab as package
from aqmlab import InputError
from aqmlab.files import course, shipped

MATURIN = Path(sys.executable).with_name("maturin")


def experiments_are_found_by_name_or_by_file(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    assert shipped.find(own) == own
    assert shipped.find("laws/ledbat").read_text() == (ROOT / "experiments" / "laws" / "ledbat.toml").read_text()
    assert not any("claims" in name or "s-pie" in name for name in shipped.names())
    with pytest.raises(InputError, match="unknown experiment 'first'"):
        shipped.find("first")


def an_experiment_runs_by_its_name(aqmlab: Command) -> None:
    ended = aqmlab("run", "first-comparison", "--seeds", "1", "--quiet", "--out", "out")
    assert ended.status == 0
    assert (Path("out") / "runs.parquet").is_file()
    assert "did you mean 'first-comparison'?" in aqmlab("run", "first-comparision").line


def the_package_has_the_experiments_and_data_of_the_checkout() -> None:
    for name, place in (("experiments", "experiments"), ("data", "data"), ("course", "docs/lessons")):
        assert (Path(str(shipped.experiments())).parent / name).resolve() == ROOT / place


def the_wheel_takes_every_file_of_them() -> None:
    patterns = [
        one["path"] for one in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]["include"]
    ]
    taken = {path.resolve() for pattern in patterns for path in ROOT.glob(pattern)}
    wanted = {
        path for name in ("experiments", "data", "docs/lessons") for path in (ROOT / name).rglob("*") if path.is_file()
    }
    assert wanted <= taken


def lessons_and_playground_are_put_into_a_folder_of_ones_own(
    aqmlab: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "built.html").write_text("<!doctype html>")
    monkeypatch.setattr(course, "playground", lambda: tmp_path / "built.html")
    ended = aqmlab("teach", "--no-browser", "--out", "class")
    assert (ended.status, ended.out.splitlines()[-1]) == (0, "class/playground.html")
    assert len(list(Path("class").glob("*.ipynb"))) == 5
    for lesson in Path("class").glob("*.ipynb"):
        assert 'href=\\"playground.html#' in lesson.read_text(), lesson
    refused = aqmlab("teach", "--no-browser", "--out", "class")
    assert (refused.status, "holds files already" in refused.line) == (2, True)
    monkeypatch.setattr(course, "playground", lambda: None)
    assert "make playground" in aqmlab("teach", "--out", "other").out


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    subprocess.run([MATURIN, "sdist", "--out", folder], cwd=ROOT, check=True, capture_output=True)
    [packed] = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder / packed.name.removesuffix(".tar.gz")


def pip_can_prepare_the_source_distribution(source: Path, tmp_path: Path) -> None:
    # A part of the workspace is not in it: its lock file has more than it needs, which Cargo leaves out.
    ended = subprocess.run(
        [MATURIN, "pep517", "write-dist-info", "--metadata-directory", tmp_path],
        cwd=source,
        env={**os.environ, "CARGO_NET_OFFLINE": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "aqmlab=aqmlab.cli:main" in next(tmp_path.rglob("entry_points.txt")).read_text()


def the_source_distribution_has_what_builds_it_and_no_tests_and_corpora(source: Path) -> None:
    included = re.compile(r'(?:include_str!\(|include_bytes!\(|#\[path = )"([^"]+)"')
    named = {
        (file.parent / path).resolve()
        for file in source.glob("crates/*/src/**/*.rs")
        for path in included.findall(file.read_text())
        # An example that only tests compile.
        if "tests/example" not in path
    }
    assert named
    assert [path for path in named if not path.is_file()] == []
    assert sorted(path.name for path in (source / "data").rglob("*.cdf")) == sorted(
        path.name for path in (ROOT / "data").rglob("*.cdf")
    )
    conformance = Path("crates/aqm-core/tests/conformance")
    assert {path.name for path in (source / conformance).iterdir()} == {
        path.name for path in (ROOT / conformance).glob("*.rs")
    }
    assert {path.name for path in source.iterdir()} <= {path.name for path in ROOT.iterdir()} | {"PKG-INFO"}
    assert not (source / "fuzz").exists()
    assert list(source.rglob("*.snap")) == []


@pytest.mark.timeout(300)
def the_package_reproduces_a_paper_without_the_checkout(tmp_path: Path) -> None:
    # What a wheel installs, without building one, which `make wheel` does.
    package = tmp_path / "site" / "aqmlab"
    shutil.copytree(ROOT / "python" / "src" / "aqmlab", package, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import aqmlab; from aqmlab.cli import main; "
        "print(aqmlab.__file__); main()"
    )
    command = ["reproduce", "s-pie", "--quick", "--preset", "printed", "--seeds", "2", "--no-robustness"]
    command += ["--quiet", "--out", "out"]
    ended = subprocess.run(
        [sys.executable, "-c", program, str(package.parent), *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(str(package))
    assert (tmp_path / "out" / "index.html").is_file()


def what_is_cited_is_this_version() -> None:
    cited = dict(re.findall(r"^(\w+): (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE))
    assert cited["version"] == package.__version__
    assert cited["license"] == "Apache-2.0"
