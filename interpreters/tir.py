"""What `tir` means: its loops, run in order on numpy buffers.

A nest of nothing but loops around one block is run on many iterations at once where
that is the same: along loops of spatial axes only, if no two iterations write the same
element. All other loops run one iteration after the other; parallel and vectorized ones
backwards, so that it shows if iterations depend on each other. A buffer starts with all bits set, in each iteration of the loop that it is allocated in, so that
reading what was not written shows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.dialects.memref import AllocOp, CopyOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.utils.hints import isa

from partita.dialects import relay
from partita.dialects.partita import WeightAttr
from partita.dialects.tir import (
    BlockOp,
    CallOp,
    ConstantOp,
    ForOp,
    LoadOp,
    LoopKind,
    StoreOp,
)
from partita.errors import IRError
from partita.interpreters.elements import Indices, affine_value, pick, signless
from partita.interpreters.module import Impl, Interpreter, garbage
from partita.interpreters.scalar import Array, evaluate_scalar, quiet

POINTS = 1 << 18
"""How many iterations run at once at most."""


@dataclass
class Machine:
    """Runs loops and blocks."""

    interpreter: Interpreter

    buffers: dict[SSAValue, Array] = field(default_factory=dict[SSAValue, Array])
    """Those that are allocated in loops."""

    indices: dict[SSAValue, Indices] = field(default_factory=dict[SSAValue, Indices])
    """Of each loop that runs, its variable: one value, or one for each iteration that runs now."""

    def buffer(self, value: SSAValue) -> Array:
        """Return the array of a buffer."""
        found = self.buffers.get(value)
        return signless(self.interpreter.value(value) if found is None else found)

    def run(self, ops: Iterable[Operation]) -> None:
        """Run ops one after the other."""
        for op in ops:
            match op:
                case ForOp():
                    self.loop(op)
                case BlockOp():
                    self.block(op)
                case AllocOp(memref=memref):
                    self.buffers[memref] = garbage(memref.type)
                case CallOp():
                    self.call(op)
                case CopyOp(source=source, destination=destination):
                    self.buffer(destination)[...] = self.buffer(source)
                case _:
                    raise IRError(f"expected an op of tir, got {op.name}")

    def loop(self, loop: ForOp) -> None:
        """Run a loop, with the loops inside at once where they surround one block."""
        loops, block = _nest(loop)
        if block is None:
            for value in _order(loop):
                self.indices[loop.variable] = np.asarray(value)
                self.run(loop.body.block.ops)
            return
        rank = len(block.spatial_shape)
        reducing = _used(block, block.binding_exprs[rank:])
        lanes = [
            each
            for each in loops
            if each.variable in block.indices and each.variable not in reducing
        ]
        while prod(each.extent for each in lanes) > POINTS:
            del lanes[0]
        self._set(lanes, np.indices([each.extent for each in lanes]))
        serial = [each for each in loops if each not in lanes]
        if lanes and not self._independent(block, serial):
            lanes, serial = [], loops
        for values in product(*map(_order, serial)):
            for each, value in zip(serial, values, strict=True):
                self.indices[each.variable] = np.asarray(value)
            self.block(block)

    def call(self, call: CallOp) -> None:
        """Run an intrinsic on tiles of buffers, which it changes in place."""
        function = self.interpreter.function(call.callee)
        indices = tuple(call.indices)
        arguments: list[Array] = []
        for (buffer, begin, sizes), argument in zip(
            call.tiles, function.args, strict=True
        ):
            where = tuple(
                slice(int(start), int(start) + size)
                for start, size in zip(self._affine(begin, indices), sizes, strict=True)
            )
            type = argument.type
            assert isinstance(type, MemRefType)
            # Sizes of 1 come and go without a copy.
            arguments.append(self.buffer(buffer)[where].reshape(type.get_shape()))
        self.interpreter.call(function, arguments)

    def _set(self, loops: Sequence[ForOp], grid: Indices) -> None:
        for loop, values in zip(loops, grid, strict=True):
            self.indices[loop.variable] = values.reshape(-1) + loop.lower.value.data

    def _independent(self, block: BlockOp, serial: Sequence[ForOp]) -> bool:
        """Say whether iterations that would run at once update elements of their own."""
        accesses = [op for op in block.body.walk() if isinstance(op, LoadOp | StoreOp)]
        read = {op.buffer for op in accesses if isinstance(op, LoadOp)}
        updated: dict[SSAValue, LoadOp | StoreOp] = {}
        for op in accesses:
            if isinstance(op, StoreOp) and op.buffer in read:
                updated[op.buffer] = op
        for loop in serial:
            self.indices[loop.variable] = np.asarray(loop.lower.value.data)
        axes = self._axes(block)
        for op in accesses:
            first = updated.get(op.buffer, op)
            if op is not first and _place(op) != _place(first):
                return False
        return all(_distinct(self._positions(op, axes)) for op in updated.values())

    def _axes(self, block: BlockOp) -> dict[SSAValue, Indices]:
        bindings = self._affine(block.binding_exprs, tuple(block.indices))
        shape = np.broadcast_shapes(
            *(self.indices[each].shape for each in block.indices)
        )
        return {
            axis: np.broadcast_to(each, shape)
            for axis, each in zip(block.axes, bindings, strict=True)
        }

    def _affine(
        self,
        exprs: Sequence[AffineExpr],
        indices: Sequence[SSAValue],
        values: Mapping[SSAValue, Array] | None = None,
    ) -> list[Indices]:
        """Evaluate expressions of loop variables and of what a block's body has computed."""
        found = [
            self.indices[index]
            if values is None or index not in values
            else values[index].astype(np.int64, copy=False)
            for index in indices
        ]
        return [affine_value(expr, found) for expr in exprs]

    def _positions(
        self, op: LoadOp | StoreOp, values: Mapping[SSAValue, Array]
    ) -> list[Indices]:
        return self._affine(op.access.results, tuple(op.indices), values)

    def block(self, block: BlockOp) -> None:
        """Run a block for the iterations that run now, of those where its guards hold."""
        axes: Mapping[SSAValue, Indices] = self._axes(block)
        runs = np.asarray(True)
        for guard in self._affine(block.guard_exprs, tuple(block.indices)):
            runs = np.logical_and(runs, guard >= 0)
        if not np.any(runs):
            return
        outside = self.indices
        if not np.all(runs):
            self.indices = {
                index: values[runs] if values.shape == runs.shape else values
                for index, values in outside.items()
            }
            axes = {axis: values[runs] for axis, values in axes.items()}
        rank = len(block.spatial_shape)
        if block.init.blocks and all(
            np.all(axes[axis] == 0) for axis in block.axes[rank:]
        ):
            spatial = zip(block.init.block.args, block.axes, strict=False)
            self._body(block.init.block, {arg: axes[axis] for arg, axis in spatial})
        self._body(block.body.block, axes)
        self.indices = outside

    def _body(self, body: Block, axes: Mapping[SSAValue, Indices]) -> None:
        values: dict[SSAValue, Array] = dict(axes)
        for op in body.ops:
            match op:
                case LoadOp():
                    source = self.buffer(op.buffer)
                    otherwise = None if op.otherwise is None else values[op.otherwise]
                    at = self._positions(op, values)
                    values[op.result] = pick(source, at, otherwise)
                case StoreOp():
                    at = self._positions(op, values)
                    self.buffer(op.buffer)[tuple(at)] = values[op.value]
                case _:
                    operands = tuple(values[operand] for operand in op.operands)
                    values[op.results[0]] = evaluate_scalar(op, operands)


