"""The manual page: it is what --help says now, and a reader of man(7) takes it without a complaint."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from conftest import ROOT, script

PAGE = ROOT / "python/wheel/data/share/man/man1/aqmlab.1"


def the_manual_page_is_that_of_the_commands_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == script("man_page").page(), "run make docs"


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here: apt-get install groff")
def groff_reads_the_manual_page_without_warnings() -> None:
    ended = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", PAGE], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
