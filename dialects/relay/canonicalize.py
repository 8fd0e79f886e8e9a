"""Canonicalization of relay: what is simpler and gives the same elements, bit by bit.

A pattern is listed under the op that it starts from; stock `canonicalize` finds it by the
op's `Canonical` trait. A replacement carries the origins of both ops that it stands for.
"""

from collections.abc import Mapping
from math import isnan

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from partita.dialects.partita import inherit_origins
from partita.dialects.relay.base import RelayOp, ints
from partita.dialects.relay.binary import DivideOp, MultiplyOp, SubtractOp
from partita.dialects.relay.constant import ConstantOp
from partita.dialects.relay.elementwise import CastOp, ClipOp
from partita.dialects.relay.indexing import ConcatenateOp, PadOp, StridedSliceOp
from partita.dialects.relay.tensor import (
    BroadcastToOp,
    ExpandDimsOp,
    LayoutTransformOp,
    ReshapeOp,
    SqueezeOp,
    TileOp,
    TransposeOp,
)
from partita.dialects.relay.unary import (
    BitwiseNotOp,
    LogicalNotOp,
    NegativeOp,
    ReluOp,
)
from partita.shapes import DYNAMIC, element_of, shape_of


def _replace(
    op: RelayOp, by: RelayOp, rewriter: PatternRewriter, *merged: Operation
) -> None:
    """Replace an op by one that stands for it and others."""
    inherit_origins(by, *merged, op)
    rewriter.replace(op, by)


def _erase(op: RelayOp, value: SSAValue, rewriter: PatternRewriter) -> None:
    """Replace an op that does nothing by its operand."""
    rewriter.replace(op, [], [value])


def _is_static(value: SSAValue) -> bool:
    return DYNAMIC not in shape_of(value)


class DropIdentity(RewritePattern):
    """`op(x) -> x` where it has the type of `x`, for ops that then cannot do anything else."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, RelayOp)
        data = op.operands[0]
        if op.results[0].type == data.type and _is_static(data):
            _erase(op, data, rewriter)


class DropIdentityTranspose(RewritePattern):
    """`transpose(x, 0, 1, …) -> x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        axes = ints(op.axes)
        if axes == tuple(range(len(axes))):
            _erase(op, op.data, rewriter)


class ComposeTransposes(RewritePattern):
    """`transpose(transpose(x, a), b) -> transpose(x, a[b])`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        first = op.data.owner
        if not isinstance(first, TransposeOp):
            return
        inner = ints(first.axes)
        axes = tuple(inner[axis] for axis in ints(op.axes))
        _replace(op, TransposeOp(first.data, axes=axes), rewriter, first)


class ReshapeTranspose(RewritePattern):
    """`transpose(x, a) -> reshape(x)` where only axes of extent 1 change their order."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        if not _is_static(op.data):
            return
        shape = shape_of(op.data)
        moved = [axis for axis in ints(op.axes) if shape[axis] != 1]
        if moved == sorted(moved) and moved != list(ints(op.axes)):
            _replace(op, ReshapeOp(op.data, shape=shape_of(op.result)), rewriter)


class ComposeReshapes(RewritePattern):
    """`reshape(view(x)) -> reshape(x)`, where `view` is a reshape, squeeze or expand_dims."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        first = op.data.owner
        if isinstance(first, ReshapeOp | SqueezeOp | ExpandDimsOp) and _is_static(
            first.data
        ):
            by = ReshapeOp(first.data, shape=shape_of(op.result))
            _replace(op, by, rewriter, first)


class ReshapeOfView(RewritePattern):
    """`squeeze(view(x)) -> reshape(x)` and so `expand_dims`, where `view` is a reshape, squeeze or expand_dims."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, SqueezeOp | ExpandDimsOp)
        first = op.data.owner
        if isinstance(first, ReshapeOp | SqueezeOp | ExpandDimsOp) and _is_static(
            first.data
        ):
            by = ReshapeOp(first.data, shape=shape_of(op.result))
            _replace(op, by, rewriter, first)


class ComposeLayoutTransforms(RewritePattern):
    """`layout_transform(layout_transform(x, A -> B), B -> C) -> layout_transform(x, A -> C)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: LayoutTransformOp, rewriter: PatternRewriter
    ) -> None:
        first = op.data.owner
        if isinstance(first, LayoutTransformOp) and first.target == op.source:
            by = LayoutTransformOp(
                first.data, source=first.source.data, target=op.target.data
            )
            _replace(op, by, rewriter, first)


class DropIdentityLayoutTransform(RewritePattern):
    """`layout_transform(x, A -> A) -> x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: LayoutTransformOp, rewriter: PatternRewriter
    ) -> None:
        if op.source == op.target:
            _erase(op, op.data, rewriter)


class DropWholeSlice(RewritePattern):
    """`strided_slice(x) -> x` where it takes all elements forward."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: StridedSliceOp, rewriter: PatternRewriter) -> None:
        if not _is_static(op.data) or op.result.type != op.data.type:
            return
        steps = zip(shape_of(op.data), ints(op.strides), strict=True)
        if all(stride == 1 or extent < 2 for extent, stride in steps):
            _erase(op, op.data, rewriter)


