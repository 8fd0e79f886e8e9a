"""Padding of images, and the indices that windows read: shared by convolutions and pools."""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from partita.shapes import Shape, element_of, shape_of
from partita.transforms.te_rules.body import Axes, Body, Number, Scalar
from partita.transforms.te_rules.builder import TeBuilder


def reach(windows: int, taps: int, stride: int, dilation: int) -> int:
    """Return how many elements windows cover, from the start of the first to the end of the last."""
    return (windows - 1) * stride + (taps - 1) * dilation + 1


def pad(
    b: TeBuilder,
    data: SSAValue,
    before: Sequence[int],
    shape: Shape,
    value: Number,
    label: str = "pad",
) -> SSAValue:
    """Put data into a tensor of another shape, that starts `before` earlier and holds a value outside data."""
    extents = shape_of(data)
    guarded = any(
        start > 0 or extent > own + start
        for start, extent, own in zip(before, shape, extents, strict=True)
    )

    def element(body: Body, axes: Axes) -> Scalar:
        outside = body.constant(value, element_of(data)) if guarded else None
        indices = tuple(axis - start for axis, start in zip(axes, before, strict=True))
        return body.read(data, indices, outside)

    return b.compute(shape, element_of(data), element, label)


def padded_image(
    b: TeBuilder,
    data: SSAValue,
    result: Shape,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    value: Number,
) -> SSAValue:
    """Return an image in which all windows of a result lie inside: data itself if they do."""
    shape = shape_of(data)
    before = tuple(padding[:2])
    needed = tuple(
        reach(result[2 + axis], kernel[axis], strides[axis], dilation[axis])
        for axis in range(2)
    )
    if before == (0, 0) and needed[0] <= shape[2] and needed[1] <= shape[3]:
        return data
    return pad(b, data, (0, 0, *before), (*shape[:2], *needed), value)


def tap(
    axes: Axes, taps: Axes, strides: Sequence[int], dilation: Sequence[int]
) -> tuple[AffineExpr, ...]:
    """Return the position of each tap of each window on a padded image."""
    return tuple(
        axis * stride + tap * distance
        for axis, tap, stride, distance in zip(
            axes, taps, strides, dilation, strict=True
        )
    )


def count_taps(
    body: Body,
    window: AffineExpr,
    taps: int,
    stride: int,
    dilation: int,
    begin: int,
    end: int,
) -> Scalar:
    """Count, along one axis, the taps of a window that lie in `[begin, end)` of the padded image."""
    start = body.value_of(window * stride)
    first = ceil_divide(begin - start, dilation).maximum(0)
    last = ceil_divide(end - start, dilation).minimum(taps)
    return (last - first).maximum(0)


def ceil_divide(value: Scalar, divisor: int) -> Scalar:
    """Divide an index, rounding up; one below zero may come out as any number up to zero."""
    if divisor == 1:
        return value
    return (value + (divisor - 1)) / divisor
