"""`partita profile`: show where the time of a run goes."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from partita.tools.commands.arguments import (
    LOOKING,
    RUNNING,
    ArtifactFile,
    InputFiles,
    Threads,
    finish,
)


def profile_command(
    artifact: ArtifactFile,
    input: InputFiles = None,
    random_inputs: Annotated[
        int,
        typer.Option(
            metavar="SEED",
            min=0,
            help="The seed of the inputs that are not given.",
            rich_help_panel=RUNNING,
        ),
    ] = 0,
    runs: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="How many runs to take medians of.",
            rich_help_panel=RUNNING,
        ),
    ] = 20,
    threads: Threads = None,
    by: Annotated[
        Literal["step", "layer"],
        typer.Option(
            help="A row for each step of a run, or for all steps of the same nodes of the model.",
            rich_help_panel=LOOKING,
        ),
    ] = "step",
    sort: Annotated[
        Literal["time", "order"],
        typer.Option(
            help="The slowest first, or as they run.", rich_help_panel=LOOKING
        ),
    ] = "time",
    top: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Show so many rows only, and the rest as one.",
            rich_help_panel=LOOKING,
        ),
    ] = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print all that was measured as JSON, and nothing else."
        ),
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a typical run in the JSON format of Chrome's tracing page and Perfetto.",
            rich_help_panel=LOOKING,
        ),
    ] = None,
) -> None:
    """Run a compiled model, and print how long each step takes and how close that is to what this machine can do."""

    def action() -> None:
        from partita.tools.profiling import ProfileRequest, profile_file

        profile_file(
            ProfileRequest(
                artifact,
                inputs=input or (),
                random_inputs=random_inputs,
                runs=runs,
                threads=threads,
                by=by,
                sort=sort,
                top=top,
                json=json,
                trace=trace,
            )
        )

    finish(action)
