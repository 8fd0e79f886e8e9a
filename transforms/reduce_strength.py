"""Replace costly arithmetic with constants by cheap arithmetic."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, f64
from xdsl.ir import SSAValue
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
from partita.analysis.rewriting import Insertion
from partita.dialects.partita import WeightAttr
from partita.dialects.relay import (
    AddOp,
    ConstantOp,
    DivideOp,
    MultiplyOp,
    NegativeOp,
    PowerOp,
    ReciprocalOp,
    SubtractOp,
)
from partita.shapes import element_of, is_float, shape_of
from partita.weights import Array


def content_of(op: ConstantOp) -> Array | None:
    """Return the elements of a constant; `None` if they are a weight that is not loaded."""
    if isinstance(op.value, WeightAttr) and op.value.data.array is None:
        return None
    return op.array()


def square(x: SSAValue, insert: Insertion) -> SSAValue:
    return insert(MultiplyOp(x, x))


def cube(x: SSAValue, insert: Insertion) -> SSAValue:
    return insert(MultiplyOp(square(x, insert), x))


def reciprocal(x: SSAValue, insert: Insertion) -> SSAValue:
    return insert(ReciprocalOp(x))


POWERS: dict[float, Callable[[SSAValue, Insertion], SSAValue]] = {
    2.0: square,
    3.0: cube,
    -1.0: reciprocal,
}
"""Exponents for which there is something cheaper, of the same value for zeros, infinities and NaN."""


class ExpandPower(RewritePattern):
    """Rewrite `power(x, 2)` to `x * x`, `power(x, 3)` to `x * x * x`, `power(x, -1)` to `reciprocal x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PowerOp, rewriter: PatternRewriter) -> None:
        if (
            element_of(op.lhs) not in (f32, f64)
            or op.lhs.type != op.result.type
            or not isinstance(constant := op.rhs.owner, ConstantOp)
            or (exponent := constant.splat()) is None
            or (expand := POWERS.get(float(exponent))) is None
        ):
            return
        rewriter.replace(op, (), (expand(op.lhs, Insertion(rewriter, constant, op)),))


class MultiplyByReciprocal(RewritePattern):
    """Rewrite `x / c` to `x * (1 / c)`, where no element of `1 / c` is zero, infinite, NaN or subnormal."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DivideOp, rewriter: PatternRewriter) -> None:
        if (
            element_of(op.rhs) not in (f32, f64)
            or isinstance(op.lhs.owner, ConstantOp)
            or not isinstance(constant := op.rhs.owner, ConstantOp)
            or (divisor := content_of(constant)) is None
        ):
            return
        if not any(divisor.strides):
            divisor = divisor[(slice(1),) * divisor.ndim]
        with np.errstate(all="ignore"):
            factor = np.reciprocal(divisor)
        magnitude = np.abs(factor)
        least = np.finfo(factor.dtype).smallest_normal
        if not np.all((magnitude >= least) & np.isfinite(magnitude)):
            return
        insert = Insertion(rewriter, constant, op)
        scale = insert(ConstantOp.of(np.broadcast_to(factor, shape_of(op.rhs))))
        rewriter.replace(op, (), (insert(MultiplyOp(op.lhs, scale)),))


@dataclass(frozen=True)
class AddNegative(RewritePattern):
    """Rewrite `x - c` to `x + -c`, where `c` is constant."""

    constants: ConstantValues

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SubtractOp, rewriter: PatternRewriter) -> None:
        if (
            not is_float(element_of(op.rhs))
            or op.rhs not in self.constants
            or op.lhs in self.constants
        ):
            return
        insert = Insertion(rewriter, op)
        negative = insert(NegativeOp(op.rhs))
        rewriter.replace(op, (), (insert(AddOp(op.lhs, negative)),))


@dataclass(frozen=True)
class ReduceStrengthPass(ModulePass):
    """Multiply and add where a model divides, subtracts or takes powers by constants.

    A division costs as much as ten multiplications, a power more than that; and what has become a factor
    or a shift can be folded into weights by `fold-scale-axis`. Results differ in their last
    bits at most; zeros, infinities and NaN come out the same. Divisors that have no
    proper reciprocal stay, as do f16 and integers. A square root stays a power: of minus
    infinity, they differ.

    Before:

    ```mlir
    func.func @main(%x : tensor<2xf32>) -> tensor<2xf32> {
      %c = relay.constant dense<[4.0, 0.5]> : tensor<2xf32>
      %d = relay.constant dense<2.0> : tensor<f32>
      %0 = relay.divide %x, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %1 = relay.subtract %0, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %2 = relay.power %1, %d : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
      func.return %2 : tensor<2xf32>
    }
    ```

    After `reduce-strength,fold-constants,dce`:

    ```mlir
    func.func @main(%x : tensor<2xf32>) -> tensor<2xf32> {
      %0 = relay.constant dense<[0.25, 2.0]> : tensor<2xf32>
      %1 = relay.multiply %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %2 = relay.constant dense<[-4.0, -0.5]> : tensor<2xf32>
      %3 = relay.add %1, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %4 = relay.multiply %3, %3 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %4 : tensor<2xf32>
    }
    ```
    """

    name = "reduce-strength"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = ConstantValues(op)
        PatternRewriteWalker(
            GreedyRewritePatternApplier(
                [ExpandPower(), MultiplyByReciprocal(), AddNegative(constants)]
            ),
            apply_recursively=False,
            listener=PatternRewriterListener(
                operation_insertion_handler=[constants.note]
            ),
        ).rewrite_module(op)
