"""How Sphinx builds the site from the Markdown of the repository: ``make pages``."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

import aqmlab

ROOT = Path(__file__).resolve().parents[2]
PLAYGROUND = ".build/playground"


def _package() -> str:
    """A name for what the lessons compute with: the hash of the package and its simulator."""
    name = hashlib.sha256()
    for path in sorted(Path(aqmlab.__file__).parent.rglob("*")):
        if path.suffix in (".py", ".so", ".pyd"):
            name.update(path.read_bytes())
    return name.hexdigest()[:16]


project = "aqmlab"
extensions = ["myst_nb", "sphinx_external_toc"]
# The sources stay where a code host shows them; nothing is copied.
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/**.ipynb",
    "experiments/*/README.md",
    "experiments/*/notes.md",
    "experiments/*/generated/statements.md",
    "p4/*.md",
    "benches/README.md",
    "validate/*/README.md",
]
exclude_patterns = [".*", "target", "crates", "fuzz", "python", "results", "tests"]
external_toc_path = "docs/site/toc.yml"

# A heading is a target as on a code host.
myst_heading_anchors = 4
# Lessons run when they or the package have changed since the last build, and an error in one is an error of the build.
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / ".build/lessons" / _package())
nb_execution_raise_on_error = True
nb_execution_timeout = 120

html_theme = "furo"
html_title = "aqmlab"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_show_sphinx = False
# The search shows titles only: excerpts would be fetched, which a page opened from the disk may not do.
html_show_search_summary = False
html_additional_pages = {"index": "front.html"}
templates_path = ["templates"]
html_theme_options = {"navigation_with_keys": True}
# Names of files and of configuration keys are code of no language.
highlight_language = "none"


def _playground_of_the_site(_app: Sphinx, _name: str, source: list[str]) -> None:
    source[0] = re.sub(rf"{re.escape(PLAYGROUND)}/", "playground/", source[0])


def _with_the_playground(app: Sphinx, failed: Exception | None) -> None:
    if failed is None and (ROOT / PLAYGROUND).is_dir():
        shutil.copytree(ROOT / PLAYGROUND, app.outdir / "playground", dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    """Take the playground into the site, where it was built."""
    app.connect("source-read", _playground_of_the_site)
    app.connect("build-finished", _with_the_playground)
