"""Rules of convolutions, dense layers and matrix products.

Products of `f16` are accumulated in `f32`. A blocked weight is read where it lies, and
the result has the plain layout.
"""

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from partita.dialects import relay
from partita.shapes import Shape, element_of, shape_of
from partita.transforms.te_rules.body import (
    Axes,
    Body,
    Scalar,
    broadcast_indices,
    widened,
)
from partita.transforms.te_rules.builder import SUM, Rules, TeBuilder
from partita.transforms.te_rules.index import floordiv, modulo
from partita.transforms.te_rules.windows import Windows


def blocked(
    feature: AffineExpr, inner: Axes, weight: Shape, plain_rank: int
) -> tuple[AffineExpr, ...]:
    """Return the index of a weight, whose output features may be in blocks along a last axis."""
    if len(weight) == plain_rank:
        return (feature, *inner)
    block = weight[-1]
    return (floordiv(feature, block), *inner, modulo(feature, block))


def _conv2d(op: relay.Conv2dOp, b: TeBuilder) -> list[SSAValue]:
    shape, weight_shape = shape_of(op.result), shape_of(op.weight)
    channels, *taps = weight_shape[1:4]
    windows = Windows.of(op, taps)
    image = windows.image(b, op.data, 0)
    groups = op.groups.value.data
    features = shape[1] // groups
    element = element_of(op.data)
    wide = widened(element)
    # A group of one channel, as a depthwise convolution has, needs no loop over channels.
    has_channels = channels > 1 or groups == 1
    reduction = (channels, *taps) if has_channels else tuple(taps)

    def product(body: Body, axes: Axes, along: Axes) -> Scalar:
        n, feature, *window = axes
        within = along[0] if has_channels else AffineExpr.constant(0)
        channel = within
        if groups > 1:
            channel = floordiv(feature, features) * channels + within
        taps = along[-2:]
        pixel = body.read(image, (n, channel, *windows.at(window, taps)))
        weight = body.read(
            op.weight, blocked(feature, (within, *taps), weight_shape, 4)
        )
        return pixel.cast(wide) * weight.cast(wide)

    return [b.cast(b.reduce(shape, reduction, wide, product, SUM), element)]


def _dense(op: relay.DenseOp, b: TeBuilder) -> list[SSAValue]:
    weight_shape = shape_of(op.weight)
    element = element_of(op.data)
    wide = widened(element)
    total = b.reduce(
        shape_of(op.result),
        shape_of(op.data)[1:],
        wide,
        lambda body, axes, along: (
            body.read(op.data, (axes[0], along[0])).cast(wide)
            * body.read(op.weight, blocked(axes[1], along, weight_shape, 2)).cast(wide)
        ),
        SUM,
    )
    return [b.cast(total, element)]


def _matmul(op: relay.MatmulOp, b: TeBuilder) -> list[SSAValue]:
    lhs, rhs = shape_of(op.lhs), shape_of(op.rhs)
    element = element_of(op.lhs)
    wide = widened(element)
    has_row, has_column = len(lhs) > 1, len(rhs) > 1

    def product(body: Body, axes: Axes, along: Axes) -> Scalar:
        batch = axes[: len(axes) - has_row - has_column]
        stack = shape_of(op.result)[: len(batch)]
        row = axes[len(batch) : len(batch) + has_row]
        column = axes[len(axes) - has_column :] if has_column else ()
        left = (*broadcast_indices(lhs[:-2], batch, stack), *row, *along)
        right = (*broadcast_indices(rhs[:-2], batch, stack), *along, *column)
        return body.read(op.lhs, left).cast(wide) * body.read(op.rhs, right).cast(wide)

    total = b.reduce(shape_of(op.result), lhs[-1:], wide, product, SUM)
    return [b.cast(total, element)]


NN_RULES: Rules = {
    relay.Conv2dOp: _conv2d,
    relay.DenseOp: _dense,
    relay.MatmulOp: _matmul,
}
