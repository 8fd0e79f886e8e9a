"""Move explicit padding into the windows that read it."""

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from partita.analysis.rewriting import erase_unused
from partita.dialects.partita import inherit_origins
from partita.dialects.relay import AvgPool2dOp, Conv2dOp, MaxPool2dOp, PadOp
from partita.dialects.relay.base import dense, ints
from partita.shapes import dtype_of, element_of, is_float


def spatial_pad(value: SSAValue) -> PadOp | None:
    """Return the op that pads an image by a constant, on no other than its last two of four axes, and never crops."""
    pad = value.owner
    if (
        not isinstance(pad, PadOp)
        or pad.mode.data != "constant"
        or len(before := ints(pad.before)) != 4
        or min(*before, *(after := ints(pad.after))) < 0
        or any((*before[:2], *after[:2]))
    ):
        return None
    return pad


def is_positive_zero(pad: PadOp) -> bool:
    """Say whether padding is what convolutions and averages read outside an image."""
    value = float(pad.value.value.data)
    return value == 0 and math.copysign(1, value) > 0


def absorb(
    rewriter: PatternRewriter, op: Conv2dOp | AvgPool2dOp | MaxPool2dOp, pad: PadOp
) -> Conv2dOp | AvgPool2dOp | MaxPool2dOp | None:
    """Replace an op by its copy on the unpadded image; `None` if that would see other windows."""
    top, left, bottom, right = ints(op.padding)
    before, after = ints(pad.before), ints(pad.after)
    copy = op.clone()
    copy.operands = (pad.data, *op.operands[1:])
    copy.properties["padding"] = dense(
        (top + before[2], left + before[3], bottom + after[2], right + after[3])
    )
    if copy.infer() != (op.result.type,):
        copy.erase()
        return None
    inherit_origins(copy, pad, op)
    rewriter.replace(op, copy)
    erase_unused(rewriter, pad)
    return copy


class PadIntoConv(RewritePattern):
    """Rewrite `conv2d (pad x)` to `conv2d x` with more padding, where `pad` adds zeros."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv2dOp, rewriter: PatternRewriter) -> None:
        if (pad := spatial_pad(op.data)) is None or not is_positive_zero(pad):
            return
        absorb(rewriter, op, pad)


class PadIntoAvgPool(RewritePattern):
    """Rewrite `avg_pool2d (pad x)` to `avg_pool2d x` with more padding that counts, where `pad` adds zeros.

    The pool must count its own padding, or have none.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AvgPool2dOp, rewriter: PatternRewriter) -> None:
        if (pad := spatial_pad(op.data)) is None or not is_positive_zero(pad):
            return
        if not bool(op.count_include_pad) and any(ints(op.padding)):
            return
        if isinstance(copy := absorb(rewriter, op, pad), AvgPool2dOp):
            copy.count_include_pad = BoolAttr.from_bool(True)


class PadIntoMaxPool(RewritePattern):
    """Rewrite `max_pool2d (pad x)` to `max_pool2d x` with more padding, where `pad` adds the least value."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MaxPool2dOp, rewriter: PatternRewriter) -> None:
        if (pad := spatial_pad(op.data)) is None:
            return
        if float(pad.value.value.data) != least_value(op.data):
            return
        absorb(rewriter, op, pad)


def least_value(value: SSAValue) -> float:
    """Return the least value of a tensor's element type."""
    element = element_of(value)
    if is_float(element):
        return -math.inf
    dtype = dtype_of(element)
    return -float(2 ** (8 * dtype.itemsize - 1)) if dtype.kind == "i" else 0.0


@dataclass(frozen=True)
class FoldPaddingPass(ModulePass):
    """Let convolutions and pools pad by themselves.

    Reading a padded copy of an image costs a pass over memory; windows that know where
    the image ends do not. Only padding of the two spatial axes by what the window would
    read there anyway moves: zeros for convolutions and averages, the least value for
    maxima. Where others read the padded image, too, it stays for them.

    Before:

    ```mlir
    func.func @main(%x : tensor<1x1x4x4xf32>, %w : tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32> {
      %0 = relay.pad %x {before = array<i64: 0, 0, 1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "constant", value = 0.0 : f64} : tensor<1x1x4x4xf32> -> tensor<1x1x6x6xf32>
      %1 = relay.conv2d %0, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
      func.return %1 : tensor<1x1x4x4xf32>
    }
    ```

    After `fold-padding`:

    ```mlir
    func.func @main(%x : tensor<1x1x4x4xf32>, %w : tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32> {
      %1 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
      func.return %1 : tensor<1x1x4x4xf32>
    }
    ```
    """

    name = "fold-padding"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(
            GreedyRewritePatternApplier(
                [PadIntoConv(), PadIntoAvgPool(), PadIntoMaxPool()]
            ),
            apply_recursively=False,
        ).rewrite_module(op)