class DropEmptyPad(RewritePattern):
    """`pad(x, 0, 0) -> x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PadOp, rewriter: PatternRewriter) -> None:
        if not any((*ints(op.before), *ints(op.after))):
            _erase(op, op.data, rewriter)


class DropSingleConcatenate(RewritePattern):
    """`concatenate(x) -> x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatenateOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) == 1:
            _erase(op, op.inputs[0], rewriter)


class DropIdentityCast(RewritePattern):
    """`cast(x) -> x` where the element type stays."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        if element_of(op.data) == op.to:
            _erase(op, op.data, rewriter)


class DropDoubleInverse(RewritePattern):
    """`f(f(x)) -> x`, for negations."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, NegativeOp | LogicalNotOp | BitwiseNotOp)
        first = op.data.owner
        if isinstance(first, Operation) and type(first) is type(op):
            _erase(op, first.operands[0], rewriter)


class DropRepeatedRelu(RewritePattern):
    """`relu(relu(x)) -> relu(x)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.data.owner, ReluOp):
            _erase(op, op.data, rewriter)


class ComposeClips(RewritePattern):
    """`clip(clip(x, a, b), c, d) -> clip(x, max(a, c), min(b, d))`, where the ranges overlap."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ClipOp, rewriter: PatternRewriter) -> None:
        first = op.data.owner
        if not isinstance(first, ClipOp):
            return
        minima = [v for v in (limit(first.minimum), limit(op.minimum)) if v is not None]
        maxima = [v for v in (limit(first.maximum), limit(op.maximum)) if v is not None]
        if any(isnan(value) for value in (*minima, *maxima)):
            return
        minimum, maximum = max(minima, default=None), min(maxima, default=None)
        # Zeros of both signs compare equal, and which one a limit yields is visible.
        if minima.count(0) > 1 or maxima.count(0) > 1:
            return
        if minimum is not None and maximum is not None and minimum >= maximum:
            return
        by = ClipOp(first.data, minimum=minimum, maximum=maximum)
        _replace(op, by, rewriter, first)


def limit(attr: FloatAttr | IntegerAttr | None) -> float | int | None:
    """Read a limit of a clip."""
    return None if attr is None else attr.value.data


def _is_splat(value: SSAValue, wanted: float) -> bool:
    """Say whether a value is a constant whose elements all are this number, and no -0.0 for 0."""
    owner = value.owner
    if not isinstance(owner, ConstantOp):
        return False
    splat = owner.splat()
    return splat is not None and splat == wanted and str(splat)[0] != "-"


class DropNeutralOperand(RewritePattern):
    """`x * 1 -> x`, `1 * x -> x`, `x / 1 -> x`, `x - 0 -> x`, where `x` already has the result's shape.

    `x + 0` stays: it turns -0.0 into 0.0.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, MultiplyOp | DivideOp | SubtractOp)
        neutral = 0 if isinstance(op, SubtractOp) else 1
        if op.result.type == op.lhs.type and _is_splat(op.rhs, neutral):
            _erase(op, op.lhs, rewriter)
        elif (
            isinstance(op, MultiplyOp)
            and op.result.type == op.rhs.type
            and _is_splat(op.lhs, neutral)
        ):
            _erase(op, op.rhs, rewriter)


PATTERNS: Mapping[type[Operation], tuple[RewritePattern, ...]] = {
    ReshapeOp: (DropIdentity(), ComposeReshapes()),
    SqueezeOp: (DropIdentity(), ReshapeOfView()),
    ExpandDimsOp: (DropIdentity(), ReshapeOfView()),
    BroadcastToOp: (DropIdentity(),),
    TileOp: (DropIdentity(),),
    TransposeOp: (DropIdentityTranspose(), ComposeTransposes(), ReshapeTranspose()),
    LayoutTransformOp: (DropIdentityLayoutTransform(), ComposeLayoutTransforms()),
    StridedSliceOp: (DropWholeSlice(),),
    PadOp: (DropEmptyPad(),),
    ConcatenateOp: (DropSingleConcatenate(),),
    CastOp: (DropIdentityCast(),),
    NegativeOp: (DropDoubleInverse(),),
    LogicalNotOp: (DropDoubleInverse(),),
    BitwiseNotOp: (DropDoubleInverse(),),
    ReluOp: (DropRepeatedRelu(),),
    ClipOp: (ComposeClips(),),
    MultiplyOp: (DropNeutralOperand(),),
    DivideOp: (DropNeutralOperand(),),
    SubtractOp: (DropNeutralOperand(),),
}
"""What stock `canonicalize` tries, by the op that it starts from."""
