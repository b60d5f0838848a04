"""The files of a new discipline, from templates: a simple law that passes all tests, to be replaced."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from aqmlab.files import disk, system
from aqmlab.scenario import registry
from aqmlab.vocabulary.errors import InputError

HERE = Path(__file__).parent
DISCIPLINES = Path("crates/aqm-core/src/discipline")
PRESETS = Path("crates/aqm-core/tests/sources/presets.csv")
ORACLES = Path("tests/oracles")
# Lines of Rust have this many columns.
WIDTH = 110
# Words of Rust that cannot be the name of a module, beside those of Python that neither can.
_RUST = """abstract become box const crate do dyn enum extern final fn impl let loop macro match mod move mut override
priv pub ref self static struct super trait type typeof union unsafe unsized use virtual where"""


def aqm(name: str, start: Path) -> list[Path]:
    """Make the Rust file and the oracle of a discipline in a checkout, and its lines in the lists.

    Args:
        name: its name.
        start: a folder of the checkout.

    Returns:
        The files that were made, and then those that were changed.

    Raises:
        InputError: if the name cannot be used, or there is no checkout.

    """
    _check(name)
    _check_known(name)
    root = next((one for one in (start, *start.parents) if (one / DISCIPLINES).is_dir()), None)
    if root is None:
        raise InputError(f"{start}: is in no checkout of aqmlab: clone it, or write it in Python (--python)")
    rust, oracle = root / DISCIPLINES / f"{name}.rs", root / ORACLES / f"{name}.py"
    for path in (rust, oracle):
        if path.exists():
            raise InputError(f"{path}: is there already: choose another name")
    _check_module(name)
    # All of it is made in memory first: nothing is half written if a file is not as expected.
    contents = {
        rust: _filled("discipline.rs.txt", name),
        oracle: _filled("oracle.py.txt", name),
        **_changed(root / DISCIPLINES / "mod.rs", lambda text: _with_mod(text, name)),
        **_changed(root / DISCIPLINES.parent / "registry.rs", lambda text: _with_entry(text, name, root)),
        **_changed(root / PRESETS, lambda text: f"{text}{name},*,threshold,20,ours,\n"),
    }
    for path, content in contents.items():
        with system.writing(path):
            disk.put(path, content.encode())
    return list(contents)


def python(name: str, folder: Path) -> Path:
    """Make the file of a discipline in Python.

    Raises:
        InputError: if the name cannot be used, or the file is there already.

    """
    _check(name)
    path = folder / f"{name}.py"
    if path.exists():
        raise InputError(f"{path}: is there already: choose another name")
    _check_module(name)
    with system.writing(path):
        disk.put(path, _filled("discipline.py.txt", name).encode())
    return path


def class_of(name: str) -> str:
    """Return the name of the type of a discipline.

    >>> class_of("fair_coin")
    'FairCoin'

    """
    return "".join(part.capitalize() for part in name.split("_"))


def _check(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) > 40:
        raise InputError(f"'{name}' is not a name: lower case letters, digits and single underscores, as fair_coin")
    if keyword.iskeyword(name) or keyword.issoftkeyword(name) or name in _RUST.split():
        raise InputError(f"'{name}' is a word of Rust or Python: choose another name")


def _check_module(name: str) -> None:
    """Refuse the names of Python's modules and of those that are installed: they could not be imported beside it."""
    if name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None:
        raise InputError(f"'{name}' is a module, which a file {name}.py would hide: choose another name, as {name}_aqm")


def _check_known(name: str) -> None:
    known = [one.name for one in (*registry.disciplines(), *registry.of_papers())]
    if any(one.replace("-", "_") == name for one in known):
        raise InputError(f"'{name}' is a discipline already: choose another name ('aqmlab aqm list' shows all)")


def _filled(template: str, name: str) -> str:
    text = (HERE / template).read_text(encoding="utf-8")
    if re.search(rf"\b{class_of(name)}\b", text) or keyword.iskeyword(class_of(name)):
        raise InputError(f"'{name}': its type {class_of(name)} is something else already: choose another name")
    return text.replace("@name@", name).replace("@Type@", class_of(name))


def _changed(path: Path, change: Callable[[str], str]) -> dict[Path, str]:
    with system.reading(path):
        text = path.read_text(encoding="utf-8")
    try:
        return {path: change(text)}
    except (TypeError, ValueError, IndexError):
        raise InputError(f"{path}: is not as expected: add {path.stem} by hand, as docs/dev/aqm.md says") from None


def _with_mod(text: str, name: str) -> str:
    """Insert a line before the first whose name comes later."""
    line, end = f"pub mod {name};\n", None
    for match in re.finditer(r"(?:#\[.*\]\n)*(?:pub )?mod (\w+);\n", text):
        if end not in (None, match.start()):
            break
        if match[1] > name:
            return text[: match.start()] + line + text[match.start() :]
        end = match.end()
    if end is None:
        raise ValueError(text)
    return text[:end] + line + text[end:]


def _with_entry(text: str, name: str, root: Path) -> str:
    listed = re.search(r"use crate::discipline::\{(.*?)\};\n", text, re.DOTALL)
    names = [word.strip() for word in listed[1].split(",") if word.strip()]  # type: ignore[index]
    types, modules = [one for one in names if one[0].isupper()], [one for one in names if one[0].islower()]
    lines = textwrap.fill(f"{', '.join([*types, *sorted([*modules, name])])},", WIDTH - 4)
    whole = f"use crate::discipline::{{\n{textwrap.indent(lines, '    ')}\n}};\n"
    text = text.replace(listed[0], whole)  # type: ignore[index]
    # The list is ordered by group, and the template's is that of laws on the queue's length.
    entries = re.findall(r"    &(\w+)::INFO,\n", text)
    alike = [one for one in entries if "group: Group::QueueLength" in (root / DISCIPLINES / f"{one}.rs").read_text()]
    return text.replace(f"    &{alike[-1]}::INFO,\n", f"    &{alike[-1]}::INFO,\n    &{name}::INFO,\n", 1)


__all__ = ["aqm", "class_of", "python"]
