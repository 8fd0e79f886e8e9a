"""Rules of normalizations. Statistics of `f16` are computed in `f32`."""

from math import prod

from xdsl.dialects import math
from xdsl.ir import SSAValue

from partita.dialects import relay
from partita.shapes import element_of, shape_of
from partita.transforms.te_rules.body import Axes, Body, Scalar, widened
from partita.transforms.te_rules.builder import SUM, Rules, TeBuilder
from partita.transforms.te_rules.reduction import along, mean_of


def _batch_norm(op: relay.BatchNormOp, b: TeBuilder) -> list[SSAValue]:
    element, axis = element_of(op.data), op.axis.value.data

    def normalized(body: Body, axes: Axes) -> Scalar:
        gamma, beta, mean, variance = (
            body.read(each, axes[axis : axis + 1]).widened()
            for each in (op.gamma, op.beta, op.mean, op.variance)
        )
        centered = body.read(op.data, axes).widened() - mean
        deviation = (variance + op.epsilon.value.data).math(math.SqrtOp)
        return (centered / deviation * gamma + beta).cast(element)

    return [b.compute(shape_of(op.data), element, normalized)]


def _layer_norm(op: relay.LayerNormOp, b: TeBuilder) -> list[SSAValue]:
    data, shape, axis = op.data, shape_of(op.data), op.axis.value.data
    element = element_of(data)
    wide = widened(element)
    outer, reduced = shape[:axis], tuple(range(axis, len(shape)))
    count = prod(shape[axis:])
    total = along(b, data, reduced, False, SUM, wide, "layer_norm_sum")
    mean = b.compute(
        outer,
        wide,
        lambda body, axes: mean_of(body.read(total, axes), count),
        "layer_norm_mean",
    )

    def square(body: Body, axes: Axes, inner: Axes) -> Scalar:
        centered = body.read(data, (*axes, *inner)).cast(wide) - body.read(mean, axes)
        return centered * centered

    squares = b.reduce(outer, shape[axis:], wide, square, SUM, "layer_norm_squares")
    scale = b.compute(
        outer,
        wide,
        lambda body, axes: (
            1
            / (mean_of(body.read(squares, axes), count) + op.epsilon.value.data).math(
                math.SqrtOp
            )
        ),
        "layer_norm_scale",
    )

    def normalized(body: Body, axes: Axes) -> Scalar:
        centered = body.read(data, axes).cast(wide) - body.read(mean, axes[:axis])
        gamma = body.read_broadcast(op.gamma, axes).cast(wide)
        beta = body.read_broadcast(op.beta, axes).cast(wide)
        scaled = centered * body.read(scale, axes[:axis])
        return (scaled * gamma + beta).cast(element)

    return [b.compute(shape, element, normalized)]


def _lrn(op: relay.LrnOp, b: TeBuilder) -> list[SSAValue]:
    data, shape, size = op.data, shape_of(op.data), op.size.value.data
    element = element_of(data)
    wide = widened(element)
    before = (size - 1) // 2

    def square(body: Body, axes: Axes, window: Axes) -> Scalar:
        channel = axes[1] + window[0] - before
        value = body.read(
            data, (axes[0], channel, *axes[2:]), body.constant(0, element)
        ).cast(wide)
        return value * value

    squares = b.reduce(shape, (size,), wide, square, SUM, "lrn_squares")

    def normalized(body: Body, axes: Axes) -> Scalar:
        factor = op.alpha.value.data / size
        base = body.read(squares, axes) * factor + op.bias.value.data
        return (
            body.read(data, axes).cast(wide) / _power(base, op.beta.value.data)
        ).cast(element)

    return [b.compute(shape, element, normalized)]


def _power(base: Scalar, exponent: float) -> Scalar:
    """Raise to a constant power, by roots where they do."""
    if exponent == 1:
        return base
    root = base.math(math.SqrtOp)
    if exponent == 0.5:
        return root
    if exponent == 0.75:
        return root * root.math(math.SqrtOp)
    return base**exponent


NORM_RULES: Rules = {
    relay.BatchNormOp: _batch_norm,
    relay.LayerNormOp: _layer_norm,
    relay.LrnOp: _lrn,
}
