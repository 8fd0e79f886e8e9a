"""Ops that make each element from the element of the same index."""

from dataclasses import replace
from typing import cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr

from partita.dialects.relay import (
    AbsOp,
    AcoshOp,
    AcosOp,
    AsinhOp,
    AsinOp,
    AtanhOp,
    AtanOp,
    BitwiseNotOp,
    CastOp,
    CeilOp,
    ClipOp,
    CoshOp,
    CosOp,
    DropoutOp,
    ErfOp,
    ExpOp,
    FloorOp,
    HardSigmoidOp,
    IsInfOp,
    IsNanOp,
    LeakyReluOp,
    LogicalNotOp,
    LogOp,
    NegativeOp,
    ReciprocalOp,
    ReluOp,
    RoundOp,
    RsqrtOp,
    SigmoidOp,
    SignOp,
    SinhOp,
    SinOp,
    SqrtOp,
    TanhOp,
    TanOp,
    TruncOp,
)
from partita.shapes import dtype_of
from partita.targets.onnxruntime.graph import BOOL, Graph, Value
from partita.targets.onnxruntime.kernels import DType
from partita.targets.onnxruntime.rules.rule import Operator, Rules


def _relu(graph: Graph, _: ReluOp, data: Value) -> Value:
    if data.dtype.kind == "f":
        return graph.node("Relu", data)
    return graph.node("Max", data, graph.scalar(0, data.dtype))


def _negative(graph: Graph, _: NegativeOp, data: Value) -> Value:
    if data.dtype.kind == "u":
        return graph.node("Sub", graph.scalar(0, data.dtype), data)
    return graph.node("Neg", data)


def _sign(graph: Graph, _: SignOp, data: Value) -> Value:
    sign = graph.node("Sign", data)
    if data.dtype.kind != "f":
        return sign
    nan = graph.node("IsNaN", data, dtype=BOOL)
    return graph.node("Where", nan, data, sign)


def _rsqrt(graph: Graph, _: RsqrtOp, data: Value) -> Value:
    return graph.node("Reciprocal", graph.node("Sqrt", data))


def _trunc(graph: Graph, _: TruncOp, data: Value) -> Value:
    negative = graph.node("Less", data, graph.scalar(0, data.dtype), dtype=BOOL)
    up, down = graph.node("Ceil", data), graph.node("Floor", data)
    return graph.node("Where", negative, up, down)


def _is_nan(graph: Graph, _: IsNanOp, data: Value) -> Value:
    return graph.node("IsNaN", data, dtype=BOOL)


def _is_inf(graph: Graph, op: IsInfOp, data: Value) -> Value:
    return graph.node(
        "IsInf",
        data,
        dtype=BOOL,
        detect_positive=int(bool(op.positive)),
        detect_negative=int(bool(op.negative)),
    )


def _leaky_relu(graph: Graph, op: LeakyReluOp, data: Value) -> Value:
    alpha = op.alpha.value.data
    if data.dtype.name != "float64":
        return graph.node("LeakyRelu", data, alpha=alpha)
    zero = graph.scalar(0, data.dtype)
    scaled = graph.node("Mul", data, graph.scalar(alpha, data.dtype))
    negative = graph.node("Less", data, zero, dtype=BOOL)
    return graph.node("Where", negative, scaled, data)


def _hard_sigmoid(graph: Graph, op: HardSigmoidOp, data: Value) -> Value:
    alpha, beta = op.alpha.value.data, op.beta.value.data
    if data.dtype.name != "float64":
        return graph.node("HardSigmoid", data, alpha=alpha, beta=beta)
    line = graph.node("Mul", data, graph.scalar(alpha, data.dtype))
    line = graph.node("Add", line, graph.scalar(beta, data.dtype))
    return clip(graph, line, 0, 1)


def clip(graph: Graph, data: Value, low: float | int, high: float | int) -> Value:
    """Limit elements to a range."""
    limits = (graph.scalar(low, data.dtype), graph.scalar(high, data.dtype))
    return graph.node("Clip", data, *limits)


