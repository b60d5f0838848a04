"""There are no circular imports: in no crate, and not in the Python package.

Imports are:

- Rust: every path that starts with `crate::`, `super::` or the name of a child, in a `use` or in running code. It leads
to the file of the last module in the path that is a file. `mod x;` is not an import: a parent lists its children and
does not depend on them. Nor is `pub use`: a module that only re-exports a name is a table of contents, and whoever uses
the name imports the file that defines it. Imports only for tests (`#[cfg(test)]`) do not count.
- Python: every `from aqmlab... import` and `import aqmlab...` at any depth of the file, inside functions and for types
(`if TYPE_CHECKING:`) too. Names that an `__init__.py` re-exports count as imports of the file that defines them.

A circle is a set of files each of which reaches all others; all its files are named. Nor are there circles of rooms: a
room is a folder at the top of a crate's `src` with all its files, or a file there; it uses what its files import.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

CRATES = sorted(path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))
PACKAGE = ROOT / "python" / "src" / "aqmlab"

# Files still in circles. The list may only shrink: a file that is no longer in one must be removed.
UNMENDED: dict[str, set[str]] = {}
# Rooms still in circles, likewise.
UNMENDED_ROOMS: dict[str, set[str]] = {}

Graph = dict[str, set[str]]


@pytest.mark.parametrize("crate", CRATES)
def no_file_of_a_crate_imports_another_in_a_circle(crate: str) -> None:
    _check(crate, _rust_graph(ROOT / "crates" / crate / "src"), "files import", UNMENDED)


@pytest.mark.parametrize("crate", CRATES)
def no_room_of_a_crate_uses_another_in_a_circle(crate: str) -> None:
    _check(crate, _rooms(_rust_graph(ROOT / "crates" / crate / "src")), "rooms use", UNMENDED_ROOMS)


def no_file_of_the_package_imports_another_in_a_circle() -> None:
    _check("aqmlab", _python_graph(PACKAGE), "files import", UNMENDED)


def a_circle_is_found_and_named(tmp_path: Path) -> None:
    for name, text in {
        "lib.rs": "pub mod a; mod b; mod c;",
        "a.rs": "use crate::b::B;",
        "b/mod.rs": "mod inner; pub use inner::B;",
        "b/inner.rs": "use super::super::c::{self, C};",
        "c.rs": "pub struct C; fn f() { crate::a::f() } #[cfg(test)] mod tests { use crate::b::B; }",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert _circles(_rust_graph(tmp_path)) == [["a.rs", "b/inner.rs", "c.rs"]]
    (tmp_path / "c.rs").write_text("pub struct C; #[cfg(test)] mod tests { use crate::a::A; }")
    assert _circles(_rust_graph(tmp_path)) == []


def rooms_that_use_each_other_are_found_though_no_file_is_in_a_circle(tmp_path: Path) -> None:
    for name, text in {
        "lib.rs": "mod a; mod b; mod c;",
        "a/mod.rs": "mod one; mod two;",
        "a/one.rs": "use crate::b::B; use super::two::T;",
        "a/two.rs": "pub struct T;",
        "b.rs": "use crate::c::C; pub struct B;",
        "c/mod.rs": "use crate::a::two::T; pub struct C;",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = _rust_graph(tmp_path)
    assert _circles(graph) == []
    assert _circles(_rooms(graph)) == [["a", "b", "c"]]
    (tmp_path / "c" / "mod.rs").write_text("pub struct C;")
    assert _circles(_rooms(_rust_graph(tmp_path))) == []


def _check(name: str, graph: Graph, verb: str, unmended: dict[str, set[str]]) -> None:
    found = _circles(graph)
    known = unmended.get(name, set())
    new = [circle for circle in found if not known.issuperset(circle)]
    assert not new, f"{name}: {verb} each other in a circle: " + "; ".join(", ".join(one) for one in new)
    mended = known.difference(*found)
    assert not mended, f"{name}: no longer in a circle, so off the list: {', '.join(sorted(mended))}"


def _circles(graph: Graph) -> list[list[str]]:
    """Sets of files that reach each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            for other in graph[ahead.pop()] - seen:
                seen.add(other)
                ahead.append(other)
        return seen

    reach = {file: reached(file) for file in graph}
    found = {tuple(sorted(one for one in reach[file] if file in reach[one])) for file in graph if file in reach[file]}
    return [list(circle) for circle in sorted(found)]


def _rooms(graph: Graph) -> Graph:
    """Which room uses which, for files that import each other so."""

    def room(file: str) -> str:
        return file.split("/")[0].removesuffix(".rs")

    rooms: Graph = {room(file): set() for file in graph}
    for file, others in graph.items():
        rooms[room(file)] |= {room(other) for other in others} - {room(file)}
    return rooms


# Rust