def _order(loop: ForOp) -> range:
    """Return a loop's iterations; where their order must not matter, the last one first."""
    values = range(loop.lower.value.data, loop.upper.value.data)
    if loop.loop_kind in (LoopKind.PARALLEL, LoopKind.VECTORIZED):
        return values[::-1]
    return values


def _nest(loop: ForOp) -> tuple[list[ForOp], BlockOp | None]:
    """Return a loop with those inside, and the block that they surround if they hold nothing else."""
    loops = [loop]
    while True:
        ops = loops[-1].body.block.ops
        if ops.first is not ops.last:
            return loops, None
        match ops.first:
            case ForOp() as inner:
                loops.append(inner)
            case BlockOp() as block:
                return loops, block
            case _:
                return loops, None


def _used(block: BlockOp, exprs: Sequence[AffineExpr]) -> set[SSAValue]:
    return {block.indices[i] for expr in exprs for i in expr.used_dims()}


def _place(op: LoadOp | StoreOp) -> tuple[object, ...]:
    return op.access, tuple(op.indices)


def _distinct(positions: Sequence[Indices]) -> bool:
    """Say whether no two elements are the same."""
    flat = np.stack(np.broadcast_arrays(*positions)).reshape(len(positions), -1)
    return np.unique(flat, axis=1).shape[1] == flat.shape[1]


def _run(
    op: Operation, operands: tuple[Array, ...], interpreter: Interpreter
) -> tuple[Array, ...]:
    with quiet():
        Machine(interpreter).run((op,))
    return ()


def _alloc(
    op: Operation, operands: tuple[Array, ...], interpreter: Interpreter
) -> tuple[Array, ...]:
    return (garbage(op.results[0].type),)


def _copy(
    op: Operation, operands: tuple[Array, ...], interpreter: Interpreter
) -> tuple[Array, ...]:
    signless(operands[1])[...] = signless(operands[0])
    return ()


def _constant(
    op: Operation, operands: tuple[Array, ...], interpreter: Interpreter
) -> tuple[Array, ...]:
    assert isinstance(op, ConstantOp)
    if isinstance(op.value, WeightAttr):
        return (signless(op.value.data.content()),)
    type = op.value.get_type()
    assert isa(type, TensorType[Attribute])
    return (signless(relay.ConstantOp(op.value, type).array()),)


TIR: Mapping[type[Operation], Impl] = {
    AllocOp: _alloc,
    BlockOp: _run,
    CallOp: _run,
    ConstantOp: _constant,
    CopyOp: _copy,
    ForOp: _run,
}
"""What each op means; loads and stores are part of a block."""
