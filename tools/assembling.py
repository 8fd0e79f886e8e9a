"""`partita asm`: VTA programs from their text or JSON."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from partita.errors import OptionError
from partita.runtime.files import replacing
from partita.runtime.vta import isa
from partita.runtime.vta.assembly import Source
from partita.tools.outputs import check_writable
from partita.tools.tables import size
from partita.tools.vta_files import STREAM, read_source

PROGRAM = ".vta"


@dataclass(frozen=True)
class AsmRequest:
    """What the command line asks for; see `partita asm --help`."""

    source: Path
    output: Path
    base: int = 0
    json: bool = False


@dataclass(frozen=True)
class Assembled:
    """What was written."""

    output: str
    instructions: int
    launches: int = 0
    buffers: int = 0
    arena_bytes: int = 0

    def __str__(self) -> str:
        text = f"{self.output}: {_counted(self.instructions, 'instruction')}"
        if not self.launches:
            return text
        parts = (
            _counted(self.launches, "launch", "es"),
            _counted(self.buffers, "buffer"),
            f"{size(self.arena_bytes)} of memory",
        )
        return ", ".join((text, *parts))


def assemble_file(request: AsmRequest) -> None:
    """Write a program or a bare stream, by the suffix of the output, and print what it has."""
    output = request.output
    if output.suffix not in (PROGRAM, STREAM):
        raise OptionError(
            f"expected an output that ends with {PROGRAM} or {STREAM}, got {output}"
        )
    check_writable(output)
    source = read_source(request.source)
    assemble = _assemble_stream if source.is_stream else _assemble_program
    done = assemble(source, request)
    print(json.dumps(asdict(done), indent=1) if request.json else done)


def _assemble_stream(source: Source, request: AsmRequest) -> Assembled:
    if request.output.suffix == PROGRAM:
        raise OptionError(
            f"{request.source} declares no buffers, so it is a stream and no program; write {STREAM}"
        )
    stream = source.stream()
    _write_stream(request.output, stream, source)
    return Assembled(str(request.output), len(stream))


def _assemble_program(source: Source, request: AsmRequest) -> Assembled:
    program = source.program()
    if request.output.suffix == PROGRAM:
        program.save(request.output)
    else:
        _write_stream(request.output, program.resolved(request.base), source)
    return Assembled(
        str(request.output),
        len(program.instructions),
        len(program.launches),
        len(program.buffers),
        program.arena_bytes,
    )


def _write_stream(output: Path, instructions: isa.Instructions, source: Source) -> None:
    data = isa.encode(instructions, source.config).tobytes()
    try:
        with replacing(output) as stream:
            stream.write(data)
    except OSError as error:
        raise OptionError(f"cannot write {output}: {error.strerror or error}") from None


def _counted(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}{'' if number == 1 else plural}"
