"""`partita compile`: compile a model to an artifact."""

from pathlib import Path
from typing import Annotated

import typer

from partita.tools.commands.arguments import (
    COMPILING,
    LOOKING,
    Entry,
    HostCpu,
    HostTriple,
    Insertions,
    ModelFile,
    Policy,
    Quiet,
    Shapes,
    Targets,
    WeightsFile,
    finish,
)


def compile_command(
    model: ModelFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT.partita", help="The artifact to write."
        ),
    ] = None,
    target: Targets = None,
    shape: Shapes = None,
    entry: Entry = None,
    weights: WeightsFile = None,
    insert: Insertions = None,
    db: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A schedule database: kernels get the best schedules that it has, and a line on standard "
            "error names each task that it has none for.",
            rich_help_panel=COMPILING,
        ),
    ] = None,
    on_external_failure: Annotated[
        Policy,
        typer.Option(
            help="What happens where a target cannot compile what it took: the host runs it, and a "
            "line on standard error says so, or that is an error.",
            rich_help_panel=COMPILING,
        ),
    ] = "host",
    keep_host_fallback: Annotated[
        bool,
        typer.Option(
            "--keep-host-fallback",
            help="Also keep code of the host for what other targets run, for where that cannot be loaded.",
            rich_help_panel=COMPILING,
        ),
    ] = False,
    emit_c: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the model as C sources that `make` builds, with a program that runs it on files; "
            "needs `--target c`, and nothing else where it runs.",
            rich_help_panel=COMPILING,
        ),
    ] = None,
    host_cpu: HostCpu = None,
    host_triple: HostTriple = None,
    print_pipeline: Annotated[
        bool,
        typer.Option(
            "--print-pipeline",
            help="Print the passes, one a line, as `partita-opt -p` takes them; without -o, do no more.",
            rich_help_panel=LOOKING,
        ),
    ] = False,
    dump_ir: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the IR to `00-import.mlir` and, after each pass, `NN-<pass>.mlir` in this "
            "folder, and all weights to `weights.safetensors`.",
            rich_help_panel=LOOKING,
        ),
    ] = None,
    time_passes: Annotated[
        bool,
        typer.Option(
            "--time-passes",
            help="Print to standard error how long each pass took.",
            rich_help_panel=LOOKING,
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Compile a model to one file that `partita run` and `partita.load` run."""
    if output is None and emit_c is None and not print_pipeline:
        raise typer.BadParameter(
            "set -o OUT.partita, --emit-c FOLDER, or --print-pipeline"
        )

    def action() -> None:
        from partita.tools.compiling import CompileRequest, compile_file

        compile_file(
            CompileRequest(
                model,
                output,
                emit_c,
                targets=target or (),
                shapes=shape or (),
                entry=entry,
                weights=weights,
                insertions=insert or (),
                db=db,
                on_external_failure=on_external_failure,
                keep_host_fallback=keep_host_fallback,
                print_pipeline=print_pipeline,
                dump_ir=dump_ir,
                host_cpu=host_cpu,
                host_triple=host_triple,
                time_passes=time_passes,
                quiet=quiet,
            )
        )

    finish(action)
