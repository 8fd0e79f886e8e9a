"""Move constant factors per channel into the weights next to them."""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, f32, f64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from partita.analysis.constants import ConstantValues
from partita.analysis.rewriting import Insertion, erase_unused
from partita.dialects.relay import (
    AddOp,
    ConstantOp,
    Conv2dOp,
    DenseOp,
    MatmulOp,
    MultiplyOp,
    ReshapeOp,
)
from partita.dialects.relay.base import broadcast
from partita.shapes import Shape, element_of, shape_of

LARGE = 1024
"""Elements of a weight that costs more than the multiplication that scaling it saves."""

Linear = Conv2dOp | DenseOp | MatmulOp
"""Ops that are linear in data and in weight."""


@dataclass(frozen=True)
class ConstantPattern(RewritePattern):
    """A rewrite that asks which values are constants."""

    constants: ConstantValues

    def split(self, op: AddOp | MultiplyOp) -> tuple[SSAValue, SSAValue] | None:
        """Return an op's data and constant operand, if just one is constant and the other as large as the result."""
        for data, constant in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if (
                constant in self.constants
                and data not in self.constants
                and data.type == op.result.type
            ):
                return data, constant
        return None

    def linear(self, value: SSAValue) -> Linear | None:
        """Return the floating-point op on a plain constant weight that makes a value, if that is its one use."""
        op = value.owner
        if (
            isinstance(op, Conv2dOp | DenseOp | MatmulOp)
            and value.has_one_use()
            and self.has_plain_weight(op)
        ):
            return op
        return None

    def has_plain_weight(self, op: Linear) -> bool:
        """Say whether weights are constants in the plain layout, f32 or f64, and not one value all over."""
        weight = weight_of(op)
        return (
            weight in self.constants
            and len(shape_of(weight)) == (4 if isinstance(op, Conv2dOp) else 2)
            and element_of(weight) in (f32, f64)
            and not is_large_splat(weight)
        )


class ScaleOutputs(ConstantPattern):
    """Rewrite `linear(x, w) * c` to `linear(x, w * c)`, where `c` has one factor per output channel."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter) -> None:
        if (split := self.split(op)) is None:
            return
        data, factor = split
        if (linear := self.linear(data)) is None or not is_along(
            factor, output_axis(linear), shape_of(data)
        ):
            return
        insert = Insertion(rewriter, linear, op)
        scaled = scale_outputs(linear, factor, insert)
        rewriter.replace(op, (), (scaled,))
        erase_unused(rewriter, linear)


class ScaleOutputsAndBias(ConstantPattern):
    """Rewrite `(linear(x, w) + b) * c` to `linear(x, w * c) + b * c`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter) -> None:
        if (split := self.split(op)) is None:
            return
        added, factor = split
        add = added.owner
        if (
            not isinstance(add, AddOp)
            or not added.has_one_use()
            or (terms := self.split(add)) is None
        ):
            return
        data, bias = terms
        if (
            (linear := self.linear(data)) is None
            or not is_along(factor, output_axis(linear), shape_of(data))
            or grows(bias, factor)
        ):
            return
        scaled = scale_outputs(linear, factor, Insertion(rewriter, linear, op))
        insert = Insertion(rewriter, add, op)
        shift = insert(MultiplyOp(bias, factor))
        rewriter.replace(op, (), (insert(AddOp(scaled, shift)),))
        erase_unused(rewriter, add, linear)


