"""Windows that slide over images, and padding: shared by convolutions and pools."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from partita.dialects import relay
from partita.dialects.relay.base import ints
from partita.shapes import Shape, element_of, shape_of
from partita.transforms.te_rules.body import Axes, Body, Number, Scalar
from partita.transforms.te_rules.builder import TeBuilder


@dataclass(frozen=True)
class Windows:
    """How windows lie along the two axes of an image; vertical, horizontal."""

    counts: Sequence[int]
    """How many windows there are."""

    taps: Sequence[int]
    """How many elements a window has."""

    strides: Sequence[int]
    """The distance between two windows."""

    dilation: Sequence[int]
    """The distance between two elements of a window."""

    padding: Sequence[int]
    """What is added at the top, left, bottom and right."""

    @staticmethod
    def of(
        op: relay.Conv2dOp | relay.MaxPool2dOp | relay.AvgPool2dOp,
        taps: Sequence[int],
    ) -> "Windows":
        """Return the windows of an op, with this many elements."""
        return Windows(
            shape_of(op.result)[2:4],
            taps,
            ints(op.strides),
            ints(op.dilation),
            ints(op.padding),
        )

    def reach(self, axis: int) -> int:
        """Return how many elements windows cover, from the start of the first to the end of the last."""
        between = (self.counts[axis] - 1) * self.strides[axis]
        return between + (self.taps[axis] - 1) * self.dilation[axis] + 1

    def image(self, b: TeBuilder, data: SSAValue, value: Number) -> SSAValue:
        """Return an image in which all windows lie inside: data itself if they do, else a padded one.

        Rows and columns are the third and fourth dimension in every layout.
        """
        shape, before = shape_of(data), tuple(self.padding[:2])
        needed = self.reach(0), self.reach(1)
        if before == (0, 0) and needed[0] <= shape[2] and needed[1] <= shape[3]:
            return data
        around = (0, 0, *before, *(0 for _ in shape[4:]))
        return pad(b, data, around, (*shape[:2], *needed, *shape[4:]), value)

    def at(self, axes: Axes, taps: Axes) -> tuple[AffineExpr, ...]:
        """Return the position of a tap of a window on that image."""
        return tuple(
            axis * stride + tap * distance
            for axis, tap, stride, distance in zip(
                axes, taps, self.strides, self.dilation, strict=True
            )
        )

    def count(
        self, body: Body, axis: int, window: AffineExpr, begin: int, end: int
    ) -> Scalar:
        """Count the taps of a window, along one axis, that lie in `[begin, end)` of that image."""
        start = body.value_of(window * self.strides[axis])
        distance = self.dilation[axis]
        first = ceil_divide(begin - start, distance).maximum(0)
        last = ceil_divide(end - start, distance).minimum(self.taps[axis])
        return (last - first).maximum(0)


def pad(
    b: TeBuilder, data: SSAValue, before: Sequence[int], shape: Shape, value: Number
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

    return b.compute(shape, element_of(data), element, "pad")


def ceil_divide(value: Scalar, divisor: int) -> Scalar:
    """Divide an index, rounding up; one below zero may come out as any number up to zero."""
    if divisor == 1:
        return value
    return (value + (divisor - 1)) / divisor
