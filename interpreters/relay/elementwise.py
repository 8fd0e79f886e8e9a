"""What ops that work element by element mean."""

from collections.abc import Callable, Mapping
from typing import cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr

from partita.dialects.relay import (
    AbsOp,
    AcoshOp,
    AcosOp,
    AddOp,
    AsinhOp,
    AsinOp,
    AtanhOp,
    AtanOp,
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    CastOp,
    CeilOp,
    ClipOp,
    CoshOp,
    CosOp,
    DivideOp,
    DropoutOp,
    EqualOp,
    ErfOp,
    ExpOp,
    FloorOp,
    GreaterEqualOp,
    GreaterOp,
    HardSigmoidOp,
    IsInfOp,
    IsNanOp,
    LeakyReluOp,
    LeftShiftOp,
    LessEqualOp,
    LessOp,
    LogicalAndOp,
    LogicalNotOp,
    LogicalOrOp,
    LogicalXorOp,
    LogOp,
    MaximumOp,
    MinimumOp,
    ModOp,
    MultiplyOp,
    NegativeOp,
    NotEqualOp,
    PowerOp,
    ReciprocalOp,
    RelayOp,
    ReluOp,
    RightShiftOp,
    RoundOp,
    RsqrtOp,
    SigmoidOp,
    SignOp,
    SinhOp,
    SinOp,
    SqrtOp,
    SubtractOp,
    TanhOp,
    TanOp,
    TruncOp,
    WhereOp,
)
from partita.interpreters.scalar import (
    error_function,
    integer_power,
    saturated,
    truncated_quotient,
)
from partita.shapes import dtype_of
from partita.weights import Array

RelayImpl = Callable[..., Array | tuple[Array, ...]]
"""An op and its operands' arrays to its result, or results; the caller sees to the dtype of results."""

NumpyFunction = Callable[..., Array]


def _plain(function: NumpyFunction) -> RelayImpl:
    """Apply a function of the operands alone."""

    def apply(_: RelayOp, *arrays: Array) -> Array:
        return function(*arrays)

    return apply


def _one(array: Array) -> Array:
    return np.ones((), array.dtype)


def _relu(data: Array) -> Array:
    return np.maximum(data, np.zeros((), data.dtype))


def _rsqrt(data: Array) -> Array:
    return np.divide(_one(data), np.sqrt(data))


def _reciprocal(data: Array) -> Array:
    return np.divide(_one(data), data)


def _sigmoid(data: Array) -> Array:
    return np.divide(_one(data), np.add(_one(data), np.exp(np.negative(data))))


def _leaky_relu(op: LeakyReluOp, data: Array) -> Array:
    alpha = np.asarray(op.alpha.value.data, data.dtype)
    return np.where(np.greater_equal(data, 0), data, np.multiply(data, alpha))


def _hard_sigmoid(op: HardSigmoidOp, data: Array) -> Array:
    alpha = np.asarray(op.alpha.value.data, data.dtype)
    beta = np.asarray(op.beta.value.data, data.dtype)
    line = np.add(np.multiply(alpha, data), beta)
    return np.maximum(0, np.minimum(1, line))


def _is_inf(op: IsInfOp, data: Array) -> Array:
    result = np.zeros(data.shape, np.bool_)
    if op.positive:
        result |= np.isposinf(cast(np.ndarray, data))
    if op.negative:
        result |= np.isneginf(cast(np.ndarray, data))
    return result


def _limit(attr: FloatAttr | IntegerAttr, dtype: np.dtype[np.generic]) -> Array:
    """Return a limit as an element; integers beyond the type's range limit nothing."""
    if isinstance(attr, FloatAttr):
        return np.asarray(attr.value.data, dtype)
    range_ = np.iinfo(dtype.name)
    return np.asarray(min(max(attr.value.data, range_.min), range_.max), dtype)


def _clip(op: ClipOp, data: Array) -> Array:
    if op.minimum is not None:
        data = np.maximum(data, _limit(op.minimum, data.dtype))
    if op.maximum is not None:
        data = np.minimum(data, _limit(op.maximum, data.dtype))
    return data


def _cast(op: CastOp, data: Array) -> Array:
    return _converted(data, dtype_of(op.to))


def _converted(data: Array, dtype: np.dtype[np.generic]) -> Array:
    if data.dtype.kind == "f" and dtype.kind in "iu":
        return saturated(data, dtype)
    return data.astype(dtype)


def _divide(lhs: Array, rhs: Array) -> Array:
    if lhs.dtype.kind == "f":
        return np.divide(lhs, rhs)
    return truncated_quotient(lhs, rhs)


def _power(lhs: Array, rhs: Array) -> Array:
    if lhs.dtype.kind != "f" and rhs.dtype.kind != "f":
        return integer_power(lhs, rhs)
    wide = np.float64 if lhs.dtype.kind != "f" or rhs.dtype.kind != "f" else None
    return _converted(np.power(lhs, rhs, dtype=wide), lhs.dtype)


def _mod(op: ModOp, lhs: Array, rhs: Array) -> Array:
    return np.fmod(lhs, rhs) if op.fmod else np.remainder(lhs, rhs)


_FUNCTIONS: Mapping[type[RelayOp], NumpyFunction] = {
    ReluOp: _relu,
    NegativeOp: np.negative,
    AbsOp: np.absolute,
    SignOp: np.sign,
    ExpOp: np.exp,
    LogOp: np.log,
    SqrtOp: np.sqrt,
    RsqrtOp: _rsqrt,
    ReciprocalOp: _reciprocal,
    TanhOp: np.tanh,
    SigmoidOp: _sigmoid,
    ErfOp: error_function,
    FloorOp: np.floor,
    CeilOp: np.ceil,
    RoundOp: np.rint,
    TruncOp: np.trunc,
    SinOp: np.sin,
    CosOp: np.cos,
    TanOp: np.tan,
    AsinOp: np.arcsin,
    AcosOp: np.arccos,
    AtanOp: np.arctan,
    SinhOp: np.sinh,
    CoshOp: np.cosh,
    AsinhOp: np.arcsinh,
    AcoshOp: np.arccosh,
    AtanhOp: np.arctanh,
    LogicalNotOp: np.logical_not,
    BitwiseNotOp: np.bitwise_not,
    IsNanOp: np.isnan,
    DropoutOp: np.asarray,
    AddOp: np.add,
    SubtractOp: np.subtract,
    MultiplyOp: np.multiply,
    DivideOp: _divide,
    PowerOp: _power,
    MaximumOp: np.maximum,
    MinimumOp: np.minimum,
    BitwiseAndOp: np.bitwise_and,
    BitwiseOrOp: np.bitwise_or,
    BitwiseXorOp: np.bitwise_xor,
    LeftShiftOp: np.left_shift,
    RightShiftOp: np.right_shift,
    LogicalAndOp: np.logical_and,
    LogicalOrOp: np.logical_or,
    LogicalXorOp: np.logical_xor,
    EqualOp: np.equal,
    NotEqualOp: np.not_equal,
    LessOp: np.less,
    LessEqualOp: np.less_equal,
    GreaterOp: np.greater,
    GreaterEqualOp: np.greater_equal,
    WhereOp: np.where,
}

ELEMENTWISE: Mapping[type[RelayOp], RelayImpl] = {
    **{op: _plain(function) for op, function in _FUNCTIONS.items()},
    IsInfOp: _is_inf,
    LeakyReluOp: _leaky_relu,
    HardSigmoidOp: _hard_sigmoid,
    ClipOp: _clip,
    CastOp: _cast,
    ModOp: _mod,
}
"""What each op means."""
