"""Lay weights out in blocks of output channels."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
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
from partita.analysis.diagnostics import fail
from partita.analysis.rewriting import Insertion
from partita.dialects.relay import Conv2dOp, DenseOp, LayoutTransformOp
from partita.shapes import DYNAMIC, shape_of

LEAST_BLOCK = 4
"""Smaller blocks do not fill a vector register."""


def block_of(features: int, block: int) -> int | None:
    """Return the largest of `block`, its half, its quarter, … that divides the output channels, if it is 4 or more."""
    if features == DYNAMIC:
        return None
    while block >= LEAST_BLOCK:
        if features % block == 0:
            return block
        block //= 2
    return None


@dataclass(frozen=True)
class PackPattern(RewritePattern):
    """A rewrite that gives constant weights another layout."""

    constants: ConstantValues

    block: int

    packed: dict[tuple[SSAValue, str], SSAValue]
    """Weights by value and layout: one that several ops read is packed once."""

    def layout(self, weight: SSAValue, source: str) -> str | None:
        """Return the blocked layout of a plain weight; `None` if it is to stay."""
        if weight not in self.constants:
            return None
        block = block_of(shape_of(weight)[0], self.block)
        return None if block is None else f"{source}{block}o"

    def pack(
        self, weight: SSAValue, source: str, target: str, insert: Insertion
    ) -> SSAValue:
        """Return a weight in a blocked layout."""
        key = (weight, target)
        if key not in self.packed:
            self.packed[key] = insert(
                LayoutTransformOp(weight, source=source, target=target)
            )
        return self.packed[key]


class PackConv(PackPattern):
    """Rewrite `conv2d(x, w)` to `conv2d(x, layout_transform w)`, where there is one group."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv2dOp, rewriter: PatternRewriter) -> None:
        if op.kernel_layout is not None or op.groups.value.data != 1:
            return
        if (layout := self.layout(op.weight, "OIHW")) is None:
            return
        insert = Insertion(rewriter, op)
        op.operands[1] = self.pack(op.weight, "OIHW", layout, insert)
        op.kernel_layout = StringAttr(layout)


class PackDense(PackPattern):
    """Rewrite `dense(x, w)` to `dense(x, layout_transform w)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DenseOp, rewriter: PatternRewriter) -> None:
        if op.weight_layout is not None:
            return
        if (layout := self.layout(op.weight, "OI")) is None:
            return
        insert = Insertion(rewriter, op)
        op.operands[1] = self.pack(op.weight, "OI", layout, insert)
        op.weight_layout = StringAttr(layout)


@dataclass(frozen=True)
class PackWeightsPass(ModulePass):
    """Store constant weights so that a vector of output channels is contiguous.

    An inner loop then loads neighbouring channels with one instruction, and the layout
    is part of types and attributes, for every later pass to see. The block is the
    largest of `block`, its half, its quarter, …, at least 4, that divides the output
    channels; where there is none, in grouped convolutions, and where weights are not constant,
    the layout stays. `fold-constants` then evaluates the new `layout_transform` ops.

    Before:

    ```mlir
    func.func @main(%x : tensor<1x2xf32>) -> tensor<1x8xf32> {
      %w = relay.constant dense<1.0> : tensor<8x2xf32>
      %0 = relay.dense %x, %w : (tensor<1x2xf32>, tensor<8x2xf32>) -> tensor<1x8xf32>
      func.return %0 : tensor<1x8xf32>
    }
    ```

    After `pack-weights{block=4},fold-constants`:

    ```mlir
    func.func @main(%x : tensor<1x2xf32>) -> tensor<1x8xf32> {
      %0 = relay.constant dense<1.0> : tensor<2x2x4xf32>
      %1 = relay.dense %x, %0 {weight_layout = "OI4o"} : (tensor<1x2xf32>, tensor<2x2x4xf32>) -> tensor<1x8xf32>
      func.return %1 : tensor<1x8xf32>
    }
    ```
    """

    name = "pack-weights"

    block: int = 16
    """How many output channels lie side by side."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.block < LEAST_BLOCK:
            fail(op, f"expected block of at least {LEAST_BLOCK}, got {self.block}")
        constants = ConstantValues(op)
        packed: dict[tuple[SSAValue, str], SSAValue] = {}
        PatternRewriteWalker(
            GreedyRewritePatternApplier(
                [
                    PackConv(constants, self.block, packed),
                    PackDense(constants, self.block, packed),
                ]
            ),
            apply_recursively=False,
            listener=PatternRewriterListener(
                operation_insertion_handler=[constants.note]
            ),
        ).rewrite_module(op)
