"""Rules of reductions along axes, and of those that take several steps.

Sums and products of `f16` are accumulated in `f32`.
"""

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects import math
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from partita.dialects import relay
from partita.dialects.relay.base import ints
from partita.shapes import Shape, element_of, is_float, shape_of
from partita.transforms.te_rules.body import Axes, Scalar, widened
from partita.transforms.te_rules.builder import (
    LARGEST,
    MAXIMUM,
    MINIMUM,
    PRODUCT,
    SUM,
    Monoid,
    Rules,
    TeBuilder,
    greatest,
    least,
)
from partita.transforms.te_rules.elementwise import divide


def interleaved(
    rank: int, reduced: Sequence[int], keepdims: bool, axes: Axes, reduction_axes: Axes
) -> tuple[AffineExpr, ...]:
    """Return the index of data, given those of the result and of the reduced axes."""
    kept, along = iter(axes), iter(reduction_axes)
    indices: list[AffineExpr] = []
    for axis in range(rank):
        if axis not in reduced:
            indices.append(next(kept))
            continue
        if keepdims:
            next(kept)
        indices.append(next(along))
    return tuple(indices)


def along(
    b: TeBuilder,
    data: SSAValue,
    reduced: Sequence[int],
    keepdims: bool,
    monoid: Monoid,
    element: Attribute,
    label: str | None = None,
    each: Callable[[Scalar], Scalar] = lambda x: x,
) -> SSAValue:
    """Reduce a function of each element of a tensor along some of its axes."""
    shape = shape_of(data)
    return b.reduce(
        remaining(shape, reduced, keepdims),
        tuple(shape[axis] for axis in reduced),
        element,
        lambda body, axes, along: each(
            body.read(
                data, interleaved(len(shape), reduced, keepdims, axes, along)
            ).cast(element)
        ),
        monoid,
        label,
    )


def remaining(shape: Shape, reduced: Sequence[int], keepdims: bool) -> Shape:
    """Return a shape without its reduced axes, or with extent 1 in their place."""
    return tuple(
        1 if axis in reduced else extent
        for axis, extent in enumerate(shape)
        if keepdims or axis not in reduced
    )


def _reduction(monoid: Monoid) -> Callable[[relay.RelayOp, TeBuilder], list[SSAValue]]:
    def rule(op: relay.RelayOp, b: TeBuilder) -> list[SSAValue]:
        assert isinstance(op, relay.SumOp | relay.MaxOp | relay.MinOp | relay.ProdOp)
        element = element_of(op.data)
        total = along(
            b,
            op.data,
            ints(op.axes),
            bool(op.keepdims),
            monoid,
            widened(element),
        )
        return [b.cast(total, element)]

    return rule


def _mean(op: relay.MeanOp, b: TeBuilder) -> list[SSAValue]:
    element, axes = element_of(op.data), ints(op.axes)
    count = prod(shape_of(op.data)[axis] for axis in axes)
    total = along(
        b, op.data, axes, bool(op.keepdims), SUM, widened(element), "mean_sum"
    )
    return [
        b.compute(
            shape_of(total),
            element,
            lambda body, axes: mean_of(body.read(total, axes), count).cast(element),
        )
    ]


def mean_of(total: Scalar, count: int) -> Scalar:
    """Divide a sum by a number of elements; integers toward zero."""
    return divide(total, total.like(count))


