"""Compute on tensors before they are reshaped."""

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)

from partita.analysis.constants import ConstantValues
from partita.analysis.rewriting import Insertion, erase_unused
from partita.dialects.relay import (
    BatchNormOp,
    BroadcastToOp,
    ExpandDimsOp,
    FusionPattern,
    RelayOp,
    ReshapeOp,
    SqueezeOp,
)
from partita.shapes import DYNAMIC, Shape, shape_of

View = ReshapeOp | SqueezeOp | ExpandDimsOp
"""Ops that change nothing but the shape."""


def is_pointwise(op: Operation) -> bool:
    """Say whether an op computes elements from those at the same index, its operands being broadcast."""
    return (
        isinstance(op, RelayOp)
        and len(op.results) == 1
        and bool(op.operands)
        and op.fusion() <= FusionPattern.BROADCAST
        and not isinstance(op, BatchNormOp | BroadcastToOp)
    )


@dataclass(frozen=True)
class SinkReshape(RewritePattern):
    """Rewrite `f(reshape x, reshape y, c)` to `reshape f(x, y, reshape c)`, where `c` is constant."""

    constants: ConstantValues

    sinkable: dict[SSAValue, bool]
    """Whether only pointwise ops read a reshaped value."""

    def view_of(self, value: SSAValue) -> View | None:
        """Return the op that gives a static tensor its shape, if only pointwise ops read the result."""
        op = value.owner
        if not isinstance(op, ReshapeOp | SqueezeOp | ExpandDimsOp):
            return None
        if value not in self.sinkable:
            self.sinkable[value] = (
                DYNAMIC not in shape_of(op.data)
                and DYNAMIC not in shape_of(value)
                and all(is_pointwise(use.operation) for use in value.uses)
            )
        return op if self.sinkable[value] else None

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not is_pointwise(op):
            return
        result = op.results[0]
        shape = shape_of(result)
        views = [
            view
            if shape_of(operand) == shape
            and (view := self.view_of(operand)) is not None
            else None
            for operand in op.operands
        ]
        first = next(filter(None, views), None)
        if (
            first is None
            or (groups := aligned_axes(shape, shape_of(first.data))) is None
        ):
            return
        source = shape_of(first.data)
        before: list[Shape] = []
        for operand, view in zip(op.operands, views, strict=True):
            if view is not None:
                fitting = shape_of(view.data)
            elif operand in self.constants:
                fitting = broadcast_source(shape_of(operand), shape, source, groups)
            else:
                return
            if fitting is None or (view is not None and fitting != source):
                return
            before.append(fitting)
        insert = Insertion(rewriter, op)
        copy = op.clone()
        copy.operands = [
            view.data if view is not None else reshaped(operand, fitting, insert)
            for operand, view, fitting in zip(op.operands, views, before, strict=True)
        ]
        assert isinstance(copy, RelayOp)
        copy.update_result_types()
        computed = insert(copy)
        rewriter.replace(op, (), (insert(ReshapeOp(computed, shape=shape)),))
        erase_unused(rewriter, *dict.fromkeys(filter(None, views)))


def reshaped(value: SSAValue, shape: Shape, insert: Insertion) -> SSAValue:
    """Return a value in another shape of as many elements."""
    if shape_of(value) == shape:
        return value
    return insert(ReshapeOp(value, shape=shape))


def aligned_axes(
    shape: Shape, source: Shape
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] | None:
    """Split the axes of two shapes of as many elements into the most groups of equal size, in order.

    `None` where there are no elements.
    """
    if 0 in shape:
        return None
    groups: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    left = right = 0
    while left < len(shape) or right < len(source):
        start, other = left, right
        here = there = 1
        while True:
            if here <= there and left < len(shape):
                here *= shape[left]
                left += 1
            else:
                there *= source[right]
                right += 1
            if here == there:
                break
        groups.append((tuple(range(start, left)), tuple(range(other, right))))
    return tuple(groups)


def broadcast_source(
    operand: Shape,
    shape: Shape,
    source: Shape,
    groups: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...],
) -> Shape | None:
    """Return the shape in which what is broadcast to `shape` is broadcast alike to `source`; `None` if there is none."""
    padded = (1,) * (len(shape) - len(operand)) + operand
    before = [1] * len(source)
    for axes, others in groups:
        extents = [padded[axis] for axis in axes]
        if prod(extents) == 1:
            continue
        if extents != [shape[axis] for axis in axes]:
            return None
        for other in others:
            before[other] = source[other]
    return tuple(before)


@dataclass(frozen=True)
class SinkReshapesPass(ModulePass):
    """Move reshapes behind pointwise ops, to where they meet another one or the end.

    A reshape between a dense layer or a convolution and its bias and activation keeps them from becoming
    one kernel. Pointwise ops do not care for the shape, so they are computed first, on the tensor
    before it was reshaped; constants that are broadcast take the shape that broadcasts
    alike. Reshapes that meet then cancel (`canonicalize`). A reshape stays where other ops
    read it as well, where another operand was not reshaped from the same shape, and
    where a constant is broadcast along a part of an axis only.

    Before:

    ```mlir
    func.func @main(%x : tensor<6x4xf32>, %w : tensor<5x4xf32>) -> tensor<2x3x5xf32> {
      %b = relay.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
      %0 = relay.dense %x, %w : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
      %1 = relay.reshape %0 {shape = array<i64: 2, 3, 5>} : tensor<6x5xf32> -> tensor<2x3x5xf32>
      %2 = relay.add %1, %b : (tensor<2x3x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
      %3 = relay.relu %2 : tensor<2x3x5xf32>
      func.return %3 : tensor<2x3x5xf32>
    }
    ```

    After `sink-reshapes,fold-constants`:

    ```mlir
    func.func @main(%x : tensor<6x4xf32>, %w : tensor<5x4xf32>) -> tensor<2x3x5xf32> {
      %0 = relay.dense %x, %w : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
      %1 = relay.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x5xf32>
      %2 = relay.add %0, %1 : (tensor<6x5xf32>, tensor<1x5xf32>) -> tensor<6x5xf32>
      %3 = relay.relu %2 : tensor<6x5xf32>
      %4 = relay.reshape %3 {shape = array<i64: 2, 3, 5>} : tensor<6x5xf32> -> tensor<2x3x5xf32>
      func.return %4 : tensor<2x3x5xf32>
    }
    ```
    """

    name = "sink-reshapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = ConstantValues(op)
        PatternRewriteWalker(
            SinkReshape(constants, {}),
            apply_recursively=False,
            listener=PatternRewriterListener(
                operation_insertion_handler=[constants.note]
            ),
        ).rewrite_module(op)
