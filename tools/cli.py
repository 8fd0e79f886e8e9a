"""`partita`: compile models, run and inspect what was compiled.

Each command's work is a module of its own, loaded when the command runs: running a model loads no compiler.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from partita.tools.commands.asm import asm_command
from partita.tools.commands.compile import compile_command
from partita.tools.commands.db import app as db_app
from partita.tools.commands.disasm import disasm_command
from partita.tools.commands.explain import explain_command
from partita.tools.commands.inspect import inspect_command
from partita.tools.commands.profile import profile_command
from partita.tools.commands.run import run_command
from partita.tools.commands.simulate import simulate_command
from partita.tools.commands.tasks import tasks_command
from partita.tools.guard import INTERRUPTED

COMMANDS: Mapping[str, Callable[..., None]] = {
    "compile": compile_command,
    "run": run_command,
    "inspect": inspect_command,
    "explain": explain_command,
    "profile": profile_command,
    "tasks": tasks_command,
    "simulate": simulate_command,
    "disasm": disasm_command,
    "asm": asm_command,
}

app = typer.Typer(
    name="partita",
    help="Compile dataflow graphs to machine code, and run them.",
    epilog="Environment: PARTITA_TRACEBACK=1 adds a Python traceback to errors.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


for _name, _command in COMMANDS.items():
    app.command(_name)(_command)
app.add_typer(db_app, name="db")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `partita`; return the exit code."""
    try:
        app(args=arguments, prog_name="partita")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0
