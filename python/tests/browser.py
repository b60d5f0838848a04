"""Pages in a real browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: .ci/run installs it")

# The page itself reports by how much it is wider than the window, and whether its figures have an area.
PROBE = (
    "<script>addEventListener('load', () => { document.title = JSON.stringify({"
    "wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,"
    "figures: [...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().height > 100),"
    "rows: document.querySelectorAll('tbody tr').length}) })</script></body>"
)


def shown(page: Path, width: int) -> dict[str, Any]:
    """Open a page in a window of this width; return its own report. There may be no errors in the console."""
    probed = page.with_name(f"probe-{width}-{page.name}")
    probed.write_text(page.read_text().replace("</body>", PROBE))
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900",
        "--virtual-time-budget=3000", "--enable-logging=stderr", "--dump-dom", probed.as_uri(),
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert "CONSOLE" not in ended.stderr
    title = re.search("<title>(.*?)</title>", ended.stdout)
    assert title is not None
    said: dict[str, Any] = json.loads(html.unescape(title.group(1)))
    return said
