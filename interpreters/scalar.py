"""What `arith` and `math` ops mean, on numpy arrays: of every shape, element by element.

`te` and `tir` compute scalars with the same ops, so both interpreters share this table.
A scalar type is the numpy dtype that `scalar_dtype` gives: signless integers count as
signed, `i1` is bool, `index` is 64 bits wide. Integers wrap. Where an op is undefined
(a division by zero, a conversion out of range) a value comes out all the same, because
a vectorized evaluation also computes lanes that a `select` throws away.
Evaluate inside `quiet()`, which keeps numpy from warning about such lanes.
"""

import math as python_math
from collections.abc import Callable, Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from partita.dialects.partita import RemainderOp
from partita.shapes import dtype_of

Array = NDArray[np.generic]

ScalarImpl = Callable[[Operation, tuple[Array, ...]], Array]
"""An op and its operands' arrays to its result; shapes broadcast as numpy's."""

_BOOL = np.dtype(np.bool_)

INDEX = np.dtype(np.int64)
"""How `index` is held."""


def scalar_dtype(type: Attribute) -> np.dtype[np.generic]:
    """Return the dtype that holds a scalar type; `KeyError` for one that we do not model."""
    return INDEX if isinstance(type, IndexType) else dtype_of(type)


def scalar_constant(value: Attribute) -> Array:
    """Return the 0-d array of an integer or float attribute; integers are taken modulo their width."""
    match value:
        case IntegerAttr(value=number, type=IntegerType(width=width)):
            bits = number.data & ((1 << width.data) - 1)
            if width.data == 1:
                return np.asarray(bool(bits))
            dtype = dtype_of(value.type)
            return np.asarray(bits, f"uint{width.data}").view(dtype)
        case IntegerAttr(value=number):
            return np.asarray(number.data, INDEX)
        case FloatAttr(value=number, type=type):
            return np.asarray(number.data, dtype_of(type))
        case _:
            raise ValueError(f"expected an integer or float attribute, got {value}")


def quiet() -> np.errstate:
    """Make the context in which scalars are evaluated: no warning for unused or special lanes."""
    return np.errstate(all="ignore")


def evaluate_scalar(op: Operation, args: tuple[Array, ...]) -> Array:
    """Evaluate one op; `KeyError` if it is not a scalar op of the table."""
    return SCALARS[type(op)](op, args)


def _unsigned(array: Array) -> Array:
    if array.dtype.kind == "b":
        return array
    return array.view(f"u{array.dtype.itemsize}")


def _signed(array: Array) -> Array:
    """View unsigned results as signless integers are held; `i1` counts as 0 and -1 where sign matters."""
    return array.view(f"i{array.dtype.itemsize}") if array.dtype.kind == "u" else array


def _signed_bool(array: Array) -> Array:
    return np.negative(array.astype(np.int8)) if array.dtype.kind == "b" else array


def _plain(function: Callable[..., Array]) -> ScalarImpl:
    """Apply a function as it is."""
    return lambda op, args: function(*args)


def _on_unsigned(function: Callable[..., Array]) -> ScalarImpl:
    """Apply a function to operands taken as unsigned."""
    return lambda op, args: _signed(
        np.asarray(function(*(_unsigned(arg) for arg in args)))
    )


def _modular(
    function: Callable[..., Array], on_bool: Callable[..., Array]
) -> ScalarImpl:
    """Apply integer arithmetic, whose form modulo 2 is another function."""
    return lambda op, args: (
        on_bool(*args) if args[0].dtype == _BOOL else function(*args)
    )


def _converted(function: Callable[[Array], Array] = lambda array: array) -> ScalarImpl:
    """Apply a function, then convert to the result's dtype as C does."""
    return lambda op, args: function(args[0]).astype(scalar_dtype(op.results[0].type))


def truncated_quotient(lhs: Array, rhs: Array) -> Array:
    """Divide integers, rounding toward zero."""
    return np.floor_divide(np.subtract(lhs, np.fmod(lhs, rhs)), rhs)


def _ceil_divide(lhs: Array, rhs: Array) -> Array:
    quotient = np.floor_divide(lhs, rhs)
    return np.add(quotient, np.remainder(lhs, rhs) != 0, dtype=quotient.dtype)


def _shifted(function: Callable[..., Array], unsigned: bool) -> ScalarImpl:
    """Shift by amounts taken as unsigned; amounts of the width and above are undefined."""

    def shift(op: Operation, args: tuple[Array, ...]) -> Array:
        amount = np.bitwise_and(args[1], args[1].dtype.itemsize * 8 - 1)
        value = _unsigned(args[0]) if unsigned else args[0]
        return _signed(np.asarray(function(value, amount.astype(value.dtype))))

    return shift


