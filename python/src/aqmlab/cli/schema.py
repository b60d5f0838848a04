"""``aqmlab schema``: what an experiment file and a resolved scenario may hold, as JSON Schema."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from aqmlab.errors import unknown


def schema(
    of: Annotated[
        str, typer.Argument(metavar="experiment|scenario", help="A file, or a scenario as the simulator takes it.")
    ] = "experiment",
) -> None:
    """Print the JSON Schema of experiment files, or of resolved scenarios."""
    from aqmlab.scenario import schema as schemas

    known = {"experiment": schemas.experiment, "scenario": schemas.scenario}
    if of not in known:
        raise unknown("schema", of, known)
    typer.echo(json.dumps(known[of](), indent=2))
