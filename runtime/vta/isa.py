"""The VTA instruction set: whole streams between their bits and arrays of fields.

An instruction is 128 bits, a micro-op 32, both little-endian. Decoded, a stream is one structured array with a row for
each instruction, whose columns are all fields that any kind of instruction has; those that a kind lacks are 0. Every
function here works on whole arrays.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import PartitaError
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.fields import INSTRUCTION_BITS, UOP_BITS, Field, Layout

INSTRUCTION_BYTES = INSTRUCTION_BITS // 8

BLOCK = 4096
"""How many instructions are worked on at once: their rows fit in a cache."""


class IsaError(PartitaError):
    """Bits are no instruction, or an instruction cannot be written as bits."""


class Opcode(IntEnum):
    """What an instruction does."""

    LOAD = 0
    STORE = 1
    GEMM = 2
    FINISH = 3
    ALU = 4


class Memory(IntEnum):
    """The on-chip memory that a LOAD or STORE moves elements of."""

    UOP = 0
    WGT = 1
    INP = 2
    ACC = 3
    OUT = 4
    """The low bits of accumulators, for STORE."""

    ACC_8BIT = 5
    """Accumulators, from 8-bit integers in DRAM."""


class AluOpcode(IntEnum):
    """What the ALU does with an accumulator and another, or an immediate."""

    MIN = 0
    MAX = 1
    ADD = 2
    SHR = 3
    """Arithmetic shift right; a negative amount shifts left."""

    MUL = 4


class Module(IntEnum):
    """The three modules, each of which executes its instructions in order."""

    LOAD = 0
    COMPUTE = 1
    STORE = 2


FIELD_NAMES = (
    *("opcode", "pop_prev", "pop_next", "push_prev", "push_next"),
    *("memory", "sram_base", "dram_base", "y_size", "x_size", "x_stride"),
    *("y_pad_0", "y_pad_1", "x_pad_0", "x_pad_1"),
    *("reset", "uop_bgn", "uop_end", "iter_out", "iter_in"),
    *("dst_factor_out", "dst_factor_in", "src_factor_out", "src_factor_in"),
    *("wgt_factor_out", "wgt_factor_in", "alu_opcode", "use_imm", "imm"),
)

INSTRUCTION = np.dtype([(name, np.int64) for name in FIELD_NAMES])
"""A decoded instruction. A contiguous array can be viewed as `int64[N, 29]`."""

COLUMNS = {name: column for column, name in enumerate(FIELD_NAMES)}
"""The column of each field in that view."""

UOP = np.dtype([("dst", np.int64), ("src", np.int64), ("wgt", np.int64)])
"""A decoded micro-op: its accumulator, its input (for GEMM) or second accumulator (for ALU), and its weight."""

Instructions = NDArray[np.void]
"""An array of `INSTRUCTION`."""

Uops = NDArray[np.void]
"""An array of `UOP`."""

Bits = bytes | bytearray | memoryview | NDArray[np.uint8]


def instructions(count: int) -> Instructions:
    """Return that many instructions whose fields are all 0: LOADs of no micro-ops."""
    return np.zeros(count, INSTRUCTION)


def check_array(stream: Instructions) -> None:
    """Raise `IsaError` for an array that is no stream of instructions."""
    if stream.dtype != INSTRUCTION or stream.ndim != 1:
        kind = "INSTRUCTION" if stream.dtype == INSTRUCTION else stream.dtype
        raise IsaError(
            f"expected a stream as one dimension of INSTRUCTION, got {kind}{list(stream.shape)}"
        )


def columns(stream: Instructions) -> NDArray[np.int64]:
    """Return the view `int64[N, 29]` of a stream, which has to be contiguous."""
    return stream.view(np.int64).reshape(len(stream), len(FIELD_NAMES))


def element_bytes(config: HardwareConfig) -> NDArray[np.int64]:
    """Return the size in DRAM of an element of each `Memory`, by its number."""
    return np.array(
        [
            *(config.uop_bytes, config.wgt_bytes, config.inp_bytes),
            *(config.acc_bytes, config.out_bytes, config.acc8_bytes),
        ],
        np.int64,
    )


def module_of(stream: Instructions) -> NDArray[np.int8]:
    """Return the `Module` that executes each instruction."""
    opcode, memory = stream["opcode"], stream["memory"]
    modules = np.full(len(stream), Module.COMPUTE, np.int8)
    loads = (memory == Memory.INP) | (memory == Memory.WGT)
    modules[(opcode == Opcode.LOAD) & loads] = Module.LOAD
    modules[opcode == Opcode.STORE] = Module.STORE
    return modules


def moves_data(stream: Instructions) -> NDArray[np.bool_]:
    """Say which instructions are a LOAD or STORE that does more than pop and push tokens."""
    return (stream["opcode"] <= Opcode.STORE) & (stream["x_size"] != 0)


def dram_elements(stream: Instructions) -> NDArray[np.int64]:
    """Return how many elements lie in DRAM from the first of each LOAD or STORE to its last, 0 if it moves none."""
    rows, width = stream["y_size"], stream["x_size"]
    reach = (rows - 1) * stream["x_stride"] + width
    return np.where(moves_data(stream) & (rows > 0), reach, 0)


def decode(data: Bits, config: HardwareConfig) -> Instructions:
    """Return the instructions of a stream of bits, `uint8[N, 16]` or as many bytes.

    Bits that no field has are not looked at. Raises `IsaError` for a stream that ends within an instruction, and for
    what is no instruction of this hardware.
    """
    words = _words(data)
    stream = instructions(len(words))
    table = columns(stream)
    for rows in _blocks(len(words)):
        block = words[rows]
        for opcode, chosen in _kinds(block[:, 0] & np.uint64(7)):
            picked = block[chosen]
            for name, field in layout_of(opcode, config).items():
                table[rows.start + chosen, COLUMNS[name]] = _extract(picked, field)
    check(stream, config)
    return stream


def encode(stream: Instructions, config: HardwareConfig) -> NDArray[np.uint8]:
    """Return the bits of a stream, `uint8[N, 16]`.

    Raises `IsaError` for a field that does not fit or that its instruction lacks, and for what is no instruction of
    this hardware.
    """
    words = np.zeros((len(stream), INSTRUCTION_BYTES // 8), np.uint64)
    for numbers, picked, layout in _checked(stream, config):
        for name, field in layout.items():
            values = picked[:, COLUMNS[name]].astype(np.uint64)
            mask = np.uint64((1 << field.width) - 1)
            words[numbers, field.word] |= (values & mask) << np.uint64(field.shift)
    return words.view("<u8").view(np.uint8).reshape(len(stream), INSTRUCTION_BYTES)


def check_fields(stream: Instructions, config: HardwareConfig) -> None:
    """Raise `IsaError` for what `encode` refuses, without encoding anything."""
    for _ in _checked(stream, config):
        pass


def _checked(
    stream: Instructions, config: HardwareConfig
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64], Layout]]:
    """Yield instructions of one kind that bits can express: their numbers, their fields, and their layout."""
    check(stream, config)
    table = columns(np.ascontiguousarray(stream))
    for rows in _blocks(len(stream)):
        block = table[rows]
        for opcode, chosen in _kinds(block[:, 0]):
            numbers, picked = rows.start + chosen, block[chosen]
            layout = layout_of(opcode, config)
            _check_range(numbers, picked, opcode, layout)
            yield numbers, picked, layout


def layout_of(opcode: int, config: HardwareConfig) -> Layout:
    """Return the fields of instructions with this opcode."""
    match opcode:
        case Opcode.LOAD | Opcode.STORE:
            return config.fields.memory
        case Opcode.GEMM:
            return config.fields.gemm
        case Opcode.ALU:
            return config.fields.alu
        case _:
            return config.fields.finish


def check(stream: Instructions, config: HardwareConfig) -> None:
    """Raise `IsaError` for the first row that is no instruction of this hardware.

    That is what no VTA executes (an opcode or memory that does not exist, a LOAD of outputs, a STORE of anything else)
    and what this one lacks. What an instruction may access is not looked at.
    """
    check_array(stream)
    opcode, memory, alu = stream["opcode"], stream["memory"], stream["alu_opcode"]
    load, store = opcode == Opcode.LOAD, opcode == Opcode.STORE
    moves = moves_data(stream)
    known = [each.value for each in Memory]
    faults: list[tuple[NDArray[np.bool_], str]] = [
        (~np.isin(opcode, list(Opcode)), "expected opcode 0 to 4, got {opcode}"),
        (
            (load | store) & ~np.isin(memory, known),
            "expected memory 0 to 5, got {memory}",
        ),
        (load & moves & (memory == Memory.OUT), "expected no LOAD of OUT"),
        (
            store & moves & (memory != Memory.OUT),
            "expected a STORE of OUT (memory 4), got memory {memory}",
        ),
        (
            (opcode == Opcode.ALU) & ~np.isin(alu, list(AluOpcode)),
            "expected alu_opcode 0 to 4, got {alu_opcode}",
        ),
    ]
    if not config.alu_mul:
        multiplies = (opcode == Opcode.ALU) & (alu == AluOpcode.MUL)
        faults.append((multiplies, "this hardware has no MUL; set ALU_MUL"))
    if not config.acc_8bit:
        loads = load & moves & (memory == Memory.ACC_8BIT)
        faults.append((loads, "this hardware has no LOAD of ACC_8BIT; set ACC_8BIT"))
    first = [(int(fault.argmax()), text) for fault, text in faults if fault.any()]
    if first:
        number, text = min(first)
        row = {name: int(stream[name][number]) for name in FIELD_NAMES}
        raise IsaError(f"instruction {number}: {text.format(**row)}")


def decode_uops(data: Bits | NDArray[np.uint32], config: HardwareConfig) -> Uops:
    """Return the micro-ops of `uint32[N]`, or of as many bytes.

    Raises `IsaError` for bytes that end within a micro-op.
    """
    size = UOP_BITS // 8
    octets = np.frombuffer(_octets(data), np.uint8)
    if len(octets) % size:
        raise IsaError(
            f"expected micro-ops of {size} bytes each, got {len(octets)} bytes"
        )
    words = octets.view("<u4").astype(np.uint32, copy=False)
    uops = np.zeros(len(words), UOP)
    for name, field in config.fields.uop.items():
        mask = np.uint32((1 << field.width) - 1)
        uops[name] = (words >> np.uint32(field.first)) & mask
    return uops


def encode_uops(uops: Uops, config: HardwareConfig) -> NDArray[np.uint32]:
    """Return the bits of micro-ops, `uint32[N]`; raises `IsaError` for a field that does not fit."""
    words = np.zeros(len(uops), np.uint32)
    for name, field in config.fields.uop.items():
        values = uops[name]
        bad = (values < field.least) | (values > field.most)
        if bad.any():
            number = int(bad.argmax())
            raise IsaError(
                f"micro-op {number}: {_misfit(name, int(values[number]), field)}"
            )
        words |= values.astype(np.uint32) << np.uint32(field.first)
    return words


def _words(data: Bits) -> NDArray[np.uint64]:
    """Return the two 64-bit words of each instruction, `uint64[N, 2]`."""
    octets = np.frombuffer(_octets(data), np.uint8)
    if len(octets) % INSTRUCTION_BYTES:
        raise IsaError(
            f"expected instructions of {INSTRUCTION_BYTES} bytes each, got {len(octets)} bytes; the stream is truncated"
        )
    return octets.view("<u8").astype(np.uint64, copy=False).reshape(-1, 2)


def _octets(
    data: Bits | NDArray[np.uint32],
) -> bytes | bytearray | memoryview:
    """Return data as a contiguous buffer of bytes."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return data
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8).data


