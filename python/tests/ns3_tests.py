"""What beside ns-3 can be tested without it: its logs are replayed by the live link's own reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT


def a_log_without_calls_is_replayed_by_what_replays_those_of_live_links(tmp_path: Path) -> None:
    log = tmp_path / "empty.log"
    log.touch()
    words = [sys.executable, ROOT / "ns3/replay.py", log, "--rate", "10mbit", "--discipline"]
    ended = subprocess.run([*words, "pie ecn"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "0 calls were made again, with the same decisions\n"), ended.stderr
    wrong = subprocess.run([*words, "piee"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "did you mean 'pie'" in wrong.stderr
