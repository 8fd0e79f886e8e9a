"""`partita run`: run an artifact."""

from pathlib import Path
from typing import Annotated

import typer

from partita.tools.commands.arguments import (
    RUNNING,
    ArtifactFile,
    InputFiles,
    Quiet,
    Threads,
    finish,
)


def run_command(
    artifact: ArtifactFile,
    input: InputFiles = None,
    random_inputs: Annotated[
        int | None,
        typer.Option(
            metavar="SEED",
            min=0,
            help="Make up the inputs that are not given.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Run N times more, and print the latency.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    threads: Threads = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT.npz",
            help="Write the outputs, by name.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run a compiled model, and print its outputs in a table."""

    def action() -> None:
        from partita.tools.running import RunRequest, run_file

        run_file(
            RunRequest(
                artifact,
                inputs=input or (),
                random_inputs=random_inputs,
                output=output,
                repeat=repeat,
                threads=threads,
                quiet=quiet,
            )
        )

    finish(action)
