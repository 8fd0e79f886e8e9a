"""What ops that make, move and pick elements mean."""

from collections.abc import Mapping
from math import prod

import numpy as np

from partita.dialects.relay import (
    BroadcastToOp,
    ConcatenateOp,
    ConstantOp,
    ExpandDimsOp,
    GatherOp,
    LayoutTransformOp,
    PadOp,
    RelayOp,
    ReshapeOp,
    SplitOp,
    SqueezeOp,
    StridedSliceOp,
    TileOp,
    TransposeOp,
)
from partita.dialects.relay.base import ints
from partita.dialects.relay.indexing import sliced_extent
from partita.dialects.relay.layout import Layout
from partita.interpreters.relay.elementwise import RelayImpl
from partita.weights import Array


def _constant(op: ConstantOp) -> Array:
    return op.array()


def _reshape(op: ReshapeOp, data: Array) -> Array:
    return data.reshape(ints(op.shape))


def _transpose(op: TransposeOp, data: Array) -> Array:
    return data.transpose(ints(op.axes))


def _squeeze(op: SqueezeOp, data: Array) -> Array:
    return np.squeeze(data, ints(op.axes))


def _expand_dims(op: ExpandDimsOp, data: Array) -> Array:
    return np.expand_dims(data, ints(op.axes))


def _broadcast_to(op: BroadcastToOp, data: Array) -> Array:
    return np.broadcast_to(data, ints(op.shape))


def _tile(op: TileOp, data: Array) -> Array:
    return np.tile(data, ints(op.repeats))


def _layout_transform(op: LayoutTransformOp, data: Array) -> Array:
    source, target = Layout.parse(op.source.data), Layout.parse(op.target.data)
    return from_plain(to_plain(data, source), source.names, target)


def to_plain(data: Array, layout: Layout) -> Array:
    """Merge the blocks of each axis; axes stand in the order of their outer dimensions."""
    order = [
        position
        for name in layout.names
        for position, (axis, _) in enumerate(layout.axes)
        if axis == name
    ]
    # The outer dimension comes first, wherever the layout has it.
    order.sort(
        key=lambda at: (
            layout.names.index(layout.axes[at][0]),
            layout.axes[at][1] is not None,
            at,
        )
    )
    extents = layout.extents(data.shape)
    return data.transpose(order).reshape([extents[name] for name in layout.names])


def from_plain(data: Array, names: tuple[str, ...], layout: Layout) -> Array:
    """Split axes, which `names` lists, into blocks and order them as a layout has them."""
    split: list[int] = []
    positions: dict[tuple[str, int], int] = {}
    for name, extent in zip(names, data.shape, strict=True):
        blocks = [block for axis, block in layout.axes if axis == name and block]
        for index, size in enumerate((extent // prod(blocks), *blocks)):
            positions[name, index] = len(split)
            split.append(size)
    seen = dict.fromkeys(names, 0)
    order: list[int] = []
    for name, block in layout.axes:
        if block is None:
            order.append(positions[name, 0])
        else:
            seen[name] += 1
            order.append(positions[name, seen[name]])
    return data.reshape(split).transpose(order)


def _concatenate(op: ConcatenateOp, *inputs: Array) -> Array:
    return np.concatenate(inputs, op.axis.value.data)


def _split(op: SplitOp, data: Array) -> tuple[Array, ...]:
    edges = np.cumsum(ints(op.sizes))[:-1]
    return tuple(np.split(data, edges.tolist(), op.axis.value.data))


def _strided_slice(op: StridedSliceOp, data: Array) -> Array:
    slices: list[slice] = []
    steps = zip(ints(op.begin), ints(op.sizes), ints(op.strides), strict=True)
    for axis, (begin, size, stride) in enumerate(steps):
        size = sliced_extent(axis, data.shape[axis], begin, size, stride)
        end = begin + size * stride
        slices.append(slice(begin, None if end < 0 else end, stride))
        if size == 0:
            slices[-1] = slice(0, 0)
    return data[tuple(slices)]


def _gather(op: GatherOp, data: Array, indices: Array) -> Array:
    axis = op.axis.value.data
    index = indices.astype(np.int64)
    index = np.where(np.less(index, 0), np.add(index, data.shape[axis]), index)
    return np.take(data, index, axis, mode="clip")


def _pad(op: PadOp, data: Array) -> Array:
    before, after = ints(op.before), ints(op.after)
    if op.mode.data != "constant" and data.ndim:
        amounts = list(zip(before, after, strict=True))
        match op.mode.data:
            case "edge":
                return np.pad(data, amounts, "edge")
            case "reflect":
                return np.pad(data, amounts, "reflect")
            case _:
                return np.pad(data, amounts, "wrap")
    shape = [
        extent + low + high
        for extent, low, high in zip(data.shape, before, after, strict=True)
    ]
    result = np.full(shape, np.asarray(op.value.value.data).astype(data.dtype))
    inside = tuple(
        slice(max(-low, 0), extent + min(high, 0))
        for extent, low, high in zip(data.shape, before, after, strict=True)
    )
    kept = data[inside]
    place = tuple(
        slice(max(low, 0), max(low, 0) + extent)
        for low, extent in zip(before, kept.shape, strict=True)
    )
    result[place] = kept
    return result


TENSORS: Mapping[type[RelayOp], RelayImpl] = {
    ConstantOp: _constant,
    ReshapeOp: _reshape,
    TransposeOp: _transpose,
    SqueezeOp: _squeeze,
    ExpandDimsOp: _expand_dims,
    BroadcastToOp: _broadcast_to,
    TileOp: _tile,
    LayoutTransformOp: _layout_transform,
    ConcatenateOp: _concatenate,
    SplitOp: _split,
    StridedSliceOp: _strided_slice,
    GatherOp: _gather,
    PadOp: _pad,
}
"""What each op means."""
