"""Ops that take tensors apart, put them together, and pick elements."""

from collections.abc import Sequence

import numpy as np

from partita.dialects.relay import (
    ConcatenateOp,
    GatherOp,
    PadOp,
    SplitOp,
    StridedSliceOp,
)
from partita.dialects.relay.base import ints
from partita.dialects.relay.indexing import sliced_extent
from partita.targets.onnxruntime.graph import INT64, Graph, Value
from partita.targets.onnxruntime.rules.rule import Rules, type_of

BEFORE_FIRST = int(np.iinfo(np.int64).min)
"""The end of a slice that runs backward to the first element."""


def _concatenate(graph: Graph, op: ConcatenateOp, *inputs: Value) -> Value:
    _, shape = type_of(op.result)
    return graph.node("Concat", *inputs, shape=shape, axis=op.axis.value.data)


def _split(graph: Graph, op: SplitOp, data: Value) -> tuple[Value, ...]:
    results = [type_of(each) for each in op.results]
    operands = (data, graph.integers(ints(op.sizes)))
    return graph.nodes("Split", operands, results, axis=op.axis.value.data)


def sliced(
    graph: Graph,
    data: Value,
    begin: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
) -> Value:
    """Pick elements at regular distances along each axis."""
    shape = tuple(sizes)
    if shape == data.shape and set(strides) <= {1}:
        return data
    ends: list[int] = []
    for first, size, stride in zip(begin, sizes, strides, strict=True):
        end = first + size * stride
        ends.append(BEFORE_FIRST if end < 0 else end)
    axes = range(data.rank)
    bounds = (begin, ends, axes, strides)
    return graph.node("Slice", data, *map(graph.integers, bounds), shape=shape)


def _strided_slice(graph: Graph, op: StridedSliceOp, data: Value) -> Value:
    begin, strides = ints(op.begin), ints(op.strides)
    sizes = tuple(
        sliced_extent(axis, *each)
        for axis, each in enumerate(
            zip(data.shape, begin, ints(op.sizes), strides, strict=True)
        )
    )
    return sliced(graph, data, begin, sizes, strides)


def _gather(graph: Graph, op: GatherOp, data: Value, indices: Value) -> Value:
    _, shape = type_of(op.result)
    if indices.dtype.name not in ("int32", "int64"):
        indices = graph.cast(indices, INT64)
    return graph.node("Gather", data, indices, shape=shape, axis=op.axis.value.data)


def padded(
    graph: Graph,
    data: Value,
    before: Sequence[int],
    after: Sequence[int],
    value: float | int | np.generic = 0,
    mode: str = "constant",
) -> Value:
    """Add elements around the data; negative amounts take some away first."""
    begin = [max(-low, 0) for low in before]
    sizes = [
        max(extent + min(low, 0) + min(high, 0), 0)
        for extent, low, high in zip(data.shape, before, after, strict=True)
    ]
    data = sliced(graph, data, begin, sizes, [1] * data.rank)
    amounts = [max(each, 0) for each in (*before, *after)]
    if not any(amounts):
        return data
    shape = tuple(
        amounts[axis] + extent + amounts[axis + data.rank]
        for axis, extent in enumerate(data.shape)
    )
    operands = [data, graph.integers(amounts)]
    if mode == "constant":
        operands.append(graph.scalar(value, data.dtype))
    return graph.node("Pad", *operands, shape=shape, mode=mode)


def _pad(graph: Graph, op: PadOp, data: Value) -> Value:
    value = np.asarray(op.value.value.data).astype(data.dtype).item()
    return padded(graph, data, ints(op.before), ints(op.after), value, op.mode.data)


INDEXING: Rules = {
    ConcatenateOp: _concatenate,
    SplitOp: _split,
    StridedSliceOp: _strided_slice,
    GatherOp: _gather,
    PadOp: _pad,
}
