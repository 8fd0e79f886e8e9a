"""LOAD and STORE: rows of elements between DRAM and the chip."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from partita.runtime.vta.isa import Memory, Module
from partita.runtime.vta.kernels.emitter import Value, ir, vector
from partita.runtime.vta.kernels.hazards import Hazards
from partita.runtime.vta.kernels.layout import CHUNK, Layout
from partita.runtime.vta.kernels.state import Fault, Step

Copy = Callable[[Step, Any, Any], None]
"""Emits the code that moves one element, given a pointer to its source and one to its destination."""


@dataclass(frozen=True)
class Move:
    """What a LOAD or STORE of a memory moves."""

    memory: Memory
    sram: str
    """The word of the state that points to the memory."""

    module: Module
    depth: int
    size: int
    """Bytes of an element on the chip."""

    dram_bytes: int
    copy: Copy


def moves(layout: Layout) -> list[Move]:
    """Return all moves of a configuration; STORE is that of `Memory.OUT`."""
    config = layout.config
    compute, load = Module.COMPUTE, Module.LOAD
    acc = ("acc", compute, config.acc_depth, layout.acc_size)
    words = _resize(1, 32, 32)
    lanes = layout.lanes
    return [
        Move(
            *(Memory.UOP, "uop", compute, config.uop_depth),
            *(config.uop_bytes, config.uop_bytes, words),
        ),
        Move(
            *(Memory.WGT, "wgt", load, config.wgt_depth),
            *(layout.wgt_size, config.wgt_bytes, _weights(layout)),
        ),
        Move(
            *(Memory.INP, "inp", load, config.inp_depth),
            *(layout.inp_size, config.inp_bytes, _inputs(layout)),
        ),
        Move(
            *(Memory.ACC, *acc, config.acc_bytes),
            _resize(lanes, layout.acc_bits, layout.acc_bits),
        ),
        Move(
            *(Memory.OUT, "acc", Module.STORE, config.acc_depth, layout.acc_size),
            *(config.out_bytes, _resize(lanes, layout.acc_bits, layout.out_bits)),
        ),
        Move(
            *(Memory.ACC_8BIT, *acc, config.acc8_bytes),
            _resize(lanes, 8, layout.acc_bits),
        ),
    ]


def _resize(lanes: int, source: int, target: int) -> Copy:
    """Copy integers, and extend their sign or keep their low bits."""

    def copy(step: Step, source_at: Any, target_at: Any) -> None:
        builder = step.builder
        chunk = min(lanes, CHUNK)
        with step.range(step.word(lanes // chunk)) as index:
            from_at = step.array(source_at, source * chunk).address(index)
            to_at = step.array(target_at, target * chunk).address(index)
            loaded = builder.load(from_at, typ=vector(chunk, source), align=1)
            builder.store(resized(builder, loaded, chunk, target), to_at, align=1)

    return copy


def resized(builder: Any, value: Any, lanes: int, width: int) -> Any:
    """Return a vector of integers with lanes of another width, by extending signs or dropping high bits."""
    had: int = value.type.element.width
    if had == width:
        return value
    change = builder.sext if had < width else builder.trunc
    return change(value, vector(lanes, width))


def _inputs(layout: Layout) -> Copy:
    """Widen the rows of an input; a single column gets a zero beside it."""
    width = layout.factor_bits
    columns = layout.config.batch * layout.config.block_in
    if layout.config.block_in > 1:
        return _resize(columns, layout.inp_bits, width)

    def copy(step: Step, source_at: Any, target_at: Any) -> None:
        source = step.array(source_at, layout.inp_bits)
        target = step.array(target_at, width)
        with step.range(step.word(columns)) as row:
            target[row * 2] = source[row]
            target[row * 2 + 1] = 0

    return copy


def _weights(layout: Layout) -> Copy:
    """Gather pairs of columns, of all rows of a group at once."""
    config, rows, pairs = layout.config, layout.rows, layout.pairs
    width, columns = layout.wgt_bits, min(config.block_in, 2)
    pair_type = ir.IntType(2 * width)

    def copy(step: Step, source_at: Any, target_at: Any) -> None:
        builder = step.builder
        source = step.array(source_at, width)
        target = step.array(target_at, 2 * rows * layout.factor_bits)
        with (
            step.range(step.word(layout.groups)) as group,
            step.range(step.word(pairs)) as pair,
        ):
            gathered = ir.Constant(vector(rows, 2 * width), None)
            for row in range(rows):
                place = (group * rows + row) * config.block_in + pair * columns
                loaded = builder.load(
                    source.address(place), typ=ir.IntType(columns * width), align=1
                )
                if columns == 1:
                    loaded = builder.zext(loaded, pair_type)
                gathered = builder.insert_element(
                    gathered, loaded, ir.Constant(ir.IntType(32), row)
                )
            flat = builder.bitcast(gathered, vector(2 * rows, width))
            wide = resized(builder, flat, 2 * rows, layout.factor_bits)
            builder.store(wide, target.address(group * pairs + pair), align=1)

    return copy


def emit_load(module: Any, move: Move, granule: int) -> Step:
    """Emit the LOAD of one memory: rows with zeros around them, one after the other on the chip."""
    step = Step(module, f"load_{move.memory.name.lower()}")
    step.hide()
    x_size, y_size, base = step("x_size"), step("y_size"), step("sram_base")
    left, right, above = step("x_pad_0"), step("x_pad_1"), step("y_pad_0")
    width = left + x_size + right
    total = width * (above + y_size + step("y_pad_1"))
    first = _check_ranges(step, move, base, total)
    with step.when(step.state("checked").differs(0)):
        _check_rows(step, move, granule, first, writes_dram=False)
        hazards = Hazards(step, move.sram, move.module)
        with step.range(base + total, base) as element:
            hazards.write(element)
    step.count(f"moved_{move.memory}" if move.memory else "moved", x_size * y_size)
    sram = step.array(step.memory(move.sram), 8 * move.size)
    dram = step.array(step.memory("dram"), 8)

    def clear(start: Value, count: Value) -> None:
        with step.range(start + count, start) as element:
            at = step.array(sram.address(element), 8)
            _clear(step, at.address(0), move.size)

    clear(base, width * above)
    with step.range(y_size) as row:
        start = base + width * (above + row)
        source = first + row * step("x_stride") * move.dram_bytes
        clear(start, left)
        with step.range(x_size) as column:
            move.copy(
                step,
                dram.address(source + column * move.dram_bytes),
                sram.address(start + left + column),
            )
        clear(start + left + x_size, right)
    clear(base + width * (above + y_size), width * step("y_pad_1"))
    step.leave(Fault.NONE)
    return step


def emit_store(module: Any, move: Move, granule: int) -> Step:
    """Emit STORE: the low bits of accumulators that lie one after the other, to rows in DRAM."""
    step = Step(module, "store")
    step.hide()
    x_size, y_size, base = step("x_size"), step("y_size"), step("sram_base")
    pads = (step(name) for name in ("x_pad_0", "x_pad_1", "y_pad_0", "y_pad_1"))
    padded = step.word(0)
    for pad in pads:
        padded = padded | pad
    with step.when(padded.differs(0), likely=False):
        step.fault(Fault.FIELD, move.memory, 0)
    total = x_size * y_size
    first = _check_ranges(step, move, base, total)
    with step.when(step.state("checked").differs(0)):
        hazards = Hazards(step, move.sram, move.module)
        with step.range(base + total, base) as element:
            hazards.read(element)
        _check_rows(step, move, granule, first, writes_dram=True)
    step.count(f"moved_{move.memory}", total)
    sram = step.array(step.memory(move.sram), 8 * move.size)
    dram = step.array(step.memory("dram"), 8)
    with step.range(y_size) as row:
        target = first + row * step("x_stride") * move.dram_bytes
        with step.range(x_size) as column:
            move.copy(
                step,
                sram.address(base + row * x_size + column),
                dram.address(target + column * move.dram_bytes),
            )
    step.leave(Fault.NONE)
    return step


def _check_ranges(step: Step, move: Move, base: Value, total: Value) -> Value:
    """Check that all elements exist on the chip and in the buffer; return where in memory the first row starts."""
    with step.when(base + total > move.depth, likely=False):
        step.fault(Fault.SRAM, move.memory, base.larger(move.depth))
    size = move.dram_bytes
    first = step.state("origin") + step("dram_base") * size
    rows = step("y_size")
    last = first + ((rows - 1) * step("x_stride") + step("x_size")) * size
    outside = (first < step.state("low")) | (last > step.state("high"))
    with step.when((rows > 0) & outside, likely=False):
        step.fault(Fault.DRAM, move.memory, first)
    return first


def _check_rows(
    step: Step, move: Move, granule: int, first: Value, *, writes_dram: bool
) -> None:
    """Look at every granule of DRAM that the instruction accesses."""
    hazards = Hazards(step, "dram", move.module)
    parts = move.dram_bytes // granule
    with step.range(step("y_size")) as row:
        start = (first >> granule.bit_length() - 1) + row * step("x_stride") * parts
        with step.range(start + step("x_size") * parts, start) as element:
            if writes_dram:
                hazards.write(element)
            else:
                hazards.read(element)


def _clear(step: Step, at: Any, size: int) -> None:
    """Write zeros over an element."""
    chunk = min(size, CHUNK)
    with step.range(step.word(size // chunk)) as index:
        place = step.array(at, 8 * chunk).address(index)
        step.builder.store(ir.Constant(vector(chunk, 8), None), place, align=1)
