"""Debian's packages, fetched beside the system's own: what is installed here stays as it is."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from aqmlab.vocabulary.errors import about

# The newest kernels are there.
SUITE = "sid"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# What the guest's root needs of the packages that iproute2 and busybox depend on.
WANTED = re.compile(r"(iproute2|busybox-static|lib|zlib)")

Call = Callable[..., str]


class Packages:
    """A private list of Debian's packages in a folder."""

    def __init__(self, folder: Path, call: Call) -> None:
        self._folder = folder
        self._call = call
        self._archives = folder / "archives"

    def update(self) -> None:
        """Fetch the list of packages.

        Raises:
            InputError: if this system has none of Debian's mirrors.

        """
        for name in ("parts", "state/lists/partial", "archives/partial"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        # As if nothing were installed: everything that is needed is fetched.
        (self._folder / "status").write_text("")
        (self._folder / "list").write_text(f"deb [signed-by={KEYRING}] {_mirror(self._call)} {SUITE} main\n")
        self._apt("apt-get", "update", "-qq")

    def sources(self) -> Path:
        """Fetch the newest package of the kernel's sources."""
        shown = self._apt("apt-cache", "show", "linux-source")
        found = re.search(r"linux-source-[\d.]+", "".join(re.findall(r"^Depends: (.*)", shown, re.M)))
        if found is None:
            raise about("engine linux", "Debian has no package linux-source: give a kernel's sources: --kernel DIR")
        return self._fetched(found[0])

    def tools(self) -> list[Path]:
        """Fetch what the guest's root consists of: iproute2 and busybox, with their libraries."""
        options = ("-y", "-qq", "--download-only", "--no-install-recommends")
        self._apt("apt-get", "install", *options, "iproute2", "busybox-static")
        return sorted(path for path in self._archives.glob("*.deb") if WANTED.match(path.name))

    def _fetched(self, name: str) -> Path:
        self._apt("apt-get", "download", "-qq", name, cwd=self._archives)
        return max(self._archives.glob(f"{name}_*.deb"))

    def _apt(self, *words: str, cwd: Path | None = None) -> str:
        at = self._folder
        places = {
            "Dir::Etc::SourceList": at / "list",
            "Dir::Etc::SourceParts": at / "parts",
            "Dir::State": at / "state",
            "Dir::State::status": at / "status",
            "Dir::Cache": at,
            "APT::Sandbox::User": "root",
            "Debug::NoLocking": "1",
        }
        options = [word for name, value in places.items() for word in ("-o", f"{name}={value}")]
        return self._call([words[0], *options, *words[1:]], cwd)


def _mirror(call: Call) -> str:
    if shutil.which("apt-get") is None or not KEYRING.exists():
        raise about(
            "engine linux",
            "this is no Debian, whose packages have the kernel's sources: use a Debian, as a container, "
            f"with {KEYRING.stem}",
        )
    for place in call(["apt-get", "indextargets", "--format", "$(REPO_URI)"], None).splitlines():
        if place.rstrip("/").endswith("/debian"):
            return place
    return "http://deb.debian.org/debian/"
