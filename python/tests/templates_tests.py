from __future__ import annotations

import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from jinja2 import TemplateSyntaxError

from aqmlab.report.templates import environment


@pytest.fixture(autouse=True)
def _writing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def _rendered(folder: Path, **values: object) -> str:
    # As another process would: without the templates that this one has in its memory.
    environment.cache_clear()
    return environment(folder).get_template("page.html").render(**values)


def _compiled(folder: Path) -> Path:
    return Path(cache_from_source(str(folder / "page.html.py")))


def a_template_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.html").write_text("{{ value | code }}")
    assert _rendered(tmp_path, value="`a` <b>") == "<code>a</code> &lt;b&gt;"

    def fail(*_: object) -> None:
        raise AssertionError("it was compiled again")

    monkeypatch.setattr("jinja2.environment.Environment.compile", fail)
    assert _rendered(tmp_path, value="`a` <b>") == "<code>a</code> &lt;b&gt;"


def a_changed_template_is_compiled_again(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("before")
    assert _rendered(tmp_path) == "before"
    page.write_text("after")
    assert _rendered(tmp_path) == "after"
    page.write_text("{% broken")
    with pytest.raises(TemplateSyntaxError):
        _rendered(tmp_path)


def a_template_of_other_settings_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.html").write_text("page")
    _rendered(tmp_path)
    before = _compiled(tmp_path).read_bytes()
    monkeypatch.setattr("aqmlab.report.templates._versions", lambda: "another version")
    _rendered(tmp_path)
    assert _compiled(tmp_path).read_bytes() != before


@pytest.mark.parametrize("kept", [0, 7, 40, -1])
def a_damaged_template_is_compiled_again(tmp_path: Path, kept: int) -> None:
    (tmp_path / "page.html").write_text("{% for one in range(3) %}{{ one }}{% endfor %}")
    _rendered(tmp_path)
    whole = _compiled(tmp_path).read_bytes()
    _compiled(tmp_path).write_bytes(whole[:kept])
    assert _rendered(tmp_path) == "012"
    assert _compiled(tmp_path).read_bytes() == whole


def a_page_needs_no_place_to_write(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("page")
    # No folder can be made where a file is.
    (tmp_path / "__pycache__").write_text("")
    assert _rendered(tmp_path) == "page"


def nothing_is_written_where_python_may_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "page.html").write_text("page")
    assert _rendered(tmp_path) == "page"
    assert list(tmp_path.iterdir()) == [tmp_path / "page.html"]
