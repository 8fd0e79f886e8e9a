"""Puts relay ops into a block, and evaluates at once what is constant and small."""

from collections.abc import Iterable
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np
import onnx
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from partita.dialects.partita import ORIGIN
from partita.dialects.relay import CarriedOp, ConstantOp, RelayOp
from partita.frontends.onnx.tensors import Array, dense_array, to_array
from partita.interpreters import evaluate
from partita.shapes import DYNAMIC, shape_of

MOST_ELEMENTS = 4096
"""Results above this size are left to the pass `fold-constants`."""

MOST_OPERAND_ELEMENTS = 16 * MOST_ELEMENTS
"""Operands above this size are weights, not shape arithmetic."""


class Initializer:
    """A constant of the model: read when it is first used, and one op however often."""

    def __init__(
        self,
        tensor: onnx.TensorProto | onnx.SparseTensorProto,
        name: str,
        folder: Path | None,
    ):
        self._tensor = tensor
        self._name = name
        self._folder = folder

    @cached_property
    def array(self) -> Array:
        """The read-only content; raises `ModelError` if there is none."""
        what = f"initializer {self._name}"
        if isinstance(self._tensor, onnx.SparseTensorProto):
            return dense_array(self._tensor, self._folder, what)
        return to_array(self._tensor, self._folder, what)

    @cached_property
    def value(self) -> SSAValue:
        """The result of a constant op, which is not in a block until an op there uses it."""
        return constant(self.array)


def constant(array: Array) -> SSAValue:
    """Make a constant, which is not in a block until an op there uses it."""
    return ConstantOp.of(array).result


def splat(shape: Iterable[int], value: np.generic) -> SSAValue:
    """Make a constant that repeats one value, without repeating it."""
    return constant(np.broadcast_to(np.asarray(value), tuple(shape)))


def array_of(value: SSAValue) -> Array | None:
    """Return the content of a constant, `None` for what is computed at run time."""
    return value.owner.array() if isinstance(value.owner, ConstantOp) else None


class Builder:
    """Appends ops to one block."""

    def __init__(self, block: Block):
        self.block = block

    def append(self, op: RelayOp, origin: str) -> tuple[SSAValue, ...]:
        """Return the results of an op: constants if its operands are and it is small, else it joins the block."""
        if not isinstance(op, CarriedOp) and _foldable(op):
            arrays = tuple(
                value.owner.array()
                for value in op.operands
                if isinstance(value.owner, ConstantOp)
            )
            folded = evaluate(op, arrays)
            op.drop_all_references()
            return tuple(constant(array) for array in folded)
        for operand in op.operands:
            self.place(operand)
        op.attributes[ORIGIN] = StringAttr(origin)
        self.block.add_op(op)
        return tuple(op.results)

    def cut(self, last: Operation | None) -> None:
        """Erase all ops after this one; nothing else uses them."""
        while (end := self.block.last_op) is not last:
            assert end is not None
            if isinstance(end, ConstantOp):
                end.detach()
            else:
                self.block.erase_op(end)

    def place(self, value: SSAValue) -> None:
        """Put a constant into the block, unless it is there."""
        owner = value.owner
        if isinstance(owner, ConstantOp) and owner.parent is None:
            self.block.add_op(owner)


def _foldable(op: RelayOp) -> bool:
    return all(
        isinstance(value.owner, ConstantOp)
        and prod(shape_of(value)) <= MOST_OPERAND_ELEMENTS
        for value in op.operands
    ) and all(
        DYNAMIC not in shape_of(value) and prod(shape_of(value)) <= MOST_ELEMENTS
        for value in op.results
    )