def _limit(attr: FloatAttr | IntegerAttr | None, dtype: DType) -> float | int | None:
    """Return a limit as a number of the type; `None` if it limits nothing."""
    if attr is None or isinstance(attr, FloatAttr):
        return None if attr is None else attr.value.data
    value, range_ = attr.value.data, np.iinfo(dtype.name)
    return min(max(value, range_.min), range_.max)


def _clip(graph: Graph, op: ClipOp, data: Value) -> Value:
    low, high = _limit(op.minimum, data.dtype), _limit(op.maximum, data.dtype)
    if low is not None and high is not None:
        return clip(graph, data, low, high)
    for op_type, limit in (("Max", low), ("Min", high)):
        if limit is not None:
            data = graph.node(op_type, data, graph.scalar(limit, data.dtype))
    return data


def _cast(graph: Graph, op: CastOp, data: Value) -> Value:
    result = converted(graph, data, dtype_of(op.to))
    if data.dtype.name not in ("int8", "uint8") or result.dtype.name != "int32":
        return result
    return replace(result, narrow=(data, graph.scalar(0, data.dtype)))


def converted(graph: Graph, data: Value, dtype: DType) -> Value:
    """Convert as relay does: floats become the nearest integers in range, NaN zero.

    What a C compiler makes of numbers out of range is not defined, so they are brought into it first.
    """
    if data.dtype.kind != "f" or dtype.kind not in "iu":
        return graph.cast(data, dtype)
    range_ = np.iinfo(dtype.name)
    low, high = inside(data.dtype, range_.min), inside(data.dtype, range_.max)
    nan = graph.node("IsNaN", data, dtype=BOOL)
    number = graph.node("Where", nan, graph.scalar(0, data.dtype), data)
    result = graph.cast(clip(graph, number, low, high), dtype)
    # Where the type of floats does not have a limit, it has none beyond its nearest within either.
    for beyond, nearest, limit in (
        ("Greater", high, range_.max),
        ("Less", low, range_.min),
    ):
        if int(nearest) != limit:
            outside = graph.node(
                beyond, data, graph.scalar(nearest, data.dtype), dtype=BOOL
            )
            result = graph.node("Where", outside, graph.scalar(limit, dtype), result)
    return result


def inside(dtype: DType, limit: int) -> float:
    """Return the float nearest to a limit that is not beyond it."""
    finite = float(np.finfo(dtype.name).max)
    near = np.asarray(min(max(float(limit), -finite), finite), dtype)
    if abs(int(near)) > abs(limit):
        near = np.nextafter(near, np.asarray(0, dtype))
    return cast(float, near.item())


def _identity(graph: Graph, _: DropoutOp, data: Value) -> Value:
    return data


ELEMENTWISE: Rules = {
    ReluOp: _relu,
    NegativeOp: _negative,
    AbsOp: Operator("Abs"),
    SignOp: _sign,
    ExpOp: Operator("Exp"),
    LogOp: Operator("Log"),
    SqrtOp: Operator("Sqrt"),
    RsqrtOp: _rsqrt,
    ReciprocalOp: Operator("Reciprocal"),
    TanhOp: Operator("Tanh"),
    SigmoidOp: Operator("Sigmoid"),
    ErfOp: Operator("Erf"),
    FloorOp: Operator("Floor"),
    CeilOp: Operator("Ceil"),
    RoundOp: Operator("Round"),
    TruncOp: _trunc,
    SinOp: Operator("Sin"),
    CosOp: Operator("Cos"),
    TanOp: Operator("Tan"),
    AsinOp: Operator("Asin"),
    AcosOp: Operator("Acos"),
    AtanOp: Operator("Atan"),
    SinhOp: Operator("Sinh"),
    CoshOp: Operator("Cosh"),
    AsinhOp: Operator("Asinh"),
    AcoshOp: Operator("Acosh"),
    AtanhOp: Operator("Atanh"),
    LogicalNotOp: Operator("Not"),
    BitwiseNotOp: Operator("BitwiseNot"),
    IsNanOp: _is_nan,
    IsInfOp: _is_inf,
    LeakyReluOp: _leaky_relu,
    HardSigmoidOp: _hard_sigmoid,
    ClipOp: _clip,
    CastOp: _cast,
    DropoutOp: _identity,
}
