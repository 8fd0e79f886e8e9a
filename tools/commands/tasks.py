"""`partita tasks`: list what there is to schedule in a model."""

from pathlib import Path
from typing import Annotated

import typer

from partita.tools.commands.arguments import (
    Entry,
    HostCpu,
    HostTriple,
    Insertions,
    ModelFile,
    Shapes,
    Targets,
    WeightsFile,
    finish,
)


def tasks_command(
    model: ModelFile,
    target: Targets = None,
    shape: Shapes = None,
    entry: Entry = None,
    weights: WeightsFile = None,
    insert: Insertions = None,
    host_cpu: HostCpu = None,
    host_triple: HostTriple = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print all that is known as JSON, and nothing else."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write each task to `<name>.mlir` in this folder, as a module that can be compiled by itself.",
        ),
    ] = None,
) -> None:
    """Print the tasks of a model: each kernel and each other target's region once, and how often a run needs it."""

    def action() -> None:
        from partita.tools.extracting import TasksRequest, list_tasks

        list_tasks(
            TasksRequest(
                model,
                targets=target or (),
                shapes=shape or (),
                entry=entry,
                weights=weights,
                insertions=insert or (),
                host_cpu=host_cpu,
                host_triple=host_triple,
                json=json,
                output=output,
            )
        )

    finish(action)
