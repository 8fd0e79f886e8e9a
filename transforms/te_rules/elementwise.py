"""Rules of ops that make an element from one element of each operand.

`f16` is computed in `f32` and rounded once, at the end.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects import math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f64, i1, i64
from xdsl.ir import Attribute, SSAValue

from partita.dialects import relay
from partita.shapes import dtype_of, element_of, is_float, shape_of
from partita.transforms.te_rules.body import Number, Scalar, kind
from partita.transforms.te_rules.builder import (
    Rule,
    Rules,
    TeBuilder,
    greatest,
    least,
)

Unary = Callable[[Scalar], Scalar]

Binary = Callable[[Scalar, Scalar], Scalar]


def unary(function: Unary) -> Rule:
    """Make a rule of a function of one scalar."""

    def rule(op: relay.RelayOp, b: TeBuilder) -> tuple[SSAValue, ...]:
        data, result = op.operands[0], op.results[0]
        element = element_of(result)
        return (
            b.compute(
                shape_of(result),
                element,
                lambda body, axes: function(body.read(data, axes).widened()).cast(
                    element
                ),
            ),
        )

    return rule


def binary(function: Binary) -> Rule:
    """Make a rule of a function of two scalars, whose tensors broadcast."""

    def rule(op: relay.RelayOp, b: TeBuilder) -> tuple[SSAValue, ...]:
        lhs, rhs, result = *op.operands, op.results[0]
        element = element_of(result)
        return (
            b.compute(
                shape_of(result),
                element,
                lambda body, axes: function(
                    body.read_broadcast(lhs, axes).widened(),
                    body.read_broadcast(rhs, axes).widened(),
                ).cast(element),
            ),
        )

    return rule


def _absolute(x: Scalar) -> Scalar:
    match kind(x.element):
        case "float":
            return x.math(math.AbsFOp)
        case "signed":
            return x.math(math.AbsIOp)
        case _:
            return x


def _sign(x: Scalar) -> Scalar:
    """Return -1, 0 or 1, NaN for NaN, and zero with its sign."""
    if kind(x.element) == "unsigned":
        return x.minimum(1)
    one = x.like(1)
    negative = x.lt(0).select(x.like(-1), x)
    return x.gt(0).select(one, negative)


def _sigmoid(x: Scalar) -> Scalar:
    """Evaluate `1 / (1 + exp(-x))`: an exponential that overflows gives 0, as it should."""
    return 1 / ((-x).math(math.ExpOp) + 1)


def divide(x: Scalar, y: Scalar) -> Scalar:
    """Divide; integers toward zero, without ever executing a division that traps.

    An integer divided by zero is 0, and the least one by -1 wraps.
    """
    known = y.number is not None and y.number not in (0, -1)
    match kind(x.element):
        case "float":
            return x / y
        case _ if known:
            return x / y
        case "signed":
            zero, minus = y.eq(0), y.eq(-1)
            quotient = x / (zero | minus).select(y.like(1), y)
            return zero.select(x.like(0), minus.select(-x, quotient))
        case _:
            zero = y.eq(0)
            return zero.select(x.like(0), x / zero.select(y.like(1), y))


def _remainder(x: Scalar, y: Scalar) -> Scalar:
    """Take the remainder of integers with the sign of `x`; 0 where a division would trap."""
    if y.number is not None and y.number not in (0, -1):
        return x % y
    unsafe = y.eq(0)
    if kind(y.element) == "signed":
        unsafe = unsafe | y.eq(-1)
    return x % unsafe.select(y.like(1), y)


def _modulo(op: relay.ModOp) -> Binary:
    def function(x: Scalar, y: Scalar) -> Scalar:
        rest = x.remainder(y) if is_float(x.element) else _remainder(x, y)
        if bool(op.fmod) or kind(x.element) == "unsigned":
            return rest
        opposite = rest.lt(0) ^ y.lt(0)
        return (rest.ne(0) & opposite).select(rest + y, rest)

    return function


def _power(x: Scalar, y: Scalar) -> Scalar:
    """Raise to a power, in a type that holds both."""
    element = x.element
    if y.number == 2:
        return x * x
    if y.number == 3:
        return x * x * x
    if not is_float(element) and not is_float(y.element):
        return (x.cast(i64) ** y.cast(i64)).cast(element)
    if not is_float(element) or dtype_of(y.element).itemsize > 4:
        return (x.cast(f64) ** y.cast(f64)).cast(element)
    return x ** y.cast(element)


def _shift(op: Callable[[Scalar, Scalar], Scalar]) -> Binary:
    """Shift by less than the width; by more, every bit is a zero, or a sign that fills."""

    def function(x: Scalar, y: Scalar) -> Scalar:
        width = dtype_of(x.element).itemsize * 8
        if y.number is not None and 0 <= y.number < width:
            return op(x, y)
        excessive = y.as_unsigned().ge(width)
        amount = excessive.select(y.like(width - 1), y)
        shifted = op(x, amount)
        fills = op is _right and kind(x.element) == "signed"
        return shifted if fills else excessive.select(x.like(0), shifted)

    return function


def _left(x: Scalar, y: Scalar) -> Scalar:
    return x << y


def _right(x: Scalar, y: Scalar) -> Scalar:
    return x >> y


def _isinf(op: relay.IsInfOp) -> Unary:
    def function(x: Scalar) -> Scalar:
        positive, negative = x.eq(float("inf")), x.eq(float("-inf"))
        if not bool(op.positive) and not bool(op.negative):
            return x.body.constant(False, i1)
        if bool(op.positive) and bool(op.negative):
            return positive | negative
        return positive if bool(op.positive) else negative

    return function


def number_like(attribute: FloatAttr | IntegerAttr, element: Attribute) -> Number:
    """Return the number that an attribute holds, or the nearest in the range of the element type."""
    number: Number = attribute.value.data
    if is_float(element):
        return number
    return min(max(number, least(element)), greatest(element))


def _clip(op: relay.ClipOp) -> Unary:
    element = element_of(op.data)

    def function(x: Scalar) -> Scalar:
        if op.minimum is not None:
            x = x.maximum(number_like(op.minimum, element))
        if op.maximum is not None:
            x = x.minimum(number_like(op.maximum, element))
        return x

    return function


def _leaky_relu(op: relay.LeakyReluOp) -> Unary:
    alpha = op.alpha.value.data
    return lambda x: x.lt(0).select(x * alpha, x)


def _hard_sigmoid(op: relay.HardSigmoidOp) -> Unary:
    alpha, beta = op.alpha.value.data, op.beta.value.data
    return lambda x: (x * alpha + beta).minimum(1).maximum(0)


def _where(op: relay.WhereOp, b: TeBuilder) -> tuple[SSAValue, ...]:
    return (
        b.compute(
            shape_of(op.result),
            element_of(op.result),
            lambda body, axes: body.read_broadcast(op.condition, axes).select(
                body.read_broadcast(op.x, axes), body.read_broadcast(op.y, axes)
            ),
        ),
    )


def _cast(op: relay.CastOp, b: TeBuilder) -> tuple[SSAValue, ...]:
    return (
        b.compute(
            shape_of(op.result),
            op.to,
            lambda body, axes: body.read(op.data, axes).cast(op.to),
        ),
    )


UNARY: Mapping[type[relay.RelayOp], Unary] = {
    relay.ReluOp: lambda x: x.maximum(0),
    relay.NegativeOp: lambda x: -x,
    relay.AbsOp: _absolute,
    relay.SignOp: _sign,
    relay.ExpOp: lambda x: x.math(math.ExpOp),
    relay.LogOp: lambda x: x.math(math.LogOp),
    relay.SqrtOp: lambda x: x.math(math.SqrtOp),
    relay.RsqrtOp: lambda x: 1 / x.math(math.SqrtOp),
    relay.ReciprocalOp: lambda x: 1 / x,
    relay.TanhOp: lambda x: x.math(math.TanhOp),
    relay.SigmoidOp: _sigmoid,
    relay.ErfOp: lambda x: x.math(math.ErfOp),
    relay.FloorOp: lambda x: x.math(math.FloorOp),
    relay.CeilOp: lambda x: x.math(math.CeilOp),
    relay.RoundOp: lambda x: x.math(math.RoundEvenOp),
    relay.TruncOp: lambda x: x.math(math.TruncOp),
    relay.SinOp: lambda x: x.math(math.SinOp),
    relay.CosOp: lambda x: x.math(math.CosOp),
    relay.TanOp: lambda x: x.math(math.TanOp),
    relay.AsinOp: lambda x: x.math(math.AsinOp),
    relay.AcosOp: lambda x: x.math(math.AcosOp),
    relay.AtanOp: lambda x: x.math(math.AtanOp),
    relay.SinhOp: lambda x: x.math(math.SinhOp),
    relay.CoshOp: lambda x: x.math(math.CoshOp),
    relay.AsinhOp: lambda x: x.math(math.AsinhOp),
    relay.AcoshOp: lambda x: x.math(math.AcoshOp),
    relay.AtanhOp: lambda x: x.math(math.AtanhOp),
    relay.LogicalNotOp: lambda x: ~x,
    relay.BitwiseNotOp: lambda x: ~x,
    relay.IsNanOp: lambda x: x.isnan(),
}

BINARY: Mapping[type[relay.RelayOp], Binary] = {
    relay.AddOp: lambda x, y: x + y,
    relay.SubtractOp: lambda x, y: x - y,
    relay.MultiplyOp: lambda x, y: x * y,
    relay.DivideOp: divide,
    relay.PowerOp: _power,
    relay.MaximumOp: lambda x, y: x.maximum(y),
    relay.MinimumOp: lambda x, y: x.minimum(y),
    relay.BitwiseAndOp: lambda x, y: x & y,
    relay.BitwiseOrOp: lambda x, y: x | y,
    relay.BitwiseXorOp: lambda x, y: x ^ y,
    relay.LogicalAndOp: lambda x, y: x & y,
    relay.LogicalOrOp: lambda x, y: x | y,
    relay.LogicalXorOp: lambda x, y: x ^ y,
    relay.LeftShiftOp: _shift(_left),
    relay.RightShiftOp: _shift(_right),
    relay.EqualOp: lambda x, y: x.eq(y),
    relay.NotEqualOp: lambda x, y: x.ne(y),
    relay.LessOp: lambda x, y: x.lt(y),
    relay.LessEqualOp: lambda x, y: x.le(y),
    relay.GreaterOp: lambda x, y: x.gt(y),
    relay.GreaterEqualOp: lambda x, y: x.ge(y),
}

ELEMENTWISE_RULES: Rules = {
    **{op: unary(function) for op, function in UNARY.items()},
    **{op: binary(function) for op, function in BINARY.items()},
    relay.IsInfOp: lambda op, b: unary(_isinf(op))(op, b),
    relay.ClipOp: lambda op, b: unary(_clip(op))(op, b),
    relay.LeakyReluOp: lambda op, b: unary(_leaky_relu(op))(op, b),
    relay.HardSigmoidOp: lambda op, b: unary(_hard_sigmoid(op))(op, b),
    relay.ModOp: lambda op, b: binary(_modulo(op))(op, b),
    relay.WhereOp: _where,
    relay.CastOp: _cast,
    relay.DropoutOp: lambda op, b: (op.data,),
}
