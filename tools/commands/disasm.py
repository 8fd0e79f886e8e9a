"""`partita disasm`: show VTA code."""

from pathlib import Path
from typing import Annotated

import typer

from partita.tools.commands.arguments import LOOKING, VtaConfig, VtaFile, finish


def disasm_command(
    file: VtaFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write to a file, not to the screen."
        ),
    ] = None,
    config: VtaConfig = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write JSON, which `partita asm` reads too.")
    ] = False,
    no_data: Annotated[
        bool,
        typer.Option(
            "--no-data",
            help="Leave out the contents of buffers, except micro-ops.",
            rich_help_panel=LOOKING,
        ),
    ] = False,
) -> None:
    """Print the instructions, buffers and micro-ops of VTA code, in a form that `partita asm` reads back."""

    def action() -> None:
        from partita.tools.disassembling import DisasmRequest, disassemble_file

        disassemble_file(DisasmRequest(file, output, config, json, not no_data))

    finish(action)