def _arg(
    op: relay.ArgmaxOp | relay.ArgminOp,
    b: TeBuilder,
    better: Callable[[Scalar, Scalar], Scalar],
) -> list[SSAValue]:
    """Reduce pairs of value and index; of equal values the first index stays, or the last.

    A NaN is better than any number, as good as another NaN. The start is as bad as a value
    can be, at an index that any other is preferred to.
    """
    data, axis, keepdims = op.data, op.axis.value.data, bool(op.keepdims)
    element, shape = element_of(data), shape_of(data)
    last = bool(op.select_last_index)
    worst = (least if isinstance(op, relay.ArgmaxOp) else greatest)(element)

    def combine(old: Sequence[Scalar], new: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
        (value, index), (other, at) = old, new
        wins, ties = better(other, value), other.eq(value)
        if is_float(element):
            wins = wins | (other.isnan() & ~value.isnan())
            ties = ties | (other.isnan() & value.isnan())
        preferred = at.gt(index) if last else at.lt(index)
        takes = wins | (ties & preferred)
        return takes.select(other, value), takes.select(at, index)

    _, indices = b.fold(
        remaining(shape, (axis,), keepdims),
        (shape[axis],),
        (element, i64),
        lambda body, axes, along: (
            body.read(data, interleaved(len(shape), (axis,), keepdims, axes, along)),
            body.value_of(along[0]).cast(i64),
        ),
        (worst, -1 if last else greatest(i64)),
        combine,
    )
    return [indices]


def _argmax(op: relay.ArgmaxOp, b: TeBuilder) -> list[SSAValue]:
    return _arg(op, b, lambda x, y: x.gt(y))


def _argmin(op: relay.ArgminOp, b: TeBuilder) -> list[SSAValue]:
    return _arg(op, b, lambda x, y: x.lt(y))


def without(axes: Axes, axis: int) -> tuple[AffineExpr, ...]:
    """Drop one index."""
    return (*axes[:axis], *axes[axis + 1 :])


def _softmax(op: relay.SoftmaxOp, b: TeBuilder) -> list[SSAValue]:
    data, axis, shape = op.data, op.axis.value.data, shape_of(op.data)
    element = element_of(data)
    wide = widened(element)
    top = along(b, data, (axis,), False, LARGEST, wide, "softmax_max")
    powers = b.compute(
        shape,
        wide,
        lambda body, axes: (
            body.read(data, axes).cast(wide) - body.read(top, without(axes, axis))
        ).math(math.ExpOp),
        "softmax_exp",
    )
    total = along(b, powers, (axis,), False, SUM, wide, "softmax_sum")
    scale = b.compute(
        shape_of(total),
        wide,
        lambda body, axes: 1 / body.read(total, axes),
        "softmax_scale",
    )
    return [
        b.compute(
            shape,
            element,
            lambda body, axes: (
                body.read(powers, axes) * body.read(scale, without(axes, axis))
            ).cast(element),
        )
    ]


def _log_softmax(op: relay.LogSoftmaxOp, b: TeBuilder) -> list[SSAValue]:
    data, axis, shape = op.data, op.axis.value.data, shape_of(op.data)
    element = element_of(data)
    wide = widened(element)
    top = along(b, data, (axis,), False, LARGEST, wide, "log_softmax_max")
    total = b.reduce(
        remaining(shape, (axis,), False),
        (shape[axis],),
        wide,
        lambda body, axes, along: (
            body.read(data, interleaved(len(shape), (axis,), False, axes, along)).cast(
                wide
            )
            - body.read(top, axes)
        ).math(math.ExpOp),
        SUM,
        "log_softmax_sum",
    )
    offset = b.compute(
        shape_of(total),
        wide,
        lambda body, axes: body.read(total, axes).math(math.LogOp),
        "log_softmax_log",
    )
    return [
        b.compute(
            shape,
            element,
            lambda body, axes: (
                body.read(data, axes).cast(wide)
                - body.read(top, without(axes, axis))
                - body.read(offset, without(axes, axis))
            ).cast(element),
        )
    ]


REDUCTION_RULES: Rules = {
    relay.SumOp: _reduction(SUM),
    relay.ProdOp: _reduction(PRODUCT),
    relay.MaxOp: _reduction(MAXIMUM),
    relay.MinOp: _reduction(MINIMUM),
    relay.MeanOp: _mean,
    relay.ArgmaxOp: _argmax,
    relay.ArgminOp: _argmin,
    relay.SoftmaxOp: _softmax,
    relay.LogSoftmaxOp: _log_softmax,
}
