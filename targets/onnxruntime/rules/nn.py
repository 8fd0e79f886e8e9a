"""Convolutions, matrix products and pools.

Integers of 8 bits, also those that were widened to `i32` after a zero point was taken off, go to the
operators that ONNX has for them. What onnxruntime has no kernel for, convolutions of wider integers and of `f64` above
all, is written as slices, one for each tap of the window, that are multiplied and added: exact, and slow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from partita.dialects.relay import (
    AvgPool2dOp,
    Conv2dOp,
    DenseOp,
    MatmulOp,
    MaxPool2dOp,
    RelayOp,
)
from partita.dialects.relay.base import ints
from partita.dialects.relay.layout import Layout
from partita.shapes import Shape
from partita.targets.onnxruntime.graph import Graph, Value
from partita.targets.onnxruntime.kernels import has_kernel
from partita.targets.onnxruntime.rules.indexing import padded, sliced
from partita.targets.onnxruntime.rules.reduction import lowest
from partita.targets.onnxruntime.rules.rule import Rules, type_of
from partita.targets.onnxruntime.rules.tensor import relaid, reshaped, transposed


def _image(
    graph: Graph, data: Value, padding: Sequence[int], value: np.generic | int = 0
) -> Value:
    """Surround images; `padding` is top, left, bottom, right, and may be negative."""
    top, left, bottom, right = padding
    return padded(graph, data, (0, 0, top, left), (0, 0, bottom, right), value)


def taps(
    graph: Graph,
    image: Value,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    spatial: Sequence[int],
) -> Iterator[tuple[int, int, Value]]:
    """Give, for each place of a window, the elements that windows have there, `(n, c, y, x)`."""
    count, channels = image.shape[:2]
    for r in range(kernel[0]):
        for s in range(kernel[1]):
            begin = (0, 0, r * dilation[0], s * dilation[1])
            sizes = (count, channels, *spatial)
            yield r, s, sliced(graph, image, begin, sizes, (1, 1, *strides))


MOST_NARROWED = 4096
"""Constants of more elements than this are not stored a second time, narrower."""


def _narrowed(graph: Graph, value: Value) -> tuple[Value, Value] | None:
    """Return an integer tensor as one of 8 bits and its zero point, `None` if it is not known to be one."""
    if value.dtype.name in ("int8", "uint8"):
        return value, graph.scalar(0, value.dtype)
    array = value.array
    if value.narrow is not None or array is None or array.size > MOST_NARROWED:
        return value.narrow
    for name in ("int8", "uint8"):
        narrow = array.astype(name)
        if np.array_equal(narrow, array):
            return graph.constant(narrow), graph.scalar(0, narrow.dtype)
    return None


def _integer(
    graph: Graph,
    op_type: str,
    lhs: Value,
    rhs: Value,
    shape: Shape,
    **attributes: Any,
) -> Value | None:
    """Apply the operator that ONNX has for 8-bit integers, if these are some."""
    if lhs.dtype.name not in ("int8", "uint8", "int32"):
        return None
    first, second = _narrowed(graph, lhs), _narrowed(graph, rhs)
    if first is None or second is None:
        return None
    operands = (first[0], second[0], first[1], second[1])
    results = [(np.dtype(np.int32), shape)]
    (total,) = graph.nodes(op_type, operands, results, **attributes)
    return graph.cast(total, lhs.dtype)


def _conv2d(graph: Graph, op: Conv2dOp, data: Value, weight: Value) -> Value:
    data_layout, kernel_layout, result_layout = (each.text for each in op.layouts)
    data = relaid(graph, data, data_layout, "NCHW")
    weight = relaid(graph, weight, kernel_layout, "OIHW")
    result = _plain_conv2d(graph, op, data, weight)
    return relaid(graph, result, "NCHW", result_layout)


def _plain_shape(layout: Layout, op: RelayOp) -> Shape:
    """Return the shape of an op's only result, which is in a layout, as `(n, c, y, x)`."""
    return Layout.parse("NCHW").shape(layout.extents(type_of(op.results[0])[1]))


