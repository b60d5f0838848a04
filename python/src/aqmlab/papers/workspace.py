"""The folder of a reproduction: recognised by its claims as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aqmlab import __version__, store
from aqmlab.files import disk, lock, system
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.json_text import json_text

CLAIMS = "claims.json"
FORMAT_VERSION = 1


def check(folder: Path, wanted: Mapping[str, Iterable[str]]) -> None:
    """Make sure that a folder is writable, and new or holds only what is wanted: presets by paper.

    Raises:
        InputError: if it is not, saying why.

    """
    store.check_writable(folder)
    there = _held(folder)
    if there is None:
        store.check_new(folder)
        return
    for paper, presets in there.items():
        lost = sorted(set(presets) - set(wanted.get(paper, ())))
        if lost:
            raise InputError(
                f"{folder}: holds {paper} {', '.join(lost)} too, whose verdicts would be lost: ask for all that it "
                "holds, or name another folder"
            )


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder, which is made if necessary, and removed again if nothing was written into it.

    Claims and pages belong to one reproduction at a time.

    Raises:
        InputError: if it cannot be made.
        MachineError: if another process holds it.

    """
    is_new = not folder.exists()
    with system.writing(folder):
        disk.make(folder)
    try:
        with lock.held(folder):
            disk.sweep(folder)
            yield
    finally:
        if is_new:
            disk.discard_if_empty(folder)


def begin(folder: Path, paper: str, presets: Sequence[str]) -> None:
    """Record the papers and presets of the folder, so that an interrupted reproduction can continue in it."""
    there = _held(folder) or {}
    if set(presets) - set(there.get(paper, [])):
        _write(folder, {**there, paper: list(presets)}, _document(folder).get("claims", []))


def write(folder: Path, claims: list[dict[str, Any]]) -> None:
    """Write the claims with their verdicts, completely or not at all."""
    _write(folder, _held(folder) or {}, claims)


def _document(folder: Path) -> dict[str, Any]:
    try:
        document = json.loads((folder / CLAIMS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    ours = isinstance(document, dict) and document.get("command") == "reproduce"
    return document if ours and document.get("format_version") == FORMAT_VERSION else {}


def _held(folder: Path) -> dict[str, list[str]] | None:
    """Return the presets of each paper in a folder; ``None`` if it is not that of a reproduction."""
    papers = _document(folder).get("papers")
    return papers if isinstance(papers, dict) else None


def _write(folder: Path, papers: dict[str, list[str]], claims: list[dict[str, Any]]) -> None:
    head = {"format_version": FORMAT_VERSION, "command": "reproduce", "aqmlab": __version__}
    disk.put_all(folder, {CLAIMS: json_text({**head, "papers": papers, "claims": claims}).encode()})
