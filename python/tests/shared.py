"""Recordings and cases that tests read and that do not come with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from aqmlab.files import shipped

CAPTURES = shipped.shared() / "captures"
CASES = shipped.shared().parent / "cases"


def needed(path: Path) -> Path:
    """Return a path that is there; skip the test where it is not."""
    if not path.exists():
        pytest.skip(f"{path} is not there and does not come with the project: AQMLAB_SHARED names its folder")
    return path
