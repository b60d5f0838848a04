"""Files that come with aqmlab: experiments, papers among them, and their recorded traffic.

In a checkout they are in two folders at its top; in a wheel they are part of the package. Recordings that may not be
passed on are elsewhere, if at all.
"""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from aqmlab.vocabulary.errors import unknown


def experiments() -> Path:
    """Return the folder of the experiments."""
    return Path(str(resources.files("aqmlab") / "experiments"))


def shared() -> Path:
    """Return the folder of recordings that do not come with aqmlab.

    ``data`` in the folder named by the environment variable ``AQMLAB_SHARED``, or in ``shared`` beside the checkout.
    """
    return Path(os.environ.get("AQMLAB_SHARED") or experiments().resolve().parents[1] / "shared") / "data"


def names() -> list[str]:
    """Return the names of the shipped experiments, except papers; topologies and suites are none.

    >>> "first-comparison" in names(), "laws/square-root" in names()
    (True, True)

    """
    folder = experiments()
    papers = [paper.parent for paper in folder.glob("*/paper.toml")]
    others = ("graphs", "suite.toml")
    files = [
        path
        for path in folder.rglob("*.toml")
        if not any(paper in path.parents for paper in papers) and not {path.name, path.parent.name}.intersection(others)
    ]
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in files)


def link_trace(trace: str) -> Path | None:
    """Return the file of a link trace: by its path, or a shipped one by its name; nothing if there is neither.

    >>> link_trace("aqmlab-lte.down").name, link_trace("16mbit")
    ('aqmlab-lte.down', None)

    """
    shipped = Path(str(resources.files("aqmlab") / "data" / "link-traces")) / Path(trace).name
    return next((path for path in (Path(trace), shipped) if path.is_file()), None)


def find(experiment: str | os.PathLike[str]) -> Path:
    """Return the file of an experiment: a file by its path, or a shipped one by its name.

    Raises:
        InputError: if it is neither a file nor the name of an experiment.

    >>> find("first-comparison").name
    'first-comparison.toml'

    """
    path, name = Path(experiment), str(experiment)
    if path.suffix or path.exists():
        return path
    if name not in names():
        raise unknown("experiment", name, names())
    return experiments() / f"{name}.toml"
