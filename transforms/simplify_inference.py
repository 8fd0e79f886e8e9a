"""Replace ops that only training tells apart from arithmetic."""

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Float16Type, ModuleOp, f32
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from partita.analysis.rewriting import Insertion
from partita.dialects.relay import (
    AddOp,
    BatchNormOp,
    CastOp,
    ConstantOp,
    DropoutOp,
    MultiplyOp,
    ReshapeOp,
    RsqrtOp,
    SubtractOp,
)
from partita.shapes import DYNAMIC, dtype_of, element_of, shape_of


class DropDropout(RewritePattern):
    """Rewrite `dropout x` to `x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DropoutOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, (), (op.data,))


class ExpandBatchNorm(RewritePattern):
    """Rewrite `batch_norm(x, gamma, beta, mean, variance)` to `x * scale + shift`.

    `scale = gamma * rsqrt(variance + epsilon)` and `shift = beta - mean * scale` are
    ops on one value per channel. What is f16 is computed in f32.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchNormOp, rewriter: PatternRewriter) -> None:
        channels = shape_of(op.gamma)
        if DYNAMIC in channels:
            return
        insert = Insertion(rewriter, op)
        element = element_of(op.data)
        half = isinstance(element, Float16Type)
        data, gamma, beta, mean, variance = (
            insert(CastOp(operand, element_type=f32)) if half else operand
            for operand in op.operands
        )
        dtype = dtype_of(element_of(variance))
        epsilon = insert(ConstantOp.of(np.array([op.epsilon.value.data], dtype)))
        deviation = insert(RsqrtOp(insert(AddOp(variance, epsilon))))
        scale = insert(MultiplyOp(gamma, deviation))
        shift = insert(SubtractOp(beta, insert(MultiplyOp(mean, scale))))
        trailing = len(shape_of(op.data)) - 1 - op.axis.value.data
        if trailing:
            along_axis = (*channels, *(1,) * trailing)
            scale = insert(ReshapeOp(scale, shape=along_axis))
            shift = insert(ReshapeOp(shift, shape=along_axis))
        result = insert(AddOp(insert(MultiplyOp(data, scale)), shift))
        if half:
            result = insert(CastOp(result, element_type=element))
        rewriter.replace(op, (), (result,))


@dataclass(frozen=True)
class SimplifyInferencePass(ModulePass):
    """Leave no op that a trained model does not need.

    Dropout passes its input on. Batch normalization becomes a multiplication and an
    addition; where its parameters are constants, `fold-constants` leaves one constant
    for each, and `fold-scale-axis` moves these into a convolution. A batch
    normalization over a dynamic number of channels stays.

    Before:

    ```mlir
    func.func @main(%x : tensor<4x2xf32>) -> tensor<4x2xf32> {
      %gamma = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
      %beta = relay.constant dense<1.0> : tensor<2xf32>
      %mean = relay.constant dense<[4.0, 5.0]> : tensor<2xf32>
      %variance = relay.constant dense<0.25> : tensor<2xf32>
      %0 = relay.batch_norm %x, %gamma, %beta, %mean, %variance {axis = 1 : i64, epsilon = 0.0 : f64} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
      %1 = relay.dropout %0 {rate = 0.5 : f64} : tensor<4x2xf32>
      func.return %1 : tensor<4x2xf32>
    }
    ```

    After `simplify-inference,fold-constants`:

    ```mlir
    func.func @main(%x : tensor<4x2xf32>) -> tensor<4x2xf32> {
      %0 = relay.constant dense<[4.0, 6.0]> : tensor<2xf32>
      %1 = relay.multiply %x, %0 : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
      %2 = relay.constant dense<[-15.0, -29.0]> : tensor<2xf32>
      %3 = relay.add %1, %2 : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
      func.return %3 : tensor<4x2xf32>
    }
    ```
    """

    name = "simplify-inference"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(
            GreedyRewritePatternApplier([DropDropout(), ExpandBatchNorm()]),
            apply_recursively=False,
        ).rewrite_module(op)
