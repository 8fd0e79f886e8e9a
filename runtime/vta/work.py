"""How much of what a program executes is work: micro-ops by kind, and multiplications by padding.

A GEMM micro-op that reads an input element which a LOAD filled with zeros as padding multiplies by nothing; a better
program leaves it out. What micro-ops read is known where the micro-ops are: they are data in DRAM.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from partita.runtime.vta.buffers import Bytes
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.isa import (
    FIELD_NAMES,
    Instructions,
    Memory,
    Opcode,
    columns,
    decode_uops,
)
from partita.runtime.vta.timing import Words, executions, zero_filled


@dataclass(frozen=True)
class Work:
    """Micro-op executions, one element an instruction."""

    gemm: Words
    """Multiplications, those by padding too."""

    padding: Words | None
    """Multiplications by padding; `None` where they are not known."""

    reset: Words
    """GEMM micro-ops that set accumulators to zero."""

    alu: Words


def count_work(
    instructions: Instructions,
    config: HardwareConfig,
    order: Words,
    memory: Bytes | None = None,
    dram_base: Words | None = None,
) -> Work:
    """Count what each instruction executes; `order` has their numbers in a legal order of execution.

    `memory` holds the micro-ops; `dram_base` says for each instruction where in it, in elements, if its field does not.
    Without memory, multiplications by padding are known only of a program that never pads inputs: to be none.
    """
    runs = executions(instructions)
    gemm = instructions["opcode"] == Opcode.GEMM
    resets = instructions["reset"] != 0
    return Work(
        np.where(gemm & ~resets, runs, 0),
        _padding(instructions, config, order, memory, dram_base),
        np.where(gemm & resets, runs, 0),
        np.where(instructions["opcode"] == Opcode.ALU, runs, 0),
    )


def _padding(
    instructions: Instructions,
    config: HardwareConfig,
    order: Words,
    memory: Bytes | None,
    dram_base: Words | None,
) -> Words | None:
    """Return how many multiplications of each instruction read padding, if that is known."""
    counts = np.zeros(len(instructions), np.int64)
    opcode, kind = instructions["opcode"], instructions["memory"]
    loads = (opcode == Opcode.LOAD) & ((kind == Memory.INP) | (kind == Memory.UOP))
    inputs = instructions[loads & (kind == Memory.INP)]
    if not zero_filled(inputs).any():
        return counts
    if memory is None:
        return None
    gemms = (opcode == Opcode.GEMM) & (instructions["reset"] == 0)
    chosen = order[(loads | gemms)[order]]
    rows = instructions[chosen]
    if dram_base is not None:
        rows["dram_base"] = dram_base[chosen]
    buffers = _Buffers(config, memory)
    try:
        for number, row in zip(chosen.tolist(), _rows(rows), strict=True):
            if row["opcode"] == Opcode.GEMM:
                counts[number] = buffers.padding_read(row)
            elif row["memory"] == Memory.UOP:
                buffers.load_uops(row)
            else:
                buffers.load_inputs(row)
    except _UnknownError:
        return None
    return counts


Row = Mapping[str, int]
"""An instruction's fields."""


def _rows(instructions: Instructions) -> Iterator[Row]:
    for each in columns(instructions).tolist():
        yield dict(zip(FIELD_NAMES, each, strict=True))


class _UnknownError(Exception):
    """An instruction reads or writes what does not exist, or what nobody has written."""


class _Buffers:
    """The inputs that micro-ops name, and which elements of the input buffer are padding."""

    def __init__(self, config: HardwareConfig, memory: Bytes):
        self._config = config
        self._memory = memory
        self._sources = np.full(config.uop_depth, -1, np.int64)
        self._padding = np.zeros(config.inp_depth, np.int64)

    def load_uops(self, load: Row) -> None:
        rows, row = load["y_size"], load["x_size"]
        place = _place(load, self._sources)
        size, stride = self._config.uop_bytes, load["x_stride"]
        first = end = 0
        if rows and row:
            first = load["dram_base"] * size
            end = first + ((rows - 1) * stride + row) * size
        if first < 0 or end > len(self._memory):
            raise _UnknownError
        sources = decode_uops(self._memory[first:end], self._config)["src"]
        index = np.arange(rows)[:, None] * stride + np.arange(row)
        self._sources[place] = _padded(load, sources[index], 0)

    def load_inputs(self, load: Row) -> None:
        place = _place(load, self._padding)  # before anything of its size is made
        self._padding[place] = _padded(load, np.int64(0), 1)

    def padding_read(self, gemm: Row) -> int:
        """Return how many executions of micro-ops read padding.

        All iterations of a micro-op together read sums over windows of the buffer, which are the same for all
        micro-ops.
        """
        sources = self._sources[gemm["uop_bgn"] : gemm["uop_end"]]
        outer, inner = gemm["iter_out"], gemm["iter_in"]
        if not sources.size or not outer or not inner:
            return 0
        by_outer, by_inner = gemm["src_factor_out"], gemm["src_factor_in"]
        end = int(sources.max()) + (outer - 1) * by_outer + (inner - 1) * by_inner + 1
        if int(sources.min()) < 0 or end > len(self._padding):
            raise _UnknownError
        reads = _window_sums(self._padding[:end], inner, by_inner)
        return int(_window_sums(reads, outer, by_outer)[sources].sum())


def _place(load: Row, buffer: Words) -> slice:
    """Return the elements of a buffer that a LOAD writes."""
    above, rows, below, left, row, right = (load[each] for each in SHAPE)
    first = load["sram_base"]
    size = (above + rows + below) * (left + row + right) if row else 0
    if first + size > len(buffer):
        raise _UnknownError
    return slice(first, first + size)


def _padded(load: Row, inside: Words | np.int64, border: int) -> Words:
    """Return what a LOAD writes: rows of data, or all the same, with a border around them."""
    above, rows, below, left, row, right = (load[each] for each in SHAPE)
    if not row:
        return np.zeros(0, np.int64)
    whole = np.full((above + rows + below, left + row + right), border, np.int64)
    whole[above : above + rows, left : left + row] = inside
    return whole.reshape(-1)


SHAPE = ("y_pad_0", "y_size", "y_pad_1", "x_pad_0", "x_size", "x_pad_1")


def _window_sums(values: Words, count: int, step: int) -> Words:
    """Return at each place the sum of `count` values from there on, `step` apart; beyond the end they are 0."""
    if count == 1 or step == 0:
        return values * count
    size = len(values)
    columns = np.zeros((-(-size // step), step), np.int64)
    columns.reshape(-1)[:size] = values
    sums = np.cumsum(columns[::-1], axis=0)[::-1].reshape(-1)[:size].copy()
    reach = count * step
    if reach < size:
        sums[: size - reach] -= sums[reach:].copy()
    return sums
