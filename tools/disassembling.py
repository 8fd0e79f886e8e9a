"""`partita disasm`: the instructions, buffers and micro-ops of VTA code, as text or JSON."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from partita.runtime.vta.listing import program_text, stream_text
from partita.runtime.vta.program_json import program_json, stream_json
from partita.tools.outputs import check_writable, write_text
from partita.tools.vta_files import VtaCode, read_vta_code

BATCH = 4096
"""How many lines are printed at once."""


@dataclass(frozen=True)
class DisasmRequest:
    """What the command line asks for; see `partita disasm --help`."""

    file: Path
    output: Path | None = None
    config: str | None = None
    json: bool = False
    data: bool = True


def disassemble_file(request: DisasmRequest) -> None:
    """Print what a file holds, or write it to another."""
    if request.output is not None:
        check_writable(request.output)
    code = read_vta_code(request.file, request.config)
    written = _written(code, request)
    if request.output is None:
        _print(written)
    else:
        write_text(request.output, "".join(f"{line}\n" for line in written))


def _written(code: VtaCode, request: DisasmRequest) -> Iterator[str]:
    if code.program is None:
        write = stream_json if request.json else stream_text
        return write(code.stream, code.config)
    write = program_json if request.json else program_text
    return write(code.program, data=request.data)


def _print(written: Iterable[str]) -> None:
    lines = iter(written)
    while batch := list(islice(lines, BATCH)):
        sys.stdout.write("".join(f"{line}\n" for line in batch))
