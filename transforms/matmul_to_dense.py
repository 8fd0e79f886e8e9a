"""Turn products with a constant matrix into dense layers."""

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from partita.analysis.constants import ConstantValues
from partita.analysis.rewriting import Insertion
from partita.dialects.relay import DenseOp, MatmulOp, ReshapeOp, TransposeOp
from partita.shapes import DYNAMIC, Shape, shape_of


@dataclass(frozen=True)
class MatmulToDense(RewritePattern):
    """Rewrite `matmul(x[..., k], w[k, n])` with constant `w` to `dense(x, transpose w)`, on rows."""

    constants: ConstantValues

    transposed: dict[SSAValue, SSAValue]
    """Matrices that have been transposed already."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp, rewriter: PatternRewriter) -> None:
        if op.rhs not in self.constants or op.lhs in self.constants:
            return
        data, result = shape_of(op.lhs), shape_of(op.result)
        if len(shape_of(op.rhs)) != 2 or (len(data) != 2 and DYNAMIC in data):
            return
        insert = Insertion(rewriter, op)
        if op.rhs not in self.transposed:
            self.transposed[op.rhs] = insert(TransposeOp(op.rhs, axes=(1, 0)))
        rows = op.lhs
        if len(data) != 2:
            rows = insert(ReshapeOp(rows, shape=as_rows(data)))
        product = insert(DenseOp(rows, self.transposed[op.rhs]))
        if len(data) != 2:
            product = insert(ReshapeOp(product, shape=result))
        rewriter.replace(op, (), (product,))


def as_rows(shape: Shape) -> Shape:
    """Return the shape in which all axes but the last are one."""
    return (prod(shape[:-1]), shape[-1])


@dataclass(frozen=True)
class MatmulToDensePass(ModulePass):
    """Leave matmuls by a constant matrix to the op that blocked weights exist for.

    A stack of rows times one matrix is a dense layer on all rows. The matrix is
    transposed once, by an op that `fold-constants` evaluates. Products of two computed
    matrices, or with a stack of matrices, stay.

    Before:

    ```mlir
    func.func @main(%x : tensor<2x3x2xf32>) -> tensor<2x3x1xf32> {
      %w = relay.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
      %0 = relay.matmul %x, %w : (tensor<2x3x2xf32>, tensor<2x1xf32>) -> tensor<2x3x1xf32>
      func.return %0 : tensor<2x3x1xf32>
    }
    ```

    After `matmul-to-dense,fold-constants`:

    ```mlir
    func.func @main(%x : tensor<2x3x2xf32>) -> tensor<2x3x1xf32> {
      %0 = relay.reshape %x {shape = array<i64: 6, 2>} : tensor<2x3x2xf32> -> tensor<6x2xf32>
      %1 = relay.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
      %2 = relay.dense %0, %1 : (tensor<6x2xf32>, tensor<1x2xf32>) -> tensor<6x1xf32>
      %3 = relay.reshape %2 {shape = array<i64: 2, 3, 1>} : tensor<6x1xf32> -> tensor<2x3x1xf32>
      func.return %3 : tensor<2x3x1xf32>
    }
    ```
    """

    name = "matmul-to-dense"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = ConstantValues(op)
        PatternRewriteWalker(
            MatmulToDense(constants, {}),
            apply_recursively=False,
            listener=PatternRewriterListener(
                operation_insertion_handler=[constants.note]
            ),
        ).rewrite_module(op)