def _rust_graph(src: Path) -> Graph:
    """Which file of a crate imports which."""
    modules: dict[tuple[str, ...], str] = {}
    for file in sorted(src.rglob("*.rs")):
        *folders, stem = file.relative_to(src).with_suffix("").parts
        modules[(*folders, *([] if stem in ("mod", "lib", "main") else [stem]))] = file.relative_to(src).as_posix()
    texts = {module: _without_tests((src / file).read_text()) for module, file in modules.items()}
    passed_on = {module: _passed_on(text) for module, text in texts.items()}
    test_only = {module for module in modules if _is_for_tests(module, src, modules)}
    graph: Graph = {modules[module]: set() for module in modules if module not in test_only}
    for module, text in texts.items():
        if module in test_only:
            continue
        bare = re.sub(r"\bpub(?:\([^)]*\))?\s+use\b[^;]*;", "", text)
        children = [one[-1] for one in modules if one and one[:-1] == module]
        for path in _paths(bare, children):
            target = _resolve(module, path, modules, passed_on)
            if target is not None and target != module and target not in test_only:
                graph[modules[module]].add(modules[target])
    return graph


def _is_for_tests(module: tuple[str, ...], src: Path, modules: dict[tuple[str, ...], str]) -> bool:
    """Whether a module, or one that holds it, is declared under `#[cfg(test)]`."""
    for depth in range(1, len(module) + 1):
        parent = modules.get(module[: depth - 1])
        text = (src / parent).read_text() if parent else ""
        if re.search(rf"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+{module[depth - 1]}\s*;", text):
            return True
    return False


def _without_tests(text: str) -> str:
    """The code without comments, strings and code that is compiled for tests only."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    while found := re.search(r"#\[cfg\(test\)\]", text):
        end, depth = found.end(), 0
        while end < len(text):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
            if depth == 0 and text[end - 1] in "};":
                break
        text = text[: found.start()] + text[end:]
    return text


def _paths(text: str, children: list[str]) -> Iterator[tuple[str, ...]]:
    """Every path from `crate`, `super` or a child on, with the braces of a `use` expanded."""
    starts = "|".join(["crate", "self", "super", *children])
    for found in re.finditer(rf"(?<![\w:])(?:{starts})::(?:[\w:]|\{{[^;]*?\}}(?=;)|\*)*", text):
        yield from _spread(re.sub(r"\s+", "", found.group().rstrip(":")))


def _spread(text: str) -> Iterator[tuple[str, ...]]:
    brace = text.find("{")
    if brace < 0:
        yield tuple(part for part in re.sub(r"as\w*$", "", text).split("::") if part)
        return
    depth, start, front = 0, brace + 1, text[:brace]
    for at in range(brace, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if (text[at] == "," and depth == 1) or depth == 0:
            if text[start:at]:
                yield from _spread(front + text[start:at])
            start = at + 1
        if depth == 0:
            return


def _passed_on(text: str) -> dict[str, tuple[str, ...]]:
    """Names that a module re-exports with `pub use`, and where they are defined."""
    names: dict[str, tuple[str, ...]] = {}
    for found in re.finditer(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]*);", text):
        for path in _spread(re.sub(r"\s+(?!as\b)", "", found.group(1))):
            names[path[-1]] = path if path[0] in ("crate", "super", "self") else ("self", *path)
    return names


def _resolve(
    module: tuple[str, ...],
    path: tuple[str, ...],
    modules: dict[tuple[str, ...], str],
    passed_on: dict[tuple[str, ...], dict[str, tuple[str, ...]]],
) -> tuple[str, ...] | None:
    """The module in whose file the last name of `path` is defined."""
    at = () if path[0] == "crate" else module
    for number, part in enumerate(path):
        if part in ("crate", "self"):
            continue
        if part == "super":
            at = at[:-1]
        elif (*at, part) in modules:
            at = (*at, part)
        elif part in passed_on.get(at, {}):
            return _resolve(at, (*passed_on[at][part], *path[number + 1 :]), modules, passed_on)
        else:
            break
    return at if at in modules else None


# Python


def _python_graph(package: Path) -> Graph:
    """Which file of the package imports which."""
    files = {_module(file, package): file for file in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")])}
    trees = {name: ast.parse(file.read_text()) for name, file in files.items()}
    graph: Graph = {}
    for name, file in files.items():
        imports = {_source(*one, files, trees) for one in _imports(trees[name], name, file)}
        targets = {files[target] for target in imports if target in files and target != name}
        graph[file.relative_to(package).as_posix()] = {one.relative_to(package).as_posix() for one in targets}
    return graph


def _module(file: Path, package: Path) -> str:
    parts = [package.name, *file.relative_to(package).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.AST, name: str, file: Path) -> Iterator[tuple[str, str]]:
    """Module and name of every import; the name is empty for whole modules."""
    passes_on = file.name == "__init__.py"
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not (passes_on and isinstance(tree, ast.Module | ast.If)):
            yield from ((node.module or "", alias.name) for alias in node.names)
        else:
            yield from _imports(node, name, file)


def _source(module: str, name: str, files: dict[str, Path], trees: dict[str, ast.Module]) -> str:
    """The module that defines `name`: a module itself, or the one from which a package re-exports it."""
    if f"{module}.{name}" in files:
        return f"{module}.{name}"
    for node in ast.walk(trees[module]) if module in trees else ():
        if isinstance(node, ast.ImportFrom) and node.module != module:
            names = [alias.asname or alias.name for alias in node.names]
            if name in names:
                return _source(node.module or "", name, files, trees)
    return module
