from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT, Command

import aqmlab

PAGES = [
    *ROOT.glob("*.md"),
    *(path for path in sorted(ROOT.glob("docs/**/*.md")) if path.parent.name != "disciplines"),
    *sorted(ROOT.glob("experiments/*/README.md")),
]
# Languages of blocks. Those of `docs/python.md` are the docstrings, which are run above; the recipe of CONTRIBUTING.md
# (contributing_tests.py) and the queries of `docs/data.md` have tests of their own; "text" is no code.
LANGUAGES = {"console", "python", "toml", "pycon", "rust", "sh", "sql", "text"}
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


def _blocks(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page: language and text."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.M | re.S)


def _commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what it prints (nothing, where the page does not show it)."""
    for said in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.M)[1:]:
        command, _, printed = said.partition("\n")
        yield re.sub(r"(^|\s)#.*", "", command).strip(), printed


def _is_ours(command: str) -> bool:
    return command.startswith(("aqmlab ", ".venv/bin/aqmlab "))


def _told() -> list[str]:
    """The commands whose output no page shows, in a form that takes seconds."""
    told = (
        command
        for page in PAGES
        for language, block in _blocks(page)
        if language == "console"
        for command, printed in _commands(block)
        if _is_ours(command) and not printed
    )
    return list(dict.fromkeys(shlex.join(_shortened(shlex.split(command)[1:])) for command in told))


def _shortened(words: list[str]) -> list[str]:
    if "--help" in words:
        return words
    if any(word == "..." or re.search(r"\b(FILE|DIR|HOST|PAPER)\b", word) for word in words):
        # A form to fill in, not a command: its options are checked.
        return [*(word for word in words if word != "..."), "--help"]
    if words[0] == "reproduce":
        # Every paper takes minutes: one stands for all, and of what takes longer only the options are checked.
        if {"--beyond", "--search", "--preset"} & set(words):
            return [*words, "--help"]
        return ["reproduce", "large-network", "--quick", "--seeds", "1", "--quiet"]
    if words[0] in ("advise", "suite"):
        return [*words, "--help"]
    if words[0] in ("compare", "sweep", "run", "tune"):
        words = [*words, "--seeds", "1", "--quiet"]
    if words[0] == "compare":
        words += ["--duration", "3s"]
    return [*words, *LITTLE] if words[0] == "tune" else words


@pytest.mark.timeout(300)
@pytest.mark.parametrize("command", _told())
def commands_in_the_documents_work(aqmlab: Command, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(command)
    if words[0] in ("compare", "sweep", "run", "reproduce", "tune") and "--help" not in words:
        words = [*words, "--out", str(Path.cwd() / "out")]
    # What makes files here makes them in an empty folder.
    if words[0] != "new":
        monkeypatch.chdir(ROOT)
    ended = aqmlab(*words)
    assert ended.status == 0, ended.err


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def what_a_page_shows_is_what_happens(aqmlab: Command, page: Path) -> None:
    names: dict[str, object] = {}
    for language, block in _blocks(page) if page.name != "data.md" else ():
        assert language in LANGUAGES, f"a block of '{language}': say what it is, so that it is run"
        if language == "python":
            exec(compile(block, page.name, "exec"), names)
        elif language == "toml":
            tomllib.loads(block)
        elif language == "console":
            for command, printed in _commands(block):
                if _is_ours(command) and printed:
                    ended = aqmlab(*shlex.split(command)[1:])
                    assert ended.status == 0, ended.err
                    assert _agrees(printed, ended.out), ended.out


def _agrees(shown: str, printed: str) -> bool:
    """Whether a command printed what the page shows; ``...`` stands for anything, spaces are as one."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown, printed, flags)


def targets_of_make_in_the_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
    told = {
        target
        for page in PAGES
        for target in re.findall(r"`make ([a-z0-9-]+)`|^\$ make ([a-z0-9-]+)", page.read_text(), re.M)
    }
    assert {one or other for one, other in told} <= targets | {"help"}