def _plain_conv2d(graph: Graph, op: Conv2dOp, data: Value, weight: Value) -> Value:
    shape = _plain_shape(op.layouts[2], op)
    padding = ints(op.padding)
    if min(padding) < 0:
        data, padding = _image(graph, data, padding), (0, 0, 0, 0)
    attributes: dict[str, Any] = {
        "strides": ints(op.strides),
        "pads": padding,
        "dilations": ints(op.dilation),
        "group": op.groups.value.data,
        "kernel_shape": weight.shape[2:],
    }
    if has_kernel("Conv", data.dtype):
        return graph.node("Conv", data, weight, shape=shape, **attributes)
    narrow = _integer(graph, "ConvInteger", data, weight, shape, **attributes)
    return narrow or _conv2d_by_taps(graph, op, data, weight, padding, shape)


def _conv2d_by_taps(
    graph: Graph,
    op: Conv2dOp,
    data: Value,
    weight: Value,
    padding: Sequence[int],
    shape: Shape,
) -> Value:
    """Add up one matrix product for each tap, `(n, g, k, c) @ (n, g, c, y * x)`."""
    count, features, *spatial = shape
    groups = op.groups.value.data
    _, channels, *kernel = weight.shape
    image = _image(graph, data, padding)
    pixels = spatial[0] * spatial[1]
    # (k, c, r, s) to (r, s, k, c), so that one tap is a slice.
    filters = transposed(graph, weight, (2, 3, 0, 1))
    products: list[Value] = []
    for r, s, tap in taps(
        graph, image, kernel, ints(op.strides), ints(op.dilation), spatial
    ):
        one = sliced(
            graph, filters, (r, s, 0, 0), (1, 1, features, channels), (1, 1, 1, 1)
        )
        rows = (1, groups, features // groups, channels)
        lhs = reshaped(graph, one, rows)
        rhs = reshaped(graph, tap, (count, groups, channels, pixels))
        shape = (count, groups, features // groups, pixels)
        products.append(graph.node("MatMul", lhs, rhs, shape=shape))
    total = reduce(lambda first, second: graph.node("Add", first, second), products)
    return reshaped(graph, total, (count, features, *spatial))


def _dense(graph: Graph, op: DenseOp, data: Value, weight: Value) -> Value:
    if op.weight_layout is not None:
        weight = relaid(graph, weight, op.weight_layout.data, "OI")
    _, shape = type_of(op.result)
    if data.dtype.kind == "f":
        return graph.node("Gemm", data, weight, shape=shape, transB=1)
    if weight.narrow is not None:
        rows, zero = weight.narrow
        columns = transposed(graph, rows, (1, 0))
        wide = graph.cast(columns, weight.dtype)
        return _product(graph, data, replace(wide, narrow=(columns, zero)), shape)
    return _product(graph, data, transposed(graph, weight, (1, 0)), shape)


def _matmul(graph: Graph, op: MatmulOp, lhs: Value, rhs: Value) -> Value:
    return _product(graph, lhs, rhs, type_of(op.result)[1])


def _product(graph: Graph, lhs: Value, rhs: Value, shape: Shape) -> Value:
    if min(lhs.rank, rhs.rank) > 1:
        narrow = _integer(graph, "MatMulInteger", lhs, rhs, shape)
        if narrow is not None:
            return narrow
    return graph.node("MatMul", lhs, rhs, shape=shape)


def _max_pool2d(graph: Graph, op: MaxPool2dOp, data: Value) -> Value:
    layout, shape = op.data_layout.text, _plain_shape(op.data_layout, op)
    result = _plain_max_pool2d(graph, op, relaid(graph, data, layout, "NCHW"), shape)
    return relaid(graph, result, "NCHW", layout)


def _plain_max_pool2d(
    graph: Graph, op: MaxPool2dOp, data: Value, shape: Shape
) -> Value:
    if has_kernel("MaxPool", data.dtype) and not _hangs(op, shape):
        return graph.node(
            "MaxPool",
            data,
            shape=shape,
            kernel_shape=ints(op.kernel),
            strides=ints(op.strides),
            pads=ints(op.padding),
            dilations=ints(op.dilation),
            ceil_mode=int(bool(op.ceil_mode)),
        )
    image = _filled(graph, op, data, shape, lowest(data.dtype))
    geometry = (ints(op.kernel), ints(op.strides), ints(op.dilation), shape[2:])
    elements = [tap for _, _, tap in taps(graph, image, *geometry)]
    return reduce(lambda first, second: graph.node("Max", first, second), elements)


def _hangs(op: MaxPool2dOp | AvgPool2dOp, shape: Shape) -> bool:
    """Say whether ONNX cannot say what the pool does: padding is negative, or as large as the window."""
    reach = [
        (taps - 1) * gap + 1
        for taps, gap in zip(ints(op.kernel), ints(op.dilation), strict=True)
    ]
    padding = ints(op.padding)
    return min(padding) < 0 or any(
        amount >= each for amount, each in zip(padding, reach * 2, strict=True)
    )


def _filled(
    graph: Graph,
    op: MaxPool2dOp | AvgPool2dOp,
    data: Value,
    shape: Shape,
    value: np.generic | int,
) -> Value:
    """Surround images so that every window of the pool is inside."""
    return _image(graph, data, _surround(op, data.shape, shape), value)


def _surround(
    op: MaxPool2dOp | AvgPool2dOp, image: Shape, shape: Shape
) -> tuple[int, int, int, int]:
    """Return the padding of a pool, with what windows need that hang over the end."""
    top, left, bottom, right = ints(op.padding)
    ends = [
        (count - 1) * stride + (taps - 1) * gap + 1
        for count, stride, taps, gap in zip(
            shape[2:], ints(op.strides), ints(op.kernel), ints(op.dilation), strict=True
        )
    ]
    return (
        top,
        left,
        max(bottom, ends[0] - image[2] - top),
        max(right, ends[1] - image[3] - left),
    )


def _avg_pool2d(graph: Graph, op: AvgPool2dOp, data: Value) -> Value:
    layout, shape = op.data_layout.text, _plain_shape(op.data_layout, op)
    result = _plain_avg_pool2d(graph, op, relaid(graph, data, layout, "NCHW"), shape)
    return relaid(graph, result, "NCHW", layout)


def _plain_avg_pool2d(
    graph: Graph, op: AvgPool2dOp, data: Value, shape: Shape
) -> Value:
    if has_kernel("AveragePool", data.dtype) and not _hangs(op, shape):
        return graph.node(
            "AveragePool",
            data,
            shape=shape,
            kernel_shape=ints(op.kernel),
            strides=ints(op.strides),
            pads=ints(op.padding),
            dilations=ints(op.dilation),
            ceil_mode=int(bool(op.ceil_mode)),
            count_include_pad=int(bool(op.count_include_pad)),
        )
    image = _filled(graph, op, data, shape, 0)
    geometry = (ints(op.kernel), ints(op.strides), ints(op.dilation), shape[2:])
    elements = [tap for _, _, tap in taps(graph, image, *geometry)]
    total = reduce(lambda first, second: graph.node("Add", first, second), elements)
    counts = _counts(op, data.shape, shape).astype(data.dtype)
    return graph.node("Div", total, graph.constant(counts))


def _counts(op: AvgPool2dOp, image: Shape, shape: Shape) -> np.ndarray:
    """Return how many elements each window counts, `(y, x)`."""
    by_axis: list[np.ndarray] = []
    padding = ints(op.padding)
    for axis in (0, 1):
        before, after = padding[axis], padding[axis + 2]
        first, last = 0, image[axis + 2]
        if op.count_include_pad:
            first, last = first - before, last + after
        starts = np.arange(shape[axis + 2]) * ints(op.strides)[axis] - before
        places = (
            starts[:, None]
            + np.arange(ints(op.kernel)[axis]) * (ints(op.dilation)[axis])
        )
        by_axis.append(np.sum((places >= first) & (places < last), axis=1))
    return np.outer(*by_axis)


NN: Rules = {
    Conv2dOp: _conv2d,
    DenseOp: _dense,
    MatmulOp: _matmul,
    MaxPool2dOp: _max_pool2d,
    AvgPool2dOp: _avg_pool2d,
}
