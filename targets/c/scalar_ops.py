"""What each `arith` and `math` op is in C: a table, by op type."""

from collections.abc import Callable, Mapping
from math import isnan

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from partita.dialects.partita import RemainderOp
from partita.targets.c.expressions import Level, Value, call, choice, infix
from partita.targets.c.support import Support, unsigned
from partita.targets.c.types import BOOL, CType, c_type, literal

Rule = Callable[[Support, Operation, tuple[Value, ...]], Value]
"""From an op and its operands' expressions to that of its result."""


def result_type(op: Operation) -> CType:
    """Return the type of an op's result."""
    return c_type(op.results[0].type)


def cast(value: Value, name: str, type: CType) -> Value:
    """Convert to a C type; the value is then of `type`."""
    return Value(f"({name}){value.at(Level.UNARY)}", type, Level.UNARY)


def _wrapping(stem: str, on_bool: str | None = None) -> Rule:
    """Call a function on integers; on truth values, apply an operator."""

    def apply(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
        type = values[0].type
        if type.is_bool and on_bool is not None:
            level = {"!=": Level.EQUAL, "&&": Level.AND, "||": Level.OR}[on_bool]
            return infix(values[0], on_bool, values[1], level, BOOL)
        if not type.is_integer:
            raise KeyError(op.name)
        return call(support.function(stem, type), type, *values)

    return apply


def _bitwise(operator: str, on_bool: str) -> Rule:
    def apply(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
        lhs, rhs = values
        if lhs.type.is_bool:
            level = {"!=": Level.EQUAL, "&&": Level.AND, "||": Level.OR}[on_bool]
            return infix(lhs, on_bool, rhs, level, BOOL)
        text = f"{lhs.at(Level.UNARY)} {operator} {rhs.at(Level.UNARY)}"
        return cast(Value(text, lhs.type, Level.CHOICE), lhs.type.name, lhs.type)

    return apply


def rounded(support: Support, value: Value) -> Value:
    """Round a result to half precision if that is its type."""
    if not value.type.is_half:
        return value
    return call(support.half("half_rounded"), value.type, value)


def _float_operator(operator: str, level: Level) -> Rule:
    return lambda support, op, values: rounded(
        support, infix(values[0], operator, values[1], level, values[0].type)
    )


def _libm(name: str) -> Rule:
    """Call a function of the C library, in the precision of its operand; single for half."""

    def apply(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
        type = values[0].type
        function = f"{name}f" if type.name == "float" else name
        return rounded(support, call(function, type, *values))

    return apply


def _extremum(stem: str, beside_constant: str) -> Rule:
    """Choose the larger, or smaller, of two floats; NaN if one is.

    Beside a constant one comparison does it: it is what a `max` instruction computes.
    """

    def apply(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
        lhs, rhs = values
        type = lhs.type
        for value, other in ((lhs, rhs), (rhs, lhs)):
            if other.number is not None and not isnan(other.number):
                name = support.function(beside_constant, type)
                return call(name, type, value, other)
        return call(support.function(stem, type), type, lhs, rhs)

    return apply


def _negate(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
    value = values[0]
    return Value(f"-{value.at(Level.ATOM)}", value.type, Level.UNARY)


def _constant(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
    assert isinstance(op, arith.ConstantOp)
    value = op.value
    if isa(value, FloatAttr[AnyFloat]):
        number: float = value.value.data
    else:
        assert isa(value, IntegerAttr[IntegerType | IndexType])
        number = value.value.data
    type = result_type(op)
    if type.is_integer and type.bits < 64:
        half = 1 << (type.bits - 1)
        number = (int(number) + half) % (2 * half) - half
    text = literal(number, type)
    level = Level.UNARY if text.startswith("-") else Level.ATOM
    return Value(text, type, level, number)


def _select(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
    return choice(*values)


_ORDERS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_EQUALITIES = {"eq": "==", "ne": "!="}


def _compared(predicate: str, lhs: Value, rhs: Value) -> Value:
    if predicate in _EQUALITIES:
        return infix(lhs, _EQUALITIES[predicate], rhs, Level.EQUAL, BOOL)
    return infix(lhs, _ORDERS[predicate], rhs, Level.ORDER, BOOL)


def _not(value: Value) -> Value:
    return Value(f"!{value.at(Level.ATOM)}", BOOL, Level.UNARY)


def _compare_integers(
    support: Support, op: Operation, values: tuple[Value, ...]
) -> Value:
    assert isinstance(op, arith.CmpiOp)
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    lhs, rhs = values
    if predicate in _EQUALITIES:
        return _compared(predicate, lhs, rhs)
    if lhs.type.is_bool:
        if predicate[0] == "s":
            lhs, rhs = rhs, lhs
    elif predicate[0] == "u":
        lhs, rhs = (cast(each, unsigned(each.type), each.type) for each in (lhs, rhs))
    return _compared(predicate[1:], lhs, rhs)


_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq"}


def _compare_floats(
    support: Support, op: Operation, values: tuple[Value, ...]
) -> Value:
    assert isinstance(op, arith.CmpfOp)
    predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    match predicate:
        case "false" | "true":
            return Value(predicate, BOOL)
        case "uno" | "ord":
            same = values[0] == values[1]
            name, count = ("isnan", 1) if same else ("isunordered", 2)
            unordered = call(name, BOOL, *values[:count])
            return unordered if predicate == "uno" else _not(unordered)
        case "one":
            return call("islessgreater", BOOL, *values)
        case "ueq":
            return _not(call("islessgreater", BOOL, *values))
        case "oeq" | "une":
            return _compared(predicate[1:], *values)
        case _ if predicate[0] == "o":
            return _compared(predicate[1:], *values)
        case _:
            return _not(_compared(_NEGATED[predicate[1:]], *values))


def _float_to_integer(signed: bool) -> Rule:
    def apply(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
        target = result_type(op)
        name = support.saturating(values[0].type, target, signed)
        return call(name, target, values[0])

    return apply


def _integer_to_float(signed: bool) -> Rule:
    def apply(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
        value, target = values[0], result_type(op)
        if value.type.is_bool:
            converted = cast(value, target.name, target)
            if signed:
                converted = Value(f"-{converted.text}", target, Level.UNARY)
            return converted
        if not signed:
            value = cast(value, unsigned(value.type), value.type)
        return rounded(support, cast(value, target.name, target))

    return apply


def _resize(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
    """Convert floats; a half is a `float` already."""
    value, target = values[0], result_type(op)
    if target.is_half:
        return rounded(support, Value(value.text, target, value.level))
    if value.type.name == target.name:
        return Value(value.text, target, value.level)
    return cast(value, target.name, target)


def _truncate(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
    value, target = values[0], result_type(op)
    if target.is_bool:
        text = f"({value.at(Level.UNARY)} & 1) != 0"
        return Value(text, BOOL, Level.EQUAL)
    return cast(value, target.name, target)


def _extend(signed: bool) -> Rule:
    def apply(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
        value, target = values[0], result_type(op)
        if value.type.is_bool:
            if signed:
                return cast(
                    Value(f"-(int){value.at(Level.UNARY)}", target, Level.UNARY),
                    target.name,
                    target,
                )
        elif not signed:
            value = cast(value, unsigned(value.type), value.type)
        return cast(value, target.name, target)

    return apply


def _index_cast(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
    value, target = values[0], result_type(op)
    if value.type == target:
        return value
    if target.is_bool:
        return _truncate(support, op, values)
    return _extend(signed=True)(support, op, values)


def _bitcast(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
    value, target = values[0], result_type(op)
    source = value.type
    if source == target:
        return value
    if source.is_half:
        bits = call(support.half("half_bits"), target, value)
        return cast(bits, target.name, target)
    if target.is_half:
        bits = cast(value, "uint16_t", target)
        return call(support.half("half_value"), target, bits)
    return call(support.bits(source, target), target, value)


def _power(support: Support, op: Operation, values: tuple[Value, ...]) -> Value:
    base, exponent = values
    if exponent.number == 2.0 and base.is_simple:
        return rounded(support, infix(base, "*", base, Level.PRODUCT, base.type))
    return _libm("pow")(support, op, values)


def _float_to_integer_power(
    support: Support, op: Operation, values: tuple[Value, ...]
) -> Value:
    base, exponent = values
    return _libm("pow")(support, op, (base, cast(exponent, base.type.name, base.type)))


def _reciprocal_root(
    support: Support, op: Operation, values: tuple[Value, ...]
) -> Value:
    type = values[0].type
    name = "sqrtf" if type.name == "float" else "sqrt"
    root = call(name, type, values[0])
    one = Value(literal(1.0, type), type, number=1.0)
    return rounded(support, infix(one, "/", root, Level.PRODUCT, type))


RULES: Mapping[type[Operation], Rule] = {
    arith.ConstantOp: _constant,
    arith.SelectOp: _select,
    arith.BitcastOp: _bitcast,
    # Integers.
    arith.AddiOp: _wrapping("add", "!="),
    arith.SubiOp: _wrapping("sub", "!="),
    arith.MuliOp: _wrapping("mul", "&&"),
    arith.DivSIOp: _wrapping("div"),
    arith.DivUIOp: _wrapping("udiv"),
    arith.FloorDivSIOp: _wrapping("floor_div"),
    arith.CeilDivSIOp: _wrapping("ceil_div"),
    arith.CeilDivUIOp: _wrapping("uceil_div"),
    arith.RemSIOp: _wrapping("rem"),
    arith.RemUIOp: _wrapping("urem"),
    arith.MinSIOp: _wrapping("min", "||"),
    arith.MaxSIOp: _wrapping("max", "&&"),
    arith.MinUIOp: _wrapping("umin", "&&"),
    arith.MaxUIOp: _wrapping("umax", "||"),
    arith.AndIOp: _bitwise("&", "&&"),
    arith.OrIOp: _bitwise("|", "||"),
    arith.XOrIOp: _bitwise("^", "!="),
    arith.ShLIOp: _wrapping("shl"),
    arith.ShRUIOp: _wrapping("ushr"),
    arith.ShRSIOp: _wrapping("shr"),
    arith.CmpiOp: _compare_integers,
    math.AbsIOp: _wrapping("abs"),
    math.IPowIOp: _wrapping("pow"),
    math.CountLeadingZerosOp: _wrapping("leading_zeros"),
    math.CountTrailingZerosOp: _wrapping("trailing_zeros"),
    math.CtPopOp: _wrapping("ones"),
    # Conversions.
    arith.IndexCastOp: _index_cast,
    arith.FPToSIOp: _float_to_integer(signed=True),
    arith.FPToUIOp: _float_to_integer(signed=False),
    arith.SIToFPOp: _integer_to_float(signed=True),
    arith.UIToFPOp: _integer_to_float(signed=False),
    arith.ExtFOp: _resize,
    arith.TruncFOp: _resize,
    arith.TruncIOp: _truncate,
    arith.ExtSIOp: _extend(signed=True),
    arith.ExtUIOp: _extend(signed=False),
    # Floats.
    arith.AddfOp: _float_operator("+", Level.SUM),
    arith.SubfOp: _float_operator("-", Level.SUM),
    arith.MulfOp: _float_operator("*", Level.PRODUCT),
    arith.DivfOp: _float_operator("/", Level.PRODUCT),
    arith.NegfOp: _negate,
    arith.MaximumfOp: _extremum("fmax", "at_least"),
    arith.MinimumfOp: _extremum("fmin", "at_most"),
    arith.MaxnumfOp: _libm("fmax"),
    arith.MinnumfOp: _libm("fmin"),
    arith.CmpfOp: _compare_floats,
    math.AbsFOp: _libm("fabs"),
    math.CopySignOp: _libm("copysign"),
    RemainderOp: _libm("fmod"),
    math.FmaOp: _libm("fma"),
    math.FloorOp: _libm("floor"),
    math.CeilOp: _libm("ceil"),
    math.TruncOp: _libm("trunc"),
    math.RoundEvenOp: _libm("rint"),
    math.RoundOp: _libm("round"),
    math.SqrtOp: _libm("sqrt"),
    math.RsqrtOp: _reciprocal_root,
    math.CbrtOp: _libm("cbrt"),
    math.ExpOp: _libm("exp"),
    math.Exp2Op: _libm("exp2"),
    math.ExpM1Op: _libm("expm1"),
    math.LogOp: _libm("log"),
    math.Log1pOp: _libm("log1p"),
    math.Log2Op: _libm("log2"),
    math.Log10Op: _libm("log10"),
    math.PowFOp: _power,
    math.FPowIOp: _float_to_integer_power,
    math.ErfOp: _libm("erf"),
    math.SinOp: _libm("sin"),
    math.CosOp: _libm("cos"),
    math.TanOp: _libm("tan"),
    math.AsinOp: _libm("asin"),
    math.AcosOp: _libm("acos"),
    math.AtanOp: _libm("atan"),
    math.Atan2Op: _libm("atan2"),
    math.SinhOp: _libm("sinh"),
    math.CoshOp: _libm("cosh"),
    math.TanhOp: _libm("tanh"),
    math.AsinhOp: _libm("asinh"),
    math.AcoshOp: _libm("acosh"),
    math.AtanhOp: _libm("atanh"),
}
"""By op type; `KeyError` from a rule for operands that it is not for."""
