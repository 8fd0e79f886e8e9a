"""Ops that make one element from many along axes."""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from partita.dialects.relay import (
    ArgmaxOp,
    ArgminOp,
    LogSoftmaxOp,
    MaxOp,
    MeanOp,
    MinOp,
    ProdOp,
    SoftmaxOp,
    SumOp,
)
from partita.dialects.relay.base import ints
from partita.dialects.relay.reduction import (
    IndexReductionOp,
    ReductionOp,
    SoftmaxLikeOp,
)
from partita.shapes import Shape
from partita.targets.onnxruntime.graph import BOOL, INT64, Graph, Value
from partita.targets.onnxruntime.kernels import DType
from partita.targets.onnxruntime.rules.binary import divided
from partita.targets.onnxruntime.rules.rule import Rule, Rules, type_of

UINT64 = np.dtype(np.uint64)
TOP_BIT = 1 << 63


def lowest(dtype: DType) -> np.generic:
    """Return the element that is below all others."""
    if dtype.kind == "f":
        return dtype.type(-np.inf)
    return np.False_ if dtype.kind == "b" else dtype.type(np.iinfo(dtype.name).min)


def highest(dtype: DType) -> np.generic:
    """Return the element that is above all others."""
    if dtype.kind == "f":
        return dtype.type(np.inf)
    return np.True_ if dtype.kind == "b" else dtype.type(np.iinfo(dtype.name).max)


def _reduce(graph: Graph, op_type: str, op: ReductionOp, data: Value) -> Value:
    axes, keepdims = ints(op.axes), int(bool(op.keepdims))
    if not axes:
        return data
    _, shape = type_of(op.result)
    return graph.node(
        op_type, data, graph.integers(axes), shape=shape, keepdims=keepdims
    )


def _empty(op: ReductionOp, data: Value) -> bool:
    """Say whether results are made of no elements at all."""
    return any(data.shape[axis] == 0 for axis in ints(op.axes))


def _fill(graph: Graph, op: ReductionOp, value: np.generic) -> Value:
    """Make a result that is one value."""
    dtype, shape = type_of(op.result)
    return graph.constant(np.full(shape, value, dtype))


def _sum(graph: Graph, op: ReductionOp, data: Value) -> Value:
    if _empty(op, data):
        return _fill(graph, op, data.dtype.type(0))
    return _reduce(graph, "ReduceSum", op, data)


def _prod(graph: Graph, op: ProdOp, data: Value) -> Value:
    if _empty(op, data):
        return _fill(graph, op, data.dtype.type(1))
    return _reduce(graph, "ReduceProd", op, data)


def _mean(graph: Graph, op: MeanOp, data: Value) -> Value:
    if data.dtype.kind == "f":
        return _reduce(graph, "ReduceMean", op, data)
    count = np.asarray(prod(data.shape[axis] for axis in ints(op.axes)))
    divisor = graph.constant(count.astype(data.dtype))
    return divided(graph, _sum(graph, op, data), divisor)


def flipped(graph: Graph, data: Value) -> Value:
    """Turn 64-bit unsigned into signed integers of the same order."""
    top = graph.scalar(TOP_BIT, UINT64)
    return graph.cast(graph.node("BitwiseXor", data, top), INT64)


def unflipped(graph: Graph, data: Value) -> Value:
    """Undo `flipped`."""
    top = graph.scalar(TOP_BIT, UINT64)
    return graph.node("BitwiseXor", graph.cast(data, UINT64), top)


def _with_nan(
    graph: Graph, data: Value, axes: Sequence[int], keepdims: int, shape: Shape
) -> Value:
    """Say which results have a NaN among their elements; onnxruntime passes over it."""
    nan = graph.node("IsNaN", data, dtype=BOOL)
    return graph.node(
        "ReduceMax", nan, graph.integers(axes), shape=shape, keepdims=keepdims
    )


def _extreme(op_type: str, empty: Callable[[DType], np.generic]) -> Rule:
    def rule(graph: Graph, op: ReductionOp, data: Value) -> Value:
        axes, keepdims = ints(op.axes), int(bool(op.keepdims))
        if _empty(op, data):
            return _fill(graph, op, empty(data.dtype))
        if data.dtype == UINT64 and axes:
            signed = _reduce(graph, op_type, op, flipped(graph, data))
            return unflipped(graph, signed)
        found = _reduce(graph, op_type, op, data)
        if data.dtype.kind != "f" or not axes:
            return found
        nan = _with_nan(graph, data, axes, keepdims, found.shape)
        return graph.node("Where", nan, graph.scalar(np.nan, data.dtype), found)

    return rule


def _index(op_type: str) -> Rule:
    def rule(graph: Graph, op: IndexReductionOp, data: Value) -> Value:
        dtype, shape = type_of(op.result)
        axis, keepdims = op.axis.value.data, int(bool(op.keepdims))
        attributes = {
            "axis": axis,
            "keepdims": keepdims,
            "select_last_index": int(bool(op.select_last_index)),
        }
        if data.dtype == UINT64:
            data = flipped(graph, data)
        found = graph.node(op_type, data, dtype=dtype, shape=shape, **attributes)
        if data.dtype.kind != "f":
            return found
        nan = graph.cast(graph.node("IsNaN", data, dtype=BOOL), np.dtype(np.uint8))
        first = graph.node("ArgMax", nan, dtype=dtype, shape=shape, **attributes)
        where = _with_nan(graph, data, (axis,), keepdims, shape)
        return graph.node("Where", where, first, found)

    return rule


def _along_axis(op_type: str) -> Rule:
    def rule(graph: Graph, op: SoftmaxLikeOp, data: Value) -> Value:
        return graph.node(op_type, data, axis=op.axis.value.data)

    return rule


REDUCTION: Rules = {
    SumOp: _sum,
    MeanOp: _mean,
    MaxOp: _extreme("ReduceMax", empty=lowest),
    MinOp: _extreme("ReduceMin", empty=highest),
    ProdOp: _prod,
    ArgmaxOp: _index("ArgMax"),
    ArgminOp: _index("ArgMin"),
    SoftmaxOp: _along_axis("Softmax"),
    LogSoftmaxOp: _along_axis("LogSoftmax"),
}