_COMPARISONS: Mapping[str, Callable[..., Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _compare_integers(op: Operation, args: tuple[Array, ...]) -> Array:
    predicate = arith.CMPI_COMPARISON_OPERATIONS[
        cast(arith.CmpiOp, op).predicate.value.data
    ]
    as_predicate = _unsigned if predicate[0] == "u" else _signed_bool
    return _COMPARISONS[predicate[-2:]](*(as_predicate(arg) for arg in args))


def _compare_floats(op: Operation, args: tuple[Array, ...]) -> Array:
    predicate = arith.CMPF_COMPARISON_OPERATIONS[
        cast(arith.CmpfOp, op).predicate.value.data
    ]
    unordered = np.logical_or(np.isnan(args[0]), np.isnan(args[1]))
    match predicate:
        case "false" | "true":
            return np.full_like(unordered, predicate == "true")
        case "ord":
            return np.logical_not(unordered)
        case "uno":
            return unordered
        case _:
            holds = _COMPARISONS[predicate[1:]](*args)
            if predicate[0] == "u":
                return np.logical_or(holds, unordered)
            return np.logical_and(holds, np.logical_not(unordered))


def _bitcast(op: Operation, args: tuple[Array, ...]) -> Array:
    return args[0].view(scalar_dtype(op.results[0].type))


def integer_power(base: Array, exponent: Array) -> Array:
    """Multiply repeatedly, wrapping; a negative exponent gives the inverse, truncated."""
    power = np.power(base, np.maximum(exponent, 0))
    odd = np.bitwise_and(exponent, 1) != 0
    inverse = np.where(
        np.equal(base, 1),
        1,
        np.where(np.equal(base, -1), np.where(odd, -1, 1), 0),
    ).astype(base.dtype)
    return np.where(np.less(exponent, 0), inverse, power)


def _round_away(array: Array) -> Array:
    whole = np.trunc(array)
    away = np.abs(np.subtract(array, whole)) >= 0.5
    return np.where(away, np.add(whole, np.copysign(1, array)), whole).astype(
        array.dtype
    )


def saturated(array: Array, dtype: np.dtype[np.generic]) -> Array:
    """Convert floats to integers: toward zero, to the nearest that there is, and NaN to zero."""
    info = np.iinfo(dtype.name)
    wide = array.astype(np.float64)
    end = float(info.max) if info.bits < 64 else float(info.max + 1)
    inside = np.clip(
        wide, float(info.min), np.nextafter(end, 0) if end > info.max else end
    )
    whole = np.where(np.isnan(inside), 0, inside).astype(dtype)
    return np.where(wide >= end, np.asarray(info.max, dtype), whole)


def _reciprocal_root(array: Array) -> Array:
    return np.divide(np.ones((), array.dtype), np.sqrt(array))


_erf = np.vectorize(python_math.erf, otypes=[np.float64])


def error_function(array: Array) -> Array:
    """Return erf of each element, to the precision of its dtype."""
    return _erf(array).astype(array.dtype)


def _fused(lhs: Array, rhs: Array, addend: Array) -> Array:
    wide = np.float64 if lhs.dtype.itemsize < 8 else np.longdouble
    product = np.multiply(lhs, rhs, dtype=wide)
    return np.add(product, addend, dtype=wide).astype(lhs.dtype)


def _bits(count: Callable[[str, int], int]) -> ScalarImpl:
    """Apply a function of an integer's bits, written as a string, and its width."""

    def apply(op: Operation, args: tuple[Array, ...]) -> Array:
        width = args[0].dtype.itemsize * 8
        one = np.vectorize(
            lambda value: count(np.binary_repr(value, width), width),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
            otypes=[args[0].dtype],
        )
        return one(args[0])

    return apply


SCALARS: Mapping[type[Operation], ScalarImpl] = {
    arith.ConstantOp: lambda op, args: scalar_constant(
        cast(arith.ConstantOp, op).value
    ),
    arith.SelectOp: _plain(np.where),
    arith.BitcastOp: _bitcast,
    # Integers.
    arith.AddiOp: _modular(np.add, np.not_equal),
    arith.SubiOp: _modular(np.subtract, np.not_equal),
    arith.MuliOp: _modular(np.multiply, np.logical_and),
    arith.DivSIOp: _plain(truncated_quotient),
    arith.DivUIOp: _on_unsigned(np.floor_divide),
    arith.FloorDivSIOp: _plain(np.floor_divide),
    arith.CeilDivSIOp: _plain(_ceil_divide),
    arith.CeilDivUIOp: _on_unsigned(_ceil_divide),
    arith.RemSIOp: _plain(np.fmod),
    arith.RemUIOp: _on_unsigned(np.remainder),
    arith.MinSIOp: _modular(np.minimum, np.logical_or),
    arith.MaxSIOp: _modular(np.maximum, np.logical_and),
    arith.MinUIOp: _on_unsigned(np.minimum),
    arith.MaxUIOp: _on_unsigned(np.maximum),
    arith.AndIOp: _plain(np.bitwise_and),
    arith.OrIOp: _plain(np.bitwise_or),
    arith.XOrIOp: _plain(np.bitwise_xor),
    arith.ShLIOp: _shifted(np.left_shift, unsigned=False),
    arith.ShRUIOp: _shifted(np.right_shift, unsigned=True),
    arith.ShRSIOp: _shifted(np.right_shift, unsigned=False),
    arith.CmpiOp: _compare_integers,
    math.AbsIOp: _plain(np.absolute),
    math.IPowIOp: _plain(integer_power),
    math.CountLeadingZerosOp: _bits(lambda bits, width: (bits + "1").index("1")),
    math.CountTrailingZerosOp: _bits(lambda bits, width: (bits[::-1] + "1").index("1")),
    math.CtPopOp: _bits(lambda bits, width: bits.count("1")),
    # Conversions.
    arith.IndexCastOp: _converted(),
    arith.FPToSIOp: _converted(),
    arith.FPToUIOp: lambda op, args: _signed(
        args[0].astype(f"u{scalar_dtype(op.results[0].type).itemsize}")
    ),
    arith.SIToFPOp: _converted(_signed_bool),
    arith.UIToFPOp: _converted(_unsigned),
    arith.ExtFOp: _converted(),
    arith.TruncFOp: _converted(),
    arith.TruncIOp: lambda op, args: (
        np.bitwise_and(args[0], 1) != 0
        if scalar_dtype(op.results[0].type) == _BOOL
        else args[0].astype(scalar_dtype(op.results[0].type))
    ),
    arith.ExtSIOp: _converted(_signed_bool),
    arith.ExtUIOp: _converted(_unsigned),
    # Floats.
    arith.AddfOp: _plain(np.add),
    arith.SubfOp: _plain(np.subtract),
    arith.MulfOp: _plain(np.multiply),
    arith.DivfOp: _plain(np.divide),
    arith.NegfOp: _plain(np.negative),
    arith.MaximumfOp: _plain(np.maximum),
    arith.MinimumfOp: _plain(np.minimum),
    arith.MaxnumfOp: _plain(np.fmax),
    arith.MinnumfOp: _plain(np.fmin),
    arith.CmpfOp: _compare_floats,
    math.AbsFOp: _plain(np.absolute),
    math.CopySignOp: _plain(np.copysign),
    RemainderOp: _plain(np.fmod),
    math.FmaOp: _plain(_fused),
    math.FloorOp: _plain(np.floor),
    math.CeilOp: _plain(np.ceil),
    math.TruncOp: _plain(np.trunc),
    math.RoundEvenOp: _plain(np.rint),
    math.RoundOp: _plain(_round_away),
    math.SqrtOp: _plain(np.sqrt),
    math.RsqrtOp: _plain(_reciprocal_root),
    math.CbrtOp: _plain(np.cbrt),
    math.ExpOp: _plain(np.exp),
    math.Exp2Op: _plain(np.exp2),
    math.ExpM1Op: _plain(np.expm1),
    math.LogOp: _plain(np.log),
    math.Log1pOp: _plain(np.log1p),
    math.Log2Op: _plain(np.log2),
    math.Log10Op: _plain(np.log10),
    math.PowFOp: _plain(np.power),
    math.FPowIOp: lambda op, args: np.power(args[0], args[1].astype(args[0].dtype)),
    math.ErfOp: _plain(error_function),
    math.SinOp: _plain(np.sin),
    math.CosOp: _plain(np.cos),
    math.TanOp: _plain(np.tan),
    math.AsinOp: _plain(np.arcsin),
    math.AcosOp: _plain(np.arccos),
    math.AtanOp: _plain(np.arctan),
    math.Atan2Op: _plain(np.arctan2),
    math.SinhOp: _plain(np.sinh),
    math.CoshOp: _plain(np.cosh),
    math.TanhOp: _plain(np.tanh),
    math.AsinhOp: _plain(np.arcsinh),
    math.AcoshOp: _plain(np.arccosh),
    math.AtanhOp: _plain(np.arctanh),
}
"""What each op means."""
