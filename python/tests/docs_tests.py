from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT, Command

import aqmlab

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "tuning.md"]
# A tuning in little: two scenarios, and hardly a setting.
LITTLE = ["--design", "latin*2", "--trials", "1", "--sensitivity", "2", "--training-seeds", "1", "--duration", "2s"]
MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(aqmlab.__path__, "aqmlab.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("module", [aqmlab, *MODULES], ids=lambda module: module.__name__)
def examples_in_docstrings_do_what_they_say(module: ModuleType) -> None:
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def everything_public_is_documented() -> None:
    for name in aqmlab.__all__:
        if name != "__version__":
            assert getattr(aqmlab, name).__doc__


def _blocks(language: str) -> list[str]:
    return [
        block for page in PAGES for block in re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)
    ]


def _commands() -> list[str]:
    text = "".join(_blocks("console")).replace("\\\n", " ")
    return [line.removeprefix("$ ").split("#")[0].strip() for line in text.splitlines() if ".venv/bin/aqmlab" in line]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("command", _commands())
def commands_in_the_documents_work(aqmlab: Command, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every paper takes minutes: one stands for all.
    words = ["large-network" if word == "all" else word for word in shlex.split(command)[1:]]
    runs = words[0] in ("compare", "sweep", "run", "reproduce", "tune") and "--help" not in words
    shorter = ["--seeds", "1", "--quiet"] if runs else []
    shorter += ["--quick"] if words[0] == "reproduce" and "--quick" not in words else []
    shorter += ["--duration", "3s"] if words[0] == "compare" and runs else []
    shorter += LITTLE if words[0] == "tune" else []
    out = Path.cwd() / "out"
    monkeypatch.chdir(ROOT)
    ended = aqmlab(*words, *shorter, *(["--out", out] if runs else []))
    assert ended.status == 0, ended.err


@pytest.mark.parametrize("code", _blocks("python"))
def python_in_the_documents_works(code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
