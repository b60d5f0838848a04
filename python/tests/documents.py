"""The blocks of code in the documents, and how each kind of them is run."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import pytest
import typer
from conftest import ROOT, Command

from aqmlab.engine.linux.kernel_image import Place

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "experiments/*/README.md", "p4/*.md", "data/**/*.md", "python/src/**/*.md")
    for path in ROOT.glob(pattern)
)
FENCE = re.compile(r"^(?: *<!-- (?P<note>[^\n]+) -->\n\s*)?^ *```(?P<kind>\S*)\n(?P<text>.*?)^ *```$", re.M | re.S)
# The comment before a block that is not run as it stands: in a small form, or not at all.
SMALL, NOT_RUN = "run with ", "not run: "
# The examples that pages show parts of, where `cargo test` compiles and runs them.
IN_C = ROOT / "crates/aqm-capi/examples"
# The discipline that docs/dev/aqm.md shows, where `cargo test` compiles and runs it.
EXAMPLE = ROOT / "crates/aqm-core/tests/example/coin.rs"
BENCHES = [ROOT / "crates/aqm-testbed/tests" / name for name in ("aimd.rs", "first.rs", "several.rs")]
# The part of a topology's file that a page shows is tried in this one.
TOPOLOGY = ROOT / "experiments/switches/graphs/victim-lossy.toml"
# The commands that draw a report unless an option prevents it.
REPORTING = ("compare", "sweep", "run")
# What commands refer to, relative to the top of a checkout.
LINKED = ("data", "docs", "experiments")
COPIED = ("crates/aqm-core/src", "crates/aqm-core/tests/sources", "tests/oracles")


@dataclass(frozen=True)
class Block:
    """A block of code: its kind, its text, and the comment before it."""

    page: Path
    kind: str
    text: str
    note: str

    def commands(self) -> Iterator[tuple[str, str]]:
        """Yield each command of a shell, with what the page shows that it prints (maybe nothing)."""
        text = self.text if self.kind == "console" else re.sub(r"^(?=\S)", "$ ", self.text, flags=re.M)
        for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            yield re.sub(r"(^|\s)#.*", "", command).strip(), printed


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    found = [Block(page, one["kind"], textwrap.dedent(one["text"]), one["note"] or "") for one in FENCE.finditer(text)]
    assert text.count("```") == 2 * len(found), f"{page}: a block that is not read"
    return found


class Reader:
    """Somebody who follows a page from top to bottom, in a folder like the top of a checkout."""

    def __init__(self, folder: Path, aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._aqmlab, self._monkeypatch = folder, aqmlab, monkeypatch
        self._names: dict[str, object] = {"__name__": "__main__"}
        # The recipe's oracle imports what is beside it.
        monkeypatch.syspath_prepend(ROOT / "tests/oracles")
        monkeypatch.syspath_prepend(ROOT / "docs/examples")
        for name in LINKED:
            (folder / name).symlink_to(ROOT / name)

    def follow(self, block: Block) -> None:
        """Run a block; an error, or other output than the page shows, ends the test."""
        run = getattr(self, f"_{block.kind}", None)
        assert run, f"a block of '{block.kind}': say what it is, so that it is run"
        run(block)

    def _console(self, block: Block) -> None:
        more = shlex.split(block.note.removeprefix(SMALL).split(":")[0]) if block.note.startswith(SMALL) else []
        for command, printed in block.commands():
            words = shlex.split(command)
            if words[0] not in ("aqmlab", ".venv/bin/aqmlab"):
                if not block.note.startswith(NOT_RUN):
                    subprocess.run(["sh", "-e", "-c", command], cwd=self._folder, check=True, timeout=60)
                continue
            if words[1:3] == ["new", "aqm"] and "--python" not in words:
                for name in COPIED:
                    copytree(ROOT / name, self._folder / name, dirs_exist_ok=True)
            # A report is drawn where the page shows that one is there: reports and figures have tests of their own.
            brief = ["--no-report"] if words[1] in REPORTING and "report.html" not in printed else []
            with self._up_to_the_first_run() if block.note.startswith(NOT_RUN) else nullcontext():
                ended = self._aqmlab(*words[1:], *more, *brief)
            assert ended.status == 0, f"{command}\n{ended.err}"
            if printed:
                assert agrees(printed, ended.out), f"{command}\n{ended.out}"

    _sh = _console

    @contextmanager
    def _up_to_the_first_run(self) -> Iterator[None]:
        """Let every command check its options, and end before its first run."""

        def stop(*_: object, **__: object) -> None:
            raise typer.Exit

        with self._monkeypatch.context() as patch:
            patch.setattr("aqmlab.cli.show.watching", stop)
            patch.setattr("aqmlab.live.carrying.carry", stop)
            patch.setattr("aqmlab.live.comparing.carry", stop)
            # Neither is a kernel compiled, nor does it matter whether this machine has one.
            patch.setattr("aqmlab.engine.linux.build.build", stop)
            patch.setattr("aqmlab.engine.linux.kernel_image.found", lambda: Place(self._folder, "0", "0"))
            yield

    def _python(self, block: Block) -> None:
        exec(compile(block.text, block.page.name, "exec"), self._names)

    def _pycon(self, block: Block) -> None:
        exec("from aqmlab import *", self._names)
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        example = doctest.DocTestParser().get_doctest(block.text, self._names, block.page.name, None, None)
        failed, _ = doctest.DocTestRunner(optionflags=flags).run(example, clear_globs=False)
        assert failed == 0

    def _sql(self, block: Block) -> None:
        import duckdb

        assert duckdb.sql(block.text).fetchall(), block.text

    def _toml(self, block: Block) -> None:
        """An experiment's file, or the part of a topology's: what reads it runs it."""
        path = self._folder / "block.toml"
        words = ["run", path]
        text = block.text
        if text.startswith("[switch]"):
            text = TOPOLOGY.read_text().split("[switch]")[0] + text
            words = ["compare", "--rate", "100mbit", "--rtt", "60us", "--aqm", "fifo", "--topology", path]
            words += ["--duration", "10ms"]
        path.write_text(text)
        ended = self._aqmlab(*words, "--seeds", "1", "--no-report")
        assert ended.status == 0, ended.err

    def _rust(self, block: Block) -> None:
        benches = [_lines(path.read_text()) for path in BENCHES]
        assert block.text == EXAMPLE.read_text() or any(_lines(block.text) in one for one in benches), block.text

    def _c(self, block: Block) -> None:
        examples = [_lines(path.read_text()) for path in IN_C.glob("*.c")]
        assert any(_lines(block.text) in example for example in examples), block.text

    def _text(self, block: Block) -> None:
        """Not code."""


def _lines(code: str) -> str:
    """Code without its indentation."""
    return "".join(f"{line.strip()}\n" for line in code.splitlines())


def agrees(shown: str, printed: str) -> bool:
    """Whether a command printed what the page shows; ``...`` stands for anything, spaces are as one."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown, printed, flags)
