"""What each `arith` and `math` op is in LLVM: a table, by op type."""

from collections.abc import Callable, Mapping
from math import copysign, isnan

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from partita.dialects.partita import RemainderOp
from partita.targets.host import integer_ops, polynomials
from partita.targets.host.emitter import FAST, Emitter, Value, llvm_type
from partita.targets.host.integer_ops import Rule

_CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_CMPF = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)


def _binary(opcode: str) -> Rule:
    return lambda emitter, op, values: emitter.binary(opcode, values[0], values[1])


def _convert(opcode: str) -> Rule:
    return lambda emitter, op, values: emitter.convert(
        opcode, values[0], llvm_type(op.results[0].type)
    )


def _intrinsic(name: str) -> Rule:
    return lambda emitter, op, values: emitter.intrinsic(name, *values)


def _wide(rule: Callable[[Emitter, Value], Value]) -> Rule:
    """Compute a half in single precision."""

    def apply(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
        value = values[0]
        if value.type != "half":
            return rule(emitter, value)
        result = rule(emitter, emitter.convert("fpext", value, "float"))
        return emitter.convert("fptrunc", result, "half")

    return apply


def _polynomial(name: str, define: Callable[[Emitter, Value], Value]) -> Rule:
    """Ours in single precision, the platform's in double."""

    def apply(emitter: Emitter, value: Value) -> Value:
        if value.type == "float":
            return emitter.helper(name, value, define)
        if name == "erf":
            return _library(emitter, "erf", value)
        return emitter.intrinsic(name, value)

    return _wide(apply)


def _library(emitter: Emitter, name: str, *values: Value) -> Value:
    """Call a function of the C library, lane by lane."""
    values = emitter.same_lanes(*values)
    first = values[0]
    function = name + ("f" if first.type == "float" else "")
    types = ", ".join(first.type for _ in values)
    emitter.declarations.setdefault(
        function, f"declare {first.type} @{function}({types})"
    )
    if first.lanes == 1:
        return emitter.call(function, first.type, *values)
    result = Value("poison", first.type, first.lanes)
    for lane in range(first.lanes):
        arguments = [
            emitter.emit(f"extractelement {value}, i64 {lane}", value.type)
            for value in values
        ]
        one = emitter.call(function, first.type, *arguments)
        result = emitter.emit(
            f"insertelement {result}, {one}, i64 {lane}", first.type, first.lanes
        )
    return result


def _c_function(name: str) -> Rule:
    return _wide(lambda emitter, value: _library(emitter, name, value))


def _c_function_of_two(name: str) -> Rule:
    def apply(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
        if values[0].type != "half":
            return _library(emitter, name, *values)
        wide = [emitter.convert("fpext", each, "float") for each in values]
        return emitter.convert("fptrunc", _library(emitter, name, *wide), "half")

    return apply


def _constant(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
    assert isinstance(op, arith.ConstantOp)
    return emitter.constant(_number(op), llvm_type(op.result.type))


def _compare_integers(
    emitter: Emitter, op: Operation, values: tuple[Value, ...]
) -> Value:
    assert isinstance(op, arith.CmpiOp)
    return emitter.binary(f"icmp {_CMPI[op.predicate.value.data]}", *values, type="i1")


def _compare_floats(
    emitter: Emitter, op: Operation, values: tuple[Value, ...]
) -> Value:
    assert isinstance(op, arith.CmpfOp)
    return emitter.binary(f"fcmp {_CMPF[op.predicate.value.data]}", *values, type="i1")


def _select(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
    return emitter.select(*values)


def _negate(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
    value = values[0]
    return emitter.emit(f"fneg {value}", value.type, value.lanes)


def _extremum(predicate: str, intrinsic: str) -> Rule:
    """Choose the larger, or smaller, of two floats; NaN if one is.

    Beside a constant, one unordered comparison does it: it is what a `max` instruction
    computes. A zero that loses against the other zero is left to LLVM.
    """
    losing = -1.0 if predicate == "ugt" else 1.0

    def is_easy(number: float) -> bool:
        return not isnan(number) and (number != 0 or copysign(1, number) != losing)

    def apply(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
        for value, other, operand in (
            (values[0], values[1], op.operands[1]),
            (values[1], values[0], op.operands[0]),
        ):
            constant = operand.owner
            if isinstance(constant, arith.ConstantOp) and is_easy(_number(constant)):
                keep = emitter.binary(f"fcmp {predicate}", value, other, "i1")
                return emitter.select(keep, value, other)
        assert isinstance(op, arith.MaximumfOp | arith.MinimumfOp)
        unsigned = FastMathFlag.NO_SIGNED_ZEROS in op.fastmath.data
        return emitter.intrinsic(intrinsic, *values, flags="nsz" if unsigned else "")

    return apply


def _number(constant: arith.ConstantOp) -> int | float:
    # Not `isa`, which would build a constraint for each of very many constants.
    match constant.value:
        case FloatAttr(value=data):
            return data.data
        case IntegerAttr(value=data):
            return data.data
        case _:
            raise AssertionError("a scalar constant is a float or an integer")


def _float_to_integer(signed: bool) -> Rule:
    """Truncate toward zero; what does not fit gives the nearest integer that does, NaN gives 0."""

    def apply(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
        value, type = values[0], llvm_type(op.results[0].type)
        name = f"llvm.fpto{'si' if signed else 'ui'}.sat"
        prefix = "" if value.lanes == 1 else f"v{value.lanes}"
        source = {"half": "f16", "float": "f32", "double": "f64"}[value.type]
        function = f"{name}.{prefix}{type}.{prefix}{source}"
        result = Value("", type, value.lanes)
        emitter.declarations.setdefault(
            function,
            f"declare {result.vector_type} @{function}({value.vector_type})",
        )
        return emitter.call(function, type, value)

    return apply


def _float_to_integer_power(
    emitter: Emitter, op: Operation, values: tuple[Value, ...]
) -> Value:
    base, exponent = values
    exponent = emitter.convert("sitofp", exponent, base.type)
    return _power(emitter, op, (base, exponent))


def _index_cast(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
    value, type = values[0], llvm_type(op.results[0].type)
    before, after = int(value.type[1:]), int(type[1:])
    if before == after:
        return value
    return emitter.convert("sext" if after > before else "trunc", value, type)


def _power(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
    base, exponent = values
    if base.type == "half":
        wide = [emitter.convert("fpext", each, "float") for each in values]
        return emitter.convert("fptrunc", emitter.intrinsic("pow", *wide), "half")
    constant = op.operands[1].owner
    if isinstance(constant, arith.ConstantOp):
        data = _number(constant)
        if data == 2.0:
            return emitter.binary("fmul contract", base, base)
        if data == 3.0:
            square = emitter.binary("fmul contract", base, base)
            return emitter.binary("fmul contract", square, base)
    return emitter.intrinsic("pow", base, exponent)


def _reciprocal_root(emitter: Emitter, value: Value) -> Value:
    root = emitter.intrinsic("sqrt", value)
    return emitter.binary("fdiv", emitter.constant(1.0, value.type), root)


RULES: Mapping[type[Operation], Rule] = {
    arith.ConstantOp: _constant,
    arith.AddiOp: _binary("add"),
    arith.SubiOp: _binary("sub"),
    arith.MuliOp: _binary("mul"),
    arith.DivSIOp: integer_ops.divide("sdiv"),
    arith.DivUIOp: integer_ops.divide("udiv"),
    arith.FloorDivSIOp: integer_ops.divide_down,
    arith.CeilDivSIOp: integer_ops.divide_up,
    arith.CeilDivUIOp: integer_ops.divide_up_unsigned,
    arith.RemSIOp: integer_ops.divide("srem"),
    arith.RemUIOp: integer_ops.divide("urem"),
    arith.AndIOp: _binary("and"),
    arith.OrIOp: _binary("or"),
    arith.XOrIOp: _binary("xor"),
    arith.ShLIOp: integer_ops.shift("shl"),
    arith.ShRUIOp: integer_ops.shift("lshr"),
    arith.ShRSIOp: integer_ops.shift("ashr", arithmetic=True),
    arith.MinSIOp: _intrinsic("smin"),
    arith.MaxSIOp: _intrinsic("smax"),
    arith.MinUIOp: _intrinsic("umin"),
    arith.MaxUIOp: _intrinsic("umax"),
    arith.AddfOp: _binary(f"fadd {FAST}"),
    arith.SubfOp: _binary(f"fsub {FAST}"),
    arith.MulfOp: _binary(f"fmul {FAST}"),
    arith.DivfOp: _binary("fdiv"),
    arith.NegfOp: _negate,
    arith.MaximumfOp: _extremum("ugt", "maximum"),
    arith.MinimumfOp: _extremum("ult", "minimum"),
    arith.MaxnumfOp: _intrinsic("maxnum"),
    arith.MinnumfOp: _intrinsic("minnum"),
    arith.CmpiOp: _compare_integers,
    arith.CmpfOp: _compare_floats,
    arith.SelectOp: _select,
    arith.IndexCastOp: _index_cast,
    arith.ExtSIOp: _convert("sext"),
    arith.ExtUIOp: _convert("zext"),
    arith.TruncIOp: _convert("trunc"),
    arith.SIToFPOp: _convert("sitofp"),
    arith.UIToFPOp: _convert("uitofp"),
    arith.FPToSIOp: _float_to_integer(signed=True),
    arith.FPToUIOp: _float_to_integer(signed=False),
    arith.ExtFOp: _convert("fpext"),
    arith.TruncFOp: _convert("fptrunc"),
    arith.BitcastOp: _convert("bitcast"),
    math.AbsFOp: _intrinsic("fabs"),
    math.AbsIOp: integer_ops.absolute,
    math.SqrtOp: _intrinsic("sqrt"),
    math.RsqrtOp: _wide(_reciprocal_root),
    math.ExpOp: _polynomial("exp", polynomials.exp),
    math.LogOp: _polynomial("log", polynomials.log),
    math.TanhOp: _polynomial("tanh", polynomials.tanh),
    math.ErfOp: _polynomial("erf", polynomials.erf),
    math.FloorOp: _intrinsic("floor"),
    math.CeilOp: _intrinsic("ceil"),
    math.TruncOp: _intrinsic("trunc"),
    math.RoundEvenOp: _intrinsic("roundeven"),
    math.RoundOp: _intrinsic("round"),
    math.CopySignOp: _intrinsic("copysign"),
    RemainderOp: _c_function_of_two("fmod"),
    math.FmaOp: _intrinsic("fma"),
    math.PowFOp: _power,
    math.IPowIOp: integer_ops.power,
    math.FPowIOp: _float_to_integer_power,
    math.CountLeadingZerosOp: integer_ops.count_zeros("ctlz"),
    math.CountTrailingZerosOp: integer_ops.count_zeros("cttz"),
    math.CtPopOp: _intrinsic("ctpop"),
    math.SinOp: _c_function("sin"),
    math.CosOp: _c_function("cos"),
    math.TanOp: _c_function("tan"),
    math.AsinOp: _c_function("asin"),
    math.AcosOp: _c_function("acos"),
    math.AtanOp: _c_function("atan"),
    math.Atan2Op: _c_function_of_two("atan2"),
    math.SinhOp: _c_function("sinh"),
    math.CoshOp: _c_function("cosh"),
    math.AsinhOp: _c_function("asinh"),
    math.AcoshOp: _c_function("acosh"),
    math.AtanhOp: _c_function("atanh"),
    math.Log2Op: _c_function("log2"),
    math.Log10Op: _c_function("log10"),
    math.Log1pOp: _c_function("log1p"),
    math.Exp2Op: _c_function("exp2"),
    math.ExpM1Op: _c_function("expm1"),
    math.CbrtOp: _c_function("cbrt"),
}
"""Every scalar op that host code can be made for."""
