"""`partita asm`: make VTA code of text."""

from pathlib import Path
from typing import Annotated

import typer

from partita.tools.commands.arguments import finish


def asm_command(
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="What `partita disasm` prints, or JSON."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT.vta|OUT.bin",
            help="The program to write, or the bits of its instructions alone.",
        ),
    ],
    base: Annotated[
        int,
        typer.Option(
            metavar="ADDRESS",
            min=0,
            help="Where the program's memory starts, in bytes, for the bits of its instructions.",
        ),
    ] = 0,
    json: Annotated[
        bool, typer.Option("--json", help="Print what was written as JSON.")
    ] = False,
) -> None:
    """Make a VTA program of its text or JSON."""

    def action() -> None:
        from partita.tools.assembling import AsmRequest, assemble_file

        assemble_file(AsmRequest(source, output, base, json))

    finish(action)
