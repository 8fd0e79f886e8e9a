"""Compute what depends on constants only."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from partita.dialects.partita import WeightAttr, inherit_origins
from partita.dialects.relay import (
    BatchNormOp,
    BroadcastToOp,
    CarriedOp,
    ConstantOp,
    ExpandDimsOp,
    FusionPattern,
    LayoutTransformOp,
    RelayOp,
    ReshapeOp,
    SplitOp,
    SqueezeOp,
    StridedSliceOp,
    TileOp,
    TransposeOp,
)
from partita.interpreters import evaluate
from partita.shapes import DYNAMIC, Shape, dtype_of, shape_of, tensor_type
from partita.weights import Array, Weight

FREE_BYTES = 4096
"""Results up to this size are always worth a constant."""

GROWTH = 2
"""How many times larger than what it is computed from a larger result may be."""

MAX_SPLAT = 1 << 20
"""Splat operands of more elements than this are not expanded to compute with them."""

MOVES = (
    BroadcastToOp,
    ExpandDimsOp,
    LayoutTransformOp,
    ReshapeOp,
    SplitOp,
    SqueezeOp,
    StridedSliceOp,
    TileOp,
    TransposeOp,
)
"""Ops whose results have no elements but those of their operand."""


@dataclass(frozen=True)
class Known:
    """A value that has been computed."""

    array: Array
    """Its elements; one element at stride zero where all are the same."""

    stored: int
    """Bytes of the constants that it was computed from, or its own if that is less."""

    block: Block
    """Where it was defined."""

    origin: Operation
    """The op that carries the origins of all that it was computed from."""


def stored_bytes(array: Array) -> int:
    """Return how many bytes an array needs if elements repeated by a stride of zero are stored once."""
    count = array.itemsize
    for extent, stride in zip(array.shape, array.strides, strict=True):
        count *= extent if stride else min(extent, 1)
    return count


def is_splat(array: Array) -> bool:
    """Say whether an array is one element, repeated."""
    return array.size > 0 and stored_bytes(array) == array.itemsize


def repeat(element: Array, shape: Shape) -> Array:
    """Return a splat."""
    return np.broadcast_to(element.reshape(-1)[:1].reshape(()), shape)


def compute(op: RelayOp, operands: Sequence[Known]) -> tuple[Array, ...] | None:
    """Return an op's results; `None` if they would be too large for what they are made of."""
    shapes = [shape_of(result) for result in op.results]
    if any(DYNAMIC in shape for shape in shapes):
        return None
    arrays = [operand.array for operand in operands]
    if all(map(is_splat, arrays)) and all(0 not in shape for shape in shapes):
        if isinstance(op, MOVES):
            return tuple(repeat(arrays[0], shape) for shape in shapes)
        if op.fusion() <= FusionPattern.BROADCAST and not isinstance(op, BatchNormOp):
            single = [array[(slice(1),) * array.ndim] for array in arrays]
            return (repeat(evaluate(op, single)[0], shapes[0]),)
    if any(is_splat(array) and array.size > MAX_SPLAT for array in arrays):
        return None
    stored = {id(operand): operand.stored for operand in operands}
    size = sum(map(result_bytes, op.results))
    if size > max(GROWTH * sum(stored.values()), FREE_BYTES):
        return None
    return tuple(evaluate(op, arrays))


def result_bytes(value: SSAValue) -> int:
    """Return the size of a static tensor."""
    type = tensor_type(value)
    return dtype_of(type.element_type).itemsize * prod(type.get_shape())


