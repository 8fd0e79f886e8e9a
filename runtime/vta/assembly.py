"""What the text and JSON forms of a program have in common: its parts as written, and the program made of them."""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from partita.runtime.vta import isa
from partita.runtime.vta.asm import AssemblyError
from partita.runtime.vta.buffers import Buffer, Bytes, Layer, Role
from partita.runtime.vta.builder import Handle, ProgramBuilder
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.program import Program

VERSION = 1
"""The version of both forms."""


@dataclass
class Declaration:
    """A buffer as written: its size may follow from a tensor or contents, and its place be left open."""

    name: str
    role: Role
    size: int | None = None
    offset: int | None = None
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    layout: str | None = None
    contents: Bytes | None = None


@dataclass
class Source:
    """A program, or a bare stream without buffers, as written."""

    config: HardwareConfig
    declarations: dict[str, Declaration] = field(default_factory=dict[str, Declaration])
    rows: list[Mapping[str, int]] = field(default_factory=list[Mapping[str, int]])
    """The fields of each instruction that are not 0."""

    operands: dict[int, str] = field(default_factory=dict[int, str])
    """The buffers that instructions name."""

    launches: list[int] = field(default_factory=list[int])
    """The first instruction of each launch; where there is none, every FINISH ends a launch."""

    layers: list[Layer] = field(default_factory=list[Layer])

    @property
    def is_stream(self) -> bool:
        """Whether there are instructions only, which say absolutely what they mean in DRAM."""
        return not self.declarations

    def stream(self) -> isa.Instructions:
        """Return the instructions; raises `AssemblyError` for numbers that no field holds."""
        stream = isa.instructions(len(self.rows))
        table = isa.columns(stream)
        for number, row in enumerate(self.rows):
            for name, value in row.items():
                if not -(1 << 63) <= value < 1 << 63:
                    raise AssemblyError(
                        f"instruction {number}: {name} {value} is too large"
                    )
                table[number, isa.COLUMNS[name]] = value
        return stream

    def program(self) -> Program:
        """Return the program.

        Raises `AssemblyError` for buffers that are named and not declared, `IsaError` and `ProgramError`.
        """
        builder = ProgramBuilder(self.config)
        handles = {
            each.name: self._declare(builder, each)
            for each in self.declarations.values()
        }
        targets = np.full(len(self.rows), -1)
        for number, name in self.operands.items():
            if name not in handles:
                raise AssemblyError(
                    f"instruction {number}: no buffer {name} is declared"
                )
            targets[number] = handles[name].number
        builder.extend(self.stream(), targets)
        program = builder.build()
        launches = program.launches
        if self.launches:
            ends = (*self.launches, len(self.rows))
            launches = tuple(range(*pair) for pair in pairwise(ends))
        return replace(program, launches=launches, layers=tuple(self.layers))

    def _declare(self, builder: ProgramBuilder, declared: Declaration) -> Handle:
        return builder.buffer(
            declared.name,
            declared.role,
            declared.size,
            dtype=declared.dtype,
            shape=declared.shape,
            layout=declared.layout,
            offset=declared.offset,
            contents=declared.contents,
        )


def written_operands(program: Program) -> dict[int, str]:
    """Return the name of the buffer that each instruction refers to."""
    return {
        row: program.buffers[int(target)].name
        for row, target in program.relocations.tolist()
    }


def written_uops(buffer: Buffer, config: HardwareConfig) -> "isa.Uops | None":
    """Return contents as micro-ops, or none where those do not say all that is there."""
    if buffer.role != "uop" or buffer.contents is None or buffer.size % 4:
        return None
    uops = isa.decode_uops(buffer.contents, config)
    kept = isa.encode_uops(uops, config).view(np.uint8)
    return uops if np.array_equal(kept, buffer.contents) else None


def read_uops(rows: Sequence[tuple[int, int, int]], config: HardwareConfig) -> Bytes:
    """Return the bytes of micro-ops; raises `IsaError`."""
    uops: isa.Uops = np.array(list(rows), isa.UOP)
    return isa.encode_uops(uops, config).view(np.uint8)


def written_data(contents: Bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(contents.data).decode()


def read_data(texts: Iterable[str], name: str) -> Bytes:
    """Return the bytes that base64 stands for; raises `AssemblyError`."""
    try:
        data = base64.b64decode("".join(texts), validate=True)
    except (binascii.Error, ValueError):
        raise AssemblyError(f"expected the data of {name} in base64") from None
    return np.frombuffer(data, np.uint8)
