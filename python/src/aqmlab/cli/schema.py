"""``aqmlab schema``: the JSON Schemas of experiment files and resolved scenarios."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from aqmlab.vocabulary.errors import unknown


def schema(
    of: Annotated[
        str, typer.Argument(metavar="experiment|scenario", help="An experiment file, or a resolved scenario.")
    ] = "experiment",
) -> None:
    """Print the JSON Schema of experiment files, or of resolved scenarios."""
    from aqmlab.scenario import schema as schemas

    known = {"experiment": schemas.experiment, "scenario": schemas.scenario}
    if of not in known:
        raise unknown("schema", of, known)
    typer.echo(json.dumps(known[of](), indent=2))
