"""`partita inspect`: show what an artifact holds."""

from typing import Annotated

import typer

from partita.tools.commands.arguments import (
    ArtifactFile,
    finish,
)


def inspect_command(
    artifact: ArtifactFile,
    steps: Annotated[
        bool, typer.Option("--steps", help="List every step of a run.")
    ] = False,
) -> None:
    """Print what a compiled model takes and gives, and what it is made of."""

    def action() -> None:
        from partita.tools.inspecting import inspect_file

        inspect_file(artifact, steps)

    finish(action)
