"""GEMM and ALU: micro-ops under two loops, whose indices move with the loops."""

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
        """Check that all micro-ops and indices exist, and begin nothing if there is nothing to do."""
        self._step = step
        self._layout = layout
        self._operands = operands
        self._uops = step.array(step.memory("uop"), 32, signed=False)
        self._outer, self._inner = step("iter_out"), step("iter_in")
        self._begin, self._end = step("uop_bgn"), step("uop_end")
        self.executions = self._outer * self._inner * (self._end - self._begin)
        nothing = (self._begin >= self._end) | (self._outer * self._inner).equals(0)
        with step.when(nothing):
            step.leave(Fault.NONE)
        self._check_uops()
        self._check_indices()

    def _check_uops(self) -> None:
        step = self._step
        depth = self._layout.config.uop_depth
        with step.when(self._end > depth, likely=False):
            step.fault(Fault.SRAM, Memory.UOP, self._begin.larger(depth))
        with step.when(step.state("checked").differs(0)):
            hazards = Hazards(step, "uop", Module.COMPUTE)
            with step.range(self._end, self._begin) as uop:
                hazards.read(uop)

    def _check_indices(self) -> None:
        """Compare the largest index of each operand with what exists: the loops only add to indices."""
        step = self._step
        largest = [step.variable(0) for _ in self._operands]
        with step.range(self._end, self._begin) as number:
            uop = self._uops[number]
            for operand, most in zip(self._operands, largest, strict=True):
                most.value = self._field(uop, operand).larger(most.value)
        for operand, most in zip(self._operands, largest, strict=True):
            index = (
                most.value
                + (self._outer - 1) * step(f"{operand.factors}_out")
                + (self._inner - 1) * step(f"{operand.factors}_in")
            )
            with step.when(index >= operand.depth(self._layout), likely=False):
                step.fault(Fault.SRAM, operand.number, index)

    def _field(self, uop: Value, operand: Operand) -> Value:
        field = self._layout.config.fields.uop[operand.field]
        return (uop >> field.first) & ((1 << field.width) - 1)

    @contextmanager
    def each(self) -> Generator[list[Value]]:
        """Go through all executions of micro-ops; yields the index of each operand."""
        step = self._step
        factors = [
            (step(f"{each.factors}_out"), step(f"{each.factors}_in"))
            for each in self._operands
        ]
        with step.range(self._outer) as outer, step.range(self._inner) as inner:
            bases = [outer * one + inner * other for one, other in factors]
            with step.range(self._end, self._begin) as number:
                uop = self._uops[number]
                yield [
                    self._field(uop, operand) + base
                    for operand, base in zip(self._operands, bases, strict=True)
                ]


def emit_reset(module: Any, layout: Layout) -> Step:
    """Emit the GEMM that writes zeros."""
    step = Step(module, "reset")
    step.hide()
    nest = Nest(step, layout, DST)
    with step.when(step.state("checked").differs(0)):
        accumulators = Hazards(step, "acc", Module.COMPUTE)
        with nest.each() as (target,):
            accumulators.write(target)
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
    with step.when(step.state("checked").differs(0)):
        tables = [Hazards(step, each, Module.COMPUTE) for each in ("acc", "inp", "wgt")]
        with nest.each() as indices:
            for table, index in zip(tables, indices, strict=True):
                table.read(index)
            tables[0].write(indices[0])
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
    with step.when(step.state("checked").differs(0)):
        accumulators = Hazards(step, "acc", Module.COMPUTE)
        with nest.each() as indices:
            for index in indices:
                accumulators.read(index)
            accumulators.write(indices[0])
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
