"""Programs for a VTA, as data that can be stored, placed anywhere in memory, and run again.

A program is a stream of instructions, cut into launches, and the buffers in DRAM that it uses, which lie in one arena.
In the stream, `dram_base` counts from the start of a buffer; relocations say which buffer each instruction means. So
the program is the same wherever the arena is, and `resolved` gives the stream for one place.

`docs/vta-program.md` specifies the file.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from partita.errors import PartitaError
from partita.runtime.files import replacing
from partita.runtime.json_reader import Node
from partita.runtime.plan import ALIGNMENT
from partita.runtime.tensors import content, decode
from partita.runtime.vta import isa
from partita.runtime.vta.buffers import (
    ROLES,
    Buffer,
    Bytes,
    Layer,
    ProgramError,
    overlaps,
)
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.fields import DRAM_BITS
from partita.runtime.vta.records import Record

FORMAT, VERSION = "partita.vta", 1

Relocations = NDArray[np.int64]
"""`int64[M, 2]`: an instruction, and the buffer that its `dram_base` counts from; by increasing instruction."""


@dataclass(frozen=True, eq=False)
class Program:
    """A program; raises `ProgramError` unless all its parts fit each other.

    Every instruction can be encoded; one that moves data has a relocation, and what it moves is inside the buffer. What
    happens on chip is not looked at.
    """

    config: HardwareConfig
    instructions: isa.Instructions
    """The whole stream; `dram_base` counts elements from the start of a buffer."""

    launches: tuple[range, ...]
    """The instructions of each launch, all instructions in order. Tokens carry over from launch to launch."""

    buffers: tuple[Buffer, ...]
    relocations: Relocations
    layers: tuple[Layer, ...] = ()

    def __post_init__(self) -> None:
        _check(self)

    @property
    def arena_bytes(self) -> int:
        """The size of the arena, which holds all buffers."""
        return max((each.end for each in self.buffers), default=0)

    @cached_property
    def alignment(self) -> int:
        """What the address of the arena must be a multiple of, in bytes: 64, or the size of the largest element."""
        sizes = isa.element_bytes(self.config)
        memories = self.instructions["memory"][self.relocations[:, 0]]
        return max(ALIGNMENT, int(sizes[memories].max(initial=0)))

    def buffer(self, name: str) -> Buffer:
        """Return the buffer with a name; raises `ProgramError` if there is none."""
        for each in self.buffers:
            if each.name == name:
                return each
        raise ProgramError(f"the program has no buffer {name}")

    def resolved(self, base: int = 0) -> isa.Instructions:
        """Return the stream for an arena at this address in bytes: `dram_base` counts elements from address 0.

        Raises `ProgramError` if the address is not aligned, or too high for the 32 bits of `dram_base`.
        """
        if base < 0 or base % self.alignment:
            raise ProgramError(
                f"expected an arena at a multiple of {self.alignment}, got address {base}"
            )
        stream = self.instructions.copy()
        stream["dram_base"] = self.dram_bases(base)
        if stream["dram_base"].max(initial=0) >= 1 << DRAM_BITS:
            raise ProgramError(
                f"expected {self.arena_bytes} bytes where {DRAM_BITS} bits can name all elements, got address {base}"
            )
        return stream

    def dram_bases(self, base: int = 0) -> NDArray[np.int64]:
        """Return the `dram_base` of each instruction of `resolved`, not checked."""
        rows = self.relocations[:, 0]
        offsets = np.array([each.offset for each in self.buffers], np.int64)
        starts = base + offsets[self.relocations[:, 1]]
        sizes = isa.element_bytes(self.config)[self.instructions["memory"][rows]]
        dram_bases = self.instructions["dram_base"].copy()
        dram_bases[rows] += starts // sizes
        return dram_bases

    def memory(self, inputs: Mapping[str, NDArray[Any]] | None = None) -> Bytes:
        """Return the arena before a run, `uint8[arena_bytes]`: contents and inputs in place, all else 0.

        Raises `ProgramError` for inputs that are missing, unknown, or do not fit.
        """
        inputs = {} if inputs is None else inputs
        wanted = {each.name: each for each in self.buffers if each.role == "input"}
        for name in inputs.keys() - wanted.keys():
            raise ProgramError(
                f"expected inputs {', '.join(wanted) or 'none'}, got {name}"
            )
        arena = np.zeros(self.arena_bytes, np.uint8)
        for each in self.buffers:
            if each.contents is not None:
                arena[each.offset : each.end] = each.contents
        for each in wanted.values():
            if each.name in inputs:
                data = np.frombuffer(_content(each, inputs[each.name]), np.uint8)
                arena[each.offset : each.offset + len(data)] = data
            elif each.contents is None:
                raise ProgramError(f"input {each.name} is missing")
        return arena

    def outputs(self, memory: Bytes) -> dict[str, NDArray[Any]]:
        """Return a copy of each output that an arena holds, as the tensor that it is, or as bytes.

        Raises `ProgramError` for memory that is too small to be an arena.
        """
        if len(memory) < self.arena_bytes:
            raise ProgramError(
                f"expected memory of {self.arena_bytes} bytes, got {len(memory)}"
            )
        found: dict[str, NDArray[Any]] = {}
        for each in self.buffers:
            if each.role == "output":
                data = memory[each.offset : each.end].copy()
                if each.dtype is not None and each.shape is not None:
                    data = data[: each.tensor_bytes].view(each.dtype)
                    data = data.reshape(each.shape)
                found[each.name] = data
        return found

    @staticmethod
    def of_record(source: "str | PathLike[str] | Record") -> "Program":
        """Return the program that a record holds; see `Record.read`."""
        record = source if isinstance(source, Record) else Record.read(source)
        return Program(
            record.config,
            record.instructions,
            record.launches,
            record.buffers,
            record.relocations,
            record.layers,
        )

    def to_bytes(self) -> bytes:
        """Return the file: a safetensors file with a JSON header. Equal programs make equal files."""
        from safetensors.numpy import save

        header = {
            "format": FORMAT,
            "version": VERSION,
            "config": self.config.to_json(),
            "launches": [each.stop for each in self.launches],
            "buffers": [_buffer_json(each) for each in self.buffers],
            "layers": [
                {
                    "name": each.name,
                    "origin": each.origin,
                    "begin": each.range.start,
                    "end": each.range.stop,
                }
                for each in self.layers
            ],
        }
        arrays: dict[str, NDArray[Any]] = {
            "instructions": isa.encode(self.instructions, self.config),
            "relocations": np.ascontiguousarray(self.relocations, "<i8"),
        }
        for number, each in enumerate(self.buffers):
            if each.contents is not None:
                arrays[f"buffer.{number}"] = np.ascontiguousarray(each.contents)
        return save(arrays, {"program": json.dumps(header)})

    @staticmethod
    def of_bytes(data: bytes | memoryview, where: str = "program") -> "Program":
        """Return the program of a file's bytes, which it goes on using; raises `ProgramError` for others."""
        try:
            return _parse(memoryview(data), where)
        except PartitaError as error:
            text = str(error)
            text = text if text.startswith(where) else f"{where}: {text}"
            raise ProgramError(text) from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file, or leave nothing behind and raise `ProgramError`."""
        data = self.to_bytes()
        try:
            with replacing(Path(path)) as stream:
                stream.write(data)
        except OSError as error:
            raise ProgramError(
                f"cannot write program {path}: {error.strerror or error}"
            ) from None

    @staticmethod
    def load(path: str | PathLike[str]) -> "Program":
        """Read a file, whose buffers stay memory-mapped; raises `ProgramError`."""
        try:
            with Path(path).open("rb") as stream:
                empty = not stream.seek(0, 2)
                data = b"" if empty else mmap(stream.fileno(), 0, access=ACCESS_READ)
        except OSError as error:
            raise ProgramError(
                f"cannot read program {path}: {error.strerror or error}"
            ) from None
        return Program.of_bytes(memoryview(data), str(path))


def _buffer_json(buffer: Buffer) -> dict[str, object]:
    named = {
        "name": buffer.name,
        "role": buffer.role,
        "size": buffer.size,
        "offset": buffer.offset,
        "dtype": buffer.dtype,
        "shape": None if buffer.shape is None else list(buffer.shape),
        "layout": buffer.layout,
    }
    return {key: value for key, value in named.items() if value is not None}


def _parse(data: memoryview, where: str) -> Program:
    size = int.from_bytes(data[:8], "little") + 8
    if not 10 <= size <= len(data) or data[8] != ord("{"):
        raise ProgramError(
            f"{where}: expected a VTA program; this is another file, or a damaged one"
        )
    header = Node.parse(bytes(data[8:size]), where)
    if "__metadata__" not in header or "program" not in header["__metadata__"]:
        raise ProgramError(f"{where} is no VTA program")
    text = header["__metadata__"]["program"].string()
    about = Node.parse(text.encode(), where)
    if about["format"].value != FORMAT or about["version"].value != VERSION:
        raise ProgramError(
            f"{where}: expected {FORMAT} of version {VERSION}, got "
            f"{about['format'].value} of version {about['version'].value}"
        )
    arrays = decode(data, where)
    config = HardwareConfig.load(
        {key: node.value for key, node in about["config"].fields().items()}
    )
    buffers = tuple(
        _read_buffer(node, arrays.get(f"buffer.{number}"))
        for number, node in enumerate(about["buffers"].items())
    )
    stream = isa.decode(_array(arrays, "instructions", "uint8", where), config)
    relocations = _array(arrays, "relocations", "int64", where)
    stops = about["launches"].each(Node.integer)
    layers = tuple(
        Layer(
            node["name"].string(),
            node["origin"].string(),
            range(node["begin"].integer(), node["end"].integer()),
        )
        for node in about["layers"].items()
    )
    return Program(
        config,
        stream,
        tuple(
            range(start, stop) for start, stop in zip((0, *stops), stops, strict=False)
        ),
        buffers,
        cast(Relocations, relocations),
        layers,
    )


def _read_buffer(node: Node, contents: "NDArray[Any] | None") -> Buffer:
    role = node["role"]
    if role.value not in ROLES:
        raise role.fail(f"a role of {', '.join(ROLES)}")
    return Buffer(
        name=node["name"].string(),
        role=role.value,
        size=node["size"].integer(),
        offset=node["offset"].integer(),
        dtype=node["dtype"].string() if "dtype" in node else None,
        shape=node["shape"].each(Node.integer) if "shape" in node else None,
        layout=node["layout"].string() if "layout" in node else None,
        contents=contents,
    )


def _array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: str, where: str
) -> NDArray[Any]:
    if name not in arrays or arrays[name].dtype != dtype or arrays[name].ndim != 2:
        raise ProgramError(f"{where}: expected {name} of two dimensions, of {dtype}")
    return arrays[name]


def _content(buffer: Buffer, data: NDArray[Any]) -> memoryview:
    """Return the bytes of an input, if it is what the buffer takes."""
    expected = (buffer.dtype, buffer.shape)
    if buffer.dtype is not None and (data.dtype.name, data.shape) != expected:
        raise ProgramError(
            f"input {buffer.name}: expected {buffer.dtype}{list(buffer.shape or ())}, "
            f"got {data.dtype.name}{list(data.shape)}"
        )
    if buffer.dtype is None and data.nbytes != buffer.size:
        raise ProgramError(
            f"input {buffer.name}: expected {buffer.size} bytes, got {data.nbytes}"
        )
    return content(data)


def _check(program: Program) -> None:
    """Raise `ProgramError` unless ranges, buffers and relocations fit each other and the stream."""
    try:
        isa.check_fields(program.instructions, program.config)
    except isa.IsaError as error:
        raise ProgramError(str(error)) from None
    _check_ranges(program)
    _check_buffers(program)
    _check_relocations(program)
    _check_accesses(program)


def _check_ranges(program: Program) -> None:
    """Raise unless launches and layers are ranges of the stream."""
    count = len(program.instructions)
    ends = [0, *(each.stop for each in program.launches)]
    parts = [range(*pair) for pair in pairwise(ends)]
    if list(program.launches) != parts or not all(parts) or ends[-1] != count:
        raise ProgramError(
            f"expected launches that divide all {count} instructions in order, none of them empty"
        )
    for layer in program.layers:
        if not 0 <= layer.range.start <= layer.range.stop <= count:
            raise ProgramError(
                f"layer {layer.name}: expected instructions 0 to {count}, got {layer.range.start} to {layer.range.stop}"
            )


def _check_buffers(program: Program) -> None:
    """Raise unless names are unique, and no buffer lies where it must not."""
    names = Counter(each.name for each in program.buffers)
    for name, times in names.items():
        if times > 1:
            raise ProgramError(f"{times} buffers are named {name}")
    if program.arena_bytes > 1 << DRAM_BITS:
        raise ProgramError(
            f"expected an arena that {DRAM_BITS} bits can address, got {program.arena_bytes} bytes"
        )
    pair = overlaps(program.buffers)
    if pair is not None:
        raise ProgramError(f"buffers {pair[0].name} and {pair[1].name} overlap")


def _check_relocations(program: Program) -> None:
    """Raise unless relocations are pairs of what exists, in order."""
    relocations = program.relocations
    if relocations.ndim != 2 or relocations.shape[1] != 2:
        raise ProgramError("expected relocations of an instruction and a buffer each")
    rows, targets = relocations.T
    if (
        np.any(rows[1:] <= rows[:-1])
        or np.any((rows < 0) | (rows >= len(program.instructions)))
        or np.any((targets < 0) | (targets >= len(program.buffers)))
    ):
        raise ProgramError(
            "expected relocations of instructions and buffers that exist, each instruction once and in order"
        )


def _check_accesses(program: Program) -> None:
    """Raise unless every instruction that moves data refers to a buffer, within which it stays."""
    stream, (rows, targets) = program.instructions, program.relocations.T
    reach = isa.dram_elements(stream)
    missing = reach != 0
    missing[rows] = False
    if missing.any():
        raise ProgramError(
            f"instruction {int(missing.argmax())} moves data, and refers to no buffer"
        )
    idle = (stream["opcode"][rows] > isa.Opcode.STORE) | (reach[rows] == 0)
    if idle.any():
        raise ProgramError(
            f"instruction {rows[int(idle.argmax())]} moves no data, and refers to a buffer"
        )
    sizes = isa.element_bytes(program.config)[stream["memory"][rows]]
    offsets = np.array([each.offset for each in program.buffers], np.int64)
    lengths = np.array([each.size for each in program.buffers], np.int64)
    starts = stream["dram_base"][rows] * sizes
    ends = starts + reach[rows] * sizes
    bad = (starts < 0) | (ends > lengths[targets]) | (offsets[targets] % sizes != 0)
    if bad.any():
        first = int(bad.argmax())
        buffer = program.buffers[int(targets[first])]
        raise ProgramError(
            f"instruction {rows[first]} moves bytes {starts[first]} to {ends[first]} of buffer {buffer.name}, "
            f"in elements of {sizes[first]}; the buffer has {buffer.size} bytes at offset {buffer.offset}"
        )
