"""Folders for temporary files."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from aqmlab.files import lock, temporary


def folders_of_the_dead_are_removed_and_those_of_the_living_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, without, result, elsewhere = (
        tmp_path / one for one in ("ours-left", "ours-without", "ours-result", "elsewhere")
    )
    for one in (left, without, result, elsewhere):
        one.mkdir()
    for one in (left, elsewhere):
        (one / temporary.LOCK).touch()
    # A command that was killed has left its lock in a result, whose runs are kept.
    (result / lock.NAME).touch()
    (tmp_path / "ours-link").symlink_to(elsewhere)
    with temporary.folder("ours-") as first, temporary.folder("ours-") as second:
        names = {path.name for path in tmp_path.iterdir()}
        # What has no lock may be anybody's.
        assert names == {first.name, second.name, "ours-without", "ours-result", "ours-link", "elsewhere"}
        assert first.name.startswith("ours-")
    assert {path.name for path in tmp_path.iterdir()} == {"ours-without", "ours-result", "ours-link", "elsewhere"}


def folders_that_never_got_their_name_are_removed_when_nobody_can_be_at_it_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed, locked, begun = (tmp_path / f"{temporary.NEW}{name}" for name in ("killed", "locked", "begun"))
    for one in (killed, locked, begun):
        one.mkdir()
    (locked / temporary.LOCK).touch()
    for one in (killed, locked):
        long_ago = time.time() - 2 * temporary.MOST_NEW_S
        os.utime(one, (long_ago, long_ago))
    with temporary.folder("ours-") as made:
        assert {path.name for path in tmp_path.iterdir()} == {made.name, begun.name}
