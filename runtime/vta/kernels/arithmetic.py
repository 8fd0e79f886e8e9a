"""GEMM and ALU: micro-ops under two loops, whose indices move with the loops.

What checks an instruction comes first and on its own, so that what executes it need not look out.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from partita.runtime.vta.isa import AluOpcode, Memory, Module
from partita.runtime.vta.kernels.emitter import Array, Value, ir, vector
from partita.runtime.vta.kernels.hazards import Hazards
from partita.runtime.vta.kernels.layout import CHUNK, Layout
from partita.runtime.vta.kernels.moves import resized
from partita.runtime.vta.kernels.state import Fault, Step

UNROLLED = 16
"""Most pairs of columns whose products are added up without a loop."""

INT = ir.IntType(32)

WIDTH = 32
"""Bits that sums and the ALU compute with; accumulators may keep fewer."""


@dataclass(frozen=True)
class Operand:
    """An index of a micro-op: its field, the memory it points into, and what the loops add to it."""

    field: str
    memory: str
    number: Memory
    factors: str

    def depth(self, layout: Layout) -> int:
        return getattr(layout.config, f"{self.memory}_depth")


DST = Operand("dst", "acc", Memory.ACC, "dst_factor")
INP = Operand("src", "inp", Memory.INP, "src_factor")
SRC = Operand("src", "acc", Memory.ACC, "src_factor")
WGT = Operand("wgt", "wgt", Memory.WGT, "wgt_factor")


class Nest:
    """The loops of a GEMM or ALU instruction, over the operands that it has."""

    def __init__(self, step: Step, layout: Layout, *operands: Operand):
        self._step = step
        self._layout = layout
        self.operands = operands
        self._uops = step.array(step.memory("uop"), 32, signed=False)
        self.outer, self.inner = step("iter_out"), step("iter_in")
        self.begin, self.end = step("uop_bgn"), step("uop_end")

    @property
    def executions(self) -> Value:
        """How many times micro-ops are executed."""
        return self.outer * self.inner * (self.end - self.begin).larger(0)

    def fields(self, number: Value) -> list[Value]:
        """Return the operands of a micro-op, as they are where loops begin."""
        uop = self._uops[number]
        layout = self._layout.config.fields.uop
        places = [layout[each.field] for each in self.operands]
        return [(uop >> each.first) & ((1 << each.width) - 1) for each in places]

    @contextmanager
    def each(self) -> Generator[list[Value]]:
        """Go through all executions of micro-ops; yields the index of each operand."""
        step = self._step
        factors = [
            (step(f"{each.factors}_out"), step(f"{each.factors}_in"))
            for each in self.operands
        ]
        # Without micro-ops, do not count through empty loops.
        times = (self.begin < self.end).choose(self.outer, 0)
        with step.range(times) as outer, step.range(self.inner) as inner:
            bases = [outer * one + inner * other for one, other in factors]
            with step.range(self.end, self.begin) as number:
                yield [
                    field + base
                    for field, base in zip(self.fields(number), bases, strict=True)
                ]


def emit_check(
    module: Any, layout: Layout, name: str, *operands: Operand, reads: bool
) -> Step:
    """Emit the checks of an instruction whose first operand is written, and all of which are read, if it `reads`."""
    step = Step(module, f"check_{name}")
    step.hide()
    nest = Nest(step, layout, *operands)
    nothing = (nest.begin >= nest.end) | (nest.outer * nest.inner).equals(0)
    with step.when(nothing):
        step.leave(Fault.NONE)
    depth = layout.config.uop_depth
    with step.when(nest.end > depth, likely=False):
        step.fault(Fault.SRAM, Memory.UOP, nest.begin.larger(depth))
    checked = step.state("checked").differs(0)
    with step.when(checked):
        uops = Hazards(step, "uop", Module.COMPUTE)
        with step.range(nest.end, nest.begin) as number:
            uops.read(number)
    _check_indices(step, layout, nest)
    with step.when(checked):
        tables = [Hazards(step, each.memory, Module.COMPUTE) for each in operands]
        with nest.each() as indices:
            if reads:
                for table, index in zip(tables, indices, strict=True):
                    table.read(index)
            tables[0].write(indices[0])
    step.leave(Fault.NONE)
    return step


def _check_indices(step: Step, layout: Layout, nest: Nest) -> None:
    """Compare the largest index of each operand with what exists: the loops only add to indices."""
    largest = [step.variable(0) for _ in nest.operands]
    with step.range(nest.end, nest.begin) as number:
        for field, most in zip(nest.fields(number), largest, strict=True):
            most.value = field.larger(most.value)
    for operand, most in zip(nest.operands, largest, strict=True):
        index = (
            most.value
            + (nest.outer - 1) * step(f"{operand.factors}_out")
            + (nest.inner - 1) * step(f"{operand.factors}_in")
        )
        with step.when(index >= operand.depth(layout), likely=False):
            step.fault(Fault.SRAM, operand.number, index)


def emit_reset(module: Any, layout: Layout) -> Step:
    """Emit the GEMM that writes zeros."""
    step = Step(module, "reset")
    step.hide()
    nest = Nest(step, layout, DST)
    step.count("resets", nest.executions)
    lanes, width = layout.lanes, layout.acc_bits
    chunk = min(lanes, CHUNK)
    acc = step.array(step.memory("acc"), width * chunk)
    with nest.each() as (target,), step.range(step.word(lanes // chunk)) as part:
        place = acc.address(target * (lanes // chunk) + part)
        zeros = ir.Constant(vector(chunk, width), None)
        step.builder.store(zeros, place, align=width // 8)
    step.leave(Fault.NONE)
    return step


def emit_gemm(module: Any, layout: Layout) -> Step:
    """Emit GEMM: each accumulator row gains the product of an input row with a weight element, transposed."""
    step = Step(module, "gemm")
    step.hide()
    nest = Nest(step, layout, DST, INP, WGT)
    step.count("gemms", nest.executions)
    batch, rows, groups = layout.config.batch, layout.rows, layout.groups
    pairs, factor = layout.pairs, layout.factor_bits
    acc = step.array(step.memory("acc"), layout.acc_bits * rows)
    inp = step.array(step.memory("inp"), 2 * factor)
    wgt = step.array(step.memory("wgt"), 2 * factor * rows)
    with (
        nest.each() as (target, source, weight),
        step.range(step.word(batch)) as line,
        step.range(step.word(groups)) as group,
    ):
        at = acc.address((target * batch + line) * groups + group)
        row = (source * batch + line) * pairs
        block = (weight * groups + group) * pairs
        _accumulate(step, layout, at, inp, wgt, row, block)
    step.leave(Fault.NONE)
    return step


def _accumulate(
    step: Step,
    layout: Layout,
    at: Any,
    inp: Array,
    wgt: Array,
    row: Value,
    block: Value,
) -> None:
    """Add the products of all pairs to the accumulators of a group of rows."""
    builder, rows = step.builder, layout.rows
    align = layout.acc_bits // 8
    kept = builder.load(at, typ=vector(rows, layout.acc_bits), align=align)
    start = resized(builder, kept, rows, WIDTH)
    if layout.pairs <= UNROLLED:
        total = start
        for pair in range(layout.pairs):
            total = builder.add(
                total, _products(step, layout, inp, wgt, row + pair, block + pair)
            )
    else:
        with builder.goto_entry_block():
            sums = builder.alloca(vector(rows, WIDTH))
        builder.store(start, sums)
        with step.range(step.word(layout.pairs)) as pair:
            more = _products(step, layout, inp, wgt, row + pair, block + pair)
            before = builder.load(sums, typ=vector(rows, WIDTH))
            builder.store(builder.add(before, more), sums)
        total = builder.load(sums, typ=vector(rows, WIDTH))
    builder.store(resized(builder, total, rows, layout.acc_bits), at, align=align)


def _products(
    step: Step, layout: Layout, inp: Array, wgt: Array, row: Value, block: Value
) -> Any:
    """Return a pair of inputs times a pair of weights of each row."""
    builder, rows, factor = step.builder, layout.rows, layout.factor_bits
    align = factor // 8
    pair = builder.load(inp.address(row), typ=ir.IntType(2 * factor), align=align)
    one = builder.insert_element(
        ir.Constant(vector(rows, 2 * factor), ir.Undefined),
        pair,
        ir.Constant(INT, 0),
    )
    same = ir.Constant(vector(rows, 32), None)
    spread = builder.shuffle_vector(one, one, same)
    inputs = builder.bitcast(spread, vector(2 * rows, factor))
    weights = builder.load(
        wgt.address(block), typ=vector(2 * rows, factor), align=align
    )
    wide = [resized(builder, each, 2 * rows, WIDTH) for each in (inputs, weights)]
    products = builder.mul(*wide)
    even, odd = (
        builder.shuffle_vector(
            products,
            products,
            ir.Constant(vector(rows, 32), [2 * lane + first for lane in range(rows)]),
        )
        for first in (0, 1)
    )
    return builder.add(even, odd)


def emit_alu(module: Any, layout: Layout, opcode: AluOpcode, *, imm: bool) -> Step:
    """Emit one ALU operation, with an immediate or with other accumulators as second operand."""
    name = f"alu_{opcode.name.lower()}_{'imm' if imm else 'src'}"
    step = Step(module, name)
    step.hide()
    nest = Nest(step, layout, DST) if imm else Nest(step, layout, DST, SRC)
    step.count("alus", nest.executions)
    builder, lanes, width = step.builder, layout.lanes, layout.acc_bits
    chunk = min(lanes, CHUNK)
    parts = lanes // chunk
    kept = vector(chunk, width)
    acc = step.array(step.memory("acc"), width * chunk)
    immediate = _spread(step, builder.trunc(step("imm").raw, INT), chunk)
    with nest.each() as indices, step.range(step.word(parts)) as part:
        places = [acc.address(index * parts + part) for index in indices]
        operands = [
            resized(builder, builder.load(at, typ=kept, align=width // 8), chunk, WIDTH)
            for at in places
        ]
        result = _operate(
            builder,
            opcode,
            operands[0],
            operands[1] if len(operands) > 1 else immediate,
        )
        builder.store(
            resized(builder, result, chunk, width), places[0], align=width // 8
        )
    step.leave(Fault.NONE)
    return step


def _spread(step: Step, value: Any, lanes: int) -> Any:
    """Return a vector that has a value in all lanes."""
    builder = step.builder
    one = builder.insert_element(
        ir.Constant(vector(lanes, WIDTH), ir.Undefined), value, ir.Constant(INT, 0)
    )
    return builder.shuffle_vector(one, one, ir.Constant(vector(lanes, 32), None))


def _operate(builder: Any, opcode: AluOpcode, left: Any, right: Any) -> Any:
    """Return what the ALU makes of two vectors; sums, products and shifts left wrap around."""
    match opcode:
        case AluOpcode.MIN:
            return builder.select(builder.icmp_signed("<", left, right), left, right)
        case AluOpcode.MAX:
            return builder.select(builder.icmp_signed(">", left, right), left, right)
        case AluOpcode.ADD:
            return builder.add(left, right)
        case AluOpcode.MUL:
            return builder.mul(left, right)
        case AluOpcode.SHR:
            return _shift(builder, left, right)


def _shift(builder: Any, value: Any, amount: Any) -> Any:
    """Multiply by a power of two and round down: by amounts from 32 on nothing is left but the sign, or nothing."""
    most = ir.Constant(amount.type, [WIDTH - 1] * amount.type.count)
    zeros = ir.Constant(amount.type, None)
    beyond = builder.icmp_signed(">", amount, most)
    right = builder.ashr(value, builder.select(beyond, most, amount))
    opposite = builder.sub(zeros, amount)
    within = builder.icmp_unsigned("<=", opposite, most)
    left = builder.shl(value, builder.select(within, opposite, zeros))
    left = builder.select(within, left, zeros)
    return builder.select(builder.icmp_signed("<", amount, zeros), left, right)
