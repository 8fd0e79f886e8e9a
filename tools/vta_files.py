"""Files with VTA code that command lines are given: records, programs, their text and JSON, and bare streams."""

from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from partita.errors import OptionError, PartitaError
from partita.runtime.vta import HardwareConfig, Program, Record, isa
from partita.runtime.vta.assembly import Source

ARCHIVE = b"PK\x03\x04"
"""What `.npz` files start with."""

PROGRAM = b"\0{"
"""What `.vta` files have after seven bytes: a header that is not that long, of JSON."""

STREAM = ".bin"
"""The suffix of bare streams, which nothing in the file tells from other bytes."""


@dataclass(frozen=True, eq=False)
class VtaCode:
    """What a file holds: instructions always, and more of what they belong to where the file says."""

    config: HardwareConfig
    program: Program | None
    """The program; none for a bare stream."""

    record: Record | None
    """The record that it was made from, if it was."""

    stream: isa.Instructions
    """The instructions of a bare stream; else those of the program."""


def read_vta_code(path: Path, config: str | None = None) -> VtaCode:
    """Read any of these files, by what is in it.

    A `config`, a preset or a file, is required for a bare stream and takes the place of a record's own. Warns of what
    configs are warned about. Raises `OptionError` for a config that is not called for or missing, and what the file's
    reader raises.
    """
    start = _start(path)
    hardware = None if config is None else HardwareConfig.load(config)
    if start.startswith(ARCHIVE):
        _refuse_artifact(path)
        record = Record.read(path, hardware)
        return _of_program(Program.of_record(record), record)
    if path.suffix == STREAM:
        if hardware is None:
            raise OptionError(
                f"{path} does not say which hardware it is for; set --config"
            )
        return _read_stream(path, hardware)
    if hardware is not None:
        raise OptionError(
            f"{path} says itself which hardware it is for; leave out --config"
        )
    if start[7:9] == PROGRAM:
        return _of_program(Program.load(path))
    source = read_source(path)
    if source.is_stream:
        return VtaCode(source.config, None, None, source.stream())
    return _of_program(source.program())


def _refuse_artifact(path: Path) -> None:
    """Say of a compiled model what it lacks; it is an archive, as records are."""
    try:
        with ZipFile(path) as archive:
            members = archive.namelist()
    except (BadZipFile, OSError):
        return
    if "manifest.json" in members:
        raise OptionError(
            f"{path} is a compiled model without VTA programs: nothing in it is for an accelerator"
        )


def read_source(path: Path) -> Source:
    """Read the text or the JSON of a program or stream.

    Raises `OptionError` for a file that cannot be read, and `AssemblyError`.
    """
    from partita.runtime.vta.asm import AssemblyError
    from partita.runtime.vta.listing import parse_text
    from partita.runtime.vta.program_json import parse_json

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise OptionError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise OptionError(
            f"{path}: expected a record (.npz), a program (.vta), its text or JSON, or a stream ({STREAM})"
        ) from None
    try:
        return (parse_json if text.lstrip().startswith("{") else parse_text)(text)
    except PartitaError as error:
        raise AssemblyError(f"{path}: {error}") from None


def _of_program(program: Program, record: Record | None = None) -> VtaCode:
    return VtaCode(program.config, program, record, program.instructions)


def _read_stream(path: Path, config: HardwareConfig) -> VtaCode:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OptionError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        return VtaCode(config, None, None, isa.decode(data, config))
    except isa.IsaError as error:
        raise isa.IsaError(f"{path}: {error}") from None


def _start(path: Path) -> bytes:
    """Return the first bytes of a file."""
    try:
        with path.open("rb") as stream:
            return stream.read(16)
    except OSError as error:
        raise OptionError(f"cannot read {path}: {error.strerror or error}") from None
