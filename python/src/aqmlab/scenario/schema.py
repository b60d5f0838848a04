"""JSON Schemas of experiment files and resolved scenarios (`aqm_scenario::schema`).

``aqmlab schema`` prints them; `make docs` writes them to docs/reference/schema.
"""

from __future__ import annotations

import json
from typing import Any

from aqmlab import _native


def experiment() -> dict[str, Any]:
    """Return the schema of an experiment file (TOML)."""
    found: dict[str, Any] = json.loads(_native.experiment_schema())
    return found


def scenario() -> dict[str, Any]:
    """Return the schema of a resolved scenario (JSON): base units, every default filled in."""
    found: dict[str, Any] = json.loads(_native.scenario_schema())
    return found