@dataclass
class Folder:
    """One walk over ops in order; a value is computed before its users are seen."""

    known: dict[SSAValue, Known] = field(default_factory=dict[SSAValue, Known])
    """Values that ops yet to be seen may use."""

    weights: dict[str, Weight] = field(default_factory=dict[str, Weight])
    """Large contents by digest: equal ones share one array."""

    def visit(self, op: Operation) -> None:
        if isinstance(op, ConstantOp):
            self.note_constant(op)
        elif not (isinstance(op, RelayOp) and op.operands and self.fold(op)):
            for operand in op.operands:
                if operand in self.known:
                    self.materialize(operand, op)

    def note_constant(self, op: ConstantOp) -> None:
        if isinstance(op.value, WeightAttr):
            weight = op.value.data
            if weight.array is None:
                return
            self.weights.setdefault(weight.digest, weight)
        block = op.parent
        assert block is not None
        array = op.array()
        self.known[op.result] = Known(array, stored_bytes(array), block, op)

    def fold(self, op: RelayOp) -> bool:
        """Compute an op and take it out of its block, if possible; say whether it was."""
        if isinstance(op, CarriedOp) or not all(
            operand in self.known for operand in op.operands
        ):
            return False
        operands = [self.known[operand] for operand in op.operands]
        if (arrays := compute(op, operands)) is None:
            return False
        block = op.parent
        assert block is not None
        inherit_origins(op, *(operand.origin for operand in operands), op)
        stored = sum({id(each): each.stored for each in operands}.values())
        for result, array in zip(op.results, arrays, strict=True):
            if not result.uses:
                continue
            array.flags.writeable = False
            least = min(stored, stored_bytes(array))
            self.known[result] = Known(array, least, block, op)
        used = dict.fromkeys(op.operands)
        op.operands = ()
        op.detach()
        for value in used:
            self.forget_unused(value)
        return True

    def forget_unused(self, value: SSAValue) -> None:
        if value.uses:
            return
        del self.known[value]
        if isinstance(constant := value.owner, ConstantOp):
            Rewriter.erase_op(constant)

    def materialize(self, value: SSAValue, user: Operation) -> None:
        """Make a constant of a computed value, for this and all later users."""
        if isinstance(value.owner, ConstantOp):
            return
        known = self.known.pop(value)
        before = known.block.find_ancestor_op_in_block(user)
        assert before is not None
        constant = self.constant(known.array)
        inherit_origins(constant, known.origin)
        Rewriter.insert_op(constant, InsertPoint.before(before))
        value.replace_all_uses_with(constant.result)
        self.note_constant(constant)

    def constant(self, array: Array) -> ConstantOp:
        constant = ConstantOp.of(array)
        if not isinstance(constant.value, WeightAttr):
            return constant
        weight = constant.value.data
        shared = self.weights.setdefault(weight.digest, weight)
        if shared is weight:
            return constant
        return ConstantOp(WeightAttr(shared), tensor_type(constant.result))


@dataclass(frozen=True)
class FoldConstantsPass(ModulePass):
    """Evaluate relay ops on constants, through the interpreter.

    A small constant never becomes a huge one. Results of at most 4 KiB are always
    folded; larger ones only if they are at most twice as large as all constants that
    they are computed from, where a repeated value counts once. So a `broadcast_to` or `tile` of few elements stays
    an op, unless all elements are the same. Ops on weights that are not loaded, on
    dynamic shapes, and those that relay does not model, stay as well. Only constants that some other op needs are made:
    what lies between is never hashed. Equal weights share one array, and
    constants carry the origins of all that went into them.

    Before:

    ```mlir
    func.func @main(%x : tensor<2xf32>) -> tensor<2xf32> {
      %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %b = relay.constant dense<3.0> : tensor<2xf32>
      %c = relay.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %d = relay.negative %c : tensor<2xf32>
      %0 = relay.add %x, %d : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }
    ```

    After `fold-constants`:

    ```mlir
    func.func @main(%x : tensor<2xf32>) -> tensor<2xf32> {
      %d = relay.constant dense<[-4.0, -5.0]> : tensor<2xf32>
      %0 = relay.add %x, %d : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }
    ```
    """

    name = "fold-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        folder = Folder()
        for each in tuple(op.walk()):
            folder.visit(each)
