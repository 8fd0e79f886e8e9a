"""Lay images out in blocks of channels, from the first convolution to the last op that can work on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from partita.analysis.constants import ConstantValues
from partita.analysis.diagnostics import fail
from partita.dialects.partita import KERNEL, inherit_origins
from partita.dialects.relay import (
    AvgPool2dOp,
    BatchNormOp,
    BroadcastToOp,
    ConcatenateOp,
    Conv2dOp,
    LayoutTransformOp,
    MaxPool2dOp,
    PadOp,
    RelayOp,
    ReshapeOp,
)
from partita.dialects.relay.base import FusionPattern, flag, ints
from partita.dialects.relay.pool import Pool2dOp
from partita.dialects.relay.reduction import ReductionOp
from partita.shapes import DYNAMIC, Shape, shape_of
from partita.transforms.pack_weights import LEAST_BLOCK, block_of

PLAIN = "NCHW"

SPATIAL = (2, 3)
"""The axes of an image's rows and columns, in every layout."""


def layout_of_blocks(block: int) -> str:
    """Return the layout of images with channels in blocks of this size."""
    return f"{PLAIN}{block}c"


@dataclass(frozen=True)
class Blocked:
    """An image as it lies in memory instead of in the plain layout."""

    value: SSAValue

    block: int
    """Channels that lie side by side."""


@dataclass
class Images:
    """The images of a function that have a blocked layout, under construction."""

    constants: ConstantValues

    block: int
    """The largest block: the lanes of a vector."""

    blocked: dict[SSAValue, Blocked] = field(default_factory=dict[SSAValue, Blocked])
    """By the value in the plain layout that each takes the place of."""

    made: list[LayoutTransformOp] = field(default_factory=list[LayoutTransformOp])

    def insert(self, op: Operation, before: Operation) -> SSAValue:
        """Insert an op that belongs to another one, in front of it; return its result."""
        inherit_origins(op, before)
        Rewriter.insert_op(op, InsertPoint.before(before))
        self.constants.note(op)
        return op.results[0]

    def relaid(
        self, value: SSAValue, source: str, target: str, user: Operation
    ) -> SSAValue:
        """Return a value in another layout."""
        op = LayoutTransformOp(value, source=source, target=target)
        self.made.append(op)
        return self.insert(op, user)

    def lay(self, value: SSAValue, block: int, user: Operation) -> SSAValue:
        """Return an image of plain layout in blocks, for an op that reads it."""
        known = self.blocked.get(value)
        if known is not None and known.block == block:
            return known.value
        if known is not None:
            source = layout_of_blocks(known.block)
            return self.relaid(known.value, source, layout_of_blocks(block), user)
        laid = self.relaid(value, PLAIN, layout_of_blocks(block), user)
        if value not in self.constants:
            self.blocked[value] = Blocked(laid, block)
        return laid

    def replace(self, op: Operation, laid: Operation, block: int) -> None:
        """Let a blocked op take the place of one in the plain layout, for users who know only that."""
        result = self.insert(laid, op)
        plain = self.relaid(result, layout_of_blocks(block), PLAIN, op)
        self.blocked[plain] = Blocked(result, block)
        op.results[0].replace_all_uses_with(plain)
        Rewriter.erase_op(op)


def is_image(value: SSAValue) -> bool:
    """Say whether a value is a batch of images of static shape."""
    shape = shape_of(value)
    return len(shape) == 4 and DYNAMIC not in shape


