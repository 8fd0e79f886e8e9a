"""`partita`: compile models, run and inspect what was compiled.

Each command's work is a module of its own, loaded when the command runs: running a model loads no compiler.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import typer

from partita.tools.guard import INTERRUPTED, guarded

COMPILING, RUNNING, LOOKING = "What is compiled", "How it runs", "What is shown"

app = typer.Typer(
    name="partita",
    help="Compile dataflow graphs to machine code, and run them.",
    epilog="Environment: PARTITA_TRACEBACK=1 adds a Python traceback to errors.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

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


def _finish(action: Callable[[], None]) -> None:
    """Do the work of a command, and end with its exit code."""
    raise typer.Exit(guarded("partita", action))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"partita {version('partita')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Compile dataflow graphs to machine code, and run them."""


@app.command("compile")
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
    insert: Annotated[
        list[str] | None,
        typer.Option(
            metavar="after=PASS:PIPELINE",
            help="Passes of your own, in the syntax of `partita-opt -p`, to run after the last run "
            "of a pass of the pipeline; repeat for other places.",
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
    host_cpu: Annotated[
        str | None,
        typer.Option(
            metavar="CPU",
            help="The processor to make code for, by LLVM's name, such as `x86-64-v3`; this one by default.",
            rich_help_panel=COMPILING,
        ),
    ] = None,
    host_triple: Annotated[
        str | None,
        typer.Option(
            metavar="TRIPLE",
            help="The platform to make code for, such as `aarch64-linux-gnu`; this one by default.",
            rich_help_panel=COMPILING,
        ),
    ] = None,
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

    _finish(action)


@app.command("run")
def run_command(
    artifact: ArtifactFile,
    input: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="An input, from an `.npy` or `.npz` file; repeat for each. An `.npz` file without "
            "a name gives every input that it has.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
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
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Use at most N threads; by default, as many as there are CPUs.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
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

    _finish(action)


@app.command("inspect")
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

    _finish(action)


@app.command("explain")
def explain_command(
    model: ModelFile,
    target: Targets = None,
    shape: Shapes = None,
    entry: Entry = None,
    weights: WeightsFile = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print all that is known as JSON, and nothing else."
        ),
    ] = False,
    dot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the graph in Graphviz's language, a colour for each target. Needs the extra `viz`.",
            rich_help_panel=LOOKING,
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the graph, a colour for each target. Needs the extra `viz`.",
            rich_help_panel=LOOKING,
        ),
    ] = None,
) -> None:
    """Print where each op of a model runs, why not elsewhere, and what moves between targets."""

    def action() -> None:
        from partita.tools.explaining import ExplainRequest, explain_file

        explain_file(
            ExplainRequest(
                model,
                targets=target or (),
                shapes=shape or (),
                entry=entry,
                weights=weights,
                json=json,
                dot=dot,
                svg=svg,
            )
        )

    _finish(action)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `partita`; return the exit code."""
    try:
        app(args=arguments, prog_name="partita")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0
