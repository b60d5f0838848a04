#!/usr/bin/env python3
"""Write the options of a comparison as keywords of Python functions, for editors and type checkers.

    scripts/keywords.py python/src/aqmlab/scenario/keywords.py

They come from the declarations in the simulator. The same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from aqmlab.scenario.options import OPTIONS, Option

HEAD = '''"""The options of a comparison as keywords of Python functions, so that a type checker finds a misspelt one.

Written by `make docs` from the declarations in the simulator.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import TypeAlias, TypedDict

Many: TypeAlias = str | Sequence[str]
Time: TypeAlias = str | timedelta
File: TypeAlias = str | os.PathLike[str]


class Keywords(TypedDict, total=False):
    """Quantities are text with their unit in tc's notation."""

'''
# Of compare these take classes and mappings, too.
OWN = ("aqm", "link")
TYPES = {"text": "str", "file": "File", "flows": "File", "quantity": "Time", "span": "Time", "count": "int | str"}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.parse_args().file.write_text(text())


def text() -> str:
    """Return the file, without what every function declares itself."""
    return HEAD + "".join(_keyword(one) for one in OPTIONS if one.name not in OWN)


def _keyword(option: Option) -> str:
    one = TYPES.get(option.form, "str")
    several = "Many" if one == "str" else f"{one} | Sequence[{one}]"
    default = f" (default {option.default})" if option.default else ""
    about = json.dumps(f"{option.help}{default}", ensure_ascii=False)
    return f"    {option.name}: {several if option.many else one} | None\n    {about}\n"


if __name__ == "__main__":
    main()