def block_conv2d(op: Conv2dOp, images: Images) -> None:
    """Rewrite a convolution with constant weights to one whose result is in blocks.

    It reads data in blocks if there are enough channels. A convolution by channel (depthwise) does
    little work with what it reads: it has blocks where its data has them already.
    """
    plain = op.kernel_layout is op.data_layout is op.result_layout is None
    if not plain or not is_image(op.result) or op.weight not in images.constants:
        return
    groups, (features, channels, _, _) = op.groups.value.data, shape_of(op.weight)
    block = block_of(features // groups, images.block)
    known = images.blocked.get(op.data)
    if channels == 1 and features == groups > 1:
        block = known.block if known else None
    if block is None or 2 * block < images.block:
        return
    source = known.block if known else block_of(channels, images.block)
    if channels == 1 and groups == 1:
        source = None
    elif channels > 1 and (source is None or channels % source):
        if groups > 1 or known is not None:
            return
        source = None
    inner = f"{source}i" if source and channels > 1 else ""
    kernel_layout = f"OIHW{inner}{block}o"
    laid = op.clone()
    data, weight = op.data, op.weight
    if source is not None:
        data = images.lay(data, source, op)
        laid.data_layout = StringAttr(layout_of_blocks(source))
    laid.operands = (data, images.relaid(weight, "OIHW", kernel_layout, op))
    laid.kernel_layout = StringAttr(kernel_layout)
    laid.result_layout = StringAttr(layout_of_blocks(block))
    laid.update_result_types()
    images.replace(op, laid, block)


def block_pool(op: Pool2dOp, images: Images) -> None:
    """Rewrite a pool of an image that is in blocks."""
    known = images.blocked.get(op.data)
    if op.layout is not None or known is None:
        return
    laid = op.clone()
    laid.operands = (known.value,)
    laid.layout = StringAttr(layout_of_blocks(known.block))
    laid.update_result_types()
    images.replace(op, laid, known.block)


def block_reduction(op: ReductionOp, images: Images) -> None:
    """Rewrite a reduction over rows and columns of an image that is in blocks."""
    known = images.blocked.get(op.data)
    if known is None or ints(op.axes) != SPATIAL:
        return
    laid = op.clone()
    laid.operands = (known.value,)
    laid.keepdims = flag(True)
    laid.update_result_types()
    shape = shape_of(op.results[0])
    if bool(op.keepdims):
        images.replace(op, laid, known.block)
        return
    value = images.insert(laid, op)
    plain = images.relaid(value, layout_of_blocks(known.block), PLAIN, op)
    result = images.insert(ReshapeOp(plain, shape=shape), op)
    op.results[0].replace_all_uses_with(result)
    Rewriter.erase_op(op)


def block_concatenate(op: ConcatenateOp, images: Images) -> None:
    """Rewrite a concatenation of channels, one input of which is in blocks that divide all of them."""
    if op.axis.value.data != 1 or not is_image(op.result):
        return
    blocks = {known.block for each in op.inputs if (known := images.blocked.get(each))}
    if not blocks:
        return
    block = min(blocks)
    if any(shape_of(each)[1] % block for each in op.inputs):
        return
    inputs = [images.lay(each, block, op) for each in op.inputs]
    images.replace(op, ConcatenateOp(inputs, axis=1), block)


def block_pad(op: PadOp, images: Images) -> None:
    """Rewrite padding of rows and columns of an image that is in blocks."""
    known = images.blocked.get(op.data)
    before, after = ints(op.before), ints(op.after)
    if known is None or any((*before[:2], *after[:2])):
        return
    laid = PadOp(
        known.value,
        before=(*before, 0),
        after=(*after, 0),
        mode=op.mode.data,
        value=float(op.value.value.data),
    )
    images.replace(op, laid, known.block)


def block_elementwise(op: RelayOp, images: Images) -> None:
    """Rewrite an op on elements, an operand of which is an image in blocks; other operands follow it.

    What does not vary with the channel only gets another axis, of one element.
    """
    if len(op.results) != 1 or not is_image(op.results[0]):
        return
    shape = shape_of(op.results[0])
    leading = next(
        (
            known
            for each in op.operands
            if shape_of(each) == shape and (known := images.blocked.get(each))
        ),
        None,
    )
    if leading is None:
        return
    laid = op.clone()
    laid.operands = tuple(
        _spread(each, leading.block, op, images) for each in op.operands
    )
    laid.update_result_types()
    images.replace(op, laid, leading.block)


def _spread(value: SSAValue, block: int, user: RelayOp, images: Images) -> SSAValue:
    """Return an operand that broadcasts to an image, such that it does to the image in blocks."""
    shape = shape_of(value)
    if not shape:
        return value
    if len(shape) < 3 or (channels := shape[-3]) == 1:
        return images.insert(ReshapeOp(value, shape=(*shape, 1)), user)
    whole: Shape = (*(1 for _ in range(4 - len(shape))), *shape)
    if whole != shape:
        value = images.insert(ReshapeOp(value, shape=whole), user)
    assert channels % block == 0
    return images.lay(value, block, user)


Rule = Callable[..., None]

RULES: Mapping[type[RelayOp], Rule] = {
    Conv2dOp: block_conv2d,
    MaxPool2dOp: block_pool,
    AvgPool2dOp: block_pool,
    ConcatenateOp: block_concatenate,
    PadOp: block_pad,
}
"""How ops that look at a layout are rewritten."""

PLAIN_ONLY = (BatchNormOp, BroadcastToOp)
"""Ops on elements that name an axis or a shape."""


def rule_of(op: Operation) -> Rule | None:
    """Return how an op is rewritten, if it may be."""
    if not isinstance(op, RelayOp) or isinstance(op, PLAIN_ONLY):
        return None
    if isinstance(op, ReductionOp):
        return block_reduction
    if op.fusion() <= FusionPattern.BROADCAST:
        return block_elementwise
    return RULES.get(type(op))


@dataclass(frozen=True)
class BlockLayoutsPass(ModulePass):
    """Keep images in a layout whose innermost axis is a block of channels, as long as the vectors of a processor.

    A convolution with constant weights begins it: it then reads and writes whole vectors, its
    weights lie in the order in which it needs them, and nothing is ever strided. What follows (ops on elements, pools,
    concatenations of channels, other convolutions) goes on in that layout, so only the borders of
    the graph are rearranged. All of it is in the IR: in attributes, types, and
    `layout_transform` ops, which `fold-constants` evaluates where they are of weights.

    Channels that `block` does not divide are in blocks of half of it, or stay as they are. So do
    convolutions whose groups are not made of whole blocks, and all that other ops do.

    Before:

    ```mlir
    func.func @main(%x : tensor<1x3x8x8xf32>) -> tensor<1x16xf32> {
      %w = relay.constant dense<1.0> : tensor<16x3x3x3xf32>
      %v = relay.constant dense<2.0> : tensor<16x16x1x1xf32>
      %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
      %1 = relay.relu %0 : tensor<1x16x8x8xf32>
      %2 = relay.conv2d %1, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
      %3 = relay.mean %2 {axes = array<i64: 2, 3>, keepdims = false} : tensor<1x16x8x8xf32> -> tensor<1x16xf32>
      func.return %3 : tensor<1x16xf32>
    }
    ```

    After `block-layouts{block=8},fold-constants,dce`:

    ```mlir
    func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x16xf32> {
      %0 = relay.constant dense<1.000000e+00> : tensor<2x3x3x3x8xf32>
      %1 = relay.conv2d %x, %0 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64, kernel_layout = "OIHW8o", result_layout = "NCHW8c"} : (tensor<1x3x8x8xf32>, tensor<2x3x3x3x8xf32>) -> tensor<1x2x8x8x8xf32>
      %2 = relay.relu %1 : tensor<1x2x8x8x8xf32>
      %3 = relay.constant dense<2.000000e+00> : tensor<2x2x1x1x8x8xf32>
      %4 = relay.conv2d %2, %3 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, data_layout = "NCHW8c", kernel_layout = "OIHW8i8o", result_layout = "NCHW8c"} : (tensor<1x2x8x8x8xf32>, tensor<2x2x1x1x8x8xf32>) -> tensor<1x2x8x8x8xf32>
      %5 = relay.mean %4 {axes = array<i64: 2, 3>, keepdims = true} : tensor<1x2x8x8x8xf32> -> tensor<1x2x1x1x8xf32>
      %6 = relay.layout_transform %5 {source = "NCHW8c", target = "NCHW"} : tensor<1x2x1x1x8xf32> -> tensor<1x16x1x1xf32>
      %7 = relay.reshape %6 {shape = array<i64: 1, 16>} : tensor<1x16x1x1xf32> -> tensor<1x16xf32>
      func.return %7 : tensor<1x16xf32>
    }
    ```
    """

    name = "block-layouts"

    block: int = 16
    """How many channels lie side by side: the lanes of a vector."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.block < LEAST_BLOCK:
            fail(op, f"expected block of at least {LEAST_BLOCK}, got {self.block}")
        constants = ConstantValues(op)
        for function in tuple(op.body.block.ops):
            if not isinstance(function, FuncOp) or KERNEL in function.attributes:
                continue
            images = Images(constants, self.block)
            for region in function.regions:
                for block in region.blocks:
                    for each in tuple(block.ops):
                        if rule := rule_of(each):
                            rule(each, images)
            for transform in reversed(images.made):
                if not transform.result.uses:
                    Rewriter.erase_op(transform)
