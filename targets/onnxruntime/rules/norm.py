"""Normalization."""

from functools import reduce

from partita.dialects.relay import BatchNormOp, LayerNormOp, LrnOp
from partita.targets.onnxruntime.graph import Graph, Value
from partita.targets.onnxruntime.kernels import has_kernel
from partita.targets.onnxruntime.rules.indexing import padded, sliced
from partita.targets.onnxruntime.rules.rule import Rules
from partita.targets.onnxruntime.rules.tensor import transposed


def _batch_norm(
    graph: Graph, op: BatchNormOp, data: Value, *parameters: Value
) -> Value:
    axis = op.axis.value.data
    if data.rank < 2:
        return _batch_norm_of_vector(graph, op, data, *parameters)
    # ONNX has channels on axis 1 only.
    swap = list(range(data.rank))
    swap[1], swap[axis] = axis, 1
    moved = transposed(graph, data, swap)
    result = graph.node(
        "BatchNormalization",
        moved,
        *parameters,
        shape=moved.shape,
        epsilon=op.epsilon.value.data,
    )
    return transposed(graph, result, swap)


def _batch_norm_of_vector(
    graph: Graph,
    op: BatchNormOp,
    data: Value,
    gamma: Value,
    beta: Value,
    mean: Value,
    variance: Value,
) -> Value:
    epsilon = graph.scalar(op.epsilon.value.data, data.dtype)
    deviation = graph.node("Sqrt", graph.node("Add", variance, epsilon))
    scaled = graph.node("Div", graph.node("Sub", data, mean), deviation)
    return graph.node("Add", graph.node("Mul", scaled, gamma), beta)


def _layer_norm(
    graph: Graph, op: LayerNormOp, data: Value, gamma: Value, beta: Value
) -> Value:
    axis = op.axis.value.data
    normalized = data.shape[axis:]
    gamma, beta = (
        each
        if each.shape == normalized
        else graph.node("Expand", each, graph.integers(normalized), shape=normalized)
        for each in (gamma, beta)
    )
    return graph.node(
        "LayerNormalization",
        data,
        gamma,
        beta,
        shape=data.shape,
        axis=axis,
        epsilon=op.epsilon.value.data,
    )


def _lrn(graph: Graph, op: LrnOp, data: Value) -> Value:
    size = op.size.value.data
    alpha, beta, bias = (each.value.data for each in (op.alpha, op.beta, op.bias))
    # onnxruntime only takes images, and windows of odd size.
    if data.rank == 4 and size % 2 and has_kernel("LRN", data.dtype):
        return graph.node("LRN", data, size=size, alpha=alpha, beta=beta, bias=bias)
    rest = (0,) * (data.rank - 2)
    before, after = (0, (size - 1) // 2, *rest), (0, size // 2, *rest)
    squares = padded(graph, graph.node("Mul", data, data), before, after)
    windows = [
        sliced(graph, squares, (0, at, *rest), data.shape, (1,) * data.rank)
        for at in range(size)
    ]
    total = reduce(lambda first, second: graph.node("Add", first, second), windows)
    scaled = graph.node("Mul", total, graph.scalar(alpha / size, data.dtype))
    base = graph.node("Add", scaled, graph.scalar(bias, data.dtype))
    power = graph.node("Pow", base, graph.scalar(beta, data.dtype))
    return graph.node("Div", data, power)


NORM: Rules = {
    BatchNormOp: _batch_norm,
    LayerNormOp: _layer_norm,
    LrnOp: _lrn,
}
