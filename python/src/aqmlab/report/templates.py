"""The templates of all pages: how they are found, filled in, and kept compiled."""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket, BytecodeCache
from markupsafe import Markup, escape

from aqmlab import FULL_VERSION
from aqmlab.files import disk
from aqmlab.vocabulary.line_breaks import together
from aqmlab.vocabulary.printable import printable

HERE = Path(__file__).parent


@functools.cache
def environment(*folders: Path) -> jinja2.Environment:
    """Return the template environment of some folders and of the report's."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, HERE]),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_Compiled(),
    )
    made.globals["asset"] = asset
    made.filters["code"] = _code
    made.filters["together"] = together
    made.globals["version"] = FULL_VERSION
    return made


def rendered(module: str, template: str, **values: Any) -> str:
    """Return a page from the template that lies beside a module's file, or in the report's folder."""
    return environment(Path(module).parent).get_template(template).render(**values)


@functools.cache
def asset(name: str) -> Markup:
    """Return a script, a style or a licence that comes with the report, as it is."""
    return Markup((HERE / name).read_text(encoding="utf-8"))


def _shown(value: object) -> object:
    """Return a value as a page shows it; what is HTML already was made so from texts that are shown."""
    return printable(value) if type(value) is str else value


def _code(text: str) -> Markup:
    """Return a text in which what stands between backticks is code, as in Markdown."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(printable(text)))))


class _Compiled(BytecodeCache):
    """Keeps compiled templates where Python keeps compiled modules: compiling takes as long as drawing a figure.

    What was compiled from another text, by another version or with other settings is compiled again.
    """

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the path of a compiled template."""
        return cache_from_source(f"{filename or name}.py")

    def get_source_checksum(self, source: str) -> str:
        """Return a checksum of all that a compiled template depends on."""
        return hashlib.sha256(f"{_versions()}\n{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template, if there is one; a damaged one is none."""
        try:
            bucket.bytecode_from_string(Path(bucket.key).read_bytes())
        except Exception:
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write a compiled template, where Python would write a compiled module."""
        if sys.dont_write_bytecode:
            return
        path = Path(bucket.key)
        # The package may lie where its user cannot write.
        with suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            disk.write(path, bucket.bytecode_to_string(), durable=False)


@functools.cache
def _versions() -> str:
    """Return what decides how templates are compiled: the versions, and this file with its settings and filters."""
    return f"{jinja2.__version__} {FULL_VERSION} {Path(__file__).read_text(encoding='utf-8')}"