class ScaleInputs(ConstantPattern):
    """Rewrite `linear(x * c, w)` to `linear(x, w * c)`, where `c` has one factor per input channel.

    Padding is no obstacle: zero times any factor is the zero that padding reads.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, Conv2dOp | DenseOp | MatmulOp):
            return
        data = op.operands[0]
        multiply = data.owner
        if (
            not isinstance(multiply, MultiplyOp)
            or not data.has_one_use()
            or not self.has_plain_weight(op)
            or (split := self.split(multiply)) is None
        ):
            return
        inner, factor = split
        if not is_along(factor, input_axis(op), shape_of(data)):
            return
        scaled = scale_inputs(op, inner, factor, Insertion(rewriter, multiply, op))
        rewriter.replace(op, (), (scaled,))
        erase_unused(rewriter, multiply)


class MergeConstants(ConstantPattern):
    """Rewrite `(x + a) + b` to `x + (a + b)`, and likewise for factors, unless `a + b` is larger than both."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, AddOp | MultiplyOp) or not reassociates(op):
            return
        if (split := self.split(op)) is None:
            return
        value, outer = split
        inner = value.owner
        if (
            not isinstance(inner, AddOp | MultiplyOp)
            or type(inner) is not type(op)
            or not value.has_one_use()
            or (terms := self.split(inner)) is None
        ):
            return
        data, first = terms
        if grows(first, outer):
            return
        insert = Insertion(rewriter, inner, op)
        kind = type(op)
        rewriter.replace(op, (), (insert(kind(data, insert(kind(first, outer)))),))
        erase_unused(rewriter, inner)


class MergeScales(ConstantPattern):
    """Rewrite `(x * a + b) * c` to `x * (a * c) + b * c`, unless either product is larger than its factors."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter) -> None:
        if not reassociates(op) or (split := self.split(op)) is None:
            return
        added, outer = split
        add = added.owner
        if (
            not isinstance(add, AddOp)
            or not added.has_one_use()
            or (terms := self.split(add)) is None
        ):
            return
        scaled, shift = terms
        multiply = scaled.owner
        if (
            not isinstance(multiply, MultiplyOp)
            or not scaled.has_one_use()
            or (factors := self.split(multiply)) is None
        ):
            return
        data, scale = factors
        if grows(scale, outer) or grows(shift, outer):
            return
        insert = Insertion(rewriter, multiply, add, op)
        product = insert(MultiplyOp(data, insert(MultiplyOp(scale, outer))))
        result = insert(AddOp(product, insert(MultiplyOp(shift, outer))))
        rewriter.replace(op, (), (result,))
        erase_unused(rewriter, add, multiply)


def reassociates(op: AddOp | MultiplyOp) -> bool:
    """Say whether regrouping keeps results: f32 and f64 to the last bits, integers exactly, as they wrap."""
    element = element_of(op.result)
    return element in (f32, f64) or isinstance(element, IntegerType)


def is_large_splat(value: SSAValue) -> bool:
    """Say whether a constant is one repeated value, so that its product with another may become a large constant."""
    constant = value.owner
    return (
        isinstance(constant, ConstantOp)
        and size(shape_of(value)) > LARGE
        and constant.splat() is not None
    )


def weight_of(op: Linear) -> SSAValue:
    """Return the operand that holds weights."""
    return op.operands[1]


def output_axis(op: Linear) -> int:
    """Return the axis of the result that output channels lie on."""
    match op:
        case Conv2dOp() | DenseOp():
            return 1
        case MatmulOp():
            return len(shape_of(op.result)) - 1


def input_axis(op: Linear) -> int:
    """Return the axis of data that input channels lie on."""
    return 1 if isinstance(op, Conv2dOp) else len(shape_of(op.operands[0])) - 1


def is_along(factor: SSAValue, axis: int, shape: Shape) -> bool:
    """Say whether a tensor that is broadcast to a shape differs along one axis of it at most."""
    extents = shape_of(factor)
    missing = len(shape) - len(extents)
    return all(
        extent == 1 or index + missing == axis for index, extent in enumerate(extents)
    )


def grows(lhs: SSAValue, rhs: SSAValue) -> bool:
    """Say whether two tensors broadcast to more elements than either has."""
    shapes = (shape_of(lhs), shape_of(rhs))
    return size(broadcast(*shapes)) > max(map(size, shapes))


def size(shape: Shape) -> int:
    """Return how many elements a static shape has."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def scale_outputs(
    op: Linear, factor: SSAValue, insert: Callable[[Operation], SSAValue]
) -> SSAValue:
    """Insert the op on a weight whose output channels are scaled; return its result."""
    weight = weight_of(op)
    shape = [1] * len(shape_of(weight))
    shape[1 if isinstance(op, MatmulOp) else 0] = size(shape_of(factor))
    scaled = insert(MultiplyOp(weight, reshaped(factor, tuple(shape), insert)))
    return insert(with_operands(op, op.operands[0], scaled))


