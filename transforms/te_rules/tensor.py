"""Rules of ops that move elements: the index expressions are all there is to them."""

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from partita.dialects import relay
from partita.dialects.relay.base import ints
from partita.dialects.relay.layout import Layout
from partita.shapes import Shape, element_of, shape_of
from partita.transforms.te_rules.body import (
    INDEX,
    Axes,
    Body,
    Number,
    Scalar,
    broadcast_indices,
)
from partita.transforms.te_rules.builder import Rule, Rules, TeBuilder
from partita.transforms.te_rules.index import modulo, reshaped
from partita.transforms.te_rules.layouts import indices_in, whole_axes
from partita.transforms.te_rules.windows import pad


def moving(move: Callable[..., Sequence[AffineExpr]]) -> Rule:
    """Make a rule of a function of an op, an index of its result and its data's shape: an index of its data."""

    def rule(op: relay.RelayOp, b: TeBuilder) -> list[SSAValue]:
        data, result = op.operands[0], op.results[0]
        return [
            b.compute(
                shape_of(result),
                element_of(result),
                lambda body, axes: body.read(data, move(op, axes, shape_of(data))),
            )
        ]

    return rule


def _reshape(op: relay.ReshapeOp, axes: Axes, data: Shape) -> Sequence[AffineExpr]:
    return reshaped(axes, shape_of(op.result), data)


def _transpose(op: relay.TransposeOp, axes: Axes, data: Shape) -> Sequence[AffineExpr]:
    source = {axis: index for axis, index in zip(ints(op.axes), axes, strict=True)}
    return tuple(source[axis] for axis in range(len(data)))


def _squeeze(op: relay.SqueezeOp, axes: Axes, data: Shape) -> Sequence[AffineExpr]:
    kept = iter(axes)
    dropped = ints(op.axes)
    return tuple(
        AffineExpr.constant(0) if axis in dropped else next(kept)
        for axis in range(len(data))
    )


def _expand_dims(
    op: relay.ExpandDimsOp, axes: Axes, data: Shape
) -> Sequence[AffineExpr]:
    new = ints(op.axes)
    return tuple(index for axis, index in enumerate(axes) if axis not in new)


def _broadcast_to(
    op: relay.BroadcastToOp, axes: Axes, data: Shape
) -> Sequence[AffineExpr]:
    return broadcast_indices(data, axes, shape_of(op.result))


def _tile(op: relay.TileOp, axes: Axes, data: Shape) -> Sequence[AffineExpr]:
    return tuple(
        index if count == 1 else modulo(index, extent)
        for index, extent, count in zip(axes, data, ints(op.repeats), strict=True)
    )


def _strided_slice(
    op: relay.StridedSliceOp, axes: Axes, data: Shape
) -> Sequence[AffineExpr]:
    return tuple(
        index * stride + begin
        for index, begin, stride in zip(
            axes, ints(op.begin), ints(op.strides), strict=True
        )
    )


def _layout_transform(
    op: relay.LayoutTransformOp, axes: Axes, data: Shape
) -> Sequence[AffineExpr]:
    source, target = Layout.parse(op.source.data), Layout.parse(op.target.data)
    return indices_in(source, whole_axes(target, axes))


def _concatenate(op: relay.ConcatenateOp, b: TeBuilder) -> list[SSAValue]:
    axis = op.axis.value.data
    inputs = [each for each in op.inputs if shape_of(each)[axis]]

    def element(body: Body, axes: Axes) -> Scalar:
        """Read the first input, and each further one where those before it end."""
        start = sum(shape_of(each)[axis] for each in inputs)
        value: Scalar | None = None
        for each in reversed(inputs):
            start -= shape_of(each)[axis]
            at = (*axes[:axis], axes[axis] - start, *axes[axis + 1 :])
            if value is None and len(inputs) > 1:
                value = body.constant(0, element_of(each))
            value = body.read(each, at, value)
        assert value is not None
        return value

    return [b.compute(shape_of(op.result), element_of(op.result), element)]


def _split(op: relay.SplitOp, b: TeBuilder) -> list[SSAValue]:
    axis, start = op.axis.value.data, 0
    parts: list[SSAValue] = []
    for result in op.results:
        parts.append(b.compute(shape_of(result), element_of(result), _part(op, start)))
        start += shape_of(result)[axis]
    return parts


def _part(op: relay.SplitOp, start: int) -> Callable[[Body, Axes], Scalar]:
    axis = op.axis.value.data
    return lambda body, axes: body.read(
        op.data, (*axes[:axis], axes[axis] + start, *axes[axis + 1 :])
    )


def _gather(op: relay.GatherOp, b: TeBuilder) -> list[SSAValue]:
    axis, rank = op.axis.value.data, len(shape_of(op.indices))
    extent, element = shape_of(op.data)[axis], element_of(op.data)

    def picked(body: Body, axes: Axes) -> Scalar:
        at = body.read(op.indices, axes[axis : axis + rank]).cast(INDEX)
        at = at.lt(0).select(at + extent, at)
        return body.read(
            op.data,
            (*axes[:axis], body.index(at), *axes[axis + rank :]),
            body.constant(0, element),
        )

    return [b.compute(shape_of(op.result), element, picked)]


def _pad(op: relay.PadOp, b: TeBuilder) -> list[SSAValue]:
    before, shape, mode = ints(op.before), shape_of(op.result), op.mode.data
    extents, element = shape_of(op.data), element_of(op.data)
    if mode == "constant":
        value: Number = op.value.value.data
        return [pad(b, op.data, before, shape, value)]

    def filled(body: Body, axes: Axes) -> Scalar:
        at = tuple(
            index
            if extent == whole
            else _source(body, mode, index - start, start, extent)
            for index, start, extent, whole in zip(
                axes, before, extents, shape, strict=True
            )
        )
        computed = mode != "wrap"
        return body.read(op.data, at, body.constant(0, element) if computed else None)

    return [b.compute(shape, element, filled)]


def _source(
    body: Body, mode: str, index: AffineExpr, before: int, extent: int
) -> AffineExpr:
    """Return which element stands at an index before, in or after the data along an axis."""
    last = extent - 1
    match mode:
        case "wrap":
            # An index of at least 0 that is the same modulo the extent.
            return (index + -(-before // extent) * extent) % extent
        case "edge":
            return body.index(body.value_of(index).minimum(last).maximum(0))
        case _:
            at = body.value_of(index)
            at = at.maximum(0 - at)
            return body.index(at.minimum(2 * last - at))


TENSOR_RULES: Rules = {
    relay.ReshapeOp: moving(_reshape),
    relay.TransposeOp: moving(_transpose),
    relay.SqueezeOp: moving(_squeeze),
    relay.ExpandDimsOp: moving(_expand_dims),
    relay.BroadcastToOp: moving(_broadcast_to),
    relay.TileOp: moving(_tile),
    relay.StridedSliceOp: moving(_strided_slice),
    relay.LayoutTransformOp: moving(_layout_transform),
    relay.ConcatenateOp: _concatenate,
    relay.SplitOp: _split,
    relay.GatherOp: _gather,
    relay.PadOp: _pad,
}
