"""What several commands take, and how each ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from partita.tools.guard import guarded

COMPILING, RUNNING, LOOKING = "What is compiled", "How it runs", "What is shown"

Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=LOOKING),
]

ArtifactFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL.partita", help="What `partita compile` wrote."),
]

ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A model, `.onnx` or `.onnxtxt`, or IR of any level above machine code, `.mlir`.",
    ),
]

Targets = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME{OPTION=VALUE}",
        help='A back end with its options, such as `host{cache="none"}`; repeat for several. '
        "The host takes what no other does.",
        rich_help_panel=COMPILING,
    ),
]

Shapes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=SHAPE",
        help="The shape of an input, such as `x=1x3x224x224`, or the extent of a symbolic "
        "dimension, such as `N=1`; repeat for each.",
        rich_help_panel=COMPILING,
    ),
]

Entry = Annotated[
    str | None,
    typer.Option(
        metavar="FUNCTION",
        help="The function to compile, where IR has several and marks none.",
        rich_help_panel=COMPILING,
    ),
]

Policy = Literal["host", "error"]

WeightsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The weights that IR refers to; by default `<stem>.weights.safetensors` beside it.",
        rich_help_panel=COMPILING,
    ),
]

Insertions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="after=PASS:PIPELINE",
        help="Passes of your own, in the syntax of `partita-opt -p`, to run after the last run "
        "of a pass of the pipeline; repeat for other places.",
        rich_help_panel=COMPILING,
    ),
]

HostCpu = Annotated[
    str | None,
    typer.Option(
        metavar="CPU",
        help="The processor to make code for, by LLVM's name, such as `x86-64-v3`; this one by default.",
        rich_help_panel=COMPILING,
    ),
]

HostTriple = Annotated[
    str | None,
    typer.Option(
        metavar="TRIPLE",
        help="The platform to make code for, such as `aarch64-linux-gnu`; this one by default.",
        rich_help_panel=COMPILING,
    ),
]

InputFiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=FILE",
        help="An input, from an `.npy` or `.npz` file; repeat for each. An `.npz` file without "
        "a name gives every input that it has.",
        rich_help_panel=RUNNING,
    ),
]

Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Use at most N threads; by default, as many as there are CPUs.",
        rich_help_panel=RUNNING,
    ),
]

VtaFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="VTA code: a record (`.npz`), a program (`.vta`), its text or JSON, or the bits of instructions (`.bin`).",
    ),
]

VtaConfig = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE",
        help="The hardware that instructions are for, a preset or a JSON file, where the file does not say.",
    ),
]


def finish(action: Callable[[], None]) -> None:
    """Do the work of a command, and end with its exit code."""
    raise typer.Exit(guarded("partita", action))
