"""A web page for a link: ``python -m aqmlab.live.web_page`` serves it at the far end, Chromium loads it at the near."""

from __future__ import annotations

import random
import re
import shutil
import struct
import subprocess
import tempfile
import time
import zlib
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PORT = 5079
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# A page of the size that pages have: 1.2 MB in 30 files.
IMAGES, SIDE = 30, 200
CONTENT = f"{IMAGES} images of {SIDE * SIDE // 1000} kB each, by HTTP/1.1"
# Nothing but the page is asked for; it is ours, and cannot harm. What is printed is the page once it has loaded.
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    *("--no-proxy-server", "--dump-dom"),
)
MOST_S = 60.0
# When the page has loaded, in ms since it was asked for, and how many of its images are there.
LOADED = re.compile(r'data-loaded="([0-9.]+) ([0-9]+)"')
SCRIPT = """
addEventListener("load", () => {
    const [asked] = performance.getEntriesByType("navigation");
    const there = [...document.images].filter(image => image.naturalWidth > 0).length;
    document.documentElement.dataset.loaded = `${asked.loadEventStart} ${there}`;
});
"""


def browser() -> str:
    """Return the program that loads pages here; empty if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), "")


def load(program: str, host: str) -> float | None:
    """Load the page once, as somebody who was never there: return how many seconds it took, if all of it came."""
    with tempfile.TemporaryDirectory(prefix="aqmlab-page-", ignore_cleanup_errors=True) as profile:
        command = [program, *OPTIONS, f"--user-data-dir={profile}", f"http://{host}:{PORT}/"]
        try:
            ended = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=MOST_S
            )
        except subprocess.TimeoutExpired:
            return None
    found = LOADED.search(ended.stdout.decode(errors="replace"))
    return float(found[1]) / 1e3 if found and int(found[2]) == IMAGES else None


def load_until(end: float, program: str, host: str) -> list[float | None]:
    """Load it again and again; the first time now, and no other after ``end`` (of the monotonic clock)."""
    found = [load(program, host)]
    while time.monotonic() < end:
        found.append(load(program, host))
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave together, and the last segment does not wait for an acknowledgment.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        name = self.path.strip("/").removesuffix(".png")
        if not name:
            self._answer("text/html", _document())
        elif name.isdecimal() and int(name) < IMAGES:
            self._answer("image/png", _image(int(name)))
        else:
            self.send_error(404)

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _document() -> bytes:
    images = "".join(f'<img src="{number}.png" width="{SIDE}" height="{SIDE}">\n' for number in range(IMAGES))
    # A page without an icon of its own is asked for one.
    head = f'<meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,"><script>{SCRIPT}</script>'
    return f"<!doctype html><html><head>{head}</head><body>\n{images}</body></html>\n".encode()


@cache
def _image(number: int) -> bytes:
    """Return a PNG (RFC 2083) of noise, which nothing compresses."""
    noise = random.Random(number)
    rows = b"".join(b"\0" + noise.randbytes(SIDE) for _ in range(SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def main() -> None:
    """Serve the page without end."""
    ThreadingHTTPServer(("", PORT), _Handler).serve_forever()


if __name__ == "__main__":
    main()
