"""Figures and report of a result folder: made last, from stored runs; their failure costs no result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab import store
from aqmlab.files import disk

if TYPE_CHECKING:
    from aqmlab.results import Result

REPORT = "report.html"
FIGURES = "figures"


def save(result: Result, folder: Path, *, with_report: bool = True) -> Path:
    """Write a result into a new folder, with its figures and its report by default.

    Raises:
        InputError: if the folder is not empty, or cannot be written.

    """
    store.check_new(folder)
    with store.opened(folder) as place:
        written = replace(result, manifest=place.commit(result.manifest, result.frames), folder=folder)
        if with_report:
            publish(written, place)
    return folder


def publish(result: Result, folder: store.Folder) -> Result:
    """Draw the figures and write the report; a figure that fails becomes a warning of the result.

    Earlier figures are removed; other files beside them stay.
    """
    from aqmlab import plots, report

    drawn, problems = plots.drawable(result)
    contents = {f"{FIGURES}/{name}": content for name, content in plots.contents(drawn).items()}
    head = result.manifest
    pages = {"of": head["frames"], "files": [*contents, REPORT], "warnings": problems}
    failures = head["failures"]
    result = result.with_manifest(store.concluded({**head, "pages": pages}, result.frames, failures))
    contents[REPORT] = report.render(result, drawn).encode()
    for name, content in contents.items():
        path = folder.path / name
        path.parent.mkdir(exist_ok=True)
        disk.write(path, content, durable=False)
    for name in set(head["pages"]["files"]) - set(contents):
        disk.remove(_inside(folder.path, name))
    folder.update(result.manifest)
    return result


def is_published(result: Result) -> bool:
    """Whether figures and report show all runs of the folder."""
    pages = result.manifest["pages"]
    if result.folder is None or pages["of"] != result.manifest["frames"] or REPORT not in pages["files"]:
        return False
    return all((result.folder / name).exists() for name in pages["files"])


def _inside(folder: Path, name: str) -> Path:
    """Return a file of the folder, even if the manifest was edited."""
    return folder / FIGURES / Path(name).name if name != REPORT else folder / REPORT
