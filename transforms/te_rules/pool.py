"""Rules of pools."""

from collections.abc import Callable
from math import prod

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from partita.dialects import relay
from partita.dialects.relay.base import ints
from partita.shapes import element_of, shape_of
from partita.transforms.te_rules.body import Axes, Body, Number, Scalar, widened
from partita.transforms.te_rules.builder import (
    MAXIMUM,
    SUM,
    Monoid,
    Rules,
    TeBuilder,
    least,
)
from partita.transforms.te_rules.windows import (
    count_taps,
    padded_image,
    reach,
    tap,
)


def _pool(
    op: relay.MaxPool2dOp | relay.AvgPool2dOp,
    b: TeBuilder,
    outside: Number,
    monoid: Monoid,
    label: str | None = None,
) -> SSAValue:
    """Reduce each window of a padded image."""
    shape, kernel = shape_of(op.result), ints(op.kernel)
    strides, dilation = ints(op.strides), ints(op.dilation)
    image = padded_image(
        b, op.data, shape, kernel, strides, ints(op.padding), dilation, outside
    )
    element = widened(element_of(op.data))
    return b.reduce(
        shape,
        kernel,
        element,
        lambda body, axes, taps: body.read(
            image, (*axes[:2], *tap(axes[2:], taps, strides, dilation))
        ).cast(element),
        monoid,
        label,
    )


def _max_pool(op: relay.MaxPool2dOp, b: TeBuilder) -> list[SSAValue]:
    element = element_of(op.data)
    return [b.cast(_pool(op, b, least(element), MAXIMUM), element)]


def _avg_pool(op: relay.AvgPool2dOp, b: TeBuilder) -> list[SSAValue]:
    element, shape = element_of(op.data), shape_of(op.result)
    total = _pool(op, b, 0, SUM, "avg_pool2d_sum")
    count = _counter(op)
    return [
        b.compute(
            shape,
            element,
            lambda body, axes: (body.read(total, axes) / count(body, axes)).cast(
                element
            ),
        )
    ]


def _counter(op: relay.AvgPool2dOp) -> Callable[[Body, Axes], Scalar | Number]:
    """Return what computes a window's divisor: a constant, if all windows have as many taps that count."""
    kernel, padding = ints(op.kernel), ints(op.padding)
    strides, dilation = ints(op.strides), ints(op.dilation)
    wide = widened(element_of(op.data))
    spans: list[tuple[int, int]] = []
    constant = True
    for axis, (extent, windows) in enumerate(
        zip(shape_of(op.data)[2:], shape_of(op.result)[2:], strict=True)
    ):
        begin, end = padding[axis], padding[axis] + extent
        if bool(op.count_include_pad):
            begin, end = 0, end + padding[axis + 2]
        spans.append((begin, end))
        covered = reach(windows, kernel[axis], strides[axis], dilation[axis])
        constant = constant and begin <= 0 and covered <= end

    def count(body: Body, axes: Axes) -> Scalar:
        rows, columns = (
            count_taps(
                body, axes[2 + axis], kernel[axis], strides[axis], dilation[axis], *span
            )
            for axis, span in enumerate(spans)
        )
        return (rows * columns).cast(i64).cast(wide)

    if constant:
        return lambda body, axes: prod(kernel)
    return count


POOL_RULES: Rules = {
    relay.MaxPool2dOp: _max_pool,
    relay.AvgPool2dOp: _avg_pool,
}
