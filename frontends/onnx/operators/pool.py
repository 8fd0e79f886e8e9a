"""Pools of one to three spatial axes, and those over the whole image."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Protocol

from xdsl.ir import SSAValue

from partita.dialects.relay import (
    AbsOp,
    AvgPool2dOp,
    ExpandDimsOp,
    MaxOp,
    MaxPool2dOp,
    MeanOp,
    PowerOp,
    RelayOp,
    ReshapeOp,
    SqueezeOp,
)
from partita.frontends.onnx.node import Converter, Node, table
from partita.frontends.onnx.operators.activation import scaled
from partita.frontends.onnx.operators.reduction import p_norm
from partita.frontends.onnx.operators.window import Window, window_of
from partita.shapes import shape_of


class Pool(Protocol):
    """A relay op over windows of two axes."""

    def __call__(
        self,
        data: SSAValue,
        *,
        kernel: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: bool,
    ) -> RelayOp: ...


def pooled(node: Node, data: SSAValue, window: Window, op: Pool) -> SSAValue:
    """Pool over any number of axes: one is made the second of two, a third is pooled after the last two.

    Largest elements and averages of windows are separable: they may be taken axis by axis, since
    the valid part of a window is a box.
    """
    ceil_mode = node.flag("ceil_mode")

    def pool2d(value: SSAValue, window: Window) -> SSAValue:
        return node.emit(
            op(
                value,
                kernel=window.kernel,
                strides=window.strides,
                padding=window.padding,
                dilation=window.dilations,
                ceil_mode=ceil_mode,
            )
        )

    if window.rank == 1:
        wide = node.emit(ExpandDimsOp(data, axes=(2,)))
        return node.emit(SqueezeOp(pool2d(wide, window.extended()), axes=(2,)))
    if window.rank == 2:
        return pool2d(data, window)
    if window.rank != 3:
        node.fail(f"expected data with 1 to 3 spatial axes, got {window.rank}")
    n, c, depth, *image = node.static(data, "data")
    flat = node.emit(ReshapeOp(data, shape=(n, c * depth, *image)))
    flat = pool2d(flat, window.axes(slice(1, 3)))
    image = shape_of(flat)[2:]
    deep = node.emit(ReshapeOp(flat, shape=(n, c, depth, prod(image))))
    first = window.axes(slice(0, 1))
    deep = pool2d(
        deep,
        Window(
            (*first.kernel, 1),
            (*first.strides, 1),
            (*first.dilations, 1),
            (*first.before, 0),
            (*first.after, 0),
        ),
    )
    return node.emit(ReshapeOp(deep, shape=(n, c, shape_of(deep)[2], *image)))


def placed(node: Node) -> Window:
    kernel = node.required_integers("kernel_shape")
    return window_of(node, shape_of(node.operand(0))[2:], kernel)


def max_pool(node: Node) -> SSAValue:
    return pooled(node, node.operand(0), placed(node), MaxPool2dOp)


def average_pool(node: Node) -> SSAValue:
    op = partial(AvgPool2dOp, count_include_pad=node.flag("count_include_pad"))
    return pooled(node, node.operand(0), placed(node), op)


def exponent(node: Node) -> int:
    """Return p, an integer from opset 2 on."""
    p = node.integer("p", 2) if node.opset >= 2 else round(node.real("p", 2.0))
    if p < 1:
        node.fail(f"expected p of at least 1, got {p}")
    return p


def lp_pool(node: Node) -> SSAValue:
    """(sum of |x|^p)^(1/p), the sum as an average times the size of the window."""
    if node.flag("ceil_mode"):
        node.fail("ceil_mode is not supported")
    p = exponent(node)
    data, window = node.operand(0), placed(node)
    magnitude = node.emit(AbsOp(data))
    powers = node.emit(PowerOp(magnitude, node.scalar(p, data)))
    averages = pooled(
        node, powers, window, partial(AvgPool2dOp, count_include_pad=True)
    )
    sums = scaled(node, averages, prod(window.kernel))
    return node.emit(PowerOp(sums, node.scalar(1 / p, data)))


def over_image(
    op: Callable[[SSAValue, Sequence[int], bool], RelayOp],
) -> Converter:
    """Make the converter of a reduction over all spatial axes, which stay with extent 1."""

    def convert(node: Node) -> SSAValue:
        data = node.operand(0)
        return node.emit(op(data, range(2, len(shape_of(data))), True))

    return convert


def global_lp_pool(node: Node) -> SSAValue:
    data = node.operand(0)
    p = exponent(node)
    return p_norm(node, data, tuple(range(2, len(shape_of(data)))), p)


POOL = table(
    {
        "AveragePool": average_pool,
        "GlobalAveragePool": over_image(MeanOp),
        "GlobalLpPool": global_lp_pool,
        "GlobalMaxPool": over_image(MaxOp),
        "LpPool": lp_pool,
        "MaxPool": max_pool,
    }
)
