"""Ops that give the same elements another shape or order, and constants."""

from collections.abc import Sequence

import numpy as np

from partita.dialects.partita import WeightAttr
from partita.dialects.relay import (
    BroadcastToOp,
    ConstantOp,
    ExpandDimsOp,
    LayoutTransformOp,
    ReshapeOp,
    SqueezeOp,
    TileOp,
    TransposeOp,
)
from partita.dialects.relay.base import ints
from partita.dialects.relay.layout import Layout
from partita.shapes import Shape
from partita.targets.onnxruntime.graph import Graph, Value
from partita.targets.onnxruntime.rules.rule import Rules, type_of

MOST_INLINE = 1 << 12
"""A constant of one value is stored once, and expanded, if it has more elements than this."""


def _constant(graph: Graph, op: ConstantOp) -> Value:
    dtype, shape = type_of(op.result)
    if isinstance(op.value, WeightAttr):
        return graph.weight(op.value.data, dtype, shape)
    splat = op.splat()
    if splat is None or op.array().size <= MOST_INLINE:
        return graph.constant(op.array())
    value = graph.constant(np.asarray(splat))
    return graph.node("Expand", value, graph.integers(shape), shape=shape)


def reshaped(graph: Graph, data: Value, shape: Shape) -> Value:
    """Give the elements another shape; zeros in it are extents like any other."""
    if data.shape == shape:
        return data
    return graph.node(
        "Reshape", data, graph.integers(shape), shape=shape, allowzero=int(0 in shape)
    )


def transposed(graph: Graph, data: Value, axes: Sequence[int]) -> Value:
    """Permute axes."""
    if list(axes) == sorted(axes):
        return data
    shape = tuple(data.shape[axis] for axis in axes)
    return graph.node("Transpose", data, shape=shape, perm=list(axes))


def _reshape(graph: Graph, op: ReshapeOp, data: Value) -> Value:
    return reshaped(graph, data, type_of(op.result)[1])


def _transpose(graph: Graph, op: TransposeOp, data: Value) -> Value:
    return transposed(graph, data, ints(op.axes))


def _squeeze(graph: Graph, op: SqueezeOp, data: Value) -> Value:
    axes, (_, shape) = graph.integers(ints(op.axes)), type_of(op.result)
    return graph.node("Squeeze", data, axes, shape=shape)


def _expand_dims(graph: Graph, op: ExpandDimsOp, data: Value) -> Value:
    axes, (_, shape) = graph.integers(ints(op.axes)), type_of(op.result)
    return graph.node("Unsqueeze", data, axes, shape=shape)


def _broadcast_to(graph: Graph, op: BroadcastToOp, data: Value) -> Value:
    shape = ints(op.shape)
    return graph.node("Expand", data, graph.integers(shape), shape=shape)


def _tile(graph: Graph, op: TileOp, data: Value) -> Value:
    _, shape = type_of(op.result)
    return graph.node("Tile", data, graph.integers(ints(op.repeats)), shape=shape)


def relaid(graph: Graph, data: Value, source: str, target: str) -> Value:
    """Move data from one layout to another: merge the blocks of the one, then split into those of the other."""
    if source == target:
        return data
    old, new = Layout.parse(source), Layout.parse(target)
    extents = old.extents(data.shape)
    names = old.names
    together = [at for name in names for at in _dimensions(old, name)]
    merged = transposed(graph, data, together)
    plain = reshaped(graph, merged, tuple(extents[name] for name in names))
    places = [at for name in names for at in _dimensions(new, name)]
    shape = new.shape(extents)
    split = reshaped(graph, plain, tuple(shape[at] for at in places))
    return transposed(graph, split, [places.index(at) for at in range(len(shape))])


def _dimensions(layout: Layout, name: str) -> list[int]:
    """Return the dimensions that make up an axis, the outermost first."""
    return sorted(
        (at for at, (axis, _) in enumerate(layout.axes) if axis == name),
        key=lambda at: (layout.axes[at][1] is not None, at),
    )


def _layout_transform(graph: Graph, op: LayoutTransformOp, data: Value) -> Value:
    return relaid(graph, data, op.source.data, op.target.data)


TENSOR: Rules = {
    ConstantOp: _constant,
    ReshapeOp: _reshape,
    TransposeOp: _transpose,
    SqueezeOp: _squeeze,
    ExpandDimsOp: _expand_dims,
    BroadcastToOp: _broadcast_to,
    TileOp: _tile,
    LayoutTransformOp: _layout_transform,
}
