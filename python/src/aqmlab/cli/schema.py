"""``aqmlab schema``: what an experiment file and a resolved scenario may hold, as JSON Schema."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer


class Subject(StrEnum):
    """What a schema is of."""

    experiment = "experiment"
    scenario = "scenario"


def schema(
    of: Annotated[Subject, typer.Argument(help="An experiment file, or a scenario as the simulator takes it.")] = (
        Subject.experiment
    ),
) -> None:
    """Print the JSON Schema of experiment files, or of resolved scenarios."""
    from aqmlab.scenario import schema as schemas

    typer.echo(json.dumps(getattr(schemas, of.value)(), indent=2))