def scale_inputs(
    op: Linear,
    data: SSAValue,
    factor: SSAValue,
    insert: Callable[[Operation], SSAValue],
) -> SSAValue:
    """Insert the op on other data, and a weight whose input channels are scaled; return its result."""
    weight = weight_of(op)
    count = size(shape_of(factor))
    groups = op.groups.value.data if isinstance(op, Conv2dOp) else 1
    if isinstance(op, Conv2dOp) and groups > 1 and count > 1:
        features, channels, height, width = shape_of(weight)
        by_group = (groups, features // groups, channels, height, width)
        factors = reshaped(factor, (groups, 1, channels, 1, 1), insert)
        grouped = insert(MultiplyOp(reshaped(weight, by_group, insert), factors))
        scaled = reshaped(grouped, shape_of(weight), insert)
    else:
        shape = [1] * len(shape_of(weight))
        shape[0 if isinstance(op, MatmulOp) else 1] = count
        scaled = insert(MultiplyOp(weight, reshaped(factor, tuple(shape), insert)))
    return insert(with_operands(op, data, scaled))


def reshaped(
    value: SSAValue, shape: Shape, insert: Callable[[Operation], SSAValue]
) -> SSAValue:
    """Return a value in another shape of as many elements."""
    if shape_of(value) == shape:
        return value
    return insert(ReshapeOp(value, shape=shape))


def with_operands(op: Linear, data: SSAValue, weight: SSAValue) -> Operation:
    """Return a copy of an op on other operands of the same types."""
    copy = op.clone()
    copy.operands = (data, weight)
    return copy


@dataclass(frozen=True)
class FoldScaleAxisPass(ModulePass):
    """Leave no multiplication by a constant where scaled weights do the same.

    Inference on a trained model multiplies by the same factor per channel again and
    again, most often because a batch normalization follows a convolution. Factors are
    folded from behind a convolution, a dense layer or a matmul by a constant, also
    through the bias between them, and from in front of one; constants that are added or
    multiplied one after another, and scales with shifts between them, are merged. Weights become expressions on
    constants that `fold-constants` evaluates, so their contents need not be loaded.
    Only f32 and f64 weights are scaled. A value that is used elsewhere, too, stays
    what it was.

    Before:

    ```mlir
    func.func @main(%x : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
      %w = relay.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
      %c = relay.constant dense<[[[10.0]], [[100.0]]]> : tensor<2x1x1xf32>
      %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
      %1 = relay.multiply %0, %c : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
      func.return %1 : tensor<1x2x4x4xf32>
    }
    ```

    After `fold-scale-axis,fold-constants`:

    ```mlir
    func.func @main(%x : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
      %0 = relay.constant dense<[[[[10.0]], [[20.0]]], [[[300.0]], [[400.0]]]]> : tensor<2x2x1x1xf32>
      %1 = relay.conv2d %x, %0 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
      func.return %1 : tensor<1x2x4x4xf32>
    }
    ```
    """

    name = "fold-scale-axis"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = ConstantValues(op)
        PatternRewriteWalker(
            GreedyRewritePatternApplier(
                [
                    MergeConstants(constants),
                    MergeScales(constants),
                    ScaleOutputs(constants),
                    ScaleOutputsAndBias(constants),
                    ScaleInputs(constants),
                ]
            ),
            apply_recursively=False,
            listener=PatternRewriterListener(
                operation_insertion_handler=[constants.note]
            ),
        ).rewrite_module(op)