def _blocks(count: int) -> Iterator[slice]:
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def _kinds(
    opcodes: NDArray[Any],
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield each opcode that exists with the rows that have it."""
    for opcode in Opcode:
        rows = np.flatnonzero(opcodes == opcode)
        if len(rows):
            yield opcode.value, rows
    rows = np.flatnonzero(opcodes > max(Opcode))
    if len(rows):
        yield max(Opcode) + 1, rows


def _extract(words: NDArray[np.uint64], field: Field) -> NDArray[np.int64]:
    raw = words[:, field.word]
    if field.signed:
        left = np.uint64(64 - field.shift - field.width)
        return (raw << left).view(np.int64) >> np.int64(64 - field.width)
    mask = np.uint64((1 << field.width) - 1)
    return ((raw >> np.uint64(field.shift)) & mask).view(np.int64)


def _check_range(
    numbers: NDArray[np.intp], table: NDArray[np.int64], opcode: int, layout: Layout
) -> None:
    """Raise for the first field that does not fit, or that instructions of the kind lack."""
    least, most = (np.zeros(len(FIELD_NAMES), np.int64) for _ in range(2))
    for name, field in layout.items():
        least[COLUMNS[name]], most[COLUMNS[name]] = field.least, field.most
    bad = (table < least) | (table > most)
    if not bad.any():
        return
    row, column = (int(each) for each in np.argwhere(bad)[0])
    name, value = FIELD_NAMES[column], int(table[row, column])
    start = f"instruction {numbers[row]} ({Opcode(opcode).name}):"
    if name in layout:
        raise IsaError(f"{start} {_misfit(name, value, layout[name])}")
    raise IsaError(f"{start} has no field {name}, got {value}")


def _misfit(name: str, value: int, field: Field) -> str:
    return f"expected {name} from {field.least} to {field.most}, of {field.width} bits, got {value}"
