"""Ops that combine elements of several tensors.

Quotients and shifts are guarded: onnxruntime ends the process at a division by zero, and leaves shifts by
the width to the processor.
"""

from dataclasses import replace

import numpy as np

from partita.dialects.relay import (
    AddOp,
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    DivideOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LeftShiftOp,
    LessEqualOp,
    LessOp,
    LogicalAndOp,
    LogicalOrOp,
    LogicalXorOp,
    MaximumOp,
    MinimumOp,
    ModOp,
    MultiplyOp,
    NotEqualOp,
    PowerOp,
    RightShiftOp,
    SubtractOp,
    WhereOp,
)
from partita.targets.onnxruntime.graph import BOOL, Graph, Value
from partita.targets.onnxruntime.kernels import DType
from partita.targets.onnxruntime.rules.elementwise import converted
from partita.targets.onnxruntime.rules.rule import Operator, Rules

DOUBLE = np.dtype(np.float64)


def _subtract(graph: Graph, _: SubtractOp, lhs: Value, rhs: Value) -> Value:
    result = graph.node("Sub", lhs, rhs)
    if lhs.narrow is None or rhs.shape != ():
        return result
    data, zero = lhs.narrow
    taken = _narrow_scalar(graph, rhs, data.dtype)
    if taken is None or zero.array is None or zero.array.item() != 0:
        return result
    return replace(result, narrow=(data, taken))


def _narrow_scalar(graph: Graph, value: Value, dtype: DType) -> Value | None:
    """Return a scalar as one of this 8-bit type, if it is one."""
    if value.narrow is not None:
        scalar, zero = value.narrow
        if zero.array is None or zero.array.item() != 0 or scalar.dtype != dtype:
            return None
        return scalar
    if value.array is None:
        return None
    number, range_ = int(value.array.item()), np.iinfo(dtype.name)
    return graph.scalar(number, dtype) if range_.min <= number <= range_.max else None


def _not_equal(graph: Graph, _: NotEqualOp, lhs: Value, rhs: Value) -> Value:
    equal = graph.node("Equal", lhs, rhs, dtype=BOOL)
    return graph.node("Not", equal)


def _equals(graph: Graph, value: Value, number: int) -> Value:
    return graph.node("Equal", value, graph.scalar(number, value.dtype), dtype=BOOL)


def _may_be(value: Value, number: int) -> bool:
    """Say whether elements of an integer tensor may be a number."""
    if value.dtype.kind == "u" and number < 0:
        return False
    return value.array is None or bool(np.any(value.array == number))


def _safe(graph: Graph, divisor: Value) -> Value:
    """Replace the divisors by which a processor cannot divide every integer, 0 and -1, by 1."""
    one = graph.scalar(1, divisor.dtype)
    safe = divisor
    for number in (0, -1):
        if _may_be(divisor, number):
            safe = graph.node("Where", _equals(graph, divisor, number), one, safe)
    return safe


def divided(graph: Graph, lhs: Value, rhs: Value) -> Value:
    """Divide; integers toward zero, and by zero to zero."""
    if lhs.dtype.kind == "f":
        return graph.node("Div", lhs, rhs)
    quotient = graph.node("Div", lhs, _safe(graph, rhs))
    if _may_be(rhs, -1):
        negated = graph.node("Neg", lhs)
        quotient = graph.node("Where", _equals(graph, rhs, -1), negated, quotient)
    if _may_be(rhs, 0):
        zero = graph.scalar(0, lhs.dtype)
        quotient = graph.node("Where", _equals(graph, rhs, 0), zero, quotient)
    return quotient


def _divide(graph: Graph, _: DivideOp, lhs: Value, rhs: Value) -> Value:
    return divided(graph, lhs, rhs)


def _mod(graph: Graph, op: ModOp, lhs: Value, rhs: Value) -> Value:
    if lhs.dtype.kind != "f":
        rhs = _safe(graph, rhs)
    return graph.node("Mod", lhs, rhs, fmod=int(bool(op.fmod)))


def _power(graph: Graph, _: PowerOp, lhs: Value, rhs: Value) -> Value:
    if lhs.dtype.kind != "f" and rhs.dtype.kind != "f":
        return _integer_power(graph, lhs, rhs)
    if lhs.dtype == rhs.dtype:
        return graph.node("Pow", lhs, rhs)
    wide = graph.node("Pow", graph.cast(lhs, DOUBLE), graph.cast(rhs, DOUBLE))
    return converted(graph, wide, lhs.dtype)


