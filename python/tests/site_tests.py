"""The site: it builds without a warning, no link of it is dead, every page opens."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from browser import CHROMIUM, opened
from conftest import ROOT

from aqmlab.scenario.kinds import KINDS

pytest.importorskip("sphinx", reason="python/requirements-docs.lock is not installed: make pages")

PLAYGROUND = "playground/index.html"
KEYS = {"rate", "rtt", "buffer", "duration", "seed", "flow", "a", "b"}
WIDTHS = [1280, 390]
# Every page, one after the other in a frame of each width: whether it has an article, and by how much it is wider than
# the frame. This costs half of what a visit to each page costs.
LOOKED_AT = f"""async pages => {{
    const frame = document.createElement("iframe"), seen = {{}};
    document.body.append(frame);
    frame.style.height = "200px";
    frame.style.border = "none";
    for (const page of pages) {{
        frame.style.width = "{WIDTHS[0]}px";
        await new Promise(loaded => {{ frame.onload = loaded; frame.src = page; }});
        const found = frame.contentDocument, wider = [];
        for (const width of {WIDTHS}) {{
            frame.style.width = width + "px";
            wider.push(found.documentElement.scrollWidth - found.documentElement.clientWidth);
        }}
        seen[page] = [found.querySelector("article") !== null, ...wider];
    }}
    return seen;
}}"""


class Page(HTMLParser):
    """What a page refers to, and what in it can be referred to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.targets |= {given[name] or "" for name in ("id", "name") if name in given}
        self.links += [given[name] or "" for name in ("href", "src") if name in given and tag != "base"]


# One test: the site is built once, whichever worker gets it.
@pytest.mark.timeout(600)
def the_site_builds_without_a_warning_and_every_link_and_page_of_it_works(tmp_path: Path) -> None:
    site = tmp_path / "site"
    # Pages that are as they were when all was well are not read again; all are written.
    trees = ROOT / ".build/site-tests"
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/site", "-d", trees, ".", site],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if built.returncode:
        shutil.rmtree(trees, ignore_errors=True)
    assert built.returncode == 0, built.stderr
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if site / "playground" not in path.parents}
    dead = [f"{path.relative_to(site)}: {link}" for path in pages for link in _dead(path, pages, site)]
    assert not dead, "\n".join(dead)
    if not CHROMIUM:
        pytest.skip("the site is built and its links work, but no Chromium is here to open it: .ci/run installs it")
    _opens(pages, site)


def _dead(path: Path, pages: dict[Path, Page], site: Path) -> Iterator[str]:
    for link in pages[path].links:
        parts = urlsplit(link)
        if parts.scheme in ("http", "https"):
            if "." not in parts.netloc or " " in link:
                yield link
            continue
        if parts.scheme in ("data", "mailto"):
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target == site / PLAYGROUND:
            if not _is_a_setting(parts.fragment):
                yield link
        elif not target.exists() or (parts.fragment and target in pages and not _holds(pages[target], parts.fragment)):
            yield link


def _holds(page: Page, fragment: str) -> bool:
    return unquote(fragment) in page.targets


def _is_a_setting(fragment: str) -> bool:
    """Whether the playground understands a link's setting."""
    given = parse_qs(fragment, strict_parsing=True)
    kinds = [flow.split("*")[1].split(":")[0] for flow in given["flow"]]
    return given.keys() <= KEYS and all(kind in KINDS for kind in kinds)


def _opens(pages: dict[Path, Page], site: Path) -> None:
    with opened(site / "index.html", within=site) as tab:
        tab.wait_for_url("**/README.html")
        seen = tab.evaluate(LOOKED_AT, [path.as_uri() for path in pages if path != site / "index.html"])
        assert len(seen) == len(pages) - 1
        for page, (is_page, *wider) in seen.items():
            assert is_page, page
            assert max(wider) <= 0, f"{page} is wider than a window of {WIDTHS}"
        # The search needs no server.
        tab.goto(f"{(site / 'search.html').as_uri()}?q=sojourn")
        tab.wait_for_selector("#search-results li")
