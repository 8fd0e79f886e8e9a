"""What ops that reduce or normalize along axes mean. Floats are accumulated in double precision."""

from collections.abc import Callable, Mapping

import numpy as np

from partita.dialects.relay import (
    ArgmaxOp,
    ArgminOp,
    BatchNormOp,
    LayerNormOp,
    LogSoftmaxOp,
    LrnOp,
    MaxOp,
    MeanOp,
    MinOp,
    ProdOp,
    RelayOp,
    SoftmaxOp,
    SumOp,
)
from partita.dialects.relay.base import ints
from partita.dialects.relay.reduction import IndexReductionOp, ReductionOp
from partita.interpreters.relay.elementwise import RelayImpl
from partita.interpreters.scalar import truncated_quotient
from partita.weights import Array


def accumulator(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """Return the dtype to accumulate in: double for floats, else the elements', which wraps."""
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def lowest(dtype: np.dtype[np.generic]) -> Array:
    """Return the element that is below all others."""
    if dtype.kind == "f":
        return np.asarray(-np.inf, dtype)
    return np.asarray(False if dtype.kind == "b" else np.iinfo(dtype.name).min, dtype)


def highest(dtype: np.dtype[np.generic]) -> Array:
    """Return the element that is above all others."""
    if dtype.kind == "f":
        return np.asarray(np.inf, dtype)
    return np.asarray(True if dtype.kind == "b" else np.iinfo(dtype.name).max, dtype)


def _sum(op: ReductionOp, data: Array) -> Array:
    return np.add.reduce(
        data, ints(op.axes), accumulator(data.dtype), keepdims=bool(op.keepdims)
    )


def _prod(op: ProdOp, data: Array) -> Array:
    return np.multiply.reduce(
        data, ints(op.axes), accumulator(data.dtype), keepdims=bool(op.keepdims)
    )


def _mean(op: MeanOp, data: Array) -> Array:
    total = np.asarray(_sum(op, data))
    count = np.asarray(np.prod([data.shape[axis] for axis in ints(op.axes)]))
    if total.dtype.kind == "f":
        return np.divide(total, count)
    return truncated_quotient(total, count.astype(total.dtype))


def _max(op: MaxOp, data: Array) -> Array:
    return np.maximum.reduce(
        data,
        ints(op.axes),
        keepdims=bool(op.keepdims),
        initial=lowest(data.dtype)[()],
    )


def _min(op: MinOp, data: Array) -> Array:
    return np.minimum.reduce(
        data,
        ints(op.axes),
        keepdims=bool(op.keepdims),
        initial=highest(data.dtype)[()],
    )


def _index(function: Callable[..., Array]) -> RelayImpl:
    def find(op: IndexReductionOp, data: Array) -> Array:
        axis, keepdims = op.axis.value.data, bool(op.keepdims)
        if not op.select_last_index:
            return function(data, axis=axis, keepdims=keepdims)
        found = function(np.flip(data, axis), axis=axis, keepdims=keepdims)
        return np.subtract(data.shape[axis] - 1, found)

    return find


def _shifted(data: Array, axis: int) -> Array:
    """Subtract the largest element along an axis, in double precision."""
    wide = data.astype(np.float64)
    return np.subtract(wide, np.max(wide, axis=axis, keepdims=True, initial=-np.inf))


def _softmax(op: SoftmaxOp, data: Array) -> Array:
    axis = op.axis.value.data
    power = np.exp(_shifted(data, axis))
    return np.divide(power, np.sum(power, axis=axis, keepdims=True))


def _log_softmax(op: LogSoftmaxOp, data: Array) -> Array:
    axis = op.axis.value.data
    shifted = _shifted(data, axis)
    return np.subtract(
        shifted, np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
    )


def _batch_norm(
    op: BatchNormOp,
    data: Array,
    gamma: Array,
    beta: Array,
    mean: Array,
    variance: Array,
) -> Array:
    shape = [1] * data.ndim
    shape[op.axis.value.data] = -1
    gamma, beta, mean, variance = (
        each.astype(np.float64).reshape(shape) for each in (gamma, beta, mean, variance)
    )
    deviation = np.sqrt(np.add(variance, op.epsilon.value.data))
    scale = np.divide(gamma, deviation)
    return np.add(np.multiply(np.subtract(data, mean), scale), beta)


def _layer_norm(op: LayerNormOp, data: Array, gamma: Array, beta: Array) -> Array:
    axes = tuple(range(op.axis.value.data, data.ndim))
    wide = data.astype(np.float64)
    centered = np.subtract(wide, np.mean(wide, axis=axes, keepdims=True))
    variance = np.mean(np.square(centered), axis=axes, keepdims=True)
    deviation = np.sqrt(np.add(variance, op.epsilon.value.data))
    return np.add(np.multiply(np.divide(centered, deviation), gamma), beta)


def _lrn(op: LrnOp, data: Array) -> Array:
    size = op.size.value.data
    squares = np.square(data.astype(np.float64))
    total = np.zeros_like(squares)
    channels = data.shape[1]
    for offset in range(-((size - 1) // 2), size // 2 + 1):
        first, last = max(0, -offset), min(channels, channels - offset)
        if first < last:
            total[:, first:last] += squares[:, first + offset : last + offset]
    factor = op.alpha.value.data / size
    base = np.add(op.bias.value.data, np.multiply(factor, total))
    return np.divide(data, np.power(base, op.beta.value.data))


REDUCTIONS: Mapping[type[RelayOp], RelayImpl] = {
    SumOp: _sum,
    MeanOp: _mean,
    MaxOp: _max,
    MinOp: _min,
    ProdOp: _prod,
    ArgmaxOp: _index(np.argmax),
    ArgminOp: _index(np.argmin),
    SoftmaxOp: _softmax,
    LogSoftmaxOp: _log_softmax,
    BatchNormOp: _batch_norm,
    LayerNormOp: _layer_norm,
    LrnOp: _lrn,
}
"""What each op means."""
