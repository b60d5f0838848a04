"""Pages in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal

import pytest

from aqmlab.live import web_page as live_page

CHROMIUM = live_page.browser()
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="no Chromium here: .ci/run installs it")

# By how much the page is wider than the window, whether its figures have an area, and its rows.
LOOKED_AT = """({
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    figures: [...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().height > 100),
    rows: document.querySelectorAll('tbody tr').length,
})"""


def shown(page: Path, width: int) -> dict[str, Any]:
    """Open a page in a window of this width; return what is seen of it."""
    with opened(page, width) as tab:
        seen: dict[str, Any] = {"title": tab.title(), **tab.evaluate(LOOKED_AT)}
        return seen


@contextmanager
def launched(*options: str) -> Iterator[Any]:
    """Start a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", *options])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    page: Path,
    width: int = 1280,
    link: str = "",
    scheme: Literal["light", "dark"] = "light",
    within: Path | None = None,
    browser: Any = None,
    has_scripts: bool = True,
) -> Iterator[Any]:
    """Open a page from the disk (with ``#link``) and yield its tab, a `playwright.sync_api.Page`.

    In the end there may be no errors, nothing in the console, and no request but for the page itself, or for files
    ``within`` a folder. The ``browser`` may be one that is `launched` for several tests.
    """
    home = (within or page).resolve().as_uri()
    events: list[str] = []
    # A page within a folder may look into its other pages.
    more = ["--allow-file-access-from-files"] if within else []
    with nullcontext(browser) if browser else launched(*more) as chosen:
        size = {"width": width, "height": 900}
        tab = chosen.new_page(viewport=size, color_scheme=scheme, java_script_enabled=has_scripts)
        tab.on("console", lambda message: events.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: events.append(f"error: {error}"))
        tab.on("request", lambda request: events.append(f"request: {request.url}"))
        try:
            tab.goto(f"{page.resolve().as_uri()}{link}")
            yield tab
        finally:
            tab.close()
    left = [one for one in events if not one.startswith((f"request: {home}", "request: blob:", "request: data:"))]
    assert not left, left
