"""`partita simulate`: execute a VTA program, and say where its cycles go."""

from pathlib import Path
from typing import Annotated

import typer

from partita.tools.commands.arguments import (
    LOOKING,
    RUNNING,
    InputFiles,
    VtaConfig,
    VtaFile,
    finish,
)


def simulate_command(
    file: VtaFile,
    config: VtaConfig = None,
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
    device: Annotated[
        str,
        typer.Option(
            metavar="DEVICE",
            help="What executes the program: `sim`, or `driver:LIB.so` for a library with the C interface of the "
            "original driver. Cycles are those of the model in either case.",
            rich_help_panel=RUNNING,
        ),
    ] = "sim",
    order: Annotated[
        str | None,
        typer.Option(
            metavar="ORDER",
            help="The order of execution, among those that tokens allow: `program` (default), `early_loads`, "
            "`late_loads` or `random`.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="SEED",
            min=0,
            help="Which of the random orders.",
            rich_help_panel=RUNNING,
        ),
    ] = 0,
    unchecked: Annotated[
        bool,
        typer.Option(
            "--unchecked",
            help="Look neither for races nor for reads of what nothing has written.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
    timing_only: Annotated[
        bool,
        typer.Option(
            "--timing-only",
            help="Execute nothing: for streams without data.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
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
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print all that is known as JSON, and nothing else."
        ),
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write when each instruction runs, in the JSON format of Chrome's tracing page and Perfetto.",
            rich_help_panel=LOOKING,
        ),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw what each module does over time, as `.svg`, `.png` or `.pdf`. Needs the extra `viz`.",
            rich_help_panel=LOOKING,
        ),
    ] = None,
) -> None:
    """Execute a VTA program bit for bit, and print its cycles and what each module does and waits for."""

    def action() -> None:
        from partita.tools.simulating import SimulateRequest, simulate_file

        simulate_file(
            SimulateRequest(
                file,
                config=config,
                inputs=input or (),
                random_inputs=random_inputs,
                device=device,
                order=order,
                seed=seed,
                unchecked=unchecked,
                timing_only=timing_only,
                output=output,
                json=json,
                trace=trace,
                timeline=timeline,
            )
        )

    finish(action)
