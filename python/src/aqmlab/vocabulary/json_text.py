"""The documents that commands write: JSON with a line for each value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aqmlab.vocabulary.printable import escaped


def json_text(document: Mapping[str, Any]) -> str:
    """Return a document as text that ends with its line.

    >>> print(json_text({"rate": "10mbit", "aqm": ["codel"]}), end="")
    {
     "rate": "10mbit",
     "aqm": [
      "codel"
     ]
    }

    """
    return escaped(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"
