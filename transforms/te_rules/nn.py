"""Rules of convolutions, dense layers and matrix products.

Products of `f16` are accumulated in `f32`. Operands in blocks are read where they lie; channels of
a blocked result are two axes, its blocks and the channels in one.
"""

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from partita.dialects import relay
from partita.shapes import element_of, shape_of
from partita.transforms.te_rules.body import (
    Axes,
    Body,
    Scalar,
    broadcast_indices,
    widened,
)
from partita.transforms.te_rules.builder import SUM, Rules, TeBuilder
from partita.transforms.te_rules.index import floordiv
from partita.transforms.te_rules.layouts import indices_in, whole_axes
from partita.transforms.te_rules.windows import Windows


def _conv2d(op: relay.Conv2dOp, b: TeBuilder) -> list[SSAValue]:
    data_layout, kernel_layout, result_layout = op.layouts
    shape = shape_of(op.result)
    weight = kernel_layout.extents(shape_of(op.weight))
    channels, rows, columns = weight["I"], weight["H"], weight["W"]
    windows = Windows.of(op, (rows, columns))
    image = windows.image(b, op.data, 0)
    groups = op.groups.value.data
    features = weight["O"] // groups
    element = element_of(op.data)
    wide = widened(element)
    # Channels in blocks are two axes: blocks outside of taps, which lie between them, and channels inside.
    # A block that reaches into the next group is none.
    block = data_layout.block("C") if channels % data_layout.block("C") == 0 else 1
    # A group of one channel, as a depthwise convolution has, needs no loop over channels.
    outer = (channels // block,) if channels > 1 or groups == 1 else ()
    inner = (block,) if block > 1 else ()
    reduction = (*outer, rows, columns, *inner)

    def product(body: Body, axes: Axes, along: Axes) -> Scalar:
        result = whole_axes(result_layout, axes)
        feature = result["C"]
        within = AffineExpr.constant(0)
        if outer:
            within = along[0] * block if inner else along[0]
        if inner:
            within = within + along[-1]
        tap = along[len(outer) : len(outer) + 2]
        channel = within
        if groups > 1:
            channel = floordiv(feature, features) * channels + within
        y, x = windows.at((result["H"], result["W"]), tap)
        extents = (*shape, *reduction)
        pixel = indices_in(
            data_layout, {"N": result["N"], "C": channel, "H": y, "W": x}, extents
        )
        filter = indices_in(
            kernel_layout,
            {"O": feature, "I": within, "H": tap[0], "W": tap[1]},
            extents,
        )
        return body.read(image, pixel).cast(wide) * body.read(op.weight, filter).cast(
            wide
        )

    return [b.cast(b.reduce(shape, reduction, wide, product, SUM), element)]


def _dense(op: relay.DenseOp, b: TeBuilder) -> list[SSAValue]:
    element = element_of(op.data)
    wide = widened(element)

    def product(body: Body, axes: Axes, along: Axes) -> Scalar:
        weight = indices_in(op.layout, {"O": axes[1], "I": along[0]})
        return body.read(op.data, (axes[0], along[0])).cast(wide) * body.read(
            op.weight, weight
        ).cast(wide)

    total = b.reduce(shape_of(op.result), shape_of(op.data)[1:], wide, product, SUM)
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
