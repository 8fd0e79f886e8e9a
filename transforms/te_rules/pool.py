"""Rules of pools. Sums of `f16` are accumulated in `f32`."""

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
from partita.transforms.te_rules.windows import Windows


def _pool(
    op: relay.MaxPool2dOp | relay.AvgPool2dOp,
    b: TeBuilder,
    outside: Number,
    monoid: Monoid,
    label: str | None = None,
) -> SSAValue:
    """Reduce each window of an image that holds a value outside of data."""
    windows = Windows.of(op, ints(op.kernel))
    image = windows.image(b, op.data, outside)
    element = widened(element_of(op.data))
    return b.reduce(
        shape_of(op.result),
        ints(op.kernel),
        element,
        lambda body, axes, taps: body.read(
            image, (*axes[:2], *windows.at(axes[2:4], taps), *axes[4:])
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
    count = _divisor(op)
    return [
        b.compute(
            shape,
            element,
            lambda body, axes: (body.read(total, axes) / count(body, axes)).cast(
                element
            ),
        )
    ]


def _divisor(op: relay.AvgPool2dOp) -> Callable[[Body, Axes], Scalar | Number]:
    """Return what computes a window's divisor: a constant, if all windows have as many taps that count."""
    windows = Windows.of(op, ints(op.kernel))
    wide = widened(element_of(op.data))
    spans: list[tuple[int, int]] = []
    for axis, extent in enumerate(shape_of(op.data)[2:4]):
        before, after = windows.padding[axis], windows.padding[axis + 2]
        if bool(op.count_include_pad):
            spans.append((0, before + extent + after))
        else:
            spans.append((before, before + extent))
    if all(
        begin <= 0 and windows.reach(axis) <= end
        for axis, (begin, end) in enumerate(spans)
    ):
        return lambda body, axes: prod(windows.taps)

    def count(body: Body, axes: Axes) -> Scalar:
        rows, columns = (
            windows.count(body, axis, axes[2 + axis], *span)
            for axis, span in enumerate(spans)
        )
        return (rows * columns).cast(i64).cast(wide)

    return count


POOL_RULES: Rules = {
    relay.MaxPool2dOp: _max_pool,
    relay.AvgPool2dOp: _avg_pool,
}
