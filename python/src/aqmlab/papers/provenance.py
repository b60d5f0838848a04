"""Where the claims of a page come from: the commit of their file, or its checksum."""

from __future__ import annotations

import hashlib
import shutil
import subprocess

from aqmlab.papers.paper import FILE, Paper


def sentence(paper: Paper) -> str:
    """Say from which commit the claims are that the page judges, and whether they were changed since.

    Outside of a checkout it is the checksum of the file that says which claims these are.
    """
    digest = hashlib.sha256((paper.folder / FILE).read_bytes()).hexdigest()[:12]
    file = f"{paper.name}/{FILE} (SHA-256 {digest})"
    commit = _git(paper, "log", "-1", "--format=%h of %cs", "--", FILE)
    if not commit:
        return f"Claims and bounds: {file}."
    changed = _git(paper, "status", "--porcelain", "--", FILE)
    return f"Claims and bounds: {file}, commit {commit}{', changed since' if changed else ''}."


def _git(paper: Paper, *arguments: str) -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    ended = subprocess.run([git, "-C", str(paper.folder), *arguments], capture_output=True, text=True, check=False)
    return ended.stdout.strip() if ended.returncode == 0 else ""
