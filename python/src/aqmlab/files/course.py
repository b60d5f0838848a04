"""The lessons and the playground that come with aqmlab, as files that a class may change."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from aqmlab.files import disk

PLAYGROUND = "playground.html"
# Where a checkout has the playground, as its lessons name it.
_BUILT = "../../.build/playground/index.html"


def write(folder: Path) -> Path | None:
    """Write lessons and playground into a new folder; return the playground's page, if there is one.

    Raises:
        InputError: if the folder holds files already, or cannot be written.

    """
    disk.check_new(folder)
    lessons = _package() / "course"
    files = {
        one.name: one.read_text(encoding="utf-8").replace(_BUILT, PLAYGROUND).encode()
        for one in sorted(lessons.iterdir())
        if one.is_file()
    }
    page = playground()
    if page is not None:
        files[PLAYGROUND] = page.read_bytes()
    disk.put_all(folder, files)
    return folder / PLAYGROUND if page else None


def playground() -> Path | None:
    """Return the playground: of the wheel, or as a checkout has built it; nothing if it has not."""
    places = (_package() / PLAYGROUND, (_package() / "course").resolve() / _BUILT)
    return next((place for place in places if place.is_file()), None)


def _package() -> Path:
    return Path(str(resources.files("aqmlab")))
