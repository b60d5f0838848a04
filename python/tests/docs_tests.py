"""Documents: what is public has one, every block of code runs, and what a page shows is what happens.

On each page the blocks are run from top to bottom, in a folder of its own: `console` and `sh` by the shell (our own
commands in this process, with a report only where the page shows one), `python`, `pycon` and `sql` as what they are,
`toml` by the command that reads it; `rust` is a file that `cargo test` compiles, `c` a part of one; `text` is no code.
A comment before a block makes an exception, and says why:

    <!-- run with --seeds 1: ten take minutes -->   our commands get these options
    <!-- not run: it needs two machines -->         our commands only check their options, and end before the first run

Notebooks are run when the site is built (site_tests.py).
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT, Command
from documents import FENCE, NOT_RUN, PAGES, SMALL, Reader, blocks

import aqmlab

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


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT)))
def every_block_of_a_page_runs(page: Path, aqmlab: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reader = Reader(tmp_path, aqmlab, monkeypatch)
    for block in blocks(page):
        reader.follow(block)


def few_blocks_are_not_run_as_they_stand() -> None:
    every = [block for page in PAGES for block in blocks(page)]
    exceptions = [block for block in every if block.note.startswith((SMALL, NOT_RUN))]
    for block in exceptions:
        print(f"{block.page.relative_to(ROOT)}: {block.kind}, {block.note}")
    kinds = Counter(block.kind for block in every)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    counts = Counter("small" if block.note.startswith(SMALL) else "not run" for block in exceptions)
    assert counts["small"] <= 8, "one more: is its reason good?"
    assert counts["not run"] <= 24, "one more: is its reason good?"
    reasons = [block.note.removeprefix(NOT_RUN).strip(" :") for block in exceptions if block.note.startswith(NOT_RUN)]
    assert all(len(reason.split()) > 1 for reason in reasons), reasons


def links_between_pages_lead_to_files() -> None:
    # Anchors, and addresses elsewhere, are tested on the site.
    dead = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", FENCE.sub("", page.read_text(encoding="utf-8")))
        if "://" not in link and not link.startswith("mailto:") and not (page.parent / link).exists()
    ]
    assert not dead, dead


def targets_of_make_in_the_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
    renamed = {
        target
        for page in PAGES
        for target in re.findall(r"`make ([a-z0-9-]+)`|^\$ make ([a-z0-9-]+)", page.read_text(), re.M)
    }
    assert {one or other for one, other in renamed} <= targets | {"help"}
