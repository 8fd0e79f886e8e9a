"""What products and windows mean."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from partita.dialects.relay import (
    AvgPool2dOp,
    Conv2dOp,
    DenseOp,
    MatmulOp,
    MaxPool2dOp,
    RelayOp,
)
from partita.dialects.relay.base import ints
from partita.dialects.relay.pool import Pool2dOp
from partita.dialects.relay.window import window_shape
from partita.interpreters.relay.elementwise import RelayImpl
from partita.interpreters.relay.reduction import accumulator, lowest
from partita.interpreters.relay.tensor import from_plain, to_plain
from partita.shapes import Shape
from partita.weights import Array

IMAGE = ("N", "C", "H", "W")
"""The axes of an image, as plain data has them."""

EXACT_TERMS = 1 << 22
"""So many products of 16-bit integers add up without rounding in double precision."""


def product(lhs: Array, rhs: Array) -> Array:
    """Multiply matrices; integers exactly, modulo their width."""
    dtype = lhs.dtype
    if dtype.kind != "f" and dtype.itemsize <= 2 and lhs.shape[-1] <= EXACT_TERMS:
        wide = np.matmul(lhs.astype(np.float64), rhs.astype(np.float64))
        return wide.astype(np.int64).astype(dtype)
    return np.matmul(lhs, rhs)


def padded(image: Array, padding: Sequence[int], value: Array) -> Array:
    """Surround images by a value, `padding` being top, left, bottom, right; negative amounts crop."""
    top, left, bottom, right = padding
    n, c, h, w = image.shape
    result = np.full((n, c, h + top + bottom, w + left + right), value, image.dtype)
    inside = image[
        :, :, max(-top, 0) : h + min(bottom, 0), max(-left, 0) : w + min(right, 0)
    ]
    rows, columns = slice(max(top, 0), None), slice(max(left, 0), None)
    result[:, :, rows, columns][:, :, : inside.shape[2], : inside.shape[3]] = inside
    return result


def windows(
    image: Array,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    spatial: Sequence[int],
) -> Array:
    """View `(n, c, h, w)` as the first windows of each axis, `(n, c, y, x, r, s)`."""
    reach = tuple(
        (taps - 1) * gap + 1 for taps, gap in zip(kernel, dilation, strict=True)
    )
    view = sliding_window_view(image, reach, axis=(2, 3))
    view = view[:, :, :: strides[0], :: strides[1], :: dilation[0], :: dilation[1]]
    return view[:, :, : spatial[0], : spatial[1]]


def _conv2d(op: Conv2dOp, data: Array, weight: Array) -> Array:
    data_layout, kernel_layout, result_layout = op.layouts
    data, weight = to_plain(data, data_layout), to_plain(weight, kernel_layout)
    groups, (features, channels, *kernel) = op.groups.value.data, weight.shape
    strides, padding, dilation = ints(op.strides), ints(op.padding), ints(op.dilation)
    y, x = window_shape(data.shape[2:], tuple(kernel), strides, padding, dilation)
    image = padded(data, padding, np.zeros((), data.dtype))
    taps = windows(image, kernel, strides, dilation, (y, x))
    columns = taps.transpose(0, 1, 4, 5, 2, 3).reshape(
        data.shape[0], groups, channels * kernel[0] * kernel[1], y * x
    )
    filters = weight.reshape(groups, features // groups, columns.shape[2])
    result = product(filters, columns).reshape(data.shape[0], features, y, x)
    return from_plain(result, IMAGE, result_layout)


def _dense(op: DenseOp, data: Array, weight: Array) -> Array:
    return product(data, to_plain(weight, op.layout).T)


def _matmul(_: MatmulOp, lhs: Array, rhs: Array) -> Array:
    return product(lhs, rhs)


def _spatial(op: Pool2dOp, data: Array) -> Shape:
    """Return how many windows of a pool there are along each axis."""
    return window_shape(
        data.shape[2:],
        ints(op.kernel),
        ints(op.strides),
        ints(op.padding),
        ints(op.dilation),
        bool(op.ceil_mode),
    )


def _pooled(op: Pool2dOp, image: Array, value: Array, spatial: Shape) -> Array:
    """View padded images as the windows of a pool, after filling up with a value those that hang over the end."""
    kernel, strides, dilation = ints(op.kernel), ints(op.strides), ints(op.dilation)
    bottom, right = (
        max(0, (count - 1) * stride + (taps - 1) * gap + 1 - extent)
        for count, stride, taps, gap, extent in zip(
            spatial, strides, kernel, dilation, image.shape[2:], strict=True
        )
    )
    filled = padded(image, (0, 0, bottom, right), value)
    return windows(filled, kernel, strides, dilation, spatial)


def _max_pool2d(op: MaxPool2dOp, data: Array) -> Array:
    data = to_plain(data, op.data_layout)
    value = lowest(data.dtype)
    image = padded(data, ints(op.padding), value)
    result = np.max(_pooled(op, image, value, _spatial(op, data)), axis=(4, 5))
    return from_plain(result, IMAGE, op.data_layout)


def _avg_pool2d(op: AvgPool2dOp, data: Array) -> Array:
    data = to_plain(data, op.data_layout)
    zero, spatial = np.zeros(()), _spatial(op, data)
    image = padded(data, ints(op.padding), zero)
    inside = np.asarray(1.0 if op.count_include_pad else 0.0)
    counted = padded(np.ones((1, 1, *data.shape[2:])), ints(op.padding), inside)
    total = np.add.reduce(
        _pooled(op, image, zero, spatial), (4, 5), accumulator(data.dtype)
    )
    count = np.add.reduce(_pooled(op, counted, zero, spatial), (4, 5))
    return from_plain(np.divide(total, count), IMAGE, op.data_layout)


NN: Mapping[type[RelayOp], RelayImpl] = {
    Conv2dOp: _conv2d,
    DenseOp: _dense,
    MatmulOp: _matmul,
    MaxPool2dOp: _max_pool2d,
    AvgPool2dOp: _avg_pool2d,
}
"""What each op means."""