def _integer_power(graph: Graph, base: Value, exponent: Value) -> Value:
    """Square and multiply, by the bits of the exponent."""
    one, minus_one = graph.scalar(1, base.dtype), -1
    bits = exponent.dtype.itemsize * 8 - (exponent.dtype.kind == "i")
    if exponent.array is not None:
        bits = int(np.max(exponent.array, initial=0)).bit_length()
    power, square = one, base
    for bit in range(bits):
        mask = graph.scalar(1 << bit, exponent.dtype)
        clear = _equals(graph, graph.node("BitwiseAnd", exponent, mask), 0)
        power = graph.node("Where", clear, power, graph.node("Mul", power, square))
        if bit + 1 < bits:
            square = graph.node("Mul", square, square)
    if exponent.dtype.kind == "u":
        return power
    # A negative exponent gives the inverse, which is an integer only of 1 and -1.
    zero = graph.scalar(0, base.dtype)
    inverse = graph.node("Where", _equals(graph, base, 1), one, zero)
    if base.dtype.kind == "i":
        lowest = graph.node("BitwiseAnd", exponent, graph.scalar(1, exponent.dtype))
        sign = graph.node(
            "Where",
            _equals(graph, lowest, 0),
            one,
            graph.scalar(minus_one, base.dtype),
        )
        inverse = graph.node("Where", _equals(graph, base, minus_one), sign, inverse)
    negative = graph.node("Less", exponent, graph.scalar(0, exponent.dtype), dtype=BOOL)
    return graph.node("Where", negative, inverse, power)


def _shifted(graph: Graph, value: Value, amount: Value, direction: str) -> Value:
    """Shift unsigned numbers by less than their width."""
    return graph.node("BitShift", value, amount, direction=direction)


def _amount(graph: Graph, amount: Value) -> tuple[Value, Value]:
    """Return unsigned amounts below the width, and where they had to be reduced to be so."""
    width = amount.dtype.itemsize * 8
    amount = graph.cast(amount, np.dtype(f"uint{width}"))
    most = graph.scalar(width - 1, amount.dtype)
    beyond = graph.node("Greater", amount, most, dtype=BOOL)
    return graph.node("Min", amount, most), beyond


def _left_shift(graph: Graph, _: LeftShiftOp, lhs: Value, rhs: Value) -> Value:
    amount, beyond = _amount(graph, rhs)
    shifted = _shifted(graph, graph.cast(lhs, amount.dtype), amount, "LEFT")
    zero = graph.scalar(0, lhs.dtype)
    return graph.node("Where", beyond, zero, graph.cast(shifted, lhs.dtype))


def _right_shift(graph: Graph, _: RightShiftOp, lhs: Value, rhs: Value) -> Value:
    amount, beyond = _amount(graph, rhs)
    zero = graph.scalar(0, lhs.dtype)
    if lhs.dtype.kind == "u":
        shifted = _shifted(graph, lhs, amount, "RIGHT")
        return graph.node("Where", beyond, zero, shifted)
    # Negative numbers are shifted with all their bits flipped, so that ones come in.
    negative = graph.node("Less", lhs, zero, dtype=BOOL)
    flip = graph.node("Where", negative, graph.scalar(-1, lhs.dtype), zero)
    bits = graph.cast(graph.node("BitwiseXor", lhs, flip), amount.dtype)
    shifted = graph.cast(_shifted(graph, bits, amount, "RIGHT"), lhs.dtype)
    return graph.node("BitwiseXor", shifted, flip)


BINARY: Rules = {
    AddOp: Operator("Add"),
    SubtractOp: _subtract,
    MultiplyOp: Operator("Mul"),
    DivideOp: _divide,
    ModOp: _mod,
    PowerOp: _power,
    MaximumOp: Operator("Max"),
    MinimumOp: Operator("Min"),
    BitwiseAndOp: Operator("BitwiseAnd"),
    BitwiseOrOp: Operator("BitwiseOr"),
    BitwiseXorOp: Operator("BitwiseXor"),
    LeftShiftOp: _left_shift,
    RightShiftOp: _right_shift,
    LogicalAndOp: Operator("And"),
    LogicalOrOp: Operator("Or"),
    LogicalXorOp: Operator("Xor"),
    EqualOp: Operator("Equal"),
    NotEqualOp: _not_equal,
    LessOp: Operator("Less"),
    LessEqualOp: Operator("LessOrEqual"),
    GreaterOp: Operator("Greater"),
    GreaterEqualOp: Operator("GreaterOrEqual"),
    WhereOp: Operator("Where"),
}
